//! Transforms response bodies by a template. Reads `transform_response`. The client sees the rendered body; a body without the configured
//! format counts as empty, as in Tyk. A response that is too large gets 500 `Response body too large`.

use super::{AboutMiddleware, ChainPhase, Middleware, MiddlewareSource, Rehearsed};
use crate::data::endpoints::EndpointList;
use crate::data::exchange::{Exchange, Step};
use crate::data::middleware::bodies::{BodyReplacement, CompiledBodyTemplate, Surroundings, Unopened, rewrite};
use crate::data::refusal;
use crate::data::response_chain::{ResponseAction, ResponseHead, ResponseStep};
use std::sync::Arc;
use tollgate_engine::KeptBody;

pub(super) struct TransformResponse {
    by_endpoint: EndpointList<Arc<CompiledBodyTemplate>>,
}

/// The transform of one response.
struct Transform {
    template: Arc<CompiledBodyTemplate>,
    surroundings: Surroundings,
    replacement: BodyReplacement,
}

impl TransformResponse {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.transform_response;
        let by_endpoint = source.checked_endpoints("transform_response", entries, |source, entry| {
            CompiledBodyTemplate::for_responses(&entry.template_data, source).map(Arc::new)
        });
        if by_endpoint.is_empty() { None } else { Some(Box::new(TransformResponse { by_endpoint })) }
    }
}

pub(super) const ABOUT: AboutMiddleware =
    AboutMiddleware { name: "TransformResponse", phase: ChainPhase::PostAuth, dry_run: None, rehearsed: Rehearsed::Runs };

impl Middleware for TransformResponse {
    fn about(&self) -> &'static AboutMiddleware {
        &ABOUT
    }

    fn is_for_responses(&self) -> bool {
        true
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(template) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        let step = Transform {
            template: template.clone(),
            surroundings: template.surroundings(exchange),
            replacement: BodyReplacement::new(exchange),
        };
        exchange.response.chain.push(step);
        Step::Next
    }
}

impl ResponseStep for Transform {
    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction {
        self.replacement.on_head(head)
    }

    fn on_body(&mut self, head: &mut ResponseHead<'_>, body: KeptBody<'_>) -> ResponseAction {
        let document = match self.replacement.opened(head, body) {
            Ok(body) => self.template.parse(&body),
            Err(Unopened::Refused(refusal)) => return ResponseAction::Refuse(refusal),
            Err(Unopened::Unreadable(why)) => Err(why),
        };
        let document = document.unwrap_or_else(|error| {
            tracing::warn!(api = &*self.replacement.api, %error, "a response's body could not be read for its template");
            CompiledBodyTemplate::nothing()
        });
        let made = match self.template.render(&document, &self.surroundings) {
            Ok(text) => text.into_bytes(),
            Err(error) => {
                tracing::warn!(api = &*self.replacement.api, %error, "a response's template could not be rendered");
                return ResponseAction::Refuse(refusal::RESPONSE_NOT_TRANSFORMED);
            }
        };
        rewrite(head, made)
    }
}
