//! The health of one target as its responses show it: consecutive faults, the share of faults, and the latency. A target that fails is
//! ejected for a time that grows from ejection to ejection. When it returns it is on probation, and gets its share little by little.

use crate::Nanos;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Most doublings of the time of ejection; the maximum time is reached before.
const LEVEL_MAX: u32 = 16;
/// The first share of a target that returns. Without any share nobody would notice that it works.
const FIRST_SHARE: f64 = 0.05;
/// Time after which a latency sample weighs 1/e.
const LATENCY_DECAY: f64 = 10e9;
/// How long a target is passed over after somebody said that a connect to it is not answered. Whoever waits says it more often than that.
const UNANSWERED: Nanos = 300_000_000;

/// When a target is ejected, and how it returns. Zero switches a rule off.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HealthRules {
    /// Whether one connect that fails ejects a target.
    pub failed_connect: bool,
    /// Faults without a success between them.
    pub consecutive_faults: u32,
    /// Share of faults in an interval.
    pub fault_percent: u32,
    /// Multiple of the other targets' median latency in an interval.
    pub latency_factor: f64,
    /// Mean latencies below this are never too long.
    pub latency_min: Nanos,
    /// Requests that an interval needs before the two rules above apply.
    pub requests_min: u64,
    /// Length of an interval.
    pub interval: Nanos,
    /// First time of ejection. It doubles.
    pub ejected: Nanos,
    /// Longest time of ejection.
    pub ejected_max: Nanos,
    /// Largest share of the list that is ejected for failing. Targets that cannot be reached do not count: they take no load anyway.
    pub ejected_percent_max: u32,
    /// Time in which a target that returns gets its full share.
    pub slow_start: Nanos,
}

/// How one try of a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryResult {
    /// The target answered.
    Success,
    /// No connection to it could be opened.
    NotConnected,
    /// It closed the connection without an answer.
    Unreachable,
    /// It answered with an error of its own, or too late.
    Failing,
    /// The try says nothing about the target: the client left.
    Unknown,
}

/// Why a target is ejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EjectionCause {
    /// It could not be reached.
    Unreachable,
    /// Consecutive faults.
    Faults,
    /// The share of faults.
    FaultShare,
    /// The latency.
    Latency,
}

/// Whether a target gets requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Availability {
    /// It gets this part of its share, 1 unless it has just returned.
    Share(f64),
    /// It is ejected.
    Ejected(EjectionCause),
    /// Somebody waits for a connection to it.
    Unanswered,
    /// Checks find it down.
    Down,
}

/// The state of one target, shared by all cores.
#[derive(Debug, Default)]
pub struct TargetHealth {
    in_flight: AtomicU32,
    /// Tries, faults among them, and tries that repeated a failed one.
    tries: AtomicU64,
    faults: AtomicU64,
    retries: AtomicU64,
    consecutive_faults: AtomicU32,
    /// Tries since the start of the interval: all, faults, and nanoseconds of those that were answered.
    interval_tries: AtomicU64,
    interval_faults: AtomicU64,
    interval_latency: AtomicU64,
    /// Moving average that jumps up to peaks.
    latency: AtomicU64,
    latency_at: AtomicU64,
    ejections: AtomicU64,
    ejected_at: AtomicU64,
    /// When the ejection ends; 0 if there is none.
    ejected_until: AtomicU64,
    ejected_for: AtomicU8,
    level: AtomicU32,
    /// When it returned from its last ejection; 0 if there was none.
    returned_at: AtomicU64,
    /// The next fault ejects it again, whatever the rules for faults.
    on_probation: AtomicBool,
    /// Until when it is passed over because a connect to it is not answered.
    unanswered_until: AtomicU64,
    is_down: AtomicBool,
}

/// Sums of one interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub tries: u64,
    pub faults: u64,
    /// Mean latency of tries that were answered.
    pub latency: Option<f64>,
}

impl TargetHealth {
    /// Counts the start of a try.
    #[inline]
    pub fn begin(&self, is_retry: bool) {
        self.in_flight.fetch_add(1, Relaxed);
        self.tries.fetch_add(1, Relaxed);
        if is_retry {
            self.retries.fetch_add(1, Relaxed);
        }
    }

