//! What a guard is made of.

use super::moderation::ModerationTerms;
use super::pattern::GuardPattern;
use tollgate_model::api::{GuardAction, GuardSide};

/// A guard.
pub struct GuardTerms {
    /// Its name in refusals, metrics and the log.
    pub name: String,
    /// What it checks.
    pub on: GuardSide,
    /// What it does if it finds something.
    pub action: GuardAction,
    /// Whether it only says what it would do.
    pub dry_run: bool,
    /// What it looks for.
    pub check: GuardCheck,
}

/// What a guard looks for.
pub enum GuardCheck {
    /// Any of these.
    Patterns(Vec<GuardPattern>),
    /// A request without any of these.
    Without(Vec<GuardPattern>),
    /// Too much text.
    Size {
        /// Most bytes of text.
        bytes_max: Option<u64>,
        /// Most tokens, as is likely.
        tokens_max: Option<u64>,
    },
    /// An answer that does not fit the schema that its request has.
    Schema,
    /// What somebody else says.
    Moderation(ModerationTerms),
}
