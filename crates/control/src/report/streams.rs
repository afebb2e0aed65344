//! Connections of APIs whose bytes nothing inspects.

use super::exposition::{Exposition, MetricKind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tollgate_data::gateway_state::GatewayState;
use tollgate_data::stream_rules::StreamMeter;

/// The series of all such APIs.
pub(super) fn streams(text: &mut Exposition, shared: &GatewayState) {
    let snapshot = shared.current.load();
    let meters: Vec<(&str, &Arc<StreamMeter>)> =
        snapshot.apis.iter().filter_map(|api| Some((api.id.as_str(), &api.stream.as_ref()?.meter))).collect();
    text.family("tollgate_stream_connections", MetricKind::Counter, "Connections of APIs with the protocol tcp or tls.");
    for (api, meter) in &meters {
        for (result, count) in [("connected", &meter.connected), ("failed", &meter.failed), ("rejected", &meter.rejected)] {
            text.sample(&[("api", api), ("result", result)], count.load(Relaxed) as f64);
        }
    }
    text.family("tollgate_stream_connections_open", MetricKind::Gauge, "The same that are open now.");
    for (api, meter) in &meters {
        text.sample(&[("api", api)], meter.open.load(Relaxed) as f64);
    }
    text.family("tollgate_stream_bytes", MetricKind::Counter, "Bytes of these connections, from clients and to them.");
    for (api, meter) in &meters {
        for (direction, bytes) in [("received", &meter.received_bytes), ("sent", &meter.sent_bytes)] {
            text.sample(&[("api", api), ("direction", direction)], bytes.load(Relaxed) as f64);
        }
    }
}
