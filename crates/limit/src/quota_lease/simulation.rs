//! Budgets that gateways share: what a request costs is known at its end alone. Answers take a while and some are very long, clients hang up,
//! gateways are killed, their clocks differ, the store is gone for a while, periods end, operators reset. What is promised: a hard budget is never
//! exceeded, and it can be used up; a soft one is exceeded by what is in flight, by what begins in the two seconds until all gateways know it, and by
//! what begins with what gateways hold then.

use super::{IDLE_US, QuotaAnswer, QuotaAsk, QuotaLease, QuotaPeriod, QuotaTake, QuotaTerms, Settlement, renewal_ms};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Copy, Debug)]
struct Scenario {
    max: i64,
    gateways: u64,
    /// What all requests cost, as a multiple of the budget.
    load: f64,
    /// The largest request, as a share of the budget.
    largest: f64,
    /// Whether a few requests are as large as that, and most of them far smaller.
    has_tail: bool,
    /// Whether requests take what they may cost beforehand.
    is_hard: bool,
    /// How many periods it takes.
    periods: u64,
    gateways_die: bool,
    store_is_gone: bool,
    /// Whether some clients hang up, who pay somewhat more than was generated.
    clients_leave: bool,
    /// How far clocks are from the store's, before or behind.
    skew_ms: i64,
    /// How often it is reset, and whether one gateway is not told.
    resets: u64,
    one_is_deaf: bool,
}

const PERIOD_US: u64 = 60_000_000;
/// How long it takes until each gateway knows that a soft budget is used up: one tells it within a second, the others ask within another.
const KNOWN_US: u64 = 2_000_000;

/// What happened.
#[derive(Debug, Default)]
struct Outcome {
    /// What requests have cost that began while a counter was there, by counter.
    spent: Vec<i64>,
    /// Most that answers in flight have taken or will cost, at any time.
    in_flight_max: i64,
    /// Most that was charged and not told yet.
    untold_max: i64,
    /// What gateways held that were not told of a reset.
    void_max: i64,
    /// What has been paid, when that was the budget, and what requests cost that began after it.
    paid: i64,
    paid_up_us: Option<u64>,
    late: i64,
    /// What gateways held and answers in flight could give back when all knew it, and what requests took after that.
    held: Option<i64>,
    taken_late: i64,
    requests: u64,
    questions: u64,
}

/// The store, as `quota.lua`.
#[derive(Default)]
struct Counter {
    used: Option<i64>,
    ends_us: u64,
    generation: i64,
    /// How many counters there have been.
    count: usize,
}

impl Counter {
    fn reset(&mut self) {
        self.used = None;
    }

    fn expire(&mut self, now_us: u64) {
        if self.used.is_some() && now_us >= self.ends_us {
            self.used = None;
        }
    }

    fn ask(&mut self, terms: &QuotaTerms, ask: &QuotaAsk, now_us: u64) -> QuotaAnswer {
        self.expire(now_us);
        let generation = if self.used.is_some() { self.generation } else { (now_us as i64 / 1_000).max(self.generation + 1) };
        let mut used = self.used.unwrap_or(0);
        let ends_ms = |counter: &Counter| if counter.used.is_some() { (counter.ends_us / 1_000) as i64 } else { -1 };
        let is_of_it = ask.period.generation == generation && (ends_ms(self) - ask.period.ends_ms).abs() < 1_000;
        if ask.unused > 0 && used > 0 && is_of_it {
            used -= ask.unused.min(used);
            self.used = Some(used);
        }
        let granted = ask.told + (ask.want - ask.told).min(terms.max - used - ask.told).max(0);
        if granted > 0 {
            if self.used.is_none() {
                (self.ends_us, self.generation) = (now_us + terms.renewal_ms as u64 * 1_000, generation);
                self.count += 1;
            }
            used += granted;
            self.used = Some(used);
        }
        let renews_ms = if self.used.is_some() { ((self.ends_us - now_us) / 1_000) as i64 } else { -1 };
        let period = QuotaPeriod { ends_ms: ends_ms(self), generation };
        QuotaAnswer { granted, left: terms.max - used, renews_ms, period }
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A request comes to a gateway: what it may cost, what it costs, how often it has been held.
    Request(usize, i64, i64, u32),
    /// It ends: what it had taken, when its period ends and which one it is, and what it costs and pays. The life of the gateway says whether it is
    /// still the same.
    End(usize, u32, (i64, i64, i64), i64, i64),
    Settle(usize),
    Reset,
}

/// Numbers that a seed determines.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }

