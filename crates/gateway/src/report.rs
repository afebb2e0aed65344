//! What an operator is shown of the whole process: the figures of all its parts as text for Prometheus, as JSON, over StatsD and as
//! OpenTelemetry's metrics.

mod exposition;
mod live;
mod otlp;
mod process;
mod scrape;
mod states;
mod statsd;

pub use exposition::ExpositionFormat;
pub use live::live;
pub use otlp::Pusher;
pub use scrape::scrape;
pub use statsd::StatsdSink;
