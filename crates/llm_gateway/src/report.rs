//! What becomes of a request, for whoever records it. It has names, figures and the gateway's own words, nothing of what was asked or answered.

use crate::figures::LlmOutcome;
use crate::lane_times::LlmOperation;
use crate::surface::Surface;
use crate::system::system;
use crate::terms::ProviderTerms;
use std::sync::Arc;
use std::time::Instant;
use tollgate_llm::{Price, Stop, Usage};
use tollgate_model::analytics::{LlmAttempt, LlmStats, LlmUsage};
use tollgate_statistics::{LlmCall, OpenCalls};

/// Most attempts that a record names; the last takes the place of the one before.
const ATTEMPTS_MAX: usize = 16;
/// The outcome of what a guard refuses, whatever its provider has done.
const GUARDED: &str = "guarded";
/// Most bytes of a model's name, which clients write.
const MODEL_BYTES_MAX: usize = 200;

/// The report of one request. Dropped with its last copy, it is complete.
#[derive(Clone, Default)]
pub(crate) struct Report(Option<Arc<Writer>>);

struct Writer {
    call: Arc<LlmCall>,
    began: Instant,
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.call.end();
    }
}

/// The report of one request to one provider.
pub(crate) struct AttemptReport {
    report: Report,
    operation: LlmOperation,
    place: usize,
    began: Instant,
    first_token: Option<Instant>,
}

impl Report {
    /// The report of the call with this number.
    pub(crate) fn of(calls: &OpenCalls<LlmCall>, number: Option<u64>) -> Self {
        let call = number.and_then(|number| calls.find(number)).filter(|call| call.take());
        Report(call.map(|call| Arc::new(Writer { call, began: Instant::now() })))
    }

    fn note(&self, change: impl FnOnce(&mut LlmStats)) {
        if let Some(writer) = &self.0 {
            writer.call.note(change);
        }
    }

    /// What is called.
    pub(crate) fn calls(&self, surface: &Surface) {
        let operation = match surface {
            Surface::Talk(_) => "chat",
            Surface::Embeddings(_) => "embeddings",
            Surface::CountTokens(_) => "count_tokens",
            Surface::Media(_) => "media",
            Surface::Models(_) | Surface::Model(..) => "models",
        };
        self.note(|stats| operation.clone_into(&mut stats.operation));
    }

    /// What is asked for.
    pub(crate) fn asks(&self, model: &str, streams: bool) {
        self.note(|stats| {
            cut(model).clone_into(&mut stats.model);
            stats.stream = streams;
        });
    }

    /// How it has ended, if no provider's answer says so.
    pub(crate) fn ends(&self, outcome: &str, reason: &str, budget: &str) {
        self.note(|stats| {
            outcome.clone_into(&mut stats.outcome);
            reason.clone_into(&mut stats.reason);
            budget.clone_into(&mut stats.budget);
        });
    }

    /// A guard refuses the request, or its answer.
    pub(crate) fn refused_by(&self, guard: &str) {
        self.ends(GUARDED, &format!("the guard `{guard}` refuses it"), "");
    }

    /// Why a provider gave no answer when it was asked last. Another one may be asked meanwhile.
    pub(crate) fn explains(&self, provider: &str, reason: &str) {
        self.note(|stats| {
            let last = stats.attempts.iter_mut().rfind(|attempt| attempt.provider == provider);
            last.into_iter().for_each(|attempt| reason.clone_into(&mut attempt.reason));
            reason.clone_into(&mut stats.reason);
        });
    }

    /// A provider is asked.
    pub(crate) fn attempt(&self, provider: &ProviderTerms, model: &str, (operation, route): (LlmOperation, &str)) -> AttemptReport {
        let began = Instant::now();
        let mut place = 0;
        self.note(|stats| {
            if stats.attempts.len() >= ATTEMPTS_MAX {
                stats.attempts.pop();
            }
            place = stats.attempts.len();
            stats.attempts.push(LlmAttempt {
                provider: provider.name.clone(),
                system: system(&provider.provider).to_owned(),
                address: provider.origin.split_once("://").map_or("", |(_, host)| host).to_owned(),
                model: cut(model).to_owned(),
                route: route.to_owned(),
                after_ms: self.0.as_ref().map_or(0.0, |writer| ms(writer.began, began)),
                ..LlmAttempt::default()
            });
        });
        AttemptReport { report: self.clone(), operation, place, began, first_token: None }
    }

    /// A provider was not asked.
    pub(crate) fn passes_over(&self, provider: &ProviderTerms, model: &str, route: &str, (outcome, reason): (&str, &str)) {
        let attempt = self.attempt(provider, model, (LlmOperation::Chat, route));
        attempt.note(|attempt| {
            outcome.clone_into(&mut attempt.outcome);
            reason.clone_into(&mut attempt.reason);
        });
    }
}

