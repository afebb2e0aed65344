//! What a limit that gateways share says to a request.

use std::time::Duration;

/// Whether a request may pass.
#[derive(Debug, PartialEq, Eq)]
pub enum LimitDecision {
    /// It may pass.
    Admitted,
    /// Not before this long.
    Refused(Duration),
    /// To be tried again when the answer is there that `pending` tells of.
    Asked,
    /// The store is silent, and nobody may pass meanwhile.
    Silent,
}

/// Whether a request may be held for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// It may.
    Waits,
    /// It has been held for as long as it may be.
    IsOver,
}
