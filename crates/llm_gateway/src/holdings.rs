//! What one request to a provider has taken of its budgets. It is made to fit while the answer comes, and when it is over, whichever way.

use crate::budget::Budget;
use crate::failure::Failure;
use std::sync::Arc;
use tollgate_limit::TakenUnits;
use tollgate_llm::{Estimate, Fault, FaultKind, Price, Usage};
use tollgate_model::session::BudgetUnit;

/// An answer that is bound to end has this many tokens at least; OpenAI's Responses accept no less.
const OUTPUT_LEAST: u64 = 16;

/// What a hard budget pays for an answer whose provider has not told its tokens: one for three bytes, which is a third more than prose takes, and
/// what the provider may have written before it noticed that nobody reads.
const BYTES_OF_TOKEN: u64 = 3;
const UNSEEN_TOKENS: u64 = 16;

/// If a hard budget has less left than so many answers of the usual bound may cost, answers that nobody has bounded get half more than what nearly all
/// of them take, and this at least.
const CROWD: i64 = 8;
const OUTPUT_USUAL_MIN: u64 = 64;

/// What is known of a request before it goes out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outlook {
    /// Tokens of the prompt.
    pub prompt: Estimate,
    /// Bound of the answer, and whether the client or the API has stated it.
    pub output_max: u64,
    pub is_stated: bool,
    /// The length that nearly all answers of the model keep within, if it is known.
    pub output_usual: Option<u64>,
    /// Whether soft budgets pay only what the provider tells, if it has a price at all.
    pub is_free: bool,
    /// The answer is useless with fewer tokens.
    pub output_least: u64,
    /// Whether the model may take tokens that it does not show.
    pub hides_thoughts: bool,
}

/// What an answer has taken so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// What the provider has told.
    pub usage: Option<Usage>,
    /// Bytes of text that were seen, and tokens that were certainly there.
    pub text_bytes: u64,
    pub tokens: u64,
    /// Whether the provider has told all that it will.
    pub is_complete: bool,
}

/// The units that a request holds. Dropped, all are given back.
#[derive(Default)]
pub(crate) struct Holdings {
    held: Vec<Held>,
    outlook: Outlook,
    price: Option<Price>,
    /// Index of the budget that has lowered the bound of the answer.
    bound_by: Option<usize>,
}

/// What is held of one budget.
struct Held {
    budget: Arc<Budget>,
    taken: TakenUnits,
    /// A soft budget keeps what the answer is likely to take until it has ended.
    likely: i64,
}

impl Holdings {
    /// Takes what a request may cost of hard budgets, and a unit of each other.
    ///
    /// # Errors
    /// A budget has too little left.
    pub(crate) async fn take(budgets: &[Arc<Budget>], outlook: Outlook, price: Option<&Price>) -> Result<Self, Failure> {
        let mut holdings = Holdings { held: Vec::new(), outlook, price: price.cloned(), bound_by: None };
        let least = outlook.output_least.max(OUTPUT_LEAST).min(outlook.output_max);
        let input = outlook.prompt.upper;
        for budget in budgets {
            if budget.is_money() && price.is_none() && !outlook.is_free {
                let fault = Fault::new(FaultKind::Permission, "the model has no price, and there is a budget in US dollars");
                return Err(Failure::unsupported(fault));
            }
            let output = holdings.outlook.bound_at(budget, price);
            let (few, many) = match (budget.is_strict(), budget.rule.unit) {
                (true, _) => (budget.cost_max(input, least, price), budget.cost_max(input, output, price)),
                (false, BudgetUnit::Requests) => (1, 1),
                (false, _) => (1, budget.cost(&outlook.likely(), price)),
            };
            let taken = budget.take(few, many.max(few)).await?;
            // Units that nobody has counted bound nothing.
            if budget.is_strict() && taken.units > 0 {
                let before = holdings.outlook.output_max;
                holdings.outlook.output_max = budget.output_for(taken.units, input, output, price).max(least);
                if holdings.outlook.output_max < before {
                    holdings.bound_by = Some(holdings.held.len());
                }
            }
            let likely = if budget.is_strict() { 0 } else { taken.units };
            holdings.held.push(Held { budget: budget.clone(), taken, likely });
        }
        holdings.settle(Progress::default());
        Ok(holdings)
    }

    /// The bound of the answer, if a budget needs one.
    pub(crate) fn output_max(&self) -> Option<u64> {
        self.held.iter().any(|held| held.budget.is_strict()).then_some(self.outlook.output_max)
    }

    /// Whether the answer is as long as the model likes, as far as its client is concerned.
    pub(crate) fn is_unbounded(&self) -> bool {
        !self.held.is_empty() && !self.outlook.is_stated
    }

    /// The budget that has lowered the bound of the answer.
    pub(crate) fn bound_by(&self) -> Option<&str> {
        self.held.get(self.bound_by?).map(|held| held.budget.rule.name.as_str())
    }

