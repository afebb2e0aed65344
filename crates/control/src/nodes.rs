//! This gateway among those that share its Redis: what it says of itself, and what it answers when another one is asked for sums.

use super::definitions::{DefinitionStore, SharedDefinitions};
use super::figures_question::FiguresQuestion;
use super::statistics::Statistics;
use crate::report::{ShownApis, live};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};
use tollgate_access::digest::shortened;
use tollgate_cluster::{Cluster, ClusterHost, KnownNode, NodeAnswers, NodeEvent, NodeState};
use tollgate_data::gateway_state::GatewayState;
use tollgate_mcp_federation::ServerState;
use tollgate_model::config::GatewayConfig;
use tollgate_observe::tap::{TailFilter, TopBy};
use tollgate_observe::{ChangeKind, GatewayChange, TailEntry};
use tollgate_statistics::{COUNTERS, HistorySpan, SpanQuestion, Summary, TopCount};
use tollgate_store::spend::{SpendAnswer, SpendQuestion};
use tollgate_store::usage::{Usage, UsageAnswer, UsageQuestion};
use tollgate_store::{SharedRevision, StoreFault};

/// How long another gateway's question may read usage; it waits for two seconds.
const USAGE_READ_TIME_MAX: Duration = Duration::from_millis(1_500);

/// The history of one gateway.
#[derive(Serialize, Deserialize)]
pub struct NodeHistory {
    pub span: HistorySpan,
    pub marks: Vec<GatewayChange>,
}

/// The kept requests of one gateway.
#[derive(Serialize, Deserialize)]
pub struct NodeTail {
    pub entries: Vec<TailEntry>,
    pub kept: usize,
    pub seen: u64,
}

/// The top list of one gateway.
#[derive(Serialize, Deserialize)]
pub struct NodeTop {
    pub since_unix_s: u64,
    pub from_unix_s: u64,
    pub seen: u64,
    pub floor: u64,
    pub rows: Vec<(String, TopCount)>,
}

/// What one gateway has recorded.
#[derive(Serialize, Deserialize)]
pub struct NodeAnswer<A> {
    /// `None` if it records nothing, or could not read it.
    pub answer: Option<A>,
}

/// Which definitions and policies one gateway serves.
#[derive(Serialize, Deserialize)]
pub struct NodeServing {
    /// Revision of those that gateways share.
    pub revision: u64,
    /// Of the last change of them; earlier versions know none.
    #[serde(default)]
    pub stamp: String,
    /// Digests of all, with those of its own files.
    pub definitions: String,
    pub policies: String,
}

/// The servers behind an MCP proxy, as one gateway knows them.
#[derive(Serialize, Deserialize)]
pub struct NodeServers {
    /// Whether the proxy stands in front of many servers.
    pub federation: bool,
    pub servers: Vec<ServerState>,
}

/// Answers for this gateway.
pub struct OwnFigures {
    shared: Arc<GatewayState>,
    statistics: Arc<Statistics>,
    definitions: Arc<DefinitionStore>,
    configuration: String,
}

/// This gateway, and the others if there are any.
#[derive(Clone)]
pub struct Nodes {
    pub own: Arc<OwnFigures>,
    pub cluster: Option<Arc<Cluster>>,
}

impl OwnFigures {
    pub fn new(
        config: &GatewayConfig,
        shared: Arc<GatewayState>,
        statistics: Arc<Statistics>,
        definitions: Arc<DefinitionStore>,
    ) -> Arc<Self> {
        Arc::new(OwnFigures { shared, statistics, definitions, configuration: configuration_digest(config) })
    }

    pub fn history(&self, span: SpanQuestion, from_unix_s: u64) -> NodeHistory {
        NodeHistory { span: self.statistics.span(span), marks: super::statistics::marks(&self.shared, from_unix_s) }
    }

    pub fn tail(&self, filter: &TailFilter, rows: usize) -> NodeTail {
        let watch = &self.shared.observer.watch;
        let (entries, kept) = watch.kept(filter, rows);
        NodeTail { entries: entries.iter().map(|entry| TailEntry::clone(entry)).collect(), kept, seen: watch.seen() }
    }

