//! Authentication by JSON Web Token. Reads `enable_jwt` and the `jwt_*` fields, `scopes.jwt` and `auth_configs.jwt`. The client sees 400
//! `Authorization field missing`, 403 `Key not authorized` or the reason why no policy applies, and 401 for a token outside its validity
//! period. Valid tokens are cached by digest until they expire, so that each costs one signature check. While a key set is fetched the
//! request is held, for at most five seconds; if the fetch fails, tokens that need the set are rejected.

mod admission;

use super::Middleware;
use crate::credentials::CredentialPlaces;
use crate::exchange::{Exchange, GRACE, Step};
use crate::middleware::MiddlewareSource;
use crate::refusal::{self, Refusal};
use crate::template::uses_token;
use crate::two_generation_cache::{TwoGenerationCache, digest_of};
use admission::{AdmittedToken, ClaimRules};
use std::sync::Arc;
use tollgate_access::jwt::{
    AlgorithmFamily, Checked, FETCH_TIME_MAX, JwtToken, KeySet, KeySource, SetRules, SigningAlgorithm, TimeChecks, TimeFault,
    VerifyKey,
};
use tollgate_engine::HoldUntil;
use tollgate_engine::Work;
use tollgate_model::api::AuthMethod;
use tollgate_tls::ServiceKind;
use tollgate_tls::TlsRules;

/// Capacity of the cache of valid tokens, in each of its two generations. An entry takes some 400 bytes, plus the claims that variables
/// use.
const VERIFIED_MAX: usize = 32_768;

pub(super) struct JwtAuth {
    places: CredentialPlaces,
    family: AlgorithmFamily,
    source: KeySource,
    times: TimeChecks,
    grants: ClaimRules,
    /// Whether the token provides the session.
    gives_session: bool,
    /// Whether a variable uses the key.
    keeps_token: bool,
    verified: TwoGenerationCache<AdmittedToken>,
}

/// Why a token does not admit its request, or not yet.
enum TokenStop {
    Refuse(Refusal),
    Hold(Work),
    /// The step that results from asking for a key.
    Step(Step),
}

impl From<Refusal> for TokenStop {
    fn from(refusal: Refusal) -> Self {
        TokenStop::Refuse(refusal)
    }
}

impl JwtAuth {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        if !definition.uses(AuthMethod::Jwt) {
            return None;
        }
        let settings = source.context.settings;
        let family = AlgorithmFamily::of_method(&definition.jwt_signing_method);
        let tls = TlsRules { insecure: settings.callers.insecure_jwks_tls, service: ServiceKind::OAuth, ..TlsRules::default() };
        let rules = SetRules { tls, age_max: settings.callers.jwks_age_max, discovered: false };
        let keys = match KeySource::new(definition, family, &rules, |url, rules| source.context.registry.key_set(url, rules)) {
            Ok(keys) => keys,
            Err((field, why)) => {
                source.context.warning(format!("$.{field}"), format!("{why}: every token is refused"));
                KeySource::Nothing
            }
        };
        let skew = |disabled: bool, seconds: i64| (!disabled).then(|| u64::try_from(seconds).unwrap_or_default());
        Some(Box::new(JwtAuth {
            places: CredentialPlaces::new(definition.places(AuthMethod::Jwt)),
            family,
            grants: ClaimRules::new(definition, matches!(keys, KeySource::Sessions)),
            source: keys,
            times: TimeChecks {
                expires_skew: skew(definition.jwt_disable_expires_at_validation, definition.jwt_expires_at_validation_skew),
                issued_skew: skew(definition.jwt_disable_issued_at_validation, definition.jwt_issued_at_validation_skew),
                not_before_skew: skew(definition.jwt_disable_not_before_validation, definition.jwt_not_before_validation_skew),
            },
            gives_session: definition.takes_session_of(AuthMethod::Jwt),
            keeps_token: uses_token(definition),
            verified: TwoGenerationCache::new(VERIFIED_MAX),
        }))
    }

    /// The key sets that verify tokens.
    fn sets(&self) -> &[Arc<KeySet>] {
        match &self.source {
            KeySource::Sets(sets) => sets,
            KeySource::Fixed(_) | KeySource::Sessions | KeySource::Nothing => &[],
        }
    }

    /// Changes whenever anything outside the token changes that its admission depends on.
    fn generation(&self, exchange: &Exchange<'_>) -> u64 {
        let of_sets = self.sets().iter().map(|set| {
            set.keep_young(exchange.arrival.now);
            set.generation()
        });
        // Each of them only grows, so the sum never repeats.
        exchange.arrival.keys.generation() + of_sets.sum::<u64>()
    }

    /// Checks a token that is not in the cache.
    fn verify(
        &self,
        text: &str,
        generation: u64,
        may_fetch: bool,
        exchange: &mut Exchange<'_>,
    ) -> Result<AdmittedToken, TokenStop> {
        let token = JwtToken::parse(text).ok_or(refusal::JWT_REFUSED)?;
        let algorithm = self.algorithm(&token)?;
        // Without one key for all tokens, the claims name the key: they are read before and trusted after the check.
        let claims = self.grants.claims(&token).ok_or(refusal::JWT_REFUSED)?;
        let is_good = match &self.source {
            KeySource::Nothing => false,
            KeySource::Fixed(key) => key.verifies(&token, algorithm),
            KeySource::Sets(sets) => {
                let kid = token.kid().ok_or(refusal::JWT_REFUSED)?;
                match KeySource::check(sets, kid, exchange.arrival.now, may_fetch, |key| key.verifies(&token, algorithm)) {
                    Checked::Good => true,
                    Checked::Bad => false,
                    Checked::Coming(all) => {
                        return Err(TokenStop::Hold(Box::pin(async move {
                            for one in all {
                                one.wait().await;
                            }
                        })));
                    }
                }
            }
            KeySource::Sessions => {
                self.grants.ask_for_keys(&token, &claims, exchange).map_err(TokenStop::Step)?;
                let secret = self.grants.own_secret(&token, &claims, exchange).ok_or(refusal::JWT_REFUSED)?;
                VerifyKey::for_family(secret.as_bytes(), self.family).is_ok_and(|key| key.verifies(&token, algorithm))
            }
        };
        if !is_good {
            return Err(refusal::JWT_REFUSED.into());
        }
        let validity = claims.validity(exchange.arrival.unix_s, &self.times).map_err(time_refusal)?;
        self.grants.check(&token, &claims)?;
        self.grants.ask_for_keys(&token, &claims, exchange).map_err(TokenStop::Step)?;
        Ok(self.grants.admission(&token, &claims, validity, generation, exchange)?)
    }

    /// The token's algorithm, if it belongs to the definition's family.
    fn algorithm(&self, token: &JwtToken<'_>) -> Result<&'static SigningAlgorithm, Refusal> {
        let name = token.algorithm().unwrap_or_default();
        match SigningAlgorithm::named(name) {
            Some(algorithm) if algorithm.family == self.family => Ok(algorithm),
            Some(_) => Err(refusal::JWT_METHOD),
            None if name == "none" => Err(refusal::JWT_METHOD),
            None => Err(refusal::JWT_REFUSED),
        }
    }
}

