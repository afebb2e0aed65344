//! The URL of a request while the chain changes it.

use crate::base::path::Path;
use std::borrow::Cow;

/// Path and query of a request.
#[derive(Clone, Debug)]
pub(crate) struct Url<'a> {
    pub path: Path<'a>,
    /// Length of the listen path within the decoded path, in bytes.
    pub listen_bytes: usize,
    pub query: Option<Cow<'a, str>>,
}

impl Url<'_> {
    /// The decoded path after the listen path, with a leading slash.
    pub(crate) fn path_behind_listen(&self) -> Cow<'_, str> {
        let from = |at: usize| self.path.decoded.get(at..).filter(|path| path.starts_with('/'));
        // A slash that ends the listen path is also the leading slash.
        let behind = from(self.listen_bytes).or_else(|| from(self.listen_bytes.checked_sub(1)?));
        let made = || Cow::Owned(format!("/{}", self.path.decoded.get(self.listen_bytes..).unwrap_or_default()));
        behind.map_or_else(made, Cow::Borrowed)
    }
}

#[cfg(test)]
mod tests;
