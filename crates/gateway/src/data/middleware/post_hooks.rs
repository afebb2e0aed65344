//! Plugins at the end of the chain, just before the request goes to its upstream. Reads `custom_middleware.post`. Whatever path they set, the
//! request goes to the upstream of its API; only a URL `tyk://API/...` sends it to another one.

use super::{Middleware, MiddlewareSource};
use crate::data::exchange::{Exchange, Step};
use crate::data::header_names::HeaderNames;
use crate::data::plugins::HookList;
use tollgate_plugin::HookKind;

pub(super) struct PostHooks(HookList);

impl PostHooks {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let hooks = source.hooks(HookKind::Post, &source.definition.custom_middleware.post)?;
        Some(Box::new(PostHooks(hooks)))
    }
}

impl Middleware for PostHooks {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add_all();
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        self.0.on_request(exchange)
    }
}
