//! OpenTelemetry's protocol: spans of requests and metrics, sent to a collector as protobuf over gRPC or HTTP. Runs in threads
//! outside the data path.

pub(crate) mod attribute;
pub(crate) mod collector;
mod spans;

pub(crate) use spans::SpanSink;
