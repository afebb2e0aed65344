//! Chooses the target of a request from a list, and ejects targets that fail.

use crate::health::Interval;
use crate::{Availability, EjectionCause, HealthRules, Nanos, TARGETS_MAX, TargetHealth, TryResult, mix};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

/// How often a random choice is repeated before all targets are looked through.
const DRAWS_MAX: usize = 8;
/// A zone gets all of its requests while its available targets, times this, have the weight of all of its targets. Below, the other zones take
/// over what is missing.
const ZONE_RESERVE: f64 = 1.4;
/// Keeps the choice of the zone apart from that of the target.
const ZONE_SALT: u64 = 0x5bd1_e995_9d1b_54a3;
/// Longest schedule of weighted turns. Weights are divided by their common divisor before.
const TURNS_MAX: usize = 4_096;

/// How to choose.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum BalanceMethod {
    /// In turn, by weight.
    #[default]
    RoundRobin,
    /// At random, by weight.
    Random,
    /// Of two random targets, the one with fewer requests in flight.
    LeastRequests,
    /// Of two random targets, the one with the lower product of latency and requests in flight.
    PeakEwma,
    /// By a hash of the request. A target with more than this many percent of the mean number of requests in flight is passed over; 0 never does.
    Hash {
        /// Percent of the mean.
        load_percent_max: u32,
    },
}

/// One target of a list.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its share, relative to the others'.
    pub weight: u32,
    /// A hash of its name.
    pub hash: u64,
    /// Targets of a tier get requests only if no target of a lower tier is available. An odd tier also takes over what the even one before it is
    /// missing: those are the targets of other zones.
    pub tier: u8,
    /// Its state.
    pub health: Arc<TargetHealth>,
}

/// The targets of a list. A changed list is a new value with the same states.
#[derive(Debug)]
pub struct Candidates {
    list: Vec<Candidate>,
    method: BalanceMethod,
    rules: HealthRules,
    /// Indices in the order of their turns.
    schedule: Vec<u16>,
    weights: Vec<u64>,
    turn: AtomicUsize,
    tiers: u8,
    next_look: AtomicU64,
    is_ejecting: AtomicBool,
}

/// The chosen target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The target with this index is available.
    Target(usize),
    /// No target is available; this one is tried nevertheless, because a list without targets helps nobody.
    LastResort(usize),
    /// Checks find all targets down.
    AllDown,
}

impl Candidates {
    /// Makes a list. Only the first [`TARGETS_MAX`] are used; a target without weight gets no requests.
    pub fn new(list: Vec<Candidate>, method: BalanceMethod, rules: HealthRules) -> Self {
        let mut list = list;
        list.truncate(TARGETS_MAX);
        let weights = list.iter().scan(0, |sum, candidate| {
            *sum += u64::from(candidate.weight);
            Some(*sum)
        });
        let weights: Vec<u64> = weights.collect();
        let tiers = list.iter().map(|candidate| candidate.tier).max().unwrap_or_default();
        let schedule = schedule(&list);
        Candidates {
            list,
            method,
            rules,
            schedule,
            weights,
            turn: AtomicUsize::new(0),
            tiers,
            next_look: AtomicU64::new(0),
            is_ejecting: AtomicBool::new(false),
        }
    }

    /// The targets.
    pub fn list(&self) -> &[Candidate] {
        &self.list
    }

    /// The rules for their health.
    pub fn rules(&self) -> &HealthRules {
        &self.rules
    }

    /// Whether requests need a key to choose by.
    pub fn wants_key(&self) -> bool {
        matches!(self.method, BalanceMethod::Hash { .. })
    }

    /// Chooses a target, if possible none of `avoided`, which have been tried. `key` is the hash of the request.
    pub fn pick(&self, key: Option<u64>, avoided: &[u16], random: u64, now: Nanos) -> Choice {
        let first = if self.tiers == 0 { 0 } else { self.first_tier(key.unwrap_or(random), now) };
        let others = (0..=self.tiers).filter(|tier| *tier != first);
        for tier in std::iter::once(first).chain(others) {
            if let Some(index) = self.pick_of_tier(tier, key, avoided, random, now) {
                return Choice::Target(index);
            }
        }
        if !avoided.is_empty() {
            return self.pick(key, &[], random, now);
        }
        self.pick_nevertheless(random)
    }

