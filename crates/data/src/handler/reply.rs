//! Replies of the gateway itself, in Tyk's wording and form.

use crate::error_body::{ErrorAudience, ErrorForm, write_problem};
use crate::error_flags;
use crate::error_overrides::{CompiledOverrides, MadeBody, OverrideRule};
use crate::refusal::{ALL_HOSTS_DOWN, NOT_JSON, Refusal, RefusalTopic};
use crate::settings::Settings;
use tollgate_engine::{Fault, Outgoing};

/// Writes a refusal in the form that the request asks for.
pub(super) fn refuse(outgoing: &mut Outgoing, settings: &Settings, refusal: &Refusal, audience: ErrorAudience<'_>) {
    let (status, message, json) = settings.worded(refusal);
    let form = ErrorForm::new(audience, settings.answers.problem_details);
    if *refusal == ALL_HOSTS_DOWN && !settings.answers.problem_details && !matches!(form, ErrorForm::Rpc(_)) {
        // Tyk has no template for it.
        return plain(outgoing, settings, status, &format!("{message}\n"));
    }
    // A caller understands errors of JSON-RPC alone.
    if let Some(document) = refusal.message.document().filter(|_| !matches!(form, ErrorForm::Rpc(_))) {
        start(outgoing, settings, status, document.content_type);
        return outgoing.body.extend_from_slice(&document.body);
    }
    start(outgoing, settings, status, form.content_type());
    let is_xml = matches!(form, ErrorForm::Xml(_));
    let has_template = settings.answers.error_templates.find(status, is_xml).is_some();
    match form {
        ErrorForm::Json if !json.is_empty() && !has_template => outgoing.body.extend_from_slice(json.as_bytes()),
        form => form.write(&settings.answers.error_templates, (status, status), message, is_limit(refusal), &mut outgoing.body),
    }
}

/// The same for an API with `error_overrides`. `fault` is the I/O error that the refusal reports, if any. Returns the rule whose headers go onto
/// the finished reply.
pub(super) fn refuse_by_rules<'r>(
    outgoing: &mut Outgoing,
    settings: &Settings,
    rules: Option<&'r CompiledOverrides>,
    (refusal, fault): (&Refusal, Option<&Fault>),
    audience: ErrorAudience<'_>,
) -> Option<&'r OverrideRule> {
    let written = |outgoing: &mut Outgoing| {
        refuse(outgoing, settings, refusal, audience);
        None
    };
    // As in Tyk, no rule replaces the errors of calls.
    let Some(rules) = rules.filter(|_| !matches!(audience, ErrorAudience::Caller(_))) else { return written(outgoing) };
    let (status, message, _) = settings.worded(refusal);
    let flags = fault.map_or_else(|| [refusal.facts.flag, ""], error_flags::flags_of_fault);
    let Some(rule) = rules.for_refusal(status, message, &flags) else {
        return written(outgoing);
    };
    let status = rule.status(status);
    let form = ErrorForm::new(audience, settings.answers.problem_details);
    let (content_type, message) = match rule.body(form, status, invalid_params(refusal)) {
        MadeBody::Made(content_type, body) => {
            start(outgoing, settings, status, content_type);
            outgoing.body.extend_from_slice(&body);
            return Some(rule);
        }
        MadeBody::Message(own) => (form.content_type(), own),
        MadeBody::Kept => match refusal.message.document() {
            None => (form.content_type(), message),
            Some(document) => {
                start(outgoing, settings, status, document.content_type);
                outgoing.body.extend_from_slice(&document.body);
                return Some(rule);
            }
        },
    };
    start(outgoing, settings, status, content_type);
    form.write(&settings.answers.error_templates, (status, status), message, is_limit(refusal), &mut outgoing.body);
    Some(rule)
}

/// Adds the headers of a rule to a finished reply.
pub(super) fn set_headers(outgoing: &mut Outgoing, rule: &OverrideRule) {
    rule.headers().for_each(|(name, value)| outgoing.edits.set_added(name, value));
}

/// The validation errors of the request body, for templates.
fn invalid_params(refusal: &Refusal) -> &str {
    let message = refusal.message.text();
    match refusal.facts.topic {
        RefusalTopic::BodyNotJson => message.strip_prefix(NOT_JSON).unwrap_or(message),
        RefusalTopic::BodyInvalid => message,
        RefusalTopic::Other | RefusalTopic::Limit | RefusalTopic::NoRights => "",
    }
}

fn is_limit(refusal: &Refusal) -> bool {
    refusal.facts.topic == RefusalTopic::Limit
}

/// Writes everything but the body of a refusal.
fn start(outgoing: &mut Outgoing, settings: &Settings, status: u16, content_type: &str) {
    outgoing.edits.clear();
    outgoing.body.clear();
    outgoing.status = status;
    match content_type {
        // The most common lines, as one piece.
        "application/json" if !settings.answers.hide_generator => {
            outgoing.edits.add_lines(b"Content-Type: application/json\r\nX-Generator: tyk.io\r\n");
        }
        content_type => {
            outgoing.edits.add("Content-Type", content_type.as_bytes());
            if !settings.answers.hide_generator {
                outgoing.edits.add_lines(b"X-Generator: tyk.io\r\n");
            }
        }
    }
    outgoing.close |= settings.answers.close_connections;
}

/// Replies in plain text, for cases where Tyk has no other form, or as a problem document.
pub(super) fn plain(outgoing: &mut Outgoing, settings: &Settings, status: u16, text: &str) {
    outgoing.edits.clear();
    outgoing.body.clear();
    outgoing.status = status;
    if settings.answers.problem_details {
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
