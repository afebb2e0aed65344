//! Rejects every request to an API with an unsupported authentication method, because nobody can authenticate. The client sees 403 `Access
//! to this API has been disallowed`.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::refusal;

pub(super) struct UnsupportedAuth;

impl UnsupportedAuth {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let applies = !source.definition.unsupported_auth().is_empty();
        applies.then(|| Box::new(UnsupportedAuth) as Box<dyn Middleware>)
    }
}

impl Middleware for UnsupportedAuth {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.decisions.ignored { Step::Next } else { Step::Refuse(refusal::KEY_DISALLOWED) }
    }
}
