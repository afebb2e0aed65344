//! Routes of all kinds: their parents, their definitions, and what is said of them.

use super::attached::{AttachedPolicies, EffectivePolicies};
use super::attachment::{Attached, ParentState, attach};
use super::backends::{Backends, OwnCertificate, Traffic};
use super::filters::unsupported;
use super::gateways::Gateways;
use super::grants::Referrer;
use super::hosts::overlap;
use super::listeners::Protocol;
use super::policies::Policies;
use super::route_definitions::{GroupedListeners, PlacedRule, RouteDocument, ServedRoute};
use super::rule_context::RuleContext;
use super::{grpc, http, streams};
use crate::cluster::{Cluster, Objects};
use crate::conditions::Fault;
use crate::objects::{Key, Metadata, NamedRule, Object, ResourceKind, RouteSpec};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Routes<'c> {
    pub all: Vec<CompiledRoute<'c>>,
    pub backends: Backends<'c>,
    pub definitions: BTreeMap<String, RouteDocument>,
    /// The hosts of routes for HTTP and for gRPC at each listener.
    hosts: BTreeMap<(String, ResourceKind), Vec<Vec<String>>>,
}

pub(super) struct CompiledRoute<'c> {
    pub kind: ResourceKind,
    pub metadata: &'c Metadata,
    pub status: &'c Value,
    pub parents: Vec<ParentState<'c>>,
    pub unresolved: Option<Fault>,
    /// Some rules are left out.
    pub dropped: Option<String>,
    /// The policies that apply to its rules.
    pub policies: BTreeSet<EffectivePolicies>,
}

/// Attachments that can share one definition: what backends see of the gateway is the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    /// The gateway whose certificate backends see.
    certificate_of: Option<Key>,
    terminates: bool,
    /// The policies of the gateway and the listener.
    inherited: EffectivePolicies,
}

/// What routes are compiled with.
#[derive(Clone, Copy)]
pub(super) struct RouteSources<'r, 'c> {
    pub cluster: &'c Cluster,
    pub policies: &'r Policies<'c>,
    pub attached: &'r AttachedPolicies<'c>,
}

type RuleOf<R> = fn(&R, &mut RuleContext<'_, '_>) -> Result<Value, Fault>;

impl<'c> Routes<'c> {
    pub(super) fn of(sources: RouteSources<'_, 'c>, gateways: &mut Gateways<'c>) -> Self {
        let cluster = sources.cluster;
        let mut routes =
            Routes { all: Vec::new(), backends: Backends::new(cluster), definitions: BTreeMap::new(), hosts: BTreeMap::new() };
        let (mut of_http, mut of_grpc) = (by_age(&cluster.http_routes).peekable(), by_age(&cluster.grpc_routes).peekable());
        // The older one of two that can't stand side by side is served.
        loop {
            let is_http = match (of_http.peek(), of_grpc.peek()) {
                (None, None) => break,
                (Some(http), Some(grpc)) => http.metadata.age() <= grpc.metadata.age(),
                (http, _) => http.is_some(),
            };
            if let Some(route) = if is_http { of_http.next() } else { None } {
                routes.add(sources, gateways, ResourceKind::HttpRoute, route, http::rule);
            } else if let Some(route) = of_grpc.next() {
                routes.add(sources, gateways, ResourceKind::GrpcRoute, route, grpc::rule);
            }
        }
        for (kind, objects) in [
            (ResourceKind::TlsRoute, &cluster.tls_routes),
            (ResourceKind::TcpRoute, &cluster.tcp_routes),
            (ResourceKind::UdpRoute, &cluster.udp_routes),
        ] {
            by_age(objects).for_each(|route| routes.add(sources, gateways, kind, route, streams::rule));
        }
        routes
    }

