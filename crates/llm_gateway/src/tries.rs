//! Provider after provider, and key after key, until one answers.

use crate::answer::{AnswerBody, fault};
use crate::asked::Asked;
use crate::budget::Budget;
use crate::failure::{Failure, FailureKind};
use crate::llm_server::LlmServer;
use crate::models::unknown;
use crate::pool::{Pool, Readiness};
use crate::rooms::Need;
use crate::routes::Way;
use http::{HeaderName, HeaderValue, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;
use tollgate_llm::{Fault, FaultKind, RateLimits};

/// A model with one target gets a second try after this time: what failed may have been one connection.
const PAUSE: Duration = Duration::from_millis(250);
/// Most keys of one provider that a request is sent with: each one costs the client a round trip.
const KEYS_MAX: usize = 3;
/// For so long a request waits for room where all providers have too many: less than a client would.
const ROOM_WAIT_MS_MAX: u64 = 1_000;
const BUSY: &str = "all providers of this model have too many requests";

/// A request on its way to an answer.
pub(crate) struct Trip<'a> {
    pub asked: &'a Asked,
    pub budgets: Vec<Arc<Budget>>,
    pub need: Need,
    /// The number of its conversation, which chooses among targets and keys; any number if conversations have none.
    pub conversation: u64,
}

impl Trip<'_> {
    /// The model's name at a provider.
    pub(crate) fn model<'w>(&'w self, way: &'w Way) -> &'w str {
        way.model.as_deref().unwrap_or(&self.asked.passed.model)
    }
}

/// The targets that can be asked.
enum Ready<'w> {
    These(Vec<&'w Way>),
    /// All have too many requests, and one has room after so many milliseconds.
    Busy(u64),
}

impl LlmServer {
    /// The answer to a request.
    pub(crate) async fn answer(&self, asked: &Asked) -> Response<AnswerBody> {
        let Some(ways) = self.routes.to(&asked.passed.model) else {
            asked.report.ends("unknown_model", "there is no such model", "");
            return fault(asked.form, &unknown(&self.routes, &asked.passed.model), None);
        };
        let budgets = self.budgets_of(&asked.facts);
        let trip = Trip { asked, budgets, need: asked.need(), conversation: self.conversation(asked) };
        let last_ms = self.now_ms() + ROOM_WAIT_MS_MAX;
        let ready = loop {
            match self.ready(&ways.list, &trip) {
                Ready::These(ready) => break ready,
                Ready::Busy(wait_ms) if self.now_ms() + wait_ms <= last_ms => sleep(Duration::from_millis(wait_ms)).await,
                Ready::Busy(wait_ms) => return busy(asked, wait_ms),
            }
        };
        for way in ways.list.iter().filter(|way| !ready.iter().any(|known| std::ptr::eq(*known, *way))) {
            self.note_skipped(&trip, way, "it has failed or wants no requests for a while");
        }
        let mut told: Option<Failure> = None;
        let mut ordered = self.in_order(ready, ways.preference, &trip).into_iter().peekable();
        while let Some(way) = ordered.next() {
            let (attempted, is_hedged) = self.hedged(&trip, way, ordered.peek().copied()).await;
            if is_hedged {
                ordered.next();
            }
            let failure = match attempted {
                Ok(response) => return response,
                Err(failure) if failure.kind == FailureKind::NoBudget => return no_budget(asked, &failure),
                Err(failure) if ways.list.len() == 1 && failure.kind == FailureKind::Failed => {
                    sleep(PAUSE).await;
                    match self.asked_with_keys(&trip, way).await {
                        Ok(response) => return response,
                        Err(failure) => failure,
                    }
                }
                Err(failure) => failure,
            };
            // That one provider lacks something says less than that another failed.
            if told.is_none() || failure.kind != FailureKind::Unsupported {
                told = Some(failure);
            }
        }
        let none = || Failure::new(FaultKind::Server, "no provider of this model can be asked", "");
        let Failure { fault: why, wait_ms, .. } = told.unwrap_or_else(none);
        fault(asked.form, &why, wait_ms)
    }

    /// The ways that can be asked now.
    fn ready<'w>(&self, ways: &'w [Way], trip: &Trip<'_>) -> Ready<'w> {
        let now_ms = self.now_ms();
        let states = ways.iter().map(|way| {
            let pool = self.pools.get(way.provider);
            (way, pool.map_or(Readiness::Down, |pool| pool.readiness(trip.model(way), trip.need, now_ms)))
        });
        let states: Vec<(&Way, Readiness)> = states.collect();
        let those =
            |wanted: Readiness| -> Vec<&Way> { states.iter().filter(|(_, state)| *state == wanted).map(|(way, _)| *way).collect() };
        let ready = those(Readiness::Ready);
        if !ready.is_empty() {
            return Ready::These(ready);
        }
        // Nobody is well, so whoever said nothing of limits may be by now.
        let down = those(Readiness::Down);
        let waits = states.iter().filter_map(|(_, state)| if let Readiness::Busy(wait_ms) = state { Some(*wait_ms) } else { None });
        match waits.min() {
            Some(wait_ms) if down.is_empty() => Ready::Busy(wait_ms),
            _ => Ready::These(down),
        }
    }

