//! The URL of a request while the chain changes it.

use std::borrow::Cow;
use tollgate_http::path::Path;

/// Path and query of a request.
#[derive(Clone, Debug)]
pub struct Url<'a> {
    pub path: Path<'a>,
    /// Length of the listen path within the decoded path, in bytes.
    pub listen_bytes: usize,
    pub query: Option<Cow<'a, str>>,
}

impl Url<'_> {
    /// The URL of an exchange whose own has moved on.
    pub fn nowhere() -> Self {
        Url { path: Path::plain("/"), listen_bytes: 0, query: None }
    }

    /// The same URL, which borrows nothing.
    pub fn into_owned(self) -> Url<'static> {
        let Url { path, listen_bytes, query } = self;
        Url { path: path.into_owned(), listen_bytes, query: query.map(|query| Cow::Owned(query.into_owned())) }
    }

    /// The decoded path after the listen path, with a leading slash.
    pub fn path_behind_listen(&self) -> Cow<'_, str> {
        let from = |at: usize| self.path.decoded.get(at..).filter(|path| path.starts_with('/'));
        // A slash that ends the listen path is also the leading slash.
        let behind = from(self.listen_bytes).or_else(|| from(self.listen_bytes.checked_sub(1)?));
        let made = || Cow::Owned(format!("/{}", self.path.decoded.get(self.listen_bytes..).unwrap_or_default()));
        behind.map_or_else(made, Cow::Borrowed)
    }
}

#[cfg(test)]
mod tests;
