//! Selects the response for a path. The paths are go-bench-suite's, plus a few more; every other path has what [`OtherPaths`] says.

use super::body::{AnswerBody, EVENTS_MAX, json, letters, typed};
use super::described::DescribedBody;
use super::model::ModelApi;
use super::parameter::{duration, query_value, size};
use super::{OtherPaths, described, dummy, websocket};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Request, Response, StatusCode, request};
use hyper::body::{Body, Bytes, Incoming};
use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::Offset;
use serde_json::{Map, Value, json};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::time::sleep;

const XML: &str = "<?xml version='1.0' encoding='us-ascii'?>\n<slideshow title=\"A sample\"><slide type=\"all\">\
                   <title>One</title></slide><slide type=\"all\"><title>Two</title></slide></slideshow>\n";

/// Maximum body that is kept in memory; longer ones are for `/echo/body`.
const BODY_BYTES_MAX: usize = 16 << 20;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);
static RESOURCES: LazyLock<Vec<String>> = LazyLock::new(|| (1..=100).map(|seed| letters(10, seed)).collect());

/// Answers one request, whose body has been read when this returns (except for `/echo/body`).
pub(crate) async fn answer(request: Request<Incoming>, others: OtherPaths) -> Response<AnswerBody> {
    if websocket::is_wanted(request.headers()) {
        return websocket::accept(request);
    }
    if let Err(reason) = delay(request.headers()).await {
        return with_status(StatusCode::BAD_REQUEST, reason);
    }
    if request.uri().path() == "/echo/body" {
        return echo_body(request);
    }
    let (head, mut body) = request.into_parts();
    if head.uri.path() == "/echo" && others == OtherPaths::DummyApi {
        return echo(&head, body).await;
    }
    if let Some(api) = ModelApi::of(&head) {
        return match whole(&mut body).await {
            Some(asked) => api.answer(&asked).await,
            None => with_status(StatusCode::PAYLOAD_TOO_LARGE, "a question has at most 16 MiB"),
        };
    }
    // hyper closes a connection whose body is not read.
    let mut read = DescribedBody { bytes: 0, complete: true };
    while let Some(frame) = next_frame(&mut body).await {
        match frame {
            Ok(frame) => read.bytes += frame.data_ref().map_or(0, |data| data.len() as u64),
            Err(_) => {
                read.complete = false;
                break;
            }
        }
    }

    match segments(head.uri.path()) {
        ("json", "invalid") => typed("text/plain; charset=utf-8", AnswerBody::Whole(time_json("{time"))),
        ("json", _) => typed("text/plain; charset=utf-8", AnswerBody::Whole(time_json("{\"time"))),
        ("xml", "") => typed("application/xml", AnswerBody::Whole(Bytes::from_static(XML.as_bytes()))),
        ("delay", wanted) => match duration(wanted) {
            Some(delay) => {
                sleep(delay).await;
                Response::new(AnswerBody::Whole(Bytes::new()))
            }
            None => with_status(StatusCode::BAD_REQUEST, "not a duration such as 100ms or 2s, of at most 10 minutes"),
        },
        ("size", wanted) => match size(wanted) {
            Some(bytes) => {
                let response = typed("text/plain; charset=utf-8", AnswerBody::Letters(bytes));
                may_be_cached(response, head.uri.query().unwrap_or(""))
            }
            None => with_status(StatusCode::BAD_REQUEST, "not a size such as 500, 64K, 10MB or 1G"),
        },
        ("status", wanted) => match wanted.parse().ok().filter(|code| (200..=599).contains(code)) {
            Some(code) => {
                let mut response = other(&head, read, others).await;
                *response.status_mut() = StatusCode::from_u16(code).unwrap_or_default();
                response
            }
            None => with_status(StatusCode::BAD_REQUEST, "not a status from 200 to 599"),
        },
        ("resource", "") => resources(head.uri.query().unwrap_or("")),
        ("resource", id) => resource(id),
        ("events", "") => events(head.uri.query().unwrap_or("")),
        _ => other(&head, read, others).await,
    }
}

async fn other(head: &request::Parts, read: DescribedBody, others: OtherPaths) -> Response<AnswerBody> {
    match others {
        OtherPaths::Description => described::answer(head, read),
        OtherPaths::DummyApi => dummy::answer(head).await,
    }
}

/// Adds the lifetime that `?max-age=` asks for, for caches between client and upstream.
fn may_be_cached(mut response: Response<AnswerBody>, query: &str) -> Response<AnswerBody> {
    if let Some(seconds) = query_value(query, "max-age").and_then(|seconds| seconds.parse::<u32>().ok())
        && let Ok(value) = HeaderValue::from_str(&format!("public, max-age={seconds}"))
    {
        response.headers_mut().insert(CACHE_CONTROL, value);
    }
    response
}

