//! Reads forms in request bodies, for the variables `$tyk_context.request_data` and `request_data_*` of a definition with
//! `enable_context_vars`. Only a form body is read, and only if the definition uses such a variable. Its fields come before those of the
//! query, as in Go.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};

pub(super) struct ReadForm;

impl ReadForm {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        source.uses_forms().then(|| Box::new(ReadForm) as Box<dyn Middleware>)
    }
}

impl Middleware for ReadForm {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if !exchange.announces_form() {
            return Step::Next;
        }
        exchange.read_body().err().unwrap_or(Step::Next)
    }
}