    /// Counts the end of a try.
    #[inline]
    pub fn end(&self) {
        self.in_flight.fetch_sub(1, Relaxed);
    }

    /// Notes how a try ended that began at `began`. Returns why the target should be ejected, if it should.
    #[inline]
    pub fn record(&self, result: TryResult, began: Nanos, now: Nanos, rules: &HealthRules) -> Option<EjectionCause> {
        match result {
            TryResult::Unknown => return None,
            TryResult::Success => {
                self.sample_latency(now.saturating_sub(began), now);
                if self.consecutive_faults.load(Relaxed) != 0 {
                    self.consecutive_faults.store(0, Relaxed);
                }
                if self.on_probation.load(Relaxed) && began >= self.returned_at.load(Relaxed) {
                    self.on_probation.store(false, Relaxed);
                }
                if self.ejected_until.load(Relaxed) != 0 && began > self.ejected_at.load(Relaxed) {
                    // All targets were tried because none was left, and this one works.
                    self.reinstate(now);
                }
                self.interval_tries.fetch_add(1, Relaxed);
                self.interval_latency.fetch_add(now.saturating_sub(began), Relaxed);
                return None;
            }
            TryResult::NotConnected | TryResult::Unreachable | TryResult::Failing => {}
        }
        self.faults.fetch_add(1, Relaxed);
        self.interval_tries.fetch_add(1, Relaxed);
        self.interval_faults.fetch_add(1, Relaxed);
        if result == TryResult::Failing {
            self.sample_latency(now.saturating_sub(began), now);
        }
        let consecutive = self.consecutive_faults.fetch_add(1, Relaxed).saturating_add(1);
        if self.ejected_until.load(Relaxed) != 0 || began < self.returned_at.load(Relaxed) {
            // A try from before the ejection says nothing new.
            return None;
        }
        let is_too_many = rules.consecutive_faults > 0 && consecutive >= rules.consecutive_faults;
        let is_on_probation = rules.consecutive_faults > 0 && self.on_probation.load(Relaxed);
        let is_unconnected = rules.failed_connect && result == TryResult::NotConnected;
        (is_too_many || is_on_probation || is_unconnected).then_some(match result {
            TryResult::NotConnected | TryResult::Unreachable => EjectionCause::Unreachable,
            _ => EjectionCause::Faults,
        })
    }

    /// Ejects the target. False if another core did.
    pub(crate) fn eject(&self, cause: EjectionCause, now: Nanos, rules: &HealthRules) -> bool {
        let returned = self.returned_at.load(Relaxed);
        let last_level = self.level.load(Relaxed);
        let last = ejection_time(rules, last_level.saturating_sub(1));
        // A target that worked for longer than it was away starts anew.
        let level =
            if returned != 0 && now.saturating_sub(returned) <= last.saturating_add(rules.slow_start) { last_level } else { 0 };
        let until = now.saturating_add(ejection_time(rules, level)).max(1);
        if self.ejected_until.compare_exchange(0, until, Relaxed, Relaxed).is_err() {
            return false;
        }
        self.ejected_at.store(now, Relaxed);
        self.ejected_for.store(cause as u8, Relaxed);
        self.level.store((level + 1).min(LEVEL_MAX), Relaxed);
        self.ejections.fetch_add(1, Relaxed);
        true
    }

    /// Ends the ejection.
    fn reinstate(&self, now: Nanos) {
        self.returned_at.store(now.max(1), Relaxed);
        self.consecutive_faults.store(0, Relaxed);
        self.on_probation.store(true, Relaxed);
        self.ejected_until.store(0, Relaxed);
    }

    /// Whether the target gets requests at `now`. Ends an ejection whose time is over.
    #[inline]
    pub fn availability(&self, now: Nanos, rules: &HealthRules) -> Availability {
        if self.is_down.load(Relaxed) {
            return Availability::Down;
        }
        if self.unanswered_until.load(Relaxed) > now {
            return Availability::Unanswered;
        }
        let until = self.ejected_until.load(Relaxed);
        if until > now {
            return Availability::Ejected(self.ejection_cause());
        }
        if until != 0 {
            self.reinstate(until);
        }
        let returned = self.returned_at.load(Relaxed);
        if returned == 0 || now.saturating_sub(returned) >= rules.slow_start {
            return Availability::Share(1.0);
        }
        let part = now.saturating_sub(returned) as f64 / rules.slow_start.max(1) as f64;
        Availability::Share(part.max(FIRST_SHARE))
    }

