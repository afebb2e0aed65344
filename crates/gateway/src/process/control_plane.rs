//! The control plane, with what it shares with the rest of the process.

use super::announcement::ServedAddresses;
use super::parts::Parts;
use crate::base::node_bus::NodeBus;
use crate::base::purge_log::PurgeLog;
use crate::base::secret::ControlSecret;
use crate::control::api::{self, ApiHealth, ChangeLog, Console, ConsoleFacts, Control, Health, Inspection, WaitingEntries};
use crate::control::definitions::Reloads;
use crate::control::nodes::{Nodes, OwnFigures};
use crate::control::statistics::Statistics;
use crate::data::cache_purger::CachePurger;
use crate::data::registry::Registry;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tollgate_model::config::GatewayConfig;
use tollgate_store::Redis;

/// The control plane, and what the process keeps of it.
pub(super) struct ControlPlane {
    pub control: Control,
    pub waiting_changes: WaitingEntries,
    pub health: Arc<Health>,
    pub statistics: Arc<Statistics>,
    pub node_bus: Option<Arc<NodeBus>>,
    pub purger: Arc<CachePurger>,
}

impl ControlPlane {
    pub(super) fn new(
        config: &GatewayConfig,
        parts: &Parts,
        reloads: &Reloads,
        addresses: &ServedAddresses,
        (secret, secret_file): (ControlSecret, Option<PathBuf>),
    ) -> Self {
        let Parts { shared, definitions, .. } = parts;
        let redis = shared.keys.shared_keys().map(|keys| keys.redis.clone());
        let purger = start_purger(config, shared.registry.clone(), redis.clone().or(parts.cache_redis.clone()), &addresses.data);
        let (health, statistics) = (Arc::new(Health::default()), Statistics::new());
        let own_figures = OwnFigures::new(config, shared.clone(), statistics.clone(), definitions.clone());
        let node_bus = redis.map(|redis| NodeBus::start(redis, config, shared.observer.node().to_owned(), own_figures.clone()));
        let address = addresses.control.first().or(addresses.data.first()).copied();
        let node = node_name(config, address);
        let (changes, waiting_changes) = ChangeLog::new(node.clone());
        let console = api::console_is_served(config).then(|| Console::new(ConsoleFacts { node, address, secret_file }));
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
            nodes: Nodes { own: own_figures, bus: node_bus.clone() },
            api_health: ApiHealth::new(config),
            token_store: parts.token_store.clone(),
            purger: purger.clone(),
            notices: Arc::default(),
            replays: Arc::default(),
        };
        ControlPlane { control, waiting_changes, health, statistics, node_bus, purger }
    }
}

/// The name of this gateway among others: its machine and port.
fn node_name(config: &GatewayConfig, address: Option<SocketAddr>) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let port = address.map_or(config.listen_port, |address| address.port());
    format!("{}:{port}", host.trim())
}

/// Purges stored responses here, and on the other gateways if they share a Redis.
fn start_purger(
    config: &GatewayConfig,
    registry: Arc<Registry>,
    redis: Option<Arc<Redis>>,
    addresses: &[SocketAddr],
) -> Arc<CachePurger> {
    let purger = CachePurger::new(registry);
    if let Some(redis) = redis {
        let name = format!("{} (process {})", node_name(config, addresses.first().copied()), std::process::id());
        purger.share(PurgeLog::start(redis, config, name, purger.clone()));
    }
    purger
}
