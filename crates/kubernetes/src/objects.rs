//! Objects of the API server, as far as the controller reads them. Each is read for itself: one that cannot be read takes no other with it. The
//! status stays as it is written, because others write into it too.

mod attached;
mod core;
mod gateway;
mod ingress;
mod kinds;
mod metadata;
mod policy;
mod reference;
mod route;
mod rules;
mod tyk;

pub(crate) use self::core::{ConfigMap, Endpoint, EndpointSlice, Namespace, Secret, Service, ServicePort, TYK_EXTENSION};
pub(crate) use attached::{
    ActiveHealthSettings, ApiKeySettings, AttachedPolicy, AuthenticationPolicy, AuthenticationSettings, BackendHealthSettings,
    BasicUserSettings, BodyChange, CircuitBreakerSettings, ClientAuthorities, ConcurrentRequests, CredentialPlace, ErrorRule,
    ExternalCheck, FirewallMode, FirewallPolicySettings, HeaderSettings, JwtSettings, KeyQuotaSettings, LimitPer, OidcSettings,
    PassiveHealthSettings, PluginDriverName, PluginPhase, Plugins, RateLimitPolicy, RateLimitSettings, ResponseCacheSettings,
    StoreFailureRule, TokenAlgorithms, TrafficPolicy, TrafficSettings,
};
pub(crate) use gateway::{
    AddressType, ClientValidation, Gateway, GatewayClass, Listener, ListenerSet, NamespaceFilter, NamespaceScope,
};
pub(crate) use ingress::{Ingress, IngressBackend, IngressClass, IngressPort};
pub(crate) use kinds::{ResourceKind, with_kinds};
pub(crate) use metadata::{Key, Metadata, Object, Spec};
pub(crate) use policy::{BackendTlsPolicy, BackendValidation, GrantedTo, PolicyTarget, ReferenceGrant, SubjectAltName};
pub(crate) use reference::{ObjectRef, ParentRef};
pub(crate) use route::{GrpcRoute, HttpRoute, NamedRule, RouteSpec, StreamRoute, StreamRule};
pub(crate) use rules::{
    BackendRef, Cors, Filter, GrpcMatch, GrpcMethod, GrpcRule, Header, HeaderChanges, HttpMatch, HttpRule, Mirror, NamedMatch,
    PathChange, Redirect, Retry, Rewrite, SessionPersistence, Timeouts,
};

pub(crate) use tyk::{PortalObject, TykSettings};

/// The group of the Gateway API.
pub(crate) const GATEWAY_GROUP: &str = "gateway.networking.k8s.io";
/// That of policies of our own.
pub(crate) const TOLLGATE_GROUP: &str = "tollgate.dev";
/// That of Tyk's resources.
pub(crate) const TYK_GROUP: &str = "tyk.tyk.io";

impl Spec for GatewayClass {}
impl Spec for Gateway {}
impl Spec for ListenerSet {}
impl Spec for HttpRoute {}
impl Spec for GrpcRoute {}
impl Spec for StreamRoute {}
impl Spec for BackendTlsPolicy {}
impl Spec for ReferenceGrant {}
impl Spec for IngressClass {}
impl Spec for Ingress {}
impl Spec for Service {}
impl Spec for EndpointSlice {
    const IS_FLAT: bool = true;
}
impl Spec for Secret {
    const IS_FLAT: bool = true;
}
impl Spec for ConfigMap {
    const IS_FLAT: bool = true;
}
impl Spec for Namespace {
    const IS_FLAT: bool = true;
}
impl Spec for TykSettings {}
impl Spec for PortalObject {
    const IS_FLAT: bool = true;
}
