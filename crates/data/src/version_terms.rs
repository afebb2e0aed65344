//! What middlewares may know of a version.

use crate::endpoints::EndpointMatcher;

/// A version of an API as its middlewares see it.
pub struct VersionTerms {
    pub name: String,
    /// Whether requests choose it among several.
    pub is_chosen: bool,
    /// The patterns of its endpoints.
    pub matcher: EndpointMatcher,
    /// Whether X-Forwarded-For stays unchanged.
    pub keeps_forwarded_for: bool,
}
