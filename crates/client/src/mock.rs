//! The mock upstream of `tollgate mock`: a small HTTP/1.1 server to try a gateway with. It returns known bodies, sizes and delays,
//! and reports what it received. It has no state and is not part of the gateway's data path, so it is built for clarity on hyper.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use clap::Args;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Map, Value, json};

/// Options of `mock`.
#[derive(Debug, Args)]
pub struct MockOptions {
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:9090")]
    pub listen: SocketAddr,
}

/// The body of `/json/valid`: as long as the small body that gateway benchmarks commonly use.
const JSON_VALID: &str = r#"{"status":"ok","message":"a small answer of sixty-nine bytes in all"}"#;
const _: () = assert!(JSON_VALID.len() == 69);

/// Cut off in the middle of a string, so every JSON parser rejects it.
const JSON_INVALID: &str = r#"{"status":"ok","message":"this never en"#;

const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<answer><status>ok</status></answer>\n";

/// Longer waits only pile up sleeping tasks.
const DELAY_MAX: Duration = Duration::from_secs(600);

/// A `/size` body is sent in pieces of this many bytes from one static block, whatever its length.
const FILLER_BYTES: usize = 64 * 1024;
static FILLER: [u8; FILLER_BYTES] = [b'x'; FILLER_BYTES];

/// Pause after accepting failed, for example with "too many open files".
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves on `listener` until the process ends; returns only when the runtime cannot be set up.
pub fn serve(listener: std::net::TcpListener) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    tokio::spawn(serve_connection(stream));
                }
                Err(error) => {
                    tracing::warn!(%error, "mock upstream cannot accept");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    })
}

async fn serve_connection(stream: tokio::net::TcpStream) {
    // Otherwise a small response may wait for the peer's delayed acknowledgement.
    let _ = stream.set_nodelay(true);
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service_fn(|request| async { Ok::<_, Infallible>(answer(request).await) }))
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "mock upstream connection ended");
    }
}

async fn answer(request: Request<Incoming>) -> Response<MockBody> {
    if let Some(delay) = request.headers().get("x-delay") {
        match delay.to_str().ok().and_then(duration) {
            Some(delay) => tokio::time::sleep(delay).await,
            None => return bad_request("X-Delay is not a duration such as 100ms or 2s"),
        }
    }
    let path = request.uri().path().to_owned();
    let (head, rest) = first_segment(&path);
    match (head, rest) {
        ("json", "valid") => fixed("application/json", JSON_VALID),
        ("json", "invalid") => fixed("application/json", JSON_INVALID),
        ("xml", "") => fixed("application/xml", XML),
        ("delay", wanted) => match duration(wanted) {
            Some(delay) => {
                tokio::time::sleep(delay).await;
                fixed("application/json", JSON_VALID)
            }
            None => bad_request("not a duration such as 100ms or 2s, of at most 10 minutes"),
        },
        ("size", wanted) => match size_bytes(wanted) {
            Some(bytes) => typed("application/octet-stream", MockBody::Filler(bytes)),
            None => bad_request("not a size such as 500, 64k, 10m or 1g"),
        },
        ("status", wanted) => match status(wanted) {
            Some(code) => with_status(code, describe(request).await),
            None => bad_request("not a status from 200 to 599"),
        },
        ("echo", "body") => echo_body(request),
        _ => json_answer(&describe(request).await),
    }
}

/// What the mock received, as JSON. Reads the body to its end, but keeps only its length.
async fn describe(request: Request<Incoming>) -> Value {
    let (head, mut body) = request.into_parts();
    let mut body_bytes: u64 = 0;
    let mut complete = true;
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        match frame {
            Ok(frame) => body_bytes += frame.data_ref().map_or(0, |data| data.len() as u64),
            Err(_) => {
                complete = false;
                break;
            }
        }
    }
    json!({
        "method": head.method.as_str(),
        "path": head.uri.path(),
        "query": head.uri.query(),
        "version": format!("{:?}", head.version),
        "headers": headers_as_json(&head.headers),
        "body_bytes": body_bytes,
        "body_complete": complete,
    })
}

/// A repeated header becomes a list, in the order of arrival.
fn headers_as_json(headers: &HeaderMap) -> Value {
    let mut object = Map::new();
    for name in headers.keys() {
        let mut values: Vec<Value> =
            headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into()).collect();
        let value = if values.len() == 1 { values.remove(0) } else { Value::Array(values) };
        object.insert(name.as_str().to_owned(), value);
    }
    Value::Object(object)
}

/// Returns the request's body as it arrives, with its type.
fn echo_body(request: Request<Incoming>) -> Response<MockBody> {
    let content_type = request.headers().get(CONTENT_TYPE).cloned();
    let mut response = Response::new(MockBody::Echo(request.into_body()));
    let content_type = content_type.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

fn fixed(content_type: &'static str, body: &'static str) -> Response<MockBody> {
    typed(content_type, MockBody::Whole(Bytes::from_static(body.as_bytes())))
}

fn bad_request(reason: &str) -> Response<MockBody> {
    with_status(StatusCode::BAD_REQUEST, json!({ "error": reason }))
}

fn with_status(status: StatusCode, body: Value) -> Response<MockBody> {
    let mut response = json_answer(&body);
    *response.status_mut() = status;
    response
}

fn json_answer(body: &Value) -> Response<MockBody> {
    typed("application/json", MockBody::Whole(Bytes::from(format!("{body}\n"))))
}

fn typed(content_type: &'static str, body: MockBody) -> Response<MockBody> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// `/size/64k` is `("size", "64k")`.
fn first_segment(path: &str) -> (&str, &str) {
    let path = path.strip_prefix('/').unwrap_or(path);
    path.split_once('/').unwrap_or((path, ""))
}

/// `250us`, `100ms`, `1.5s`, `2m`; a plain number is seconds. `None` above [`DELAY_MAX`].
fn duration(text: &str) -> Option<Duration> {
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let seconds_per_unit = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" => 60.0,
        _ => return None,
    };
    let seconds = number.parse::<f64>().ok()? * seconds_per_unit;
    Duration::try_from_secs_f64(seconds).ok().filter(|wanted| *wanted <= DELAY_MAX)
}

/// `500`, `64k`, `10m`, `1g`, in powers of 1024.
fn size_bytes(text: &str) -> Option<u64> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let factor: u64 = match unit {
        "" => 1,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// A final status: an interim one (1xx) would leave the client waiting.
fn status(text: &str) -> Option<StatusCode> {
    let code: u16 = text.parse().ok()?;
    (200..=599).contains(&code).then(|| StatusCode::from_u16(code).ok())?
}

enum MockBody {
    Whole(Bytes),
    /// This many bytes are left to send.
    Filler(u64),
    Echo(Incoming),
}

impl Body for MockBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            MockBody::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            MockBody::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            MockBody::Filler(0) => Poll::Ready(None),
            MockBody::Filler(left) => {
                let piece = usize::try_from(*left).unwrap_or(FILLER_BYTES).min(FILLER_BYTES);
                *left -= piece as u64;
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&FILLER).slice(..piece)))))
            }
            MockBody::Echo(body) => Poll::Ready(ready!(Pin::new(body).poll_frame(cx))),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            MockBody::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            MockBody::Filler(left) => SizeHint::with_exact(*left),
            MockBody::Echo(body) => body.size_hint(),
        }
    }
}

#[cfg(test)]
mod tests;
