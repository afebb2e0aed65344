//! Refuses every request to an API whose plugins can't be loaded, because it must not be served without them. The client sees 500 `Middleware
//! error`; the problem is reported when the definition is loaded.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::plugins::PluginsOfApi;
use crate::refusal;

pub(super) struct RefusedPlugins;

impl RefusedPlugins {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let applies = matches!(source.context.plugins, PluginsOfApi::Refused);
        applies.then(|| Box::new(RefusedPlugins) as Box<dyn Middleware>)
    }
}

impl Middleware for RefusedPlugins {
    fn on_request(&self, _: &mut Exchange<'_>) -> Step {
        Step::Refuse(refusal::PLUGIN_FAILED)
    }
}
