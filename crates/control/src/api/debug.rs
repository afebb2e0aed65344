//! `/tyk/debug`: sends a request that an operator writes through this gateway, and tells what each middleware decided, how long it took, and what
//! went upstream. The request counts like any other.

use super::Control;
use super::answer::{ControlAnswer, Error, error, ok};
use super::change_log::Change;
use crate::known_keys::KnownKeys;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tollgate_admin::mask::mask;
use tollgate_admin::{MASK, Operator};
use tollgate_data::control_caller::ControlCaller;
use tollgate_data::probe::{ProbeDecision, ProbeReport, ProbeRequest, ProbeStep, ProbedUpstream};
use tollgate_http::{is_token, is_value};
use tollgate_model::is_framing_header;
use tollgate_observe::tap::TailLlm;
use utoipa::ToSchema;

pub(super) mod live;

/// Requests at the same time.
const RUNNING_MAX: usize = 8;
/// Time for one of them: as long as a person waits.
const TIME_MAX: Duration = Duration::from_secs(30);
/// Time for one whose answer is seen as it comes.
const STREAM_TIME_MAX: Duration = Duration::from_secs(600);
const LOST: &str = "the request was lost: the gateway stops";
/// Longest path with its query, as long as a request head may be.
const PATH_BYTES_MAX: usize = 8 << 10;
const BODY_BYTES_MAX: usize = 1 << 20;
const HEADERS_MAX: usize = 60;
/// Bytes of a response that are read.
const RESPONSE_BYTES_MAX: usize = 8 << 20;
/// Bytes of its body that are shown, if the request does not say, and at most.
const SHOWN_BYTES: usize = 64 << 10;
const SHOWN_BYTES_MAX: usize = 1 << 20;
/// Headers that the gateway adds to requests and that have no secret.
const HARMLESS: [&str; 14] = [
    "host",
    "connection",
    "content-length",
    "content-type",
    "content-encoding",
    "transfer-encoding",
    "accept-encoding",
    "user-agent",
    "x-forwarded-for",
    "x-real-ip",
    "x-request-id",
    "traceparent",
    "tracestate",
    "max-forwards",
];

/// Requests that are on their way.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// A request to try.
#[derive(Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TriedRequest {
    /// The API that is meant; has no effect.
    #[schema(required = false, example = "quick")]
    api_id: String,
    /// `GET` by default.
    #[schema(required = false, example = "GET")]
    method: String,
    /// Path and query as a client sends them, with the listen path.
    #[schema(example = "/quick/things?page=2")]
    path: String,
    /// `Host`; by default that of the call.
    #[schema(required = false)]
    host: String,
    /// Header lines: a text, or a list of texts for several lines.
    #[schema(required = false, value_type = BTreeMap<String, String>)]
    headers: BTreeMap<String, Value>,
    #[schema(required = false)]
    body: String,
    /// Address that the request comes from; by default that of the operator.
    #[schema(required = false)]
    client_ip: String,
    /// Bytes of the response's body that are shown, up to 1 MiB; 0 for 64 KiB.
    #[schema(required = false)]
    body_bytes: usize,
    /// A key to send: its `id` of `/tyk/list/keys`. Only where keys are not stored as hashes. It is masked in the answer.
    #[schema(required = false)]
    key_id: String,
    /// The header with that key; `Authorization` by default.
    #[schema(required = false)]
    key_header: String,
}

/// What became of it.
#[derive(Serialize, ToSchema)]
#[schema(as = Tried)]
pub(super) struct TriedAnswer {
    /// Status of the response; 0 without one.
    status: u16,
    took_ms: f64,
    /// The gateway that it went through.
    node: String,
    /// The API that it reached.
    #[schema(required)]
    api_id: Option<String>,
    #[schema(required)]
    api_name: Option<String>,
    /// Whether it reached an API.
    routed: bool,
    steps: Vec<TriedStep>,
    steps_left_out: usize,
    /// `null` if nothing went upstream.
    #[schema(required)]
    upstream: Option<TriedUpstream>,
    /// What a request to a language model took, if it is recorded.
    #[schema(required)]
    llm: Option<TailLlm>,
    /// Names and values of the response's headers.
    #[schema(value_type = Vec<Vec<String>>)]
    headers: Vec<(String, String)>,
    /// Its start, as much as the request asked for.
    body: String,
    body_truncated: bool,
    /// Whether `body` is in base64, because it is no text.
    body_base64: bool,
    /// Why there is no complete response; empty if there is one.
    error: String,
    /// Whether it counted against limits.
    counted: bool,
    note: &'static str,
}

