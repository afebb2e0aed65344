//! What is counted of requests to providers. Names are those of the configuration, so clients cannot make new ones.

use crate::lane_times::{LaneTimes, LlmOperation};
use crate::met_budget::units_of_one;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tollgate_access::keys::Quota;
use tollgate_llm::Usage;
use tollgate_model::session::LlmBudget;

/// The figures of one API. They go on when a reload changes its providers.
#[derive(Default)]
pub struct LlmFigures {
    lanes: Mutex<BTreeMap<(String, String), Arc<LaneFigures>>>,
    budgets: Mutex<BTreeMap<(String, String), Arc<BudgetFigures>>>,
    /// Of kept answers.
    pub cache: AnswerCacheFigures,
    guards: Mutex<BTreeMap<String, Arc<GuardFigures>>>,
    keys: Mutex<BTreeMap<(String, usize), Arc<KeyFigures>>>,
}

/// What became of requests and answers at one guard.
#[derive(Default)]
pub struct GuardFigures([AtomicU64; GuardOutcome::ALL.len()]);

/// What became of a request or an answer at a guard. One that is refused has matched too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardOutcome {
    /// It was looked at.
    Checked,
    /// Something was found.
    Matched,
    /// It was refused.
    Refused,
    /// Something was found by a guard that does nothing.
    DryRun,
    /// The guard could not say anything.
    Failed,
}

impl GuardOutcome {
    /// All.
    pub const ALL: [GuardOutcome; 5] =
        [GuardOutcome::Checked, GuardOutcome::Matched, GuardOutcome::Refused, GuardOutcome::DryRun, GuardOutcome::Failed];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            GuardOutcome::Checked => "checked",
            GuardOutcome::Matched => "matched",
            GuardOutcome::Refused => "refused",
            GuardOutcome::DryRun => "dry_run",
            GuardOutcome::Failed => "failed",
        }
    }
}

impl GuardFigures {
    pub(crate) fn add(&self, outcome: GuardOutcome) {
        if let Some(count) = self.0.get(outcome as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many had an outcome.
    pub fn count(&self, outcome: GuardOutcome) -> u64 {
        self.0.get(outcome as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }
}

impl LlmFigures {
    /// The figures of a guard, by its name.
    pub(crate) fn guard(&self, name: &str) -> Arc<GuardFigures> {
        let mut guards = self.guards.lock().unwrap_or_else(PoisonError::into_inner);
        guards.entry(name.to_owned()).or_default().clone()
    }

    /// Forgets guards that no configuration names any more.
    pub(crate) fn forget_unused_guards(&self) {
        self.guards.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, guard| Arc::strong_count(guard) > 1);
    }

    /// All guards, with their names.
    pub fn all_guards(&self) -> Vec<(String, Arc<GuardFigures>)> {
        let guards = self.guards.lock().unwrap_or_else(PoisonError::into_inner);
        guards.iter().map(|(name, guard)| (name.clone(), guard.clone())).collect()
    }
}

/// What became of requests to the cache of answers.
#[derive(Default)]
pub struct AnswerCacheFigures([AtomicU64; CacheOutcome::ALL.len()]);

/// What became of a request to the cache of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheOutcome {
    /// The answer to the same request was sent.
    Hit,
    /// The answer to a similar request was sent.
    Semantic,
    /// The answer to a similar request would have been sent.
    WouldMatch,
    /// A provider was asked.
    Miss,
}

impl CacheOutcome {
    /// All.
    pub const ALL: [CacheOutcome; 4] = [CacheOutcome::Hit, CacheOutcome::Semantic, CacheOutcome::WouldMatch, CacheOutcome::Miss];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            CacheOutcome::Hit => "hit",
            CacheOutcome::Semantic => "semantic",
            CacheOutcome::WouldMatch => "would_match",
            CacheOutcome::Miss => "miss",
        }
    }
}