    /// `None` if too many lists are being counted.
    pub fn top(&self, by: TopBy, api: Option<&str>, window_s: u64) -> Option<NodeTop> {
        let watcher = self.shared.observer.watch.top(api)?;
        let window = watcher.window(by, tollgate_clock::unix_s(), window_s);
        let rows = window.summary.top(COUNTERS).into_iter();
        Some(NodeTop {
            since_unix_s: watcher.since_unix_s,
            from_unix_s: window.from_unix_s.max(watcher.since_unix_s),
            seen: window.seen,
            floor: window.summary.floor(),
            rows: rows.map(|(value, count)| (String::from_utf8_lossy(&value).into_owned(), count)).collect(),
        })
    }

    /// The recorded usage, if there is any; blocks until `deadline` at most.
    pub fn usage(&self, question: &UsageQuestion, deadline: Instant) -> Option<Result<UsageAnswer, StoreFault>> {
        Some(self.recorded()?.answer(question, Some(deadline)))
    }

    /// What language models cost, if it is recorded; blocks until `deadline` at most.
    pub fn spend(&self, question: &SpendQuestion, deadline: Instant) -> Option<Result<SpendAnswer, StoreFault>> {
        Some(self.recorded()?.spend(question, deadline))
    }

    /// The minute in which a key was used last, if usage is recorded.
    pub fn last_seen(&self, key: &str) -> Option<Result<Option<i64>, StoreFault>> {
        Some(self.recorded()?.last_seen(key))
    }

    fn recorded(&self) -> Option<Usage> {
        self.shared.observer.recording.as_ref()?.usage.clone()
    }

    /// What it serves, if gateways share definitions.
    pub fn serving(&self) -> Option<NodeServing> {
        let SharedRevision { number, stamp } = self.definitions.shared_definitions()?.known().at();
        Some(NodeServing {
            revision: number,
            stamp,
            definitions: self.definitions.definitions_digest(),
            policies: self.definitions.policies_digest(),
        })
    }

    /// The servers behind an MCP proxy, if it is served here.
    pub fn mcp_servers(&self, api: &str) -> Option<NodeServers> {
        let snapshot = self.shared.current.load();
        let federation = snapshot.api(api)?.federation();
        Some(NodeServers {
            federation: federation.is_some(),
            servers: federation.map(|server| server.servers()).unwrap_or_default(),
        })
    }

    /// The metrics of this process, if they are asked for by its name.
    fn figures(&self, node: &str, shown: &ShownApis) -> Value {
        let is_meant = node == self.shared.observer.node() && self.shared.observer.metrics;
        if is_meant { live(&self.shared, shown) } else { Value::Null }
    }
}

impl ClusterHost for OwnFigures {
    fn state(&self) -> NodeState {
        let observer = &self.shared.observer;
        let since_1970 = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        NodeState {
            node: observer.node().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_unix_s: since_1970(observer.started).as_secs(),
            unix_ms: since_1970(SystemTime::now()).as_millis() as u64,
            configuration: self.configuration.clone(),
            definitions: self.definitions.definitions_digest(),
            policies: self.definitions.policies_digest(),
            apis: self.shared.current.load().apis.len(),
            errors: observer.reloads.errors.load(Ordering::Relaxed),
            shared_definitions: self.definitions.shared_definitions().map(SharedDefinitions::state),
        }
    }

