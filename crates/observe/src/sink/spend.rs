//! Writes what requests to language models took to the embedded store, for `/tyk/llm/spend`. Models and teams beyond the limits are summed as `_other`.

use super::{BatchSender, RecordWriter, SinkFigures, SinkRoom, SinkThread};
use crate::record_ref::RecordRef;
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tollgate_model::analytics::{LlmAttempt, LlmStats};
use tollgate_store::spend::{OTHER, SpendCounts, SpendKey};
use tollgate_store::usage::Usage;

/// Maximum rows of one core between two writes.
const ROWS_MAX: usize = 10_000;
/// Maximum waiting batches. One contains a core's sums of five seconds.
const BATCHES_MAX: usize = 16;
/// Maximum distinct models since the start, for one API and for all together, and as many teams: clients write their names.
const NAMES_MAX: usize = 500;
const ALL_NAMES_MAX: usize = 10_000;
/// Maximum age of sums that are not on disk.
const WRITE_EVERY: Duration = Duration::from_secs(5);
/// Interval between deletions of expired sums.
const FORGET_EVERY: Duration = Duration::from_secs(3600);

/// Sums of one core.
#[derive(Clone)]
pub struct SpendSink {
    rows: HashMap<SpendKey, SpendCounts>,
    requests: u64,
    written: Instant,
    handoff: BatchSender<Vec<(SpendKey, SpendCounts)>>,
}

/// Writes the sums of all cores.
struct SpendTable {
    usage: Usage,
    days: u32,
    /// When expired sums were last deleted.
    forgot: Option<Instant>,
    models: ToldApart,
    teams: ToldApart,
}

/// Distinct names by API.
#[derive(Default)]
struct ToldApart {
    of_api: HashMap<String, HashSet<String>>,
    all: usize,
}

impl SpendTable {
    fn write(&mut self, mut sums: Vec<(SpendKey, SpendCounts)>) -> Result<(), String> {
        for (key, _) in &mut sums {
            self.models.bound(&key.api, &mut key.model);
            self.teams.bound(&key.api, &mut key.team);
        }
        self.usage.add_spend(&sums).map_err(|fault| fault.to_string())?;
        if self.forgot.is_none_or(|at| at.elapsed() > FORGET_EVERY) {
            self.forgot = Some(Instant::now());
            let newest = sums.iter().map(|(key, _)| key.minute).max().unwrap_or_default();
            let oldest = newest - i64::from(self.days) * 24 * 60;
            self.usage.remove_spend_before(oldest, newest).map_err(|fault| fault.to_string())?;
        }
        Ok(())
    }
}

impl ToldApart {
    /// Replaces a name that has no rows of its own.
    fn bound(&mut self, api: &str, name: &mut String) {
        if name.is_empty() || name == OTHER {
            return;
        }
        let known = self.of_api.entry(api.to_owned()).or_default();
        if known.contains(name.as_str()) {
            return;
        }
        if known.len() < NAMES_MAX && self.all < ALL_NAMES_MAX {
            self.all += 1;
            known.insert(name.clone());
        } else {
            OTHER.clone_into(name);
        }
    }
}

impl SpendSink {
    pub fn start(usage: Usage, days: u32, figures: Arc<SinkFigures>) -> io::Result<(Self, SinkThread)> {
        let mut table = SpendTable { usage, days, forgot: None, models: ToldApart::default(), teams: ToldApart::default() };
        let room = SinkRoom { batches: BATCHES_MAX, records: u64::MAX };
        let (handoff, writer) = BatchSender::start(figures, room, move |rows| table.write(rows))?;
        Ok((SpendSink { rows: HashMap::new(), requests: 0, written: Instant::now(), handoff }, writer))
    }

