//! How fast each model of a provider is: the moving averages that `prefer` compares, and the breaker on the time to first token. The clock is the caller's.

use crate::lengths::Lengths;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Most models of one provider: clients write the names of those that a pattern admits, and each has answered.
const MODELS_MAX: usize = 1_000;
/// Streams that the breaker looks at, and how many it needs.
const STREAMS: u32 = 20;
const STREAMS_MIN: u32 = 5;
/// How long a probe may take, until another request may be one.
const PROBE_MS: u64 = 10_000;
/// An average is believed for so long. After that, a request a second asks again.
const AVERAGE_MS: u64 = 60_000;
const ASK_MS: u64 = 1_000;
/// The part of an average that the last answer is.
const PART: f64 = 0.2;

/// When a target is passed over because its first tokens come late.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowTerms {
    /// A first token after this time is late.
    pub first_token_max: Duration,
    /// The share of the last streams whose first token was late, from which the target is passed over.
    pub share: f64,
    /// For how long. Then one request probes it.
    pub rest: Duration,
}

/// The models of one provider.
#[derive(Default)]
pub(crate) struct Healths(Mutex<HashMap<String, Arc<Health>>>);

/// One model.
#[derive(Default)]
pub(crate) struct Health {
    /// How long its answers are.
    pub lengths: Lengths,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The last streams, a bit for each: whether its first token was late. How many there are.
    late: u32,
    streams: u32,
    /// Until when it is passed over; 0 if it is not. Until when a request probes it after that.
    rests_until_ms: u64,
    probed_until_ms: u64,
    /// First tokens of streams, and whole answers.
    stream: Average,
    whole: Average,
}

#[derive(Default)]
struct Average {
    ms: Option<f64>,
    at_ms: u64,
    asked_at_ms: Option<u64>,
}

impl Healths {
    /// The health of a model that has answered before.
    pub(crate) fn of(&self, model: &str) -> Option<Arc<Health>> {
        self.models().get(model).cloned()
    }

    /// The health of a model that answers, or does so too late.
    pub(crate) fn noted(&self, model: &str) -> Arc<Health> {
        let mut models = self.models();
        if let Some(known) = models.get(model) {
            return known.clone();
        }
        if models.len() >= MODELS_MAX
            && let Some(any) = models.keys().next().cloned()
        {
            models.remove(&any);
        }
        models.entry(model.to_owned()).or_default().clone()
    }

    fn models(&self) -> MutexGuard<'_, HashMap<String, Arc<Health>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Health {
    /// Whether requests go elsewhere, because first tokens come late. After its rest, it returns false once, for a request that probes.
    pub(crate) fn is_passed_over(&self, now_ms: u64) -> bool {
        let mut state = self.state();
        if state.rests_until_ms == 0 {
            return false;
        }
        if now_ms < state.rests_until_ms.max(state.probed_until_ms) {
            return true;
        }
        state.probed_until_ms = now_ms + PROBE_MS;
        false
    }

    /// A stream's first token came after so long, or did not come in that time. True if the model is passed over from now on.
    pub(crate) fn note_first_token(&self, after: Duration, terms: Option<&SlowTerms>, now_ms: u64) -> bool {
        let mut state = self.state();
        state.stream.add(after, now_ms);
        let Some(terms) = terms else { return false };
        let is_late = after > terms.first_token_max;
        if state.rests_until_ms > 0 {
            if now_ms < state.rests_until_ms {
                // It began before.
                return false;
            }
            state.probed_until_ms = 0;
            state.rests_until_ms = if is_late { now_ms + millis(terms.rest) } else { 0 };
            (state.late, state.streams) = (0, 0);
            return is_late;
        }
        state.late = (state.late << 1 | u32::from(is_late)) & ((1 << STREAMS) - 1);
        state.streams = (state.streams + 1).min(STREAMS);
        let has_opened =
            is_late && state.streams >= STREAMS_MIN && f64::from(state.late.count_ones()) >= terms.share * f64::from(state.streams);
        if has_opened {
            state.rests_until_ms = now_ms + millis(terms.rest).max(1);
        }
        has_opened
    }

    /// A whole answer took so long.
    pub(crate) fn note_whole(&self, after: Duration, now_ms: u64) {
        self.state().whole.add(after, now_ms);
    }

    /// Milliseconds that are usual at present. One that nobody knows is asked at times: it is 0 once, and more than all others until then.
    pub(crate) fn latency(&self, is_stream: bool, now_ms: u64) -> f64 {
        let mut state = self.state();
        let average = if is_stream { &mut state.stream } else { &mut state.whole };
        let is_fresh = average.ms.is_some() && now_ms.saturating_sub(average.at_ms) < AVERAGE_MS;
        let may_ask = average.asked_at_ms.is_none_or(|asked_at_ms| now_ms.saturating_sub(asked_at_ms) >= ASK_MS);
        if !is_fresh && may_ask {
            average.asked_at_ms = Some(now_ms);
            return 0.0;
        }
        average.ms.unwrap_or(f64::MAX)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Average {
    fn add(&mut self, after: Duration, now_ms: u64) {
        let ms = after.as_secs_f64() * 1e3;
        self.ms = Some(self.ms.map_or(ms, |before| before + PART * (ms - before)));
        self.at_ms = now_ms;
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX / 2)
}

#[cfg(test)]
mod tests;
