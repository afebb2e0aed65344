//! Proof that whoever redeems a code is who asked for it (RFC 7636).

use super::parameters::Parameters;
use super::refused::{ErrorCode, Refused};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tollgate_model::api::{OAuthRules, PkceMethod};

/// What a code was asked for with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    pub method: PkceMethod,
    pub text: String,
}

impl Challenge {
    /// The challenge of an authorisation request (section 4.3), if it has one.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidRequest`], as section 4.4.1 has it.
    pub fn of(parameters: &Parameters, rules: &OAuthRules) -> Result<Option<Self>, Refused> {
        let wrong = |what: &'static str| Err(Refused::because(ErrorCode::InvalidRequest, what));
        let Some(text) = parameters.find("code_challenge") else {
            return if rules.pkce_required { wrong("code challenge required") } else { Ok(None) };
        };
        let name = parameters.find("code_challenge_method").unwrap_or(PkceMethod::Plain.name());
        let Some(method) = PkceMethod::from_name(name).filter(|method| rules.allows(*method)) else {
            return wrong("transform algorithm not supported");
        };
        if !is_verifier(text) {
            return wrong("code_challenge must have 43 to 128 letters, digits, '-', '.', '_' or '~'");
        }
        Ok(Some(Challenge { method, text: text.to_owned() }))
    }

    /// Whether a verifier fits (section 4.6).
    pub fn is_met_by(&self, verifier: &str) -> bool {
        let made = match self.method {
            PkceMethod::Plain => verifier.to_owned(),
            PkceMethod::S256 => URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())),
        };
        is_verifier(verifier) && bool::from(made.as_bytes().ct_eq(self.text.as_bytes()))
    }
}

/// Whether a text has the form of a verifier (section 4.1), which is that of a challenge too.
fn is_verifier(text: &str) -> bool {
    (43..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

#[cfg(test)]
mod tests;
