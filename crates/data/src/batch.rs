//! Batches of requests, as Tyk reads and answers them: the bodies of `POST {listen_path}/tyk/batch/`. Nothing here sends anything.

use crate::api_call::request_bytes;
use crate::header_names::canonical_name;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use tollgate_http::is_token;
use tollgate_text::byte_order_mark;

/// The path of batches behind the listen path.
pub const PATH: &str = "/tyk/batch/";

/// Headers by which clients could say that they are somebody else, or whose meaning is that of a connection.
const OWN_HEADERS: [&str; 10] = [
    "X-Forwarded-For",
    "X-Real-IP",
    "Forwarded",
    "Expect",
    "Keep-Alive",
    "Proxy-Connection",
    "TE",
    "Max-Forwards",
    "HTTP2-Settings",
    "Proxy-Authorization",
];

/// What a client asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Batch {
    pub requests: Vec<BatchedRequest>,
    /// One after the other.
    pub in_turn: bool,
}

/// One request of a batch.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BatchedRequest {
    method: String,
    headers: Vec<(String, String)>,
    body: String,
    pub relative_url: String,
    /// What follows the listen path, ready to be sent.
    target: String,
}

/// The response to one of them.
#[derive(Clone, Copy, Debug)]
pub struct BatchReply<'r> {
    pub status: u16,
    pub headers: &'r [(String, Vec<u8>)],
    pub body: &'r [u8],
}

/// Why a batch is not sent, in Tyk's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchFault {
    /// It is not JSON, or has fields of other types.
    Malformed,
    /// A request cannot be made of an entry.
    Entry,
    TooMany,
    Nested,
}

impl BatchFault {
    pub fn message(self) -> &'static str {
        match self {
            BatchFault::Malformed => "Batch request malformed",
            BatchFault::Entry => "Batch request creation failed , request structure malformed",
            BatchFault::TooMany => "Batch request has too many requests",
            BatchFault::Nested => "Batch requests cannot be nested",
        }
    }
}

impl Batch {
    /// Reads a body: the first JSON value in it, with names in any letter case, as Go does.
    pub fn parse(body: &[u8], requests_max: usize) -> Result<Self, BatchFault> {
        let document = serde_json::Deserializer::from_slice(byte_order_mark::without(body)).into_iter::<Value>().next();
        let document = document.and_then(Result::ok).ok_or(BatchFault::Malformed)?;
        let members = members(&document)?;
        let in_turn = match member(members, "suppress_parallel_execution") {
            Value::Null => false,
            Value::Bool(value) => *value,
            _ => return Err(BatchFault::Malformed),
        };
        let entries = match member(members, "requests") {
            Value::Null => &[],
            Value::Array(entries) => entries.as_slice(),
            _ => return Err(BatchFault::Malformed),
        };
        if entries.len() > requests_max {
            return Err(BatchFault::TooMany);
        }
        let requests: Result<Vec<_>, _> = entries.iter().map(BatchedRequest::read).collect();
        let mut requests = requests?;
        for request in &mut requests {
            request.complete()?;
        }
        Ok(Batch { requests, in_turn })
    }
}

/// The members of an object; `null` has none.
fn members(value: &Value) -> Result<&Map<String, Value>, BatchFault> {
    static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    match value {
        Value::Object(members) => Ok(members),
        Value::Null => Ok(&NONE),
        _ => Err(BatchFault::Malformed),
    }
}

fn member<'v>(members: &'v Map<String, Value>, name: &str) -> &'v Value {
    let folded = || members.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    members.get(name).or_else(folded).unwrap_or(&Value::Null)
}

fn text(value: &Value) -> Result<String, BatchFault> {
    match value {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        _ => Err(BatchFault::Malformed),
    }
}

impl BatchedRequest {
    fn read(entry: &Value) -> Result<Self, BatchFault> {
        let entry = members(entry)?;
        let headers = members(member(entry, "headers"))?.iter().map(|(name, value)| Ok((name.clone(), text(value)?)));
        Ok(BatchedRequest {
            method: text(member(entry, "method"))?,
            headers: headers.collect::<Result<_, _>>()?,
            body: text(member(entry, "body"))?,
            relative_url: text(member(entry, "relative_url"))?,
            target: String::new(),
        })
    }

    /// Checks what goes into the request line.
    fn complete(&mut self) -> Result<(), BatchFault> {
        if self.method.is_empty() {
            "GET".clone_into(&mut self.method);
        }
        if !is_token(self.method.as_bytes()) {
            return Err(BatchFault::Entry);
        }
        self.target = encoded(&self.relative_url).ok_or(BatchFault::Entry)?;
        Ok(())
    }

    pub fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// The bytes of the request to this API; `None` when a header is none. `address_header` says for whom requests come.
    pub fn write(&self, listen_path: &str, host: &[u8], address_header: &str) -> Option<Vec<u8>> {
        let listen_path = listen_path.trim_matches('/');
        let slash = if listen_path.is_empty() { "" } else { "/" };
        let target = format!("/{listen_path}{slash}{}", self.target);
        let is_own = |name: &str| OWN_HEADERS.iter().chain([&address_header]).any(|own| own.eq_ignore_ascii_case(name));
        let headers = self.headers.iter().filter(|(name, _)| !is_own(name));
        request_bytes(&self.method, &target, host, headers, self.body.as_bytes()).ok()
    }
}

/// Path and query as they are sent, without slashes in front: a client's own would be redirected. `None` for what is no URL.
fn encoded(relative_url: &str) -> Option<String> {
    let url = relative_url.split('#').next().unwrap_or_default().trim_start_matches('/');
    let path_bytes = url.find('?').unwrap_or(url.len());
    let mut out = String::with_capacity(url.len());
    for (at, byte) in url.bytes().enumerate() {
        match byte {
            0..0x20 | 0x7f => return None,
            b'%' if at < path_bytes && !is_escape(url.as_bytes().get(at + 1..at + 3)) => return None,
            b' ' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 0x80.. => out.push_str(&format!("%{byte:02X}")),
            byte => out.push(char::from(byte)),
        }
    }
    Some(out)
}

fn is_escape(digits: Option<&[u8]>) -> bool {
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// A reply as the answer has it.
#[derive(Serialize)]
struct ReplyUnit<'r> {
    relative_url: &'r str,
    code: u16,
    headers: Option<BTreeMap<String, Vec<String>>>,
    body: Cow<'r, str>,
}

/// The body of the answer to a batch, in the order of its requests. One without a reply has the status 0.
pub fn write_replies<'r>(replies: impl Iterator<Item = (&'r BatchedRequest, Option<BatchReply<'r>>)>) -> Vec<u8> {
    let units: Vec<ReplyUnit<'_>> = replies
        .map(|(request, reply)| ReplyUnit {
            relative_url: &request.relative_url,
            code: reply.map_or(0, |reply| reply.status),
            headers: reply.map(|reply| lists(reply.headers)),
            body: reply.map_or(Cow::Borrowed(""), |reply| String::from_utf8_lossy(reply.body)),
        })
        .collect();
    let mut body = serde_json::to_vec(&units).unwrap_or_default();
    body.push(b'\n');
    body
}

/// Header values by name.
fn lists(headers: &[(String, Vec<u8>)]) -> BTreeMap<String, Vec<String>> {
    let mut lists: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("connection")) {
        lists.entry(canonical_name(name)).or_default().push(String::from_utf8_lossy(value).into_owned());
    }
    lists
}

#[cfg(test)]
mod tests;
