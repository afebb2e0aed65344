//! The parts of a request that are validated, and what does not fit in it.

use std::borrow::Cow;

/// The value of a header, by its name in any letter case; several lines are joined by commas, those of cookies by semicolons.
pub type HeaderLookup<'r> = dyn Fn(&str) -> Option<Cow<'r, str>> + 'r;

/// The parts of a request that are validated.
pub struct RequestParts<'r> {
    /// The path as the document writes it, decoded.
    pub path: &'r str,
    /// The query as it was sent.
    pub query: &'r str,
    /// Finds a header.
    pub header: &'r HeaderLookup<'r>,
}

/// Parameters where they were written, decoded.
pub(crate) struct WrittenParameters<'r> {
    pub(crate) path: Vec<(&'r str, &'r str)>,
    pub(crate) query: Vec<(Cow<'r, str>, Cow<'r, str>)>,
    pub(crate) header: &'r HeaderLookup<'r>,
}

/// What does not fit in a request, in words for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestMismatch {
    reason: String,
    is_exhausted: bool,
}

impl RequestMismatch {
    pub(crate) fn new(reason: String) -> Self {
        RequestMismatch { reason, is_exhausted: false }
    }

    /// The request may fit, and finding out would take too much work.
    pub(crate) fn too_much_work(reason: String) -> Self {
        RequestMismatch { reason, is_exhausted: true }
    }

    /// Whether the request may fit, and finding out would take too much work.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }
}

impl std::fmt::Display for RequestMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}
