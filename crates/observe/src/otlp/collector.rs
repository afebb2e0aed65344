//! Client of a collector: sends one message at a time, with time limits and retries. For a thread that may block.

use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, TE};
use http::{Method, Request, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Bytes;
use opentelemetry_proto::tonic::collector::{metrics, trace};
use prost::Message;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tollgate_model::config::CollectorSettings;
use tollgate_outbound::{HttpAnswer, HttpClient, HttpClientSettings};
use tollgate_tls::collector_config;

/// Time limit of one attempt, as in OpenTelemetry's libraries.
const ATTEMPT_TIME_MAX: Duration = Duration::from_secs(10);
/// Attempts per message. Further messages wait meanwhile; if too many wait, they are lost.
const ATTEMPTS_MAX: u32 = 4;
/// Back-off before the second attempt; doubles with each further attempt.
const PAUSE: Duration = Duration::from_millis(250);
/// Maximum back-off that a collector may ask for.
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// Maximum response size. A response only counts what was rejected.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// How long unused connections are kept: longer than the interval between two batches.
const IDLE: Duration = Duration::from_secs(90);
/// Bytes before a gRPC message: the compression flag and the length.
const GRPC_PREFIX_BYTES: usize = 5;

/// Kind of data sent, which determines the collector's endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    Traces,
    Metrics,
}

/// A collector of one signal.
pub struct Collector {
    runtime: Runtime,
    client: HttpClient,
    uri: Uri,
    headers: HeaderMap,
    over_http: bool,
    /// Deadline set when the gateway shuts down: nothing waits beyond it.
    end: watch::Receiver<Option<Instant>>,
}

/// Why an attempt failed.
struct ExportFailure {
    why: String,
    /// Whether another attempt may succeed, and the delay that the collector asks for.
    again: Option<Option<Duration>>,
}

impl Signal {
    fn grpc_path(self) -> &'static str {
        match self {
            Signal::Traces => "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
            Signal::Metrics => "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
        }
    }

    fn http_path(self) -> &'static str {
        match self {
            Signal::Traces => "/v1/traces",
            Signal::Metrics => "/v1/metrics",
        }
    }
}

impl Collector {
    /// An error describes what is wrong with the settings.
    pub fn new(settings: &CollectorSettings, signal: Signal, end: watch::Receiver<Option<Instant>>) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(2).build();
        let connect_time_max = Some(settings.connect_time_max);
        let connections = HttpClientSettings { http2: !settings.over_http, idle_max: IDLE, connect_time_max };
        let client = HttpClient::new(collector_config(&settings.tls)?, connections);
        Ok(Collector {
            runtime: runtime.map_err(|error| error.to_string())?,
            client,
            uri: address(settings, signal)?,
            headers: headers(settings)?,
            over_http: settings.over_http,
            end,
        })
    }

    /// Sends a message and returns the collector's response.
    pub fn send(&self, message: &impl Message) -> Result<Bytes, String> {
        let message = message.encode_to_vec();
        let body = if self.over_http { message } else { framed(&message) };
        self.runtime.block_on(self.attempts(body.into()))
    }

    async fn attempts(&self, body: Bytes) -> Result<Bytes, String> {
        let mut pause = PAUSE;
        for attempt in 1..=ATTEMPTS_MAX {
            let sent = tokio::select! {
                sent = timeout(ATTEMPT_TIME_MAX, self.once(body.clone())) => sent,
                () = self.ended() => return Err("the gateway ended before it was sent".to_owned()),
            };
            let failure = match sent {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(failure)) => failure,
                Err(_) => ExportFailure::passing(format!("no answer within {} s", ATTEMPT_TIME_MAX.as_secs())),
            };
            let Some(asked) = failure.again.filter(|_| attempt < ATTEMPTS_MAX) else {
                return Err(format!("{}: {}", self.uri, failure.why));
            };
            let mut end = self.end.clone();
            tokio::select! {
                () = sleep(asked.unwrap_or(pause).min(PAUSE_MAX)) => {}
                // At shutdown there is no time left for the back-off.
                Ok(_) = end.wait_for(Option::is_some) => {}
            }
            pause *= 2;
        }
        Err(self.uri.to_string())
    }

    /// Resolves at the shutdown deadline.
    async fn ended(&self) {
        let mut end = self.end.clone();
        let end = end.wait_for(Option::is_some).await.ok().and_then(|end| *end);
        match end {
            Some(end) => sleep_until(end).await,
            None => std::future::pending().await,
        }
    }

    async fn once(&self, body: Bytes) -> Result<Bytes, ExportFailure> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        *request.version_mut() = if self.over_http { http::Version::HTTP_11 } else { http::Version::HTTP_2 };
        request.headers_mut().clone_from(&self.headers);
        let answer = self.client.send(request, ANSWER_BYTES_MAX).await;
        let HttpAnswer { status, headers, body, trailers } = answer.map_err(|fault| ExportFailure::passing(fault.to_string()))?;
        if self.over_http {
            return judge_http(status, &headers).map(|()| body);
        }
        if status != StatusCode::OK {
            return Err(ExportFailure::passing(format!("status {}", status)));
        }
        judge_grpc(trailers.as_ref().unwrap_or(&headers))?;
        Ok(body.slice(GRPC_PREFIX_BYTES.min(body.len())..))
    }
}

