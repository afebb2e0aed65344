//! Replies of the gateway itself, in Tyk's wording and form.

use crate::data::error_body::{ErrorForm, write_problem};
use crate::data::error_flags;
use crate::data::error_overrides::{CompiledOverrides, MadeBody, OverrideRule};
use crate::data::header_change::HeaderChange;
use crate::data::refusal::Refusal;
use crate::data::settings::Settings;
use crate::data::snapshot::{ApiVersion, NO_QUOTA_LINES};
use tollgate_engine::{Fault, Outgoing};
use tollgate_http::HeaderEdits;

/// Writes a refusal as JSON, or as XML when the request was XML. `changes` are the response's pending header changes.
pub(super) fn refuse(
    outgoing: &mut Outgoing,
    settings: &Settings,
    refusal: &Refusal,
    xml_type: Option<&str>,
    changes: &[HeaderChange],
) {
    let (status, message, json) = settings.worded(refusal);
    if refusal.cause == "all_hosts_down" && !settings.problem_details {
        // Tyk has no template for it.
        return plain(outgoing, settings, status, &format!("{message}\n"));
    }
    if let Some(document) = refusal.message.document() {
        start(outgoing, settings, status, document.content_type, changes);
        return outgoing.body.extend_from_slice(&document.body);
    }
    let form = ErrorForm::new(xml_type, settings.problem_details);
    start(outgoing, settings, status, form.content_type(), changes);
    let has_template = settings.error_templates.find(status, xml_type.is_some()).is_some();
    match form {
        ErrorForm::Json if !json.is_empty() && !has_template => outgoing.body.extend_from_slice(json.as_bytes()),
        form => form.write(&settings.error_templates, (status, status), message, is_limit(refusal), &mut outgoing.body),
    }
}

/// The same for an API with `error_overrides`. `fault` is the I/O error that the refusal reports, if any.
pub(super) fn refuse_by_rules(
    outgoing: &mut Outgoing,
    settings: &Settings,
    rules: Option<&CompiledOverrides>,
    (refusal, fault): (&Refusal, Option<&Fault>),
    xml_type: Option<&str>,
    changes: &[HeaderChange],
) {
    let Some(rules) = rules else { return refuse(outgoing, settings, refusal, xml_type, changes) };
    let (status, message, _) = settings.worded(refusal);
    let flags = fault.map_or_else(|| error_flags::flags_of_refusal(refusal), error_flags::flags_of_fault);
    let Some(rule) = rules.for_refusal(status, message, &flags) else {
        return refuse(outgoing, settings, refusal, xml_type, changes);
    };
    let status = rule.status(status);
    let form = ErrorForm::new(xml_type, settings.problem_details);
    let (content_type, message) = match rule.body(form, status, invalid_params(refusal)) {
        MadeBody::Made(content_type, body) => {
            start(outgoing, settings, status, content_type, changes);
            outgoing.body.extend_from_slice(&body);
            return set_headers(outgoing, rule);
        }
        MadeBody::Message(own) => (form.content_type(), own),
        MadeBody::Kept => match refusal.message.document() {
            None => (form.content_type(), message),
            Some(document) => {
                start(outgoing, settings, status, document.content_type, changes);
                outgoing.body.extend_from_slice(&document.body);
                return set_headers(outgoing, rule);
            }
        },
    };
    start(outgoing, settings, status, content_type, changes);
    form.write(&settings.error_templates, (status, status), message, is_limit(refusal), &mut outgoing.body);
    set_headers(outgoing, rule);
}

fn set_headers(outgoing: &mut Outgoing, rule: &OverrideRule) {
    rule.headers().for_each(|(name, value)| outgoing.edits.set_added(name, value));
}

/// The validation errors of the request body, for templates.
fn invalid_params(refusal: &Refusal) -> &str {
    let message = refusal.message.text();
    match refusal.cause {
        "body_not_json" => message.strip_prefix("JSON parsing error: ").unwrap_or(message),
        "body_invalid" => message,
        _ => "",
    }
}

fn is_limit(refusal: &Refusal) -> bool {
    matches!(refusal.cause, "key_rate_limit" | "api_rate_limit" | "address_rate_limit" | "quota_exceeded")
}

/// Writes everything but the body of a refusal.
fn start(outgoing: &mut Outgoing, settings: &Settings, status: u16, content_type: &str, changes: &[HeaderChange]) {
    outgoing.edits.clear();
    outgoing.body.clear();
    outgoing.status = status;
    match content_type {
        // The most common lines, as one piece.
        "application/json" if !settings.hide_generator => {
            outgoing.edits.add_lines(b"Content-Type: application/json\r\nX-Generator: tyk.io\r\n");
        }
        content_type => {
            outgoing.edits.add("Content-Type", content_type.as_bytes());
            if !settings.hide_generator {
                outgoing.edits.add_lines(b"X-Generator: tyk.io\r\n");
            }
        }
    }
    changes.iter().for_each(|change| change.apply_to_reply(&mut outgoing.edits));
    outgoing.close |= settings.close_connections;
}

/// Completes a cached response like an upstream's response: limits, lines and changes of this request.
pub(super) fn complete_stored<'c>(
    edits: &mut HeaderEdits,
    version: &'c ApiVersion,
    limit_lines: &[u8],
    changes: impl Iterator<Item = &'c HeaderChange>,
) {
    if version.replaces_rate_limit || !limit_lines.is_empty() {
        for name in ["X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"] {
            edits.remove_added(name);
        }
        if !limit_lines.is_empty() {
            edits.remove_added("RateLimit");
            edits.remove_added("RateLimit-Policy");
        }
        edits.add_lines(if limit_lines.is_empty() { NO_QUOTA_LINES } else { limit_lines });
    }
    edits.add_lines(&version.response_lines);
    version.response_changes.iter().chain(changes).for_each(|change| change.apply_to_stored(edits));
}

/// Replies in plain text, for cases where Tyk has no other form, or as a problem document.
pub(super) fn plain(outgoing: &mut Outgoing, settings: &Settings, status: u16, text: &str) {
    outgoing.edits.clear();
    outgoing.body.clear();
    outgoing.status = status;
    if settings.problem_details {
        outgoing.edits.add_lines(b"Content-Type: application/problem+json\r\n");
        return write_problem(status, text, false, &mut outgoing.body);
    }
    outgoing.edits.add_lines(b"Content-Type: text/plain; charset=utf-8\r\n");
    outgoing.body.extend_from_slice(text.as_bytes());
}

/// Redirects to the clean form of the request's path.
pub(super) fn redirect(outgoing: &mut Outgoing, path: &str, query: Option<&str>) {
    outgoing.status = 301;
    let location = match query {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    outgoing.edits.add("Location", location.as_bytes());
}

#[cfg(test)]
mod tests;
