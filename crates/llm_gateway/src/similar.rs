//! Answers to requests that are nearly the same: all is equal but the user's last text, and the vectors of the two texts are near. The vectors of a
//! group of requests that differ in that text alone are one entry of the cache, with a bound, and all of them are compared.

use crate::answer_cache::AnswerCache;
use crate::answer_store::AnswerName;
use crate::asked::Asked;
use crate::holdings::{Holdings, Outlook, Progress};
use crate::lane_times::LlmOperation;
use crate::llm_server::LlmServer;
use crate::semantic_cache::SemanticCache;
use crate::surface::Surface;
use crate::vectors::{KeptVector, SmallVector, VectorGroup};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tollgate_clock::unix_s;
use tollgate_llm::{AnswerFormat, EmbeddingApi, Estimate, Price, RequestIdentity, Usage, UsageReader};
use tollgate_model::session::BudgetUnit;
use tollgate_outbound::{Call, CallFault, CallLimits};

/// Longest text that is compared: models of embeddings read no more.
const QUESTION_BYTES_MAX: usize = 32 << 10;
/// Largest answer with an embedding.
const EMBEDDING_BYTES_MAX: usize = 1 << 20;
/// Most vectors that wait to be kept.
const WAITING_MAX: usize = 64;
/// Letters of a text that are shown, where that is wanted.
const SHOWN_MAX: usize = 300;

/// A request as it is compared with others.
pub(crate) struct SemanticQuestion {
    group: String,
    path: String,
    tag: String,
    vector: SmallVector,
    shown: Option<String>,
}

/// A request that is near enough.
pub(crate) struct Near {
    pub key: String,
    pub similarity: f64,
}

impl SemanticQuestion {
    fn name<'a>(&'a self, cache: &AnswerCache) -> AnswerName<'a> {
        AnswerName { key: &self.group, path: &self.path, tag: &self.tag, ttl_s: cache.terms.ttl_s }
    }
}

impl LlmServer {
    /// A request as it is compared; `None` if it has no text to compare, or nobody makes a vector of it.
    pub(crate) async fn semantic_question(
        &self,
        asked: &Asked,
        cache: &AnswerCache,
        (path, tag): (&str, &str),
        mut identity: RequestIdentity,
    ) -> Option<SemanticQuestion> {
        let semantic = cache.semantic.as_ref()?;
        let Surface::Talk(api) = asked.surface else { return None };
        let question = identity.take_question(api).filter(|text| text.len() <= QUESTION_BYTES_MAX && !text.trim().is_empty())?;
        // A vector of another model is another thing.
        let rest = [b"group of ", semantic.terms.model.as_bytes(), b":", &identity.bytes()].concat();
        let group = self.cache_key(asked, &cache.terms, &rest)?;
        let Some(vector) = self.embedded(asked, semantic, &question).await else {
            tracing::warn!(api = self.terms.api, "there is no embedding of a request, so that it is not compared with others");
            return None;
        };
        let shown = semantic.terms.shows_questions.then(|| question.chars().take(SHOWN_MAX).collect());
        Some(SemanticQuestion { group, path: path.to_owned(), tag: tag.to_owned(), vector, shown })
    }

    /// The requests that are near enough, the nearest first.
    pub(crate) async fn near(&self, cache: &AnswerCache, question: &SemanticQuestion) -> Vec<Near> {
        let Some(semantic) = &cache.semantic else { return Vec::new() };
        let Some(kept) = cache.terms.store.find_shared(question.name(cache)).await else { return Vec::new() };
        let group = VectorGroup::read(&kept);
        let near = group.near(&question.vector, semantic.terms.threshold, unix_s());
        if let Some((similarity, nearest)) = near.first() {
            let (dry_run, asked, matched) = (semantic.terms.dry_run, question.shown.as_deref(), nearest.shown.as_deref());
            let key = nearest.key.get(..12).unwrap_or_default();
            tracing::info!(
                api = self.terms.api,
                similarity,
                dry_run,
                key,
                asked,
                matched,
                "a similar request to a model was answered before"
            );
        }
        near.into_iter().map(|(similarity, vector)| Near { key: vector.key.clone(), similarity }).collect()
    }

