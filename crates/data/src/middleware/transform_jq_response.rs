//! Other bodies for responses, by a jq filter. Reads `transform_jq_response`, which acts if `response_processors` names
//! `response_body_transform_jq`, as in Tyk. The client sees the `body` of what the filter makes, and its `rewrite_headers`. A response that is
//! no JSON, or that the filter fails for, is refused with 500; one that is too large with `Response body too large`.

use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::header_names::canonical_name;
use crate::middleware::bodies::{BodyMaker, BodyReplacement, CompiledBodyFilter, MadeResponseBody};
use crate::offload::BodyThreads;
use crate::response_chain::ResponseHead;
use serde_json::{Map, Value};
use std::sync::Arc;
use tollgate_jq::JqValue;
use tollgate_offload::StartedOnce;

/// The response processor without which the filters do nothing.
const PROCESSOR: &str = "response_body_transform_jq";

pub(super) struct TransformJqResponse {
    by_endpoint: EndpointList<Arc<CompiledBodyFilter>>,
    threads: Arc<StartedOnce<BodyThreads>>,
}

/// What filters the body of one response.
struct FilterMaker {
    filter: Arc<CompiledBodyFilter>,
    context: Value,
    /// The header lines so far: a list of values for each name.
    headers: Value,
    unix_s: u64,
    bytes_max: usize,
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
        Some(Box::new(TransformJqResponse { by_endpoint, threads: source.context.registry.body_threads.clone() }))
    }
}

impl Middleware for TransformJqResponse {
    fn is_for_responses(&self) -> bool {
        true
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(filter) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        let arrival = exchange.arrival;
        let maker = FilterMaker {
            filter: filter.clone(),
            context: filter.context(exchange),
            headers: Value::Null,
            unix_s: arrival.unix_s,
            bytes_max: arrival.settings.sizes.response_bytes_max,
        };
        let step = BodyReplacement::new(exchange, &self.threads, maker);
        exchange.response.chain.push(step);
        Step::Next
    }
}

impl BodyMaker for FilterMaker {
    fn see(&mut self, head: &ResponseHead<'_>) {
        let mut lists = Map::new();
        let (headers, edits) = head.lines();
        edits.each_line(headers, &mut |name, value| {
            let list = lists.entry(canonical_name(name)).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(values) = list {
                values.push(String::from_utf8_lossy(value).into());
            }
        });
        self.headers = Value::Object(lists);
    }

    fn make(&self, body: Result<&[u8], String>, is_brief: bool) -> Result<Option<MadeResponseBody>, String> {
        let body = CompiledBodyFilter::parse(body?).map_err(|error| error.to_string())?.ok_or("EOF")?;
        let input = JqValue::object([
            ("body", body),
            ("_tyk_context", JqValue::from(&self.context)),
            ("_tyk_response_headers", JqValue::from(&self.headers)),
        ]);
        let made = self.filter.apply(input, self.unix_s, self.bytes_max, is_brief).map_err(|error| error.to_string())?;
        Ok(Some(MadeResponseBody { body: made.body, headers: made.headers }))
    }
}
