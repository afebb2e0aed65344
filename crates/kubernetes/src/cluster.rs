//! What the cluster holds, in memory. Objects that nothing refers to cost their place here, and no work.

use crate::objects::{
    AuthenticationPolicy, BackendTlsPolicy, ConfigMap, EndpointSlice, Gateway, GatewayClass, GrpcRoute, HttpRoute, Ingress,
    IngressClass, Key, ListenerSet, Metadata, Namespace, Object, PortalObject, RateLimitPolicy, ReferenceGrant, ResourceKind,
    Secret, Service, Spec, StreamRoute, TrafficPolicy, TykSettings, with_kinds,
};
use serde_json::Value;
use std::collections::BTreeMap;

pub(crate) type Objects<S> = BTreeMap<Key, Object<S>>;

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

macro_rules! define_cluster {
    ($($kind:ident($spec:ident) $field:ident: $group:expr, $versions:expr, $name:literal, $plural:literal, $is_namespaced:literal;)*) => {
        /// The cluster as the controller knows it.
        #[derive(Clone, Default)]
        pub(crate) struct Cluster {
            $(pub $field: Objects<$spec>,)*
        }

        impl Cluster {
            /// Takes an object over.
            pub(crate) fn put(&mut self, kind: ResourceKind, metadata: Metadata, data: Value) -> Change {
                let metadata = metadata.without_idle_annotations(kind);
                match kind {
                    $(ResourceKind::$kind => put(&mut self.$field, metadata, data),)*
                }
            }

            pub(crate) fn remove(&mut self, kind: ResourceKind, key: &Key) -> Change {
                let is_gone = match kind {
                    $(ResourceKind::$kind => self.$field.remove(key).is_some(),)*
                };
                if is_gone { Change::Changed } else { Change::Nothing }
            }

            pub(crate) fn has(&self, kind: ResourceKind, key: &Key) -> bool {
                match kind {
                    $(ResourceKind::$kind => self.$field.contains_key(key),)*
                }
            }

            /// Forgets the objects of a kind that a complete list does not have.
            pub(crate) fn retain(&mut self, kind: ResourceKind, is_listed: impl Fn(&Key) -> bool) {
                match kind {
                    $(ResourceKind::$kind => self.$field.retain(|key, _| is_listed(key)),)*
                }
            }
        }
    };
}
with_kinds!(define_cluster);

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