    /// Keeps the vector of a request whose answer is kept.
    pub(crate) fn keep_vector(self: &Arc<Self>, question: SemanticQuestion, key: String) {
        let server = self.clone();
        self.client.spawn(async move {
            let Some(cache) = &server.cache else { return };
            let Some(semantic) = &cache.semantic else { return };
            if semantic.waiting.fetch_add(1, Ordering::Relaxed) < WAITING_MAX {
                // One after the other: each adds to what the one before has kept.
                let _turn = semantic.keeping.lock().await;
                let kept = cache.terms.store.find_shared(question.name(cache)).await;
                let mut group = kept.map(|kept| VectorGroup::read(&kept)).unwrap_or_default();
                let now_s = unix_s();
                let SemanticQuestion { vector, shown, .. } = &question;
                let added = KeptVector {
                    vector: vector.clone(),
                    key,
                    expires_s: now_s.saturating_add(cache.terms.ttl_s),
                    shown: shown.clone(),
                };
                group.add(added, semantic.terms.entries_max, now_s);
                let bytes = group.write(cache.terms.store.answer_bytes_max());
                cache.terms.store.replace(question.name(cache), &bytes);
            }
            semantic.waiting.fetch_sub(1, Ordering::Relaxed);
        });
    }

    /// The vector of a text. The budgets of its request pay for it.
    async fn embedded(&self, asked: &Asked, semantic: &SemanticCache, text: &str) -> Option<SmallVector> {
        let provider = self.terms.providers.get(semantic.terms.provider)?;
        let body = json!({"model": semantic.terms.model, "input": text}).to_string().into_bytes();
        let ask = EmbeddingApi::OpenAi.read(&body, body.len()).ok()?;
        let speaks = provider.provider.speaks_embeddings(EmbeddingApi::OpenAi);
        let request = match speaks {
            true => provider.provider.passed_embedding_request(EmbeddingApi::OpenAi, &body, body.len(), &ask.model).ok()?,
            false => provider.provider.embedding_request(&ask).ok()?,
        };
        let url = format!("{}{}", provider.origin, request.path_and_query);
        let headers: Vec<(String, String)> = request.headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let body_bytes = request.body.len();
        let limits = CallLimits { time_max: semantic.terms.time_max, body_bytes_max: EMBEDDING_BYTES_MAX };
        let call = Call::of_texts(request.method, &url, &headers, request.body, &self.terms.tls, limits).ok()?;
        let price = self.prices.of(&semantic.terms.model);
        let holdings = self.hold_embedding(asked, body_bytes, price).await?;
        let answer = match self.client.call(call).await {
            Ok(answer) if answer.status == 200 => answer,
            // One that is late may have been made all the same.
            Err(CallFault::Timeout(_)) => {
                holdings.pay(Progress::default());
                return None;
            }
            _ => return None,
        };
        let (body, usage) = if speaks {
            let mut usage = UsageReader::new(AnswerFormat::OpenAiChat, false);
            usage.push(&answer.body);
            (answer.body.to_vec(), usage.usage())
        } else {
            let read = provider.provider.embedding_reply(200, &answer.body, EMBEDDING_BYTES_MAX, &ask);
            read.ok().map(|(body, usage)| (body, Some(usage))).unwrap_or_default()
        };
        holdings.pay(Progress { usage, is_complete: true, ..Progress::default() });
        if let (Some(figures), Some(usage)) = (&semantic.figures, usage.map(Usage::bounded)) {
            figures.add_usage(LlmOperation::Embeddings, &usage, price.map_or(0, |price| price.cost(&usage)));
        }
        let told: Value = serde_json::from_slice(&body).ok()?;
        let numbers = told.get("data")?.get(0)?.get("embedding")?.as_array()?;
        let numbers: Option<Vec<f64>> = numbers.iter().map(Value::as_f64).collect();
        SmallVector::of(&numbers?)
    }
    /// Takes what the vector of a text may cost. It is no request of the client's, so budgets of requests do not count it.
    async fn hold_embedding(&self, asked: &Asked, bytes: usize, price: Option<&Price>) -> Option<Holdings> {
        let budgets = self.budgets_of(&asked.facts).into_iter().filter(|budget| budget.rule.unit != BudgetUnit::Requests);
        let outlook = Outlook { prompt: Estimate::of_bytes(bytes as u64), ..Outlook::default() };
        Holdings::take(&budgets.collect::<Vec<_>>(), outlook, price).await.ok()
    }
}
