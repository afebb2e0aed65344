//! The keys of callers as masks know them.

use crate::auth::keys::Keys;
use tollgate_admin::RawKeys;

/// The keys of callers, if they are stored as they are. Otherwise only hashes are known here, and a hash opens nothing.
pub(crate) struct KnownKeys<'k>(pub &'k Keys);

impl RawKeys for KnownKeys<'_> {
    fn is_raw_key(&self, text: &str) -> bool {
        !self.0.rules.hash_keys && self.0.has_in_memory(text)
    }
}
