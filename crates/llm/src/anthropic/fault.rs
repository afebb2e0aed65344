//! Errors, in both directions.

use crate::form::{Fault, FaultKind};
use crate::json::{JsonNode, JsonObject, object};

/// Reads the body of an error.
pub(crate) fn read_fault(status: u16, body: &[u8], bytes_max: usize) -> Fault {
    let read = JsonNode::read(body, bytes_max).ok().and_then(|node| node.object());
    let fault = Fault::of_status(status);
    match read.and_then(|answer| answer.object("error")) {
        Some(error) => Fault::with_status(fault.status, kind(&error).unwrap_or(fault.kind), error.owned("message")),
        None => fault,
    }
}

/// The error that an event carries.
pub(super) fn event_fault(event: &JsonObject) -> Fault {
    match event.object("error") {
        Some(error) => Fault::new(kind(&error).unwrap_or(FaultKind::Server), error.owned("message")),
        None => Fault::broken("an error that says nothing"),
    }
}

fn kind(error: &JsonObject) -> Option<FaultKind> {
    Some(match &*error.text("type")? {
        "invalid_request_error" => FaultKind::InvalidRequest,
        "authentication_error" => FaultKind::Authentication,
        "permission_error" | "billing_error" => FaultKind::Permission,
        "not_found_error" => FaultKind::NotFound,
        "request_too_large" => FaultKind::TooLarge,
        "rate_limit_error" => FaultKind::RateLimit,
        "overloaded_error" => FaultKind::Overloaded,
        "timeout_error" => FaultKind::Timeout,
        "api_error" => FaultKind::Server,
        _ => return None,
    })
}

/// Writes the body of an error.
pub(crate) fn write_fault(fault: &Fault) -> Vec<u8> {
    let kind = match fault.kind {
        FaultKind::InvalidRequest => "invalid_request_error",
        FaultKind::Authentication => "authentication_error",
        FaultKind::Permission => "permission_error",
        FaultKind::NotFound => "not_found_error",
        FaultKind::TooLarge => "request_too_large",
        FaultKind::RateLimit => "rate_limit_error",
        FaultKind::Overloaded => "overloaded_error",
        FaultKind::Timeout => "timeout_error",
        FaultKind::Server => "api_error",
    };
    let mut body = Vec::new();
    object(&mut body, |out| {
        out.text("type", "error");
        out.object("error", |error| {
            error.text("type", kind);
            error.text("message", &fault.message);
        });
    });
    body
}
