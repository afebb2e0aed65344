//! A request of the gateway's own to one of its APIs (`tyk://`), and how it gets to a core. The core's part is in `handler/called.rs`.

use super::core_queue::CoreQueue;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;
use tokio::sync::oneshot;
use tollgate_http::{is_token, is_value};
use tollgate_model::is_framing_header;

/// Most loops from API to API per request, as in Tyk.
pub const LOOPS_MAX: usize = 5;

/// Calls that wait for a core. Each has a caller that waits, too.
const WAITING_MAX: usize = 1_024;

/// What the head of a request has beside its target, as a rule.
const HEAD_BYTES: usize = 256;

/// Whence a call comes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CallOrigin {
    /// The address of the client for whom it is made.
    pub client: IpAddr,
    /// How many loops from API to API have led to it.
    pub loops: usize,
}

/// A request to send through a core.
pub struct ApiCall {
    /// Id or name of the API.
    pub api: String,
    pub origin: CallOrigin,
    /// The complete request, for HTTP/1.1.
    pub bytes: Vec<u8>,
    pub is_head: bool,
    /// Most bytes of the response's body.
    pub body_bytes_max: usize,
    pub time_max: Duration,
    pub answer: oneshot::Sender<Result<ApiAnswer, String>>,
}

impl Default for CallOrigin {
    /// The gateway itself.
    fn default() -> Self {
        CallOrigin { client: IpAddr::V4(Ipv4Addr::LOCALHOST), loops: 0 }
    }
}

impl CallOrigin {
    /// That of a call that is one loop further.
    pub fn next(self) -> Self {
        CallOrigin { loops: self.loops.saturating_add(1), ..self }
    }
}

/// The response.
pub struct ApiAnswer {
    pub status: u16,
    pub body: Vec<u8>,
}

/// Takes calls to the cores.
pub type ApiCallQueue = CoreQueue<ApiCall>;

/// A queue for so many cores.
pub fn api_call_queue(cores: usize) -> ApiCallQueue {
    CoreQueue::new(cores, WAITING_MAX)
}

/// The bytes of a request on a connection of its own; `Err` names what is wrong with it. An empty host is `localhost`.
pub fn request_bytes<'h>(
    method: &str,
    target: &str,
    host: &[u8],
    headers: impl Iterator<Item = &'h (String, String)>,
    body: &[u8],
) -> Result<Vec<u8>, String> {
    if !is_token(method.as_bytes()) {
        return Err(format!("{method:?} is no method"));
    }
    if !target.starts_with('/') || target.bytes().any(|byte| !byte.is_ascii_graphic()) {
        return Err(format!("{target:?} is no path"));
    }
    if !is_value(host) {
        return Err("the host is invalid".to_owned());
    }
    let mut out = Vec::with_capacity(target.len() + body.len() + HEAD_BYTES);
    let host = if host.is_empty() { b"localhost" } else { host };
    let parts = [method.as_bytes(), b" ", target.as_bytes(), b" HTTP/1.1\r\nHost: ", host, b"\r\nConnection: close\r\n"];
    parts.iter().for_each(|part| out.extend_from_slice(part));
    for (name, value) in headers.filter(|(name, _)| !is_framing_header(name)) {
        if !is_token(name.as_bytes()) || !is_value(value.as_bytes()) {
            return Err(format!("{name:?} is no header, or its value is none"));
        }
        out.extend_from_slice(format!("{name}: {}\r\n", value.trim()).as_bytes());
    }
    if !body.is_empty() || matches!(method, "POST" | "PUT" | "PATCH") {
        out.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(body);
    Ok(out)
}
