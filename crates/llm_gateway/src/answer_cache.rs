//! The answers of one API that are kept for requests that are the same, or nearly.

use crate::answer_store::AnswerStore;
use crate::figures::LaneFigures;
use crate::flights::Flights;
use crate::semantic_cache::{SemanticCache, SemanticTerms};
use std::sync::Arc;
use tollgate_model::api::CacheTenant;

/// How answers are kept.
pub struct CacheTerms {
    /// Where.
    pub store: Arc<dyn AnswerStore>,
    /// For how many seconds.
    pub ttl_s: u64,
    /// Who shares them.
    pub by: CacheTenant,
    /// Whether answers to requests are kept that ask for randomness.
    pub any_temperature: bool,
    /// How requests are compared that are nearly the same, if they are.
    pub semantic: Option<SemanticTerms>,
}

/// The cache of one API.
pub(crate) struct AnswerCache {
    pub(crate) terms: CacheTerms,
    pub(crate) semantic: Option<SemanticCache>,
    pub(crate) flights: Arc<Flights>,
}

impl AnswerCache {
    /// A cache with these terms; the figures are those of embeddings.
    pub(crate) fn new(mut terms: CacheTerms, figures: Option<Arc<LaneFigures>>) -> Self {
        let semantic = terms.semantic.take().map(|semantic| SemanticCache::new(semantic, figures));
        AnswerCache { terms, semantic, flights: Arc::default() }
    }

    /// Whether answers to similar requests are only counted.
    pub(crate) fn is_dry(&self) -> bool {
        self.semantic.as_ref().is_none_or(|semantic| semantic.terms.dry_run)
    }
}
