//! Refuses every request to an API whose plugins can't be loaded, because it must not be served without them. The client sees 500 `Middleware
//! error`; the problem is reported when the definition is loaded.

use super::{AboutMiddleware, ChainPhase, Middleware, MiddlewareSource, Rehearsed};
use crate::data::exchange::{Exchange, Step};
use crate::data::plugins::PluginsOfApi;
use crate::data::refusal;

pub(super) struct RefusedPlugins;

impl RefusedPlugins {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let applies = matches!(source.context.plugins, PluginsOfApi::Refused);
        applies.then(|| Box::new(RefusedPlugins) as Box<dyn Middleware>)
    }
}

pub(super) const ABOUT: AboutMiddleware =
    AboutMiddleware { name: "RefusedPlugins", phase: ChainPhase::PreAuth, dry_run: None, rehearsed: Rehearsed::Runs };

impl Middleware for RefusedPlugins {
    fn about(&self) -> &'static AboutMiddleware {
        &ABOUT
    }

    fn on_request(&self, _: &mut Exchange<'_>) -> Step {
        Step::Refuse(refusal::PLUGIN_FAILED)
    }
}
