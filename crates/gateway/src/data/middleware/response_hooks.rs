//! Plugins for responses of upstreams. Reads `custom_middleware.response`. A response is read whole, shown to the plugins one after the other
//! and goes on as they have made it; when a plugin fails, the client sees 500 `Middleware error`.

use super::{Middleware, MiddlewareSource};
use crate::base::answers::RequestSlot;
use crate::data::exchange::{Exchange, Step};
use crate::data::plugins::{HookList, HookedResponse, ResponseView};
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;
use tollgate_plugin::HookKind;

/// The number under which a request keeps the place of what response hooks see.
const VIEW: u64 = RequestSlot::ResponseView.number();

pub(super) struct ResponseHooks(Arc<HookList>);

impl ResponseHooks {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let hooks = source.hooks(HookKind::Response, &source.definition.custom_middleware.response)?;
        Some(Box::new(ResponseHooks(Arc::new(hooks))))
    }
}

/// The place for what the response hooks of this request see, if it has any.
pub(super) fn view_of(exchange: &Exchange<'_>) -> Option<Rc<OnceCell<ResponseView>>> {
    exchange.answers.get::<Rc<OnceCell<ResponseView>>>(VIEW).cloned()
}

impl Middleware for ResponseHooks {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let view = Rc::new(OnceCell::new());
        exchange.answers.put(VIEW, view.clone());
        let step = HookedResponse::new(&self.0, &view, exchange);
        exchange.response_chain.push(step);
        Step::Next
    }
}