    fn add<R: NamedRule>(
        &mut self,
        sources: RouteSources<'_, 'c>,
        gateways: &mut Gateways<'c>,
        kind: ResourceKind,
        object: &'c Object<RouteSpec<R>>,
        rule_of: RuleOf<R>,
    ) {
        let spec = &object.spec;
        let attached = Attached { kind, namespace: &object.metadata.namespace, parents: &spec.parent_refs, hosts: &spec.hostnames };
        let mut parents = attach(sources.cluster, gateways, attached);
        if parents.is_empty() && !has_own_entry(&object.status) {
            return;
        }
        if matches!(kind, ResourceKind::HttpRoute | ResourceKind::GrpcRoute) {
            self.make_way(gateways, kind, &mut parents);
        }
        let key = object.metadata.key();
        let groups = groups(gateways, sources.attached, &parents);
        let (mut unresolved, mut dropped, mut has_rules) = (None, Vec::new(), spec.rules.is_empty());
        let (mut compiled, mut in_effect) = (Vec::new(), BTreeSet::new());
        for (number, (group, listeners)) in groups.iter().enumerate() {
            let certificate = group.certificate_of.as_ref().and_then(|gateway| {
                let text = gateways.by_key.get(gateway)?.certificate.as_ref()?.as_ref().ok()?;
                Some(OwnCertificate { gateway, text })
            });
            let from = Referrer { kind: kind.name(), namespace: &object.metadata.namespace };
            let mut context = RuleContext::new(&self.backends, sources.policies, from, traffic(kind, group), certificate);
            let mut rules = Vec::with_capacity(spec.rules.len());
            for (position, written) in spec.rules.iter().enumerate() {
                let policies = sources.attached.of_rule(kind, &key, written.name(), group.inherited);
                context.begin_rule(sources.attached.of_backends(policies));
                let rule = if position > 0 && traffic(kind, group) >= Traffic::Terminated {
                    Err(unsupported("Connections have no more than one rule"))
                } else {
                    rule_of(written, &mut context)
                };
                match rule {
                    Ok(document) => {
                        in_effect.insert(policies);
                        rules.push(PlacedRule { position, name: written.name().map(str::to_owned), document, policies });
                    }
                    // What can't act can't in any group.
                    Err(fault) if number == 0 => dropped.push((position, fault)),
                    Err(_) => {}
                }
            }
            has_rules |= !rules.is_empty();
            unresolved = unresolved.or(context.fault);
            compiled.push((group, listeners, rules, context.used));
        }
        if !has_rules {
            let fault = dropped.first().map(|(_, fault)| fault.clone());
            parents.iter_mut().filter(|parent| parent.rejected.is_none()).for_each(|parent| {
                parent.rejected.clone_from(&fault);
                parent.listeners.clear();
            });
            compiled.clear();
        }
        let mut used_by_groups = Vec::new();
        let inherits_same = groups.keys().map(|group| group.inherited).collect::<BTreeSet<_>>().len() == 1;
        for (group, listeners, rules, used) in compiled {
            let names = if inherits_same { String::new() } else { sources.attached.names(group.inherited) };
            let suffix = format!("{}{names}", group.suffix());
            let route = ServedRoute { kind, metadata: &object.metadata, suffix: &suffix, listeners, attached: sources.attached };
            if !listeners.is_empty() {
                self.definitions.extend(route.definitions(rules).into_iter().map(|document| (document.id.clone(), document)));
            }
            used_by_groups.push(used);
        }
        let used_at: BTreeSet<Key> =
            parents.iter().filter(|parent| parent.rejected.is_none()).map(|parent| parent.gateway.clone()).collect();
        if !used_at.is_empty() {
            used_by_groups.iter().for_each(|used| self.backends.add(used, &used_at));
        }
        note_attached(gateways, kind, &key, &parents);
        let dropped = (!dropped.is_empty() && has_rules).then(|| {
            let each = dropped.iter().map(|(position, fault)| format!("{position}: {}", fault.message));
            format!("Dropped Rule(s) {}", each.collect::<Vec<_>>().join("; "))
        });
        self.all.push(CompiledRoute {
            kind,
            metadata: &object.metadata,
            status: &object.status,
            parents,
            unresolved,
            dropped,
            policies: in_effect,
        });
    }

