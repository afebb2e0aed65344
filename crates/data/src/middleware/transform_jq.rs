//! Other bodies for requests, by a jq filter. Reads `transform_jq`. The upstream sees the `body` of what the filter makes; `rewrite_headers` are
//! set, and `tyk_context` are variables for the middlewares behind. A body that is no JSON, or that the filter fails for, gets 415, as in Tyk;
//! a filter that reaches a limit gets 500. Filters are compiled when the definition is loaded.

use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use crate::middleware::bodies::{BodyFilterError, CompiledBodyFilter, FilteredBody};
use crate::offload::{BodyThreads, HERE_BYTES_MAX, OFFLOAD_TIME_MAX};
use crate::refusal::{self, RefusalText};
use serde_json::Value;
use std::sync::Arc;
use tollgate_jq::JqValue;
use tollgate_offload::StartedOnce;

pub(super) struct TransformJq {
    by_endpoint: EndpointList<Arc<CompiledBodyFilter>>,
    threads: Arc<StartedOnce<BodyThreads>>,
}

impl TransformJq {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.transform_jq;
        let by_endpoint =
            source.checked_endpoints("transform_jq", entries, |source, entry| CompiledBodyFilter::new(entry, source).map(Arc::new));
        if by_endpoint.is_empty() {
            return None;
        }
        Some(Box::new(TransformJq { by_endpoint, threads: source.context.registry.body_threads.clone() }))
    }
}

impl Middleware for TransformJq {
    fn header_names(&self, names: &mut HeaderNames) {
        // The filter decides for each request which headers it sets.
        names.add_all();
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(filter) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        if let Err(step) = exchange.read_body() {
            return step;
        }
        let arrival = exchange.arrival;
        let job = FilterJob {
            filter: filter.clone(),
            context: filter.context(exchange),
            unix_s: arrival.unix_s,
            bytes_max: arrival.settings.sizes.body_bytes_max,
        };
        let body = exchange.body();
        if body.len() <= HERE_BYTES_MAX {
            match job.apply(body, true) {
                Ok(made) => return replace(filter, made, exchange),
                // The threads have time for it.
                Err(BodyFilterError::Limit(_)) => {}
                Err(error) => return refused(exchange, error),
            }
        }
        let Some(threads) = self.threads.get() else { return Step::Refuse(refusal::BODY_WORK_BUSY) };
        let body = exchange.shared_body();
        let made = threads.run(exchange.arrival.body_sender(), move || job.apply(&body, false));
        Step::work(self, made, OFFLOAD_TIME_MAX, |this, exchange, made| {
            let Some(filter) = this.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
            match made {
                Some(Ok(made)) => replace(filter, made, exchange),
                Some(Err(error)) => refused(exchange, error),
                None => Step::Refuse(refusal::BODY_WORK_BUSY),
            }
        })
    }
}

/// What filters the body of one request.
struct FilterJob {
    filter: Arc<CompiledBodyFilter>,
    context: Value,
    unix_s: u64,
    bytes_max: usize,
}

impl FilterJob {
    fn apply(&self, body: &[u8], is_brief: bool) -> Result<FilteredBody, BodyFilterError> {
        let body = CompiledBodyFilter::parse(body)?.unwrap_or_default();
        let input = JqValue::object([("body", body), ("_tyk_context", JqValue::from(&self.context))]);
        self.filter.apply(input, self.unix_s, self.bytes_max, is_brief)
    }
}

fn replace(filter: &CompiledBodyFilter, made: FilteredBody, exchange: &mut Exchange<'_>) -> Step {
    for (name, value) in &made.headers {
        exchange.outgoing.edits.set(&exchange.request.headers, name, value);
    }
    if filter.sets_context() && !made.context.is_empty() {
        exchange.notes.set_variables(made.context);
    }
    exchange.replace_body(made.body);
    Step::Next
}

fn refused(exchange: &Exchange<'_>, error: BodyFilterError) -> Step {
    if !matches!(error, BodyFilterError::NotJson(_)) {
        tracing::warn!(api = exchange.api.id, %error, "a request's body was not transformed");
    }
    Step::Refuse(match error {
        BodyFilterError::NotJson(message) => refusal::body_not_json(415, message),
        BodyFilterError::Failed(message) => RefusalText::new(415, "body_not_filtered", message).into(),
        BodyFilterError::Limit(message) => RefusalText::new(500, "filter_limit", message).into(),
    })
}
