//! What an operator is shown of the whole process: the figures of all its parts as text for Prometheus, as JSON, over StatsD and as
//! OpenTelemetry's metrics.

mod component_metrics;
mod events;
mod exposition;
mod live;
mod live_sample;
mod llm_figures;
mod otlp;
mod process;
mod response_cache;
mod sampler;
mod scrape;
mod statsd;
mod streams;
mod targets;

pub use exposition::ExpositionFormat;
pub use live::{ShownApis, live, middleware_times};
pub use live_sample::{CauseHistory, LiveSample};
pub use otlp::Pusher;
pub use response_cache::{ResponseCacheFigures, response_caches};
pub use sampler::{Sampler, api_name};
pub use scrape::scrape;
pub use statsd::StatsdSink;
