//! State of one limit, under the gateway's algorithm.

use super::admission::{LimitDecision, WaitPolicy};
use super::algorithm::LimitAlgorithm;
use super::fixed_window::FixedWindow;
use super::gcra::Gcra;
use super::rate::Rate;
use super::shared_rate::SharedRate;
use super::sliding_window::SlidingWindow;
use super::smoothing::{SmoothingChange, SmoothingRules};
use std::sync::Arc;
use std::time::Duration;

/// State of one limit. It survives reloads; a changed rate applies to the existing state.
pub enum Limiter {
    /// The generic cell rate algorithm.
    Gcra(Gcra),
    /// Boxed, so that it does not enlarge the default variant.
    Fixed(Box<FixedWindow>),
    /// Boxed as well.
    Sliding(Box<SlidingWindow>),
    /// Counted together with other gateways.
    Shared(Arc<SharedRate>),
}

impl Limiter {
    /// Makes an unused limit.
    pub fn new(algorithm: LimitAlgorithm) -> Self {
        match algorithm {
            LimitAlgorithm::Gcra => Limiter::Gcra(Gcra::default()),
            LimitAlgorithm::FixedWindow => Limiter::Fixed(Box::default()),
            LimitAlgorithm::SlidingWindow => Limiter::Sliding(Box::default()),
        }
    }

    /// Counts a request at `now` if there is room for it, or returns how long to wait. Rejected requests count nothing.
    #[inline]
    pub fn admit(&self, rate: Rate, now: Duration) -> Result<(), Duration> {
        match self {
            Limiter::Gcra(limit) => limit.admit(rate, now),
            Limiter::Fixed(limit) => limit.admit(rate, now),
            Limiter::Sliding(limit) => limit.admit(rate, now),
            // Callers that can wait for an answer use [`Limiter::shared`].
            Limiter::Shared(limit) => match limit.admit(rate, now, WaitPolicy::IsOver, None) {
                LimitDecision::Admitted => Ok(()),
                LimitDecision::Refused(wait) => Err(wait),
                LimitDecision::Asked | LimitDecision::Silent => Err(Duration::ZERO),
            },
        }
    }

    /// How long a request at `now` would have to wait; it is not counted. A limit that gateways share only knows its window.
    pub fn wait(&self, rate: Rate, now: Duration) -> Duration {
        if let Limiter::Shared(limit) = self {
            return if limit.room(rate, now) > 0 { Duration::ZERO } else { Duration::from_nanos(rate.window_ns) };
        }
        match self.admit(rate, now) {
            Ok(()) => {
                self.refund(rate, now);
                Duration::ZERO
            }
            Err(wait) => wait,
        }
    }

    /// The shared limit, if this is one.
    #[inline]
    pub fn shared(&self) -> Option<&Arc<SharedRate>> {
        match self {
            Limiter::Shared(limit) => Some(limit),
            _ => None,
        }
    }

    /// Takes back the count at `now` of a request that is refused for another reason.
    pub fn refund(&self, rate: Rate, now: Duration) {
        match self {
            Limiter::Gcra(limit) => limit.refund(rate),
            Limiter::Fixed(limit) => limit.refund(now),
            Limiter::Sliding(limit) => limit.refund(rate, now),
            Limiter::Shared(limit) => limit.give_back(),
        }
    }

    /// The present rate of a limit that rises and falls in steps up to `rate`. Only sliding windows do, as in Tyk.
    pub fn smoothed(&self, rate: Rate, rules: &SmoothingRules) -> Rate {
        match self {
            Limiter::Gcra(_) | Limiter::Fixed(_) => rate,
            Limiter::Sliding(limit) => limit.allowance.rate(rate, rules),
            Limiter::Shared(limit) => limit.smoothed(rate, rules),
        }
    }

    /// Lets the rate rise or fall after a request, if it is time. Returns a change that nobody has been told of.
    pub fn smooth(&self, rate: Rate, rules: &SmoothingRules, now: Duration) -> Option<SmoothingChange> {
        match self {
            Limiter::Gcra(_) | Limiter::Fixed(_) => None,
            Limiter::Sliding(limit) => {
                let (allowance, now_us) = (&limit.allowance, now.as_micros() as u64);
                if allowance.is_due(rules, now_us) {
                    allowance.look(rate, rules, rate.requests - limit.room(rate, now).0, now_us);
                }
                allowance.take_change()
            }
            Limiter::Shared(limit) => limit.smooth(rate, rules, now),
        }
    }

    /// How many requests would be admitted at `now`, and how long until the maximum is free again.
    pub fn room(&self, rate: Rate, now: Duration) -> (u64, Duration) {
        match self {
            Limiter::Gcra(limit) => limit.room(rate, now),
            Limiter::Fixed(limit) => limit.room(rate, now),
            Limiter::Sliding(limit) => limit.room(rate, now),
            Limiter::Shared(limit) => (limit.room(rate, now), Duration::from_nanos(rate.window_ns)),
        }
    }
}

#[cfg(test)]
mod tests;
