//! What every part of a running gateway shares, and the snapshot that is being served.

use crate::auth::certificates::Certificates;
use crate::auth::keys::Keys;
use crate::base::tls::{AllowList, ApiTls, ClientTerms};
use crate::data::registry::Registry;
use crate::data::settings::Settings;
use crate::data::snapshot::Snapshot;
use crate::observe::Observer;
use arc_swap::ArcSwap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tollgate_engine::{Moment, Target};
use tollgate_limit::AddressRates;

/// What every part of the process shares.
pub(crate) struct GatewayState {
    pub settings: Settings,
    pub registry: Arc<Registry>,
    pub keys: Arc<Keys>,
    pub observer: Arc<Observer>,
    pub certificates: Arc<Certificates>,
    pub current: ArcSwap<Snapshot>,
    /// Grows with each new snapshot, so that a core sees with one load whether its own is the newest.
    pub generation: AtomicU64,
    pub start: Moment,
    /// The rate that each client address has, if it has one.
    pub address_rates: Option<AddressRates>,
    /// How TLS is spoken with clients, if it is.
    pub client_terms: Option<Arc<ClientTerms>>,
    /// The certificates that the control API asks for, if it does.
    pub control_callers: Option<Arc<AllowList>>,
    /// Where requests for the control plane go.
    pub control: Arc<Target>,
}

impl GatewayState {
    /// Puts a new snapshot in place.
    pub(crate) fn publish(&self, snapshot: Snapshot) {
        if let Some(terms) = &self.client_terms {
            terms.rebuild(&handshakes(&snapshot));
        }
        self.keys.set_terms(snapshot.apis.iter().map(|api| (api.id.clone(), api.key_terms)).collect());
        self.current.store(Arc::new(snapshot));
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Reads certificates again whose files have changed.
    pub(crate) fn refresh_certificates(&self) {
        if self.registry.certificates.refresh() {
            tracing::info!("certificates read again");
            if let Some(terms) = &self.client_terms {
                terms.rebuild(&handshakes(&self.current.load()));
            }
        }
    }
}

/// What the APIs of a snapshot say of handshakes.
fn handshakes(snapshot: &Snapshot) -> Vec<ApiTls<'_>> {
    let apis = snapshot.apis.iter();
    apis.map(|api| ApiTls {
        host: api.host.as_deref().unwrap_or_default(),
        certificates: &api.certificates,
        asks_for_certificate: api.asks_for_certificate,
    })
    .collect()
}
