use super::{Holdings, OUTPUT_LEAST, Outlook, Progress};
use crate::budget::Budget;
use crate::met_budget::MetBudget;
use futures_util::FutureExt;
use proptest::prelude::*;
use std::sync::Arc;
use tollgate_access::keys::{BudgetCounters, Quota};
use tollgate_llm::{Estimate, Price, Usage};
use tollgate_model::session::{BudgetPeriod, BudgetUnit, LlmBudget};

struct OneCounter;

impl BudgetCounters for OneCounter {
    fn counter(&self, _: &str) -> Arc<Quota> {
        Arc::new(Quota::unsaved())
    }
}

fn budget(max: f64, unit: BudgetUnit, soft: bool) -> Arc<Budget> {
    // No test lives to see the end of a month, but for one in some millions.
    let rule = LlmBudget { name: "b".to_owned(), max, unit, per: BudgetPeriod::Month, soft, ..LlmBudget::default() };
    Arc::new(Budget::new(&MetBudget::new("api", &["b"], &rule), &OneCounter, Arc::default(), None))
}

fn price() -> Price {
    Price {
        pattern: "m".to_owned(),
        input: 3_000_000,
        cached_read: 300_000,
        cached_write: 3_750_000,
        output: 15_000_000,
        has_long_tier: false,
    }
}

fn left(budget: &Budget) -> i64 {
    budget.counter.view(budget.max(), tollgate_clock::unix_s()).map_or(budget.max(), |view| view.remaining)
}

fn outlook(upper: u64, output_max: u64) -> Outlook {
    Outlook { prompt: Estimate { upper, likely: upper / 4, ample: upper / 2 }, output_max, ..Outlook::default() }
}

fn take(budget: &Arc<Budget>, outlook: Outlook) -> Option<Holdings> {
    let price = price();
    let taken = Holdings::take(std::slice::from_ref(budget), outlook, Some(&price));
    taken.now_or_never().expect("nobody waits for a counter in memory").ok()
}

fn told(input: u64, output: u64, is_complete: bool) -> Progress {
    let usage = Some(Usage { input, output, ..Usage::default() });
    Progress { usage, text_bytes: output * 4, tokens: output, is_complete }
}

#[test]
fn a_hard_budget_holds_what_an_answer_may_cost_and_pays_what_it_has_cost() {
    let budget = budget(1_000.0, BudgetUnit::Tokens, false);
    let mut holdings = take(&budget, outlook(100, 200)).expect("there is enough");
    assert_eq!((left(&budget), holdings.output_max()), (700, Some(200)));
    holdings.settle(told(30, 1, false));
    assert_eq!(left(&budget), 770, "the provider has told the prompt's tokens");
    holdings.pay(told(30, 50, true));
    assert_eq!(left(&budget), 920);
    drop(take(&budget, outlook(100, 200)));
    assert_eq!(left(&budget), 920, "a provider that has not answered costs nothing");
}

#[test]
fn an_answer_is_bound_by_what_is_left() {
    let budget = budget(1_000.0, BudgetUnit::Tokens, false);
    let first = take(&budget, outlook(100, 600)).expect("there is enough");
    let second = take(&budget, outlook(100, 600)).expect("there is enough for a shorter one");
    assert_eq!((second.output_max(), left(&budget)), (Some(200), 0));
    assert!(take(&budget, outlook(1, 600)).is_none());
    first.pay(told(20, 10, true));
    assert!(take(&budget, outlook(100, 600)).is_some());
    assert!(take(&budget, outlook(2_000, 10)).is_none(), "a prompt that is larger than the budget");
}

#[test]
fn who_leaves_pays_what_was_generated() {
    for (soft, expected) in [(false, 50 + 27 + 16), (true, 25 + 20)] {
        let budget = budget(1_000.0, BudgetUnit::Tokens, soft);
        let holdings = take(&budget, outlook(100, 200)).expect("there is enough");
        holdings.pay(Progress { text_bytes: 80, tokens: 15, ..Progress::default() });
        assert_eq!(1_000 - left(&budget), expected, "soft: {soft}");
    }
    let budget = budget(1_000.0, BudgetUnit::Tokens, false);
    let hidden = Outlook { hides_thoughts: true, ..outlook(100, 200) };
    take(&budget, hidden).expect("there is enough").pay(Progress { text_bytes: 80, tokens: 15, ..Progress::default() });
    assert_eq!(left(&budget), 1_000 - 50 - 200, "the model may have thought more than it said");
}

