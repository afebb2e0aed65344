//! Sessions for valid tokens: a key's session, or one per identity that is made from policies.

use crate::exchange::{Exchange, Step};
use crate::refusal::{self, Refusal};
use std::sync::Arc;
use tollgate_access::digest::Digest;
use tollgate_access::identity::{Identity, is_usable, right_to};
use tollgate_access::jwt::{ClaimChecks, ClaimNames, ClaimTexts, Claims, GrantedScopes, JwtToken, Validity};
use tollgate_access::keys::HeldKey;
use tollgate_model::api::{ApiDefinition, ScopeCheck, ScopeClaim};
use tollgate_model::key as key_format;
use tollgate_model::session::AccessRight;

/// Rules that turn claims into sessions.
pub(super) struct ClaimRules {
    org_id: String,
    /// Whether each token belongs to a key that has its secret.
    by_key: bool,
    skip_kid: bool,
    identity_fields: Vec<String>,
    policy_fields: Vec<String>,
    client_field: String,
    default_policies: Vec<String>,
    /// The right of a token without policies, if it has one.
    right: Option<Arc<AccessRight>>,
    scopes: ScopeClaim,
    /// Claims with scopes; the first one that a token has counts.
    scope_claims: Vec<String>,
    checks: ClaimChecks,
    /// The scopes that later steps check.
    granted: Option<ScopeCheck>,
    claims: ClaimNames,
    /// Names of all claims that are used.
    wanted: Vec<String>,
}

/// A valid token in the cache.
pub(super) struct AdmittedToken {
    holder: Holder,
    /// The claims that variables use.
    pub claims: Option<Arc<ClaimTexts>>,
    /// Its scopes, if later steps check them.
    pub scopes: Option<Arc<GrantedScopes>>,
    validity: Validity,
    generation: u64,
}

enum Holder {
    /// A key, and the digest of the secret that verified the token.
    Key { name: String, secret: Digest },
    /// An identity, and the key that its first policy comes from.
    Identity { identity: Identity, client: Option<String> },
}

impl AdmittedToken {
    /// Whether the entry is still valid.
    pub(super) fn holds(&self, generation: u64, unix_s: u64) -> bool {
        self.generation == generation && self.validity.contains(unix_s)
    }

    /// Name of the key, or of the identity's session.
    pub(super) fn name(&self) -> &str {
        match &self.holder {
            Holder::Key { name, .. } => name,
            Holder::Identity { identity, .. } => identity.session_id(),
        }
    }
}

impl ClaimRules {
    pub(super) fn new(definition: &ApiDefinition, by_key: bool) -> Self {
        let (scopes, claims) = (definition.jwt_scopes(), ClaimNames::used_in(definition));
        let checks = ClaimChecks::new(&definition.tollgate.jwt);
        let granted = definition.tollgate.scope_check.clone();
        let (identity_fields, policy_fields) = (definition.jwt_subject_claims(), definition.jwt_policy_claims());
        let scope_claims = definition.jwt_scope_claims();
        let fields = identity_fields.iter().chain(&policy_fields).chain(&scope_claims).chain([&definition.jwt_client_base_field]);
        let named = fields.map(String::as_str).chain(claims.iter()).chain(checks.names());
        let named = named.chain(granted.iter().flat_map(ScopeCheck::claims));
        // A name with dots may lead into an object.
        let named = named.flat_map(|name| [Some(name), name.split('.').next()]).flatten();
        let mut wanted: Vec<String> = ["sub", "exp", "iat", "nbf"].into_iter().chain(named).map(str::to_owned).collect();
        wanted.sort();
        wanted.dedup();
        ClaimRules {
            org_id: definition.org_id.clone(),
            by_key,
            skip_kid: definition.jwt_skip_kid,
            identity_fields,
            policy_fields,
            client_field: definition.jwt_client_base_field.clone(),
            default_policies: definition.jwt_default_policies.clone(),
            right: definition.tollgate.jwt.policies_optional.then(|| right_to(definition)),
            scopes,
            scope_claims,
            checks,
            granted,
            claims,
            wanted,
        }
    }

    /// The claims of a token that the rules use.
    pub(super) fn claims(&self, token: &JwtToken<'_>) -> Option<Claims> {
        token.some_claims(|name| self.wanted.iter().any(|wanted| wanted == name))
    }

