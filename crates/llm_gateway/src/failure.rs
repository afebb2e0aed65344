//! Why a provider gave no answer, as long as nothing of one was sent to the client: another one can be asked.

use crate::figures::LlmOutcome;
use tollgate_llm::{Fault, FaultKind};

/// Why a provider gave no answer.
pub(crate) struct Failure {
    /// What the client is told if there is no other.
    pub fault: Fault,
    pub kind: FailureKind,
    /// How long the provider wants no requests.
    pub wait_ms: Option<u64>,
    /// For the log.
    pub why: String,
    /// The budget that has too little left.
    pub budget: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The request cannot be translated for it; it was not asked.
    Unsupported,
    RateLimited,
    Failed,
    /// A budget has too little left; no provider was asked.
    NoBudget,
}

impl Failure {
    /// The request cannot be translated.
    pub(crate) fn unsupported(fault: Fault) -> Self {
        Failure { why: fault.message.clone(), fault, kind: FailureKind::Unsupported, wait_ms: None, budget: None }
    }

    /// A budget says no.
    pub(crate) fn of_budget(name: &str, fault: Fault, wait_ms: Option<u64>) -> Self {
        Failure { why: String::new(), fault, kind: FailureKind::NoBudget, wait_ms, budget: Some(name.to_owned()) }
    }

    /// The provider said so.
    pub(crate) fn of_fault(fault: Fault) -> Self {
        let kind = if fault.kind == FaultKind::RateLimit { FailureKind::RateLimited } else { FailureKind::Failed };
        Failure { why: fault.message.clone(), fault, kind, wait_ms: None, budget: None }
    }

    /// `told` is for the client, `why` for the log.
    pub(crate) fn new(kind: FaultKind, told: &str, why: impl Into<String>) -> Self {
        Failure { why: why.into(), ..Failure::of_fault(Fault::new(kind, told)) }
    }

    pub(crate) fn outcome(&self) -> LlmOutcome {
        match self.kind {
            FailureKind::RateLimited => LlmOutcome::RateLimited,
            FailureKind::Unsupported | FailureKind::NoBudget | FailureKind::Failed => LlmOutcome::Failed,
        }
    }
}
