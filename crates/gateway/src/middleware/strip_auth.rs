//! Takes the key out of the request before it goes upstream. Reads `strip_auth_data`. The client sees nothing of it.

use super::Middleware;
use crate::compile::Source;
use crate::exchange::{Exchange, Step};
use crate::template::without_parameter;
use tollgate_model::api::AuthConfig;

pub struct StripAuth {
    places: AuthConfig,
}

impl StripAuth {
    pub fn compile(source: &mut Source<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let applies = definition.strip_auth_data && !definition.use_keyless;
        applies.then(|| Box::new(StripAuth { places: definition.auth_token().clone() }) as Box<dyn Middleware>)
    }
}

impl Middleware for StripAuth {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let headers = &exchange.request.headers;
        let edits = &mut exchange.outgoing.edits;
        if let Some(name) = self.places.header() {
            edits.remove(headers, name);
        }
        if let (Some(name), Some(line)) = (self.places.cookie(), headers.get("cookie")) {
            let line = String::from_utf8_lossy(line);
            let is_other = |pair: &&str| pair.split_once('=').is_none_or(|(key, _)| key.trim() != name);
            let rest = line.split(';').filter(is_other).map(str::trim).collect::<Vec<_>>().join("; ");
            edits.remove(headers, "cookie");
            if !rest.is_empty() {
                edits.add("Cookie", rest.as_bytes());
            }
        }
        if let (Some(name), Some(query)) = (self.places.param(), exchange.url.query.as_deref()) {
            let rest = without_parameter(query, name);
            exchange.url.query = Some(rest).filter(|rest| !rest.is_empty()).map(Into::into);
        }
        Step::Next
    }
}
