//! What an API whose bytes nothing inspects decides about connections: who may connect, and what is counted.

use crate::client_tls::{AllowList, CallerTls};
use crate::ip_networks::IpNetworks;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tollgate_engine::ClientInfo;

/// The rules of one API.
pub struct StreamRules {
    pub allowed: Option<IpNetworks>,
    pub blocked: Option<IpNetworks>,
    /// Client certificates that may connect, if one is required.
    pub certificates: Option<AllowList>,
    pub meter: Arc<StreamMeter>,
}

/// Counters of an API's connections; they survive reloads.
#[derive(Default)]
pub struct StreamMeter {
    /// Connections that reached an upstream.
    pub connected: AtomicU64,
    /// Connections for which no upstream could be reached.
    pub failed: AtomicU64,
    /// Connections that the rules rejected.
    pub rejected: AtomicU64,
    /// Connections that are open now.
    pub open: AtomicU64,
    /// Bytes from clients, and to them.
    pub received_bytes: AtomicU64,
    pub sent_bytes: AtomicU64,
}

impl StreamRules {
    /// Why a client may not connect; `None` if it may.
    pub fn rejects(&self, client: &ClientInfo) -> Option<&'static str> {
        let address = client.address.ip();
        let is_allowed = self.allowed.as_ref().is_none_or(|list| list.contains(address));
        if !is_allowed || self.blocked.as_ref().is_some_and(|list| list.contains(address)) {
            self.meter.rejected.fetch_add(1, Relaxed);
            return Some("its address is not allowed");
        }
        let list = self.certificates.as_ref()?;
        let caller = client.tls.as_deref().map(CallerTls::new);
        list.check(caller.as_ref(), tollgate_clock::unix_s()).err()?;
        self.meter.rejected.fetch_add(1, Relaxed);
        Some("its certificate is not allowed")
    }
}
