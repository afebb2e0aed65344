//! A collector of OpenTelemetry's protocol that keeps what it gets: over HTTP or gRPC, decoded with the protocol's own messages.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::{HeaderMap, HeaderValue, Request, Response};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::{Map, json};

use super::http2::{Http2Upstream, collect};
use super::{Upstream, eventually, reply};

/// A running collector.
pub(crate) struct Collector {
    state: Arc<Mutex<Received>>,
    pub exporter: &'static str,
    pub address: SocketAddr,
    /// Keeps it running.
    _server: Server,
}

#[allow(dead_code)] // held, not read
enum Server {
    Http(Upstream),
    Grpc(Http2Upstream),
}

/// What it got.
#[derive(Default, Clone)]
pub(crate) struct Received {
    pub spans: Vec<Span>,
    pub metrics: Vec<Metric>,
    /// Of the resource of the last message.
    pub resource: BTreeMap<String, String>,
    /// Name and value of the headers of the last message.
    pub headers: Vec<(String, String)>,
    /// The messages as they came.
    pub bytes: Vec<u8>,
    /// Messages that were answered with a failure that may pass.
    pub turned_away: usize,
    /// Messages to turn away.
    to_turn_away: usize,
}

impl Collector {
    pub(crate) fn http() -> Collector {
        let state = Arc::<Mutex<Received>>::default();
        let own = state.clone();
        let server = Upstream::start(move |seen| {
            let headers = ["content-type", "x-api-key"].map(|name| (name.to_owned(), seen.header(name).unwrap_or("").to_owned()));
            let taken = own.lock().unwrap().take(&seen.target, &seen.body, headers.to_vec());
            if taken { reply("200 OK", &["Content-Type: application/x-protobuf"], "") } else { reply("503 Busy", &[], "") }
        });
        Collector { state, exporter: "http", address: server.address, _server: Server::Http(server) }
    }

    pub(crate) fn grpc(tls: Option<rustls::ServerConfig>) -> Collector {
        let state = Arc::<Mutex<Received>>::default();
        let own = state.clone();
        let server = Http2Upstream::start(tls, move |request, respond| answer(own.clone(), request, respond));
        Collector { state, exporter: "grpc", address: server.address, _server: Server::Grpc(server) }
    }

    /// Answers this many messages with a failure that may pass.
    pub(crate) fn turn_away(&self, messages: usize) {
        self.state.lock().unwrap().to_turn_away = messages;
    }

    pub(crate) fn received(&self) -> Received {
        self.state.lock().unwrap().clone()
    }

    /// The spans, once there are that many.
    #[track_caller]
    pub(crate) fn spans(&self, count: usize) -> Vec<Span> {
        eventually("all spans are there", || self.received().spans.len() >= count);
        let mut spans = self.received().spans;
        assert_eq!(spans.len(), count, "{spans:#?}");
        spans.sort_by_key(|span| (span.start_time_unix_nano, span.parent_span_id.len()));
        spans
    }
}

async fn answer(state: Arc<Mutex<Received>>, request: Request<RecvStream>, mut respond: SendResponse<Bytes>) {
    let path = request.uri().path().to_owned();
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let headers = ["content-type", "te", "x-api-key"].map(|name| (name.to_owned(), header(name))).to_vec();
    let Ok(body) = collect(&mut request.into_body()).await else { return };
    assert_eq!(body[0], 0, "it is not compressed");
    assert_eq!(u32::from_be_bytes([body[1], body[2], body[3], body[4]]) as usize, body.len() - 5);
    let taken = state.lock().unwrap().take(&path, &body[5..], headers);
    let head = Response::builder().header("content-type", "application/grpc");
    if !taken {
        let head = head.header("grpc-status", "14").header("grpc-message", "busy");
        let _ = respond.send_response(head.body(()).unwrap(), true);
        return;
    }
    let Ok(mut stream) = respond.send_response(head.body(()).unwrap(), false) else { return };
    let _ = stream.send_data(Bytes::from_static(&[0, 0, 0, 0, 0]), false);
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    let _ = stream.send_trailers(trailers);
}

impl Received {
    /// Keeps a message, or turns it away.
    fn take(&mut self, path: &str, body: &[u8], headers: Vec<(String, String)>) -> bool {
        if self.to_turn_away > 0 {
            self.to_turn_away -= 1;
            self.turned_away += 1;
            return false;
        }
        self.headers = headers;
        self.bytes.extend_from_slice(body);
        match path {
            "/v1/traces" | "/opentelemetry.proto.collector.trace.v1.TraceService/Export" => {
                for of_resource in ExportTraceServiceRequest::decode(body).expect("spans").resource_spans {
                    self.resource = attributes(&of_resource.resource.expect("a resource").attributes);
                    self.spans.extend(of_resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
                }
            }
            "/v1/metrics" | "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export" => {
                for of_resource in ExportMetricsServiceRequest::decode(body).expect("metrics").resource_metrics {
                    self.resource = attributes(&of_resource.resource.expect("a resource").attributes);
                    // Each push has all of them.
                    self.metrics = of_resource.scope_metrics.into_iter().flat_map(|scope| scope.metrics).collect();
                }
            }
            other => panic!("the gateway sent something to {other}"),
        }
        true
    }
}

/// Attributes as text.
pub(crate) fn attributes(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let shown = |attribute: &KeyValue| match attribute.value.clone().and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::DoubleValue(number)) => number.to_string(),
        Some(Value::BoolValue(is)) => is.to_string(),
        Some(Value::ArrayValue(values)) => format!("{:?}", values.values),
        other => panic!("{}: {other:?}", attribute.key),
    };
    attributes.iter().map(|attribute| (attribute.key.clone(), shown(attribute))).collect()
}

/// `opentelemetry` for a collector, with a second at most before spans are sent.
pub(crate) fn to(collector: &Collector, more: serde_json::Value) -> serde_json::Value {
    let mut settings = Map::new();
    settings.insert("enabled".to_owned(), json!(true));
    settings.insert("exporter".to_owned(), json!(collector.exporter));
    settings.insert("endpoint".to_owned(), json!(collector.address.to_string()));
    settings.insert("span_batch_config".to_owned(), json!({"batch_timeout": 1}));
    let mut conf = json!({"opentelemetry": settings});
    super::definition::merge(&mut conf, &json!({"opentelemetry": more}));
    conf
}
