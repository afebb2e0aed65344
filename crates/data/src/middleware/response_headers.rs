//! Header changes to the response that depend on the request. Reads `transform_response_headers`, `header_injector` in
//! `response_processors`, and values of `global_response_headers`
//! with variables. The client sees the changed response. Does not use the store.

use super::Middleware;
use super::header_plan::HeaderPlan;
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::header_change::HeaderChange;
use crate::header_names::HeaderNames;
use crate::middleware::MiddlewareSource;
use tollgate_model::api::ProcessorAction;

pub(super) struct ResponseHeaders {
    global: Option<HeaderPlan>,
    /// Changes of `header_injector`, which come last.
    injected: Vec<HeaderPlan>,
    by_endpoint: EndpointList<HeaderPlan>,
}

impl ResponseHeaders {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let info = source.info;
        let scope = source.variable_scope();
        let global = HeaderPlan::new(&[], &info.global_response_headers, scope).only_variable();
        let global = Some(global).filter(|plan| !info.global_response_headers_disabled && !plan.is_empty());
        let entries = &info.extended_paths.transform_response_headers;
        let by_endpoint = source.endpoints("transform_response_headers", entries, |source, _, entry| {
            Some(HeaderPlan::new(&entry.delete_headers, &entry.add_headers, source.variable_scope()))
        });
        let actions = source.definition.response_processors.iter().filter_map(|processor| processor.action());
        let injected = actions.filter_map(|action| match action {
            ProcessorAction::Inject(headers) => {
                Some(HeaderPlan::new(&headers.remove_headers, &headers.add_headers, source.variable_scope()))
            }
            ProcessorAction::Reverse(_) => None,
        });
        // As in Tyk, one field disables both.
        let injected: Vec<_> = injected.filter(|plan| !info.global_response_headers_disabled && !plan.is_empty()).collect();
        let is_used = global.is_some() || !injected.is_empty() || !by_endpoint.is_empty();
        is_used.then(|| Box::new(ResponseHeaders { global, injected, by_endpoint }) as Box<dyn Middleware>)
    }
}

impl Middleware for ResponseHeaders {
    fn is_for_responses(&self) -> bool {
        true
    }

    fn header_names(&self, names: &mut HeaderNames) {
        self.global.iter().chain(&self.injected).chain(self.by_endpoint.values()).for_each(|plan| plan.read_names(names));
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let endpoints = self.by_endpoint.find_each(exchange.hits, &exchange.method).into_iter().flatten();
        let changes: Vec<HeaderChange> =
            self.global.iter().chain(endpoints).chain(&self.injected).flat_map(|plan| plan.changes(exchange)).collect();
        exchange.response.upstream_changes.extend(changes);
        Step::Next
    }
}
