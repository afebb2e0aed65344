//! The place of the plugins at the end of the chain in APIs with a cache: see `post_hooks.rs`.

use super::post_hooks::PostHooks;
use super::{Middleware, MiddlewareSource};

pub(super) struct PostHooksBeforeCache;

impl PostHooksBeforeCache {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        PostHooks::before_cache(source)
    }
}
