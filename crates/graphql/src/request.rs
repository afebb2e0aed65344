//! What a request says: one or several queries with their variables, from a JSON body or from the parameters of a URL. Strict where servers
//! read differently: a name that is written twice, or in another letter case, could be one query for the gateway and another one for the
//! upstream.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use tollgate_text::byte_order_mark;

/// The members of a request that mean something.
const NAMES: [&str; 4] = ["query", "operationName", "variables", "extensions"];

/// One GraphQL request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphqlRequest<'a> {
    /// The text of the document; empty if it was registered before.
    pub query: Cow<'a, str>,
    /// The operation of the document that is to be executed.
    pub operation_name: Option<Cow<'a, str>>,
    /// Values of its variables.
    pub variables: Option<Map<String, Value>>,
    /// SHA-256 of the document, if the client uses persisted queries.
    pub persisted: Option<[u8; 32]>,
}

/// Why a request cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestFault {
    /// There is nothing.
    Empty,
    /// It is not JSON, or not of the form that requests have; the text says why.
    Malformed(String),
    /// A batch of more requests than are allowed.
    BatchTooLarge,
}

/// The requests of a JSON body: an object, or a list of at most `batch_max`. The second part says whether it is a list.
pub fn parse_body(body: &[u8], batch_max: usize) -> Result<(Vec<GraphqlRequest<'_>>, bool), RequestFault> {
    let body = byte_order_mark::without(body);
    if body.trim_ascii().is_empty() {
        return Err(RequestFault::Empty);
    }
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let is_batch = body.trim_ascii_start().starts_with(b"[");
    let requests = RequestList { is_batch, batch_max }.deserialize(&mut deserializer);
    let requests = requests.and_then(|requests| deserializer.end().map(|()| requests));
    match requests {
        Ok(Some(requests)) if requests.is_empty() => Err(RequestFault::Empty),
        Ok(Some(requests)) => Ok((requests, is_batch)),
        Ok(None) => Err(RequestFault::BatchTooLarge),
        // The end of a batch that is too large is not read.
        Err(error) if error.to_string().starts_with(TOO_LARGE) => Err(RequestFault::BatchTooLarge),
        Err(error) => Err(RequestFault::Malformed(error.to_string())),
    }
}

const TOO_LARGE: &str = "too many requests";

struct RequestList {
    is_batch: bool,
    batch_max: usize,
}

impl<'de> DeserializeSeed<'de> for RequestList {
    type Value = Option<Vec<GraphqlRequest<'de>>>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.is_batch { deserializer.deserialize_seq(self) } else { deserializer.deserialize_map(self) }
    }
}

impl<'de> Visitor<'de> for RequestList {
    type Value = Option<Vec<GraphqlRequest<'de>>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a query, or a list of such objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut requests = Vec::new();
        while let Some(request) = list.next_element()? {
            if requests.len() == self.batch_max {
                return Err(A::Error::custom(TOO_LARGE));
            }
            requests.push(request);
        }
        Ok(Some(requests))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        Ok(Some(vec![OneRequest.visit_map(members)?]))
    }
}

impl<'de> Deserialize<'de> for GraphqlRequest<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OneRequest)
    }
}

/// Reads one request.
struct OneRequest;

impl<'de> Visitor<'de> for OneRequest {
    type Value = GraphqlRequest<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a query")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut request = GraphqlRequest::default();
        let mut seen = [false; NAMES.len()];
        while let Some(BorrowedText(name)) = members.next_key::<BorrowedText<'de>>()? {
            let Some(known) = NAMES.iter().position(|known| name.eq_ignore_ascii_case(known)) else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            let exact = NAMES.get(known).copied().unwrap_or_default();
            if name != exact {
                return Err(A::Error::custom(format!("{name:?} must be written {exact:?}")));
            }
            if seen.get_mut(known).is_some_and(|seen| std::mem::replace(seen, true)) {
                return Err(A::Error::custom(format!("{exact:?} is there twice")));
            }
            match exact {
                "query" => {
                    request.query = members.next_value::<Option<BorrowedText<'de>>>()?.map(|text| text.0).unwrap_or_default()
                }
                "operationName" => request.operation_name = members.next_value::<Option<BorrowedText<'de>>>()?.map(|text| text.0),
                "variables" => request.variables = members.next_value()?,
                _ => request.persisted = persisted(members.next_value()?).map_err(A::Error::custom)?,
            }
        }
        Ok(request)
    }
}

