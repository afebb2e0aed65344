//! Header changes to the request for the upstream. Reads `global_headers`, `global_headers_remove` and `transform_headers`. Invisible to
//! the client. Does not use the store.

use super::Middleware;
use super::header_plan::HeaderPlan;
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::header_change::HeaderChange;
use crate::header_names::HeaderNames;
use crate::middleware::MiddlewareSource;

pub(super) struct RequestHeaders {
    global: Option<HeaderPlan>,
    by_endpoint: EndpointList<HeaderPlan>,
}

impl RequestHeaders {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let info = source.info;
        let scope = source.variable_scope();
        let global = HeaderPlan::new(&info.global_headers_remove, &info.global_headers, scope);
        let global = Some(global).filter(|plan| !info.global_headers_disabled && !plan.is_empty());
        let entries = &info.extended_paths.transform_headers;
        let by_endpoint = source.endpoints("transform_headers", entries, |source, _, entry| {
            Some(HeaderPlan::new(&entry.delete_headers, &entry.add_headers, source.variable_scope()))
        });
        if global.is_none() && by_endpoint.is_empty() { None } else { Some(Box::new(RequestHeaders { global, by_endpoint })) }
    }
}

impl Middleware for RequestHeaders {
    fn header_names(&self, names: &mut HeaderNames) {
        for plan in self.global.iter().chain(self.by_endpoint.values()) {
            plan.changed_names(names);
            plan.read_names(names);
        }
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let endpoints = self.by_endpoint.find_each(exchange.hits, &exchange.method);
        let changes: Vec<HeaderChange> =
            self.global.iter().chain(endpoints.into_iter().flatten()).flat_map(|plan| plan.changes(exchange)).collect();
        for change in changes {
            change.apply(&exchange.request.headers, &mut exchange.outgoing.edits);
        }
        Step::Next
    }
}
