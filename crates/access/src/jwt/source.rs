//! Sources of the verification keys for a definition's tokens, determined when the definition is compiled.

use super::{AlgorithmFamily, KeySet, SetRules, VerifyKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use tollgate_clock::Pending;
use tollgate_model::api::ApiDefinition;

/// How many keys with the same name are tried. Only an attacker who wants to keep the gateway busy would need more.
const SAME_NAME_MAX: usize = 4;

/// Where verification keys come from.
pub enum KeySource {
    /// The same key for all tokens.
    Fixed(Box<VerifyKey>),
    /// Key sets; a token's `kid` selects the key.
    Sets(Vec<Arc<KeySet>>),
    /// Each session has its own key.
    Sessions,
    /// The definition names no usable source: every token is rejected.
    Nothing,
}

/// Result of a check against key sets.
pub enum Checked {
    /// One of the keys verifies the signature.
    Good,
    /// No key verifies it, or no key has this name.
    Bad,
    /// No key has this name, and the sets are being fetched.
    Coming(Vec<Pending<()>>),
}

impl KeySource {
    /// Makes the source that a definition names; `Err` is the faulty field and the reason. `key_set` returns the key set of a URL.
    pub fn new(
        definition: &ApiDefinition,
        family: AlgorithmFamily,
        rules: &SetRules,
        key_set: impl Fn(&str, &SetRules) -> Result<Arc<KeySet>, String>,
    ) -> Result<Self, (&'static str, String)> {
        if !definition.jwt_jwks_uris.is_empty() {
            let sets = definition.jwt_jwks_uris.iter().map(|uri| {
                let age_max = uri.age_max().unwrap_or(rules.age_max);
                key_set(&uri.url, &SetRules { age_max, ..rules.clone() })
            });
            let sets: Result<_, _> = sets.collect();
            return Ok(KeySource::Sets(sets.map_err(|error| ("jwt_jwks_uris", error))?));
        }
        let in_source = |error: String| ("jwt_source", error);
        let source = definition.jwt_source.as_str();
        if source.is_empty() {
            return Ok(KeySource::Sessions);
        }
        if is_url(source) {
            return Ok(KeySource::Sets(vec![key_set(source, rules).map_err(in_source)?]));
        }
        let Ok(bytes) = STANDARD.decode(source.trim()) else {
            return Err(in_source("is neither a URL nor Base64".to_owned()));
        };
        if let Some(url) = std::str::from_utf8(&bytes).ok().map(str::trim).filter(|text| is_url(text)) {
            return Ok(KeySource::Sets(vec![key_set(url, rules).map_err(in_source)?]));
        }
        let key = VerifyKey::for_family(&bytes, family).map_err(|error| in_source(format!("can't be used: {error}")))?;
        Ok(KeySource::Fixed(Box::new(key)))
    }

    /// Tries the keys with this name in all sets. An unknown name makes the sets fetch again, unless they have just done so; with
    /// `may_fetch` false, nothing is waited for.
    pub fn check(sets: &[Arc<KeySet>], kid: &str, now: Duration, may_fetch: bool, fits: impl Fn(&VerifyKey) -> bool) -> Checked {
        let mut tried = 0;
        let mut try_key = |key: &VerifyKey| {
            tried += 1;
            match fits(key) {
                true => ControlFlow::Break(Checked::Good),
                false if tried == SAME_NAME_MAX => ControlFlow::Break(Checked::Bad),
                false => ControlFlow::Continue(()),
            }
        };
        if let ControlFlow::Break(checked) = sets.iter().try_for_each(|set| set.show(kid, now, &mut try_key)) {
            return checked;
        }
        let coming: Vec<_> = sets.iter().filter(|_| may_fetch && tried == 0).filter_map(|set| set.look_again(now)).collect();
        if coming.is_empty() { Checked::Bad } else { Checked::Coming(coming) }
    }
}

fn is_url(text: &str) -> bool {
    let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    lower.starts_with("http://") || lower.starts_with("https://")
}
