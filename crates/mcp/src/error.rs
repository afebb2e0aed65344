//! Errors of JSON-RPC, with the codes and words of Tyk 5.14.

use serde_json::value::RawValue;

/// The code of a JSON-RPC error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RpcCode(pub i32);

impl RpcCode {
    /// The text is no JSON, or a value has another type.
    pub const PARSE: RpcCode = RpcCode(-32700);
    /// The JSON is no request.
    pub const INVALID_REQUEST: RpcCode = RpcCode(-32600);
    /// The method does not exist.
    pub const METHOD_NOT_FOUND: RpcCode = RpcCode(-32601);
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: RpcCode = RpcCode(-32602);
    /// The server failed.
    pub const INTERNAL: RpcCode = RpcCode(-32603);

    /// The code for a refusal with this HTTP status.
    pub fn of_status(status: u16) -> RpcCode {
        match status {
            400 | 405 => RpcCode::INVALID_REQUEST,
            401 => RpcCode(-32001),
            403 => RpcCode(-32002),
            404 => RpcCode::METHOD_NOT_FOUND,
            429 => RpcCode(-32003),
            502..=504 => RpcCode(-32004),
            500.. => RpcCode::INTERNAL,
            _ => RpcCode(-32000),
        }
    }

    /// The HTTP status under which failures of servers are counted that a response with status 200 tells; `None` for errors of clients.
    pub fn failure_status(self) -> Option<u16> {
        match self {
            RpcCode(-32004) => Some(502),
            RpcCode::INTERNAL => Some(500),
            _ => None,
        }
    }
}

/// Why a body is no call, as a response says it. Its HTTP status is 400.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// The error's code.
    pub code: RpcCode,
    /// The error's message.
    pub message: &'static str,
    /// The request's id as JSON; `null` if it could not be read.
    pub id: Box<str>,
}

impl CallError {
    /// An error of a request with this id.
    pub(crate) fn new(code: RpcCode, message: &'static str, id: Option<&RawValue>) -> Self {
        CallError { code, message, id: id.map_or("null", RawValue::get).into() }
    }

    /// The response's body.
    pub fn body(&self) -> Vec<u8> {
        error_body(self.code, self.message, None, &self.id)
    }
}

/// The body of an error response. With a status, the error's data names it.
pub fn error_body(code: RpcCode, message: &str, status: Option<u16>, id: &str) -> Vec<u8> {
    let mut body = br#"{"jsonrpc":"2.0","error":{"code":"#.to_vec();
    body.extend_from_slice(code.0.to_string().as_bytes());
    body.extend_from_slice(b",\"message\":");
    // A text can always be written.
    let _ = serde_json::to_writer(&mut body, message);
    if let Some(status) = status {
        body.extend_from_slice(format!(",\"data\":{{\"http_code\":{status}}}").as_bytes());
    }
    body.extend_from_slice(b"},\"id\":");
    body.extend_from_slice(id.as_bytes());
    body.push(b'}');
    body
}