/// A text that is borrowed where it has no escapes.
struct BorrowedText<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for BorrowedText<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowing;
        impl<'de> Visitor<'de> for Borrowing {
            type Value = BorrowedText<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(BorrowedText(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(BorrowedText(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrowing)
    }
}

/// The digest in `extensions.persistedQuery`.
fn persisted(extensions: Option<Map<String, Value>>) -> Result<Option<[u8; 32]>, String> {
    let Some(query) = extensions.as_ref().and_then(|all| all.get("persistedQuery")).filter(|query| !query.is_null()) else {
        return Ok(None);
    };
    if query.get("version").and_then(Value::as_i64) != Some(1) {
        return Err("extensions.persistedQuery must have version 1".to_owned());
    }
    let digest = query.get("sha256Hash").and_then(Value::as_str).and_then(digest);
    digest.map(Some).ok_or_else(|| "extensions.persistedQuery.sha256Hash must be 64 hexadecimal digits".to_owned())
}

fn digest(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != digest.len() || !rest.is_empty() {
        return None;
    }
    for (byte, [high, low]) in digest.iter_mut().zip(pairs) {
        let digit = |of: &u8| char::from(*of).to_digit(16);
        *byte = u8::try_from(digit(high)? * 16 + digit(low)?).ok()?;
    }
    Some(digest)
}

/// The request in the parameters of a URL, which the caller has decoded.
pub fn parse_pairs<'a>(pairs: impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)>) -> Result<GraphqlRequest<'a>, RequestFault> {
    let mut request = GraphqlRequest::default();
    let mut seen = [false; NAMES.len()];
    for (name, value) in pairs {
        let Some(known) = NAMES.iter().position(|known| name.eq_ignore_ascii_case(known)) else { continue };
        let exact = NAMES.get(known).copied().unwrap_or_default();
        if name != exact {
            return Err(RequestFault::Malformed(format!("the parameter {name} must be written {exact}")));
        }
        if seen.get_mut(known).is_some_and(|seen| std::mem::replace(seen, true)) {
            return Err(RequestFault::Malformed(format!("the parameter {name} is there twice")));
        }
        let malformed = |error: serde_json::Error| RequestFault::Malformed(format!("{name}: {error}"));
        match known {
            0 => request.query = value,
            1 => request.operation_name = Some(value).filter(|name| !name.is_empty()),
            _ if value.is_empty() => {}
            2 => request.variables = serde_json::from_str(&value).map_err(malformed)?,
            _ => {
                let extensions = serde_json::from_str(&value).map_err(malformed)?;
                request.persisted = persisted(extensions).map_err(RequestFault::Malformed)?;
            }
        }
    }
    if request.query.is_empty() && request.persisted.is_none() { Err(RequestFault::Empty) } else { Ok(request) }
}

/// Whether a parameter of a URL belongs to a GraphQL request.
pub fn is_request_parameter(name: &str) -> bool {
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The content type of responses for clients that know it.
pub const GRAPHQL_RESPONSE: &str = "application/graphql-response+json";

/// The content type of the response for a client that accepts this (the value of `Accept`).
pub fn response_type(accept: &str) -> &'static str {
    let is_wanted = |range: &str| {
        let mut parts = range.split(';').map(str::trim);
        parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case(GRAPHQL_RESPONSE)) && !parts.any(|part| part == "q=0")
    };
    if accept.split(',').any(is_wanted) { GRAPHQL_RESPONSE } else { "application/json" }
}

#[cfg(test)]
mod tests;
