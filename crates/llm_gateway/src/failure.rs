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
    /// For records, in the gateway's own words: providers may repeat what was asked.
    pub reason: String,
    /// The budget that has too little left.
    pub budget: Option<String>,
    /// Whether the head of the provider's answer said it, from which all is learnt.
    pub is_of_head: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The request cannot be translated for it; it was not asked.
    Unsupported,
    RateLimited,
    /// The provider does not know the gateway's key.
    UnknownKey,
    /// The gateway's key may not do this, for a reason that other requests need not have.
    Denied,
    Failed,
    /// A budget has too little left; no provider was asked.
    NoBudget,
}

impl Failure {
    /// The request cannot be translated.
    pub(crate) fn unsupported(fault: Fault) -> Self {
        Failure {
            why: fault.message.clone(),
            reason: "the request cannot be sent to this provider".to_owned(),
            fault,
            kind: FailureKind::Unsupported,
            wait_ms: None,
            budget: None,
            is_of_head: false,
        }
    }

    /// A budget says no.
    pub(crate) fn of_budget(name: &str, fault: Fault, wait_ms: Option<u64>) -> Self {
        Failure {
            why: String::new(),
            reason: fault.message.clone(),
            fault,
            kind: FailureKind::NoBudget,
            wait_ms,
            budget: Some(name.to_owned()),
            is_of_head: false,
        }
    }

    /// The provider said so. Its words are for the client alone: they may repeat what was asked.
    pub(crate) fn of_fault(fault: Fault) -> Self {
        let reason = reason_of(fault.kind);
        let kind = match fault.kind {
            FaultKind::RateLimit => FailureKind::RateLimited,
            FaultKind::Authentication => return Failure::of_credential(FailureKind::UnknownKey, reason.to_owned()),
            FaultKind::Permission => return Failure::of_credential(FailureKind::Denied, reason.to_owned()),
            _ => FailureKind::Failed,
        };
        let (why, reason) = (reason.to_owned(), reason.to_owned());
        Failure { why, reason, fault, kind, wait_ms: None, budget: None, is_of_head: false }
    }

    /// It is the gateway's credential, not the client's, and what the provider says of it is not for the client.
    pub(crate) fn of_credential(kind: FailureKind, why: String) -> Self {
        let told = "the provider does not accept the gateway's credential";
        Failure { kind, ..Failure::new(FaultKind::Server, told, why) }
    }

    /// `told` is for the client, `why` for the log.
    pub(crate) fn new(kind: FaultKind, told: &str, why: impl Into<String>) -> Self {
        Failure { why: why.into(), reason: told.to_owned(), ..Failure::of_fault(Fault::new(kind, told)) }
    }

    pub(crate) fn outcome(&self) -> LlmOutcome {
        match self.kind {
            FailureKind::RateLimited => LlmOutcome::RateLimited,
            _ => LlmOutcome::Failed,
        }
    }
}

/// What a provider has told, in the gateway's words.
pub(crate) fn reason_of(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::RateLimit => "the provider has too many requests",
        FaultKind::Overloaded => "the provider is overloaded",
        FaultKind::Timeout => "the provider took too long",
        FaultKind::Authentication | FaultKind::Permission => "the provider does not accept the gateway's credential",
        FaultKind::InvalidRequest | FaultKind::NotFound | FaultKind::TooLarge => "the provider does not accept the request",
        FaultKind::Server => "the provider has told an error",
    }
}
