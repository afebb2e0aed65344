//! Plugins for responses of upstreams. Reads `custom_middleware.response`. A response is read whole, shown to the plugins one after the other
//! and goes on as they have made it; when a plugin fails, the client sees 500 `Middleware error`.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::plugins::{HookList, HookedResponse};
use std::sync::Arc;
use tollgate_plugin::HookKind;

pub(super) struct ResponseHooks(Arc<HookList>);

impl ResponseHooks {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let hooks = source.hooks(HookKind::Response, &source.definition.custom_middleware.response)?;
        Some(Box::new(ResponseHooks(Arc::new(hooks))))
    }
}

impl Middleware for ResponseHooks {
    fn is_for_responses(&self) -> bool {
        true
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let step = HookedResponse::new(&self.0, exchange);
        exchange.response.chain.push(step);
        Step::Next
    }
}