impl ExportFailure {
    /// A temporary failure.
    fn passing(why: String) -> Self {
        ExportFailure { why, again: Some(None) }
    }
}

fn judge_http(status: StatusCode, headers: &HeaderMap) -> Result<(), ExportFailure> {
    if status.is_success() {
        return Ok(());
    }
    let after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok()).map(Duration::from_secs);
    Err(ExportFailure { why: format!("status {status}"), again: matches!(status.as_u16(), 429 | 502..=504).then_some(after) })
}

fn judge_grpc(headers: &HeaderMap) -> Result<(), ExportFailure> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default();
    let status = text("grpc-status");
    if status == "0" {
        return Ok(());
    }
    let why = match text("grpc-message") {
        "" => format!("grpc-status {status}"),
        message => format!("grpc-status {status}: {message}"),
    };
    // Cancelled, deadline exceeded, aborted, out of range, unavailable and data loss are retryable (OTLP's own list).
    let again = matches!(status, "1" | "4" | "10" | "11" | "14" | "15").then_some(None);
    Err(ExportFailure { why, again })
}

/// A message in gRPC framing.
fn framed(message: &[u8]) -> Vec<u8> {
    let mut framed = Vec::with_capacity(GRPC_PREFIX_BYTES + message.len());
    framed.push(0);
    framed.extend_from_slice(&u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes());
    framed.extend_from_slice(message);
    framed
}

/// The endpoint of a signal: from `host:port`, or from a URL whose path precedes that of the signal.
fn address(settings: &CollectorSettings, signal: Signal) -> Result<Uri, String> {
    let written = settings.endpoint.trim_end_matches('/');
    let url = match written.split_once("://") {
        Some(_) => written.to_owned(),
        None if settings.tls.enable => format!("https://{written}"),
        None => format!("http://{written}"),
    };
    let path = if settings.over_http { signal.http_path() } else { signal.grpc_path() };
    // Some configurations contain the whole URL of one signal.
    let base = [Signal::Traces, Signal::Metrics].iter().find_map(|signal| url.strip_suffix(signal.http_path())).unwrap_or(&url);
    let base = match (settings.tls.enable, base.strip_prefix("http://")) {
        (true, Some(rest)) => format!("https://{rest}"),
        _ => base.to_owned(),
    };
    let uri: Uri = format!("{base}{path}").parse().map_err(|error| format!("the endpoint {written} is no address: {error}"))?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http" | "https"), Some(host)) if !host.is_empty() => Ok(uri),
        _ => Err(format!("the endpoint {written} is no address: it must be host:port, or a URL with http or https")),
    }
}

fn headers(settings: &CollectorSettings) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in &settings.headers {
        let parsed = HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_str(value).ok());
        let (name, mut value) = parsed.ok_or_else(|| format!("{name} is no header"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let content_type = if settings.over_http { "application/x-protobuf" } else { "application/grpc" };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    if !settings.over_http {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    Ok(headers)
}

/// How many items a collector rejected, and why.
pub trait PartialSuccess: Message + Default {
    fn refused(self) -> Option<(u64, String)>;
}

impl PartialSuccess for trace::v1::ExportTraceServiceResponse {
    fn refused(self) -> Option<(u64, String)> {
        let partial = self.partial_success?;
        Some((u64::try_from(partial.rejected_spans).unwrap_or_default(), partial.error_message))
    }
}

impl PartialSuccess for metrics::v1::ExportMetricsServiceResponse {
    fn refused(self) -> Option<(u64, String)> {
        let partial = self.partial_success?;
        Some((u64::try_from(partial.rejected_data_points).unwrap_or_default(), partial.error_message))
    }
}

/// Sends a message; `Ok` holds the number of items that the collector rejected.
pub fn deliver<R: PartialSuccess>(collector: &Collector, message: &impl Message) -> Result<u64, String> {
    let answer = collector.send(message)?;
    // An unreadable response does not mean rejection: the message was accepted.
    let Some((count, why)) = R::decode(answer).ok().and_then(PartialSuccess::refused) else { return Ok(0) };
    if count > 0 || !why.is_empty() {
        tracing::warn!(collector = %collector.uri, count, why, "the collector rejected a part");
    }
    Ok(count)
}

#[cfg(test)]
mod tests;
