//! OpenTelemetry's protocol: spans of requests and figures, sent to a collector as protobuf over gRPC or HTTP. All of it happens in
//! threads beside the data path.

pub(crate) mod attribute;
pub(crate) mod collector;
mod spans;

pub(crate) use spans::SpanSink;