#[test]
fn tokens_that_are_certain_are_paid_also_where_they_are_short() {
    for (soft, expected) in [(false, 50 + 15 + 16), (true, 25 + 15)] {
        let budget = budget(1_000.0, BudgetUnit::Tokens, soft);
        let holdings = take(&budget, outlook(100, 200)).expect("there is enough");
        holdings.pay(Progress { text_bytes: 20, tokens: 15, ..Progress::default() });
        assert_eq!(1_000 - left(&budget), expected, "soft: {soft}");
    }
}

#[test]
fn cached_and_reasoning_tokens_are_held_as_if_all_were() {
    for (unit, held, paid, untold) in [(BudgetUnit::CachedTokens, 100, 12, 50), (BudgetUnit::ReasoningTokens, 200, 7, 27 + 16)] {
        let hard = budget(1_000.0, unit, false);
        let holdings = take(&hard, outlook(100, 200)).expect("there is enough");
        assert_eq!((1_000 - left(&hard), holdings.output_max()), (held, Some(200)));
        let usage = Some(Usage { input: 30, output: 50, cached_read: 12, reasoning: 7, ..Usage::default() });
        holdings.pay(Progress { usage, text_bytes: 80, tokens: 15, is_complete: true });
        assert_eq!(1_000 - left(&hard), paid);
        let holdings = take(&hard, outlook(100, 200)).expect("there is enough");
        holdings.pay(Progress { text_bytes: 80, tokens: 15, ..Progress::default() });
        assert_eq!(1_000 - left(&hard), paid + untold, "who does not tell pays for all");

        let soft = budget(10.0, unit, true);
        let holdings = take(&soft, outlook(100, 200)).expect("there is something");
        assert_eq!((left(&soft), holdings.output_max()), (9, None));
        holdings.pay(Progress { usage, text_bytes: 80, tokens: 15, is_complete: true });
        assert_eq!(10 - soft.counter.units_left_here(10, tollgate_clock::unix_s()), paid, "an overrun is seen");
    }
}

#[test]
fn a_soft_budget_admits_as_long_as_something_is_left() {
    let budget = budget(100.0, BudgetUnit::Tokens, true);
    let mut first = take(&budget, outlook(40, 4_000)).expect("there is something");
    let second = take(&budget, outlook(40, 4_000)).expect("there is something");
    assert_eq!((first.output_max(), left(&budget)), (None, 80), "the prompts are likely to take 10 each");
    first.settle(Progress { text_bytes: 2_000, ..Progress::default() });
    assert!(take(&budget, outlook(1, 1)).is_none(), "the answer in flight has used it up");
    first.pay(told(10, 20, true));
    second.pay(told(10, 20, true));
    assert_eq!(left(&budget), 40, "what was charged too much is given back");
}

#[test]
fn a_soft_budget_keeps_what_answers_are_likely_to_take() {
    let budget = budget(1_000.0, BudgetUnit::Tokens, true);
    let usual = Outlook { output_usual: Some(300), ..outlook(40, 4_000) };
    let mut flying: Vec<Holdings> = std::iter::from_fn(|| take(&budget, usual)).take(10).collect();
    assert_eq!((flying.len(), left(&budget)), (4, 0), "310 each, and the last one what is left");
    flying[0].settle(Progress { text_bytes: 40, ..Progress::default() });
    assert_eq!(left(&budget), 0, "it may go on");
    flying[0].settle(Progress { text_bytes: 4_000, ..Progress::default() });
    assert!(left(&budget) <= 0);
    flying.into_iter().for_each(|holdings| holdings.pay(told(10, 20, true)));
    assert_eq!(left(&budget), 1_000 - 4 * 30);
    let short = Outlook { output_max: 50, is_stated: true, ..usual };
    drop(take(&budget, short));
    let holdings = take(&budget, short).expect("there is something");
    assert_eq!(left(&budget), 880 - 60, "no more than the client's bound");
    drop(holdings);
}

#[test]
fn an_answer_that_nobody_bounds_leaves_room_when_little_is_left() {
    let budget = budget(5_000.0, BudgetUnit::Tokens, false);
    let usual = Outlook { output_usual: Some(200), ..outlook(100, 4_096) };
    let first = take(&budget, usual).expect("there is enough");
    assert_eq!((first.output_max(), left(&budget)), (Some(300), 4_600), "half more than nearly all answers take");
    let stated = take(&budget, Outlook { is_stated: true, ..usual }).expect("there is enough");
    assert_eq!(stated.output_max(), Some(4_096), "who states a bound gets it");
    drop((first, stated));
    let large = self::budget(50_000.0, BudgetUnit::Tokens, false);
    assert_eq!(take(&large, usual).expect("there is enough").output_max(), Some(4_096));
}

