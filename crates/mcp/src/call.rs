//! What a request calls.

use crate::envelope::{members, text};
use crate::error::{CallError, RpcCode};
use crate::header_value::{decoded_header, encoded_header};
use crate::primitive::{NAME_BYTES_MAX, Primitive};
use serde_json::value::RawValue;
use tollgate_model::session::PrimitiveKind;

/// Longest id, in bytes of JSON: clients count, or send a UUID.
const ID_BYTES_MAX: usize = 1 << 10;

/// A JSON-RPC request or notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The method's name; not empty.
    pub method: String,
    /// What it is for; `None` if the method is for none.
    pub primitive: Option<Primitive>,
    /// Its id as JSON; `null` for a notification.
    pub id: Box<str>,
    /// Whether nobody waits for a response.
    pub is_notification: bool,
}

/// Where a method names its primitive.
#[derive(Clone, Copy)]
enum Naming {
    /// `params.name` or `params.uri`. Without it the call is refused.
    Required(PrimitiveKind, &'static str),
    /// The same; a call without it goes to the server, which refuses it.
    Optional(PrimitiveKind, &'static str),
    /// `params.ref`: a prompt by name or a resource by URI.
    Reference,
}

/// The methods of the protocol that are for one primitive.
fn naming(method: &str) -> Option<Naming> {
    Some(match method {
        "tools/call" => Naming::Required(PrimitiveKind::Tool, "name"),
        "resources/read" => Naming::Required(PrimitiveKind::Resource, "uri"),
        "prompts/get" => Naming::Required(PrimitiveKind::Prompt, "name"),
        "resources/subscribe" | "resources/unsubscribe" => Naming::Optional(PrimitiveKind::Resource, "uri"),
        "completion/complete" => Naming::Reference,
        _ => return None,
    })
}

impl Call {
    /// The kind and the name of what it is for.
    pub fn primitive(&self) -> Option<(PrimitiveKind, &str)> {
        self.primitive.as_ref().map(|primitive| (primitive.kind, primitive.name.as_str()))
    }

    /// The kind and the names of what it is for.
    pub fn names(&self) -> Option<(PrimitiveKind, [&str; 2])> {
        self.primitive.as_ref().map(|primitive| (primitive.kind, primitive.names()))
    }

    /// The version of the protocol from which on heads name calls.
    pub const NAMED_IN_HEADS: &'static str = "2026-07-28";

    /// The call that the head of a request names, by `Mcp-Method` and `Mcp-Name`; `None` if they do not say all.
    pub fn of_head(method: &str, name: Option<&str>) -> Option<Self> {
        let primitive = match naming(method) {
            None => None,
            Some(Naming::Required(kind, _)) => Some(Primitive::new(kind, decoded_header(name?)?)),
            // What these are for is in the body alone.
            Some(Naming::Optional(..) | Naming::Reference) => return None,
        };
        Some(Call { method: method.to_owned(), primitive, id: "null".into(), is_notification: false })
    }

    /// What it calls, as the value of a header line.
    pub fn to_header(&self) -> String {
        let name = self.primitive.as_ref().map(|primitive| primitive.name.as_str());
        match name {
            // A method that has spaces itself is told from a method and a name.
            _ if self.method.contains(' ') => encoded_header([&self.method, "\n", name.unwrap_or_default()].concat()),
            Some(name) => encoded_header([&self.method, " ", name].concat()),
            None => encoded_header(self.method.clone()),
        }
    }

    /// Reads a body. `None` for a client's answer to a request of the server, which calls nothing.
    ///
    /// # Errors
    /// It is no JSON-RPC message, or does not name what it calls.
    pub fn read(body: &[u8]) -> Result<Option<Self>, CallError> {
        let not_json = CallError::new(RpcCode::PARSE, "parse error", None);
        // As in Tyk, `null` is a request without members.
        let members = match members(body, &["jsonrpc", "method", "id", "params", "result", "error"]) {
            Ok(members) => members,
            Err(_) if body.trim_ascii() == b"null" => {
                return Err(CallError::new(RpcCode::INVALID_REQUEST, "invalid request", None));
            }
            Err(_) => return Err(not_json),
        };
        let [version, method, id, params, answer, error] = members.values;
        let null = |value: &&RawValue| value.get() == "null";
        // A value of the wrong type is to Tyk like text that is no JSON.
        let text_of = |value: Option<&RawValue>| match value.filter(|value| !null(value)) {
            None => Ok(String::new()),
            Some(value) => text(value).ok_or_else(|| not_json.clone()),
        };
        let (version, method) = (text_of(version)?, text_of(method)?);
        let is_too_long = id.is_some_and(|id| id.get().len() > ID_BYTES_MAX) || method.len() > NAME_BYTES_MAX;
        let shown_id = id.filter(|id| id.get().len() <= ID_BYTES_MAX);
        let is_answer = method.is_empty() && (answer.is_some() || error.is_some());
        if version != "2.0" || (method.is_empty() && !is_answer) || members.is_ambiguous || is_too_long {
            return Err(CallError::new(RpcCode::INVALID_REQUEST, "invalid request", shown_id));
        }
        if is_answer {
            return Ok(None);
        }
        let primitive = match naming(&method) {
            None => None,
            Some(naming) => named(naming, params).map_err(|why| CallError::new(RpcCode::INVALID_PARAMS, why, id))?,
        };
        let is_notification = id.is_none();
        Ok(Some(Call { method, primitive, id: id.map_or("null", RawValue::get).into(), is_notification }))
    }
}

/// What `params` name.
fn named(naming: Naming, params: Option<&RawValue>) -> Result<Option<Primitive>, &'static str> {
    match naming {
        Naming::Required(kind, member) => {
            let params = params.ok_or("missing required params object")?;
            required(kind, member, params).map(Some)
        }
        Naming::Optional(kind, member) => match params.map(|params| required(kind, member, params)) {
            Some(Err(AMBIGUOUS)) => Err(AMBIGUOUS),
            found => Ok(found.and_then(Result::ok)),
        },
        Naming::Reference => {
            let Some(read) = params.and_then(|params| members(params.get().as_bytes(), &["ref"]).ok()) else { return Ok(None) };
            if read.is_ambiguous {
                return Err(AMBIGUOUS);
            }
            let [Some(reference)] = read.values else { return Ok(None) };
            let Ok(read) = members(reference.get().as_bytes(), &["type", "name", "uri"]) else { return Ok(None) };
            let [kind, name, uri] = read.values;
            if read.is_ambiguous {
                return Err(AMBIGUOUS);
            }
            let (kind, name) = match kind.and_then(text).as_deref() {
                Some("ref/prompt") => (PrimitiveKind::Prompt, name),
                Some("ref/resource") => (PrimitiveKind::Resource, uri),
                _ => return Ok(None),
            };
            match name.and_then(text) {
                Some(name) if name.len() > NAME_BYTES_MAX => Err(AMBIGUOUS),
                name => Ok(name.map(|name| Primitive::new(kind, name))),
            }
        }
    }
}

/// What is said of `params` whose member could be read in two ways, is no text, or too long.
const AMBIGUOUS: &str = "invalid params";

fn required(kind: PrimitiveKind, member: &str, params: &RawValue) -> Result<Primitive, &'static str> {
    let missing = match member {
        "uri" => "missing required parameter: uri",
        _ => "missing required parameter: name",
    };
    if params.get() == "null" {
        return Err(missing);
    }
    let read = members(params.get().as_bytes(), &[member]).map_err(|_| "invalid params: expected object")?;
    let [value] = read.values;
    match value {
        _ if read.is_ambiguous => Err(AMBIGUOUS),
        None => Err(missing),
        Some(value) => match text(value) {
            Some(name) if !name.is_empty() && name.len() <= NAME_BYTES_MAX => Ok(Primitive::new(kind, name)),
            _ => Err(AMBIGUOUS),
        },
    }
}

#[cfg(test)]
mod tests;
