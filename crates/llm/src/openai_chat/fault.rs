//! Errors, in both directions. OpenAI's other APIs have the same.

use crate::form::{Fault, FaultKind};
use crate::json::{JsonNode, JsonObject, object};

/// Reads the body of an error.
pub(crate) fn read_fault(status: u16, body: &[u8], bytes_max: usize) -> Fault {
    let read = JsonNode::read(body, bytes_max).ok().and_then(|node| node.object());
    let Some(answer) = read else { return Fault::of_status(status) };
    // Mistral and vLLM have the error's members at the top.
    let message = answer.object("error").and_then(|error| error.text("message").map(|text| text.into_owned()));
    let message = message.or_else(|| ["error", "message", "detail"].iter().find_map(|name| Some(answer.text(name)?.into_owned())));
    let fault = Fault::of_status(status);
    match message {
        Some(message) => Fault::with_status(fault.status, fault.kind, message),
        None => fault,
    }
}

/// The error that an answer with status 200, or an event, carries.
pub(super) fn fault_member(answer: &JsonObject) -> Option<Fault> {
    let node = answer.get("error")?;
    let Some(error) = node.object() else {
        return Some(Fault::new(FaultKind::Server, node.lossy_text().unwrap_or_default()));
    };
    let status = error.get("code").and_then(JsonNode::whole).or_else(|| error.get("status").and_then(JsonNode::whole));
    let kind = match status.and_then(|status| u16::try_from(status).ok()).filter(|status| (400..600).contains(status)) {
        Some(status) => FaultKind::of_status(status),
        None => match error.text("type").as_deref() {
            Some("invalid_request_error") => FaultKind::InvalidRequest,
            Some("rate_limit_error" | "rate_limit_exceeded" | "tokens" | "requests" | "insufficient_quota") => FaultKind::RateLimit,
            _ => FaultKind::Server,
        },
    };
    Some(Fault::new(kind, error.owned("message")))
}

/// Writes the body of an error.
pub(crate) fn write_fault(fault: &Fault) -> Vec<u8> {
    let (kind, code) = match fault.kind {
        FaultKind::InvalidRequest => ("invalid_request_error", None),
        FaultKind::Authentication => ("authentication_error", Some("invalid_api_key")),
        FaultKind::Permission => ("permission_error", None),
        FaultKind::NotFound => ("invalid_request_error", Some("model_not_found")),
        FaultKind::TooLarge => ("invalid_request_error", Some("request_too_large")),
        FaultKind::RateLimit => ("rate_limit_error", Some("rate_limit_exceeded")),
        FaultKind::Overloaded => ("server_error", Some("overloaded")),
        FaultKind::Timeout => ("server_error", Some("timeout")),
        FaultKind::Server => ("server_error", None),
    };
    let mut body = Vec::new();
    object(&mut body, |out| {
        out.object("error", |error| {
            error.text("message", &fault.message);
            error.text("type", kind);
            error.null("param");
            match code {
                Some(code) => error.text("code", code),
                None => error.null("code"),
            }
        });
    });
    body
}
