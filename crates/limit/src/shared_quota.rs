//! A quota that several gateways use together, in Tyk's counter. A budget is one as well, in units such as tokens.

use super::admission::{LimitDecision, WaitPolicy};
use super::limit_store::{CountState, FAILED_FOR_US, Late, LimitStore, OpenLimits};
use super::quota_lease::{
    IDLE_US, LEASE_MAX, QuotaAnswer, QuotaAsk, QuotaLease, QuotaPeriod, QuotaTake, QuotaTerms, Settlement, renewal_ms,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tollgate_clock::{Completer, Pending, unix_ms};
use tollgate_model::config::OnStoreFailure;

/// A budget: so many units until its period ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetTerms {
    /// Units per period.
    pub max: i64,
    /// When the present period ends, in Unix seconds.
    pub ends_unix_s: u64,
    /// When the one behind it ends.
    pub next_ends_unix_s: u64,
    /// How long leased units may be idle.
    pub idle: Duration,
    /// What applies while the store does not answer, if it is not the default.
    pub on_failure: Option<OnStoreFailure>,
}

/// Units that a request has taken of a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakenUnits {
    /// How many.
    pub units: i64,
    /// Their period.
    pub period: QuotaPeriod,
}

/// Whether units could be taken.
#[derive(Debug, PartialEq, Eq)]
pub enum BudgetDecision {
    /// So many.
    Taken(TakenUnits),
    /// There are too few.
    Refused,
    /// The store is being asked: retry when the answer of `pending` has arrived.
    Asked,
    /// The store does not answer, and nothing may be taken meanwhile.
    Silent,
}

/// One quota.
pub struct SharedQuota {
    key: String,
    of: Arc<LimitStore>,
    open: Arc<OpenLimits<SharedQuota>>,
    state: Mutex<SharedQuotaState>,
}

#[derive(Default)]
struct SharedQuotaState {
    lease: QuotaLease,
    /// The question in flight.
    answer: Option<Pending<()>>,
    /// Time until which this quota is not asked about, after a failed question.
    failed_until_us: u64,
    /// Whether it is in the list of quotas with leases or reports.
    is_open: bool,
    terms: QuotaTerms,
}

impl SharedQuota {
    pub(super) fn new(of: Arc<LimitStore>, open: Arc<OpenLimits<SharedQuota>>, key: String) -> Self {
        SharedQuota { key, of, open, state: Mutex::default() }
    }

    /// Takes one of a quota of `max`, which renews `renewal_s` seconds after its first use; 0 or less for never.
    pub fn admit(
        self: &Arc<Self>,
        max: i64,
        renewal_s: i64,
        now: Duration,
        patience: WaitPolicy,
        on_failure: Option<OnStoreFailure>,
    ) -> LimitDecision {
        let terms = QuotaTerms {
            max,
            renewal_ms: renewal_s.max(0).saturating_mul(1_000),
            gateways: self.of.gateways(),
            lease_max: LEASE_MAX,
            idle_us: IDLE_US,
        };
        match self.take(terms, (1, 1), now.as_micros() as u64, patience, on_failure) {
            BudgetDecision::Taken(_) => LimitDecision::Admitted,
            BudgetDecision::Refused => LimitDecision::Refused(Duration::ZERO),
            BudgetDecision::Asked => LimitDecision::Asked,
            BudgetDecision::Silent => LimitDecision::Silent,
        }
    }

    /// Takes `want` units of a budget. If there are no more, it takes what is left, but no less than `least`.
    pub fn take_units(self: &Arc<Self>, budget: &BudgetTerms, (least, want): (i64, i64), patience: WaitPolicy) -> BudgetDecision {
        self.take(self.terms_of(budget), (least, want), self.of.now_us(), patience, budget.on_failure)
    }

    /// Gives back units that are not used.
    pub fn give_back_units(self: &Arc<Self>, taken: TakenUnits) {
        let mut state = self.lock();
        state.lease.give_back_of(taken.period, taken.units, self.of.now_us());
        if state.lease.is_open() {
            self.remember(&mut state);
        }
    }

    /// Charges units that were used beyond those that had been taken.
    pub fn charge(self: &Arc<Self>, budget: &BudgetTerms, units: i64) {
        let mut state = self.lock();
        state.terms = self.terms_of(budget);
        state.lease.charge(units, self.of.now_us());
        if state.lease.is_open() {
            self.remember(&mut state);
        }
    }

