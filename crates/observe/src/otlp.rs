//! OpenTelemetry's protocol: spans of requests and metrics, sent to a collector as protobuf over gRPC or HTTP. Runs in threads
//! outside the data path.

pub mod attribute;
pub mod collector;
mod llm_spans;
mod span_parts;
mod spans;

pub use spans::SpanSink;
