//! Answers of language models in the response cache: in its memory, and in the Redis that gateways share. Purges of the cache meet them.

use crate::second_tier::{SecondTier, TierEntry};
use bytes::Bytes;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Waker;
use tollgate_cache::{ApiCache, BodyRead, CachedResponse, Decision, Fill, Filled, TykRequest, TykRules};
use tollgate_clock::unix_ms;
use tollgate_llm_gateway::{AnswerName, AnswerPlace, AnswerStore, FoundAnswer};

/// Bytes of one answer that is recorded, whatever the cache's own bound is: it is in memory a second time while it comes.
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// The answers of one API.
pub struct LlmAnswers {
    cache: Arc<ApiCache>,
    tier: Option<Arc<SecondTier>>,
    answer_bytes_max: usize,
}

impl LlmAnswers {
    /// Keeps answers in this cache, and in the second tier. Bodies in the cache have at most so many bytes.
    pub fn new(cache: Arc<ApiCache>, tier: Option<Arc<SecondTier>>, body_bytes_max: u64) -> Self {
        let answer_bytes_max = usize::try_from(body_bytes_max).unwrap_or(usize::MAX).min(ANSWER_BYTES_MAX);
        LlmAnswers { cache, tier, answer_bytes_max }
    }

    /// The name in the second tier, where all of an API's names begin with its id.
    fn tier_key(&self, key: &str) -> String {
        let api = self.cache.id();
        format!("cache-{api}{api}-llm-{key}")
    }

    async fn look_up(&self, name: AnswerName<'_>) -> FoundAnswer {
        let asked = Asked::new(name);
        let request = asked.request();
        let mark = self.cache.purge_mark();
        let fill = match self.cache.lookup_tyk(&request, unix_ms()) {
            Decision::Serve(answer) => return FoundAnswer::Kept(body_of(&answer)),
            Decision::Fetch(fill) => fill,
            // There are no other decisions by these rules.
            _ => return FoundAnswer::Kept(Bytes::new()),
        };
        if let Some(pending) = self.tier.as_ref().and_then(|tier| tier.read(self.tier_key(name.key), false)) {
            pending.clone().wait().await;
            let payload = pending.get().flatten();
            if let Some(answer) = payload.and_then(|payload| self.cache.adopt_tyk(&request, &payload, mark, unix_ms())) {
                return FoundAnswer::Kept(body_of(&answer));
            }
        }
        FoundAnswer::Place(Box::new(self.place(name, fill)))
    }

    fn place(&self, name: AnswerName<'_>, fill: Fill) -> Place {
        let (cache, tier, tier_key) = (self.cache.clone(), self.tier.clone(), self.tier_key(name.key));
        Place { cache, tier, tier_key, tag: name.tag.to_owned(), fill }
    }
}

/// The body of a stored answer, which is complete.
fn body_of(answer: &CachedResponse) -> Bytes {
    let (mut body, mut bytes) = (answer.body(), Vec::new());
    while let BodyRead::Data(more) = body.next(Waker::noop()) {
        bytes.extend_from_slice(&more);
    }
    bytes.into()
}

/// A request as the cache sees it.
struct Asked {
    key: String,
    path: Vec<u8>,
    rules: TykRules,
}

impl Asked {
    fn new(name: AnswerName<'_>) -> Self {
        let rules = TykRules { timeout_s: i64::try_from(name.ttl_s).unwrap_or(i64::MAX), ..TykRules::default() };
        Asked { key: format!("llm-{}", name.key), path: name.path.as_bytes().to_vec(), rules }
    }

    fn request(&self) -> TykRequest<'_> {
        TykRequest { key: &self.key, method: "POST", target: &self.path, if_none_match: None, rules: &self.rules }
    }
}

impl AnswerStore for LlmAnswers {
    fn find<'a>(&'a self, name: AnswerName<'a>) -> Pin<Box<dyn Future<Output = FoundAnswer> + Send + 'a>> {
        Box::pin(self.look_up(name))
    }

    fn find_shared<'a>(&'a self, name: AnswerName<'a>) -> Pin<Box<dyn Future<Output = Option<Bytes>> + Send + 'a>> {
        Box::pin(async move {
            match self.tier.as_ref().and_then(|tier| tier.read(self.tier_key(name.key), false)) {
                Some(pending) => {
                    pending.clone().wait().await;
                    pending.get().flatten().map(|payload| Bytes::copy_from_slice(&payload.body))
                }
                None => match self.cache.lookup_tyk(&Asked::new(name).request(), unix_ms()) {
                    Decision::Serve(answer) => Some(body_of(&answer)),
                    _ => None,
                },
            }
        })
    }

    fn replace(&self, name: AnswerName<'_>, kept: &[u8]) {
        let fill = self.cache.replace_tyk(&Asked::new(name).request(), unix_ms());
        Box::new(self.place(name, fill)).keep(kept);
    }

    fn answer_bytes_max(&self) -> usize {
        self.answer_bytes_max
    }
}

struct Place {
    cache: Arc<ApiCache>,
    tier: Option<Arc<SecondTier>>,
    tier_key: String,
    tag: String,
    fill: Fill,
}

impl AnswerPlace for Place {
    fn keep(self: Box<Self>, answer: &[u8]) {
        let Place { cache, tier, tier_key, tag, fill } = *self;
        let now_ms = unix_ms();
        let lines = [("Content-Type", "application/json"), ("Surrogate-Key", tag.as_str())];
        let Filled::Store(mut writer, _) = fill.head(200, &lines, Some(answer.len() as u64), now_ms) else { return };
        writer.push(answer);
        let stored = writer.stored().clone();
        if writer.finish()
            && let Some(tier) = tier
        {
            tier.write(TierEntry { cache, key: tier_key, stored, now_ms });
        }
    }
}
