//! The thread of a replay.

use super::difference::{brief, difference, shown_path};
use super::line::{CallerPlaces, RecordedLine};
use super::report::{RecordedExample, ReplayState};
use bytes::Bytes;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tollgate_data::gateway_state::GatewayState;
use tollgate_data::handler::{RecordedRequest, Rehearsal, RehearsedDecision, RehearsedVerdict};
use tollgate_observe::LiveRequests;

/// Lines after which the figures are handed over, so that whoever looks meanwhile sees progress.
const LINES_AT_ONCE: usize = 1_000;
/// Time between two looks for live requests.
const LIVE_EVERY: Duration = Duration::from_millis(100);
/// A replay that nobody uses ends after this time.
const IDLE_MAX: Duration = Duration::from_secs(600);

/// Requests to decide.
pub(super) struct Job {
    /// One JSON object per line.
    pub lines: Bytes,
    pub done: oneshot::Sender<()>,
}

/// Decides about requests until nobody sends any more.
pub(super) fn run(
    old: &Arc<GatewayState>,
    new: &Arc<GatewayState>,
    inbox: &Receiver<Job>,
    live: &LiveRequests,
    state: &Mutex<ReplayState>,
) {
    let sides = Sides { old: Rehearsal::new(old.clone()), new: Rehearsal::new(new.clone()) };
    let mut places = CallerPlaces::default();
    let mut used = Instant::now();
    loop {
        let time_max = if live.is_on() { LIVE_EVERY } else { IDLE_MAX.saturating_sub(used.elapsed()) };
        match inbox.recv_timeout(time_max) {
            Ok(job) => {
                sides.decide_all(&job.lines, &mut places, state);
                used = Instant::now();
                // Whoever sent them may be gone.
                let _ = job.done.send(());
            }
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) if !live.is_on() && used.elapsed() >= IDLE_MAX => return,
            Err(RecvTimeoutError::Timeout) => {
                let lines = live.take();
                if !lines.is_empty() {
                    used = Instant::now();
                }
                sides.decide_all(&lines, &mut places, state);
            }
        }
    }
}

struct Sides {
    old: Rehearsal,
    new: Rehearsal,
}

impl Sides {
    fn decide_all(&self, lines: &[u8], places: &mut CallerPlaces, state: &Mutex<ReplayState>) {
        let mut lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).peekable();
        while lines.peek().is_some() {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            for line in lines.by_ref().take(LINES_AT_ONCE) {
                self.decide(line, places, &mut state);
            }
        }
    }

    fn decide(&self, line: &[u8], places: &mut CallerPlaces, state: &mut ReplayState) {
        let recorded = match RecordedLine::read(line) {
            Ok(recorded) => recorded,
            Err(why) => return state.note_unreadable(why),
        };
        let made = recorded.request(&self.old, places);
        let request = RecordedRequest {
            head: &made.head,
            unix_ms: recorded.time_ms,
            client_ip: made.client_ip,
            caller: made.caller.as_ref(),
            body: made.body.as_deref(),
            response: made.response.as_ref(),
        };
        let (Some(old), Some(new)) = (self.old.decide(&request), self.new.decide(&request)) else {
            return state.note_unreadable(format!("{} {} is no request", recorded.method, recorded.path));
        };
        let example = || RecordedExample {
            time_ms: recorded.time_ms,
            method: recorded.method.to_string(),
            host: recorded.host.to_string(),
            path: shown_path(&recorded.path),
            key: recorded.key().unwrap_or_default().to_owned(),
            ..RecordedExample::default()
        };
        if let Some(recorded) = unlike_recorded(&old, recorded.status, &recorded.cause) {
            state.note_unlike(&old.api, recorded, brief(&old), example());
        }
        if let RehearsedDecision::Undecided { by } = old.decision
            && old.decision == new.decision
        {
            return state.note_undecided(by);
        }
        match difference(&old, &new) {
            Some(difference) => {
                let api = if old.api.is_empty() { &new.api } else { &old.api };
                state.note_difference(api, difference, example());
            }
            None => state.note_same(),
        }
    }
}

/// What was recorded, if the configuration in service would not answer so. What an upstream would answer is not known.
fn unlike_recorded(old: &RehearsedVerdict, status: u16, cause: &str) -> Option<String> {
    let is_refusal =
        !cause.is_empty() && !["upstream_", "client_", "response_", "waf_response_"].iter().any(|start| cause.starts_with(start));
    let is_alike = match &old.decision {
        RehearsedDecision::Refuse { status: own, cause: own_cause, .. } => {
            *own == status && (cause.is_empty() || *own_cause == cause)
        }
        RehearsedDecision::Reply { status: own, .. } => *own == status,
        RehearsedDecision::Forward { .. } => !is_refusal,
        RehearsedDecision::Undecided { .. } => true,
    };
    let written = if cause.is_empty() { status.to_string() } else { format!("{status} {cause}") };
    (status != 0 && !is_alike).then_some(written)
}
