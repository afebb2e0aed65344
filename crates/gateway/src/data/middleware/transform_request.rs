//! Transforms request bodies by a template. Reads `transform`. The upstream sees the rendered body; a body without the configured format
//! passes unchanged, as in Tyk. Templates are parsed when the definition is loaded.

use super::{AboutMiddleware, ChainPhase, Middleware, MiddlewareSource, Rehearsed};
use crate::data::endpoints::EndpointList;
use crate::data::exchange::{Exchange, Step};
use crate::data::middleware::bodies::CompiledBodyTemplate;

pub(super) struct TransformRequest {
    by_endpoint: EndpointList<CompiledBodyTemplate>,
}

impl TransformRequest {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.transform;
        let by_endpoint = source
            .checked_endpoints("transform", entries, |source, entry| CompiledBodyTemplate::new(&entry.template_data, source, true));
        if by_endpoint.is_empty() { None } else { Some(Box::new(TransformRequest { by_endpoint })) }
    }
}

pub(super) const ABOUT: AboutMiddleware =
    AboutMiddleware { name: "TransformRequest", phase: ChainPhase::PostAuth, dry_run: None, rehearsed: Rehearsed::Runs };

impl Middleware for TransformRequest {
    fn about(&self) -> &'static AboutMiddleware {
        &ABOUT
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(template) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        if let Err(step) = exchange.read_body() {
            return step;
        }
        let made = template.parse(exchange.body());
        let made = made.and_then(|document| template.render(&document, &template.surroundings(exchange)));
        match made {
            Ok(text) => {
                let body = template.with_variables(text, exchange);
                exchange.replace_body(body.into_bytes());
            }
            Err(error) => tracing::warn!(api = exchange.api.id, %error, "a request's body was not transformed"),
        }
        Step::Next
    }
}
