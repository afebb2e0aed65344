//! Plugins before the caller is identified. Reads `custom_middleware.pre`. All later middlewares see the request as the plugins have made it.

use super::{Middleware, MiddlewareSource};
use crate::data::exchange::{Exchange, Step};
use crate::data::header_names::HeaderNames;
use crate::data::plugins::HookList;
use tollgate_plugin::HookKind;

pub(super) struct PreHooks(HookList);

impl PreHooks {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let hooks = source.hooks(HookKind::Pre, &source.definition.custom_middleware.pre)?;
        Some(Box::new(PreHooks(hooks)))
    }
}

impl Middleware for PreHooks {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add_all();
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        self.0.on_request(exchange).then_reread()
    }
}
