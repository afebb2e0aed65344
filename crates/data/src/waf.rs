//! The web application firewall, wherever it runs: what it looks at, and what it says of a request. The middleware `Waf` decides what follows.

#[cfg_attr(not(feature = "waf"), path = "waf/firewall_absent.rs")]
mod firewall;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "the tests ask only for its refusal")]
mod firewall_absent;
mod job;

pub use firewall::{Firewall, RuleLibrary};
pub use job::InspectionJob;

use tollgate_observe::WafFacts;

/// What is said of a request.
pub struct WafFinding {
    pub facts: WafFacts,
    pub outcome: WafOutcome,
}

/// What the rules want to become of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WafOutcome {
    Passes,
    Denied,
    BodyUnreadable,
    TooMuchWork,
}
