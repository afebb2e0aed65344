//! What one request to a provider comes to, counted when it is over, whichever way.

use crate::figures::{LaneFigures, LlmOutcome};
use crate::health::Health;
use crate::holdings::{Holdings, Progress};
use crate::report::{AttemptReport, used};
use std::sync::{Arc, OnceLock};
use tollgate_llm::{OutputBound, Price, Stop, TOKEN_BYTES_MAX, Usage};

/// The count of one request. Without an outcome of its own, the client has left.
pub(crate) struct Tally {
    pub outcome: LlmOutcome,
    pub usage: Option<Usage>,
    /// Bytes of the answer's text so far.
    pub text_bytes: u64,
    /// Tokens of the answer that were certainly there.
    pub tokens: u64,
    /// Whether the provider may have begun to answer, which costs.
    pub is_sent: bool,
    /// Who else wants to know the usage.
    pub told: Option<Arc<OnceLock<Usage>>>,
    /// The model that answers.
    pub health: Option<Arc<Health>>,
    /// Why the answer has ended, and why it is none, in the gateway's words.
    pub stop: Option<Stop>,
    pub reason: String,
    report: AttemptReport,
    /// Tokens that the prompt has by its length; `None` where none are used.
    prompt_likely: Option<u64>,
    price: Option<Price>,
    figures: Arc<LaneFigures>,
    holdings: Holdings,
}

impl Tally {
    pub(crate) fn new(
        figures: Arc<LaneFigures>,
        price: Option<Price>,
        holdings: Holdings,
        (report, prompt_likely): (AttemptReport, Option<u64>),
    ) -> Self {
        Tally {
            outcome: LlmOutcome::ClientLeft,
            usage: None,
            text_bytes: 0,
            tokens: 0,
            is_sent: false,
            told: None,
            health: None,
            stop: None,
            reason: String::new(),
            report,
            prompt_likely,
            price,
            figures,
            holdings,
        }
    }

    /// The bound of the answer, if a budget needs one.
    pub(crate) fn output_bound(&self) -> Option<OutputBound> {
        Some(OutputBound::new(self.holdings.output_max()?, self.prompt_likely.unwrap_or(0)))
    }

    /// The answer is longer than its budget allows, and ends here.
    pub(crate) fn cut(&mut self) {
        self.outcome = LlmOutcome::Cut;
        self.reason = "the answer is longer than its budget allows".to_owned();
    }

    /// The first token of a stream is there.
    pub(crate) fn note_first_token(&mut self) {
        let ns = self.report.first_token();
        self.figures.add_first_token(ns);
    }

    /// More of the answer is there.
    pub(crate) fn go_on(&mut self) {
        let progress = self.progress();
        self.holdings.settle(progress);
    }

    fn progress(&self) -> Progress {
        let is_complete = matches!(self.outcome, LlmOutcome::Ok);
        Progress { usage: self.told_usage(), text_bytes: self.text_bytes, tokens: self.tokens, is_complete }
    }

    /// What the provider tells. No prompt has no tokens, and a whole answer has no fewer than were seen for certain.
    fn told_usage(&self) -> Option<Usage> {
        let is_counted = self.prompt_likely.is_some_and(|tokens| tokens > 0);
        let seen = self.tokens.max(self.text_bytes.div_ceil(TOKEN_BYTES_MAX));
        let is_too_little = |usage: &Usage| usage.output < seen && self.outcome == LlmOutcome::Ok;
        self.usage.map(|usage| {
            let cannot_be = is_counted && (usage.input == 0 || is_too_little(&usage));
            Usage { is_doubtful: usage.is_doubtful || cannot_be, ..usage }
        })
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.figures.add(self.outcome);
        self.figures.add_duration(self.report.operation(), self.outcome, self.report.took_ns());
        let told_usage = self.told_usage();
        if let Some(usage) = told_usage {
            let usage = usage.bounded();
            if let Some(told) = &self.told {
                // Once: an answer has one end.
                let _ = told.set(usage);
            }
            let is_told = matches!(self.outcome, LlmOutcome::Ok) && !usage.is_doubtful && self.holdings.is_unbounded();
            if let Some(health) = self.health.as_ref().filter(|_| is_told) {
                health.lengths.note(usage.output);
            }
            self.figures.add_usage(self.report.operation(), &usage, self.price.as_ref().map_or(0, |price| price.cost(&usage)));
        }
        let is_complete = self.outcome == LlmOutcome::Ok;
        let prompt_likely = self.prompt_likely.or(self.usage.map(|_| 0)).filter(|_| self.is_sent);
        let used = prompt_likely.map(|prompt| used(told_usage, is_complete, (prompt, self.text_bytes), self.price.as_ref()));
        let bound_by = self.holdings.bound_by().filter(|_| self.outcome == LlmOutcome::Cut || self.stop == Some(Stop::OutputLimit));
        self.report.ends((self.outcome, self.stop), &self.reason, used, bound_by);
        let holdings = std::mem::take(&mut self.holdings);
        if self.is_sent {
            holdings.pay(self.progress());
        }
    }
}
