//! How requests are compared that are nearly the same.

use crate::figures::LaneFigures;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;
use tokio::sync::Mutex;

/// How requests are compared.
pub struct SemanticTerms {
    /// Index of the provider of embeddings.
    pub provider: usize,
    /// The model there.
    pub model: String,
    /// The least similarity, by the cosine.
    pub threshold: f64,
    /// Whether it only says what would have been sent.
    pub dry_run: bool,
    /// Most vectors of a group.
    pub entries_max: usize,
    /// How long an embedding may take.
    pub time_max: Duration,
    /// Whether the log shows texts; then their beginnings are kept too.
    pub shows_questions: bool,
}

/// The vectors of an API.
pub(crate) struct SemanticCache {
    pub(crate) terms: SemanticTerms,
    pub(crate) figures: Option<Arc<LaneFigures>>,
    pub(crate) keeping: Mutex<()>,
    pub(crate) waiting: AtomicUsize,
}

impl SemanticCache {
    pub(crate) fn new(terms: SemanticTerms, figures: Option<Arc<LaneFigures>>) -> Self {
        SemanticCache { terms, figures, keeping: Mutex::default(), waiting: AtomicUsize::new(0) }
    }
}
