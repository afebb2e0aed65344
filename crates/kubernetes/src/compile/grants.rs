//! References into other namespaces, which somebody there must have granted.

use crate::cluster::Cluster;
use crate::objects::{GATEWAY_GROUP, GrantedTo};

/// An object of the Gateway API that refers to another one.
#[derive(Clone, Copy)]
pub(super) struct Referrer<'r> {
    pub kind: &'static str,
    pub namespace: &'r str,
}

/// What is referred to.
#[derive(Clone, Copy)]
pub(super) struct Referent<'r> {
    pub group: &'r str,
    pub kind: &'r str,
    pub namespace: &'r str,
    pub name: &'r str,
}

/// Whether a reference is allowed: always within one namespace.
pub(super) fn is_granted(cluster: &Cluster, from: Referrer<'_>, to: Referent<'_>) -> bool {
    if from.namespace == to.namespace {
        return true;
    }
    let grants = cluster.reference_grants.values().filter(|grant| grant.metadata.namespace == to.namespace);
    grants.map(|grant| &grant.spec).any(|grant| {
        let is_from = grant
            .from
            .iter()
            .any(|granted| granted.group == GATEWAY_GROUP && granted.kind == from.kind && granted.namespace == from.namespace);
        let is_to = |granted: &GrantedTo| {
            granted.group == to.group
                && granted.kind == to.kind
                && granted.name.as_deref().is_none_or(|name| name.is_empty() || name == to.name)
        };
        is_from && grant.to.iter().any(is_to)
    })
}