#[derive(Clone, Copy, Debug)]
struct Request {
    /// Upper estimate of the prompt, and how much there is of half of it.
    upper: u64,
    input: f64,
    output_max: u64,
    /// How much of the answer comes.
    output: f64,
    /// Whether the provider tells its usage, and whether the client stays.
    tells: bool,
    stays: bool,
    /// How many requests are begun before it ends.
    overlap: usize,
    /// What is known of the model's answers, and whether the bound is the client's.
    usual: Option<u64>,
    is_stated: bool,
}

impl Request {
    fn outlook(&self) -> Outlook {
        Outlook { output_usual: self.usual, is_stated: self.is_stated, ..outlook(self.upper, self.output_max) }
    }
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let one = (1_u64..500, 0.0..1.0, OUTPUT_LEAST..500, 0.0..=1.0, any::<bool>(), any::<bool>(), 0_usize..8);
    let known = (prop::option::of(0_u64..600), any::<bool>());
    let request = (one, known).prop_map(|((upper, input, output_max, output, tells, stays, overlap), (usual, is_stated))| {
        Request { usual, is_stated, upper, input, output_max, output, tells, stays, overlap }
    });
    prop::collection::vec(request, 1..120)
}

proptest! {
    #[test]
    fn a_hard_budget_is_never_exceeded(requests in requests(), max in 500_u64..20_000, is_money: bool) {
        let unit = if is_money { BudgetUnit::Usd } else { BudgetUnit::Tokens };
        let budget = budget(if is_money { max as f64 * 5.0 / 1e6 } else { max as f64 }, unit, false);
        let (mut spent, mut flying) = (0_i64, Vec::new());
        for (index, request) in requests.iter().enumerate() {
            flying.retain_mut(|(ends, end): &mut (usize, Option<(Holdings, Progress)>)| {
                if *ends > index {
                    return true;
                }
                if let Some((holdings, progress)) = end.take() {
                    holdings.pay(progress);
                }
                false
            });
            let Some(holdings) = take(&budget, request.outlook()) else { continue };
            let bound = holdings.output_max().expect("a bound");
            let input = ((request.upper / 2) as f64 * request.input) as u64;
            let output = (bound as f64 * request.output) as u64;
            let usage = Usage { input, output, cached_write: input / 2, ..Usage::default() };
            spent += budget.cost(&usage, Some(&price()));
            let tells = request.tells && request.stays;
            // Who leaves has seen nearly all that was written.
            let seen = if request.stays { output } else { output.saturating_sub(16) };
            let progress =
                Progress { usage: tells.then_some(usage), text_bytes: seen * 3, tokens: seen / 2, is_complete: request.stays };
            flying.push((index + 1 + request.overlap, Some((holdings, progress))));
        }
        flying.iter_mut().filter_map(|(_, end)| end.take()).for_each(|(holdings, progress)| holdings.pay(progress));
        prop_assert!(spent <= budget.max(), "{spent} of {}", budget.max());
        prop_assert!(budget.max() - left(&budget) >= spent, "everything is paid");
    }

    #[test]
    fn a_soft_budget_pays_what_was_told_and_keeps_nothing(requests in requests(), max in 500_u64..20_000) {
        let budget = budget(max as f64, BudgetUnit::Tokens, true);
        let mut spent = 0;
        for pair in requests.chunks(3) {
            let flying: Vec<_> = pair.iter().filter_map(|request| Some((request, take(&budget, request.outlook())?))).collect();
            for (request, mut holdings) in flying {
                holdings.settle(Progress { text_bytes: request.upper, ..Progress::default() });
                let (input, output) = (request.upper / 4, (request.output_max as f64 * request.output) as u64);
                spent += (input + output) as i64;
                holdings.pay(told(input, output, true));
            }
        }
        prop_assert_eq!(budget.max() - left(&budget), spent.min(budget.max()));
    }

    #[test]
    fn a_hard_budget_can_be_used_up(input in 0.2..1.0_f64, output in 0.0..1.0_f64, seed in 1_u64..1_000) {
        let budget = budget(100_000.0, BudgetUnit::Tokens, false);
        for number in 0.. {
            let upper = 1 + (number * 7919 + seed) % 1_000;
            let Some(holdings) = take(&budget, outlook(upper, 1_000)) else { break };
            let bound = holdings.output_max().expect("a bound");
            holdings.pay(told((upper as f64 * input) as u64 + 1, (bound as f64 * output) as u64, true));
        }
        prop_assert!(left(&budget) <= 3_000, "{}", left(&budget));
    }
}
