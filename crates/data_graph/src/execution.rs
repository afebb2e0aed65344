//! One execution of a plan: the requests that it needs now, what becomes of their answers, and the response in the end.

mod answers;
mod places;
mod requests;

use crate::answer_value::{AnswerMembers, AnswerValue};
use crate::completion::{Completion, ERRORS_MAX, FieldFault, ResponsePath, ResponsePathStep};
use crate::graph::DataGraph;
use crate::plan::OperationPlan;
use places::ObjectPlace;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// How much one execution may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionLimits {
    /// Most requests to sources. A list of a hundred objects with a field of their own takes a hundred.
    pub requests_max: usize,
    /// Most bytes of all answers together, where one that is for several objects counts for each, and of the response.
    pub bytes_max: usize,
}

/// What an execution knows of the client's request.
#[derive(Clone, Debug, Default)]
pub struct ExecutionContext {
    /// The headers that [`DataGraph::header_names`] names.
    pub headers: HashMap<String, String>,
    /// Parts of header values as the caller has replaced them; others stay as they are.
    pub texts: HashMap<String, String>,
    /// Headers for every source that does not set them itself.
    pub common_headers: Vec<(String, String)>,
}

/// A request to a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRequest {
    /// Names the request in [`Execution::answer`].
    pub id: u64,
    /// Position of the source.
    pub source: usize,
    /// Method.
    pub method: String,
    /// The whole URL.
    pub url: String,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// Body; empty without one.
    pub body: Vec<u8>,
}

/// The answer of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceAnswer {
    /// Status code.
    pub status: u16,
    /// The whole body, decompressed.
    pub body: Vec<u8>,
}

/// Why there is no answer. Clients are told that there is none; the reason is for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceFailure {
    /// The server cannot be reached, or breaks off.
    Unavailable,
    /// The time for it is over.
    Timeout,
    /// The answers are larger than they may be.
    TooLarge,
    /// Events waited for the client for too long.
    TooSlow,
    /// A value from the client cannot be sent in the place that it has in the request.
    Unsendable,
}

/// The state of an execution. A copy goes on from there on its own: each event of a subscription is the answer to the first request of a copy.
#[derive(Clone)]
pub struct Execution {
    graph: Arc<DataGraph>,
    plan: Arc<OperationPlan>,
    variables: Map<String, Value>,
    context: ExecutionContext,
    limits: ExecutionLimits,
    data: AnswerValue,
    faults: Vec<FieldFault>,
    states: Vec<FetchState>,
    ready: VecDeque<SourceRequest>,
    sent: HashMap<u64, SentRequest>,
    requests: usize,
    bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FetchState {
    Waiting,
    /// Requests that are not answered.
    Open(usize),
    Done,
}

/// A request, and the objects that its answer is for: of entities, those of each entity, otherwise those of the only answer.
#[derive(Clone)]
struct SentRequest {
    fetch: usize,
    objects: Vec<Vec<ObjectPlace>>,
}

impl Execution {
    /// Begins an execution. The variables are those of the request, checked.
    pub fn new(
        graph: Arc<DataGraph>,
        plan: Arc<OperationPlan>,
        variables: Map<String, Value>,
        context: ExecutionContext,
        limits: ExecutionLimits,
    ) -> Self {
        let states = vec![FetchState::Waiting; plan.fetches.len()];
        let mut execution = Execution {
            graph,
            plan,
            variables,
            context,
            limits,
            data: AnswerValue::Members(AnswerMembers::default()),
            faults: Vec::new(),
            states,
            ready: VecDeque::new(),
            sent: HashMap::new(),
            requests: 0,
            bytes: 0,
        };
        execution.advance();
        execution
    }

    /// The next request that can be sent now.
    pub fn next_request(&mut self) -> Option<SourceRequest> {
        self.ready.pop_front()
    }

    /// Whether all answers are there.
    pub fn is_done(&self) -> bool {
        self.states.iter().all(|state| *state == FetchState::Done)
    }

    /// Takes the answer to a request.
    pub fn answer(&mut self, id: u64, answer: Result<SourceAnswer, SourceFailure>) {
        let Some(sent) = self.sent.remove(&id) else { return };
        let fetch = sent.fetch;
        let answer = answer.and_then(|answer| self.within_limits(answer));
        self.take(sent, answer);
        if let Some(state) = self.states.get_mut(fetch) {
            *state = match *state {
                FetchState::Open(open) if open > 1 => FetchState::Open(open - 1),
                _ => FetchState::Done,
            };
        }
        self.advance();
    }

    fn within_limits(&mut self, answer: SourceAnswer) -> Result<SourceAnswer, SourceFailure> {
        // What is not taken does not count.
        let bytes = self.bytes.saturating_add(answer.body.len());
        if bytes > self.limits.bytes_max {
            return Err(SourceFailure::TooLarge);
        }
        self.bytes = bytes;
        Ok(answer)
    }

    /// Makes the requests whose turn it is.
    fn advance(&mut self) {
        let plan = self.plan.clone();
        loop {
            let mut is_changed = false;
            for (index, fetch) in plan.fetches.iter().enumerate() {
                let is_done = |before: &usize| self.states.get(*before) == Some(&FetchState::Done);
                if self.states.get(index) != Some(&FetchState::Waiting) || !fetch.after.iter().all(is_done) {
                    continue;
                }
                let open = self.make_requests(index, fetch);
                if let Some(state) = self.states.get_mut(index) {
                    *state = if open == 0 { FetchState::Done } else { FetchState::Open(open) };
                }
                is_changed |= open == 0;
            }
            if !is_changed {
                return;
            }
        }
    }

    /// Notes an error about a source.
    fn fault(&mut self, message: String, path: ResponsePath, extensions: Option<Value>) {
        if self.faults.len() < ERRORS_MAX {
            self.faults.push(FieldFault { message, locations: Vec::new(), path, extensions });
        }
    }

    /// The body of the response. `introspection` has the answers to `__schema` and `__type` by response key.
    pub fn response(self, introspection: &Map<String, Value>) -> Vec<u8> {
        let bytes_max = self.limits.bytes_max;
        let mut completion = Completion { introspection, faults: self.faults, out: Vec::new(), bytes_max };
        completion.data(&self.data, &self.plan.root);
        let Completion { faults, mut out, .. } = completion;
        drop(self.data);
        let mut start = b"{".to_vec();
        if !faults.is_empty() {
            start.extend(b"\"errors\":");
            // Texts and numbers always fit JSON.
            serde_json::to_writer(&mut start, &faults).unwrap_or_default();
            start.push(b',');
        }
        start.extend(b"\"data\":");
        out.push(b'}');
        out.splice(0..0, start);
        out
    }
}

/// The path of a field of an object.
fn path_of(object: Option<&ObjectPlace>, key: &str) -> ResponsePath {
    let start = object.map(|object| object.path.clone()).unwrap_or_default();
    start.into_iter().chain([ResponsePathStep::Key(key.to_owned())]).collect()
}

/// What clients learn of a source that fails.
fn extensions(code: &str, source: &str) -> Option<Value> {
    Some(json!({"code": code, "source": source}))
}

#[cfg(test)]
mod tests;
