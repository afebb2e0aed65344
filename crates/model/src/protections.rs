//! The protections that Tyk has and Tollgate does not, by the names that a `serve_without` may have.

use crate::json_path::JsonPath;
use crate::problem::Findings;

/// The values of [`MissingProtection::field`](crate::api::MissingProtection::field) and `serve_without`.
pub const PROTECTIONS: [&str; 11] = [
    "application_protocol",
    "custom_middleware",
    "custom_middleware_bundle",
    "go_plugin",
    "graphql",
    "listen_port",
    "persist_graphql",
    "protocol",
    "transform_jq_response",
    "validate_request",
    "virtual",
];

/// What `serve_without` could be before it was there. Documents that still name it are right.
const SUPPORTED_SINCE: [&str; 2] = ["transform_response", "validate_json"];

/// Adds the problems of the names in `tollgate.serve_without` to `findings`.
pub(crate) fn check_names(names: &[String], findings: &mut Findings) {
    let is_known = |name: &str| PROTECTIONS.contains(&name) || SUPPORTED_SINCE.contains(&name);
    for (index, name) in names.iter().enumerate().filter(|(_, name)| !is_known(name)) {
        let at = JsonPath::of("tollgate.serve_without").index(index);
        findings.error(&at, format!("{name:?} is none of {}", PROTECTIONS.join(", ")));
    }
}
