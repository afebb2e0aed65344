//! Proof that the client that redeems a code is the one that requested it (RFC 7636).

use super::client::OauthClient;
use super::parameters::OauthParameters;
use super::refused::{ErrorCode, OauthRefusal};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tollgate_model::api::{OAuthRules, PkceMethod};

/// The code challenge of an authorisation request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    pub method: PkceMethod,
    pub text: String,
}

impl Challenge {
    /// The challenge of an authorisation request (section 4.3), if it has one. A public client must send one, and it must not reveal the
    /// verifier.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidRequest`], as section 4.4.1 requires.
    pub fn of(parameters: &OauthParameters, rules: &OAuthRules, client: &OauthClient) -> Result<Option<Self>, OauthRefusal> {
        let wrong = |what: &'static str| Err(OauthRefusal::because(ErrorCode::InvalidRequest, what));
        let Some(text) = parameters.find("code_challenge") else {
            return if rules.pkce_required || client.is_public { wrong("code challenge required") } else { Ok(None) };
        };
        let name = parameters.find("code_challenge_method").unwrap_or(PkceMethod::Plain.name());
        let is_allowed = |method: &PkceMethod| rules.allows(*method) && is_fit(*method, client);
        let Some(method) = PkceMethod::from_name(name).filter(is_allowed) else {
            return wrong("transform algorithm not supported");
        };
        if !is_verifier(text) {
            return wrong("code_challenge must have 43 to 128 letters, digits, '-', '.', '_' or '~'");
        }
        Ok(Some(Challenge { method, text: text.to_owned() }))
    }

    /// Whether a client that presents `verifier` may redeem a code that was requested with this challenge, or without one.
    pub fn is_met(challenge: Option<&Self>, client: &OauthClient, verifier: Option<&str>) -> bool {
        match (challenge, verifier) {
            (Some(challenge), verifier) => {
                is_fit(challenge.method, client) && verifier.is_some_and(|verifier| challenge.is_met_by(verifier))
            }
            // An attacker removed the challenge from the request (RFC 9700, section 4.8.2).
            (None, Some(_)) => false,
            (None, None) => !client.is_public,
        }
    }

    /// Whether a verifier matches the challenge (section 4.6).
    pub fn is_met_by(&self, verifier: &str) -> bool {
        let made = match self.method {
            PkceMethod::Plain => verifier.to_owned(),
            PkceMethod::S256 => URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())),
        };
        is_verifier(verifier) && bool::from(made.as_bytes().ct_eq(self.text.as_bytes()))
    }
}

/// Whether a client may use this method: the verifier is a public client's only proof, so it must use `S256`.
fn is_fit(method: PkceMethod, client: &OauthClient) -> bool {
    method == PkceMethod::S256 || !client.is_public
}

/// Whether a text has the form of a verifier (section 4.1), which is also the form of a challenge.
fn is_verifier(text: &str) -> bool {
    (43..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

#[cfg(test)]
mod tests;
