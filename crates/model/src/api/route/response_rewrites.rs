//! `response_rewrites` and `sticky` of a rule: what clients see of locations and cookies.

use super::check_count;
use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::{is_header_value, is_token};
use schemars::JsonSchema;
use serde::Deserialize;

/// `response_rewrites`: places that backends know under other names than clients. Of a list, the first entry that fits counts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ResponseRewrites {
    /// The start of `Location`, and of the URL in `Refresh`.
    pub locations: Vec<StartReplacement>,
    /// The start of the `Path` of cookies.
    pub cookie_paths: Vec<StartReplacement>,
    /// The whole `Domain` of cookies, without regard to letter case and a dot before it.
    pub cookie_domains: Vec<StartReplacement>,
}

/// A text, and what takes its place.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StartReplacement {
    /// What a backend writes.
    pub from: String,
    /// What clients get.
    pub to: String,
}

/// `sticky`: a cookie names the target.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RouteSticky {
    /// Name of the cookie.
    pub cookie: String,
    /// Seconds after which the client may get another target; 0 for the time of the browser's session.
    pub absolute_timeout_s: u64,
    /// `Path` of the cookie; `/` if empty.
    pub path: String,
    /// `Domain` of the cookie; empty for none.
    pub domain: String,
    /// Whether the cookie is `Secure`.
    pub secure: bool,
    /// `SameSite` of the cookie.
    pub same_site: SameSite,
}

/// `SameSite` of a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SameSite {
    /// Links from other sites bring the cookie.
    #[default]
    Lax,
    /// Nothing from other sites does.
    Strict,
    /// Everything does; browsers ask for `secure` then.
    None,
}

impl ResponseRewrites {
    /// The most entries of a list: each response is compared with them.
    pub const ENTRIES_MAX: usize = 16;

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.locations.is_empty() && self.cookie_paths.is_empty() && self.cookie_domains.is_empty()
    }

    pub(super) fn check(&self, at: &JsonPath, findings: &mut Findings) {
        let lists =
            [("locations", &self.locations), ("cookie_paths", &self.cookie_paths), ("cookie_domains", &self.cookie_domains)];
        for (field, list) in lists {
            let at = at.key(field);
            check_count(&at, list.len(), Self::ENTRIES_MAX, findings);
            for (index, entry) in list.iter().enumerate() {
                if entry.from.is_empty() {
                    findings.error(&at.index(index).key("from"), "must not be empty");
                }
                if !is_header_value(&entry.to) {
                    findings.error(&at.index(index).key("to"), "must not contain line ends or other control characters");
                }
            }
        }
    }
}

impl RouteSticky {
    pub(super) fn check(&self, at: &JsonPath, findings: &mut Findings) {
        if !is_token(&self.cookie) {
            findings.error(&at.key("cookie"), "is not a cookie name");
        }
        for (field, value) in [("path", &self.path), ("domain", &self.domain)] {
            if !is_header_value(value) || value.contains([';', ',', ' ']) {
                findings.error(&at.key(field), "is not a value of a cookie");
            }
        }
        if !self.path.is_empty() && !self.path.starts_with('/') {
            findings.error(&at.key("path"), "must begin with a slash");
        }
    }
}
