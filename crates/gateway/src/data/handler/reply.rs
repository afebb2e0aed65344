//! Replies of the gateway itself, in Tyk's wording and form.

use crate::data::header_change::HeaderChange;
use crate::data::refusal::{Refusal, is_plain};
use crate::data::settings::Settings;
use crate::data::snapshot::{ApiVersion, NO_QUOTA_LINES};
use tollgate_engine::Outgoing;
use tollgate_http::{HeaderEdits, KnownHeader, Request};

/// The request's content type if it is an XML type.
pub(super) fn xml_type(request: &Request<'_>) -> Option<Box<str>> {
    let value = std::str::from_utf8(request.headers.known(KnownHeader::ContentType)?).ok()?;
    let essence = value.split(';').next().unwrap_or_default().trim();
    let is_xml = ["application/xml", "text/xml", "application/soap+xml"].iter().any(|xml| essence.eq_ignore_ascii_case(xml));
    is_xml.then(|| value.into())
}

/// Writes a refusal as JSON, or as XML when the request was XML. `changes` are the response's pending header changes.
pub(super) fn refuse(
    outgoing: &mut Outgoing,
    settings: &Settings,
    refusal: &Refusal,
    xml_type: Option<&str>,
    changes: &[HeaderChange],
) {
    let (status, message, json) = settings.worded(refusal);
    outgoing.edits.clear();
    outgoing.body.clear();
    outgoing.status = status;
    let as_problem = settings.problem_details;
    match xml_type {
        Some(xml_type) => outgoing.edits.add("Content-Type", xml_type.as_bytes()),
        None if as_problem => outgoing.edits.add_lines(b"Content-Type: application/problem+json\r\n"),
        // The most common lines, as one piece.
        None if !settings.hide_generator => outgoing.edits.add_lines(b"Content-Type: application/json\r\nX-Generator: tyk.io\r\n"),
        None => outgoing.edits.add_lines(b"Content-Type: application/json\r\n"),
    }
    if !settings.hide_generator && (xml_type.is_some() || as_problem) {
        outgoing.edits.add_lines(b"X-Generator: tyk.io\r\n");
    }
    changes.iter().for_each(|change| change.apply_to_reply(&mut outgoing.edits));
    let body = &mut outgoing.body;
    let template = settings.error_templates.find(status, xml_type.is_some()).filter(|_| !as_problem || xml_type.is_some());
    match xml_type {
        _ if let Some(template) = template => {
            let escape = if xml_type.is_some() { escape_xml } else { escape_json };
            template.write(status, message, escape, body);
        }
        Some(_) => {
            body.extend_from_slice(b"<?xml version = \"1.0\" encoding = \"UTF-8\"?>\n<error>");
            escape_xml(message, body);
            body.extend_from_slice(b"</error>\n");
        }
        None if as_problem => {
            let is_limit = matches!(refusal.cause, "key_rate_limit" | "api_rate_limit" | "address_rate_limit" | "quota_exceeded");
            write_problem(status, message, is_limit, body);
        }
        None if !json.is_empty() => body.extend_from_slice(json.as_bytes()),
        None => {
            body.extend_from_slice(b"{\n    \"error\": \"");
            escape_json(message, body);
            body.extend_from_slice(b"\"\n}");
        }
    }
    outgoing.close |= settings.close_connections;
}

/// Writes a body as in RFC 9457. Limits have their own type; for other refusals the status defines the type.
fn write_problem(status: u16, message: &str, is_limit: bool, body: &mut Vec<u8>) {
    if is_limit {
        body.extend_from_slice(b"{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\",\"title\":\"");
    } else {
        let title = http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Error");
        body.extend_from_slice(format!("{{\"type\":\"about:blank\",\"title\":\"{title}\",\"detail\":\"").as_bytes());
    }
    escape_json(message, body);
    body.extend_from_slice(format!("\",\"status\":{status}}}").as_bytes());
}

/// Completes a cached response like an upstream's response: limits, lines and changes of this request.
pub(super) fn complete_stored(edits: &mut HeaderEdits, version: &ApiVersion, limit_lines: &[u8], changes: &[HeaderChange]) {
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

/// Escapes the characters that Tyk's JavaScript escaping changes, in a form that is valid JSON.
fn escape_json(text: &str, out: &mut Vec<u8>) {
    if is_plain(text) {
        return out.extend_from_slice(text.as_bytes());
    }
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend_from_slice(&[b'\\', c as u8]),
            '<' | '>' | '&' | '=' => out.extend_from_slice(format!("\\u{:04X}", c as u32).as_bytes()),
            c if (c as u32) < 0x20 => out.extend_from_slice(format!("\\u{:04X}", c as u32).as_bytes()),
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

fn escape_xml(text: &str, out: &mut Vec<u8>) {
    for c in text.chars() {
        match c {
            '<' => out.extend_from_slice(b"&lt;"),
            '>' => out.extend_from_slice(b"&gt;"),
            '&' => out.extend_from_slice(b"&amp;"),
            '"' => out.extend_from_slice(b"&#34;"),
            '\'' => out.extend_from_slice(b"&#39;"),
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests;