    /// Whether the target with this index is available, for requests that belong to it.
    pub fn is_available(&self, index: usize, now: Nanos) -> bool {
        self.list.get(index).is_some_and(|candidate| {
            candidate.weight > 0 && matches!(candidate.health.availability(now, &self.rules), Availability::Share(_))
        })
    }

    /// Whether another target than `avoided` is available.
    pub fn has_other(&self, avoided: &[u16], now: Nanos) -> bool {
        let is_avoided = |index: usize| avoided.iter().any(|avoided| usize::from(*avoided) == index);
        (0..self.list.len()).any(|index| !is_avoided(index) && self.is_available(index, now))
    }

    /// The tier that gets a request: the lowest with an available target, or the odd one after it for the part that it is missing.
    #[cold]
    fn first_tier(&self, point: u64, now: Nanos) -> u8 {
        let available = |tier: u8| {
            let own = self.list.iter().enumerate().filter(|(_, candidate)| candidate.tier == tier);
            own.map(|(index, candidate)| f64::from(candidate.weight) * self.share(index, tier, &[], now).unwrap_or_default())
                .sum::<f64>()
        };
        let mut highest = 0;
        for tier in (0..=self.tiers).step_by(2) {
            let (here, elsewhere) = (available(tier), available(tier.saturating_add(1)));
            let all: f64 =
                self.list.iter().filter(|candidate| candidate.tier == tier).map(|candidate| f64::from(candidate.weight)).sum();
            let is_covered = here > 0.0 && fraction(mix(point ^ ZONE_SALT)) * all < here * ZONE_RESERVE;
            match (is_covered, elsewhere > 0.0) {
                (true, _) => return tier,
                (false, true) => return tier.saturating_add(1),
                (false, false) if here > 0.0 => return tier,
                (false, false) => highest = tier,
            }
        }
        highest
    }

    fn pick_of_tier(&self, tier: u8, key: Option<u64>, avoided: &[u16], random: u64, now: Nanos) -> Option<usize> {
        match (self.method, key) {
            (BalanceMethod::Hash { load_percent_max }, Some(key)) => self.by_hash(tier, key, load_percent_max, avoided, now),
            // Whoever asks wants requests with one key together, also in a list that others choose from by turns.
            (_, Some(key)) => self.by_hash(tier, key, 0, avoided, now),
            (BalanceMethod::RoundRobin, _) => self.in_turn(tier, avoided, random, now),
            (BalanceMethod::LeastRequests, _) => {
                self.better_of_two(tier, avoided, random, now, |health| f64::from(health.in_flight()) + 1.0)
            }
            (BalanceMethod::PeakEwma, _) => self.better_of_two(tier, avoided, random, now, |health| {
                (health.expected_latency(now) + 1.0) * (f64::from(health.in_flight()) + 1.0)
            }),
            (BalanceMethod::Random | BalanceMethod::Hash { .. }, _) => self.draw(tier, avoided, random, now, None),
        }
    }

    /// The part of its share that a target gets now; `None` if it gets no requests.
    #[inline]
    fn share(&self, index: usize, tier: u8, avoided: &[u16], now: Nanos) -> Option<f64> {
        let candidate = self.list.get(index).filter(|candidate| candidate.tier == tier && candidate.weight > 0)?;
        if avoided.iter().any(|avoided| usize::from(*avoided) == index) {
            return None;
        }
        match candidate.health.availability(now, &self.rules) {
            Availability::Share(share) => Some(share),
            Availability::Ejected(_) | Availability::Unanswered | Availability::Down => None,
        }
    }

    fn in_turn(&self, tier: u8, avoided: &[u16], random: u64, now: Nanos) -> Option<usize> {
        // Each repetition takes a turn of its own, so that the share of a missing target is spread over all others.
        for draw in 0..DRAWS_MAX {
            let turn = self.turn.fetch_add(1, Relaxed).checked_rem(self.schedule.len())?;
            let index = usize::from(*self.schedule.get(turn)?);
            if let Some(share) = self.share(index, tier, avoided, now)
                && (share >= 1.0 || fraction(mix(random ^ draw as u64)) < share)
            {
                return Some(index);
            }
        }
        self.look_through(tier, avoided, random, now)
    }

