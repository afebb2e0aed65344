//! The checks of a provider's tokens. Key sets and signatures are those of APIs.

use crate::provider::refused;
use crate::token::{is_for, is_logout, may_be_identity, seconds};
use crate::{EndedSessions, SignInFault, SignInProvider, SignedIdentity};
use tollgate_access::jwt::{Checked, Claims, JwtToken, KeySource, SigningAlgorithm, TimeChecks};
use tollgate_clock::unix_s;

/// Signing algorithms that are taken if none are named. Every one has a public key.
const ALGORITHMS: [&str; 4] = ["RS256", "PS256", "ES256", "EdDSA"];
/// How far the clocks of provider and gateway may differ.
const SKEW_S: u64 = 60;
/// Age of a logout token; the provider sends it at once.
const LOGOUT_AGE_S_MAX: u64 = 300;
/// Fetches of the key set for one token.
const FETCHES_MAX: usize = 2;

impl SignInProvider {
    /// Checks an identity token for one of our clients at the provider (Core 3.1.3.7), and says who it is about. The nonce is the caller's.
    ///
    /// # Errors
    /// Why it is no proof of anybody.
    pub async fn identity(&self, token: &str, client_id: &str) -> Result<SignedIdentity, SignInFault> {
        let claims = self.verified(token, client_id, true).await?;
        if claims.0.get("exp").is_none() {
            return Err(refused("the identity token has no end"));
        }
        if claims.0.get("events").is_some() {
            return Err(refused("the token is no identity token"));
        }
        let subject = claims.text("sub").ok_or_else(|| refused("the identity token names nobody"))?.to_owned();
        Ok(SignedIdentity {
            subject,
            sid: claims.text("sid").map(str::to_owned),
            issued_unix_s: seconds(&claims, "iat").ok_or_else(|| refused("the identity token does not say when it was issued"))?,
            claims,
            incomplete: None,
            token: token.to_owned(),
        })
    }

    /// Checks a logout token for one of our clients (Back-Channel Logout 1.0, 2.6). Whether it was used before is the caller's to ask, by
    /// [`crate::is_first_use`].
    ///
    /// # Errors
    /// Why it ends no session.
    pub async fn ended(&self, token: &str, client_ids: &[&str]) -> Result<EndedSessions, SignInFault> {
        let mut verified = Err(refused("the token is for another client"));
        for client_id in client_ids {
            verified = self.verified(token, client_id, false).await;
            if verified.is_ok() {
                break;
            }
        }
        let claims = verified?;
        if !is_logout(&claims) {
            return Err(refused("the token is no logout token"));
        }
        if claims.0.get("nonce").is_some() {
            return Err(refused("a logout token has no nonce"));
        }
        let issued = seconds(&claims, "iat").ok_or_else(|| refused("the logout token does not say when it was made"))?;
        if unix_s().saturating_sub(issued) > LOGOUT_AGE_S_MAX {
            return Err(refused("the logout token is too old"));
        }
        let token_id = claims.text("jti").ok_or_else(|| refused("the logout token has no jti"))?.to_owned();
        let (subject, sid) = (claims.text("sub").map(str::to_owned), claims.text("sid").map(str::to_owned));
        if subject.is_none() && sid.is_none() {
            return Err(refused("the logout token names nobody"));
        }
        Ok(EndedSessions { subject, sid, token_id, until_unix_s: issued + LOGOUT_AGE_S_MAX + SKEW_S })
    }

    /// The claims of a token of this issuer for a client, whose signature and times are right.
    async fn verified(&self, text: &str, client_id: &str, is_identity: bool) -> Result<Claims, SignInFault> {
        let token = JwtToken::parse(text).ok_or_else(|| refused("what should be a token is none"))?;
        if is_identity && !may_be_identity(token.header("typ")) {
            return Err(refused("the token is no identity token"));
        }
        let named = token.algorithm().unwrap_or_default();
        let algorithm = SigningAlgorithm::named(named).filter(|algorithm| self.takes(algorithm.name));
        let algorithm = algorithm.ok_or_else(|| refused(format!("the algorithm {named:?} is not taken")))?;
        let claims = token.claims().ok_or_else(|| refused("the token has no claims"))?;
        // Before the signature, so that tokens of others cost no fetch.
        if claims.text("iss") != Some(self.party.issuer.as_str()) {
            return Err(refused("the token is of another issuer"));
        }
        if !is_for(&claims, client_id) {
            return Err(refused("the token is for another client"));
        }
        self.check_signature(&token, algorithm).await?;
        let checks = TimeChecks { expires_skew: Some(SKEW_S), issued_skew: Some(SKEW_S), not_before_skew: Some(SKEW_S) };
        claims.validity(unix_s(), &checks).map_err(|fault| refused(format!("the token is not valid now: {fault:?}")))?;
        Ok(claims)
    }

    async fn check_signature(&self, token: &JwtToken<'_>, algorithm: &SigningAlgorithm) -> Result<(), SignInFault> {
        let kid = token.kid().unwrap_or_default();
        let mut fetches = 0;
        loop {
            let now = self.begun.elapsed();
            match KeySource::check(&self.keys, kid, now, fetches < FETCHES_MAX, |key| key.verifies(token, algorithm)) {
                Checked::Good => return Ok(()),
                Checked::Bad => return Err(refused("the signature is of no key of the provider")),
                Checked::Coming(pending) => {
                    fetches += 1;
                    for fetch in pending {
                        fetch.wait().await;
                    }
                }
            }
        }
    }

    fn takes(&self, algorithm: &str) -> bool {
        let named = &self.party.algorithms;
        if named.is_empty() { ALGORITHMS.contains(&algorithm) } else { named.iter().any(|own| own == algorithm) }
    }
}
