//! Budgets that gateways share: what a request costs is known at its end alone. Answers take a while, gateways are killed, the store is gone for a
//! while, periods end. What is promised: a hard budget is never exceeded, and it can be used up.

use super::{IDLE_US, QuotaAnswer, QuotaAsk, QuotaLease, QuotaTake, QuotaTerms, Settlement};
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
    /// Whether requests take what they may cost beforehand.
    is_hard: bool,
    /// How many periods it takes.
    periods: u64,
    gateways_die: bool,
    store_is_gone: bool,
}

const PERIOD_US: u64 = 60_000_000;

/// What happened.
#[derive(Debug, Default)]
struct Outcome {
    /// What each period's requests have cost.
    spent: Vec<i64>,
    /// Most of the budget that was taken by answers in flight.
    in_flight_max: i64,
    requests: u64,
    questions: u64,
}

/// The store, as `quota.lua`.
#[derive(Default)]
struct Counter {
    used: i64,
    ends_us: Option<u64>,
}

impl Counter {
    fn ask(&mut self, max: i64, ask: &QuotaAsk, now_us: u64) -> QuotaAnswer {
        if self.ends_us.is_some_and(|ends| now_us >= ends) {
            *self = Counter::default();
        }
        let ends_ms = |ends: Option<u64>| ends.map_or(-1, |ends| (ends / 1_000) as i64);
        if ask.unused > 0 && self.used > 0 && (ends_ms(self.ends_us) - ask.ends_ms).abs() < 1_000 {
            self.used -= ask.unused.min(self.used);
        }
        let granted = ask.told + (ask.want - ask.told).min(max - self.used - ask.told).max(0);
        if granted > 0 {
            self.used += granted;
            self.ends_us.get_or_insert((now_us / PERIOD_US + 1) * PERIOD_US);
        }
        let renews_ms = self.ends_us.map_or(-1, |ends| ((ends - now_us) / 1_000) as i64);
        QuotaAnswer { granted, left: (max - self.used).max(0), renews_ms, ends_ms: ends_ms(self.ends_us) }
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A request comes to a gateway: what it may cost, what it costs, how often it has been held.
    Request(usize, i64, i64, u32),
    /// It ends: what it had taken, of which period, and what it costs. The life of the gateway says whether it is still the same.
    End(usize, u32, i64, i64, i64),
    Settle(usize),
}

fn run(scenario: &Scenario, seed: u64) -> Outcome {
    let Scenario { max, gateways, .. } = *scenario;
    let mut seed = seed;
    let mut below = move |end: u64| {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    };
    let end_us = scenario.periods * PERIOD_US;
    let gone = end_us / 3..end_us / 2;
    let most = ((max as f64 * scenario.largest) as i64).max(2);
    let gap_us = (PERIOD_US as f64 * most as f64 / 4.0 / (max as f64 * scenario.load)) as u64;
    let mut counter = Counter::default();
    let mut leases: Vec<(QuotaLease, u32)> = (0..gateways).map(|_| (QuotaLease::default(), 0)).collect();
    let mut outcome = Outcome { spent: vec![0; scenario.periods as usize + 1], ..Outcome::default() };
    let mut agenda: BinaryHeap<Reverse<(u64, Event)>> = BinaryHeap::new();
    let (mut next_us, mut in_flight) = (0, 0);
    let terms = |now_us: u64| QuotaTerms {
        max,
        renewal_ms: ((PERIOD_US - now_us % PERIOD_US) / 1_000) as i64,
        gateways,
        lease_max: i64::MAX,
        idle_us: IDLE_US,
    };
    (0..gateways as usize).for_each(|gateway| agenda.push(Reverse((gateway as u64, Event::Settle(gateway)))));
    loop {
        if next_us < end_us && agenda.peek().is_none_or(|Reverse((at, _))| *at > next_us) {
            let may_cost = 1 + below(most as u64) as i64;
            let costs = below(may_cost as u64 + 1) as i64;
            agenda.push(Reverse((next_us, Event::Request(below(gateways) as usize, may_cost, costs, 0))));
            next_us += gap_us / 2 + below(gap_us.max(1));
            outcome.requests += 1;
        }
        let Some(Reverse((now_us, event))) = agenda.pop() else { break };
        if now_us >= end_us {
            break;
        }
        let terms = terms(now_us);
        let is_gone = scenario.store_is_gone && gone.contains(&now_us);
        match event {
            Event::Request(gateway, may_cost, costs, tries) => {
                if scenario.gateways_die && below(200) == 0 {
                    leases[gateway] = (QuotaLease::default(), leases[gateway].1 + 1);
                }
                let (lease, life) = &mut leases[gateway];
                let (least, want) = if scenario.is_hard { ((may_cost / 2).max(1), may_cost) } else { (1, 1) };
                let taken = match lease.take(least, want, now_us) {
                    QuotaTake::Taken(units) => Some(units),
                    QuotaTake::Refused => None,
                    QuotaTake::Wait { .. } if is_gone || tries > 2 => {
                        // Hard budgets live on what they have been granted.
                        lease.unanswered(None);
                        if scenario.is_hard { None } else { lease.take_alone(&terms, least, want) }
                    }
                    QuotaTake::Wait { .. } => {
                        outcome.questions += 1;
                        let ask = lease.ask(&terms);
                        let answer = counter.ask(max, &ask, now_us);
                        lease.answered(&ask, &answer, now_us);
                        agenda.push(Reverse((now_us + 1, Event::Request(gateway, may_cost, costs, tries + 1))));
                        None
                    }
                };
                if let Some(units) = taken {
                    // A hard budget bounds what the answer costs.
                    let costs = if scenario.is_hard { costs.min(units) } else { costs };
                    in_flight += costs.max(units);
                    outcome.in_flight_max = outcome.in_flight_max.max(in_flight);
                    outcome.spent[(now_us / PERIOD_US) as usize] += costs;
                    let ends_us = now_us + 1 + below(PERIOD_US / 10);
                    agenda.push(Reverse((ends_us, Event::End(gateway, *life, units, lease.ends_ms(), costs))));
                }
            }
            Event::End(gateway, life, units, ends_ms, costs) => {
                in_flight -= costs.max(units);
                let (lease, now_life) = &mut leases[gateway];
                if life == *now_life {
                    match units - costs {
                        rest if rest >= 0 => lease.give_back_of(ends_ms, rest, now_us),
                        rest => lease.charge(-rest, now_us),
                    }
                }
            }
            Event::Settle(gateway) => {
                let lease = &mut leases[gateway].0;
                if !is_gone && let Settlement::Tell(ask) = lease.settle(&terms, now_us, false) {
                    let answer = counter.ask(max, &ask, now_us);
                    lease.settled(&ask, &answer, now_us);
                }
                agenda.push(Reverse((now_us + 1_000_000, Event::Settle(gateway))));
            }
        }
    }
    outcome
}

fn scenario() -> impl Strategy<Value = (Scenario, u64)> {
    let numbers = (1_000_i64..1_000_000, 1_u64..8, 0.2_f64..5.0, 0.001_f64..1.5, 1_u64..4);
    (numbers, any::<bool>(), any::<bool>(), any::<u64>()).prop_map(|(numbers, gateways_die, store_is_gone, seed)| {
        let (max, gateways, load, largest, periods) = numbers;
        (Scenario { max, gateways, load, largest, is_hard: true, periods, gateways_die, store_is_gone }, seed)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_hard_budget_is_never_exceeded((scenario, seed) in scenario()) {
        let outcome = run(&scenario, seed);
        prop_assert!(outcome.spent.iter().all(|spent| *spent <= scenario.max), "{outcome:?}");
    }

    #[test]
    fn a_soft_budget_is_exceeded_by_answers_in_flight_at_most((scenario, seed) in scenario()) {
        // What is charged is told within a second, in which others go on.
        let scenario = Scenario { is_hard: false, gateways_die: false, store_is_gone: false, gateways: 1, ..scenario };
        let outcome = run(&scenario, seed);
        let most = scenario.max + outcome.in_flight_max;
        prop_assert!(outcome.spent.iter().all(|spent| *spent <= most), "{outcome:?}");
    }
}

fn plain(max: i64, gateways: u64, load: f64, largest: f64) -> Scenario {
    Scenario { max, gateways, load, largest, is_hard: true, periods: 1, gateways_die: false, store_is_gone: false }
}

#[test]
fn a_hard_budget_can_be_used_up() {
    println!("| budget | gateways | largest request | spent | questions per request |\n|---|---|---|---|---|");
    for (max, gateways) in [(100_000, 1), (100_000, 3), (1_000_000, 3), (10_000_000, 10)] {
        for largest in [0.000_2, 0.001, 0.005] {
            for seed in 0..3 {
                let outcome = run(&plain(max, gateways, 2.0, largest), seed);
                let spent = outcome.spent[0] as f64 / max as f64;
                let questions = outcome.questions as f64 / outcome.requests as f64;
                println!("| {max} | {gateways} | {largest} | {spent:.4} | {questions:.3} |");
                assert!((0.97..=1.0).contains(&spent), "{max} {gateways} {largest} {seed}: {spent}");
            }
        }
    }
}

#[test]
fn while_there_is_enough_few_requests_ask_the_store() {
    for (gateways, largest) in [(1, 0.000_2), (3, 0.000_2), (3, 0.001), (10, 0.000_2)] {
        let outcome = run(&plain(10_000_000, gateways, 0.5, largest), 1);
        let questions = outcome.questions as f64 / outcome.requests as f64;
        println!("| {gateways} | {largest} | {} | {questions:.4} |", outcome.requests);
        assert!(questions < 0.05, "{gateways} {largest}: {questions}");
    }
}
