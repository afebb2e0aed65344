//! Sends a request of a proof to both gateways, one after the other.

use super::super::TlsOf;
use super::super::connection::GatewayAddress;
use super::ProofRequest;
use super::echo::{EchoUpstream, EchoedRequest, REQUEST_HEADER};
use flate2::read::GzDecoder;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use std::io::Read;
use std::time::Duration;
use tollgate_outbound::{HttpClient, HttpClientSettings};

/// Time for an answer.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of a body that are compared; what is longer differs only if its beginning does.
const BODY_BYTES_MAX: usize = 1 << 20;
/// Who sends.
const AGENT: &str = "tollgate-import";

/// What became of a request at one gateway.
#[derive(Clone, Debug)]
pub(super) struct GatewayAnswer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// What an upstream got; `None` if none did, or if upstreams are not seen.
    pub upstream: Option<EchoedRequest>,
}

/// What became of it at both.
pub(super) struct BothAnswers {
    pub old: Result<GatewayAnswer, String>,
    pub new: Result<GatewayAnswer, String>,
}

pub(super) struct ProofSender<'e> {
    old: ProofTarget,
    new: ProofTarget,
    echo: Option<&'e EchoUpstream>,
    runtime: tokio::runtime::Runtime,
}

/// A gateway with its client.
struct ProofTarget {
    address: GatewayAddress,
    client: HttpClient,
}

impl<'e> ProofSender<'e> {
    pub(super) fn new(
        old: GatewayAddress,
        new: GatewayAddress,
        tls: TlsOf,
        echo: Option<&'e EchoUpstream>,
    ) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
        // Each request has a connection of its own: one that is closed meanwhile would look like a difference.
        let settings = HttpClientSettings { http2: false, idle_max: Duration::ZERO, connect_time_max: Some(ANSWER_TIME_MAX) };
        let target = |address: GatewayAddress| -> Result<ProofTarget, String> {
            // The certificate is for the name that clients use, not for this address.
            Ok(ProofTarget { address, client: HttpClient::new(tls(true)?, settings) })
        };
        Ok(ProofSender { old: target(old)?, new: target(new)?, echo, runtime })
    }

    /// # Errors
    /// A request that cannot be sent at all.
    pub(super) fn send(&mut self, index: usize, request: &ProofRequest) -> Result<BothAnswers, String> {
        let number = (index + 1).to_string();
        Ok(BothAnswers { old: self.ask(&self.old, &number, request)?, new: self.ask(&self.new, &number, request)? })
    }

    fn ask(&self, target: &ProofTarget, number: &str, request: &ProofRequest) -> Result<Result<GatewayAnswer, String>, String> {
        let made = message(target, number, request)
            .map_err(|why| format!("{} {}{} cannot be sent: {why}", request.method, request.host, request.path))?;
        if let Some(echo) = self.echo {
            echo.forget();
        }
        let exchange = async { tokio::time::timeout(ANSWER_TIME_MAX, exchange(&target.client, made)).await };
        let answered = self.runtime.block_on(exchange);
        let answered = answered.unwrap_or_else(|_| Err(format!("no answer within {} s", ANSWER_TIME_MAX.as_secs())));
        Ok(answered.map(|answer| GatewayAnswer { upstream: self.echo.and_then(|echo| echo.request(number)), ..answer }))
    }
}

fn message(target: &ProofTarget, number: &str, request: &ProofRequest) -> Result<Request<Full<Bytes>>, String> {
    let uri: http::Uri = format!("{}{}", target.address, request.path).parse().map_err(|error| format!("{error}"))?;
    let mut made = Request::builder().method(request.method.as_str()).uri(uri);
    if let Some(headers) = made.headers_mut() {
        let host = if request.host.is_empty() { "localhost" } else { &request.host };
        let named = [("host", host), ("user-agent", AGENT), ("accept", "*/*"), (REQUEST_HEADER, number)];
        for (name, value) in named {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).map_err(|error| error.to_string())?);
        }
        for (name, value) in &request.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?;
            // The client frames its messages itself.
            if name == http::header::CONTENT_LENGTH || name == http::header::TRANSFER_ENCODING || name == http::header::CONNECTION {
                continue;
            }
            headers.insert(name, HeaderValue::from_str(value).map_err(|error| error.to_string())?);
        }
    }
    made.body(Full::new(Bytes::new())).map_err(|error| error.to_string())
}

async fn exchange(client: &HttpClient, request: Request<Full<Bytes>>) -> Result<GatewayAnswer, String> {
    let response = client.open(request).await.map_err(|fault| fault.to_string())?;
    let (head, mut incoming) = response.into_parts();
    let mut body = Vec::new();
    while body.len() < BODY_BYTES_MAX {
        let Some(frame) = incoming.frame().await else { break };
        if let Ok(data) = frame.map_err(|error| error.to_string())?.into_data() {
            body.extend_from_slice(&data);
        }
    }
    body.truncate(BODY_BYTES_MAX);
    // Two gateways compress the same body to other bytes.
    if head.headers.get(http::header::CONTENT_ENCODING).is_some_and(|encoding| encoding == "gzip") {
        body = decompressed(&body);
    }
    Ok(GatewayAnswer { status: head.status.as_u16(), headers: head.headers, body, upstream: None })
}

/// The bytes of a body in gzip, as far as they can be read.
fn decompressed(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let most = u64::try_from(BODY_BYTES_MAX).unwrap_or(u64::MAX);
    let read = GzDecoder::new(body).take(most).read_to_end(&mut bytes);
    match read {
        Ok(_) => bytes,
        Err(error) => format!("{} bytes, and then gzip is broken: {error}", bytes.len()).into_bytes(),
    }
}
