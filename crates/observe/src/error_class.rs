//! How an error is classified for operators: Tyk's flag of three letters, a word for the details, and the part that noticed it.

/// One class of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorClass {
    /// Tyk's flag, as in `error_overrides`.
    pub flag: &'static str,
    /// `response_code_details` of the access log.
    pub details: &'static str,
    /// `error_source` of the access log: a middleware by Tyk's name, `ReverseProxy` or `Upstream`.
    pub source: &'static str,
}

impl ErrorClass {
    /// Whether the error belongs to the way to the upstream, so that the upstream's address explains it.
    pub fn is_of_upstream(&self) -> bool {
        matches!(self.source, PROXY | UPSTREAM)
    }
}

/// The part that sends requests to upstreams.
pub const PROXY: &str = "ReverseProxy";
/// Upstreams themselves.
pub const UPSTREAM: &str = "Upstream";
