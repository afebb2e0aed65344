//! The keys of callers as masks know them, and differences without secrets.

use serde_json::Value;
use tollgate_access::keys::Keys;
use tollgate_admin::{Difference, MASK, RawKeys, differences, mask};

/// The keys of callers, if they are stored as they are. Otherwise only hashes are known here, and a hash opens nothing.
pub struct KnownKeys<'k>(pub &'k Keys);

impl RawKeys for KnownKeys<'_> {
    fn is_raw_key(&self, text: &str) -> bool {
        !self.0.rules.hash_keys && self.0.has_in_memory(text)
    }
}

/// Differences without secrets: a secret that was changed is named, but not shown.
pub fn masked_differences(keys: &Keys, old: Option<&Value>, new: Option<&Value>) -> (Vec<Difference>, usize) {
    let keys = KnownKeys(keys);
    let masked = |value: Option<&Value>| {
        let mut value = value.cloned().unwrap_or_default();
        mask::mask(&mut value, &keys);
        value
    };
    // A whole document that was added or removed is not a difference that anyone reads.
    let (Some(old), Some(new)) = (old, new) else { return Default::default() };
    let (mut shown, more) = differences(&masked(Some(old)), &masked(Some(new)));
    let (all, _) = differences(old, new);
    for Difference { path, .. } in all {
        if !shown.iter().any(|known| path.starts_with(&known.path)) {
            shown.push(Difference { path, old: Some(MASK.into()), new: Some(MASK.into()) });
        }
    }
    (shown, more)
}