impl AnswerCacheFigures {
    pub(crate) fn add(&self, outcome: CacheOutcome) {
        if let Some(count) = self.0.get(outcome as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Requests with an outcome.
    pub fn requests(&self, outcome: CacheOutcome) -> u64 {
        self.0.get(outcome as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }
}

/// The figures of one key of a provider.
#[derive(Default)]
pub struct KeyFigures {
    requests: AtomicU64,
    limited: AtomicU64,
    refused: AtomicU64,
}

/// Most budgets with figures of their own: those of keys have names that operators write.
const BUDGETS_MAX: usize = 1_000;

/// The figures of budgets with one name, of one kind of holder.
#[derive(Default)]
pub struct BudgetFigures {
    refused: AtomicU64,
    /// The counter, if there is only one.
    counter: Mutex<Option<(Arc<Quota>, i64, LlmBudget)>>,
}

/// The figures of one model at one provider.
#[derive(Default)]
pub struct LaneFigures {
    /// The model's name in the configuration, which may be a pattern.
    pub model: String,
    /// What the provider is, by OpenTelemetry's names.
    pub system: &'static str,
    /// How long requests took, and how many tokens.
    pub times: LaneTimes,
    tokens: [AtomicU64; TokenKind::ALL.len()],
    cost_micro_usd: AtomicU64,
    requests: [AtomicU64; LlmOutcome::ALL.len()],
}

/// Kinds of tokens. Each token is counted once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Of prompts, but those from and into a cache.
    Input,
    /// Of prompts, from a cache.
    CacheRead,
    /// Of prompts, into a cache.
    CacheWrite,
    /// Of answers, but those for reasoning.
    Output,
    /// Of answers, for reasoning.
    Reasoning,
}

/// What became of a request to a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlmOutcome {
    /// It was answered.
    Ok,
    /// The provider refused it, and another would too.
    Refused,
    /// The provider has too many requests.
    RateLimited,
    /// The provider gave no answer, or one that nobody understands.
    Failed,
    /// The answer broke off after its beginning.
    Broken,
    /// The client left before the end.
    ClientLeft,
    /// The answer was longer than its budget, and ended there.
    Cut,
}

impl TokenKind {
    /// All.
    pub const ALL: [TokenKind; 5] =
        [TokenKind::Input, TokenKind::CacheRead, TokenKind::CacheWrite, TokenKind::Output, TokenKind::Reasoning];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            TokenKind::Input => "input",
            TokenKind::CacheRead => "cache_read",
            TokenKind::CacheWrite => "cache_write",
            TokenKind::Output => "output",
            TokenKind::Reasoning => "reasoning",
        }
    }
}

impl LlmOutcome {
    /// All.
    pub const ALL: [LlmOutcome; 7] = [
        LlmOutcome::Ok,
        LlmOutcome::Refused,
        LlmOutcome::RateLimited,
        LlmOutcome::Failed,
        LlmOutcome::Broken,
        LlmOutcome::ClientLeft,
        LlmOutcome::Cut,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            LlmOutcome::Ok => "ok",
            LlmOutcome::Refused => "refused",
            LlmOutcome::RateLimited => "rate_limited",
            LlmOutcome::Failed => "failed",
            LlmOutcome::Broken => "broken",
            LlmOutcome::ClientLeft => "client_left",
            LlmOutcome::Cut => "cut",
        }
    }
}

impl LlmFigures {
    /// The figures of models at providers, by their names.
    pub(crate) fn lane(&self, model: &str, provider: &str, system: &'static str) -> Arc<LaneFigures> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let of_kind = |lane: &Arc<LaneFigures>| lane.system == system;
        let place = (model.to_owned(), provider.to_owned());
        if let Some(lane) = lanes.get(&place).filter(|lane| of_kind(lane)) {
            return lane.clone();
        }
        let lane = Arc::new(LaneFigures { model: model.to_owned(), system, ..LaneFigures::default() });
        lanes.insert(place, lane.clone());
        lane
    }

