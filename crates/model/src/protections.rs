//! Names of Tyk's protections that Tollgate lacks: the values allowed in `serve_without`.

use crate::json_path::JsonPath;
use crate::problem::Findings;

/// The values of [`MissingProtection::field`](crate::api::MissingProtection::field) and `serve_without`.
pub const PROTECTIONS: [&str; 4] = ["custom_middleware", "go_plugin", "validate_request", "virtual"];

/// Former values of `serve_without` whose protection is supported now. Documents that still name them are valid.
const SUPPORTED_SINCE: [&str; 9] = [
    "application_protocol",
    "custom_middleware_bundle",
    "graphql",
    "listen_port",
    "persist_graphql",
    "protocol",
    "transform_jq_response",
    "transform_response",
    "validate_json",
];

/// Adds the problems of the names in `tollgate.serve_without` to `findings`.
pub(crate) fn check_names(names: &[String], findings: &mut Findings) {
    let is_known = |name: &str| PROTECTIONS.contains(&name) || SUPPORTED_SINCE.contains(&name);
    for (index, name) in names.iter().enumerate().filter(|(_, name)| !is_known(name)) {
        let at = JsonPath::of("tollgate.serve_without").index(index);
        findings.error(&at, format!("{name:?} is none of {}", PROTECTIONS.join(", ")));
    }
}
