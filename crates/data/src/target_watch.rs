//! What is done about the targets of a pool while no request asks for it: checks, and discovery of the list. Only the rules; the control plane
//! follows them.

use crate::found_target::FoundTarget;
use crate::target_list::{PoolTarget, TargetList};
use arc_swap::ArcSwap;
use http::{HeaderMap, Method, Uri};
use hyper::body::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tollgate_engine::SrvResolver;
use tollgate_tls::TlsRules;

/// The rules of one pool.
pub struct TargetWatch {
    pub checks: TargetChecks,
    /// Time between two rounds of checks.
    pub interval: Duration,
    /// Successful checks in a row after which a target is up, and failed ones after which it is down.
    pub rise: u32,
    pub fall: u32,
    /// Whether the checks decide where requests go; otherwise they are only reported.
    pub decides: bool,
    /// What records of the checks say besides their results; `None` if none are written.
    pub record: Option<UptimeRecordRules>,
    pub discovery: Option<Discovery>,
}

/// What an API says about the records of its checks.
pub struct UptimeRecordRules {
    pub org_id: String,
    /// Seconds until a record expires; 0 for the default.
    pub life_s: i64,
}

/// The checks of a pool.
pub enum TargetChecks {
    /// These.
    Listed(Vec<Arc<TargetCheck>>),
    /// One of each target that the pool has at the time.
    EachTarget(Box<CheckMaker>),
}

/// Makes the check of a target. `None` if its URL cannot be asked.
pub type CheckMaker = dyn Fn(&PoolTarget) -> Option<TargetCheck> + Send + Sync;

impl TargetChecks {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        matches!(self, TargetChecks::Listed(checks) if checks.is_empty())
    }

    /// The checks for a list of targets.
    pub fn of(&self, list: &TargetList) -> Vec<Arc<TargetCheck>> {
        match self {
            TargetChecks::Listed(checks) => checks.clone(),
            TargetChecks::EachTarget(make) => list.targets.iter().filter_map(|target| make(target).map(Arc::new)).collect(),
        }
    }
}

/// One check.
pub struct TargetCheck {
    /// The URL as configured, for the log.
    pub name: String,
    /// `host:port` of the targets that it is about; `None` for the one whose URL is its name.
    pub authority: Option<String>,
    pub kind: CheckKind,
    pub time_max: Duration,
}

/// What a check does.
#[allow(clippy::large_enum_variant)] // There is one for each check.
pub enum CheckKind {
    /// An HTTP request; a response with one of these statuses is a success.
    Http { method: Method, uri: Uri, headers: HeaderMap, body: Bytes, tls: TlsRules, statuses: Vec<u16> },
    /// A connection, over TLS with a server name, and a dialogue.
    Tcp { host: String, port: u16, tls: Option<TlsRules>, announces_client: bool, dialogue: Vec<DialogueStep> },
}

/// A step of a dialogue over TCP.
pub enum DialogueStep {
    Send(Vec<u8>),
    /// The peer must send exactly this next.
    Expect(Vec<u8>),
}

/// Where the list of targets comes from.
pub struct Discovery {
    pub source: DiscoverySource,
    /// Time between two questions; DNS says it itself.
    pub interval: Duration,
    /// The last good list; it survives reloads.
    pub found: Arc<ArcSwap<Vec<FoundTarget>>>,
    /// Makes a list of targets.
    pub build: Box<ListBuilder>,
}

/// What is asked for the list.
pub enum DiscoverySource {
    /// An HTTP service.
    Service { uri: Uri, tls: TlsRules, shape: AnswerShape },
    /// SRV records of DNS. The targets have this scheme and path.
    Dns { resolver: SrvResolver, name: String, scheme: String, path: String },
}

/// Makes a list of targets.
pub type ListBuilder = dyn Fn(&[FoundTarget]) -> Result<TargetList, String> + Send + Sync;

/// Where the targets are in an answer. Paths have dots between their names.
#[derive(Clone, Debug, Default)]
pub struct AnswerShape {
    /// Path of what the targets are in, if not the answer itself: a list, of which each item is a target, or one.
    pub parent_path: Option<String>,
    /// Whether that is a text which is JSON itself.
    pub is_nested: bool,
    /// Path of a target's host, and of its port.
    pub host_path: String,
    pub port_path: String,
    /// Scheme of hosts without one; `http` if empty.
    pub scheme: &'static str,
    /// What every URL ends with.
    pub target_path: String,
    /// Whether the targets are in a list, which the answer or the text in it then must be.
    pub is_list: bool,
    /// Whether all targets are used, or only the first.
    pub takes_all: bool,
}
