//! Header changes of a rule of a route that depend on the status of a response. Reads `status_headers` of `tollgate.route.rules`. The client sees
//! them on responses of backends and on the gateway's own. Does not use the store.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_change::StatusChange;
use crate::route_rules::header_changes;
use std::sync::Arc;
use tollgate_model::api::StatusHeaders;

pub(super) struct RuleStatusHeaders(Arc<[StatusChange]>);

impl RuleStatusHeaders {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let changes: Vec<StatusChange> = source.rule?.1.status_headers.iter().flat_map(changes).collect();
        (!changes.is_empty()).then(|| Box::new(RuleStatusHeaders(changes.into())) as Box<dyn Middleware>)
    }
}

fn changes(entry: &StatusHeaders) -> Vec<StatusChange> {
    let statuses: Arc<[u16]> = entry.statuses.as_slice().into();
    header_changes(&entry.headers).into_iter().map(|change| StatusChange { statuses: statuses.clone(), change }).collect()
}

impl Middleware for RuleStatusHeaders {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        // A looped request has those of the rule that its client called.
        if exchange.decisions.loops == 0 {
            exchange.response.status_changes.push(self.0.clone());
        }
        Step::Next
    }
}