    /// Makes what is held fit the answer so far: hard budgets hold what it may still cost, soft ones what it has cost.
    pub(crate) fn settle(&mut self, progress: Progress) {
        for index in 0..self.held.len() {
            let Some(Held { budget, likely, .. }) = self.held.get(index) else { return };
            let units = if budget.rule.unit == BudgetUnit::Requests {
                1
            } else if budget.is_strict() {
                let input = told_input(progress).unwrap_or(self.outlook.prompt.upper);
                budget.cost_max(input, self.outlook.output_max, self.price.as_ref())
            } else {
                budget.cost(&self.likely(progress), self.price.as_ref()).max(*likely).max(1)
            };
            // What a hard budget holds only shrinks before its end.
            let is_strict = budget.is_strict();
            self.hold(index, units, !is_strict);
        }
    }

    /// The answer is over: each budget pays what it has cost.
    pub(crate) fn pay(mut self, progress: Progress) {
        for index in 0..self.held.len() {
            let Some(Held { budget, .. }) = self.held.get(index) else { return };
            let units = match told(progress) {
                Some(usage) => budget.cost(&usage, self.price.as_ref()),
                None if budget.is_strict() => self.ample_cost(budget, progress),
                None => budget.cost(&self.likely(progress), self.price.as_ref()),
            };
            self.hold(index, units, true);
        }
        self.held.clear();
    }

    fn hold(&mut self, index: usize, units: i64, may_grow: bool) {
        let Some(Held { budget, taken, .. }) = self.held.get_mut(index) else { return };
        let more = units - taken.units;
        if more < 0 {
            budget.give_back(TakenUnits { units: -more, ..*taken });
        } else if more > 0 && may_grow {
            budget.charge(more);
        } else {
            return;
        }
        taken.units = units;
    }

    /// What the answer has taken, as far as its provider told it, else as is likely.
    fn likely(&self, progress: Progress) -> Usage {
        if let Some(usage) = told(progress) {
            return usage;
        }
        let usage = progress.usage.unwrap_or_default();
        let input = told_input(progress).unwrap_or(self.outlook.prompt.likely);
        Usage { input, output: usage.output.max(progress.text_bytes.div_ceil(4)).max(progress.tokens), ..usage }.bounded()
    }

    /// What it costs with a margin, because its provider has not told all, at the dearest price.
    fn ample_cost(&self, budget: &Budget, progress: Progress) -> i64 {
        let input = told_input(progress).unwrap_or(self.outlook.prompt.ample.min(self.outlook.prompt.upper));
        let is_seen = progress.text_bytes > 0 && !self.outlook.hides_thoughts;
        let likely = progress.tokens.max(progress.text_bytes.div_ceil(BYTES_OF_TOKEN));
        // An answer that has ended has no more than was seen.
        let unseen = if progress.is_complete { 0 } else { UNSEEN_TOKENS };
        let output = if is_seen { (likely + unseen).min(self.outlook.output_max) } else { self.outlook.output_max };
        let output = progress.usage.map_or(output, |usage| output.max(usage.bounded().output));
        budget.cost_max(input, output, self.price.as_ref())
    }
}

impl Outlook {
    /// The bound of the answer that a hard budget is asked for. When little is left and nobody has stated one, it is what nearly all answers keep within,
    /// so that one request does not take all that is left from the others.
    fn bound_at(&self, budget: &Budget, price: Option<&Price>) -> u64 {
        let Some(usual) = self.output_usual.filter(|_| !self.is_stated && budget.is_strict()) else { return self.output_max };
        let whole = budget.cost_max(self.prompt.upper, self.output_max, price);
        if budget.left() >= whole.saturating_mul(CROWD) {
            return self.output_max;
        }
        self.output_max.min((usual + usual / 2).max(OUTPUT_USUAL_MIN))
    }

    /// What the request is likely to take.
    fn likely(&self) -> Usage {
        let output = self.output_usual.unwrap_or(0);
        let output = if self.output_max > 0 { output.min(self.output_max) } else { output };
        Usage { input: self.prompt.likely, output, ..Usage::default() }
    }
}

impl Drop for Holdings {
    fn drop(&mut self) {
        for Held { budget, taken, .. } in self.held.drain(..) {
            budget.give_back(taken);
        }
    }
}

/// What the answer has taken, if its provider has told all.
fn told(progress: Progress) -> Option<Usage> {
    progress.usage.filter(|usage| progress.is_complete && !usage.is_doubtful).map(Usage::bounded)
}

fn told_input(progress: Progress) -> Option<u64> {
    progress.usage.filter(|usage| usage.input > 0 && !usage.is_doubtful).map(|usage| usage.input)
}

#[cfg(test)]
mod tests;