    /// Notes that a connect to it is not answered yet. It is passed over for a moment.
    pub fn note_unanswered(&self, now: Nanos) {
        self.unanswered_until.store(now.saturating_add(UNANSWERED), Relaxed);
    }

    /// Takes note of what checks found. True if it changed.
    pub fn set_down(&self, is_down: bool, now: Nanos) -> bool {
        let changed = self.is_down.swap(is_down, Relaxed) != is_down;
        if changed && !is_down {
            self.reinstate(now);
        }
        changed
    }

    /// Whether the target answered its last request, as far as known.
    #[inline]
    pub(crate) fn works(&self) -> bool {
        self.consecutive_faults.load(Relaxed) == 0 && self.ejected_until.load(Relaxed) == 0
    }

    #[inline]
    fn sample_latency(&self, sample: Nanos, now: Nanos) {
        let old = self.latency.load(Relaxed);
        let elapsed = now.saturating_sub(self.latency_at.load(Relaxed)) as f64;
        let weight = (-elapsed / LATENCY_DECAY).exp();
        let mixed = old as f64 * weight + sample as f64 * (1.0 - weight);
        // Two cores may overwrite each other's sample; the next one makes up for it.
        self.latency.store(if sample > old { sample } else { mixed as u64 }, Relaxed);
        self.latency_at.store(now, Relaxed);
    }

    /// The latency as the peak EWMA sees it at `now`: it decays while no request is sent, so that a target that was slow is tried again.
    #[inline]
    pub(crate) fn expected_latency(&self, now: Nanos) -> f64 {
        let elapsed = now.saturating_sub(self.latency_at.load(Relaxed)) as f64;
        self.latency.load(Relaxed) as f64 * (-elapsed / LATENCY_DECAY).exp()
    }

    /// Ends the interval.
    pub(crate) fn take_interval(&self) -> Interval {
        let tries = self.interval_tries.swap(0, Relaxed);
        let faults = self.interval_faults.swap(0, Relaxed).min(tries);
        let latency = self.interval_latency.swap(0, Relaxed);
        Interval { tries, faults, latency: (tries > faults).then(|| latency as f64 / (tries - faults) as f64) }
    }

    /// Whether checks find it down.
    pub fn is_down(&self) -> bool {
        self.is_down.load(Relaxed)
    }

    pub(crate) fn is_ejected(&self) -> bool {
        self.ejected_until.load(Relaxed) != 0
    }

    pub(crate) fn is_ejected_as_failing(&self) -> bool {
        self.is_ejected() && self.ejection_cause() != EjectionCause::Unreachable
    }

    fn ejection_cause(&self) -> EjectionCause {
        let causes = [EjectionCause::Unreachable, EjectionCause::Faults, EjectionCause::FaultShare];
        let number = self.ejected_for.load(Relaxed);
        causes.into_iter().find(|cause| *cause as u8 == number).unwrap_or(EjectionCause::Latency)
    }

    /// Tries that are not answered yet.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.in_flight.load(Relaxed)
    }

    /// All tries.
    pub fn tries(&self) -> u64 {
        self.tries.load(Relaxed)
    }

    /// Tries that failed.
    pub fn faults(&self) -> u64 {
        self.faults.load(Relaxed)
    }

    /// Tries that repeated a failed one.
    pub fn retries(&self) -> u64 {
        self.retries.load(Relaxed)
    }

    /// How often it was ejected.
    pub fn ejections(&self) -> u64 {
        self.ejections.load(Relaxed)
    }

    /// Moving average of the latency.
    pub fn latency(&self) -> Nanos {
        self.latency.load(Relaxed)
    }

    /// When its ejection ends, if it is ejected.
    pub fn ejected_until(&self) -> Option<Nanos> {
        Some(self.ejected_until.load(Relaxed)).filter(|until| *until != 0)
    }
}

fn ejection_time(rules: &HealthRules, level: u32) -> Nanos {
    rules.ejected.saturating_mul(1 << level.min(LEVEL_MAX)).min(rules.ejected_max.max(rules.ejected))
}

#[cfg(test)]
mod tests;
