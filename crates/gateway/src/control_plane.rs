//! The control plane, with what it shares with the rest of the process.

use super::announcement::ServedAddresses;
use super::parts::GatewayParts;
use std::path::PathBuf;
use std::sync::Arc;
use tollgate_access::secret::ControlSecret;
use tollgate_control::api::{
    self, ApiHealth, ChangeLog, Console, ConsoleFacts, Control, Health, Inspection, Operators, TokenDocument, WaitingEntries,
};
use tollgate_control::audit_file::AuditFile;
use tollgate_control::definitions::Reloads;
use tollgate_control::nodes::{Nodes, OwnFigures};
use tollgate_control::portal_door::PortalDoor;
use tollgate_control::portal_providers::portal_providers;
use tollgate_control::statistics::Statistics;
use tollgate_data::cache_purger::CachePurger;
use tollgate_model::config::{AcmeCertificate, GatewayConfig};
use tollgate_portal::Portal;

/// The control plane, and what the process keeps of it.
pub(super) struct ControlPlane {
    pub control: Control,
    pub waiting_changes: WaitingEntries,
    pub health: Arc<Health>,
    pub statistics: Arc<Statistics>,
}

impl ControlPlane {
    pub(super) fn new(
        config: &GatewayConfig,
        parts: &GatewayParts,
        reloads: &Reloads,
        addresses: &ServedAddresses,
        (secret, secret_file): (ControlSecret, Option<PathBuf>),
    ) -> Result<Self, String> {
        let GatewayParts { shared, definitions, .. } = parts;
        let purger = CachePurger::new(shared.registry.clone(), shared.cluster.clone());
        let (health, statistics) = (Arc::new(Health::default()), Statistics::new());
        let own_figures = OwnFigures::new(config, shared.clone(), statistics.clone(), definitions.clone());
        let node = shared.observer.node().to_owned();
        if let Some(cluster) = &shared.cluster {
            cluster.join(&node, own_figures.clone(), purger.clone());
        }
        let address = addresses.control.first().or(addresses.data.first()).copied();
        let operators = &config.tollgate.operators;
        let audit = AuditFile::of_settings(operators)?;
        let (changes, waiting_changes) = ChangeLog::new(node.clone(), audit, shared.settings.watch.gateway_events.clone());
        let console = api::console_is_served(config).then(|| Console::new(ConsoleFacts { node, address, secret_file }));
        let nodes = Nodes { own: own_figures, cluster: shared.cluster.clone() };
        let portal_settings = &config.tollgate.portal;
        let portal = portal_settings.is_served().then(|| {
            let door =
                Arc::new(PortalDoor { shared: shared.clone(), nodes: nodes.clone(), token_store: parts.token_store.clone() });
            let providers = portal_providers(portal_settings, shared)?;
            Portal::new(portal_settings.clone(), shared.keys.kept_store(), door, providers).map(Arc::new)
        });
        let control = Control {
            shared: shared.clone(),
            definitions: definitions.clone(),
            reloads: reloads.clone(),
            documents: Default::default(),
            changes,
            secret,
            guesses: Default::default(),
            console,
            health: health.clone(),
            statistics: statistics.clone(),
            inspection: Inspection::of(config),
            nodes,
            api_health: ApiHealth::new(config),
            token_store: parts.token_store.clone(),
            purger,
            mirrored_documents: Default::default(),
            notices: Arc::default(),
            replays: Arc::default(),
            operators: Operators::new(operators, shared)?,
            tokens: TokenDocument::default(),
            issued_names: config.tollgate.acme.certificates.iter().map(AcmeCertificate::name).collect(),
            portal: portal.transpose()?,
        };
        Ok(ControlPlane { control, waiting_changes, health, statistics })
    }
}