    fn answer(&self, question: &Value) -> Option<Value> {
        match FiguresQuestion::deserialize(question).ok()? {
            FiguresQuestion::History { span, from_unix_s } => serde_json::to_value(self.history(span, from_unix_s)).ok(),
            FiguresQuestion::Tail { filter, rows } => serde_json::to_value(self.tail(&filter, rows)).ok(),
            FiguresQuestion::Top { by, api, window_s } => serde_json::to_value(self.top(by, api.as_deref(), window_s)?).ok(),
            FiguresQuestion::Live => serde_json::to_value(self.statistics.live_for_others()?).ok(),
            FiguresQuestion::Follow { filter, asker } => {
                serde_json::to_value(self.statistics.followed(&self.shared, filter, asker)).ok()
            }
            // At once also without an answer, so that nobody waits for it.
            FiguresQuestion::Usage { question } => {
                let found = self.usage(&question, Instant::now() + USAGE_READ_TIME_MAX);
                serde_json::to_value(NodeAnswer { answer: found.and_then(Result::ok) }).ok()
            }
            FiguresQuestion::Spend { question } => {
                let found = self.spend(&question, Instant::now() + USAGE_READ_TIME_MAX);
                serde_json::to_value(NodeAnswer { answer: found.and_then(Result::ok) }).ok()
            }
            FiguresQuestion::LastSeen { key } => serde_json::to_value(self.last_seen(&key).and_then(Result::ok).flatten()).ok(),
            FiguresQuestion::Serving { revision, stamp } => {
                self.definitions.take_up(&SharedRevision { number: revision, stamp });
                serde_json::to_value(self.serving()?).ok()
            }
            FiguresQuestion::McpServers { node, api } => {
                let is_meant = node == self.shared.observer.node();
                serde_json::to_value(is_meant.then(|| self.mcp_servers(&api)).flatten()).ok()
            }
            FiguresQuestion::Figures { node, shown } => Some(self.figures(&node, &shown)),
            FiguresQuestion::BudgetReset { counter } => {
                self.shared.keys.budget_was_reset(&counter);
                Some(Value::Bool(true))
            }
        }
    }

    fn receive(&self, mail: Value) {
        let registry = &self.shared.registry;
        if !registry.hear_rest(&mail) {
            registry.mailboxes.receive(mail);
        }
    }

    fn note(&self, event: NodeEvent) {
        let changes = &self.shared.observer.changes;
        match event {
            NodeEvent::Joined(node) => changes.add(ChangeKind::NodeJoined, &node, String::new()),
            NodeEvent::Left(node) => changes.add(ChangeKind::NodeLeft, &node, String::new()),
        }
    }
}

impl Nodes {
    /// The name of this gateway, if it shares its Redis.
    pub fn one_of_several(&self) -> Option<String> {
        self.cluster.as_ref().map(|_| self.own.shared.observer.node().to_owned())
    }

    /// Asks the other gateways.
    pub async fn ask(&self, question: &FiguresQuestion) -> NodeAnswers {
        match (&self.cluster, serde_json::to_value(question)) {
            (Some(cluster), Ok(question)) => cluster.ask(question).await,
            _ => NodeAnswers::default(),
        }
    }

    /// All known gateways, this one first.
    pub fn all(&self) -> Vec<KnownNode> {
        let known = self.cluster.as_ref().map(|cluster| cluster.nodes()).filter(|known| !known.is_empty());
        let own = || KnownNode { state: self.own.state(), seen_unix_s: tollgate_clock::unix_s(), is_alive: true };
        known.unwrap_or_else(|| vec![own()])
    }
}

impl NodeTop {
    pub fn summary(&self) -> Summary {
        let rows = self.rows.iter().map(|(value, count)| (value.clone().into_bytes(), *count));
        Summary::from_rows(COUNTERS, self.floor, rows)
    }
}

/// The digest of what gateways of one cluster have in common.
fn configuration_digest(config: &GatewayConfig) -> String {
    let mut common = config.clone();
    (common.listen_port, common.control_api_port) = (0, 0);
    (common.secret, common.node_secret) = (String::new(), String::new());
    common.listen_address = String::new();
    common.app_path = PathBuf::new();
    common.policies.policy_path = PathBuf::new();
    common.tollgate.data_dir = PathBuf::new();
    let text = serde_json::to_vec(&common).unwrap_or_default();
    shortened(&blake3::keyed_hash(&blake3::hash(config.node_secret.as_bytes()).into(), &text))
}