/// A middleware's part.
#[derive(Serialize, ToSchema)]
struct TriedStep {
    name: &'static str,
    api_id: String,
    #[schema(inline)]
    decision: ProbeDecision,
    us: f64,
    /// How long the request was held for it.
    held_ms: f64,
    /// Why it refused, as in metrics.
    cause: &'static str,
    message: String,
}

/// What went upstream.
#[derive(Serialize, ToSchema)]
struct TriedUpstream {
    method: String,
    path: String,
    target: String,
    #[schema(value_type = Vec<Vec<String>>)]
    headers: Vec<(String, String)>,
    /// `null` if it was not known when the head was sent.
    #[schema(required)]
    body_bytes: Option<u64>,
    /// Status of its response; 0 without one.
    status: u16,
    took_ms: f64,
    /// Why there is none, as in metrics.
    error: &'static str,
    retries: u32,
}

const NOTE: &str = "It went through this gateway only, and counted against limits, quotas and usage like any other request.";

/// Try a request
///
/// Sends a request through this gateway as if a client had sent it. The answer has each middleware's decision and time, what went upstream, and the response. It counts against limits. Secrets that the gateway adds are masked unless the query has `reveal=true`.
#[utoipa::path(
    post, path = "/tyk/debug", tag = "APIs", operation_id = "tryRequest",
    security(("secret" = ["editor", "scope:closed"])),
    params(("reveal" = Option<String>, Query, description = "`true`: show the secrets that the gateway adds to the request.")),
    request_body(content = TriedRequest, example = json!({"path": "/quick/things?page=2", "headers": {"Authorization": "a key"}})),
    responses(
        (status = 200, body = TriedAnswer, description = "What became of the request, whatever its status."),
        (status = 400, body = Error, description = "The body is no request; the message names the member."),
        (status = 429, body = Error, description = "Eight others are on their way."),
        (status = 500, body = Error, description = "The store of keys does not answer, or the gateway stops."),
    )
)]
pub(super) async fn debug(
    State(control): State<Arc<Control>>,
    operator: Option<Extension<Operator>>,
    caller: Option<Extension<ControlCaller>>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    body: Bytes,
) -> ControlAnswer {
    let running = match start(&control, (operator, caller), &query, &headers, &body, None).await {
        Ok(running) => running,
        Err(answer) => return answer,
    };
    match running.end(&control).await {
        Some(answer) => ok(answer),
        None => error(StatusCode::INTERNAL_SERVER_ERROR, LOST),
    }
}

/// A request on its way.
struct RunningTry {
    report: oneshot::Receiver<ProbeReport>,
    target: String,
    operator: Option<Operator>,
    caller: Option<ControlCaller>,
    chosen_key: Option<String>,
    shown_bytes: usize,
    reveals: bool,
    _place: DebugPlace,
}

/// Sends a request. `pieces` get the response's body as it comes.
async fn start(
    control: &Control,
    (operator, caller): (Option<Extension<Operator>>, Option<Extension<ControlCaller>>),
    query: &HashMap<String, String>,
    headers: &HeaderMap,
    body: &[u8],
    pieces: Option<UnboundedSender<Vec<u8>>>,
) -> Result<RunningTry, ControlAnswer> {
    let bad = |message: String| error(StatusCode::BAD_REQUEST, message);
    let mut tried: TriedRequest =
        serde_json::from_slice(body).map_err(|failure| bad(format!("the body is no request: {failure}")))?;
    let chosen_key = chosen_key(control, &tried.key_id).await?;
    if let Some(key) = &chosen_key {
        let name = if tried.key_header.is_empty() { "Authorization" } else { &tried.key_header };
        tried.headers.insert(name.to_owned(), json!(key));
    }
    let host = headers.get(header::HOST).map(|host| host.as_bytes()).unwrap_or_default();
    let bytes = tried.bytes(host).map_err(bad)?;
    let path = tried.path.split('?').next().unwrap_or_default().to_owned();
    if control.shared.settings.is_control_path(&path) {
        return Err(bad(format!("$.path: {path} belongs to the control API, not to an API")));
    }
    let own_ip = caller.as_ref().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |caller| caller.address);
    let client_ip = match tried.client_ip.as_str() {
        "" => own_ip,
        written => written.parse().map_err(|_| bad(format!("$.client_ip: {written:?} is no address")))?,
    };
    let place = DebugPlace::take()
        .ok_or_else(|| error(StatusCode::TOO_MANY_REQUESTS, format!("{RUNNING_MAX} requests are being tried; try again")))?;
    let method = tried.method().to_owned();
    let (answer, report) = oneshot::channel();
    let request = ProbeRequest {
        bytes,
        is_head: method == "HEAD",
        client_ip,
        body_bytes_max: RESPONSE_BYTES_MAX,
        time_max: if pieces.is_some() { STREAM_TIME_MAX } else { TIME_MAX },
        answer,
        pieces,
    };
    if !control.shared.probes.send(request) {
        return Err(error(StatusCode::TOO_MANY_REQUESTS, "too many requests are being tried; try again"));
    }
    Ok(RunningTry {
        report,
        target: format!("{method} {path}"),
        operator: operator.map(|operator| operator.0),
        caller: caller.map(|caller| caller.0),
        chosen_key,
        shown_bytes: if tried.body_bytes == 0 { SHOWN_BYTES } else { tried.body_bytes.min(SHOWN_BYTES_MAX) },
        reveals: query.get("reveal").is_some_and(|reveal| reveal == "true"),
        _place: place,
    })
}

