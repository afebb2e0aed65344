//! Pushes metrics to a collector at an interval, and once more at shutdown.

mod figures;
mod gen_ai;
mod tyk_names;

use super::scrape::write_all;
use figures::OtlpFigures;
use opentelemetry_proto::tonic::collector::metrics::v1::{ExportMetricsServiceRequest, ExportMetricsServiceResponse};
use opentelemetry_proto::tonic::metrics::v1::{ResourceMetrics, ScopeMetrics};
use opentelemetry_proto::tonic::resource::v1::Resource;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, SystemTime};
use tokio::sync::watch;
use tokio::time::Instant;
use tollgate_data::gateway_state::GatewayState;
use tollgate_model::config::CollectorSettings;
use tollgate_observe::otlp::attribute::{resource, scope};
use tollgate_observe::otlp::collector::{Collector, Signal, deliver};
use tollgate_observe::sink::SinkFigures;

/// Time limit of the last push.
const END_TIME_MAX: Duration = Duration::from_secs(3);

/// A running pusher.
pub struct Pusher {
    stop: std::sync::mpsc::Sender<()>,
    stopped: Receiver<()>,
    end: watch::Sender<Option<Instant>>,
}

impl Pusher {
    /// An error describes what is wrong with the settings.
    pub fn start(
        shared: Arc<GatewayState>,
        settings: &CollectorSettings,
        interval: Duration,
        figures: Arc<SinkFigures>,
    ) -> Result<Self, String> {
        let (end, ended) = watch::channel(None);
        let collector = Collector::new(settings, Signal::Metrics, ended);
        let collector = collector.map_err(|error| format!("opentelemetry.metrics: {error}"))?;
        let resource = resource(&settings.resource_name);
        let (stop, stopping) = channel::<()>();
        let (done, stopped) = channel();
        let run = move || {
            loop {
                let is_last = stopping.recv_timeout(interval) != Err(RecvTimeoutError::Timeout);
                push(&shared, &collector, &resource, &figures);
                if is_last {
                    break;
                }
            }
            let _ = done.send(());
        };
        std::thread::Builder::new().name("otlp_metrics".to_owned()).spawn(run).map_err(|error| error.to_string())?;
        Ok(Pusher { stop, stopped, end })
    }

    /// Pushes the last counts and ends.
    pub fn stop(self) {
        self.end.send_replace(Some(Instant::now() + END_TIME_MAX));
        let _ = self.stop.send(());
        if self.stopped.recv_timeout(END_TIME_MAX + Duration::from_secs(1)).is_err() {
            tracing::error!("the last metrics could not be pushed");
        }
    }
}

fn push(shared: &GatewayState, collector: &Collector, resource: &Resource, figures: &SinkFigures) {
    let mut all = OtlpFigures::new(nanoseconds(shared.observer.started), nanoseconds(SystemTime::now()));
    write_all(&mut all, shared);
    tyk_names::write(&mut all, shared);
    gen_ai::write(&mut all, shared);
    let (metrics, points) = all.finish();
    let scope_metrics = vec![ScopeMetrics { scope: Some(scope()), metrics, ..ScopeMetrics::default() }];
    let of_resource = ResourceMetrics { resource: Some(resource.clone()), scope_metrics, ..ResourceMetrics::default() };
    let request = ExportMetricsServiceRequest { resource_metrics: vec![of_resource] };
    match deliver::<ExportMetricsServiceResponse>(collector, &request) {
        Ok(refused) => {
            figures.written.fetch_add(points.saturating_sub(refused), Ordering::Relaxed);
            figures.failed.fetch_add(refused, Ordering::Relaxed);
        }
        Err(error) => {
            tracing::warn!(%error, "metrics could not be pushed");
            figures.failed.fetch_add(points, Ordering::Relaxed);
        }
    }
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
