//! `tollgate.waf` of the configuration: where rules of web application firewalls are.

use crate::json_path::JsonPath;
use crate::problem::Findings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `tollgate.waf`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WafSettings {
    /// Directory of the OWASP Core Rule Set 4, as it is released; empty for none. APIs with `tollgate.waf` need it, or rules of their own.
    pub rules: PathBuf,
    /// Directory of files that `rule_files` of definitions name; empty for none.
    pub own_rules: PathBuf,
    /// Bytes that all rules together may read of one request; default 256 MB. It bounds the time of an inspection.
    pub work_max: u64,
}

/// `work_max` without a value.
const WORK_MAX: u64 = 256_000_000;

impl WafSettings {
    /// `work_max`.
    pub fn work_max(&self) -> u64 {
        if self.work_max == 0 { WORK_MAX } else { self.work_max }
    }

    pub(super) fn check(&self, findings: &mut Findings) {
        if self.work_max != 0 && self.work_max < 1_000_000 {
            findings.error(&JsonPath::of("tollgate.waf.work_max"), "must be at least 1000000");
        }
    }
}
