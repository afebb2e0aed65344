//! What an operator is shown of the whole process: the figures of all its parts as text for Prometheus, as JSON, over StatsD and as
//! OpenTelemetry's metrics.

mod component_metrics;
mod events;
mod exposition;
mod live;
mod live_sample;
mod otlp;
mod process;
mod response_cache;
mod sampler;
mod scrape;
mod statsd;
mod streams;
mod targets;

pub(crate) use exposition::ExpositionFormat;
pub(crate) use live::{ShownApis, live, middleware_times};
pub(crate) use live_sample::{CauseHistory, LiveSample};
pub(crate) use otlp::Pusher;
pub(crate) use response_cache::{ResponseCacheFigures, response_caches};
pub(crate) use sampler::{Sampler, api_name};
pub(crate) use scrape::scrape;
pub(crate) use statsd::StatsdSink;
