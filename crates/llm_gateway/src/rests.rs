//! Rests of providers' keys that all gateways keep: what one gateway is refused for, the others need not try.

use crate::llm_server::LlmServer;
use crate::pool::PoolKey;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The member of mail between gateways that such a message is in.
const MAIL: &str = "llm_rest";
/// Shorter ones are over before the others know of them.
const TOLD_MS_MIN: u64 = 1_000;

/// A key that rests for a model. Both gateways know the key by its place in the definition; it is in no message.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProviderRest {
    api: String,
    provider: String,
    /// Place of the key, from 1.
    key: usize,
    model: String,
    /// For how long, from now on: clocks of gateways differ.
    wait_ms: u64,
}

impl LlmServer {
    /// Tells the other gateways that a key rests.
    pub(crate) fn tell_rest(&self, key: &PoolKey, model: &str, wait_ms: u64) {
        let Some(others) = self.terms.others.as_ref().filter(|_| wait_ms > TOLD_MS_MIN) else { return };
        let (api, provider) = (self.terms.api.clone(), key.terms.name.clone());
        let rest = ProviderRest { api, provider, key: key.number, model: model.to_owned(), wait_ms };
        others.tell(serde_json::json!({ MAIL: rest }));
    }

    /// Takes mail of another gateway. False if it is about something else.
    pub fn hear_rest(&self, mail: &Value) -> bool {
        let Some(rest) = mail.get(MAIL) else { return false };
        let Ok(rest) = ProviderRest::deserialize(rest) else { return true };
        let place = self.terms.providers.iter().position(|provider| provider.name == rest.provider);
        let pool = place.filter(|_| rest.api == self.terms.api).and_then(|place| self.pools.get(place));
        if let Some(key) = pool.and_then(|pool| pool.key(rest.key.checked_sub(1)?)) {
            key.rooms.rest(&rest.model, rest.wait_ms, self.now_ms());
        }
        true
    }
}
