//! Runs recorded requests through two configurations, the one in service and another, and says which would be answered differently. A replay
//! has a thread of its own; the data path does not notice it. Nothing is sent to upstreams, and nothing counts.

mod difference;
mod line;
mod report;
mod runner;

pub use report::ReplayReport;

use crate::compile::compile;
use crate::definitions::ServedSet;
use bytes::Bytes;
use report::ReplayState;
use runner::Job;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tollgate_data::gateway_state::GatewayState;
use tollgate_data::snapshot::CompiledApi;
use tollgate_model::Problem;
use tollgate_model::api::ApiDefinition;
use tollgate_observe::{LiveRequests, RequestWatch, logs};

/// Replays at one time. Each holds two compiled configurations.
const REPLAYS_MAX: usize = 4;
/// Pieces of requests that wait for a replay: whoever sends them waits for each.
const WAITING_MAX: usize = 2;
/// All replays.
#[derive(Default)]
pub struct Replays {
    running: Mutex<BTreeMap<u64, Arc<Replay>>>,
    next: AtomicU64,
}

/// One replay.
pub struct Replay {
    pub id: u64,
    jobs: SyncSender<Job>,
    state: Arc<Mutex<ReplayState>>,
    live: Arc<LiveRequests>,
}

/// Which live requests a replay takes.
pub struct LiveQuestion {
    pub time: Duration,
    /// One of this many.
    pub every: u32,
}

/// Why a replay does not take requests.
#[derive(Debug)]
pub enum ReplayFault {
    /// Too many others.
    Full,
    /// It is busy with other requests.
    Busy,
    /// It has ended.
    Gone,
    /// A configuration can't be rehearsed.
    Unusable(Vec<Problem>),
    System(std::io::Error),
}

impl Replays {
    /// Starts a replay. Compiles both configurations; blocks.
    pub fn start(self: &Arc<Self>, live: &Arc<GatewayState>, [old, new]: [ServedSet; 2]) -> Result<Arc<Replay>, ReplayFault> {
        if self.running().len() >= REPLAYS_MAX {
            return Err(ReplayFault::Full);
        }
        let (old, new) = (rehearsed(live, &old)?, rehearsed(live, &new)?);
        let (jobs, inbox) = sync_channel(WAITING_MAX);
        let state = Arc::new(Mutex::new(ReplayState::default()));
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let live = Arc::new(LiveRequests::default());
        let replay = Arc::new(Replay { id, jobs, state: state.clone(), live: live.clone() });
        self.running().insert(id, replay.clone());
        let all = self.clone();
        let run = move || {
            runner::run(&old, &new, &inbox, &live, &state);
            all.running().remove(&id);
        };
        if let Err(error) = std::thread::Builder::new().name("replay".to_owned()).spawn(run) {
            self.running().remove(&id);
            return Err(ReplayFault::System(error));
        }
        Ok(replay)
    }

    pub fn get(&self, id: u64) -> Option<Arc<Replay>> {
        self.running().get(&id).cloned()
    }

    /// Ends a replay; `None` if there is none with this number.
    pub fn end(&self, id: u64) -> Option<Arc<Replay>> {
        // Its thread ends when the last sender is gone.
        let replay = self.running().remove(&id)?;
        replay.live.end();
        Some(replay)
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Replay>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Replay {
    /// Hands over recorded requests, one JSON object per line. The receiver is told when all are decided.
    pub fn take(&self, lines: Bytes) -> Result<oneshot::Receiver<()>, ReplayFault> {
        let (done, receiver) = oneshot::channel();
        match self.jobs.try_send(Job { lines, done }) {
            Ok(()) => Ok(receiver),
            Err(TrySendError::Full(_)) => Err(ReplayFault::Busy),
            Err(TrySendError::Disconnected(_)) => Err(ReplayFault::Gone),
        }
    }

    /// Takes the live requests of this gateway for some time.
    pub fn watch(&self, watch: &RequestWatch, question: &LiveQuestion) {
        self.live.begin(question.time, question.every);
        // Only samples may be refused.
        let _ = watch.sample(self.live.clone());
        // Its thread may wait for requests of others. If it is busy, it looks afterwards.
        let _ = self.take(Bytes::new());
    }

    /// What it has found so far.
    pub fn report(&self) -> ReplayReport {
        let missed = self.live.missed();
        self.state.lock().unwrap_or_else(PoisonError::into_inner).report(missed)
    }
}

/// State of its own for a set of APIs.
fn rehearsed(live: &Arc<GatewayState>, served: &ServedSet) -> Result<Arc<GatewayState>, ReplayFault> {
    let state = Arc::new(live.rehearsal(live.keys.rehearsal(served.policies.clone())));
    let mut apis = Vec::with_capacity(served.apis.len());
    for api in &served.apis {
        apis.push(Arc::new(recompiled(api, &state).map_err(ReplayFault::Unusable)?));
    }
    let (snapshot, _) = crate::compile::assemble(apis, &state.settings, &state.registry);
    state.publish(snapshot);
    Ok(state)
}

/// The same API with counters of its own.
fn recompiled(api: &CompiledApi, state: &GatewayState) -> Result<CompiledApi, Vec<Problem>> {
    let lookup = |scheme: &str, name: &str| state.settings.documents.secrets.lookup_in_definition(scheme, name);
    let (definition, _) = ApiDefinition::from_value(api.raw.clone(), None, &lookup)?;
    compile(&definition, api.openapi.as_ref(), &state.settings, &state.registry, None).map(|(api, _)| api)
}

impl std::fmt::Display for ReplayFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReplayFault::Full => write!(f, "{REPLAYS_MAX} replays are running; try again"),
            ReplayFault::Busy => f.write_str("the replay still works on earlier requests"),
            ReplayFault::Gone => f.write_str("the replay has ended"),
            ReplayFault::Unusable(problems) => {
                logs::problems(problems);
                write!(f, "a configuration can't be rehearsed: {}", problems.first().map(ToString::to_string).unwrap_or_default())
            }
            ReplayFault::System(error) => write!(f, "no thread for a replay: {error}"),
        }
    }
}