/// Handles `X-Delay`, for the share of requests in `X-Delay-Percent`.
async fn delay(headers: &HeaderMap) -> Result<(), &'static str> {
    /// Counter instead of randomness, so that the share is exact over any hundred requests.
    static REQUESTS: AtomicU32 = AtomicU32::new(0);
    /// Coprime to 100, which distributes the delayed requests over the hundred.
    const STRIDE: u32 = 37;

    let Some(wanted) = headers.get("x-delay") else { return Ok(()) };
    let Some(wanted) = wanted.to_str().ok().and_then(duration) else {
        return Err("X-Delay is not a duration such as 100ms or 2s");
    };
    let percent = match headers.get("x-delay-percent") {
        None => 100,
        Some(value) => {
            let percent = value.to_str().ok().and_then(|text| text.parse::<u32>().ok()).filter(|percent| *percent <= 100);
            percent.ok_or("X-Delay-Percent is not a number from 0 to 100")?
        }
    };
    if percent == 100 || REQUESTS.fetch_add(1, Ordering::Relaxed).wrapping_mul(STRIDE) % 100 < percent {
        sleep(wanted).await;
    }
    Ok(())
}

/// The time as Go prints it, as in go-bench-suite's JSON: about seventy bytes.
fn time_json(open: &str) -> Bytes {
    const GO: DateTimePrinter = DateTimePrinter::new().separator(b' ').precision(Some(9));
    let up = START.elapsed();
    let now = GO.datetime_to_string(&Offset::UTC.to_datetime(Timestamp::now()));
    Bytes::from(format!("{open}\": \"{now} +0000 UTC m=+{}.{:09}\"}}", up.as_secs(), up.subsec_nanos()))
}

async fn echo(head: &request::Parts, mut body: Incoming) -> Response<AnswerBody> {
    let Some(read) = whole(&mut body).await else {
        return with_status(StatusCode::PAYLOAD_TOO_LARGE, "use /echo/body for bodies of more than 16 MiB");
    };
    let mut headers = Map::new();
    for name in head.headers.keys() {
        let values = head.headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into());
        headers.insert(name.as_str().to_owned(), Value::Array(values.collect()));
    }
    let host = head.headers.get("host").map(|host| String::from_utf8_lossy(host.as_bytes()));
    let said = json!({
        "Method": head.method.as_str(),
        "RequestURI": head.uri.path_and_query().map_or("/", |target| target.as_str()),
        "Headers": headers,
        "Body": String::from_utf8_lossy(&read),
        "Host": host.as_deref().unwrap_or(""),
        "QueryArgs": head.uri.query().unwrap_or(""),
    });
    typed("application/json", AnswerBody::Whole(json(&said)))
}

/// All that comes of a body; `None` if it is too long.
async fn whole(body: &mut Incoming) -> Option<Vec<u8>> {
    let mut read = Vec::new();
    while let Some(Ok(frame)) = next_frame(body).await {
        read.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
        if read.len() > BODY_BYTES_MAX {
            return None;
        }
    }
    Some(read)
}

/// Returns the request's body as it arrives, with its content type.
fn echo_body(request: Request<Incoming>) -> Response<AnswerBody> {
    let content_type = request.headers().get(CONTENT_TYPE).cloned();
    let mut response = Response::new(AnswerBody::Echo(request.into_body()));
    let content_type = content_type.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

/// Ten resources, or `limit` of them.
fn resources(query: &str) -> Response<AnswerBody> {
    let limit = query_value(query, "limit").and_then(|text| text.parse().ok()).filter(|limit| *limit > 0).unwrap_or(10);
    let named = RESOURCES.iter().enumerate().take(limit).map(|(id, name)| (id.to_string(), json!({"Id": id, "Name": name})));
    typed("application/json", AnswerBody::Whole(json(&Value::Object(named.collect()))))
}

fn resource(id: &str) -> Response<AnswerBody> {
    let found = id.parse::<usize>().ok().and_then(|id| Some((id, RESOURCES.get(id)?)));
    match found {
        Some((id, name)) => typed("application/json", AnswerBody::Whole(json(&json!({"Id": id, "Name": name})))),
        None => with_status(StatusCode::NOT_FOUND, "resources are numbered 0 to 99"),
    }
}

/// `count` server-sent events, one every `interval`.
fn events(query: &str) -> Response<AnswerBody> {
    let count = query_value(query, "count").map_or(Some(10), |text| text.parse().ok()).filter(|count| *count <= EVENTS_MAX);
    let interval = query_value(query, "interval").map_or(Some(Duration::from_millis(100)), duration);
    let (Some(count), Some(interval)) = (count, interval) else {
        return with_status(StatusCode::BAD_REQUEST, "count is a number up to 1000000 and interval a duration such as 100ms");
    };
    let mut response = typed(
        "text/event-stream",
        AnswerBody::events(count, (0..count, interval), |id| format!("id: {id}\ndata: {{\"event\":{id}}}\n\n")),
    );
    response.headers_mut().insert("cache-control", HeaderValue::from_static("no-cache"));
    response
}

async fn next_frame(body: &mut Incoming) -> Option<Result<hyper::body::Frame<Bytes>, hyper::Error>> {
    if body.is_end_stream() {
        return None;
    }
    poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await
}

fn with_status(status: StatusCode, message: &str) -> Response<AnswerBody> {
    let mut response = typed("application/json", AnswerBody::Whole(json(&json!({ "message": message }))));
    *response.status_mut() = status;
    response
}

/// `/size/64k` is `("size", "64k")`.
fn segments(path: &str) -> (&str, &str) {
    let path = path.strip_prefix('/').unwrap_or(path);
    path.split_once('/').unwrap_or((path, ""))
}