impl RunningTry {
    /// What became of it; `None` if the gateway stops.
    async fn end(self, control: &Control) -> Option<TriedAnswer> {
        let report = self.report.await.ok()?;
        let status = report.response.as_ref().map_or(0, |response| response.status);
        let change = Change { action: "debug", kind: "request", target: self.target, status, ..Change::default() };
        control.changes.add(self.operator.as_ref(), self.caller, change);
        let mut answer = answer_of(control, report, self.shown_bytes, self.reveals);
        if let Some(key) = self.chosen_key.filter(|_| !self.reveals) {
            answer.hide(&key);
        }
        Some(answer)
    }
}

/// The key that the request names by its id.
async fn chosen_key(control: &Control, id: &str) -> Result<Option<String>, ControlAnswer> {
    if id.is_empty() {
        return Ok(None);
    }
    let keys = &control.shared.keys;
    if keys.rules.hash_keys {
        return Err(error(StatusCode::BAD_REQUEST, "$.key_id: keys are stored as hashes, so only who has one can send it"));
    }
    let by_id = HashMap::from([("by".to_owned(), "id".to_owned())]);
    match super::keys::named(keys, id, &by_id).await {
        Ok(Some((name, _))) => Ok(Some(name.shown.to_string())),
        Ok(None) => Err(error(StatusCode::BAD_REQUEST, "$.key_id: there is no such key")),
        Err(fault) => Err(error(StatusCode::INTERNAL_SERVER_ERROR, format!("the key can't be read: {fault}"))),
    }
}

/// One of the places for requests that are on their way.
struct DebugPlace;

impl DebugPlace {
    fn take() -> Option<Self> {
        let taken =
            RUNNING.fetch_update(Ordering::AcqRel, Ordering::Acquire, |running| (running < RUNNING_MAX).then_some(running + 1));
        taken.is_ok().then_some(DebugPlace)
    }
}

impl Drop for DebugPlace {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::AcqRel);
    }
}

impl TriedAnswer {
    /// Hides a key that whoever asks need not know.
    fn hide(&mut self, key: &str) {
        let sent = self.upstream.iter_mut().flat_map(|upstream| upstream.headers.iter_mut());
        let texts = self.headers.iter_mut().chain(sent).map(|(_, value)| value).chain([&mut self.body]);
        texts.filter(|text| text.contains(key)).for_each(|text| *text = text.replace(key, MASK));
    }
}

impl TriedRequest {
    fn method(&self) -> &str {
        if self.method.is_empty() { "GET" } else { &self.method }
    }

