//! How long requests to one model at one provider took, and how many tokens: distributions with the bounds of OpenTelemetry's conventions.

use crate::surface::Surface;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tollgate_model::distribution::{BOUNDS, Distribution};

/// Bounds of numbers of tokens.
pub const TOKENS: [u64; 14] =
    [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];

const MS: u64 = 1_000_000;

/// What a provider is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LlmOperation {
    /// An answer.
    Chat,
    /// Embeddings.
    Embeddings,
    /// How many tokens a prompt has.
    CountTokens,
    /// Sound, pictures and moderations.
    Media,
}

/// A distribution of tokens: the count in each bucket, and the sum.
pub type TokenCounts = ([u64; TOKENS.len() + 1], u64);

/// The distributions of one model at one provider.
#[derive(Default)]
pub struct LaneTimes {
    first_token: Mutex<Distribution>,
    /// By what was asked for, and the name of the outcome.
    durations: Mutex<BTreeMap<(LlmOperation, &'static str), Distribution>>,
    /// By whether they are of the answer.
    tokens: Mutex<BTreeMap<(LlmOperation, bool), TokenCounts>>,
}

impl LlmOperation {
    pub(crate) fn of(surface: &Surface) -> Self {
        match surface {
            Surface::Embeddings(_) => LlmOperation::Embeddings,
            Surface::CountTokens(_) => LlmOperation::CountTokens,
            Surface::Media(_) => LlmOperation::Media,
            Surface::Talk(_) | Surface::Models(_) | Surface::Model(..) => LlmOperation::Chat,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            LlmOperation::Chat => "chat",
            LlmOperation::Embeddings => "embeddings",
            LlmOperation::CountTokens => "count_tokens",
            LlmOperation::Media => "media",
        }
    }
}

impl LaneTimes {
    /// Bounds of the time until the first token, in nanoseconds.
    pub const FIRST_TOKEN_NS: [u64; BOUNDS] = [
        MS,
        5 * MS,
        10 * MS,
        20 * MS,
        40 * MS,
        60 * MS,
        80 * MS,
        100 * MS,
        250 * MS,
        500 * MS,
        750 * MS,
        1_000 * MS,
        2_500 * MS,
        5_000 * MS,
        7_500 * MS,
        10_000 * MS,
    ];

    /// Bounds of the time for an answer, in nanoseconds.
    pub const DURATION_NS: [u64; BOUNDS] = [
        10 * MS,
        20 * MS,
        40 * MS,
        80 * MS,
        160 * MS,
        320 * MS,
        640 * MS,
        1_280 * MS,
        2_560 * MS,
        5_120 * MS,
        10_240 * MS,
        20_480 * MS,
        40_960 * MS,
        81_920 * MS,
        163_840 * MS,
        327_680 * MS,
    ];

    pub(crate) fn add_first_token(&self, ns: u64) {
        count(&mut locked(&self.first_token), &Self::FIRST_TOKEN_NS, ns);
    }

    pub(crate) fn add_duration(&self, operation: LlmOperation, outcome: &'static str, ns: u64) {
        count(locked(&self.durations).entry((operation, outcome)).or_default(), &Self::DURATION_NS, ns);
    }

    pub(crate) fn add_tokens(&self, operation: LlmOperation, input: u64, output: u64) {
        let mut tokens = locked(&self.tokens);
        for (is_output, number) in [(false, input), (true, output)] {
            // Embeddings have no tokens of an answer.
            if is_output && operation == LlmOperation::Embeddings {
                continue;
            }
            let (buckets, sum) = tokens.entry((operation, is_output)).or_default();
            let place = TOKENS.iter().position(|bound| number <= *bound).unwrap_or(TOKENS.len());
            buckets.get_mut(place).into_iter().for_each(|count| *count += 1);
            *sum = sum.saturating_add(number);
        }
    }

    /// Until the first token of streams.
    pub fn first_token(&self) -> Distribution {
        locked(&self.first_token).clone()
    }

    /// Whole requests, by what was asked for and the outcome.
    pub fn durations(&self) -> Vec<(LlmOperation, &'static str, Distribution)> {
        let durations = locked(&self.durations);
        durations.iter().map(|((operation, outcome), times)| (*operation, *outcome, times.clone())).collect()
    }

    /// Tokens of a request, by what was asked for and whether they are of the answer.
    pub fn tokens(&self) -> Vec<(LlmOperation, bool, TokenCounts)> {
        locked(&self.tokens).iter().map(|((operation, is_output), counts)| (*operation, *is_output, *counts)).collect()
    }
}

fn locked<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn count(times: &mut Distribution, bounds: &[u64; BOUNDS], ns: u64) {
    let place = bounds.iter().position(|bound| ns <= *bound).unwrap_or(BOUNDS);
    times.buckets.get_mut(place).into_iter().for_each(|count| *count += 1);
    times.sum_ns = times.sum_ns.saturating_add(ns);
}
