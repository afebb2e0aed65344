//! Rejects every request to an API with an unsupported authentication method, because nobody can authenticate. The client sees 403 `Access
//! to this API has been disallowed`.

use super::{AboutMiddleware, ChainPhase, Middleware, MiddlewareSource, Rehearsed};
use crate::data::exchange::{Exchange, Step};
use crate::data::refusal;
use tollgate_model::api::DryRunKind;

pub(super) struct UnsupportedAuth;

impl UnsupportedAuth {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let applies = !source.definition.unsupported_auth().is_empty();
        applies.then(|| Box::new(UnsupportedAuth) as Box<dyn Middleware>)
    }
}

pub(super) const ABOUT: AboutMiddleware = AboutMiddleware {
    name: "UnsupportedAuth",
    phase: ChainPhase::Auth,
    dry_run: Some(DryRunKind::Authentication),
    rehearsed: Rehearsed::Runs,
};

impl Middleware for UnsupportedAuth {
    fn about(&self) -> &'static AboutMiddleware {
        &ABOUT
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.decisions.ignored { Step::Next } else { Step::Refuse(refusal::KEY_DISALLOWED) }
    }
}
