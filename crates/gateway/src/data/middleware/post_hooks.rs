//! Plugins at the end of the chain, just before the request goes to its upstream. Reads `custom_middleware.post`. Whatever path they set, the
//! request goes to the upstream of its API; only a URL `tyk://API/...` sends it to another one.
//!
//! An API with a cache calls them before it looks for a stored response, unlike Tyk: the cache must know the request that the upstream would
//! receive, or a response to what a plugin has made of one request would answer another.

use super::{Middleware, MiddlewareSource};
use crate::data::exchange::{Exchange, Step};
use crate::data::header_names::HeaderNames;
use crate::data::plugins::HookList;
use tollgate_plugin::HookKind;

pub(super) struct PostHooks(HookList);

impl PostHooks {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        if has_cache(source) { None } else { PostHooks::at_this_place(source) }
    }

    /// The same for an API with a cache.
    pub(super) fn before_cache(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        if has_cache(source) { PostHooks::at_this_place(source) } else { None }
    }

    fn at_this_place(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let hooks = source.hooks(HookKind::Post, &source.definition.custom_middleware.post)?;
        Some(Box::new(PostHooks(hooks)))
    }
}

fn has_cache(source: &MiddlewareSource<'_, '_>) -> bool {
    source.definition.cache_options.enable_cache || source.definition.tollgate.cache.is_some()
}

impl Middleware for PostHooks {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add_all();
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        self.0.on_request(exchange)
    }
}
