//! Asks a second provider while the first one has no first token yet, if the definition wants it. Each answer that was begun costs money.

use crate::answer::AnswerBody;
use crate::failure::{Failure, FailureKind};
use crate::llm_server::LlmServer;
use crate::routes::Way;
use crate::tries::Trip;
use http::Response;
use std::pin::pin;
use std::time::Instant;
use tokio::time::timeout;

type Attempted = Result<Response<AnswerBody>, Failure>;

impl LlmServer {
    /// Asks a provider; while it has no first token in time, the next one as well, whose answer counts if it is first. Returns what came of it, and whether
    /// both were asked.
    pub(crate) async fn hedged(&self, trip: &Trip<'_>, way: &Way, next: Option<&Way>) -> (Attempted, bool) {
        let mut first = pin!(self.asked_with_keys(trip, way));
        let hedge = self.terms.hedge_after.filter(|_| trip.asked.streams()).zip(next);
        let Some((after, next)) = hedge else { return (first.await, false) };
        let began = Instant::now();
        if let Ok(attempted) = timeout(after, &mut first).await {
            return (attempted, false);
        }
        let mut second = pin!(self.asked_with_keys(trip, next));
        let attempted = tokio::select! {
            biased;
            attempted = &mut first => match attempted {
                Ok(response) => Ok(response),
                Err(_) => second.await,
            },
            attempted = &mut second => match attempted {
                Ok(response) => {
                    self.note_overtaken(trip, way, began.elapsed());
                    Ok(response)
                }
                // What the second one lacks says nothing of the first.
                Err(failure) => first.await.map_err(|first| if is_of_gateway(&first) { failure } else { first }),
            },
        };
        (attempted, true)
    }
}

/// Whether no provider was asked.
fn is_of_gateway(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Unsupported | FailureKind::NoBudget)
}