    /// A random target, by weight, other than `taken`.
    fn draw(&self, tier: u8, avoided: &[u16], random: u64, now: Nanos, taken: Option<usize>) -> Option<usize> {
        let total = self.weights.last().copied().filter(|total| *total > 0)?;
        let mut random = random;
        for _ in 0..DRAWS_MAX {
            random = mix(random);
            let point = ((u128::from(random) * u128::from(total)) >> 64) as u64;
            let index = self.weights.partition_point(|sum| *sum <= point);
            if taken != Some(index)
                && let Some(share) = self.share(index, tier, avoided, now)
                && (share >= 1.0 || fraction(mix(random)) < share)
            {
                return Some(index);
            }
        }
        match taken {
            Some(_) => None,
            None => self.look_through(tier, avoided, random, now),
        }
    }

    /// Looks through all targets: a random one of those that are available, whatever its weight.
    #[cold]
    fn look_through(&self, tier: u8, avoided: &[u16], random: u64, now: Nanos) -> Option<usize> {
        let shares = || (0..self.list.len()).filter_map(|index| Some((index, self.share(index, tier, avoided, now)?)));
        let total: f64 = shares().map(|(_, share)| share).sum();
        let mut point = fraction(random) * total;
        let chosen = shares().find(|(_, share)| {
            point -= share;
            point < 0.0
        });
        chosen.or_else(|| shares().last()).map(|(index, _)| index)
    }

    fn better_of_two(
        &self,
        tier: u8,
        avoided: &[u16],
        random: u64,
        now: Nanos,
        cost: impl Fn(&TargetHealth) -> f64,
    ) -> Option<usize> {
        let one = self.draw(tier, avoided, random, now, None)?;
        let Some(other) = self.draw(tier, avoided, random.rotate_left(32), now, Some(one)) else { return Some(one) };
        let cost_of = |index: usize| self.list.get(index).map_or(f64::MAX, |candidate| cost(&candidate.health));
        Some(if cost_of(other) < cost_of(one) { other } else { one })
    }

    /// Rendezvous hashing: each target scores the key, and the highest score wins. When a target goes, only its keys move.
    fn by_hash(&self, tier: u8, key: u64, load_percent_max: u32, avoided: &[u16], now: Nanos) -> Option<usize> {
        let total_weight = self.weights.last().copied().filter(|total| *total > 0)?;
        let in_flight: u64 = match load_percent_max {
            0 => 0,
            _ => self.list.iter().map(|candidate| u64::from(candidate.health.in_flight())).sum(),
        };
        let has_room = |candidate: &Candidate| {
            let mean = (in_flight + 1) as f64 * f64::from(candidate.weight) / total_weight as f64;
            load_percent_max == 0
                || f64::from(candidate.health.in_flight() + 1) <= (mean * f64::from(load_percent_max) / 100.0).ceil().max(1.0)
        };
        let mut best: Option<(f64, usize)> = None;
        let mut best_full: Option<(f64, usize)> = None;
        for (index, candidate) in self.list.iter().enumerate() {
            let Some(share) = self.share(index, tier, avoided, now) else { continue };
            let score = weighted_score(mix(key ^ candidate.hash), candidate.weight);
            // A target that has just returned takes its keys back little by little, the same keys first on every core.
            let is_back = share >= 1.0 || fraction(mix(key ^ candidate.hash.rotate_left(17))) < share;
            let slot = if is_back && has_room(candidate) { &mut best } else { &mut best_full };
            if slot.is_none_or(|(highest, _)| score > highest) {
                *slot = Some((score, index));
            }
        }
        best.or(best_full).map(|(_, index)| index)
    }

    /// No target is available: one that checks do not find down.
    #[cold]
    fn pick_nevertheless(&self, random: u64) -> Choice {
        let up: Vec<usize> = self
            .list
            .iter()
            .enumerate()
            .filter(|(_, candidate)| candidate.weight > 0 && !candidate.health.is_down())
            .map(|(index, _)| index)
            .collect();
        let position = ((u128::from(random) * up.len() as u128) >> 64) as usize;
        up.get(position).map_or(Choice::AllDown, |index| Choice::LastResort(*index))
    }

    /// Notes how a try of the target with this index ended. Returns the cause if that ejects it.
    pub fn record(&self, index: usize, result: TryResult, began: Nanos, now: Nanos) -> Option<EjectionCause> {
        let candidate = self.list.get(index)?;
        let cause = candidate.health.record(result, began, now, &self.rules)?;
        self.eject(candidate, cause, now).then_some(cause)
    }

