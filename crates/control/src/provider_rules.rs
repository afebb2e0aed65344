//! The rules by which providers of OpenID Connect are asked at which people sign in.

use tollgate_access::jwt::SetRules;
use tollgate_data::gateway_state::GatewayState;
use tollgate_tls::{ServiceKind, TlsRules};

/// How providers are asked, and how old their keys may get.
pub(crate) fn provider_rules(shared: &GatewayState) -> SetRules {
    let callers = &shared.settings.callers;
    let tls = TlsRules { insecure: callers.insecure_jwks_tls, service: ServiceKind::OAuth, ..TlsRules::default() };
    SetRules { tls, age_max: callers.jwks_age_max, discovered: true }
}
