//! Monitors of quotas, as in Tyk: a webhook of the gateway's configuration is told when a key or an organisation has used its quota to a share.
//! Reads the configuration's `monitor` and the sessions' `monitor.trigger_limits`.

use std::sync::Arc;
use tollgate_access::keys::{Key, RequestLimits};
use tollgate_clock::unix_ns;
use tollgate_model::Problem;
use tollgate_model::config::GatewayConfig;
use tollgate_model::events::EventKind;
use tollgate_observe::events::{EventDesk, EventFacts, EventSinks, GatewayEvent};

/// The monitor of a gateway.
#[derive(Debug)]
pub struct QuotaMonitor {
    sinks: Arc<EventSinks>,
    /// Use in percent that is told for all; 0 for none.
    global_limit: f64,
    pub watches_keys: bool,
    pub watches_orgs: bool,
}

impl QuotaMonitor {
    /// The monitor of a configuration, `None` if it is off, with the problems of its webhook.
    pub fn new(config: &GatewayConfig, desk: &EventDesk) -> (Option<Arc<Self>>, Vec<Problem>) {
        let written = &config.monitor;
        if !written.enable_trigger_monitors {
            return (None, Vec::new());
        }
        let (sinks, problems) = desk.monitor(&written.configuration);
        let monitor = sinks.map(|sinks| QuotaMonitor {
            sinks,
            global_limit: written.global_trigger_limit,
            watches_keys: written.monitor_user_keys,
            watches_orgs: written.monitor_org_keys,
        });
        (monitor.map(Arc::new), problems)
    }

    /// Looks at a quota that has counted a request. `shown` makes the name of the key, for a use that is told.
    #[inline]
    pub fn look(&self, key: &Key, org: &str, limits: &RequestLimits<'_>, unix_s: u64, shown: impl FnOnce() -> String) {
        let Some((max, view)) = limits.quota(unix_s) else { return };
        let used_percent = max.saturating_sub(view.remaining) as f64 / max as f64 * 100.0;
        if let Some(limit) = self.reached(used_percent, &key.trigger_limits) {
            self.tell(org, limit, used_percent, shown());
        }
    }

    /// The limit that a use has reached: the gateway's, else the first of the session's, as in Tyk.
    fn reached(&self, used_percent: f64, own: &[f64]) -> Option<f64> {
        let global = Some(self.global_limit).filter(|limit| *limit > 0.0 && used_percent >= *limit);
        global.or_else(|| own.iter().copied().find(|limit| used_percent >= *limit && *limit != self.global_limit))
    }

    #[cold]
    fn tell(&self, org: &str, limit: f64, used_percent: f64, shown: String) {
        let facts = EventFacts::Trigger { org: org.to_owned(), key: shown, limit: limit as i64, usage: used_percent as i64 };
        let message = "Quota trigger reached".into();
        self.sinks.tell(GatewayEvent {
            kind: EventKind::TriggerExceeded,
            message,
            unix_ns: unix_ns(),
            request: String::new(),
            facts,
        });
    }
}
