//! Plugins at the end of the chain, just before the request goes to its upstream. Reads `custom_middleware.post`. Whatever they do, the
//! request goes to the upstream of its API. Here response hooks get the request as it goes to the upstream.

use super::response_hooks::view_of;
use super::{Middleware, MiddlewareSource};
use crate::data::exchange::{Exchange, Step};
use crate::data::header_names::HeaderNames;
use crate::data::plugins::{HookList, PluginsOfApi, ResponseView};
use tollgate_plugin::HookKind;

pub(super) struct PostHooks {
    hooks: Option<HookList>,
    /// Whether there are response hooks.
    shows_request: bool,
}

impl PostHooks {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let plugins = &source.definition.custom_middleware;
        let hooks = source.hooks(HookKind::Post, &plugins.post);
        let is_loaded = matches!(source.context.plugins, PluginsOfApi::Loaded(_));
        let shows_request = is_loaded && plugins.response.iter().any(|hook| !hook.disabled);
        (hooks.is_some() || shows_request).then(|| Box::new(PostHooks { hooks, shows_request }) as Box<dyn Middleware>)
    }
}

impl Middleware for PostHooks {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add_all();
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let step = self.hooks.as_ref().map_or(Step::Next, |hooks| hooks.on_request(exchange));
        if self.shows_request
            && matches!(step, Step::Next)
            && let Some(view) = view_of(exchange)
        {
            // Set once: a chain that runs again makes another cell.
            let _ = view.set(ResponseView::of(exchange));
        }
        step
    }
}
