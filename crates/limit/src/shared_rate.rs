//! A rate that several gateways count together. A request that needs an answer is held for it; requests for one limit share the question,
//! and simultaneous questions leave in one write.

use super::admission::{LimitDecision, WaitPolicy};
use super::algorithm::LimitAlgorithm;
use super::lease::{Ask, BUCKETS, Filed, Lease, LeaseGrant, LimitParams, Take};
use super::limit_store::{CountState, FAILED_FOR_US, Late, LimitStore, OpenLimits};
use super::rate::Rate;
use super::smoothing::{Allowance, SmoothingChange, SmoothingRules};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tollgate_clock::{Completer, Pending};
use tollgate_model::config::OnStoreFailure;

/// Shortest time between two questions about a rate that could rise or fall and does not.
const ALLOWANCE_US_MIN: u64 = 100_000;

/// One rate.
pub struct SharedRate {
    key: String,
    salt: u64,
    algorithm: LimitAlgorithm,
    of: Arc<LimitStore>,
    open: Arc<OpenLimits<SharedRate>>,
    /// The present rate, if it rises and falls in steps.
    allowance: Allowance,
    state: Mutex<SharedRateState>,
}

#[derive(Default)]
struct SharedRateState {
    lease: Lease,
    /// The question in flight.
    answer: Option<Pending<()>>,
    /// Time until which this limit is not asked about, after a failed question.
    failed_until_us: u64,
    /// Whether it is in the list of rates with something to report.
    is_open: bool,
    terms: Option<LimitParams>,
}

impl SharedRate {
    pub(super) fn new(of: Arc<LimitStore>, open: Arc<OpenLimits<SharedRate>>, name: &str, algorithm: LimitAlgorithm) -> Self {
        let salt = name.bytes().fold(0_u64, |salt, byte| salt.wrapping_mul(31).wrapping_add(u64::from(byte)));
        SharedRate {
            key: format!("tollgate.rate.{name}"),
            salt,
            algorithm,
            of,
            open,
            allowance: Allowance::default(),
            state: Mutex::default(),
        }
    }

    /// Takes a place for a request.
    pub fn admit(
        self: &Arc<Self>,
        rate: Rate,
        now: Duration,
        patience: WaitPolicy,
        on_failure: Option<OnStoreFailure>,
    ) -> LimitDecision {
        let (now_us, terms) = (micros(now), self.terms(rate));
        let mut state = self.lock();
        let mut taken = state.lease.take(&terms, now_us);
        if taken != Take::Taken {
            let is_alone = self.of.is_silent() || now_us < state.failed_until_us;
            let is_late = patience == WaitPolicy::IsOver && matches!(taken, Take::Wait { .. });
            if is_alone || is_late {
                if taken == (Take::Wait { asks: true }) {
                    state.lease.unanswered();
                }
                match self.of.on_failure(on_failure) {
                    OnStoreFailure::Allow => return LimitDecision::Admitted,
                    OnStoreFailure::Deny => return LimitDecision::Silent,
                    OnStoreFailure::Local => taken = state.lease.take_alone(&terms, now_us),
                }
                self.remember(&mut state, terms);
            }
        }
        match taken {
            Take::Taken => LimitDecision::Admitted,
            Take::Refused(us) => LimitDecision::Refused(Duration::from_micros(us)),
            Take::Wait { asks: false } if state.answer.is_some() => LimitDecision::Asked,
            Take::Wait { .. } => {
                let ask = state.lease.ask(&terms, now_us);
                let completer = state.completer();
                drop(state);
                self.of.redis.runtime().spawn(self.clone().fetch(terms, ask, completer));
                LimitDecision::Asked
            }
        }
    }

    /// The question in flight.
    pub fn pending(&self) -> Option<Pending<()>> {
        self.lock().answer.clone()
    }

    /// Takes back the place of a request that is refused for another reason.
    pub fn give_back(&self) {
        self.lock().lease.give_back();
    }

    /// Refuses a request if that needs no question; returns how long to wait.
    pub fn refuses(&self, now: Duration) -> Option<Duration> {
        let wait_us = self.lock().lease.refuses(micros(now)).filter(|_| !self.of.is_silent())?;
        Some(Duration::from_micros(wait_us))
    }

    /// Known free places.
    pub fn room(&self, rate: Rate, now: Duration) -> u64 {
        self.lock().lease.room(micros(now)).min(rate.requests)
    }

    /// The present rate, if it rises and falls in steps.
    pub(super) fn smoothed(&self, rate: Rate, rules: &SmoothingRules) -> Rate {
        // Fixed windows do not.
        if self.algorithm == LimitAlgorithm::SlidingWindow { self.allowance.rate(rate, rules) } else { rate }
    }

    /// Lets the rate rise or fall, if it is time. The store decides, so that all gateways have the same; without it, each decides alone.
    pub(super) fn smooth(self: &Arc<Self>, rate: Rate, rules: &SmoothingRules, now: Duration) -> Option<SmoothingChange> {
        if self.algorithm != LimitAlgorithm::SlidingWindow {
            return None;
        }
        if self.allowance.is_due(rules, micros(now)) {
            let present = self.smoothed(rate, rules);
            let used = present.requests.saturating_sub(self.room(present, now));
            match self.of.is_silent() {
                true => self.allowance.look(rate, rules, used, micros(now)),
                false => drop(self.of.redis.runtime().spawn(self.clone().share_allowance(rate, *rules, used))),
            }
        }
        self.allowance.take_change()
    }