    /// What a request may cost: even, or so that half of all cost comes from a few.
    fn cost(&mut self, most: i64, has_tail: bool) -> i64 {
        if !has_tail {
            return 1 + self.below(most as u64) as i64;
        }
        let share = (1 + self.below(1_000)) as f64 / 1_000.0;
        ((most as f64 * 0.001 / share.powf(1.2)) as i64).clamp(1, most)
    }
}

fn run(scenario: &Scenario, seed: u64) -> Outcome {
    let Scenario { max, gateways, .. } = *scenario;
    let mut dice = Dice(seed);
    let end_us = scenario.periods * PERIOD_US;
    let gone = end_us / 3..end_us / 2;
    let most = ((max as f64 * scenario.largest) as i64).max(2);
    let mean = if scenario.has_tail { (most as f64 * 0.005).max(1.0) } else { most as f64 / 2.0 };
    let gap_us = (PERIOD_US as f64 * mean / 2.0 / (max as f64 * scenario.load)) as u64;
    let mut counter = Counter::default();
    let mut leases: Vec<(QuotaLease, u32)> = (0..gateways).map(|_| (QuotaLease::default(), 0)).collect();
    let skews: Vec<i64> = (0..gateways).map(|_| dice.below(2 * scenario.skew_ms as u64 + 1) as i64 - scenario.skew_ms).collect();
    let mut outcome = Outcome::default();
    let mut agenda: BinaryHeap<Reverse<(u64, Event)>> = BinaryHeap::new();
    let (mut next_us, mut in_flight) = (0, 0);
    // Gateways count periods by their own clocks.
    let terms = |gateway: usize, now_us: u64| {
        let (own_ms, period_ms) = ((now_us / 1_000) as i64 + skews[gateway], (PERIOD_US / 1_000) as i64);
        let ends_ms = (own_ms.div_euclid(period_ms) + 1) * period_ms;
        let renewal_ms = renewal_ms(ends_ms, ends_ms + period_ms, own_ms);
        QuotaTerms { max, renewal_ms, gateways, lease_max: i64::MAX, idle_us: IDLE_US }
    };
    (0..gateways as usize).for_each(|gateway| agenda.push(Reverse((gateway as u64, Event::Settle(gateway)))));
    (0..scenario.resets).for_each(|_| agenda.push(Reverse((dice.below(end_us), Event::Reset))));
    loop {
        if next_us < end_us && agenda.peek().is_none_or(|Reverse((at, _))| *at > next_us) {
            let may_cost = dice.cost(most, scenario.has_tail);
            let costs = dice.below(may_cost as u64 + 1) as i64;
            agenda.push(Reverse((next_us, Event::Request(dice.below(gateways) as usize, may_cost, costs, 0))));
            next_us += gap_us / 2 + dice.below(gap_us.max(1));
            outcome.requests += 1;
        }
        let Some(Reverse((now_us, event))) = agenda.pop() else { break };
        if now_us >= end_us {
            break;
        }
        counter.expire(now_us);
        if outcome.held.is_none() && outcome.paid_up_us.is_some_and(|at| now_us > at + KNOWN_US) {
            outcome.held = Some(in_flight + leases.iter().map(|(lease, _)| lease.own).sum::<i64>());
        }
        let is_gone = scenario.store_is_gone && gone.contains(&now_us);
        match event {
            Event::Request(gateway, may_cost, costs, tries) => {
                if scenario.gateways_die && dice.below(200) == 0 {
                    leases[gateway] = (QuotaLease::default(), leases[gateway].1 + 1);
                }
                let terms = terms(gateway, now_us);
                let (lease, life) = &mut leases[gateway];
                let (least, want) = if scenario.is_hard { ((may_cost / 2).max(1), may_cost) } else { (1, 1) };
                let taken = match lease.take(least, want, now_us) {
                    QuotaTake::Taken(units) => Some(units),
                    QuotaTake::Refused => None,
                    QuotaTake::Wait { .. } if is_gone || tries > 3 => {
                        // Hard budgets live on what they have been granted.
                        lease.unanswered(None);
                        if scenario.is_hard { None } else { lease.take_alone(&terms, least, want) }
                    }
                    QuotaTake::Wait { .. } => {
                        outcome.questions += 1;
                        let ask = lease.ask(&terms);
                        let answer = counter.ask(&terms, &ask, now_us);
                        lease.answered(&ask, &answer, now_us);
                        agenda.push(Reverse((now_us + 1, Event::Request(gateway, may_cost, costs, tries + 1))));
                        None
                    }
                };
                if let Some(units) = taken {
                    // A hard budget bounds what the answer costs.
                    let costs = if scenario.is_hard { costs.min(units) } else { costs };
                    let (costs, pays) = match dice.below(4) {
                        0 if scenario.clients_leave => (costs / 2, costs / 2 + (units - costs / 2).max(0) / 4),
                        _ => (costs, costs),
                    };
                    in_flight += costs.max(units);
                    outcome.in_flight_max = outcome.in_flight_max.max(in_flight);
                    outcome.spent.resize(counter.count.max(outcome.spent.len()).max(1), 0);
                    *outcome.spent.last_mut().expect("a counter") += costs;
                    if outcome.paid_up_us.is_some() {
                        outcome.late += costs;
                    }
                    if outcome.held.is_some() {
                        outcome.taken_late += units;
                    }
                    let ends_us = now_us + 1 + dice.below(PERIOD_US / 10);
                    let QuotaPeriod { ends_ms, generation } = lease.period();
                    agenda.push(Reverse((ends_us, Event::End(gateway, *life, (units, ends_ms, generation), costs, pays))));
                }
            }
            Event::End(gateway, life, (units, ends_ms, generation), costs, pays) => {
                in_flight -= costs.max(units);
                outcome.paid += pays;
                if outcome.paid >= max && outcome.paid_up_us.is_none() {
                    outcome.paid_up_us = Some(now_us);
                }
                let (lease, now_life) = &mut leases[gateway];
                if life == *now_life {
                    match units - pays {
                        rest if rest >= 0 => lease.give_back_of(QuotaPeriod { ends_ms, generation }, rest, now_us),
                        rest => lease.charge(-rest, now_us),
                    }
                }
                outcome.untold_max = outcome.untold_max.max(leases.iter().map(|(lease, _)| lease.alone).sum());
            }
            Event::Settle(gateway) => {
                let terms = terms(gateway, now_us);
                let lease = &mut leases[gateway].0;
                if !is_gone && let Settlement::Tell(ask) = lease.settle(&terms, now_us, false) {
                    let answer = counter.ask(&terms, &ask, now_us);
                    lease.settled(&ask, &answer, now_us);
                }
                agenda.push(Reverse((now_us + 1_000_000, Event::Settle(gateway))));
            }
            Event::Reset if is_gone => {}
            Event::Reset => {
                counter.reset();
                // It begins with the reset, so that what is spent from now on is counted, also before somebody asks.
                outcome.spent.resize(outcome.spent.len().max(counter.count) + 1, 0);
                counter.count = outcome.spent.len() - 1;
                let deaf = usize::from(scenario.one_is_deaf);
                outcome.void_max = outcome.void_max.max(leases.iter().take(deaf).map(|(lease, _)| lease.own).sum());
                leases.iter_mut().skip(deaf).for_each(|(lease, _)| lease.reset());
            }
        }
    }
    outcome
}

