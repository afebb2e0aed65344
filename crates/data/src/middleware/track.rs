//! Endpoints that are recorded, and their names in records. Reads `do_not_track_endpoints` and `track_endpoints`. Invisible to the client;
//! analytics name a tracked endpoint by its pattern.

use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step, Track};
use std::sync::Arc;

pub(super) struct TrackEndpoint {
    never: EndpointList<()>,
    tracked: EndpointList<Arc<str>>,
}

impl TrackEndpoint {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let paths = &source.info.extended_paths;
        let never = source.endpoints("do_not_track_endpoints", &paths.do_not_track_endpoints, |_, _, _| Some(()));
        let tracked = source.harmless_endpoints("track_endpoints", &paths.track_endpoints, |entry| entry.path.as_str().into());
        let unused = never.is_empty() && tracked.is_empty();
        if unused { None } else { Some(Box::new(TrackEndpoint { never, tracked })) }
    }
}

impl Middleware for TrackEndpoint {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if self.never.find_for_any(exchange.hits, &exchange.method).is_some() {
            exchange.decisions.track = Track::Never;
        } else if let Some(pattern) = self.tracked.find_for_any(exchange.hits, &exchange.method) {
            exchange.decisions.track = Track::As(pattern.clone());
        }
        Step::Next
    }
}
