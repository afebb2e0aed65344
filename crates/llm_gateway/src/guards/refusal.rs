//! What a client is told that a guard refuses: the guard's name, and nothing of the text.

use super::Guard;
use super::terms::GuardCheck;
use crate::answer::{AnswerBody, fault};
use crate::figures::GuardOutcome;
use http::{HeaderValue, Response};
use std::sync::Arc;
use tollgate_llm::{ClientApi, Fault, FaultKind};

/// A guard has refused something.
pub(crate) struct Refused {
    pub(crate) guard: Arc<Guard>,
    pub(crate) fault: Fault,
}

impl Refused {
    /// The response that says so.
    pub(crate) fn response(&self, form: ClientApi) -> Response<AnswerBody> {
        response(&self.guard, form, &self.fault)
    }
}

/// The error of a guard.
pub(crate) fn told(guard: &Guard, side: &str, why: &str) -> Fault {
    let kind = match guard.terms.check {
        GuardCheck::Size { .. } if side == "request" => FaultKind::InvalidRequest,
        GuardCheck::Schema => FaultKind::Server,
        _ => FaultKind::Permission,
    };
    Fault::new(kind, format!("the guard `{}` refuses this {side}{why}", guard.terms.name))
}

/// The error of a guard that cannot say anything.
pub(crate) fn silent(guard: &Guard) -> Fault {
    Fault::new(FaultKind::Overloaded, format!("the guard `{}` cannot be asked at the moment", guard.terms.name))
}

/// The response with an error of a guard.
pub(crate) fn response(guard: &Guard, form: ClientApi, why: &Fault) -> Response<AnswerBody> {
    guard.figures.add(GuardOutcome::Refused);
    let mut response = fault(form, why, None);
    if let Ok(name) = HeaderValue::from_str(&guard.terms.name) {
        response.headers_mut().insert("x-tollgate-llm-guard", name);
    }
    response
}
