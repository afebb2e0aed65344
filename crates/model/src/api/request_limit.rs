//! `tollgate.request_limits` of a definition: rates that count for each client, or for each value that requests have.

use crate::config::OnStoreFailure;
use crate::json_path::JsonPath;
use crate::network::parse_network;
use crate::problem::Findings;
use crate::token::is_token;
use schemars::JsonSchema;
use serde::Deserialize;

/// One entry of `tollgate.request_limits`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RequestLimit {
    /// Name of its counters, which limits of this name in all APIs share; if empty, they are the API's own.
    pub counter: String,
    /// Requests in a window.
    pub requests: f64,
    /// Length of the window in seconds.
    pub window_s: f64,
    /// Whose requests are counted together.
    pub by: LimitedBy,
    /// Name of the header or claim.
    pub name: String,
    /// Addresses or CIDR ranges without this limit.
    pub exempt: Vec<String>,
    /// Count and report, but reject nobody.
    pub dry_run: bool,
    /// What applies while the store does not answer; overrides the API's setting.
    pub on_store_failure: Option<OnStoreFailure>,
}

/// Whose requests are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LimitedBy {
    /// Everybody.
    #[default]
    Everybody,
    /// A key or the user of a token; a request that has neither counts for its address.
    Client,
    /// An address; for IPv6, a network of 64 bits.
    Address,
    /// The values of a header; requests without it count together.
    Header,
    /// The values of a claim of a token; requests without it count together.
    Claim,
}

impl RequestLimit {
    /// The most limits of an API: each request is counted for all of them.
    pub const LIMITS_MAX: usize = 16;
    /// The longest window: rates are in memory, so longer ones would begin again with each process.
    pub const WINDOW_S_MAX: f64 = 86_400.0;
}

pub(super) fn check(limits: &[RequestLimit], findings: &mut Findings) {
    let at = JsonPath::of("tollgate.request_limits");
    if limits.len() > RequestLimit::LIMITS_MAX {
        findings.error(&at, format!("has {} entries; there may be {}", limits.len(), RequestLimit::LIMITS_MAX));
    }
    for (index, limit) in limits.iter().enumerate() {
        let at = at.index(index);
        if !(limit.requests > 0.0 && limit.requests.is_finite()) {
            findings.error(&at.key("requests"), "must be more than 0");
        }
        if !(limit.window_s > 0.0 && limit.window_s <= RequestLimit::WINDOW_S_MAX) {
            findings.error(&at.key("window_s"), format!("must be more than 0, and at most {}", RequestLimit::WINDOW_S_MAX));
        }
        let is_named = match limit.by {
            LimitedBy::Header => is_token(&limit.name),
            LimitedBy::Claim => !limit.name.is_empty(),
            LimitedBy::Everybody | LimitedBy::Client | LimitedBy::Address => true,
        };
        for (number, entry) in limit.exempt.iter().enumerate().filter(|(_, entry)| parse_network(entry).is_none()) {
            findings.error(&at.key("exempt").index(number), format!("{entry:?} is neither an IP address nor a CIDR range"));
        }
        if !is_named {
            findings.error(&at.key("name"), "must be the name of a header or claim");
        }
    }
}

#[cfg(test)]
mod tests;
