//! What one request to a provider comes to, counted when it is over, whichever way.

use crate::figures::{LaneFigures, LlmOutcome};
use crate::health::Health;
use crate::holdings::{Holdings, Progress};
use std::sync::{Arc, OnceLock};
use tollgate_llm::{Price, Usage};

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
    price: Option<Price>,
    figures: Arc<LaneFigures>,
    holdings: Holdings,
}

impl Tally {
    pub(crate) fn new(figures: Arc<LaneFigures>, price: Option<Price>, holdings: Holdings) -> Self {
        let outcome = LlmOutcome::ClientLeft;
        Tally { outcome, usage: None, text_bytes: 0, tokens: 0, is_sent: false, told: None, health: None, price, figures, holdings }
    }

    /// The bound of the answer, if a budget needs one.
    pub(crate) fn output_max(&self) -> Option<u64> {
        self.holdings.output_max()
    }

    /// More of the answer is there.
    pub(crate) fn go_on(&mut self) {
        let progress = self.progress();
        self.holdings.settle(progress);
    }

    fn progress(&self) -> Progress {
        let is_complete = matches!(self.outcome, LlmOutcome::Ok);
        Progress { usage: self.usage, text_bytes: self.text_bytes, tokens: self.tokens, is_complete }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.figures.add(self.outcome);
        if let Some(usage) = self.usage {
            let usage = usage.bounded();
            if let Some(told) = &self.told {
                // Once: an answer has one end.
                let _ = told.set(usage);
            }
            let is_told = matches!(self.outcome, LlmOutcome::Ok) && !usage.is_doubtful && self.holdings.is_unbounded();
            if let Some(health) = self.health.as_ref().filter(|_| is_told) {
                health.lengths.note(usage.output);
            }
            self.figures.add_usage(&usage, self.price.as_ref().map_or(0, |price| price.cost(&usage)));
        }
        let holdings = std::mem::take(&mut self.holdings);
        if self.is_sent {
            holdings.pay(self.progress());
        }
    }
}