    /// The request as a client would send it.
    fn bytes(&self, own_host: &[u8]) -> Result<Vec<u8>, String> {
        let method = self.method();
        if !is_token(method.as_bytes()) || method.len() > 40 || method == "CONNECT" {
            return Err(format!("$.method: {method:?} is no method"));
        }
        if !self.path.starts_with('/') {
            return Err("$.path: must begin with /".to_owned());
        }
        if self.path.len() > PATH_BYTES_MAX {
            return Err(format!("$.path: is longer than {PATH_BYTES_MAX} bytes"));
        }
        if let Some(other) = self.path.chars().find(|c| !c.is_ascii_graphic()) {
            return Err(format!("$.path: has {other:?}, which must be percent-encoded"));
        }
        if self.body.len() > BODY_BYTES_MAX {
            return Err(format!("$.body: is longer than {BODY_BYTES_MAX} bytes"));
        }
        let host = if self.host.is_empty() { own_host } else { self.host.as_bytes() };
        if !host.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]~".contains(byte)) {
            return Err("$.host: is no host".to_owned());
        }
        let mut out = format!("{method} {} HTTP/1.1\r\nHost: ", self.path).into_bytes();
        out.extend_from_slice(if host.is_empty() { b"localhost" } else { host });
        out.extend_from_slice(b"\r\nConnection: close\r\n");
        let mut lines = 0;
        for (name, value) in &self.headers {
            let values: Vec<&str> = match value {
                Value::String(text) => vec![text],
                Value::Array(texts) => texts.iter().map(Value::as_str).collect::<Option<_>>().unwrap_or_default(),
                _ => Vec::new(),
            };
            if values.is_empty() {
                return Err(format!("$.headers.{name}: must be a text or a list of texts"));
            }
            if !is_token(name.as_bytes()) {
                return Err(format!("$.headers: {name:?} is no name of a header"));
            }
            if is_framing_header(name) || name.eq_ignore_ascii_case("host") || name.eq_ignore_ascii_case("expect") {
                return Err(format!("$.headers.{name}: is set by the gateway"));
            }
            for value in values {
                let value = value.trim();
                if !is_value(value.as_bytes()) {
                    return Err(format!("$.headers.{name}: has a character that no header may have"));
                }
                out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
                lines += 1;
            }
        }
        if lines > HEADERS_MAX {
            return Err(format!("$.headers: has more than {HEADERS_MAX} lines"));
        }
        if !self.body.is_empty() || matches!(method, "POST" | "PUT" | "PATCH") {
            out.extend_from_slice(format!("Content-Length: {}\r\n", self.body.len()).as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(self.body.as_bytes());
        Ok(out)
    }
}

fn answer_of(control: &Control, report: ProbeReport, shown_bytes: usize, reveals: bool) -> TriedAnswer {
    let ProbeReport { api, steps, steps_left_out, upstream, llm, response, failure, took } = report;
    let (api_id, api_name) = api.unzip();
    let upstream = upstream.map(|upstream| shown_upstream(control, upstream, reveals));
    let mut answer = TriedAnswer {
        status: 0,
        took_ms: ms(took),
        node: control.shared.observer.node().to_owned(),
        routed: api_id.is_some(),
        api_id,
        api_name,
        steps: steps.into_iter().map(shown_step).collect(),
        steps_left_out,
        upstream,
        llm: llm.as_deref().map(TailLlm::from),
        headers: Vec::new(),
        body: String::new(),
        body_truncated: failure.is_some(),
        body_base64: false,
        error: failure.unwrap_or_default(),
        counted: true,
        note: NOTE,
    };
    if let Some(response) = response {
        answer.status = response.status;
        let text = |(name, value): (String, Vec<u8>)| (name, String::from_utf8_lossy(&value).into_owned());
        answer.headers = response.headers.into_iter().map(text).collect();
        answer.body_truncated = response.body.len() > shown_bytes;
        let mut body = response.body;
        body.truncate(shown_bytes);
        (answer.body, answer.body_base64) = shown_body(body, answer.body_truncated);
    } else if let Some(upstream) = &answer.upstream {
        answer.status = upstream.status;
    }
    answer
}

/// A body as text, else in base64. A cut may go through a character.
fn shown_body(mut body: Vec<u8>, is_cut: bool) -> (String, bool) {
    if is_cut
        && let Err(fault) = std::str::from_utf8(&body)
        && fault.error_len().is_none()
    {
        body.truncate(fault.valid_up_to());
    }
    match String::from_utf8(body) {
        Ok(text) => (text, false),
        Err(fault) => (STANDARD.encode(fault.into_bytes()), true),
    }
}

fn shown_step(step: ProbeStep) -> TriedStep {
    TriedStep {
        name: step.middleware,
        api_id: step.api,
        decision: step.decision,
        us: step.ns as f64 / 1e3,
        held_ms: ms(step.held),
        cause: step.cause,
        message: step.message,
    }
}

fn shown_upstream(control: &Control, upstream: ProbedUpstream, reveals: bool) -> TriedUpstream {
    let ProbedUpstream { method, path, target, headers, body_bytes, status, took, error, retries } = upstream;
    let masked = |text: String| match reveals {
        true => text,
        false => {
            let mut value = json!(text);
            mask(&mut value, &KnownKeys(&control.shared.keys));
            value.as_str().unwrap_or_default().to_owned()
        }
    };
    // What the operator has sent is no secret to them; what the gateway adds may be one.
    let headers = headers.into_iter().map(|(name, value, is_own)| {
        let is_shown = is_own || reveals || HARMLESS.iter().any(|harmless| name.eq_ignore_ascii_case(harmless));
        (name, if is_shown { value } else { MASK.to_owned() })
    });
    TriedUpstream {
        method,
        path: masked(path),
        target: masked(target),
        headers: headers.collect(),
        body_bytes,
        status,
        took_ms: ms(took),
        error,
        retries,
    }
}

fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests;
