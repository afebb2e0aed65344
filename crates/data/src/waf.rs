//! The web application firewall, wherever it runs: what it looks at, and what it says of a request. The middleware `Waf` decides what follows.

#[cfg_attr(not(feature = "waf"), path = "waf/firewall_absent.rs")]
mod firewall;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "the tests ask only for its refusal")]
mod firewall_absent;
mod job;

pub use firewall::{Firewall, RequestMemory, RuleLibrary};
pub use job::{InspectionJob, ResponseJob};

use std::sync::Arc;
use tollgate_observe::WafFacts;

/// What is said of a request or a response.
pub struct WafFinding {
    pub facts: WafFacts,
    pub outcome: WafOutcome,
    /// What the inspection of the response needs; `None` if there is none.
    pub memory: Option<RequestMemory>,
}

/// An inspected request whose response will be inspected.
pub struct InspectedNote {
    pub firewall: Arc<Firewall>,
    pub memory: Arc<RequestMemory>,
    /// As rules call it.
    pub protocol: &'static str,
}

/// What the rules want to become of a request or a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WafOutcome {
    Passes,
    Denied,
    BodyUnreadable,
    TooMuchWork,
}