    fn terms_of(&self, budget: &BudgetTerms) -> QuotaTerms {
        let ms = |unix_s: u64| i64::try_from(unix_s.saturating_mul(1_000)).unwrap_or(i64::MAX);
        let now_ms = i64::try_from(unix_ms()).unwrap_or(i64::MAX);
        QuotaTerms {
            max: budget.max,
            renewal_ms: renewal_ms(ms(budget.ends_unix_s), ms(budget.next_ends_unix_s), now_ms),
            gateways: self.of.gateways(),
            lease_max: i64::MAX,
            idle_us: budget.idle.as_micros() as u64,
        }
    }

    fn take(
        self: &Arc<Self>,
        terms: QuotaTerms,
        (least, want): (i64, i64),
        now_us: u64,
        patience: WaitPolicy,
        on_failure: Option<OnStoreFailure>,
    ) -> BudgetDecision {
        let mut state = self.lock();
        if state.terms.max != terms.max {
            let more = terms.max.saturating_sub(state.terms.max);
            state.lease.resize(more);
        }
        state.terms = terms;
        let taken = |lease: &QuotaLease, units| BudgetDecision::Taken(TakenUnits { units, period: lease.period() });
        match state.lease.take(least, want, now_us) {
            QuotaTake::Taken(units) => taken(&state.lease, units),
            QuotaTake::Refused => BudgetDecision::Refused,
            QuotaTake::Wait { asks } if self.of.is_silent() || now_us < state.failed_until_us || patience == WaitPolicy::IsOver => {
                if asks {
                    state.lease.unanswered(None);
                }
                match self.of.on_failure(on_failure) {
                    // Nobody has counted it.
                    OnStoreFailure::Allow => BudgetDecision::Taken(TakenUnits::default()),
                    OnStoreFailure::Deny => BudgetDecision::Silent,
                    OnStoreFailure::Local => match state.lease.take_alone(&terms, least, want) {
                        Some(units) => {
                            self.remember(&mut state);
                            taken(&state.lease, units)
                        }
                        None => BudgetDecision::Refused,
                    },
                }
            }
            QuotaTake::Wait { asks: false } if state.answer.is_some() => BudgetDecision::Asked,
            QuotaTake::Wait { .. } => {
                let (completer, answer) = Pending::pair();
                state.answer = Some(answer);
                let ask = state.lease.ask(&terms);
                drop(state);
                self.of.redis.runtime().spawn(self.clone().fetch(terms, ask, completer));
                BudgetDecision::Asked
            }
        }
    }

    /// The question in flight.
    pub fn pending(&self) -> Option<Pending<()>> {
        self.lock().answer.clone()
    }

    /// Takes back the count of a request that is refused for another reason.
    pub fn give_back(self: &Arc<Self>) {
        let mut state = self.lock();
        state.lease.give_back(1, self.of.now_us(), self.of.is_silent());
        if state.lease.is_open() {
            self.remember(&mut state);
        }
    }

    /// The remainder, and the seconds until the quota renews; `None` when it is unknown, and no seconds when it never renews.
    pub fn view(&self) -> Option<(i64, Option<u64>)> {
        self.lock().lease.view(self.of.now_us())
    }

    /// Handles a changed session, which may have reset the quota.
    pub fn revise(self: &Arc<Self>) {
        let mut state = self.lock();
        state.lease.revise();
        if state.lease.is_open() {
            self.remember(&mut state);
        }
    }

    /// Returns unused grants, and reports requests that passed without the store.
    pub(super) async fn tell(self: Arc<Self>, (terms, ask): (QuotaTerms, QuotaAsk)) {
        let asked = self.ask(&terms, &ask).await;
        let mut state = self.lock();
        match asked {
            CountState::Answered(numbers) => match read(&numbers) {
                Some(answer) => state.lease.settled(&ask, &answer, self.of.now_us()),
                None => state.lease.unanswered(Some(&ask)),
            },
            CountState::Late(_) | CountState::Failed => state.lease.unanswered(Some(&ask)),
        }
        if state.lease.is_open() {
            self.remember(&mut state);
        }
    }

