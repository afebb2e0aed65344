//! Limits over all callers of an API together. Reads `global_rate_limit` and `rate_limit` of `extended_paths`. The client sees 429
//! `API Rate Limit Exceeded`. The counters are in this process; rejected requests do not count.

use super::Middleware;
use crate::compile::Source;
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::limit::{Gcra, Rate};
use crate::refusal;
use std::sync::Arc;

pub struct ApiRateLimit {
    global: Option<Limit>,
    by_endpoint: EndpointList<Limit>,
}

struct Limit {
    rate: Rate,
    counter: Arc<Gcra>,
}

impl ApiRateLimit {
    pub fn compile(source: &mut Source<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let registry = source.context.registry;
        let global = definition.rate_limit().and_then(|(requests, seconds)| Rate::new(requests, seconds));
        // One counter for all versions of the API.
        let global = global.map(|rate| Limit { rate, counter: registry.limit(format!("{}/api", definition.api_id)) });
        let entries = &source.info.extended_paths.rate_limit;
        let by_endpoint = source.endpoints("rate_limit", entries, |source, _, entry| {
            let rate = Rate::new(entry.rate, entry.per)?;
            let name = source.state_name(&format!("{}:{}", entry.method, entry.path));
            Some(Limit { rate, counter: source.context.registry.limit(name) })
        });
        if global.is_none() && by_endpoint.is_empty() { None } else { Some(Box::new(ApiRateLimit { global, by_endpoint })) }
    }
}

impl Middleware for ApiRateLimit {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if !exchange.check_limits {
            return Step::Next;
        }
        // An endpoint's limit takes the place of the API's.
        let endpoint = self.by_endpoint.find(exchange.hits, &exchange.method);
        match endpoint.or(self.global.as_ref()) {
            Some(limit) if limit.counter.admit(limit.rate, exchange.now).is_err() => Step::Refuse(refusal::API_RATE_LIMIT),
            _ => Step::Next,
        }
    }
}
