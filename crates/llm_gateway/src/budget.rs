//! A budget as one request meets it: what it costs in the budget's units, and its counter.

use crate::failure::Failure;
use crate::figures::BudgetFigures;
use crate::met_budget::{MetBudget, is_strict, units_of_one};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::yield_now;
use tollgate_access::keys::{BudgetCounters, Quota};
use tollgate_limit::{BudgetDecision, BudgetTerms, TakenUnits, WaitPolicy};
use tollgate_llm::{Fault, FaultKind, Price, Usage};
use tollgate_model::config::OnStoreFailure;
use tollgate_model::session::{BudgetUnit, LlmBudget};

/// How long a request waits for answers of the shared store before it does without. A single answer has a bound of its own, but with many
/// requests at once others may take what it has granted.
const PATIENCE: Duration = Duration::from_secs(5);
/// Leased units are returned after a hundredth of the period, but within these times: whoever looks at a budget sees them as spent.
const IDLE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(3));

/// One budget.
pub(crate) struct Budget {
    /// Whose it is, in words.
    pub of: String,
    pub rule: LlmBudget,
    pub counter: Arc<Quota>,
    pub figures: Arc<BudgetFigures>,
    on_store_failure: Option<OnStoreFailure>,
}

impl Budget {
    pub(crate) fn new(
        MetBudget { of, counter, budget: rule }: &MetBudget,
        counters: &dyn BudgetCounters,
        figures: Arc<BudgetFigures>,
        on_store_failure: Option<OnStoreFailure>,
    ) -> Self {
        // Without the store, only what it has granted keeps a hard budget.
        let on_store_failure = on_store_failure.or((!rule.soft).then_some(OnStoreFailure::Deny));
        Budget { of: of.clone(), counter: counters.counter(counter), rule: rule.clone(), figures, on_store_failure }
    }

    /// Whether a request must have a bound: what it may cost is taken beforehand.
    pub(crate) fn is_strict(&self) -> bool {
        is_strict(&self.rule)
    }

    /// Whether models need a price.
    pub(crate) fn is_money(&self) -> bool {
        self.rule.unit == BudgetUnit::Usd
    }

    /// Its size in units.
    pub(crate) fn max(&self) -> i64 {
        (self.rule.max * units_of_one(self.rule.unit)) as i64
    }

    /// What is left of it, as far as this gateway knows.
    pub(crate) fn left(&self) -> i64 {
        self.counter.view(self.max(), tollgate_clock::unix_s()).map_or(self.max(), |view| view.remaining)
    }

    /// What usage costs, in units.
    pub(crate) fn cost(&self, usage: &Usage, price: Option<&Price>) -> i64 {
        let units = match self.rule.unit {
            BudgetUnit::Tokens => usage.input.saturating_add(usage.output),
            BudgetUnit::PromptTokens => usage.input,
            BudgetUnit::CompletionTokens => usage.output,
            BudgetUnit::CachedTokens => usage.cached_read,
            BudgetUnit::ReasoningTokens => usage.reasoning,
            BudgetUnit::Usd => price.map_or(0, |price| price.cost(usage)),
            BudgetUnit::Requests => 1,
        };
        i64::try_from(units).unwrap_or(i64::MAX)
    }

    /// What a prompt and an answer cost at most, in units: all of the prompt may come from the provider's cache, and all of the answer may be
    /// reasoning.
    pub(crate) fn cost_max(&self, input: u64, output: u64, price: Option<&Price>) -> i64 {
        let dearest = price.map(|price| {
            let input = price.input.max(price.cached_read).max(price.cached_write_hour());
            Price { input, cached_read: input, cached_write: input, ..price.clone() }
        });
        self.cost(&Usage { input, output, cached_read: input, reasoning: output, ..Usage::default() }, dearest.as_ref())
    }

    /// The longest answer that so many units pay, of which `longest` is the bound.
    pub(crate) fn output_for(&self, units: i64, input: u64, longest: u64, price: Option<&Price>) -> u64 {
        // Costs grow with the answer, so halving finds it.
        let (mut fits, mut bound) = (0, longest);
        while fits < bound {
            let middle = fits + (bound - fits).div_ceil(2);
            if self.cost_max(input, middle, price) <= units { fits = middle } else { bound = middle - 1 }
        }
        fits
    }

    /// Takes `want` units, or what there is of them if that is `least` or more.
    ///
    /// # Errors
    /// There are too few.
    pub(crate) async fn take(&self, least: i64, want: i64) -> Result<TakenUnits, Failure> {
        let began = Instant::now();
        loop {
            let patience = if began.elapsed() < PATIENCE { WaitPolicy::Waits } else { WaitPolicy::IsOver };
            let now_unix_s = tollgate_clock::unix_s();
            match self.counter.take_units(&self.terms(now_unix_s), (least, want), patience, now_unix_s) {
                BudgetDecision::Taken(taken) => return Ok(taken),
                BudgetDecision::Asked => match self.counter.shared().and_then(|shared| shared.pending()) {
                    Some(pending) => pending.wait().await,
                    None => yield_now().await,
                },
                BudgetDecision::Silent => break,
                BudgetDecision::Refused => return Err(self.refusal(least, now_unix_s)),
            }
        }
        self.figures.refuse();
        Err(Failure::of_budget(&self.rule.name, Fault::new(FaultKind::Overloaded, "budgets cannot be counted at the moment"), None))
    }

    /// Gives back units that are not used.
    pub(crate) fn give_back(&self, taken: TakenUnits) {
        self.counter.give_back_units(taken);
    }

    /// Charges units that were used beyond those that had been taken.
    pub(crate) fn charge(&self, units: i64) {
        let now_unix_s = tollgate_clock::unix_s();
        self.counter.charge_units(&self.terms(now_unix_s), units, now_unix_s);
    }

    pub(crate) fn terms(&self, now_unix_s: u64) -> BudgetTerms {
        let (ends_unix_s, length_s) = self.rule.per.around(now_unix_s);
        let idle = Duration::from_secs(length_s / 100).clamp(IDLE.0, IDLE.1);
        let (next_ends_unix_s, _) = self.rule.per.around(ends_unix_s);
        BudgetTerms { max: self.max(), ends_unix_s, next_ends_unix_s, idle, on_failure: self.on_store_failure }
    }

    fn refusal(&self, least: i64, now_unix_s: u64) -> Failure {
        self.figures.refuse();
        let LlmBudget { name, max, unit, per, .. } = &self.rule;
        let what = format!("the budget `{name}` of the {} ({max} {} per {})", self.of, words(*unit), per.name());
        let message = if least > self.max() {
            format!("{what} is smaller than what this request may take")
        } else {
            format!("{what} is used up, or has not enough left for this request")
        };
        let (ends_unix_s, _) = per.around(now_unix_s);
        Failure::of_budget(name, Fault::new(FaultKind::RateLimit, message), Some(ends_unix_s.saturating_sub(now_unix_s) * 1_000))
    }
}

fn words(unit: BudgetUnit) -> &'static str {
    match unit {
        BudgetUnit::Tokens => "tokens",
        BudgetUnit::PromptTokens => "prompt tokens",
        BudgetUnit::CompletionTokens => "completion tokens",
        BudgetUnit::CachedTokens => "cached tokens",
        BudgetUnit::ReasoningTokens => "reasoning tokens",
        BudgetUnit::Usd => "US dollars",
        BudgetUnit::Requests => "requests",
    }
}
