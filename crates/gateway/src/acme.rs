//! Certificates that the gateway gets by itself: joins what orders them with what serves them.

use crate::parts::GatewayParts;
use rustls::ServerConfig;
use serde_json::json;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use tollgate_acme::{Acme, AcmeDocuments, CertificatePlan, CertificateSink, HostDesk, PlannedCertificate, Staples};
use tollgate_control::definitions::ExternalDocuments;
use tollgate_data::client_tls::{HostCertificates, HostWait, IssueState};
use tollgate_data::gateway_state::GatewayState;
use tollgate_model::config::GatewayConfig;
use tollgate_model::routing::RouteListener;
use tollgate_outbound::ExternalServices;
use tollgate_tls::ServiceKind;

/// The name of its documents in the store of definitions, and of its listener.
const SOURCE: &str = "acme";

/// Starts it, if the configuration wants certificates. Definitions must be loaded.
///
/// # Errors
/// Its thread can't be started.
pub(crate) fn start(config: &GatewayConfig, parts: &GatewayParts) -> Result<(), Box<dyn Error>> {
    let settings = &config.tollgate.acme;
    if !settings.is_on() {
        return Ok(());
    }
    if settings.http_port != 0 {
        parts.definitions.set_external(SOURCE, redirect(config));
    }
    let shared = parts.shared.clone();
    let desk = Arc::new(HostDesk::new(settings.clone()));
    if let Some(terms) = shared.client_terms.as_ref().filter(|_| !settings.on_demand.names.is_empty()) {
        terms.ask_for_hosts(Arc::new(AskedHosts(desk.clone())));
    }
    let acme = Acme {
        settings: settings.clone(),
        documents: AcmeDocuments(shared.keys.kept_store()),
        certificates: shared.certificates.clone(),
        node: shared.observer.node().to_owned(),
        proxies: ExternalServices::new(&config.external_services, Vec::new()).of(ServiceKind::Issuers).proxies.clone(),
        is_shared: shared.keys.shared_keys().is_some(),
        sink: Arc::new(ServedCertificates(shared)),
        desk,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("acme".to_owned()).spawn(move || runtime.block_on(acme.run()))?;
    Ok(())
}

/// The port for plain HTTP. Questions of issuers do not reach its route.
fn redirect(config: &GatewayConfig) -> ExternalDocuments {
    let to = match config.listen_port {
        0 | 443 => json!({"scheme": "https", "status": 308}),
        port => json!({"scheme": "https", "port": port, "status": 308}),
    };
    let definition = json!({
        "name": "Redirect to HTTPS",
        "api_id": "acme-redirect",
        "active": true,
        "use_keyless": true,
        "version_data": {"not_versioned": true, "versions": {"Default": {"name": "Default", "use_extended_paths": true}}},
        "proxy": {"listen_path": "/", "target_url": ""},
        "tollgate": {"route": {"attached": [{"listener": SOURCE}], "rules": [{"redirect": to}]}},
    });
    let listener = RouteListener { port: config.tollgate.acme.http_port, ..RouteListener::default() };
    ExternalDocuments {
        definitions: BTreeMap::from([("acme-redirect".to_owned(), definition.to_string().into_bytes())]),
        listeners: BTreeMap::from([(SOURCE.to_owned(), listener)]),
        ..ExternalDocuments::default()
    }
}

/// The gateway as the place for certificates.
struct ServedCertificates(Arc<GatewayState>);

impl CertificateSink for ServedCertificates {
    fn serve(&self, ids: &[String], staples: &Staples, plan: &CertificatePlan) {
        let state = |(name, planned): (&String, &PlannedCertificate)| IssueState {
            name: name.clone(),
            failures: planned.failures,
            renewal_unix_s: planned.renew_unix_s,
        };
        self.0.registry.certificates.staple(staples.clone());
        self.0.serve_issued(ids, plan.iter().map(state).collect());
    }

    fn answer(&self, settings: Option<Arc<ServerConfig>>) {
        self.0.client_terms.iter().for_each(|terms| terms.answer_challenges(settings.clone()));
    }
}

/// Hosts that clients name at the gateway's ports.
struct AskedHosts(Arc<HostDesk>);

impl HostCertificates for AskedHosts {
    fn wait_for(&self, host: &str) -> Option<HostWait> {
        self.0.wait_for(host)
    }
}
