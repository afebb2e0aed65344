//! Transforms response bodies by a template. Reads `transform_response`. The client sees the rendered body; a body without the configured
//! format counts as empty, as in Tyk. A response that is too large gets 500 `Response body too large`.

use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::middleware::bodies::{BodyMaker, BodyReplacement, CompiledBodyTemplate, MadeResponseBody, TemplateSurroundings};
use crate::offload::BodyThreads;
use std::sync::Arc;
use tollgate_gotemplate::RenderLimits;
use tollgate_offload::StartedOnce;

pub(super) struct TransformResponse {
    by_endpoint: EndpointList<Arc<CompiledBodyTemplate>>,
    threads: Arc<StartedOnce<BodyThreads>>,
}

/// What renders the body of one response.
struct TemplateMaker {
    api: Arc<str>,
    template: Arc<CompiledBodyTemplate>,
    surroundings: TemplateSurroundings,
}

impl TransformResponse {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.transform_response;
        let by_endpoint = source.checked_endpoints("transform_response", entries, |source, entry| {
            CompiledBodyTemplate::for_responses(&entry.template_data, source).map(Arc::new)
        });
        if by_endpoint.is_empty() {
            return None;
        }
        Some(Box::new(TransformResponse { by_endpoint, threads: source.context.registry.body_threads.clone() }))
    }
}

impl Middleware for TransformResponse {
    fn is_for_responses(&self) -> bool {
        true
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(template) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        let surroundings = template.surroundings(exchange);
        let maker = TemplateMaker { api: exchange.api.id.as_str().into(), template: template.clone(), surroundings };
        let step = BodyReplacement::new(exchange, &self.threads, maker);
        exchange.response.chain.push(step);
        Step::Next
    }
}

impl BodyMaker for TemplateMaker {
    fn make(&self, body: Result<&[u8], String>, is_brief: bool) -> Result<Option<MadeResponseBody>, String> {
        let document = body.and_then(|body| self.template.parse(body)).unwrap_or_else(|error| {
            tracing::warn!(api = &*self.api, %error, "a response's body could not be read for its template");
            CompiledBodyTemplate::nothing()
        });
        let limits = if is_brief { RenderLimits::BRIEF } else { RenderLimits::default() };
        let text = self.template.render(&document, &self.surroundings, limits)?;
        Ok(Some(MadeResponseBody { body: text.into_bytes(), headers: Vec::new() }))
    }
}
