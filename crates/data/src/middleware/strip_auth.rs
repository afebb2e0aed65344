//! Removes keys and tokens from the request to the upstream. Reads `strip_auth_data`. Invisible to the client.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use tollgate_http::KnownHeader;
use tollgate_http::form::without_parameter;
use tollgate_model::api::AuthConfig;

pub(super) struct StripAuth {
    places: Vec<AuthConfig>,
}

impl StripAuth {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let applies = definition.strip_auth_data && !definition.use_keyless;
        let mut places: Vec<AuthConfig> = Vec::new();
        for method in definition.auth_methods() {
            let config = definition.places(method);
            if !places.contains(config) {
                places.push(config.clone());
            }
        }
        applies.then(|| Box::new(StripAuth { places }) as Box<dyn Middleware>)
    }
}

impl Middleware for StripAuth {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let (headers, received) = (&exchange.request.headers, exchange.received());
        let edits = &mut exchange.outgoing.edits;
        for name in self.places.iter().filter_map(AuthConfig::header) {
            edits.remove(headers, name);
        }
        let cookies: Vec<&str> = self.places.iter().filter_map(AuthConfig::cookie).collect();
        let is_other = |pair: &&str| pair.split_once('=').is_none_or(|(key, _)| !cookies.contains(&key.trim()));
        // A client may send several lines, of which the credential is read from the first; servers may read it from any.
        let lines = || received.all_known(KnownHeader::Cookie).map(String::from_utf8_lossy);
        if !cookies.is_empty() && lines().any(|line| !line.split(';').all(|pair| is_other(&pair))) {
            let rest = lines().map(|line| line.split(';').filter(is_other).map(str::trim).collect::<Vec<_>>().join("; "));
            let rest = rest.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
            edits.remove(headers, "cookie");
            if !rest.is_empty() {
                edits.add("Cookie", rest.as_bytes());
            }
        }
        for name in self.places.iter().filter_map(AuthConfig::param) {
            let Some(query) = exchange.url.query.as_deref() else { break };
            let rest = without_parameter(query, name);
            exchange.url.query = Some(rest).filter(|rest| !rest.is_empty()).map(Into::into);
        }
        Step::Next
    }
}
