//! Keys of a rehearsal: the sessions of the running gateway, with policies and counters of their own. A recorded request names its key by the
//! listed form; a stand-in takes the key's place in the request.

use super::table::StoredKey;
use super::{Digest, HeldKey, Keys, Policies};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tollgate_model::key as key_format;

/// How a stand-in begins; the listed form of the key follows.
pub(super) const STAND_IN: &str = "recorded-key.";
/// Texts whose keys are remembered; beyond them all are looked up again.
const KNOWN_MAX: usize = 200_000;

/// Where the sessions of a rehearsal come from.
pub(super) struct KeyOrigin {
    keys: Arc<Keys>,
    /// The keys that texts mean; `None` for none.
    known: Mutex<HashMap<String, Option<Digest>>>,
}

/// What stands for a recorded key in a request.
pub fn stand_in(shown: &str) -> String {
    format!("{STAND_IN}{shown}")
}

impl Keys {
    /// Whether these are the keys of a rehearsal: nothing is stored.
    pub fn is_rehearsed(&self) -> bool {
        self.origin.is_some()
    }

    /// Keys with the same sessions, and these policies. Nothing that is counted there counts anywhere else.
    pub fn rehearsal(self: &Arc<Self>, policies: Policies) -> Keys {
        let mut keys = Keys::new(self.rules.clone(), self.store.clone(), None);
        keys.origin = Some(KeyOrigin { keys: self.clone(), known: Mutex::default() });
        keys.rings = self.rehearsed_rings();
        keys.set_policies(policies);
        for id in self.orgs() {
            if let Some(session) = self.with_org(&id, |org| org.session.clone()) {
                keys.add_org(&id, session, Arc::default());
            }
        }
        keys
    }

    /// Reads the session of a recorded key from a shared store, so that rehearsals find it.
    pub async fn prepare_recorded(&self, shown: &str) {
        if self.shared.is_some() {
            // A session that can't be read is as unknown as one that is gone.
            let _ = self.view(shown, "").await;
        }
    }

    /// The key that a text means in the gateway that is rehearsed.
    #[cold]
    pub(super) fn of_origin(&self, token: &str, org: &str) -> Option<HeldKey> {
        let origin = self.origin.as_ref()?;
        let name = format!("{org}\0{token}");
        let known = origin.known.lock().unwrap_or_else(PoisonError::into_inner).get(&name).copied();
        let digest = match known {
            Some(digest) => digest?,
            None => {
                let digest = origin.digest_of(token, org);
                let mut known = origin.known.lock().unwrap_or_else(PoisonError::into_inner);
                if known.len() >= KNOWN_MAX {
                    known.clear();
                }
                known.insert(name, digest);
                digest?
            }
        };
        if let Some(key) = self.compiled(&digest) {
            return Some(key);
        }
        let document = origin.keys.document_of(&digest)?;
        let entry = StoredKey::new(document, None, true);
        let shown = entry.shown();
        self.table.insert(digest, &shown, entry);
        self.compiled(&digest)
    }

    /// The stored form of a key in memory.
    fn document_of(&self, digest: &Digest) -> Option<Box<[u8]>> {
        let of_shared = self.shared.as_ref().and_then(|shared| shared.get(digest).or_else(|| shared.last_known(digest)));
        of_shared.map(|entry| entry.document().into()).or_else(|| self.table.with(digest, |entry| entry.document().into()))
    }
}

impl KeyOrigin {
    fn digest_of(&self, token: &str, org: &str) -> Option<Digest> {
        let keys = &self.keys;
        let is_there = |digest: &Digest| keys.document_of(digest).is_some();
        if let Some(shown) = token.strip_prefix(STAND_IN) {
            let named = keys.table.shown_as(shown).first().copied();
            return named.or_else(|| Some(key_format::digest(shown)).filter(is_there));
        }
        let texts = std::iter::once(token.to_owned()).chain(keys.rules.texts(token, org));
        let texts: Vec<String> = texts.filter(|text| !keys.refuses(text)).collect();
        let own = texts.iter().flat_map(|text| [keys.digest(text), key_format::digest(&keys.name(text))]);
        let former = texts.iter().filter_map(|text| Some(key_format::digest(&keys.former_name(text)?)));
        own.chain(former).find(is_there)
    }
}
