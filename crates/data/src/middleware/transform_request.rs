//! Transforms request bodies by a template. Reads `transform`. The upstream sees the rendered body; a body without the configured format
//! passes unchanged, as in Tyk. Templates are parsed when the definition is loaded.

use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::middleware::bodies::{CompiledBodyTemplate, TemplateSurroundings};
use crate::offload::{BodyThreads, HERE_BYTES_MAX, OFFLOAD_TIME_MAX};
use crate::refusal;
use std::sync::Arc;
use tollgate_gotemplate::RenderLimits;
use tollgate_offload::StartedOnce;

pub(super) struct TransformRequest {
    by_endpoint: EndpointList<Arc<CompiledBodyTemplate>>,
    threads: Arc<StartedOnce<BodyThreads>>,
}

impl TransformRequest {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.transform;
        let by_endpoint = source.checked_endpoints("transform", entries, |source, entry| {
            CompiledBodyTemplate::new(&entry.template_data, source, true).map(Arc::new)
        });
        if by_endpoint.is_empty() {
            return None;
        }
        Some(Box::new(TransformRequest { by_endpoint, threads: source.context.registry.body_threads.clone() }))
    }
}

impl Middleware for TransformRequest {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(template) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        if let Err(step) = exchange.read_body() {
            return step;
        }
        let job = RenderJob { template: template.clone(), surroundings: template.surroundings(exchange) };
        let body = exchange.body();
        if body.len() <= HERE_BYTES_MAX
            && let Ok(text) = job.render(body, RenderLimits::BRIEF)
        {
            return replace(template, text, exchange);
        }
        let Some(threads) = self.threads.get() else { return Step::Refuse(refusal::BODY_WORK_BUSY) };
        let body = exchange.shared_body();
        let made = threads.run(exchange.arrival.body_sender(), move || job.render(&body, RenderLimits::default()));
        Step::work(self, made, OFFLOAD_TIME_MAX, |this, exchange, made| {
            let Some(template) = this.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
            match made {
                Some(Ok(text)) => replace(template, text, exchange),
                Some(Err(error)) => {
                    tracing::warn!(api = exchange.api.id, %error, "a request's body was not transformed");
                    Step::Next
                }
                None => Step::Refuse(refusal::BODY_WORK_BUSY),
            }
        })
    }
}

/// What renders the body of one request.
struct RenderJob {
    template: Arc<CompiledBodyTemplate>,
    surroundings: TemplateSurroundings,
}

impl RenderJob {
    fn render(&self, body: &[u8], limits: RenderLimits) -> Result<String, String> {
        self.template.render(&self.template.parse(body)?, &self.surroundings, limits)
    }
}

fn replace(template: &CompiledBodyTemplate, text: String, exchange: &mut Exchange<'_>) -> Step {
    let body = template.with_variables(text, exchange);
    exchange.replace_body(body.into_bytes());
    Step::Next
}
