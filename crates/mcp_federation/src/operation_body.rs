//! The bodies of operations as arguments of tools: JSON, and forms.

use crate::message::{RpcError, code};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tollgate_openapi::{Document, Operation};

const FORM: &str = "application/x-www-form-urlencoded";

/// What needs no escape in a value of a path or query.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The body that an operation takes.
pub(crate) struct OperationBody<'d> {
    pub content_type: &'d str,
    pub schema: Option<&'d Value>,
    pub is_required: bool,
}

impl<'d> OperationBody<'d> {
    /// The body of an operation; `None` if it takes none.
    ///
    /// # Errors
    /// It takes no body that can be made of arguments.
    pub(crate) fn of(document: &'d Document, operation: &Operation) -> Result<Option<Self>, RpcError> {
        let body = written(document, operation).and_then(|written| document.resolve(written.get("requestBody")?));
        let Some(body) = body else { return Ok(None) };
        let content = body.get("content").and_then(Value::as_object);
        let kinds = || content.into_iter().flatten();
        let taken = kinds().find(|(kind, _)| is_json(kind)).or_else(|| kinds().find(|(kind, _)| essence(kind) == FORM));
        let Some((kind, media)) = taken else {
            let known: Vec<&str> = kinds().map(|(kind, _)| kind.as_str()).collect();
            let why = format!("its body is neither JSON nor a form, but {}", known.join(", "));
            return if known.is_empty() { Ok(None) } else { Err(RpcError::new(code::INVALID_PARAMS, why)) };
        };
        let content_type = if kind.contains('*') { "application/json" } else { kind.as_str() };
        let is_required = body.get("required").and_then(Value::as_bool).unwrap_or_default();
        Ok(Some(OperationBody { content_type, schema: media.get("schema"), is_required }))
    }

    /// An argument as bytes of the body.
    pub(crate) fn encoded(&self, body: &Value) -> Vec<u8> {
        if essence(self.content_type) != FORM {
            return body.to_string().into_bytes();
        }
        let pair = |name: &str, value: &Value| format!("{}={}", encoded(name), encoded(&plain(value)));
        let pairs: Vec<String> = body
            .as_object()
            .into_iter()
            .flatten()
            .flat_map(|(name, value)| match value {
                Value::Null => Vec::new(),
                Value::Array(values) => values.iter().map(|value| pair(name, value)).collect(),
                value => vec![pair(name, value)],
            })
            .collect();
        pairs.join("&").into_bytes()
    }
}

/// A value as a text of a path, query or header.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// What a document says of an operation.
pub(crate) fn written<'d>(document: &'d Document, operation: &Operation) -> Option<&'d Value> {
    document.path_item(&operation.path)?.get(operation.method.to_ascii_lowercase())
}

/// A type without its parameters.
fn essence(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}

fn is_json(kind: &str) -> bool {
    let essence = essence(kind).to_ascii_lowercase();
    matches!(essence.as_str(), "application/json" | "*/*" | "application/*")
        || (essence.starts_with("application/") && essence.ends_with("+json"))
}
