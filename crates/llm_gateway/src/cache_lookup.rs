//! Answers that are kept for requests that are the same: exactly, but for who asks and how the answer is sent; or nearly, if that is wanted
//! (`semantic`). Each tenant has its own. A kept answer costs nothing of budgets.

use crate::answer::AnswerBody;
use crate::answer_cache::{AnswerCache, CacheTerms};
use crate::answer_store::{AnswerName, FoundAnswer};
use crate::asked::Asked;
use crate::figures::CacheOutcome;
use crate::kept_answer::KeptAnswer;
use crate::llm_server::LlmServer;
use crate::met_budget::MetBudget;
use crate::recording::Recording;
use crate::similar::SemanticQuestion;
use crate::surface::Surface;
use http::header::CACHE_CONTROL;
use http::{HeaderMap, HeaderValue, Response};
use std::sync::Arc;
use tollgate_llm::RequestIdentity;
use tollgate_model::api::CacheTenant;

/// A request that may be answered from the cache.
struct CacheQuestion {
    key: String,
    path: String,
    tag: String,
    /// Whether a kept answer will do.
    reads: bool,
    /// For the comparison with others, if there is one.
    identity: Option<RequestIdentity>,
}

impl AnswerCache {
    /// The answer with a key: that of a question, or of one that is near.
    async fn find(&self, question: &CacheQuestion, key: &str) -> FoundAnswer {
        let CacheQuestion { path, tag, .. } = question;
        self.terms.store.find(AnswerName { key, path, tag, ttl_s: self.terms.ttl_s }).await
    }
}

impl LlmServer {
    /// The answer to a request: a kept one, or that of a provider, which is kept.
    pub(crate) async fn kept_or_asked(self: &Arc<Self>, asked: &Asked) -> Response<AnswerBody> {
        let Some(cache) = &self.cache else { return self.answer(asked).await };
        let Some(mut question) = self.cache_question(asked, cache) else { return self.answer(asked).await };
        let mut found = cache.find(&question, &question.key).await;
        let mut lead = None;
        if question.reads {
            if let Some(response) = kept_response(asked, &found) {
                return self.hit(asked, response, CacheOutcome::Hit);
            }
            lead = cache.flights.join(&question.key).await;
            if lead.is_none() {
                // Somebody else has asked meanwhile.
                found = cache.find(&question, &question.key).await;
                if let Some(response) = kept_response(asked, &found) {
                    return self.hit(asked, response, CacheOutcome::Hit);
                }
            }
        }
        let semantic = match question.identity.take() {
            Some(identity) => self.semantic_question(asked, cache, (&question.path, &question.tag), identity).await,
            None => None,
        };
        let mut would_match = None;
        if let Some(semantic) = semantic.as_ref().filter(|_| question.reads) {
            match self.near_answer(asked, cache, &question, semantic).await {
                Some((response, _)) if !cache.is_dry() => return self.hit(asked, response, CacheOutcome::Semantic),
                found => would_match = found.map(|(_, similarity)| similarity),
            }
        }
        self.figures.cache.add(CacheOutcome::Miss);
        let mut answer = self.answer(asked).await;
        if let Some(similarity) = would_match {
            self.figures.cache.add(CacheOutcome::WouldMatch);
            tell_similarity(&mut answer, similarity);
        }
        let place = match found {
            FoundAnswer::Place(place) => place,
            // The client wants no kept answer, or one was not understood.
            FoundAnswer::Kept(_) => return told(answer, "miss"),
        };
        // An answer that a budget has cut is not what others would get.
        let keeps_bounded = self.terms.counters.is_none() || !asked.facts.budgets.iter().any(MetBudget::is_strict);
        let bytes_max = cache.terms.store.answer_bytes_max();
        if let Some(recording) = Recording::new(asked, &answer, bytes_max, keeps_bounded, place, lead) {
            let (server, key) = (self.clone(), question.key);
            let then = semantic.map(|semantic| -> Box<dyn FnOnce() + Send> { Box::new(move || server.keep_vector(semantic, key)) });
            answer = recording.and_then(then).of(answer);
        }
        told(answer, "miss")
    }

    /// The answer to the nearest request that has one, and how near it is.
    async fn near_answer(
        &self,
        asked: &Asked,
        cache: &AnswerCache,
        question: &CacheQuestion,
        semantic: &SemanticQuestion,
    ) -> Option<(Response<AnswerBody>, f64)> {
        for near in self.near(cache, semantic).await {
            if let Some(mut response) = kept_response(asked, &cache.find(question, &near.key).await) {
                tell_similarity(&mut response, near.similarity);
                return Some((response, near.similarity));
            }
        }
        None
    }

