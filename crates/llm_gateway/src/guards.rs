//! Guards: what requests and answers of models are checked for, in the order of the definition. They see texts as their client writes and reads
//! them, whichever provider answers. No text of a client gets into the log, into figures or into an error.

mod built_in;
mod hold;
mod json_progress;
mod moderation;
mod pattern;
mod placeholders;
pub(crate) mod refusal;
mod scanner;
mod schema;
mod terms;

pub use built_in::BuiltIn;
pub(crate) use hold::Hold;
pub use moderation::{ModerationForm, ModerationTerms};
pub use pattern::GuardPattern;
pub(crate) use placeholders::Placeholders;
pub(crate) use refusal::Refused;
pub(crate) use scanner::{Scanner, TextState, is_larger};
pub(crate) use schema::SchemaWatch;
pub use terms::{GuardCheck, GuardTerms};

use crate::figures::{GuardFigures, GuardOutcome, LlmFigures};
use std::sync::Arc;
use tollgate_model::api::GuardAction;

/// A guard with its figures.
pub(crate) struct Guard {
    pub(crate) terms: GuardTerms,
    pub(crate) figures: Arc<GuardFigures>,
}

/// The guards of one API.
pub(crate) struct Guards {
    pub(crate) request: Vec<Arc<Guard>>,
    pub(crate) answer: Vec<Arc<Guard>>,
    /// Where matches of the answer's patterns may still begin.
    pub(crate) hold: Option<Arc<Hold>>,
}

impl Guards {
    pub(crate) fn new(terms: Vec<GuardTerms>, figures: &LlmFigures) -> Self {
        let all: Vec<Arc<Guard>> =
            terms.into_iter().map(|terms| Arc::new(Guard { figures: figures.guard(&terms.name), terms })).collect();
        figures.forget_unused_guards();
        let request = all.iter().filter(|guard| guard.terms.on.has_requests()).cloned().collect();
        let answer: Vec<Arc<Guard>> = all.iter().filter(|guard| guard.terms.on.has_answers()).cloned().collect();
        let patterns = answer.iter().flat_map(|guard| match &guard.terms.check {
            GuardCheck::Patterns(patterns) => patterns.as_slice(),
            _ => &[],
        });
        let written: Vec<&str> = patterns.map(GuardPattern::written).collect();
        let hold = (!written.is_empty()).then(|| Arc::new(Hold::new(&written)));
        Guards { request, answer, hold }
    }
}

impl Guard {
    /// Notes that a guard has found something. True if it acts.
    pub(crate) fn matches(&self, api: &str, side: &'static str) -> bool {
        let GuardTerms { name, action, dry_run, .. } = &self.terms;
        self.figures.add(GuardOutcome::Matched);
        if *dry_run {
            self.figures.add(GuardOutcome::DryRun);
        }
        tracing::info!(api, guard = name, side, dry_run, action = action.name(), "a guard of language models has found something");
        !dry_run
    }

    pub(crate) fn refuses(&self) -> bool {
        self.terms.action == GuardAction::Refuse
    }
}
