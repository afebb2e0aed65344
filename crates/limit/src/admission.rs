//! Decisions of a limit that gateways share.

use std::time::Duration;

/// Whether a request may pass.
#[derive(Debug, PartialEq, Eq)]
pub enum LimitDecision {
    /// The request may pass.
    Admitted,
    /// The request may not pass before this time has elapsed.
    Refused(Duration),
    /// The store is being asked: retry when the answer of `pending` has arrived.
    Asked,
    /// The store does not answer, and no request may pass meanwhile.
    Silent,
}

/// Whether a request may be held for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitPolicy {
    /// It may be held.
    Waits,
    /// It has been held for the maximum time.
    IsOver,
}