    /// What is left of a budget for all gateways, negative if more was used than there was; `None` if the store does not answer.
    pub async fn units_left(&self, budget: &BudgetTerms) -> Option<i64> {
        let answer = self.told(budget, false).await?;
        self.lock().lease.heard(&answer, self.of.now_us());
        Some(answer.left)
    }

    /// Forgets what all gateways have used of a budget in this period. What they hold of it is void once they are told so, with
    /// [`SharedQuota::was_reset`] or by the store. False if the store does not answer.
    pub async fn reset_units(&self, budget: &BudgetTerms) -> bool {
        let Some(answer) = self.told(budget, true).await else { return false };
        let mut state = self.lock();
        state.lease.reset();
        state.lease.heard(&answer, self.of.now_us());
        true
    }

    /// Another gateway has reset the budget.
    pub fn was_reset(&self) {
        self.lock().lease.reset();
    }

    /// Asks for nothing.
    async fn told(&self, budget: &BudgetTerms, resets: bool) -> Option<QuotaAnswer> {
        let terms = self.terms_of(budget);
        match self.ask_store(&terms, &QuotaAsk::default(), resets).await {
            CountState::Answered(numbers) => read(&numbers),
            _ => None,
        }
    }

    /// What to report, if anything; only for [`SharedQuota::tell`].
    pub(super) fn to_tell(self: &Arc<Self>, everything: bool) -> Option<(QuotaTerms, QuotaAsk)> {
        let mut state = self.lock();
        state.is_open = false;
        let terms = state.terms;
        match state.lease.settle(&terms, self.of.now_us(), everything) {
            Settlement::Nothing => None,
            Settlement::Later => {
                self.remember(&mut state);
                None
            }
            Settlement::Tell(ask) => Some((state.terms, ask)),
        }
    }

    async fn fetch(self: Arc<Self>, terms: QuotaTerms, ask: QuotaAsk, completer: Completer<()>) {
        let asked = self.ask(&terms, &ask).await;
        let late = self.hear(&ask, asked);
        completer.complete(());
        let Some(late) = late else { return };
        if let Some(answer) = late.await.ok().as_deref().and_then(read) {
            let mut state = self.lock();
            state.lease.answered_late(&ask, &answer, self.of.now_us());
            self.remember(&mut state);
        }
    }

    /// Applies an answer. Returns it if it is still outstanding.
    fn hear(self: &Arc<Self>, ask: &QuotaAsk, asked: CountState) -> Option<Late> {
        let now_us = self.of.now_us();
        let mut state = self.lock();
        state.answer = None;
        let mut late = None;
        match asked {
            CountState::Answered(numbers) => match read(&numbers) {
                Some(answer) => state.lease.answered(ask, &answer, now_us),
                None => state.lease.unanswered(Some(ask)),
            },
            CountState::Failed => {
                state.lease.unanswered(Some(ask));
                state.failed_until_us = now_us.saturating_add(FAILED_FOR_US);
            }
            CountState::Late(answer) => {
                state.lease.unanswered(Some(ask));
                late = Some(answer);
            }
        }
        if state.lease.is_open() {
            self.remember(&mut state);
        }
        late
    }

    async fn ask(&self, terms: &QuotaTerms, ask: &QuotaAsk) -> CountState {
        self.ask_store(terms, ask, false).await
    }

    async fn ask_store(&self, terms: &QuotaTerms, ask: &QuotaAsk, resets: bool) -> CountState {
        let QuotaPeriod { ends_ms, generation } = ask.period;
        let numbers = [terms.max, terms.renewal_ms, ask.want, ask.unused, ends_ms, ask.told, generation, i64::from(resets)];
        self.of.ask(&self.of.scripts.quota, &self.key, &numbers.map(|number| number.to_string())).await
    }

    fn remember(self: &Arc<Self>, state: &mut SharedQuotaState) {
        if !std::mem::replace(&mut state.is_open, true) {
            self.open.remember(self);
        }
    }

    fn lock(&self) -> MutexGuard<'_, SharedQuotaState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parses the script's answer.
fn read(numbers: &[i64]) -> Option<QuotaAnswer> {
    let [granted, left, renews_ms, ends_ms, generation] = *numbers else { return None };
    Some(QuotaAnswer { granted, left, renews_ms, period: QuotaPeriod { ends_ms, generation } })
}
