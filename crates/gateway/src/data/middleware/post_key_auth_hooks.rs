//! Plugins between the identification of the caller and the checks of its rights and limits. Reads `custom_middleware.post_key_auth`, unless
//! the API is keyless. All later middlewares see the request as the plugins have made it.

use super::{Middleware, MiddlewareSource};
use crate::data::exchange::{Exchange, Step};
use crate::data::header_names::HeaderNames;
use crate::data::plugins::HookList;
use tollgate_plugin::HookKind;

pub(super) struct PostKeyAuthHooks(HookList);

impl PostKeyAuthHooks {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        if source.definition.use_keyless {
            return None;
        }
        let hooks = source.hooks(HookKind::PostKeyAuth, &source.definition.custom_middleware.post_key_auth)?;
        Some(Box::new(PostKeyAuthHooks(hooks)))
    }
}

impl Middleware for PostKeyAuthHooks {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add_all();
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        self.0.on_request(exchange).then_reread()
    }
}
