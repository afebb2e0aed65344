//! State that all parts of a running gateway share, including the snapshot in effect.

use crate::client_tls::{AllowList, ApiTls, ClientTerms, IssueState};
use crate::host_events::HostEvents;
use crate::probe::{ProbeQueue, probe_queue};
use crate::registry::Registry;
use crate::settings::Settings;
use crate::snapshot::Snapshot;
use arc_swap::ArcSwap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tollgate_access::certificates::Certificates;
use tollgate_access::keys::Keys;
use tollgate_clock::MonoTime;
use tollgate_cluster::Cluster;
use tollgate_engine::Target;
use tollgate_limit::AddressRates;
use tollgate_observe::{Observer, UptimeRecords};

/// State that all parts of the process share.
pub struct GatewayState {
    pub settings: Settings,
    pub registry: Arc<Registry>,
    pub keys: Arc<Keys>,
    pub observer: Arc<Observer>,
    pub certificates: Arc<Certificates>,
    pub current: ArcSwap<Snapshot>,
    /// Grows with each new snapshot, so that a core needs one load to see whether its own is the newest.
    pub generation: AtomicU64,
    pub start: MonoTime,
    /// Rate limit per client address, if there is one.
    pub address_rates: Option<AddressRates>,
    /// The gateways on one Redis, if there is one.
    pub cluster: Option<Arc<Cluster>>,
    /// TLS configuration towards clients of the ports that speak TLS.
    pub client_terms: Option<Arc<ClientTerms>>,
    /// Client certificates that the control API requires, if it requires any.
    pub control_callers: Option<Arc<AllowList>>,
    /// Receivers of what checks find out about targets.
    pub host_events: HostEvents,
    /// Takes requests that an operator tries to the cores.
    pub probes: ProbeQueue,
    /// Writes records of uptime tests, if they are written.
    pub uptime_records: Option<UptimeRecords>,
    /// Target of requests for the control plane.
    pub control: Arc<Target>,
}

impl GatewayState {
    /// State of its own for a configuration that is only rehearsed: requests are decided there as here, and leave no trace. No event is told, and
    /// no header that differs from request to request is added.
    pub fn rehearsal(&self, keys: Keys) -> Self {
        GatewayState {
            settings: self.settings.rehearsal(),
            registry: Arc::new(self.registry.rehearsal()),
            keys: Arc::new(keys),
            observer: Arc::new(Observer::new(false, 0, None, false, self.observer.watch.hash_keys, self.observer.log.clone())),
            certificates: self.certificates.clone(),
            current: Default::default(),
            generation: AtomicU64::new(0),
            start: MonoTime::now(),
            address_rates: None,
            cluster: None,
            client_terms: None,
            control_callers: None,
            host_events: Default::default(),
            probes: probe_queue(0),
            uptime_records: None,
            control: self.control.clone(),
        }
    }

    /// Puts a new snapshot into effect.
    pub fn publish(&self, snapshot: Snapshot) {
        if let Some(terms) = &self.client_terms {
            terms.rebuild(&handshakes(&snapshot));
        }
        self.keys.set_terms(snapshot.apis.iter().map(|api| (api.id.clone(), api.key_terms)).collect());
        self.current.store(Arc::new(snapshot));
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Reloads certificates whose files have changed.
    pub fn refresh_certificates(&self) {
        if self.registry.certificates.refresh() {
            tracing::info!("certificates read again");
            self.rebuild_handshakes();
        }
    }

    /// Puts the certificates with these ids into service beside those of the configuration and of APIs, in place of those of the last call.
    pub fn serve_issued(&self, ids: &[String], states: Vec<IssueState>) {
        if let Some(terms) = &self.client_terms {
            terms.replace_issued(ids.iter().map(|id| self.registry.certificates.named(id)).collect(), states);
        }
        self.rebuild_handshakes();
    }

    fn rebuild_handshakes(&self) {
        if let Some(terms) = &self.client_terms {
            terms.rebuild(&handshakes(&self.current.load()));
        }
    }
}

/// TLS settings of a snapshot's APIs.
fn handshakes(snapshot: &Snapshot) -> Vec<ApiTls<'_>> {
    let apis = snapshot.apis.iter();
    apis.map(|api| ApiTls {
        host: api.host.as_deref().unwrap_or_default(),
        certificates: &api.certificates,
        asks_for_certificate: api.asks_for_certificate,
        speaks_tls: api.port.terms.protocol.is_secure(),
    })
    .collect()
}