    fn hit(&self, asked: &Asked, response: Response<AnswerBody>, outcome: CacheOutcome) -> Response<AnswerBody> {
        asked.report.ends("cached", "", "");
        self.figures.cache.add(outcome);
        told(response, outcome.name())
    }

    /// What the cache is asked; `None` if the answer to a request is the cache's matter in no way.
    fn cache_question(&self, asked: &Asked, cache: &AnswerCache) -> Option<CacheQuestion> {
        let path = match &asked.surface {
            Surface::Talk(_) | Surface::Embeddings(_) => asked.surface.path(&self.terms.listen_path, &asked.passed.model)?,
            _ => return None,
        };
        let (no_store, no_cache) = wishes(&asked.headers);
        if no_store {
            return None;
        }
        let identity = RequestIdentity::read(&asked.body)?.without_model();
        let is_random = identity.temperature().is_some_and(|temperature| temperature != 0.0);
        if is_random && !cache.terms.any_temperature {
            return None;
        }
        // What the one form does not have, it cannot play again.
        if let Surface::Talk(api) = &asked.surface
            && asked.ask(*api).is_err()
        {
            return None;
        }
        let key = self.cache_key(asked, &cache.terms, &identity.bytes())?;
        let tag = format!("llm-model:{}", asked.passed.model);
        Some(CacheQuestion { key, path, tag, reads: !no_cache, identity: cache.semantic.is_some().then_some(identity) })
    }

    /// The key of a request: who asks, what, in which API, of which models.
    pub(crate) fn cache_key(&self, asked: &Asked, terms: &CacheTerms, identity: &[u8]) -> Option<String> {
        let mut hasher = blake3::Hasher::new();
        let mut add = |part: &[u8]| {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        };
        add(self.terms.api.as_bytes());
        add(self.tenant(asked, terms.by).as_bytes());
        add(asked.surface.path("", "")?.as_bytes());
        for way in self.routes.to(&asked.passed.model)?.list.iter() {
            let provider = self.terms.providers.get(way.provider)?;
            add(provider.name.as_bytes());
            add(way.model.as_deref().unwrap_or(&asked.passed.model).as_bytes());
        }
        for (name, value) in asked.passed_lines() {
            add(name.as_bytes());
            add(value.as_bytes());
        }
        add(identity);
        Some(hasher.finalize().to_hex().to_string())
    }

    /// Who shares answers with whoever sends a request.
    fn tenant(&self, asked: &Asked, by: CacheTenant) -> String {
        match by {
            CacheTenant::Api => "api".to_owned(),
            CacheTenant::Organisation => format!("organisation {}", asked.facts.organisation),
            CacheTenant::Key => match self.holder(&asked.headers) {
                // Clients without a key are told apart by their networks.
                holder if holder.owner.is_empty() => format!("network {:?}", holder.network),
                holder => format!("key {}", holder.owner),
            },
        }
    }
}

/// The response with a kept answer, if there is one that can be said in the client's API.
fn kept_response(asked: &Asked, found: &FoundAnswer) -> Option<Response<AnswerBody>> {
    let FoundAnswer::Kept(bytes) = found else { return None };
    KeptAnswer::read(bytes)?.response(asked)
}

/// Says how near a request is to the one whose answer is sent, or would have been.
fn tell_similarity(answer: &mut Response<AnswerBody>, similarity: f64) {
    if let Ok(similarity) = HeaderValue::from_str(&format!("{similarity:.4}")) {
        answer.headers_mut().insert("x-tollgate-llm-cache-similarity", similarity);
    }
}

/// Whether the client wants nothing kept, and no kept answer.
fn wishes(headers: &HeaderMap) -> (bool, bool) {
    let lines = headers.get_all(CACHE_CONTROL).iter().filter_map(|line| line.to_str().ok());
    let wishes: Vec<&str> = lines.flat_map(|line| line.split(',')).map(str::trim).collect();
    let has = |wish: &str| wishes.iter().any(|word| word.eq_ignore_ascii_case(wish));
    (has("no-store"), has("no-cache"))
}

/// Says where an answer came from.
fn told(mut answer: Response<AnswerBody>, source: &'static str) -> Response<AnswerBody> {
    answer.headers_mut().insert("x-tollgate-llm-cache", HeaderValue::from_static(source));
    answer
}
