//! The server of one API: its routes, and what is known of its providers.

use crate::answer_cache::AnswerCache;
use crate::figures::LlmFigures;
use crate::guards::Guards;
use crate::health::Healths;
use crate::pool::Pool;
use crate::routes::Routes;
use crate::system::system;
use crate::terms::{LlmTerms, ProviderTerms};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;
use tollgate_llm::PriceTable;
use tollgate_outbound::{CallClient, Shares};

/// Bytes of memory for requests that wait for their answers and whole answers that wait for their clients, of all clients and of each.
const ALL_BYTES_MAX: usize = 1 << 30;
const CLIENT_BYTES_MAX: usize = 256 << 20;

/// One endpoint in front of many providers of language models.
pub struct LlmServer {
    pub(crate) terms: LlmTerms,
    pub(crate) client: Arc<CallClient>,
    pub(crate) routes: Routes,
    /// The keys of providers, in their order.
    pub(crate) pools: Vec<Pool>,
    /// How fast their models are.
    pub(crate) healths: Vec<Healths>,
    pub(crate) prices: PriceTable,
    started: Instant,
    pub(crate) figures: Arc<LlmFigures>,
    /// Memory of requests and answers.
    pub(crate) shares: Arc<Shares>,
    pub(crate) cache: Option<AnswerCache>,
    pub(crate) guards: Guards,
}

impl fmt::Debug for LlmServer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LlmServer").field("api", &self.terms.api).finish_non_exhaustive()
    }
}

impl LlmServer {
    /// A server with these terms. No provider is asked until a client comes.
    pub fn new(mut terms: LlmTerms, client: Arc<CallClient>, figures: Arc<LlmFigures>) -> Self {
        let pool = |provider: &ProviderTerms| Pool::new(provider, |number| figures.key(&provider.name, number));
        let cache = terms.cache.take().map(|cache| {
            let provider = cache.semantic.as_ref().and_then(|semantic| Some((semantic, terms.providers.get(semantic.provider)?)));
            let embeddings =
                provider.map(|(semantic, provider)| figures.lane(&semantic.model, &provider.name, system(&provider.provider)));
            AnswerCache::new(cache, embeddings)
        });
        LlmServer {
            pools: terms.providers.iter().map(pool).collect(),
            healths: terms.providers.iter().map(|_| Healths::default()).collect(),
            routes: Routes::new(&terms, &figures),
            prices: PriceTable::built_in().with(terms.prices.iter().cloned()),
            started: Instant::now(),
            guards: Guards::new(std::mem::take(&mut terms.guards), &figures),
            cache,
            terms,
            client,
            figures,
            shares: Shares::new(ALL_BYTES_MAX, CLIENT_BYTES_MAX),
        }
    }

    /// Milliseconds since the start.
    pub(crate) fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
