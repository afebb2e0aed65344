//! `passes` of a rule: what of a client's request backends get.

use super::check_count;
use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::is_token;
use schemars::JsonSchema;
use serde::Deserialize;

/// `passes`. What frames a request, its host and the addresses it came by are no matter of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PassedRequest {
    /// Names of headers that backends get; all if missing.
    pub headers: Option<Vec<String>>,
    /// Names of query parameters that backends get; all if missing.
    pub query: Option<Vec<String>>,
}

impl PassedRequest {
    /// The most names of a list: each header and parameter is compared with them.
    pub const NAMES_MAX: usize = 256;

    pub(super) fn check(&self, at: &JsonPath, findings: &mut Findings) {
        for (field, list) in [("headers", &self.headers), ("query", &self.query)] {
            let Some(list) = list else { continue };
            let at = at.key(field);
            check_count(&at, list.len(), Self::NAMES_MAX, findings);
            for (index, _) in list.iter().enumerate().filter(|(_, name)| field == "headers" && !is_token(name)) {
                findings.error(&at.index(index), "is not a header name");
            }
        }
    }
}
