//! The bodies of errors that the gateway writes itself, in Tyk's form, as XML or as RFC 9457 says.

use crate::error_templates::{ErrorData, ErrorTemplates};
use crate::refusal::is_plain;
use tollgate_http::{HeadView, KnownHeader};
use tollgate_mcp::{Call, RpcCode, error_body};

/// The form of an error's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorForm<'a> {
    Json,
    /// RFC 9457.
    Problem,
    /// With this content type, the request's own.
    Xml(&'a str),
    /// An error of JSON-RPC, for the call with this id.
    Rpc(&'a str),
}

/// What a request says of the form of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorAudience<'a> {
    Any,
    /// Its body is XML, with this content type.
    Xml(&'a str),
    /// It is the call with this id.
    Caller(&'a str),
}

impl<'a> ErrorAudience<'a> {
    /// The audience of a request with this content type of XML's, if it has one, or with this call.
    pub fn new(xml_type: Option<&'a str>, call: Option<&'a Call>) -> Self {
        match (call, xml_type) {
            (Some(call), _) => ErrorAudience::Caller(&call.id),
            (None, Some(xml_type)) => ErrorAudience::Xml(xml_type),
            (None, None) => ErrorAudience::Any,
        }
    }
}

impl<'a> ErrorForm<'a> {
    /// The form for a request.
    pub fn new(audience: ErrorAudience<'a>, problem_details: bool) -> Self {
        match audience {
            ErrorAudience::Caller(id) => ErrorForm::Rpc(id),
            ErrorAudience::Xml(xml_type) => ErrorForm::Xml(xml_type),
            ErrorAudience::Any if problem_details => ErrorForm::Problem,
            ErrorAudience::Any => ErrorForm::Json,
        }
    }

    pub fn content_type(self) -> &'a str {
        match self {
            ErrorForm::Json | ErrorForm::Rpc(_) => "application/json",
            ErrorForm::Problem => "application/problem+json",
            ErrorForm::Xml(xml_type) => xml_type,
        }
    }

    /// Escapes a text for a template of this form.
    pub fn escape(self) -> fn(&str, &mut Vec<u8>) {
        if let ErrorForm::Xml(_) = self { escape_xml } else { escape_json }
    }

    /// Appends the operator's own body for a status, else the built-in one. The body says `shown`.
    pub fn write(self, templates: &ErrorTemplates, (status, shown): (u16, u16), message: &str, is_limit: bool, body: &mut Vec<u8>) {
        let is_xml = matches!(self, ErrorForm::Xml(_));
        let is_fixed = matches!(self, ErrorForm::Problem | ErrorForm::Rpc(_));
        if let Some(template) = templates.find(status, is_xml).filter(|_| !is_fixed) {
            return template.write(&ErrorData { status: shown, message, invalid_params: "" }, self.escape(), body);
        }
        match self {
            ErrorForm::Rpc(id) => body.extend_from_slice(&error_body(RpcCode::of_status(shown), message, Some(shown), id)),
            ErrorForm::Json => {
                body.extend_from_slice(b"{\n    \"error\": \"");
                escape_json(message, body);
                body.extend_from_slice(b"\"\n}");
            }
            ErrorForm::Problem => write_problem(shown, message, is_limit, body),
            ErrorForm::Xml(_) => {
                body.extend_from_slice(b"<?xml version = \"1.0\" encoding = \"UTF-8\"?>\n<error>");
                escape_xml(message, body);
                body.extend_from_slice(b"</error>\n");
            }
        }
    }
}

/// The request's content type if it is one of XML's.
pub fn xml_type(received: HeadView<'_>) -> Option<Box<str>> {
    let value = std::str::from_utf8(received.known(KnownHeader::ContentType)?).ok()?;
    let essence = value.split(';').next().unwrap_or_default().trim();
    let is_xml = ["application/xml", "text/xml", "application/soap+xml"].iter().any(|xml| essence.eq_ignore_ascii_case(xml));
    is_xml.then(|| value.into())
}

/// A body as RFC 9457 says. Limits have a type of their own; for the others the status says what type they are.
pub fn write_problem(status: u16, message: &str, is_limit: bool, body: &mut Vec<u8>) {
    if is_limit {
        body.extend_from_slice(b"{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\",\"title\":\"");
    } else {
        let title = http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Error");
        body.extend_from_slice(format!("{{\"type\":\"about:blank\",\"title\":\"{title}\",\"detail\":\"").as_bytes());
    }
    escape_json(message, body);
    body.extend_from_slice(format!("\",\"status\":{status}}}").as_bytes());
}

/// The characters that Tyk's JavaScript escaping changes, in a form that is valid JSON.
pub fn escape_json(text: &str, out: &mut Vec<u8>) {
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

pub fn escape_xml(text: &str, out: &mut Vec<u8>) {
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
