//! Classes of gateways, and what this implementation says that it supports.

use super::{InstalledDefinitions, Settings};
use crate::conditions::{Condition, Fault};
use crate::objects::{GatewayClass, Object};

/// The features of the Gateway API that are supported.
const FEATURES: &[&str] = &[
    "BackendTLSPolicy",
    "BackendTLSPolicySANValidation",
    "GRPCRoute",
    "GRPCRouteNamedRouteRule",
    "GRPCRouteRequestHeaderModifier",
    "Gateway",
    "GatewayAddressEmpty",
    "GatewayBackendClientCertificate",
    "GatewayFrontendClientCertificateValidation",
    "GatewayFrontendClientCertificateValidationInsecureFallback",
    "GatewayHTTPListenerIsolation",
    "GatewayHTTPSListenerDetectMisdirectedRequests",
    "GatewayInfrastructure",
    "GatewayPort8080",
    "GatewayRouteHostnameIntersectionPrecedence",
    "GatewayStaticAddresses",
    "HTTPRoute",
    "HTTPRoute303RedirectStatusCode",
    "HTTPRoute307RedirectStatusCode",
    "HTTPRoute308RedirectStatusCode",
    "HTTPRouteBackendProtocolH2C",
    "HTTPRouteBackendProtocolWebSocket",
    "HTTPRouteBackendRequestHeaderModification",
    "HTTPRouteBackendTimeout",
    "HTTPRouteBackendURLRewrite",
    "HTTPRouteCORS",
    "HTTPRouteHostRewrite",
    "HTTPRouteMethodMatching",
    "HTTPRouteNamedRouteRule",
    "HTTPRouteParentRefPort",
    "HTTPRoutePathRedirect",
    "HTTPRoutePathRewrite",
    "HTTPRoutePortRedirect",
    "HTTPRouteQueryParamMatching",
    "HTTPRouteRequestMirror",
    "HTTPRouteRequestMultipleMirrors",
    "HTTPRouteRequestPercentageMirror",
    "HTTPRouteRequestTimeout",
    "HTTPRouteResponseHeaderModification",
    "HTTPRouteSchemeRedirect",
    "ListenerSet",
    "ReferenceGrant",
    "TCPRoute",
    "TLSRoute",
    "TLSRouteModeMixed",
    "TLSRouteModeTerminate",
    "UDPRoute",
];

/// Features whose fields only the experimental definitions have.
const EXPERIMENTAL_FEATURES: &[&str] = &["HTTPRouteDestinationPortMatching"];
/// Those of retries, whose fields all definitions have since version 1.7.
const RETRY_FEATURES: &[&str] = &["HTTPRouteRetryCodes", "HTTPRouteRetryConnectionError"];
const MINOR_VERSION_WITH_RETRIES: u32 = 7;

/// The features that are supported, in the order in which the status must have them.
pub(super) fn features(definitions: &InstalledDefinitions) -> Vec<&'static str> {
    let minor =
        definitions.version.as_deref().and_then(|version| version.strip_prefix("v1.")?.split('.').next()?.parse::<u32>().ok());
    let has_retries = definitions.are_experimental || minor.is_some_and(|minor| minor >= MINOR_VERSION_WITH_RETRIES);
    let experimental = EXPERIMENTAL_FEATURES.iter().filter(|_| definitions.are_experimental);
    let retries = RETRY_FEATURES.iter().filter(|_| has_retries);
    let mut features: Vec<&str> = FEATURES.iter().chain(experimental).chain(retries).copied().collect();
    features.sort_unstable();
    features
}

/// The conditions of a class that names this controller.
pub(super) fn conditions(class: &Object<GatewayClass>, settings: &Settings) -> Vec<Condition> {
    let parameters = class.spec.parameters_ref.as_ref().map(|_| Fault::new("InvalidParameters", "No parameters are supported"));
    let version = settings.definitions.version.as_deref();
    let is_supported = version.is_none_or(|version| version.starts_with("v1."));
    let unsupported = (!is_supported).then(|| {
        let version = version.unwrap_or_default();
        Fault::new("UnsupportedVersion", format!("The Gateway API is installed in version {version}; versions 1.x are supported"))
    });
    vec![
        Condition::unless("Accepted", "Accepted", parameters.as_ref()),
        Condition::unless("SupportedVersion", "SupportedVersion", unsupported.as_ref()),
    ]
}

/// Whether gateways of a class are served.
pub(super) fn is_served(class: &Object<GatewayClass>, settings: &Settings) -> bool {
    class.spec.controller_name == settings.controller_name && class.spec.parameters_ref.is_none()
}
