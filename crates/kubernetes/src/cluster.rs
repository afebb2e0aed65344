//! What the cluster holds, in memory. Objects that nothing refers to cost their place here, and no work.

use crate::objects::{
    BackendTlsPolicy, ConfigMap, EndpointSlice, Gateway, GatewayClass, GrpcRoute, HttpRoute, Key, ListenerSet, Metadata, Namespace,
    Object, ReferenceGrant, ResourceKind, Secret, Service, Spec, StreamRoute,
};
use serde_json::Value;
use std::collections::BTreeMap;

pub(crate) type Objects<S> = BTreeMap<Key, Object<S>>;

/// The cluster as the controller knows it.
#[derive(Clone, Default)]
pub(crate) struct Cluster {
    pub gateway_classes: Objects<GatewayClass>,
    pub gateways: Objects<Gateway>,
    pub listener_sets: Objects<ListenerSet>,
    pub http_routes: Objects<HttpRoute>,
    pub grpc_routes: Objects<GrpcRoute>,
    pub tls_routes: Objects<StreamRoute>,
    pub tcp_routes: Objects<StreamRoute>,
    pub udp_routes: Objects<StreamRoute>,
    pub backend_tls_policies: Objects<BackendTlsPolicy>,
    pub reference_grants: Objects<ReferenceGrant>,
    pub namespaces: Objects<Namespace>,
    pub services: Objects<Service>,
    pub endpoint_slices: Objects<EndpointSlice>,
    pub secrets: Objects<Secret>,
    pub config_maps: Objects<ConfigMap>,
}

/// What a change of an object means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// It is as it was.
    Nothing,
    /// It is new, gone, or another one.
    Changed,
    /// It can't be read, and counts as if it were not there.
    Unreadable(String),
}

/// Does something with the objects of a kind, whatever their type is.
macro_rules! of_kind {
    ($cluster:expr, $kind:expr, |$objects:ident| $do:expr) => {
        match $kind {
            ResourceKind::GatewayClass => {
                let $objects = &mut $cluster.gateway_classes;
                $do
            }
            ResourceKind::Gateway => {
                let $objects = &mut $cluster.gateways;
                $do
            }
            ResourceKind::ListenerSet => {
                let $objects = &mut $cluster.listener_sets;
                $do
            }
            ResourceKind::HttpRoute => {
                let $objects = &mut $cluster.http_routes;
                $do
            }
            ResourceKind::GrpcRoute => {
                let $objects = &mut $cluster.grpc_routes;
                $do
            }
            ResourceKind::TlsRoute => {
                let $objects = &mut $cluster.tls_routes;
                $do
            }
            ResourceKind::TcpRoute => {
                let $objects = &mut $cluster.tcp_routes;
                $do
            }
            ResourceKind::UdpRoute => {
                let $objects = &mut $cluster.udp_routes;
                $do
            }
            ResourceKind::BackendTlsPolicy => {
                let $objects = &mut $cluster.backend_tls_policies;
                $do
            }
            ResourceKind::ReferenceGrant => {
                let $objects = &mut $cluster.reference_grants;
                $do
            }
            ResourceKind::Namespace => {
                let $objects = &mut $cluster.namespaces;
                $do
            }
            ResourceKind::Service => {
                let $objects = &mut $cluster.services;
                $do
            }
            ResourceKind::EndpointSlice => {
                let $objects = &mut $cluster.endpoint_slices;
                $do
            }
            ResourceKind::Secret => {
                let $objects = &mut $cluster.secrets;
                $do
            }
            ResourceKind::ConfigMap => {
                let $objects = &mut $cluster.config_maps;
                $do
            }
        }
    };
}

impl Cluster {
    /// Takes an object over.
    pub(crate) fn put(&mut self, kind: ResourceKind, metadata: Metadata, data: Value) -> Change {
        of_kind!(self, kind, |objects| put(objects, metadata, data))
    }

    pub(crate) fn remove(&mut self, kind: ResourceKind, key: &Key) -> Change {
        let is_gone = of_kind!(self, kind, |objects| objects.remove(key).is_some());
        if is_gone { Change::Changed } else { Change::Nothing }
    }

    pub(crate) fn has(&self, kind: ResourceKind, key: &Key) -> bool {
        match kind {
            ResourceKind::Service => self.services.contains_key(key),
            ResourceKind::EndpointSlice => self.endpoint_slices.contains_key(key),
            _ => true,
        }
    }

    /// Forgets the objects of a kind that a complete list does not have.
    pub(crate) fn retain(&mut self, kind: ResourceKind, is_listed: impl Fn(&Key) -> bool) -> Change {
        of_kind!(self, kind, |objects| {
            let before = objects.len();
            objects.retain(|key, _| is_listed(key));
            if before == objects.len() { Change::Nothing } else { Change::Changed }
        })
    }
}

fn put<S: Spec>(objects: &mut Objects<S>, metadata: Metadata, data: Value) -> Change {
    let key = metadata.key();
    match Object::read(metadata, data) {
        Ok(new) if objects.get(&key).is_some_and(|old| *old == new) => Change::Nothing,
        Ok(new) => {
            objects.insert(key, new);
            Change::Changed
        }
        Err(error) => {
            objects.remove(&key);
            Change::Unreadable(format!("{key}: {error}"))
        }
    }
}