    /// Detaches a route from listeners at which an older one of the other kind has the same hosts.
    fn make_way(&mut self, gateways: &Gateways<'_>, kind: ResourceKind, parents: &mut [ParentState<'_>]) {
        let other = if kind == ResourceKind::HttpRoute { ResourceKind::GrpcRoute } else { ResourceKind::HttpRoute };
        for parent in parents {
            let Some(gateway) = gateways.by_key.get(&parent.gateway) else { continue };
            let had_any = !parent.listeners.is_empty();
            parent.listeners.retain(|attached| {
                let Some(listener) = gateway.listeners.get(attached.position) else { return false };
                let others = self.hosts.get(&(listener.id.clone(), other));
                if others.is_some_and(|others| others.iter().any(|hosts| overlap(hosts, &attached.hosts))) {
                    return false;
                }
                self.hosts.entry((listener.id.clone(), kind)).or_default().push(attached.hosts.clone());
                true
            });
            if had_any && parent.listeners.is_empty() {
                let message = format!("An older {other} has the same hosts");
                parent.rejected = Some(Fault::new("Conflicted", message));
            }
        }
    }
}

fn by_age<R>(objects: &Objects<RouteSpec<R>>) -> impl Iterator<Item = &Object<RouteSpec<R>>> {
    let mut sorted: Vec<_> = objects.values().collect();
    sorted.sort_by(|a, b| a.metadata.age().cmp(&b.metadata.age()));
    sorted.into_iter()
}

/// Whether a status may have to be taken back.
fn has_own_entry(status: &Value) -> bool {
    status.get("parents").and_then(Value::as_array).is_some_and(|parents| !parents.is_empty())
}

impl Group {
    /// What follows the route's name in ids.
    fn suffix(&self) -> String {
        let certificate = self.certificate_of.as_ref().map(|gateway| format!("~{}.{}", gateway.namespace, gateway.name));
        format!("{}{}", certificate.unwrap_or_default(), if self.terminates { "~terminated" } else { "" })
    }
}

/// The listeners at which a route is served, with its hosts there, by what backends see. At least one group, whose rules tell what is wrong.
fn groups(
    gateways: &Gateways<'_>,
    policies: &AttachedPolicies<'_>,
    parents: &[ParentState<'_>],
) -> BTreeMap<Group, GroupedListeners> {
    let mut groups: BTreeMap<Group, GroupedListeners> = BTreeMap::new();
    for parent in parents {
        let Some(gateway) = gateways.by_key.get(&parent.gateway) else { continue };
        let certificate_of = gateway.certificate.as_ref().filter(|certificate| certificate.is_ok()).map(|_| parent.gateway.clone());
        for attached in &parent.listeners {
            let Some(listener) = gateway.listeners.get(attached.position) else { continue };
            let terminates = listener.protocol == Some(Protocol::TlsTerminate);
            let name = listener.set.is_none().then_some(listener.written.name.as_str());
            let inherited = policies.inherited(&parent.gateway, name);
            let group = groups.entry(Group { certificate_of: certificate_of.clone(), terminates, inherited }).or_default();
            if gateway.is_accepted() && listener.is_served() && !gateway.addresses.bound.is_empty() {
                group.insert(listener.id.clone(), attached.hosts.clone());
            }
        }
    }
    if groups.is_empty() {
        groups.insert(Group::default(), GroupedListeners::new());
    }
    groups
}

fn traffic(kind: ResourceKind, group: &Group) -> Traffic {
    match kind {
        ResourceKind::GrpcRoute => Traffic::Grpc,
        ResourceKind::TlsRoute if group.terminates => Traffic::Terminated,
        ResourceKind::TlsRoute | ResourceKind::TcpRoute => Traffic::Bytes,
        ResourceKind::UdpRoute => Traffic::Datagrams,
        _ => Traffic::Http,
    }
}

fn note_attached(gateways: &mut Gateways<'_>, kind: ResourceKind, key: &Key, parents: &[ParentState<'_>]) {
    for parent in parents {
        let Some(gateway) = gateways.by_key.get_mut(&parent.gateway) else { continue };
        for attached in &parent.listeners {
            if let Some(listener) = gateway.listeners.get_mut(attached.position) {
                listener.attached.insert((kind, key.clone()));
            }
        }
    }
}
