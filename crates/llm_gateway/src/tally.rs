//! What one request to a provider comes to, counted when it is over, whichever way.

use crate::figures::{LaneFigures, LlmOutcome};
use std::sync::Arc;
use tollgate_llm::{Price, Usage};

/// The count of one request. Without an outcome of its own, the client has left.
pub(crate) struct Tally {
    pub outcome: LlmOutcome,
    pub usage: Option<Usage>,
    price: Option<Price>,
    figures: Arc<LaneFigures>,
}

impl Tally {
    pub(crate) fn new(figures: Arc<LaneFigures>, price: Option<Price>) -> Self {
        Tally { outcome: LlmOutcome::ClientLeft, usage: None, price, figures }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.figures.add(self.outcome);
        if let Some(usage) = self.usage {
            let usage = usage.bounded();
            self.figures.add_usage(&usage, self.price.as_ref().map_or(0, |price| price.cost(&usage)));
        }
    }
}
