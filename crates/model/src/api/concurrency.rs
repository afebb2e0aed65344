//! `tollgate.concurrency` of a definition: how many requests of a client may be in progress at once.

use crate::json_path::JsonPath;
use crate::network::parse_network;
use crate::problem::Findings;
use schemars::JsonSchema;
use serde::Deserialize;

/// `tollgate.concurrency`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConcurrencyRules {
    /// Requests of one client address that each gateway serves at once; for IPv6, of a network of 64 bits. Others get 429.
    pub per_address: u32,
    /// Addresses or CIDR ranges without this limit.
    pub exempt: Vec<String>,
}

impl ConcurrencyRules {
    pub(super) fn check(&self, findings: &mut Findings) {
        let at = JsonPath::of("tollgate.concurrency");
        if self.per_address == 0 {
            findings.error(&at.key("per_address"), "must be at least 1");
        }
        for (index, entry) in self.exempt.iter().enumerate().filter(|(_, entry)| parse_network(entry).is_none()) {
            findings.error(&at.key("exempt").index(index), format!("{entry:?} is neither an IP address nor a CIDR range"));
        }
    }
}
