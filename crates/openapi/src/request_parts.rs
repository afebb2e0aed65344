//! The parts of a request that are validated, and what does not fit in it.

/// The parts of a request that are validated.
pub struct RequestParts<'r> {
    /// Parameters in the path, decoded. [`crate::OperationRules::path_parameters`] finds them.
    pub path_parameters: Vec<(String, String)>,
    /// Parameters in the query, decoded, in order.
    pub query: Vec<(String, String)>,
    /// The value of a header, by its name in any letter case; several lines are joined by commas.
    pub header: &'r dyn Fn(&str) -> Option<String>,
}

/// What does not fit in a request, in words for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestMismatch(String);

impl RequestMismatch {
    pub(crate) fn new(reason: String) -> Self {
        RequestMismatch(reason)
    }
}

impl std::fmt::Display for RequestMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