    /// Asks one provider, with another key where one has used up its limit or is not accepted.
    pub(crate) async fn asked_with_keys(&self, trip: &Trip<'_>, way: &Way) -> Result<Response<AnswerBody>, Failure> {
        let gone = || Failure::new(FaultKind::Server, "the provider is gone", "the provider is gone");
        let pool = self.pools.get(way.provider).ok_or_else(gone)?;
        let mut tried = Vec::new();
        let mut told = None;
        while tried.len() < KEYS_MAX {
            let (model, now_ms) = (trip.model(way), self.now_ms());
            let mut key = pool.choose(model, trip.need, trip.conversation, &tried, now_ms);
            if key.is_none() && tried.is_empty() {
                match pool.readiness(model, trip.need, now_ms) {
                    // Others were faster.
                    Readiness::Busy(wait_ms) => {
                        self.note_skipped(trip, way, "its keys have used up their limits");
                        trip.asked.report.ends("rate_limited", BUSY, "");
                        let busy = Failure::new(FaultKind::RateLimit, BUSY, "its keys have used up their limits");
                        return Err(Failure { wait_ms: Some(wait_ms), ..busy });
                    }
                    _ => key = pool.any(trip.conversation),
                }
            }
            let Some(key) = key else { break };
            tried.push(key);
            let failure = match self.tried(trip, way, pool, key).await {
                Ok(response) => return Ok(response),
                Err(failure) => failure,
            };
            let is_of_key = matches!(failure.kind, FailureKind::RateLimited | FailureKind::UnknownKey);
            told = Some(failure);
            if !is_of_key {
                break;
            }
        }
        Err(told.unwrap_or_else(gone))
    }

    async fn tried(&self, trip: &Trip<'_>, way: &Way, pool: &Pool, index: usize) -> Result<Response<AnswerBody>, Failure> {
        let Some(key) = pool.key(index) else {
            return Err(Failure::new(FaultKind::Server, "the provider is gone", "the provider is gone"));
        };
        let tried = self.attempt(trip, way, key).await;
        let now_ms = self.now_ms();
        let Err(failure) = &tried else {
            key.accept();
            pool.standing.succeed();
            return tried;
        };
        match failure.kind {
            FailureKind::NoBudget => {}
            FailureKind::Unsupported => {
                trip.asked.report.passes_over(&key.terms, trip.model(way), &way.figures.model, ("unsupported", &failure.reason));
                trip.asked.report.ends("unsupported", &failure.reason, "");
            }
            _ => trip.asked.report.explains(&key.terms.name, &failure.reason),
        }
        match failure.kind {
            FailureKind::Unsupported | FailureKind::NoBudget => return tried,
            FailureKind::RateLimited => {
                key.figures.limit();
                // Its head has been read; a stream that says it has none.
                if !failure.is_of_head {
                    key.rooms.learn(trip.model(way), Default::default(), &RateLimits::default(), true, now_ms);
                }
            }
            FailureKind::UnknownKey => key.refuse(now_ms),
            FailureKind::Denied => {}
            FailureKind::Failed => pool.standing.fail(now_ms),
        }
        let (api, provider, key, why) = (&self.terms.api, &key.terms.name, index + 1, &failure.why);
        match failure.kind {
            FailureKind::UnknownKey => {
                tracing::error!(api, provider, key, "a provider of models does not accept the gateway's key with this number");
            }
            _ => tracing::warn!(api, provider, key, why, "a provider of a model gave no answer"),
        }
        tried
    }

    /// Notes for the record that a provider is not asked.
    fn note_skipped(&self, trip: &Trip<'_>, way: &Way, reason: &str) {
        if let Some(provider) = self.terms.providers.get(way.provider) {
            trip.asked.report.passes_over(provider, trip.model(way), &way.figures.model, ("skipped", reason));
        }
    }
}

/// All providers have too many requests.
fn busy(asked: &Asked, wait_ms: u64) -> Response<AnswerBody> {
    asked.report.ends("rate_limited", BUSY, "");
    fault(asked.form, &Fault::new(FaultKind::RateLimit, BUSY), Some(wait_ms))
}

/// A budget has too little left, whoever would answer.
fn no_budget(asked: &Asked, failure: &Failure) -> Response<AnswerBody> {
    asked.report.ends("no_budget", &failure.reason, failure.budget.as_deref().unwrap_or_default());
    let mut response = fault(asked.form, &failure.fault, failure.wait_ms);
    if let Some(name) = failure.budget.as_deref().and_then(|name| HeaderValue::from_str(name).ok()) {
        response.headers_mut().insert(HeaderName::from_static("x-tollgate-llm-budget"), name);
    }
    response
}
