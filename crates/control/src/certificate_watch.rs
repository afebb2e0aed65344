//! Looks for certificates that end, as in Tyk, which looks when a certificate is used: client certificates that APIs accept, certificates for
//! their upstreams, and server certificates. What it finds are events of the APIs that use the certificate, or of the gateway.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tollgate_clock::{unix_ns, unix_s};
use tollgate_data::client_tls::server_certificates;
use tollgate_data::events::{ApiEvents, CertificateRole};
use tollgate_data::gateway_state::GatewayState;
use tollgate_model::config::{CertificateMonitor, GatewayConfig};
use tollgate_model::events::EventKind;
use tollgate_observe::events::{EventFacts, GatewayEvent};
use tollgate_tls::{CertificateSlot, Facts};

const HOUR_S: i64 = 3600;

/// What has been told of certificates, and when.
pub struct CertificateWatch {
    rules: CertificateMonitor,
    /// The gateway's own certificates.
    own: Vec<Arc<CertificateSlot>>,
    told: HashMap<ToldCertificate, Instant>,
    looked: Option<(u64, Instant)>,
}

#[derive(PartialEq, Eq, Hash)]
struct ToldCertificate {
    api: String,
    role: CertificateRole,
    fingerprint: String,
    has_ended: bool,
}

impl CertificateWatch {
    pub fn new(config: &GatewayConfig, shared: &GatewayState) -> Self {
        let own = server_certificates(config, &shared.registry.certificates);
        CertificateWatch {
            rules: config.security.certificate_expiry_monitor.clone(),
            own: own.into_iter().map(|(_, slot)| slot).collect(),
            told: HashMap::new(),
            looked: None,
        }
    }

    /// Looks at all certificates if it is time, or if there are other definitions.
    pub fn look(&mut self, shared: &GatewayState) {
        let generation = shared.generation.load(Ordering::Acquire);
        let interval = Duration::from_secs(self.rules.look_s());
        if self.looked.is_some_and(|(seen, at)| seen == generation && at.elapsed() < interval) {
            return;
        }
        self.looked = Some((generation, Instant::now()));
        let again = Duration::from_secs(self.rules.again_s());
        self.told.retain(|_, at| at.elapsed() < again);
        for events in shared.current.load().apis.iter().filter_map(|api| api.events.as_ref()) {
            for (role, name) in &events.certificates {
                if let Some(certificate) = shared.registry.certificates.named(name).get() {
                    self.of_api(events, *role, &certificate.facts);
                }
            }
        }
        if let Some(sinks) = &shared.settings.watch.gateway_events {
            let issued = shared.client_terms.as_ref().map(|terms| terms.issued()).unwrap_or_default();
            for certificate in self.own.clone().iter().chain(issued.iter()).filter_map(|slot| slot.get()) {
                if let Some((kind, message, facts)) = self.ends("", CertificateRole::Server, &certificate.facts) {
                    let request = String::new();
                    sinks.tell(GatewayEvent { kind, message: message.into(), unix_ns: unix_ns(), request, facts });
                }
            }
        }
    }

    fn of_api(&mut self, events: &ApiEvents, role: CertificateRole, facts: &Facts) {
        if let Some((kind, message, facts)) = self.ends(&events.api, role, facts) {
            events.tell(kind, message, facts, String::new);
        }
    }

    /// The event of a certificate that ends, unless it was told lately.
    fn ends(&mut self, api: &str, role: CertificateRole, facts: &Facts) -> Option<(EventKind, String, EventFacts)> {
        let left_s = facts.not_after_unix_s.saturating_sub(i64::try_from(unix_s()).unwrap_or(i64::MAX));
        if left_s > self.rules.warning_s() {
            return None;
        }
        let has_ended = left_s <= 0;
        let key = ToldCertificate { api: api.to_owned(), role, fingerprint: facts.fingerprint.clone(), has_ended };
        if self.told.contains_key(&key) {
            return None;
        }
        self.told.insert(key, Instant::now());
        let kind = if has_ended { EventKind::CertificateExpired } else { EventKind::CertificateExpiringSoon };
        let told = EventFacts::Certificate {
            id: facts.fingerprint.clone(),
            name: facts.common_name.clone(),
            ends_unix_s: facts.not_after_unix_s,
            days: left_s.abs() / HOUR_S / 24,
            api: api.to_owned(),
            role: role.name(),
            has_ended,
        };
        Some((kind, message(&facts.common_name, left_s), told))
    }
}

/// What is told, in Tyk's words.
fn message(name: &str, left_s: i64) -> String {
    let hours = left_s.abs() / HOUR_S;
    let time = match (hours / 24, hours % 24) {
        (0, hours) => format!("{hours} hours"),
        (days, 0) => format!("{days} days"),
        (days, hours) => format!("{days} days and {hours} hours"),
    };
    let verb = if left_s > 0 { "expiring in" } else { "expired since" };
    format!("Certificate {name} is {verb} {time}")
}

#[cfg(test)]
mod tests;