fn time_refusal(fault: TimeFault) -> Refusal {
    match fault {
        TimeFault::Expired => refusal::JWT_EXPIRED,
        TimeFault::BeforeIssued => refusal::JWT_BEFORE_ISSUED,
        TimeFault::NotYet => refusal::JWT_NOT_YET,
    }
}

impl Middleware for JwtAuth {
    fn forget_key_sets(&self) {
        self.sets().iter().for_each(|set| set.forget());
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.decisions.ignored { Step::Next } else { self.check(exchange, true) }
    }
}

impl JwtAuth {
    /// Checks the token. `may_fetch`: key sets that are not there may be fetched, while the request is held.
    fn check(&self, exchange: &mut Exchange<'_>, may_fetch: bool) -> Step {
        let Some(text) = self.places.find_bytes(exchange) else { return Step::Refuse(refusal::JWT_MISSING) };
        let digest = digest_of(&text);
        let generation = self.generation(exchange);
        if let Some(known) = self.verified.get(&digest) {
            if known.holds(generation, exchange.arrival.unix_s)
                && let Some(key) = self.grants.key(&known, exchange)
            {
                return self.let_in(exchange, key, &known);
            }
            self.verified.remove(&digest);
        }
        let Ok(text) = std::str::from_utf8(&text) else { return Step::Refuse(refusal::JWT_REFUSED) };
        let admission = match self.verify(text, generation, may_fetch, exchange) {
            Ok(admission) => admission,
            Err(TokenStop::Refuse(refusal)) => return Step::Refuse(refusal),
            Err(TokenStop::Step(step)) => return step,
            Err(TokenStop::Hold(work)) => {
                let until = HoldUntil::Done(work, FETCH_TIME_MAX + GRACE);
                return Step::hold(self, until, |this, exchange| this.check(exchange, false));
            }
        };
        let Some(key) = self.grants.key(&admission, exchange) else { return Step::Refuse(refusal::JWT_REFUSED) };
        let admission = Arc::new(admission);
        self.verified.put(digest, admission.clone());
        self.let_in(exchange, key, &admission)
    }

    fn let_in(&self, exchange: &mut Exchange<'_>, key: tollgate_access::keys::HeldKey, admission: &AdmittedToken) -> Step {
        if admission.claims.is_some() {
            exchange.caller.claims.clone_from(&admission.claims);
        }
        exchange.caller.grant(admission.scopes.as_ref(), self.gives_session);
        if self.gives_session {
            if self.keeps_token {
                exchange.caller.token = Some(admission.name().into());
            }
            exchange.caller.key = Some(key);
        }
        Step::Next
    }
}
