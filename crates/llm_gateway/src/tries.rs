//! Provider after provider, until one answers.

use crate::answer::{AnswerBody, fault};
use crate::asked::Asked;
use crate::budget::Budget;
use crate::failure::{Failure, FailureKind};
use crate::llm_server::LlmServer;
use crate::models::unknown;
use crate::routes::{Way, in_order};
use http::{HeaderName, HeaderValue, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;
use tollgate_llm::{Fault, FaultKind};

/// A model with one target gets a second try after this time: what failed may have been one connection.
const PAUSE: Duration = Duration::from_millis(250);

impl LlmServer {
    /// The answer to a request.
    pub(crate) async fn answer(&self, asked: &Asked) -> Response<AnswerBody> {
        let Some(ways) = self.routes.to(&asked.passed.model) else {
            return fault(asked.form, &unknown(&self.routes, &asked.passed.model), None);
        };
        let budgets = self.budgets_of(&asked.headers);
        let ways = in_order(ways, getrandom::u64().unwrap_or_default());
        let is_alone = ways.len() == 1;
        let now_ms = self.now_ms();
        let mut ready: Vec<&Way> = ways.iter().filter(|way| self.rest_ms(way, now_ms) == 0).collect();
        if ready.is_empty() {
            let waits = ways.iter().map(|way| way.standing.left_ms(now_ms));
            if let Some(wait_ms) = waits.min().filter(|wait_ms| *wait_ms > 0) {
                let busy = Fault::new(FaultKind::RateLimit, "all providers of this model have too many requests");
                return fault(asked.form, &busy, Some(wait_ms));
            }
            // Nobody is well, so whoever said nothing of limits may be by now.
            ready = ways.iter().filter(|way| way.standing.left_ms(now_ms) == 0).collect();
        }
        let mut told: Option<Failure> = None;
        for way in ready {
            let failure = match self.tried(asked, way, &budgets).await {
                Ok(response) => return response,
                Err(failure) if failure.kind == FailureKind::NoBudget => return no_budget(asked, &failure),
                Err(failure) if is_alone && failure.kind == FailureKind::Failed => {
                    sleep(PAUSE).await;
                    match self.tried(asked, way, &budgets).await {
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

    /// Milliseconds for which a way is left alone.
    fn rest_ms(&self, way: &Way, now_ms: u64) -> u64 {
        let provider = self.standings.get(way.provider).map_or(0, |standing| standing.left_ms(now_ms));
        provider.max(way.standing.left_ms(now_ms))
    }

    async fn tried(&self, asked: &Asked, way: &Way, budgets: &[Arc<Budget>]) -> Result<Response<AnswerBody>, Failure> {
        let tried = self.attempt(asked, way, budgets).await;
        let (now_ms, standing) = (self.now_ms(), self.standings.get(way.provider));
        match &tried {
            Ok(_) => standing.into_iter().for_each(|standing| standing.succeed()),
            Err(failure) => {
                match failure.kind {
                    FailureKind::Unsupported | FailureKind::NoBudget => return tried,
                    FailureKind::RateLimited => way.standing.wait(now_ms, failure.wait_ms.unwrap_or_default()),
                    FailureKind::Failed => standing.into_iter().for_each(|standing| standing.fail(now_ms)),
                }
                let provider = self.terms.providers.get(way.provider).map_or("", |provider| provider.name.as_str());
                tracing::warn!(api = self.terms.api, provider, why = failure.why, "a provider of a model gave no answer");
            }
        }
        tried
    }
}

/// A budget has too little left, whoever would answer.
fn no_budget(asked: &Asked, failure: &Failure) -> Response<AnswerBody> {
    let mut response = fault(asked.form, &failure.fault, failure.wait_ms);
    if let Some(name) = failure.budget.as_deref().and_then(|name| HeaderValue::from_str(name).ok()) {
        response.headers_mut().insert(HeaderName::from_static("x-tollgate-llm-budget"), name);
    }
    response
}
