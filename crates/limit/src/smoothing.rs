//! Rates that rise and fall in steps, between a threshold and a maximum, as in Tyk: a rate rises while requests come close to it, and falls
//! while there are few. It has no clock.

use super::rate::Rate;
use std::sync::atomic::{AtomicI8, AtomicU64, Ordering};
use std::time::Duration;

/// How a rate rises and falls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothingRules {
    /// The rate at the beginning, and the lowest one.
    threshold: u64,
    /// By how much it rises or falls.
    step: u64,
    /// Distance from the rate at which it rises.
    margin: f64,
    /// Time between two changes.
    delay_us: u64,
}

/// A change of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmoothingChange {
    /// The rate has risen.
    Up,
    /// The rate has fallen.
    Down,
}

/// The present rate.
#[derive(Debug, Default)]
pub(super) struct Allowance {
    /// Requests per window; 0 before the first use.
    requests: AtomicU64,
    /// When it may change next.
    next_us: AtomicU64,
    /// When it was used last.
    used_us: AtomicU64,
    /// A change that nobody has been told of: 1 up, -1 down.
    untold: AtomicI8,
}

impl SmoothingRules {
    /// Rules with a trigger in steps; `None` if they could not change anything.
    pub fn new(threshold: u64, trigger: f64, step: u64, delay: Duration) -> Option<Self> {
        let valid = threshold > 0 && step > 0 && !delay.is_zero() && trigger > 0.0 && trigger.is_finite();
        valid.then_some(SmoothingRules { threshold, step, margin: trigger * step as f64, delay_us: delay.as_micros() as u64 })
    }

    fn lowest(&self, max: u64) -> u64 {
        self.threshold.min(max)
    }

    /// The rate that follows `requests` when `used` requests are in the window.
    fn next(&self, requests: u64, max: u64, used: u64) -> u64 {
        let used = used as f64;
        if used >= requests as f64 - self.margin {
            return requests.saturating_add(self.step).min(max);
        }
        let lower = requests as f64 - self.step as f64;
        if used <= lower - self.margin { requests.saturating_sub(self.step).max(self.lowest(max)) } else { requests }
    }

    /// Arguments of the script that does the same for several gateways.
    pub(super) fn arguments(&self, max: u64, used: u64) -> Vec<String> {
        let numbers = [self.lowest(max), max, self.step, self.delay_us, used].map(|number| number.to_string());
        numbers.into_iter().chain([self.margin.to_string()]).collect()
    }
}

impl Allowance {
    /// The rate that applies now, of which `rate` is the maximum.
    pub(super) fn rate(&self, rate: Rate, rules: &SmoothingRules) -> Rate {
        let requests = match self.requests.load(Ordering::Relaxed) {
            0 => rules.lowest(rate.requests),
            requests => requests.min(rate.requests),
        };
        Rate { requests, ..rate }
    }

    /// Whether it is time to look at the rate; then nobody else looks for a `delay`. A rate that was not used for two of them starts again.
    pub(super) fn is_due(&self, rules: &SmoothingRules, now_us: u64) -> bool {
        let used_us = self.used_us.swap(now_us, Ordering::Relaxed);
        let next_us = self.next_us.load(Ordering::Relaxed);
        if next_us == 0 || used_us.saturating_add(rules.delay_us.saturating_mul(2)) < now_us {
            self.requests.store(0, Ordering::Relaxed);
            self.next_us.store(now_us.saturating_add(rules.delay_us), Ordering::Relaxed);
            return false;
        }
        let later_us = now_us.saturating_add(rules.delay_us);
        now_us >= next_us && self.next_us.compare_exchange(next_us, later_us, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Changes the rate if `used` requests in the window say so. If they do not, the next request looks again.
    pub(super) fn look(&self, rate: Rate, rules: &SmoothingRules, used: u64, now_us: u64) {
        let present = self.rate(rate, rules).requests;
        let next = rules.next(present, rate.requests, used);
        if next == present {
            self.next_us.store(now_us, Ordering::Relaxed);
        }
        self.set(next, i8::from(next > present) - i8::from(next < present));
    }

    /// Takes over a rate that gateways share, which may change again at `next_us`. `change` is this gateway's own change of it.
    pub(super) fn share(&self, requests: u64, change: i8, next_us: u64) {
        self.next_us.store(next_us, Ordering::Relaxed);
        self.set(requests, change);
    }

    fn set(&self, requests: u64, change: i8) {
        self.requests.store(requests, Ordering::Relaxed);
        if change != 0 {
            self.untold.store(change, Ordering::Relaxed);
        }
    }

    /// A change that nobody has been told of.
    pub(super) fn take_change(&self) -> Option<SmoothingChange> {
        // A load first: a change is rare.
        if self.untold.load(Ordering::Relaxed) == 0 {
            return None;
        }
        match self.untold.swap(0, Ordering::Relaxed) {
            0 => None,
            1.. => Some(SmoothingChange::Up),
            _ => Some(SmoothingChange::Down),
        }
    }
}

#[cfg(test)]
mod tests;