    fn add(&mut self, mut key: SpendKey, counts: &SpendCounts) {
        if self.rows.len() >= ROWS_MAX && !self.rows.contains_key(&key) {
            [&mut key.model, &mut key.key, &mut key.policy, &mut key.team].into_iter().for_each(|text| OTHER.clone_into(text));
        }
        self.rows.entry(key).or_default().add(counts);
    }
}

impl RecordWriter for SpendSink {
    fn take(&mut self, hit: &RecordRef<'_>) {
        let Some(llm) = hit.record.llm.as_deref().filter(|llm| hit.record.is_spend && is_counted(llm)) else { return };
        self.requests += 1;
        let session = hit.record.key.as_ref().map(|key| &key.session);
        let org = session.map(|session| session.org_id.as_str()).filter(|org| !org.is_empty());
        let whole = SpendKey {
            minute: hit.time.unix_s.div_euclid(3_600) * 60,
            api: hit.facts.id.clone(),
            org: org.unwrap_or(&hit.facts.org_id).to_owned(),
            policy: session.map(|session| session.policy_ids().join(",")).unwrap_or_default(),
            key: hit.record.key.as_ref().map(|key| key.shown.to_string()).unwrap_or_default(),
            outcome: llm.outcome.clone(),
            reason: llm.reason.clone(),
            budget: llm.budget.clone(),
            team: llm.team.clone(),
            ..SpendKey::default()
        };
        let (mut instead_of, mut before) = ("", "");
        for (place, attempt) in llm.attempts.iter().enumerate() {
            let is_last = place + 1 == llm.attempts.len();
            // Another try at the same provider is no fallback.
            if attempt.provider != before {
                (instead_of, before) = (before, &attempt.provider);
            }
            let is_end = is_last && attempt.outcome == llm.outcome;
            let key = SpendKey {
                model: model_of(attempt).to_owned(),
                provider: attempt.provider.clone(),
                instead_of: instead_of.to_owned(),
                outcome: attempt.outcome.clone(),
                reason: attempt.reason.clone(),
                budget: if is_end { whole.budget.clone() } else { String::new() },
                ..whole.clone()
            };
            self.add(key, &counts(attempt, is_end));
        }
        // It ended with no provider: a budget refused it, or nobody has its model.
        if llm.attempts.last().is_none_or(|attempt| attempt.outcome != llm.outcome) {
            self.add(whole, &SpendCounts { requests: 1, ..SpendCounts::default() });
        }
    }

    fn flush(&mut self, last: bool) {
        let is_time = last || self.rows.len() >= ROWS_MAX || self.written.elapsed() >= WRITE_EVERY;
        if is_time && self.requests > 0 {
            self.written = Instant::now();
            self.handoff.give(self.rows.drain().collect(), std::mem::take(&mut self.requests));
        }
    }
}

/// Lists of models and counts of tokens cost nothing, and are no requests to a model.
fn is_counted(llm: &LlmStats) -> bool {
    !matches!(llm.operation.as_str(), "models" | "count_tokens" | "")
}

/// A name that a provider has accepted, else one of the configuration.
fn model_of(attempt: &LlmAttempt) -> &str {
    let is_known = attempt.usage.output_tokens > 0 || attempt.usage.input_tokens > 0;
    if is_known || attempt.route.is_empty() { &attempt.model } else { &attempt.route }
}

fn counts(attempt: &LlmAttempt, is_end: bool) -> SpendCounts {
    let usage = &attempt.usage;
    SpendCounts {
        requests: is_end.into(),
        attempts: (!attempt.is_passed_over()).into(),
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cached_tokens: usage.cached_tokens,
        cache_write_tokens: usage.cache_write_tokens,
        reasoning_tokens: usage.reasoning_tokens,
        cost_micro_usd: usage.cost_micro_usd(),
        estimated: usage.estimated.into(),
        streams: attempt.first_token_ms.is_some().into(),
        first_token_us: attempt.first_token_ms.map_or(0, |ms| (ms * 1_000.0) as u64),
    }
}

#[cfg(test)]
mod tests;
