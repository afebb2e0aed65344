//! OpenTelemetry's protocol: spans of requests and figures, sent to a collector as protobuf over gRPC or HTTP. All of it happens in
//! threads beside the data path.

mod attribute;
mod collector;
mod figures;
mod pusher;
mod spans;

pub use pusher::Pusher;
pub use spans::SpanSink;
