//! Endpoints that are recorded, once more after plugins that may have changed the path. Reads what `TrackEndpoint` reads; an API without
//! plugins does not use it. A request that is refused before counts as its first path says.

use super::track::TrackEndpoint;
use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step, Track};
use crate::plugins::PluginsOfApi;

pub(super) struct TrackChanged(Box<dyn Middleware>);

impl TrackChanged {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        if !matches!(source.context.plugins, PluginsOfApi::Loaded(_)) {
            return None;
        }
        Some(Box::new(TrackChanged(TrackEndpoint::compile(source)?)))
    }
}

impl Middleware for TrackChanged {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        exchange.decisions.track = Track::Default;
        self.0.on_request(exchange)
    }
}