    async fn share_allowance(self: Arc<Self>, rate: Rate, rules: SmoothingRules, used: u64) {
        let key = format!("{}.allowance", self.key);
        let asked = self.of.ask(&self.of.scripts.smoothing, &key, &rules.arguments(rate.requests, used)).await;
        let now_us = self.of.now_us();
        let answer = match asked {
            CountState::Answered(numbers) => <[i64; 3]>::try_from(numbers).ok(),
            CountState::Late(_) | CountState::Failed => None,
        };
        match answer.filter(|[requests, ..]| *requests > 0) {
            Some([requests, change, wait_us]) => {
                let wait_us = u64::try_from(wait_us).unwrap_or_default().max(ALLOWANCE_US_MIN);
                self.allowance.share(requests.unsigned_abs(), change.signum() as i8, now_us.saturating_add(wait_us));
            }
            None => self.allowance.look(rate, &rules, used, now_us),
        }
    }

    /// Reports requests that passed without the store.
    pub(super) fn tell(self: &Arc<Self>) {
        if let Some((terms, ask, completer)) = self.to_tell() {
            self.of.redis.runtime().spawn(self.clone().fetch(terms, ask, completer));
        }
    }

    fn to_tell(self: &Arc<Self>) -> Option<(LimitParams, Ask, Completer<()>)> {
        let mut state = self.lock();
        state.is_open = false;
        let terms = state.terms.take()?;
        let ask = state.lease.tell(&terms, self.of.now_us());
        if ask.is_none() && !state.lease.has_told() {
            // A question is in flight, and reports it as well.
            self.remember(&mut state, terms);
        }
        Some((terms, ask?, state.completer()))
    }

    fn remember(self: &Arc<Self>, state: &mut SharedRateState, terms: LimitParams) {
        state.terms = Some(terms);
        if !std::mem::replace(&mut state.is_open, true) {
            self.open.remember(self);
        }
    }

    fn terms(&self, rate: Rate) -> LimitParams {
        let (limit, window_us, gateways) = (rate.requests, rate.window_ns / 1_000, self.of.gateways());
        // An operator who selects an algorithm wants it exact.
        LimitParams { limit, window_us, gateways, rank: self.of.rank(self.salt), singly: self.algorithm != LimitAlgorithm::Gcra }
    }

    async fn fetch(self: Arc<Self>, terms: LimitParams, ask: Ask, completer: Completer<()>) {
        let (script, letter) = match self.algorithm {
            LimitAlgorithm::FixedWindow => (&self.of.scripts.fixed, "f"),
            LimitAlgorithm::Gcra | LimitAlgorithm::SlidingWindow => (&self.of.scripts.window, ""),
        };
        // A window of another length or kind has its own count.
        let key = format!("{}.{}{letter}", self.key, terms.window_us / 1_000);
        let asked = self.of.ask(script, &key, &arguments(&terms, &ask)).await;
        let late = self.hear(&terms, &ask, asked);
        completer.complete(());
        let Some(late) = late else { return };
        if let Some(answer) = late.await.ok().as_deref().and_then(read) {
            self.lock().lease.answered_late(&terms, &ask, &answer, self.of.now_us());
        }
    }

    /// Applies an answer. Returns it if it is still outstanding.
    fn hear(self: &Arc<Self>, terms: &LimitParams, ask: &Ask, asked: CountState) -> Option<Late> {
        let now_us = self.of.now_us();
        let mut state = self.lock();
        state.answer = None;
        let mut late = None;
        match asked {
            CountState::Answered(numbers) => match read(&numbers) {
                Some(answer) => state.lease.answered(terms, ask, &answer, now_us),
                None => state.lease.unanswered(),
            },
            CountState::Failed => {
                state.lease.unanswered();
                state.failed_until_us = now_us.saturating_add(FAILED_FOR_US);
            }
            CountState::Late(answer) => {
                state.lease.unanswered();
                late = Some(answer);
            }
        }
        if !state.lease.has_told() {
            self.remember(&mut state, *terms);
        }
        late
    }

    fn lock(&self) -> MutexGuard<'_, SharedRateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedRateState {
    /// Notes that a question is in flight.
    fn completer(&mut self) -> Completer<()> {
        let (completer, answer) = Pending::pair();
        self.answer = Some(answer);
        completer
    }
}

/// Arguments of the script.
fn arguments(terms: &LimitParams, ask: &Ask) -> Vec<String> {
    let filed = ask.back.map(|back| back.filed).unwrap_or_default();
    let (places, unused) = ask.back.map_or((0, 0), |back| (back.places, back.unused));
    let window = [terms.limit, terms.window_us, BUCKETS, u64::from(ask.singly)];
    let wanted = [ask.scarce, ask.plenty, ask.scarce_us, ask.plenty_us];
    let back = [ask.memory, filed.given, filed.until, places, unused];
    let told = ask.told.iter().flat_map(|told| [told.age_us, told.places]);
    window.into_iter().chain(wanted).chain(back).chain(told).map(|number| number.to_string()).collect()
}

/// Parses the script's answer.
fn read(numbers: &[i64]) -> Option<LeaseGrant> {
    let [places, life_us, given, until, again_us, free, memory, forgot] = numbers else { return None };
    let number = |number: &i64| u64::try_from(*number).unwrap_or_default();
    Some(LeaseGrant {
        places: number(places),
        life_us: number(life_us),
        filed: Filed { given: number(given), until: number(until) },
        again_us: number(again_us),
        free: number(free),
        memory: number(memory),
        forgot: *forgot != 0,
    })
}

fn micros(time: Duration) -> u64 {
    time.as_micros() as u64
}
