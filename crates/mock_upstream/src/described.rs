//! The request as it arrived, as JSON.

use super::body::{AnswerBody, json, typed};
use http::{HeaderMap, Response, request};
use serde_json::{Map, Value, json};

/// The bytes of a body that was read, and whether all of it came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DescribedBody {
    pub bytes: u64,
    pub complete: bool,
}

pub(crate) fn answer(head: &request::Parts, body: DescribedBody) -> Response<AnswerBody> {
    let said = json!({
        "method": head.method.as_str(),
        "path": head.uri.path(),
        "query": head.uri.query(),
        "version": format!("{:?}", head.version),
        "headers": headers(&head.headers),
        "body_bytes": body.bytes,
        "body_complete": body.complete,
    });
    typed("application/json", AnswerBody::Whole(json(&said)))
}

/// A repeated header becomes a list, in the order of arrival.
fn headers(headers: &HeaderMap) -> Value {
    let mut object = Map::new();
    for name in headers.keys() {
        let mut values: Vec<Value> =
            headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into()).collect();
        let value = if values.len() == 1 { values.remove(0) } else { Value::Array(values) };
        object.insert(name.as_str().to_owned(), value);
    }
    Value::Object(object)
}
