//! Plugins in the chain. Reads `custom_middleware.pre`, `post_key_auth` and `post`; `post_key_auth` only with keys. Requests with a body are read first, as in Tyk. All later
//! middlewares see the request as plugins before and after authentication have made it.
//!
//! Whatever path the last plugins set, the request goes to the upstream of its API; only a URL `tyk://API/...` sends it to another one. An API
//! with a cache calls them before it looks for a stored response, unlike Tyk: the cache must know the request that the upstream would receive, or
//! a response to what a plugin has made of one request would answer another.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use crate::plugins::{HookList, HookOutcome, StartedCall};
use crate::refusal;
use tollgate_model::api::PluginEntry;
use tollgate_plugin::HookKind;

pub(super) struct PluginHooks(HookList);

impl PluginHooks {
    pub(super) fn pre(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        PluginHooks::compile(source, HookKind::Pre, &source.definition.custom_middleware.pre)
    }

    pub(super) fn post_key_auth(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        // Without keys, nobody is identified.
        if source.definition.use_keyless {
            return None;
        }
        PluginHooks::compile(source, HookKind::PostKeyAuth, &source.definition.custom_middleware.post_key_auth)
    }

    /// At the end of the chain, just before the request goes to its upstream.
    pub(super) fn post(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        if has_cache(source) { None } else { PluginHooks::of_post(source) }
    }

    /// The same for an API with a cache.
    pub(super) fn post_before_cache(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        if has_cache(source) { PluginHooks::of_post(source) } else { None }
    }

    fn of_post(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        PluginHooks::compile(source, HookKind::Post, &source.definition.custom_middleware.post)
    }

    fn compile(source: &MiddlewareSource<'_, '_>, kind: HookKind, entries: &[PluginEntry]) -> Option<Box<dyn Middleware>> {
        Some(Box::new(PluginHooks(source.hooks(kind, entries)?)))
    }

    /// Calls the hooks from this one on, one after the other.
    fn call_from(&self, first: usize, exchange: &mut Exchange<'_>) -> Step {
        for (index, hook) in self.0.hooks.iter().enumerate().skip(first) {
            let outcome = match self.0.call(hook, exchange) {
                StartedCall::Ended(outcome) => *outcome,
                StartedCall::Waits(until, answer) => {
                    return Step::hold(self, until, move |this: &Self, exchange| {
                        let Some(hook) = this.0.hooks.get(index) else { return Step::Next };
                        let outcome = this.0.outcome(hook, answer);
                        this.apply(index, outcome, exchange).unwrap_or_else(|| this.call_from(index + 1, exchange))
                    });
                }
            };
            if let Some(end) = self.apply(index, outcome, exchange) {
                return end;
            }
        }
        if self.0.kind != HookKind::Post {
            exchange.show_changes();
        }
        Step::Next
    }

    /// Does what a hook has answered; `Some` if that ends the request.
    fn apply(&self, index: usize, outcome: HookOutcome, exchange: &mut Exchange<'_>) -> Option<Step> {
        match outcome {
            Ok(answer) => self.0.apply(self.0.hooks.get(index)?, &answer, exchange).err(),
            Err(fault) if self.0.passes(&fault) => None,
            Err(_) => Some(Step::Refuse(refusal::PLUGIN_FAILED)),
        }
    }
}

fn has_cache(source: &MiddlewareSource<'_, '_>) -> bool {
    source.definition.cache_options.enable_cache || source.definition.tollgate.cache.is_some()
}

impl Middleware for PluginHooks {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add_all();
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        match exchange.keep_body(exchange.arrival.settings.sizes.body_bytes_max) {
            Ok(()) => self.call_from(0, exchange),
            Err(step) => step,
        }
    }
}
