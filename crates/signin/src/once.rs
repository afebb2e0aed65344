//! What counts once: states of sign-ins, and identifiers of logout tokens.

use sha2::{Digest, Sha256};
use tollgate_store::{DocumentSpace, Store, StoreFault};

/// Notes that `text` was used, for all gateways that share the store; false if it was used before. `purpose` keeps texts of different kinds
/// apart; the note is forgotten at `until_unix_s`.
///
/// # Errors
/// The store does not answer. The text must count as used then.
pub async fn is_first_use(
    store: &dyn Store,
    space: DocumentSpace,
    purpose: &str,
    text: &str,
    until_unix_s: u64,
) -> Result<bool, StoreFault> {
    let id = format!("used/{purpose}/{}", digest(text));
    let existed = store.write_over(space, id, None, b"1".to_vec(), Some(until_unix_s)).await?;
    Ok(!existed)
}

/// Hexadecimal digits of a text of any form and length.
pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