impl AttemptReport {
    fn note(&self, change: impl FnOnce(&mut LlmAttempt)) {
        self.report.note(|stats| {
            if let Some(attempt) = stats.attempts.get_mut(self.place) {
                change(attempt);
            }
        });
    }

    /// What the provider is asked for.
    pub(crate) fn operation(&self) -> LlmOperation {
        self.operation
    }

    /// How long it has taken.
    pub(crate) fn took_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Its first token is there. Returns how long that took.
    pub(crate) fn first_token(&mut self) -> u64 {
        self.first_token = Some(Instant::now());
        self.took_ns()
    }

    /// It is over, whichever way.
    /// `bound_by`: the budget at whose bound the answer has ended.
    pub(crate) fn ends(
        &self,
        (outcome, stop): (LlmOutcome, Option<Stop>),
        reason: &str,
        used: Option<LlmUsage>,
        bound_by: Option<&str>,
    ) {
        let now = Instant::now();
        self.note(|attempt| {
            outcome.name().clone_into(&mut attempt.outcome);
            reason.clone_into(&mut attempt.reason);
            attempt.took_ms = ms(self.began, now);
            attempt.first_token_ms = self.first_token.map(|first| ms(self.began, first));
            attempt.usage = used.unwrap_or_default();
            attempt.finish = stop.map_or("", finish).to_owned();
        });
        let began = self.report.0.as_ref().map_or(self.began, |writer| writer.began);
        self.report.note(|stats| {
            let Some(attempt) = stats.attempts.get(self.place) else { return };
            (stats.provider, stats.provider_model) = (attempt.provider.clone(), attempt.model.clone());
            if stats.outcome != GUARDED {
                (stats.outcome, stats.reason) = (attempt.outcome.clone(), attempt.reason.clone());
            }
            stats.finish.clone_from(&attempt.finish);
            bound_by.unwrap_or_default().clone_into(&mut stats.budget);
            stats.first_token_ms = self.first_token.map(|first| ms(began, first));
            let tokens = attempt.usage.output_tokens;
            stats.tokens_per_s = self.first_token.and_then(|first| LlmStats::rate(tokens, ms(first, now)));
            stats.usage = LlmUsage::default();
            stats.attempts.iter().for_each(|attempt| stats.usage.add(&attempt.usage));
        });
    }
}

/// Why an answer has ended, by OpenTelemetry's and OpenAI's names.
fn finish(stop: Stop) -> &'static str {
    match stop {
        Stop::End | Stop::Sequence => "stop",
        Stop::OutputLimit => "length",
        Stop::ToolCalls => "tool_calls",
        _ => "content_filter",
    }
}

/// What a request took by its provider, or as is likely if that has not told all. `prompt_likely` are the tokens of the prompt, and `text_bytes`
/// those of the answer that were seen.
pub(crate) fn used(
    usage: Option<Usage>,
    is_complete: bool,
    (prompt_likely, text_bytes): (u64, u64),
    price: Option<&Price>,
) -> LlmUsage {
    let told = usage.filter(|usage| is_complete && !usage.is_doubtful);
    let usage = told.unwrap_or_else(|| {
        let usage = usage.unwrap_or_default();
        let input = if usage.input > 0 && !usage.is_doubtful { usage.input } else { prompt_likely };
        Usage { input, output: usage.output.max(text_bytes.div_ceil(4)), ..usage }
    });
    let usage = usage.bounded();
    LlmUsage {
        input_tokens: usage.input,
        output_tokens: usage.output,
        cached_tokens: usage.cached_read,
        cache_write_tokens: usage.cached_write,
        reasoning_tokens: usage.reasoning,
        cost_usd: price.map_or(0, |price| price.cost(&usage)) as f64 / 1e6,
        estimated: told.is_none(),
    }
}

/// Tokens of a prompt by its document, as is likely: one for four bytes of text, and a thousand for each picture or the like.
pub(crate) fn likely_tokens(body: &[u8]) -> u64 {
    const RUN_BYTES: u64 = 1_000;
    const RUN_TOKENS: u64 = 1_000;
    let (mut bytes, mut tokens, mut run) = (0, 0, 0);
    let mut end_run = |run: &mut u64| {
        if *run > RUN_BYTES {
            tokens += RUN_TOKENS
        } else {
            bytes += *run
        }
        *run = 0;
    };
    for byte in body {
        run += 1;
        if !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'/' | b'=') {
            end_run(&mut run);
        }
    }
    end_run(&mut run);
    bytes / 4 + tokens
}

fn cut(name: &str) -> &str {
    name.get(..name.floor_char_boundary(MODEL_BYTES_MAX)).unwrap_or(name)
}

fn ms(from: Instant, to: Instant) -> f64 {
    (to.saturating_duration_since(from).as_micros() as f64) / 1_000.0
}

#[cfg(test)]
mod tests;
