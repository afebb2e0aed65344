//! OpenID Connect: tokens of providers that are found by discovery. Reads `use_openid`, `openid_options`, `scopes.oidc` and
//! `auth_configs.oidc`. A token's `iss` must be a configured provider, and its `aud` one of that provider's clients, whose policy applies;
//! it must have an expiry time. The client sees 401 `Authorization field missing` or `Key not authorised`. Tokens are cached and keys
//! fetched as for JSON Web Tokens.

use super::Middleware;
use crate::credentials::CredentialPlaces;
use crate::exchange::{Exchange, GRACE, Step};
use crate::middleware::MiddlewareSource;
use crate::refusal::{OPENID_MISSING, OPENID_REFUSED};
use crate::two_generation_cache::{TwoGenerationCache, digest_of};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use tollgate_access::identity::{self, Identity, right_to};
use tollgate_access::jwt::{
    AlgorithmFamily, Checked, ClaimNames, ClaimTexts, Claims, FETCH_TIME_MAX, GrantedScopes, JwtToken, KeySet, KeySource, SetRules,
    SigningAlgorithm, TimeChecks, Validity,
};
use tollgate_engine::HoldUntil;
use tollgate_engine::Work;
use tollgate_model::api::{AuthMethod, ScopeCheck, ScopeClaim};
use tollgate_model::session::AccessRight;
use tollgate_tls::ServiceKind;
use tollgate_tls::TlsRules;

/// Capacity of the cache of valid tokens, in each of its two generations.
const VERIFIED_MAX: usize = 32_768;
/// Clock skew between providers and gateways that is tolerated, in seconds.
const SKEW_S: u64 = 10;

pub(super) struct OpenIdAuth {
    places: CredentialPlaces,
    org_id: String,
    providers: Vec<OpenidProvider>,
    /// The right of a token without a policy, if it has one.
    right: Option<Arc<AccessRight>>,
    scopes: ScopeClaim,
    claims: ClaimNames,
    /// Whether the same user of two clients counts as two users.
    segregates: bool,
    gives_session: bool,
    /// The scopes that later steps check.
    granted: Option<ScopeCheck>,
    verified: TwoGenerationCache<AdmittedIdentity>,
}

struct OpenidProvider {
    issuer: String,
    keys: [Arc<KeySet>; 1],
    /// Policy of each client.
    clients: BTreeMap<String, String>,
}

struct AdmittedIdentity {
    identity: Identity,
    claims: Option<Arc<ClaimTexts>>,
    /// Its scopes, if later steps check them.
    scopes: Option<Arc<GrantedScopes>>,
    validity: Validity,
    generation: u64,
}

/// A token that does not admit its request, or not yet.
enum IdentityStop {
    Refuse,
    Hold(Work),
}

