//! dummy-api's response: a description of the request whose form depends on parameters, in the query or as headers. As in
//! dummy-api, an invalid parameter is ignored.

use super::body::{AnswerBody, json, letters, typed};
use super::parameter::query_value;
use http::header::{CACHE_CONTROL, CONNECTION, HeaderName};
use http::{HeaderValue, Response, StatusCode, request};
use hyper::body::Bytes;
use serde_json::{Map, Value};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::sleep;

const DELAY_MS_MAX: u64 = 300_000;
/// Maximum content; `/size` is for larger bodies.
const CONTENT_BYTES_MAX: usize = 16 << 20;

const FLAGS: [&str; 6] = ["must-revalidate", "public", "private", "no-store", "no-cache", "no-transform"];
const COPIED: [&str; 3] = ["x-parent", "x-trace", "x-debug"];

const HELP: &str = "\
Parameters, in the query or as request headers:

header-delay=MS            delay before the head of the response
body-delay=MS              delay between its head and its body
max-age=S  s-maxage=S      values of Cache-Control
must-revalidate public private no-store no-cache no-transform
                           flags of Cache-Control
x-parent= x-trace= x-debug=  response headers
connection=close           close the connection after the response
content-length             send a Content-Length; otherwise the body is chunked
random-content=N           N letters that differ from response to response
predictable-content=N      N letters that do not
response-status=N          status of the response
";

/// Seed of `random-content`; every response uses the next one.
static SEED: AtomicU64 = AtomicU64::new(2);

/// Answers by the request's parameters.
pub(crate) async fn answer(head: &request::Parts) -> Response<AnswerBody> {
    let query = head.uri.query().unwrap_or("");
    let parameter = |name: &str| query_value(query, name).or_else(|| head.headers.get(name).and_then(|value| value.to_str().ok()));
    let number = |name: &str, max: u64| parameter(name)?.parse::<u64>().ok().filter(|value| *value <= max);
    if parameter("help").is_some() {
        return typed("text/plain", AnswerBody::Whole(Bytes::from_static(HELP.as_bytes())));
    }

    let mut said = described(head);
    let mut note = |name: &str, value: &str| said.insert(name.to_owned(), value.into());
    let mut cache_control = Vec::new();
    for name in ["max-age", "s-maxage"] {
        if let Some(value) = number(name, u64::MAX) {
            note(name, &value.to_string());
            cache_control.push(format!("{name}={value}"));
        }
    }
    for name in FLAGS.iter().filter(|name| parameter(name).is_some()) {
        note(name, "true");
        cache_control.push((*name).to_owned());
    }
    for (name, seed) in [("random-content", SEED.fetch_add(1, Ordering::Relaxed)), ("predictable-content", 1)] {
        if let Some(count) = number(name, CONTENT_BYTES_MAX as u64) {
            note(name, &letters(usize::try_from(count).unwrap_or(0), seed));
        }
    }
    let header_delay = number("header-delay", DELAY_MS_MAX).filter(|ms| *ms > 0);
    let body_delay = number("body-delay", DELAY_MS_MAX).filter(|ms| *ms > 0);
    for (name, delay) in [("header-delay", header_delay), ("body-delay", body_delay)] {
        if let Some(ms) = delay {
            note(name, &ms.to_string());
        }
    }
    let status = number("response-status", 599).and_then(|code| StatusCode::from_u16(u16::try_from(code).ok()?).ok());
    let status = status.filter(|status| !status.is_informational());
    if let Some(status) = status {
        note("response-status", status.as_str());
    }
    let has_length = parameter("content-length").is_some();
    if has_length {
        note("content-length", "true");
    }
    let closes = parameter("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    if closes {
        note("connection", "close");
    }

    if let Some(ms) = header_delay {
        sleep(Duration::from_millis(ms)).await;
    }
    let body = json(&Value::Object(said));
    let body = match body_delay {
        Some(ms) => AnswerBody::late(Duration::from_millis(ms), body),
        None if has_length => AnswerBody::Whole(body),
        None => AnswerBody::Chunked(body),
    };
    let mut response = typed("application/json", body);
    *response.status_mut() = status.unwrap_or(StatusCode::OK);
    let headers = response.headers_mut();
    if !cache_control.is_empty()
        && let Ok(value) = HeaderValue::from_str(&cache_control.join(", "))
    {
        headers.insert(CACHE_CONTROL, value);
    }
    if closes {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    for name in COPIED {
        if let Some(value) = parameter(name).and_then(|value| HeaderValue::from_str(value).ok()) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    response
}

fn described(head: &request::Parts) -> Map<String, Value> {
    let host = head.headers.get("host").map(|host| String::from_utf8_lossy(host.as_bytes()));
    let mut said = Map::new();
    said.insert("host".to_owned(), host.as_deref().unwrap_or("").into());
    said.insert("path".to_owned(), head.uri.path_and_query().map_or("/", |target| target.as_str()).into());
    said.insert("method".to_owned(), head.method.as_str().into());
    said.insert("protocol".to_owned(), format!("{:?}", head.version).into());
    said
}
