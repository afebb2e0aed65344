//! Where a route is attached: which listeners of which gateways let it in.

use super::gateways::{CompiledGateway, Gateways};
use super::hosts::common;
use super::listeners::CompiledListener;
use crate::cluster::Cluster;
use crate::conditions::Fault;
use crate::objects::{GATEWAY_GROUP, Key, ParentRef, ResourceKind};

/// What became of one reference to a parent.
pub(super) struct ParentState<'c> {
    pub reference: &'c ParentRef,
    pub gateway: Key,
    pub listeners: Vec<AttachedListener>,
    pub rejected: Option<Fault>,
}

pub(super) struct AttachedListener {
    /// Among the listeners of the gateway.
    pub position: usize,
    /// Empty for all of the listener.
    pub hosts: Vec<String>,
}

/// A route as far as attachment goes.
#[derive(Clone, Copy)]
pub(super) struct Attached<'c> {
    pub kind: ResourceKind,
    pub namespace: &'c str,
    pub parents: &'c [ParentRef],
    pub hosts: &'c [String],
}

/// What becomes of each reference to a parent of this controller. Others are somebody else's, or do not exist.
pub(super) fn attach<'c>(cluster: &Cluster, gateways: &Gateways<'_>, route: Attached<'c>) -> Vec<ParentState<'c>> {
    route.parents.iter().filter_map(|reference| state(cluster, gateways, route, reference)).collect()
}

fn state<'c>(cluster: &Cluster, gateways: &Gateways<'_>, route: Attached<'c>, reference: &'c ParentRef) -> Option<ParentState<'c>> {
    if reference.group != GATEWAY_GROUP {
        return None;
    }
    let namespace = if reference.namespace.is_empty() { route.namespace } else { &reference.namespace };
    let named = Key::new(namespace, &reference.name);
    let (key, set) = match reference.kind.as_str() {
        "Gateway" => (named, None),
        "ListenerSet" => (gateways.of_sets.get(&named)?.clone(), Some(named)),
        _ => return None,
    };
    let gateway = gateways.by_key.get(&key)?;
    let (listeners, rejected) = match listeners(cluster, gateway, set.as_ref(), route, reference) {
        Ok(listeners) => (listeners, None),
        Err(fault) => (Vec::new(), Some(fault)),
    };
    Some(ParentState { reference, gateway: key, listeners, rejected })
}

fn listeners(
    cluster: &Cluster,
    gateway: &CompiledGateway<'_>,
    set: Option<&Key>,
    route: Attached<'_>,
    reference: &ParentRef,
) -> Result<Vec<AttachedListener>, Fault> {
    let is_named = |listener: &CompiledListener<'_>| {
        listener.set.as_ref() == set
            && reference.section_name.as_ref().is_none_or(|name| *name == listener.written.name)
            && reference.port.is_none_or(|port| port == listener.written.port)
    };
    let mut named = gateway.listeners.iter().enumerate().filter(|(_, listener)| is_named(listener)).peekable();
    if named.peek().is_none() {
        return Err(Fault::new("NoMatchingParent", "The parent has no such listener"));
    }
    let owner = set.map_or(gateway.object.metadata.namespace.as_str(), |set| &set.namespace);
    let mut open = named.filter(|(_, listener)| listener.lets_in(cluster, route.kind, route.namespace, owner)).peekable();
    if open.peek().is_none() {
        return Err(Fault::new("NotAllowedByListeners", "No listener lets in routes of this kind from this namespace"));
    }
    let at = |(position, listener): (usize, &CompiledListener<'_>)| {
        Some(AttachedListener { position, hosts: common(listener.host().as_deref(), route.hosts)? })
    };
    let attached: Vec<AttachedListener> = open.filter_map(at).collect();
    if attached.is_empty() {
        return Err(Fault::new("NoMatchingListenerHostname", "No listener has a host of this route"));
    }
    Ok(attached)
}