    /// Name of the key that a token belongs to: its `kid`, else the identity in its claims.
    fn key_name<'t>(&self, token: &'t JwtToken<'_>, claims: &'t Claims) -> Option<&'t str> {
        let kid = token.kid().filter(|_| !self.skip_kid);
        kid.or_else(|| claims.identity(&self.identity_fields).ok())
    }

    /// The client whose key provides the token's policy, if the definition uses one.
    fn client<'c>(&self, claims: &'c Claims) -> Option<&'c str> {
        let field = Some(&self.client_field).filter(|field| self.policy_fields.is_empty() && !field.is_empty())?;
        claims.text(field)
    }

    /// Looks up the keys that a token names in the store, if they are not in memory.
    pub(super) fn ask_for_keys(&self, token: &JwtToken<'_>, claims: &Claims, exchange: &mut Exchange<'_>) -> Result<(), Step> {
        let name = if self.by_key { self.key_name(token, claims) } else { self.client(claims) };
        name.map_or(Ok(()), |name| exchange.key_or_ask(name, &self.org_id).map(drop))
    }

    /// Secret of the key that a token claims to belong to.
    pub(super) fn own_secret(&self, token: &JwtToken<'_>, claims: &Claims, exchange: &Exchange<'_>) -> Option<String> {
        let key = exchange.known_key(self.key_name(token, claims)?, &self.org_id)?;
        Some(key.session.jwt_data.secret.clone()).filter(|secret| !secret.is_empty())
    }

    /// Checks what the definition asks of the claims of a valid token.
    pub(super) fn check(&self, token: &JwtToken<'_>, claims: &Claims) -> Result<(), Refusal> {
        let kid = token.kid().filter(|_| !self.skip_kid);
        let subject = || kid.map_or_else(|| claims.identity(&self.identity_fields), Ok);
        self.checks.check(claims, subject).map_err(refusal::jwt_claims)
    }

    /// Makes the admission of a token with a valid signature and validity period.
    pub(super) fn admission(
        &self,
        token: &JwtToken<'_>,
        claims: &Claims,
        validity: Validity,
        generation: u64,
        exchange: &Exchange<'_>,
    ) -> Result<AdmittedToken, Refusal> {
        let holder = if self.by_key {
            let name = self.key_name(token, claims).ok_or(refusal::JWT_REFUSED)?.to_owned();
            let secret = self.own_secret(token, claims, exchange).ok_or(refusal::JWT_REFUSED)?;
            Holder::Key { name, secret: key_format::digest(&secret) }
        } else {
            self.identity(claims, exchange)?
        };
        let scopes = GrantedScopes::of(self.granted.as_ref(), |name| claims.0.get(name));
        Ok(AdmittedToken { holder, claims: self.claims.texts(token, claims), scopes, validity, generation })
    }

    fn identity(&self, claims: &Claims, exchange: &Exchange<'_>) -> Result<Holder, Refusal> {
        let name = claims.identity(&self.identity_fields).map_err(refusal::jwt_identity)?;
        let (policies, client) = self.policies(claims, exchange)?;
        let (keys, ends) = (exchange.arrival.keys, claims.expires_unix_s());
        if let Some(right) = self.right.as_ref().filter(|_| policies.is_empty()) {
            return Ok(Holder::Identity { identity: Identity::with_right(keys, &self.org_id, name, right), client });
        }
        let identity = Identity::with_policies(keys, &self.org_id, name, name.to_owned(), policies, ends, exchange.arrival.unix_s);
        Ok(Holder::Identity { identity, client })
    }

    /// The policies of a token, and the key that the first one comes from, if any.
    fn policies(&self, claims: &Claims, exchange: &Exchange<'_>) -> Result<(Vec<String>, Option<String>), Refusal> {
        let client = self.client(claims);
        let base = if !self.policy_fields.is_empty() {
            self.policy_fields.iter().find_map(|field| claims.text(field)).map(str::to_owned)
        } else {
            client.and_then(|client| self.policy_of_client(client, exchange))
        };
        let is_default = base.is_none();
        let mut policies = base.map_or_else(|| self.default_policies.clone(), |base| vec![base]);
        let check = |policies: &[String]| match policies.is_empty() || is_usable(policies, &self.org_id, exchange.arrival.keys) {
            true => Ok(()),
            false => Err(refusal::JWT_NO_POLICY),
        };
        check(&policies)?;
        if self.scopes.scope_to_policy.is_empty() {
            if policies.is_empty() && self.right.is_none() {
                return Err(refusal::JWT_NO_POLICY_FOUND);
            }
        } else {
            self.add_policies_of_scopes(claims, is_default, &mut policies)?;
            check(&policies)?;
        }
        Ok((policies, client.filter(|_| !is_default).map(str::to_owned)))
    }

    /// The scopes in the first of the definition's claims that the token has.
    fn scopes_of<'c>(&self, claims: &'c Claims) -> Vec<&'c str> {
        let named = self.scope_claims.iter().find(|name| claims.called(name).next().is_some());
        named.map(|name| claims.scopes(name)).unwrap_or_default()
    }

    /// Adds the policies of a token's scopes. They replace default policies, but not the token's own.
    fn add_policies_of_scopes(&self, claims: &Claims, is_default: bool, policies: &mut Vec<String>) -> Result<(), Refusal> {
        let scopes = self.scopes_of(claims);
        if scopes.is_empty() {
            return if policies.is_empty() { Err(refusal::JWT_NO_SCOPE) } else { Ok(()) };
        }
        if is_default {
            policies.clear();
        }
        for policy in scopes.iter().filter_map(|scope| self.scopes.scope_to_policy.get(*scope)) {
            if !policies.contains(policy) {
                policies.push(policy.clone());
            }
        }
        if policies.is_empty() { Err(refusal::JWT_NO_POLICY_IN_SCOPE) } else { Ok(()) }
    }

    /// First policy of a client's key.
    fn policy_of_client(&self, client: &str, exchange: &Exchange<'_>) -> Option<String> {
        let key = exchange.known_key(client, &self.org_id)?;
        key.session.policy_ids().first().map(|id| (*id).to_owned())
    }

    /// The session of an admission; `None` when something it depends on has changed.
    pub(super) fn key(&self, admission: &AdmittedToken, exchange: &Exchange<'_>) -> Option<HeldKey> {
        match &admission.holder {
            Holder::Key { name, secret } => {
                let key = exchange.known_key(name, &self.org_id)?;
                (key_format::digest(&key.session.jwt_data.secret) == *secret).then_some(key)
            }
            Holder::Identity { identity, client } => {
                let client_policy = client.as_ref().map(|client| self.policy_of_client(client, exchange));
                if client_policy.is_some_and(|policy| policy.as_ref() != identity.first_policy()) {
                    return None;
                }
                identity.key(exchange.arrival.keys, &self.org_id)
            }
        }
    }
}