fn scenario() -> impl Strategy<Value = (Scenario, u64)> {
    let gateways = prop_oneof![1_u64..8, Just(2), Just(10), Just(50)];
    let numbers = (1_000_i64..1_000_000, gateways, 0.2_f64..5.0, 0.001_f64..1.5, 1_u64..4, 0_u64..3);
    let clocks = prop_oneof![Just(0_i64), 0_i64..1_000];
    let whether = (any::<bool>(), any::<bool>(), any::<bool>(), any::<u64>());
    (numbers, clocks, whether).prop_map(|(numbers, skew_ms, (has_tail, gateways_die, store_is_gone, seed))| {
        let (max, gateways, load, largest, periods, resets) = numbers;
        // No more than some ten thousand requests.
        let load = if has_tail { load.min(25.0 * largest) } else { load };
        let clients_leave = seed % 2 == 0;
        let plain = plain(max, gateways, load, largest);
        let scenario = Scenario { gateways_die, store_is_gone, clients_leave, periods, skew_ms, resets, has_tail, ..plain };
        (scenario, seed)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_hard_budget_is_never_exceeded((scenario, seed) in scenario()) {
        let outcome = run(&scenario, seed);
        prop_assert!(outcome.spent.iter().all(|spent| *spent <= scenario.max), "{outcome:?}");
        // A counter for each period, one that was there before the first or after the last by other clocks, and one for each reset.
        prop_assert!(outcome.spent.len() as u64 <= scenario.periods + 1 + scenario.resets, "{outcome:?}");
    }

    #[test]
    fn a_gateway_that_is_not_told_of_a_reset_spends_what_it_and_its_answers_held_at_most((scenario, seed) in scenario()) {
        let scenario = Scenario { one_is_deaf: true, ..scenario };
        let outcome = run(&scenario, seed);
        let most = scenario.max + outcome.void_max + outcome.in_flight_max;
        prop_assert!(outcome.spent.iter().all(|spent| *spent <= most), "{outcome:?}");
    }

    #[test]
    fn a_soft_budget_is_exceeded_by_what_is_in_flight_or_begins_until_all_know_it((scenario, seed) in scenario()) {
        let quiet = Scenario { gateways_die: false, store_is_gone: false, resets: 0, skew_ms: 0, periods: 1, ..scenario };
        let scenario = Scenario { is_hard: false, ..quiet };
        let outcome = run(&scenario, seed);
        prop_assert!(outcome.taken_late <= outcome.held.unwrap_or(0), "{outcome:?}");
        let most = scenario.max + outcome.in_flight_max + outcome.untold_max + outcome.late;
        prop_assert!(outcome.spent.iter().all(|spent| *spent <= most), "{outcome:?}");
    }
}

fn plain(max: i64, gateways: u64, load: f64, largest: f64) -> Scenario {
    Scenario {
        max,
        gateways,
        load,
        largest,
        has_tail: false,
        is_hard: true,
        periods: 1,
        gateways_die: false,
        store_is_gone: false,
        clients_leave: false,
        skew_ms: 0,
        resets: 0,
        one_is_deaf: false,
    }
}

#[test]
fn a_hard_budget_can_be_used_up() {
    println!("| budget | gateways | largest request | spent | questions per request |\n|---|---|---|---|---|");
    for (max, gateways) in [(100_000, 1), (100_000, 2), (100_000, 3), (1_000_000, 3), (10_000_000, 10), (10_000_000, 50)] {
        for (largest, has_tail) in [(0.000_2, false), (0.001, false), (0.005, false), (0.02, true)] {
            for seed in 0..3 {
                let scenario = Scenario { has_tail, ..plain(max, gateways, 2.0, largest) };
                let outcome = run(&scenario, seed);
                let spent = outcome.spent[0] as f64 / max as f64;
                let questions = outcome.questions as f64 / outcome.requests as f64;
                println!("| {max} | {gateways} | {largest} {has_tail} | {spent:.4} | {questions:.3} |");
                assert!((0.97..=1.0).contains(&spent), "{max} {gateways} {largest} {seed}: {spent}");
            }
        }
    }
}

/// The table of docs/llm.md: sizes, and the share of requests that ask while half of the budget suffices.
#[test]
fn while_there_is_enough_few_requests_ask_the_store() {
    for (max, gateways, largest, most) in [
        (100_000, 1, 0.005, 0.05),
        (1_000_000, 3, 0.001, 0.05),
        (10_000_000, 3, 0.000_2, 0.05),
        (10_000_000, 10, 0.000_2, 0.05),
        (10_000_000, 50, 0.000_02, 0.05),
    ] {
        for seed in 1..4 {
            let outcome = run(&plain(max, gateways, 0.5, largest), seed);
            let questions = outcome.questions as f64 / outcome.requests as f64;
            println!("| {max} | {gateways} | {largest} | {} | {questions:.4} |", outcome.requests);
            assert!(questions < most, "{max} {gateways} {largest}: {questions}");
        }
    }
}

/// Three gateways, all told of a reset, and none of their requests in flight.
#[test]
fn after_a_reset_no_more_than_the_budget_is_spent() {
    let (max, gateways) = (100_000, 3);
    let terms = QuotaTerms { max, renewal_ms: 60_000, gateways, lease_max: i64::MAX, idle_us: IDLE_US };
    for one_is_deaf in [false, true] {
        let mut counter = Counter::default();
        let mut leases: Vec<QuotaLease> = (0..gateways).map(|_| QuotaLease::default()).collect();
        let use_up = |leases: &mut [QuotaLease], counter: &mut Counter, most: i64| {
            let mut spent = 0;
            for request in 0..100_000_u64 {
                let lease = &mut leases[(request % gateways) as usize];
                let now_us = request * 100;
                let taken = (0..4).find_map(|_| match lease.take(1, 30, now_us) {
                    QuotaTake::Taken(units) => Some(units),
                    QuotaTake::Refused => Some(0),
                    QuotaTake::Wait { .. } => {
                        let ask = lease.ask(&terms);
                        let answer = counter.ask(&terms, &ask, now_us);
                        lease.answered(&ask, &answer, now_us);
                        None
                    }
                });
                spent += taken.unwrap_or(0);
                if spent >= most {
                    break;
                }
            }
            spent
        };
        use_up(&mut leases, &mut counter, max / 3);
        counter.reset();
        let all: i64 = leases.iter().map(|lease| lease.own).sum();
        assert!(all > 1_000, "gateways hold some of it: {all}");
        let held: i64 = leases.iter().skip(2).map(|lease| lease.own).sum();
        leases.iter_mut().take(if one_is_deaf { 2 } else { 3 }).for_each(QuotaLease::reset);
        let spent = use_up(&mut leases, &mut counter, i64::MAX);
        match one_is_deaf {
            false => assert_eq!(spent, max),
            true => assert!((max..=max + held).contains(&spent), "{spent} with {held}"),
        }
    }
}
