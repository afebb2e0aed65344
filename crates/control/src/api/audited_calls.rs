//! Calls that may change something, for the audit file: whose they were and what became of them, also of those that were refused. What exactly was
//! changed has lines of its own there.

use super::Control;
use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use std::sync::Arc;
use tollgate_admin::Operator;
use tollgate_data::control_caller::ControlCaller;

/// Notes a call of somebody who is known; who is not has changed nothing.
pub(super) async fn note(State(control): State<Arc<Control>>, path: Option<MatchedPath>, request: Request, next: Next) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let Some(path) = path.filter(|_| !reads && control.changes.is_audited()) else { return next.run(request).await };
    // The pattern: a key is part of its path.
    let target = format!("{} {}", request.method(), path.as_str());
    let caller = request.extensions().get::<ControlCaller>().copied();
    let response = next.run(request).await;
    if let Some(operator) = response.extensions().get::<Operator>() {
        control.changes.audit_call(operator, caller, target, response.status());
    }
    response
}