impl OpenIdAuth {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        if !definition.uses(AuthMethod::OpenId) {
            return None;
        }
        let settings = source.context.settings;
        let tls = TlsRules { insecure: settings.callers.insecure_jwks_tls, service: ServiceKind::OAuth, ..TlsRules::default() };
        let rules = SetRules { tls, age_max: settings.callers.jwks_age_max, discovered: true };
        let mut providers = Vec::new();
        for (index, provider) in definition.openid_options.providers.iter().enumerate() {
            let url = format!("{}/.well-known/openid-configuration", provider.issuer.trim_end_matches('/'));
            match source.context.registry.key_set(&url, &rules) {
                Ok(set) => providers.push(OpenidProvider {
                    issuer: provider.issuer.clone(),
                    keys: [set],
                    clients: provider.client_ids.iter().map(|(id, policy)| (decoded(id), policy.clone())).collect(),
                }),
                Err(why) => source.context.error(format!("$.openid_options.providers[{index}].issuer"), why),
            }
        }
        Some(Box::new(OpenIdAuth {
            places: CredentialPlaces::new(definition.places(AuthMethod::OpenId)),
            org_id: definition.org_id.clone(),
            providers,
            right: definition.tollgate.jwt.policies_optional.then(|| right_to(definition)),
            scopes: definition.scopes.oidc.clone(),
            claims: ClaimNames::used_in(definition),
            segregates: definition.openid_options.segregate_by_client,
            gives_session: definition.takes_session_of(AuthMethod::OpenId),
            granted: definition.tollgate.scope_check.clone(),
            verified: TwoGenerationCache::new(VERIFIED_MAX),
        }))
    }

    /// Changes when the policies or a key set change.
    fn generation(&self, exchange: &Exchange<'_>) -> u64 {
        let of_sets = self.providers.iter().flat_map(|provider| &provider.keys).map(|set| {
            set.keep_young(exchange.arrival.now);
            set.generation()
        });
        exchange.arrival.keys.generation() + of_sets.sum::<u64>()
    }

    fn verify(
        &self,
        text: &str,
        generation: u64,
        may_fetch: bool,
        exchange: &mut Exchange<'_>,
    ) -> Result<AdmittedIdentity, IdentityStop> {
        let token = JwtToken::parse(text).ok_or(IdentityStop::Refuse)?;
        let algorithm =
            token.algorithm().and_then(SigningAlgorithm::named).filter(|algorithm| algorithm.family != AlgorithmFamily::Hmac);
        let algorithm = algorithm.ok_or(IdentityStop::Refuse)?;
        let claims = token.claims().ok_or(IdentityStop::Refuse)?;
        let issuer = claims.text("iss").ok_or(IdentityStop::Refuse)?;
        let provider = self.providers.iter().find(|provider| provider.issuer == issuer).ok_or(IdentityStop::Refuse)?;
        let kid = token.kid().unwrap_or_default();
        match KeySource::check(&provider.keys, kid, exchange.arrival.now, may_fetch, |key| key.verifies(&token, algorithm)) {
            Checked::Good => {}
            Checked::Bad => return Err(IdentityStop::Refuse),
            Checked::Coming(all) => {
                return Err(IdentityStop::Hold(Box::pin(async move {
                    for one in all {
                        one.wait().await;
                    }
                })));
            }
        }
        let checks = TimeChecks { expires_skew: Some(SKEW_S), issued_skew: Some(SKEW_S), not_before_skew: Some(SKEW_S) };
        let validity = claims.validity(exchange.arrival.unix_s, &checks).map_err(|_| IdentityStop::Refuse)?;
        let ends = claims.expires_unix_s().ok_or(IdentityStop::Refuse)?;
        let (client, policy) = client_of(&claims, &provider.clients).ok_or(IdentityStop::Refuse)?;
        let user = claims.text("sub").ok_or(IdentityStop::Refuse)?;
        let policies = self.policies(&claims, policy);
        let right = self.right.as_ref().filter(|_| policies.is_empty());
        if right.is_none() && !identity::is_usable(&policies, &self.org_id, exchange.arrival.keys) {
            return Err(IdentityStop::Refuse);
        }
        let subject = if self.segregates { format!("{client}{user}") } else { user.to_owned() };
        let alias = format!("{client}:{user}");
        let (keys, unix_s) = (exchange.arrival.keys, exchange.arrival.unix_s);
        let identity = match right {
            Some(right) => Identity::with_right(keys, &self.org_id, &subject, right),
            None => Identity::with_policies(keys, &self.org_id, &subject, alias, policies, Some(ends), unix_s),
        };
        let scopes = GrantedScopes::of(self.granted.as_ref(), |name| claims.0.get(name));
        Ok(AdmittedIdentity { identity, claims: self.claims.texts(&token, &claims), scopes, validity, generation })
    }

    /// The policies of the token's scopes if scopes are mapped to policies, else its client's policy.
    fn policies(&self, claims: &Claims, of_client: &str) -> Vec<String> {
        if self.scopes.scope_to_policy.is_empty() {
            return if of_client.is_empty() { Vec::new() } else { vec![of_client.to_owned()] };
        }
        let mut policies: Vec<String> = Vec::new();
        for scope in claims.scopes(self.scopes.claim()) {
            if let Some(policy) = self.scopes.scope_to_policy.get(scope)
                && !policies.contains(policy)
            {
                policies.push(policy.clone());
            }
        }
        policies
    }

    fn let_in(&self, exchange: &mut Exchange<'_>, admission: &AdmittedIdentity) -> Step {
        let Some(key) = admission.identity.key(exchange.arrival.keys, &self.org_id) else { return Step::Refuse(OPENID_REFUSED) };
        if admission.claims.is_some() {
            exchange.caller.claims.clone_from(&admission.claims);
        }
        exchange.caller.grant(admission.scopes.as_ref(), self.gives_session);
        if self.gives_session {
            exchange.caller.key = Some(key);
        }
        Step::Next
    }
}

/// A client's id in a definition: in Base64, as Tyk requires, or plain.
fn decoded(id: &str) -> String {
    STANDARD.decode(id).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| id.to_owned())
}

/// The first audience that is a known client, with its policy.
fn client_of<'c>(claims: &'c Claims, clients: &'c BTreeMap<String, String>) -> Option<(&'c str, &'c str)> {
    let known = |name: &'c str| clients.get(name).map(|policy| (name, policy.as_str()));
    match claims.0.get("aud")? {
        Value::String(name) => known(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find_map(known),
        _ => None,
    }
}

impl Middleware for OpenIdAuth {
    fn forget_key_sets(&self) {
        self.providers.iter().flat_map(|provider| &provider.keys).for_each(|set| set.forget());
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.decisions.ignored { Step::Next } else { self.check(exchange, true) }
    }
}

impl OpenIdAuth {
    /// Checks the token. `may_fetch`: a key set that is not there may be fetched, while the request is held.
    fn check(&self, exchange: &mut Exchange<'_>, may_fetch: bool) -> Step {
        let Some(text) = self.places.find(exchange) else { return Step::Refuse(OPENID_MISSING) };
        let digest = digest_of(text.as_bytes());
        let generation = self.generation(exchange);
        if let Some(known) = self.verified.get(&digest) {
            if known.generation == generation && known.validity.contains(exchange.arrival.unix_s) {
                return self.let_in(exchange, &known);
            }
            self.verified.remove(&digest);
        }
        match self.verify(&text, generation, may_fetch, exchange) {
            Ok(admission) => {
                let step = self.let_in(exchange, &admission);
                self.verified.put(digest, Arc::new(admission));
                step
            }
            Err(IdentityStop::Refuse) => Step::Refuse(OPENID_REFUSED),
            // Discovery and key set are two calls.
            Err(IdentityStop::Hold(work)) => {
                let until = HoldUntil::Done(work, FETCH_TIME_MAX * 2 + GRACE);
                Step::hold(self, until, |this, exchange| this.check(exchange, false))
            }
        }
    }
}
