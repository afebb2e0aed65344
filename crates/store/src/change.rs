//! The change of a document that others may change at the same time: read, changed, written in the place of exactly what was read.

use crate::Store;
use crate::fault::{StoreFault, StoreFaultKind};
use crate::question::DocumentSpace;

/// Tries while others are faster.
const TRIES_MAX: usize = 20;

/// A document after a change.
pub struct ChangedDocument<T> {
    /// The document.
    pub value: Vec<u8>,
    /// Its expiry in Unix seconds.
    pub expires_unix_s: Option<u64>,
    /// What whoever asked for the change gets.
    pub told: T,
}

/// Replaces a document by what `change` makes of it, or adds it. `change` may run several times; what the last run told is returned.
///
/// # Errors
/// The error of `change`, which leaves the document as it is; or that the store does not answer, or others are always faster.
pub async fn change_document<T, E: From<StoreFault>>(
    store: &dyn Store,
    space: DocumentSpace,
    id: &str,
    change: impl Fn(Option<&[u8]>) -> Result<ChangedDocument<T>, E>,
) -> Result<T, E> {
    for _ in 0..TRIES_MAX {
        let old = store.read(space, id.to_owned()).await?;
        let ChangedDocument { value, expires_unix_s, told } = change(old.as_deref())?;
        let is_replacement = old.is_some();
        let existed = store.write_over(space, id.to_owned(), old, value, expires_unix_s).await?;
        if existed == is_replacement {
            return Ok(told);
        }
    }
    Err(StoreFault::new(StoreFaultKind::Unavailable, format_args!("{id} changes faster than it can be written")).into())
}
