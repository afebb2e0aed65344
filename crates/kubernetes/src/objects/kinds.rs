//! The kinds of objects that the controller watches, in one table: their type, where the cluster in memory has them, and where the API server does.

use std::fmt;

/// Where the API server has the objects of a kind.
pub(crate) struct ResourcePlace {
    pub group: &'static str,
    /// In the order in which they are preferred.
    pub versions: &'static [&'static str],
    pub kind: &'static str,
    pub plural: &'static str,
    pub is_namespaced: bool,
}

/// Calls a macro with the table. A row: the kind, the type of its settings, the field of the cluster, and the place.
macro_rules! with_kinds {
    ($call:ident) => {
        $call! {
            GatewayClass(GatewayClass) gateway_classes: GATEWAY_GROUP, ["v1"], "GatewayClass", "gatewayclasses", false;
            Gateway(Gateway) gateways: GATEWAY_GROUP, ["v1"], "Gateway", "gateways", true;
            ListenerSet(ListenerSet) listener_sets: GATEWAY_GROUP, ["v1"], "ListenerSet", "listenersets", true;
            HttpRoute(HttpRoute) http_routes: GATEWAY_GROUP, ["v1"], "HTTPRoute", "httproutes", true;
            GrpcRoute(GrpcRoute) grpc_routes: GATEWAY_GROUP, ["v1"], "GRPCRoute", "grpcroutes", true;
            TlsRoute(StreamRoute) tls_routes: GATEWAY_GROUP, ["v1", "v1alpha3"], "TLSRoute", "tlsroutes", true;
            TcpRoute(StreamRoute) tcp_routes: GATEWAY_GROUP, ["v1", "v1alpha2"], "TCPRoute", "tcproutes", true;
            UdpRoute(StreamRoute) udp_routes: GATEWAY_GROUP, ["v1", "v1alpha2"], "UDPRoute", "udproutes", true;
            BackendTlsPolicy(BackendTlsPolicy) backend_tls_policies:
                GATEWAY_GROUP, ["v1", "v1alpha3"], "BackendTLSPolicy", "backendtlspolicies", true;
            AuthenticationPolicy(AuthenticationPolicy) authentication_policies:
                TOLLGATE_GROUP, ["v1alpha1"], "AuthenticationPolicy", "authenticationpolicies", true;
            RateLimitPolicy(RateLimitPolicy) rate_limit_policies:
                TOLLGATE_GROUP, ["v1alpha1"], "RateLimitPolicy", "ratelimitpolicies", true;
            TrafficPolicy(TrafficPolicy) traffic_policies: TOLLGATE_GROUP, ["v1alpha1"], "TrafficPolicy", "trafficpolicies", true;
            ReferenceGrant(ReferenceGrant) reference_grants: GATEWAY_GROUP, ["v1", "v1beta1"], "ReferenceGrant", "referencegrants", true;
            IngressClass(IngressClass) ingress_classes: "networking.k8s.io", ["v1"], "IngressClass", "ingressclasses", false;
            Ingress(Ingress) ingresses: "networking.k8s.io", ["v1"], "Ingress", "ingresses", true;
            Namespace(Namespace) namespaces: "", ["v1"], "Namespace", "namespaces", false;
            Service(Service) services: "", ["v1"], "Service", "services", true;
            EndpointSlice(EndpointSlice) endpoint_slices: "discovery.k8s.io", ["v1"], "EndpointSlice", "endpointslices", true;
            Secret(Secret) secrets: "", ["v1"], "Secret", "secrets", true;
            ConfigMap(ConfigMap) config_maps: "", ["v1"], "ConfigMap", "configmaps", true;
            ApiDefinition(TykSettings) api_definitions: TYK_GROUP, ["v1alpha1"], "ApiDefinition", "apidefinitions", true;
            TykOasApiDefinition(TykSettings) oas_definitions: TYK_GROUP, ["v1alpha1"], "TykOasApiDefinition", "tykoasapidefinitions", true;
            TykMcpProxyDefinition(TykSettings) mcp_definitions:
                TYK_GROUP, ["v1alpha1"], "TykMcpProxyDefinition", "tykmcpproxydefinitions", true;
            TykStreamsApiDefinition(TykSettings) streams_definitions:
                TYK_GROUP, ["v1alpha1"], "TykStreamsApiDefinition", "tykstreamsapidefinitions", true;
            SecurityPolicy(TykSettings) security_policies: TYK_GROUP, ["v1alpha1"], "SecurityPolicy", "securitypolicies", true;
            OperatorContext(TykSettings) operator_contexts: TYK_GROUP, ["v1alpha1"], "OperatorContext", "operatorcontexts", true;
            SubGraph(TykSettings) subgraphs: TYK_GROUP, ["v1alpha1"], "SubGraph", "subgraphs", true;
            SuperGraph(TykSettings) supergraphs: TYK_GROUP, ["v1alpha1"], "SuperGraph", "supergraphs", true;
            PortalApiCatalogue(PortalObject) portal_catalogues:
                TYK_GROUP, ["v1alpha1"], "PortalAPICatalogue", "portalapicatalogues", true;
            ApiDescription(PortalObject) api_descriptions: TYK_GROUP, ["v1alpha1"], "APIDescription", "apidescriptions", true;
            PortalConfig(PortalObject) portal_configs: TYK_GROUP, ["v1alpha1"], "PortalConfig", "portalconfigs", true;
        }
    };
}
pub(crate) use with_kinds;

macro_rules! define_kinds {
    ($($kind:ident($spec:ident) $field:ident: $group:expr, $versions:expr, $name:literal, $plural:literal, $is_namespaced:literal;)*) => {
        /// The kinds that the controller watches.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum ResourceKind {
            $($kind,)*
        }

        impl ResourceKind {
            pub(crate) const ALL: &[ResourceKind] = &[$(ResourceKind::$kind,)*];

            pub(crate) fn place(self) -> ResourcePlace {
                match self {
                    $(ResourceKind::$kind => ResourcePlace {
                        group: $group,
                        versions: &$versions,
                        kind: $name,
                        plural: $plural,
                        is_namespaced: $is_namespaced,
                    },)*
                }
            }
        }
    };
}

use super::{GATEWAY_GROUP, TOLLGATE_GROUP, TYK_GROUP};
with_kinds!(define_kinds);

impl ResourceKind {
    /// Only objects whose fields match are watched. Empty for all.
    pub(crate) fn watched_fields(self) -> &'static str {
        match self {
            // Those that other programs keep for themselves are nobody's business here.
            ResourceKind::Secret => {
                "type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token,type!=bootstrap.kubernetes.io/token,\
                 type!=kubernetes.io/dockerconfigjson,type!=kubernetes.io/dockercfg"
            }
            _ => "",
        }
    }

    /// Whether nothing can be served without it. Others may not be defined, or not be allowed to be read.
    pub(crate) fn is_needed(self) -> bool {
        match self.place().group {
            "" | "discovery.k8s.io" => true,
            _ => matches!(self, ResourceKind::GatewayClass | ResourceKind::Gateway),
        }
    }

    /// Whether annotations of its objects decide something. Those of others change for reasons that are nobody's business here.
    pub(crate) fn has_annotations(self) -> bool {
        matches!(self, ResourceKind::Ingress | ResourceKind::IngressClass)
    }

    /// Whether it is one of Tyk's resources. Few clusters have them.
    pub(crate) fn is_tyk(self) -> bool {
        self.place().group == TYK_GROUP
    }

    pub(crate) fn name(self) -> &'static str {
        self.place().kind
    }
}

impl fmt::Display for ResourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
