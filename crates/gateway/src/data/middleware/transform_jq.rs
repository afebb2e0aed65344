//! Other bodies for requests, by a jq filter. Reads `transform_jq`. The upstream sees the `body` of what the filter makes; `rewrite_headers` are
//! set, and `tyk_context` are variables for the middlewares behind. A body that is no JSON, or that the filter fails for, gets 415, as in Tyk;
//! a filter that reaches a limit gets 500. Filters are compiled when the definition is loaded.

use super::{AboutMiddleware, ChainPhase, Middleware, MiddlewareSource, Rehearsed};
use crate::data::endpoints::EndpointList;
use crate::data::exchange::{Exchange, Step};
use crate::data::header_names::HeaderNames;
use crate::data::middleware::bodies::{BodyFilterError, CompiledBodyFilter};
use crate::data::refusal::{self, RefusalText};
use tollgate_jq::JqValue;

pub(super) struct TransformJq {
    by_endpoint: EndpointList<CompiledBodyFilter>,
}

impl TransformJq {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.transform_jq;
        let by_endpoint = source.checked_endpoints("transform_jq", entries, |source, entry| CompiledBodyFilter::new(entry, source));
        if by_endpoint.is_empty() { None } else { Some(Box::new(TransformJq { by_endpoint })) }
    }
}

pub(super) const ABOUT: AboutMiddleware =
    AboutMiddleware { name: "TransformJq", phase: ChainPhase::PostAuth, dry_run: None, rehearsed: Rehearsed::Runs };

impl Middleware for TransformJq {
    fn about(&self) -> &'static AboutMiddleware {
        &ABOUT
    }

    fn header_names(&self, names: &mut HeaderNames) {
        // The filter decides for each request which headers it sets.
        names.add_all();
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(filter) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        if let Err(step) = exchange.read_body() {
            return step;
        }
        let context = filter.context(exchange);
        let input = CompiledBodyFilter::parse(exchange.body())
            .map(|body| JqValue::object([("body", body.unwrap_or_default()), ("_tyk_context", context)]));
        let made = input.and_then(|input| filter.apply(input, exchange.arrival.unix_s, exchange.arrival.settings.body_bytes_max));
        let made = match made {
            Ok(made) => made,
            Err(error) => return refused(exchange, error),
        };
        for (name, value) in &made.headers {
            exchange.outgoing.edits.set(&exchange.request.headers, name, value);
        }
        if filter.sets_context() && !made.context.is_empty() {
            exchange.notes.set_variables(made.context);
        }
        exchange.replace_body(made.body);
        Step::Next
    }
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