    /// Ejects a target, unless that would exceed the maximum share.
    fn eject(&self, candidate: &Candidate, cause: EjectionCause, now: Nanos) -> bool {
        if self.is_ejecting.swap(true, Acquire) {
            // Another core ejects a target at this moment. The next fault ejects this one.
            return false;
        }
        let is_allowed = cause == EjectionCause::Unreachable || {
            let ejected = self.list.iter().filter(|candidate| candidate.health.is_ejected_as_failing()).count();
            (ejected + 1) * 100 <= self.list.len() * self.rules.ejected_percent_max as usize
        };
        let is_ejected = is_allowed && candidate.health.eject(cause, now, &self.rules);
        self.is_ejecting.store(false, Release);
        is_ejected
    }

    /// Whether the interval is over. Only one caller is told so; it calls [`Candidates::look`].
    #[inline]
    pub fn is_time_to_look(&self, now: Nanos) -> bool {
        let next = self.next_look.load(Relaxed);
        now >= next && self.next_look.compare_exchange(next, now.saturating_add(self.rules.interval), Relaxed, Relaxed).is_ok()
    }

    /// Compares the targets with each other over the interval that ends now, and ejects those that fail or lag. Returns them.
    #[cold]
    pub fn look(&self, now: Nanos) -> Vec<(usize, EjectionCause)> {
        let intervals: Vec<Interval> = self.list.iter().map(|candidate| candidate.health.take_interval()).collect();
        let mut ejected = Vec::new();
        for (index, (candidate, interval)) in self.list.iter().zip(&intervals).enumerate() {
            if let Some(cause) = self.outlier(index, interval, &intervals)
                && !candidate.health.is_ejected()
                && self.eject(candidate, cause, now)
            {
                ejected.push((index, cause));
            }
        }
        ejected
    }

    fn outlier(&self, index: usize, interval: &Interval, all: &[Interval]) -> Option<EjectionCause> {
        let rules = &self.rules;
        if interval.tries < rules.requests_min.max(1) {
            return None;
        }
        if rules.fault_percent > 0 && interval.faults * 100 >= interval.tries * u64::from(rules.fault_percent) {
            return Some(EjectionCause::FaultShare);
        }
        let latency = interval.latency.filter(|latency| rules.latency_factor > 0.0 && *latency >= rules.latency_min as f64)?;
        let others =
            all.iter().enumerate().filter(|(other, interval)| *other != index && interval.tries >= rules.requests_min.max(1));
        let mut others: Vec<f64> = others.filter_map(|(_, interval)| interval.latency).collect();
        others.sort_by(f64::total_cmp);
        let median = others.get(others.len() / 2)?;
        (latency > median * rules.latency_factor).then_some(EjectionCause::Latency)
    }

    /// Number of targets that answered their last request, as far as known.
    pub fn working(&self) -> usize {
        self.list.iter().filter(|candidate| candidate.health.works()).count()
    }
}

/// A number from 0 to 1, without 1.
#[inline]
fn fraction(random: u64) -> f64 {
    (random >> 11) as f64 / (1u64 << 53) as f64
}

/// The score of weighted rendezvous hashing: the share of keys that a target wins is its share of the weights.
#[inline]
pub fn weighted_score(hash: u64, weight: u32) -> f64 {
    -f64::from(weight) / fraction(hash).max(f64::MIN_POSITIVE).ln()
}

/// The order of turns by weight, evenly mixed ("smooth weighted round robin").
fn schedule(list: &[Candidate]) -> Vec<u16> {
    let divisor = list.iter().map(|candidate| candidate.weight).fold(0, common_divisor).max(1);
    let mut weights: Vec<i64> = list.iter().map(|candidate| i64::from(candidate.weight / divisor)).collect();
    let total: i64 = weights.iter().sum();
    if total > TURNS_MAX as i64 {
        // Rounded, but a target with a weight keeps a turn.
        let shorten = |weight: &mut i64| *weight = (*weight * (TURNS_MAX / 2) as i64 / total).max(i64::from(*weight > 0));
        weights.iter_mut().for_each(shorten);
    }
    let total: i64 = weights.iter().sum();
    let mut credits = vec![0_i64; weights.len()];
    let mut turns = Vec::new();
    for _ in 0..total {
        credits.iter_mut().zip(&weights).for_each(|(credit, weight)| *credit += weight);
        let richest = credits.iter_mut().enumerate().rev().max_by_key(|(_, credit)| **credit);
        let Some((index, credit)) = richest else { break };
        *credit -= total;
        turns.push(u16::try_from(index).unwrap_or_default());
    }
    turns
}

fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests;
