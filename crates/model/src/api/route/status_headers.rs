//! `status_headers` of a rule: changes of headers that depend on the status of a response.

use super::{HeaderModifier, check_count};
use crate::json_path::JsonPath;
use crate::problem::Findings;
use schemars::JsonSchema;
use serde::Deserialize;

/// One entry of `status_headers`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StatusHeaders {
    /// Statuses of the responses that are changed; empty for all.
    pub statuses: Vec<u16>,
    /// The changes.
    pub headers: HeaderModifier,
}

impl StatusHeaders {
    /// The most entries of a rule, and the most statuses of an entry: each response is compared with them.
    pub const ENTRIES_MAX: usize = 32;

    pub(super) fn check_all(list: &[StatusHeaders], at: &JsonPath, findings: &mut Findings) {
        check_count(at, list.len(), Self::ENTRIES_MAX, findings);
        for (index, entry) in list.iter().enumerate() {
            let at = at.index(index);
            check_count(&at.key("statuses"), entry.statuses.len(), Self::ENTRIES_MAX, findings);
            for (index, _) in entry.statuses.iter().enumerate().filter(|(_, status)| !(200..=599).contains(*status)) {
                findings.error(&at.key("statuses").index(index), "must be from 200 to 599");
            }
            entry.headers.check(&at.key("headers"), findings);
        }
    }
}
