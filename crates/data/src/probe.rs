//! A request that an operator tries: how it gets to a core, and what is found out about it. The core's part is in `handler/probed.rs`.

use super::core_queue::CoreQueue;
use serde::Serialize;
use std::net::IpAddr;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tollgate_model::analytics::LlmStats;
use utoipa::ToSchema;

/// Requests that wait for a core: operators are few, and each waits for an answer.
const WAITING_MAX: usize = 8;
/// Steps that are kept: a chain has a few dozen, a loop at most five chains.
pub const STEPS_MAX: usize = 200;

/// A request to send through a core.
pub struct ProbeRequest {
    /// The complete request, for HTTP/1.1.
    pub bytes: Vec<u8>,
    pub is_head: bool,
    /// The address that it comes from.
    pub client_ip: IpAddr,
    /// Most bytes of the response's body.
    pub body_bytes_max: usize,
    pub time_max: Duration,
    pub answer: oneshot::Sender<ProbeReport>,
    /// Gets the pieces of the response's body as they come, `body_bytes_max` in all.
    pub pieces: Option<UnboundedSender<Vec<u8>>>,
}

/// What became of it.
#[derive(Debug, Default)]
pub struct ProbeReport {
    /// The API that it reached: id and name.
    pub api: Option<(String, String)>,
    /// In order, with those of all APIs of a loop.
    pub steps: Vec<ProbeStep>,
    pub steps_left_out: usize,
    pub upstream: Option<ProbedUpstream>,
    /// What a request to a language model took, if it is recorded.
    pub llm: Option<Box<LlmStats>>,
    pub response: Option<ProbeResponse>,
    /// Why there is no response.
    pub failure: Option<String>,
    pub took: Duration,
}

/// A middleware's part.
#[derive(Debug)]
pub struct ProbeStep {
    pub middleware: &'static str,
    pub api: String,
    pub decision: ProbeDecision,
    pub ns: u64,
    /// Time in which the request was held for it.
    pub held: Duration,
    /// Why it refused, as in metrics, and what the client is told.
    pub cause: &'static str,
    pub message: String,
}

/// What a middleware decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProbeDecision {
    Next,
    /// It rejected the request.
    Refuse,
    /// It answered it, such as a mock or the cache.
    Reply,
    /// It was still waiting when the time was over.
    Held,
}

/// What went upstream.
#[derive(Debug, Default)]
pub struct ProbedUpstream {
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Scheme and authority of the target.
    pub target: String,
    /// The lines, and whether each is the client's own.
    pub headers: Vec<(String, String, bool)>,
    pub body_bytes: Option<u64>,
    /// Status of the upstream's response; 0 without one.
    pub status: u16,
    pub took: Duration,
    /// Why there is none, as in metrics.
    pub error: &'static str,
    /// Further tries at other targets.
    pub retries: u32,
}

/// The response that a client would have received.
#[derive(Debug)]
pub struct ProbeResponse {
    pub status: u16,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
}

/// Takes requests to the cores.
pub type ProbeQueue = CoreQueue<ProbeRequest>;

/// A queue for so many cores.
pub fn probe_queue(cores: usize) -> ProbeQueue {
    CoreQueue::new(cores, WAITING_MAX)
}