    /// The figures of a provider's key by its place in the configuration, from 1.
    pub(crate) fn key(&self, provider: &str, number: usize) -> Arc<KeyFigures> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.entry((provider.to_owned(), number)).or_default().clone()
    }

    /// All keys, with the names of their providers and their places.
    pub fn all_keys(&self) -> Vec<((String, usize), Arc<KeyFigures>)> {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter().map(|(names, key)| (names.clone(), key.clone())).collect()
    }

    /// Forgets those that no configuration names any more.
    pub(crate) fn forget_unused(&self) {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, lane| Arc::strong_count(lane) > 1);
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, key| Arc::strong_count(key) > 1);
    }

    /// All, with the names of model and provider.
    pub fn all(&self) -> Vec<((String, String), Arc<LaneFigures>)> {
        let lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.iter().map(|(names, lane)| (names.clone(), lane.clone())).collect()
    }
}

impl LlmFigures {
    /// The figures of budgets by whose they are and their name; `None` if there are too many.
    pub(crate) fn budget(&self, of: &str, name: &str) -> Option<Arc<BudgetFigures>> {
        let mut budgets = self.budgets.lock().unwrap_or_else(PoisonError::into_inner);
        let names = (of.to_owned(), name.to_owned());
        if budgets.len() >= BUDGETS_MAX && !budgets.contains_key(&names) {
            return None;
        }
        Some(budgets.entry(names).or_default().clone())
    }

    /// All of them, with whose they are and their names.
    pub fn all_budgets(&self) -> Vec<((String, String), Arc<BudgetFigures>)> {
        let budgets = self.budgets.lock().unwrap_or_else(PoisonError::into_inner);
        budgets.iter().map(|(names, budget)| (names.clone(), budget.clone())).collect()
    }
}

impl BudgetFigures {
    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes the only counter of this name.
    pub(crate) fn note(&self, counter: &Arc<Quota>, max: i64, rule: &LlmBudget) {
        *self.counter.lock().unwrap_or_else(PoisonError::into_inner) = Some((counter.clone(), max, rule.clone()));
    }

    /// Requests that a budget had too little left for.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Size and use in the present period, and what is counted; dollars as such.
    pub fn standing(&self, now_unix_s: u64) -> Option<(f64, f64, &'static str)> {
        let (counter, max, rule) = self.counter.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let left = counter.units_left_here(max, now_unix_s);
        let scale = units_of_one(rule.unit);
        Some((max as f64 / scale, (max - left) as f64 / scale, rule.unit.name()))
    }
}

impl KeyFigures {
    pub(crate) fn send(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn limit(&self) {
        self.limited.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Requests with it.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Those that the provider refused, by cause: too many, or an unknown key.
    pub fn refusals(&self) -> [(&'static str, u64); 2] {
        [("limit", self.limited.load(Ordering::Relaxed)), ("unknown_key", self.refused.load(Ordering::Relaxed))]
    }
}

impl LaneFigures {
    pub(crate) fn add(&self, outcome: LlmOutcome) {
        if let Some(count) = self.requests.get(outcome as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn add_first_token(&self, ns: u64) {
        self.times.add_first_token(ns);
    }

    pub(crate) fn add_duration(&self, operation: LlmOperation, outcome: LlmOutcome, ns: u64) {
        self.times.add_duration(operation, outcome.name(), ns);
    }

    pub(crate) fn add_usage(&self, operation: LlmOperation, usage: &Usage, cost_micro_usd: u64) {
        self.times.add_tokens(operation, usage.input, usage.output);
        let parts = [
            usage.input.saturating_sub(usage.cached_read).saturating_sub(usage.cached_write),
            usage.cached_read,
            usage.cached_write,
            usage.output.saturating_sub(usage.reasoning),
            usage.reasoning,
        ];
        for (sum, part) in self.tokens.iter().zip(parts) {
            sum.fetch_add(part, Ordering::Relaxed);
        }
        self.cost_micro_usd.fetch_add(cost_micro_usd, Ordering::Relaxed);
    }

    /// Tokens of a kind.
    pub fn tokens(&self, kind: TokenKind) -> u64 {
        self.tokens.get(kind as usize).map_or(0, |sum| sum.load(Ordering::Relaxed))
    }

    /// What they cost, by list prices, in US dollars.
    pub fn cost_usd(&self) -> f64 {
        self.cost_micro_usd.load(Ordering::Relaxed) as f64 / 1e6
    }

    /// Requests with an outcome.
    pub fn requests(&self, outcome: LlmOutcome) -> u64 {
        self.requests.get(outcome as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }
}
