//! Other bodies for responses, by a jq filter. Reads `transform_jq_response`, which acts if `response_processors` names
//! `response_body_transform_jq`, as in Tyk. The client sees the `body` of what the filter makes, and its `rewrite_headers`. A response that is
//! no JSON, or that the filter fails for, is refused with 500; one that is too large with `Response body too large`.

use super::{AboutMiddleware, ChainPhase, Middleware, MiddlewareSource, Rehearsed};
use crate::data::endpoints::EndpointList;
use crate::data::exchange::{Exchange, Step};
use crate::data::header_names::canonical_name;
use crate::data::middleware::bodies::{BodyFilterError, BodyReplacement, CompiledBodyFilter, FilteredBody, Unopened, rewrite};
use crate::data::refusal;
use crate::data::response_chain::{ResponseAction, ResponseHead, ResponseStep};
use std::sync::Arc;
use tollgate_engine::KeptBody;
use tollgate_jq::JqValue;

/// The response processor without which the filters do nothing.
const PROCESSOR: &str = "response_body_transform_jq";

pub(super) struct TransformJqResponse {
    by_endpoint: EndpointList<Arc<CompiledBodyFilter>>,
}

/// The filter of one response.
struct FilterStep {
    filter: Arc<CompiledBodyFilter>,
    context: JqValue,
    replacement: BodyReplacement,
    unix_s: u64,
}

impl TransformJqResponse {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.transform_jq_response;
        let by_endpoint = source.checked_endpoints("transform_jq_response", entries, |source, entry| {
            CompiledBodyFilter::for_responses(entry, source).map(Arc::new)
        });
        if by_endpoint.is_empty() {
            return None;
        }
        if !source.definition.filters_responses() {
            let version = source.version_name;
            let path = format!("$.version_data.versions.{version}.extended_paths.transform_jq_response");
            source.context.warning(path, format!("has no effect, as no entry of response_processors has the name {PROCESSOR:?}"));
            return None;
        }
        Some(Box::new(TransformJqResponse { by_endpoint }))
    }
}

pub(super) const ABOUT: AboutMiddleware =
    AboutMiddleware { name: "TransformJqResponse", phase: ChainPhase::PostAuth, dry_run: None, rehearsed: Rehearsed::Runs };

impl Middleware for TransformJqResponse {
    fn about(&self) -> &'static AboutMiddleware {
        &ABOUT
    }

    fn is_for_responses(&self) -> bool {
        true
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(filter) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        let step = FilterStep {
            filter: filter.clone(),
            context: filter.context(exchange),
            replacement: BodyReplacement::new(exchange),
            unix_s: exchange.arrival.unix_s,
        };
        exchange.response.chain.push(step);
        Step::Next
    }
}

impl ResponseStep for FilterStep {
    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction {
        self.replacement.on_head(head)
    }

    fn on_body(&mut self, head: &mut ResponseHead<'_>, body: KeptBody<'_>) -> ResponseAction {
        let made = match self.replacement.opened(head, body) {
            Ok(body) => self.filtered(head, &body),
            Err(Unopened::Refused(refusal)) => return ResponseAction::Refuse(refusal),
            Err(Unopened::Unreadable(why)) => Err(BodyFilterError::NotJson(why)),
        };
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                tracing::warn!(api = &*self.replacement.api, %error, "a response's body was not transformed");
                return ResponseAction::Refuse(refusal::RESPONSE_NOT_TRANSFORMED);
            }
        };
        for (name, value) in &made.headers {
            head.set_header(name, value);
        }
        rewrite(head, made.body)
    }
}

impl FilterStep {
    fn filtered(&mut self, head: &ResponseHead<'_>, body: &[u8]) -> Result<FilteredBody, BodyFilterError> {
        let body = CompiledBodyFilter::parse(body)?.ok_or_else(|| BodyFilterError::NotJson("EOF".to_owned()))?;
        let input = JqValue::object([
            ("body", body),
            ("_tyk_context", std::mem::take(&mut self.context)),
            ("_tyk_response_headers", headers_of(head)),
        ]);
        self.filter.apply(input, self.unix_s, self.replacement.bytes_max())
    }
}

/// The header lines so far: a list of values for each name.
fn headers_of(head: &ResponseHead<'_>) -> JqValue {
    let mut lists: Vec<(String, Vec<JqValue>)> = Vec::new();
    let (headers, edits) = head.lines();
    edits.each_line(headers, &mut |name, value| {
        let (name, value) = (canonical_name(name), JqValue::string(&String::from_utf8_lossy(value)));
        match lists.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(value),
            None => lists.push((name, vec![value])),
        }
    });
    JqValue::object(lists.into_iter().map(|(name, values)| (name, JqValue::array(values))))
}
