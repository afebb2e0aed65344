//! Routes of all kinds.

use super::reference::ParentRef;
use super::rules::{BackendRef, GrpcRule, HttpRule};
use serde::Deserialize;

/// A route of any kind.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "R: Deserialize<'de>"))]
pub(crate) struct RouteSpec<R> {
    #[serde(default)]
    pub parent_refs: Vec<ParentRef>,
    #[serde(default)]
    pub hostnames: Vec<String>,
    #[serde(default)]
    pub rules: Vec<R>,
}

pub(crate) type HttpRoute = RouteSpec<HttpRule>;
pub(crate) type GrpcRoute = RouteSpec<GrpcRule>;
/// Routes of connections: TLS, TCP and UDP.
pub(crate) type StreamRoute = RouteSpec<StreamRule>;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StreamRule {
    pub name: Option<String>,
    pub backend_refs: Vec<BackendRef>,
}

/// A rule that may have a name.
pub(crate) trait NamedRule {
    fn name(&self) -> Option<&str>;
}

impl NamedRule for HttpRule {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl NamedRule for GrpcRule {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl NamedRule for StreamRule {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}
