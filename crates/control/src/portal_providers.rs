//! The providers of OpenID Connect at which developers sign in, as the configuration names them.

use crate::provider_rules::provider_rules;
use tollgate_data::gateway_state::GatewayState;
use tollgate_model::config::{PortalProvider, PortalSettings};
use tollgate_signin::{RelyingParty, SignInProvider};

/// The providers of a portal, which are not asked yet.
///
/// # Errors
/// An issuer is no URL.
pub fn portal_providers(settings: &PortalSettings, shared: &GatewayState) -> Result<Vec<SignInProvider>, String> {
    settings.providers.iter().map(|provider| party(settings, provider, shared)).collect()
}

fn party(settings: &PortalSettings, provider: &PortalProvider, shared: &GatewayState) -> Result<SignInProvider, String> {
    let party = RelyingParty {
        provider: provider.name.clone(),
        issuer: provider.issuer.clone(),
        client_id: provider.client_id.clone(),
        client_secret: provider.client_secret.clone(),
        redirect_uri: format!("{}/sign-in/{}/callback", settings.url, provider.name),
        scopes: std::iter::once("email".to_owned()).chain(provider.scopes.iter().cloned()).collect(),
        algorithms: provider.algorithms.clone(),
        // Whoever has an account needs none of them.
        needed_claims: Vec::new(),
        wanted_claims: ["email", "email_verified"].map(str::to_owned).to_vec(),
    };
    SignInProvider::new(party, &provider_rules(shared), shared.registry.auth_client.clone())
}
