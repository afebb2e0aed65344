//! The keys of one provider, and which of them a request goes with: one with room, and of several the one that the conversation had before.

use crate::access_tokens::AccessTokens;
use crate::figures::KeyFigures;
use crate::rooms::{Need, Rooms};
use crate::standing::Standing;
use crate::terms::ProviderTerms;
use std::sync::Arc;
use tollgate_balance::mix;
use tollgate_llm::{ProviderCredential, ServiceAccount};

/// For how long a key rests that its provider does not know.
const REFUSED_MS: u64 = 60_000;

/// The keys of one provider.
pub(crate) struct Pool {
    keys: Vec<PoolKey>,
    /// How the provider does, whatever the key.
    pub standing: Standing,
}

/// One key.
pub(crate) struct PoolKey {
    /// The provider with this key.
    pub terms: ProviderTerms,
    /// Its place, from 1.
    pub number: usize,
    /// Where the provider wants tokens that end, which the key gets.
    pub tokens: Option<AccessTokens>,
    /// What each model has left for it.
    pub rooms: Rooms,
    pub figures: Arc<KeyFigures>,
    refused: Standing,
}

/// Whether a provider can be asked for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    Ready,
    /// All its keys have used up their limits; one of them has room after so many milliseconds.
    Busy(u64),
    /// It failed, or knows none of its keys.
    Down,
}

impl Pool {
    /// A provider with one key or several.
    pub(crate) fn new(terms: &ProviderTerms, figures: impl Fn(usize) -> Arc<KeyFigures>) -> Self {
        let keys = terms.credentials().enumerate().map(|(index, credential)| {
            let tokens = account_of(credential).map(AccessTokens::new);
            let credential = if tokens.is_some() { ProviderCredential::None } else { credential.clone() };
            let terms = terms.with_credential(credential);
            let number = index + 1;
            PoolKey { terms, number, tokens, rooms: Rooms::default(), figures: figures(number), refused: Standing::default() }
        });
        Pool { keys: keys.collect(), standing: Standing::default() }
    }

    /// Whether it can be asked for a model.
    pub(crate) fn readiness(&self, model: &str, need: Need, now_ms: u64) -> Readiness {
        let known = self.keys.iter().filter(|key| key.refused.left_ms(now_ms) == 0);
        match known.map(|key| key.rooms.wait_ms(model, need, now_ms)).min() {
            Some(wait_ms) if wait_ms > 0 => Readiness::Busy(wait_ms),
            Some(_) if self.standing.left_ms(now_ms) == 0 => Readiness::Ready,
            _ => Readiness::Down,
        }
    }

    /// The key for a request: the number of the conversation chooses among those with room. `tried` are those that it had before.
    pub(crate) fn choose(&self, model: &str, need: Need, conversation: u64, tried: &[usize], now_ms: u64) -> Option<usize> {
        let has_room = |key: &PoolKey| key.refused.left_ms(now_ms) == 0 && key.rooms.wait_ms(model, need, now_ms) == 0;
        self.highest(conversation, tried, has_room)
    }

    /// A key when no provider of the model can be asked: one that is refused may be known again.
    pub(crate) fn any(&self, conversation: u64) -> Option<usize> {
        self.highest(conversation, &[], |_| true)
    }

    fn highest(&self, conversation: u64, tried: &[usize], fits: impl Fn(&PoolKey) -> bool) -> Option<usize> {
        let fitting = self.keys.iter().enumerate().filter(|(index, key)| !tried.contains(index) && fits(key));
        // Rendezvous hashing: if a key has no room, only its conversations go elsewhere.
        fitting.max_by_key(|(index, _)| mix(conversation ^ mix(*index as u64))).map(|(index, _)| index)
    }

    pub(crate) fn key(&self, index: usize) -> Option<&PoolKey> {
        self.keys.get(index)
    }
}

/// The service account that a credential is, if it is one. One that is broken was refused when the definition was loaded.
fn account_of(credential: &ProviderCredential) -> Option<ServiceAccount> {
    match credential {
        ProviderCredential::Bearer(text) if ServiceAccount::is_one(text) => ServiceAccount::read(text).ok(),
        _ => None,
    }
}

impl PoolKey {
    /// Its provider does not know it.
    pub(crate) fn refuse(&self, now_ms: u64) {
        self.figures.refuse();
        self.refused.wait(now_ms, REFUSED_MS);
    }

    /// It was accepted.
    pub(crate) fn accept(&self) {
        self.refused.end();
    }
}

#[cfg(test)]
mod tests;
