//! Limits that all callers of an API share. Reads `global_rate_limit` and `rate_limit` of `extended_paths`. The client sees 429 `API Rate
//! Limit Exceeded`, or in dry run a header. Gateways with one Redis count together; rejected requests do not count.

use super::{Middleware, key_limits};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::middleware::MiddlewareSource;
use crate::refusal::{self, Refusal};
use std::sync::Arc;
use tollgate_limit::{LimitDecision, Limiter, Rate};
use tollgate_model::config::OnStoreFailure;
use tollgate_observe::LimitFact;

pub(super) struct ApiRateLimit {
    global: Option<Limit>,
    by_endpoint: EndpointList<Limit>,
    /// Whether variables may use the remaining requests.
    has_variables: bool,
}

struct Limit {
    requests: f64,
    seconds: f64,
    rate: Rate,
    counter: Arc<Limiter>,
    dry_run: bool,
    on_store_failure: Option<OnStoreFailure>,
}

impl ApiRateLimit {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let global = definition.rate_limit().and_then(|(requests, seconds)| {
            // All versions of the API share one counter.
            let name = format!("{}/api", definition.api_id);
            let written = &definition.global_rate_limit;
            Limit::new(source, requests, seconds, name, written.dry_run, written.on_store_failure)
        });
        let entries = &source.info.extended_paths.rate_limit;
        let by_endpoint = source.endpoints("rate_limit", entries, |source, _, entry| {
            let name = source.state_name(&format!("{}:{}", entry.method, entry.path));
            Limit::new(source, entry.rate, entry.per, name, entry.dry_run, entry.on_store_failure)
        });
        if global.is_none() && by_endpoint.is_empty() {
            return None;
        }
        let has_variables = definition.enable_context_vars;
        Some(Box::new(ApiRateLimit { global, by_endpoint, has_variables }))
    }
}

impl Limit {
    /// Makes a limit; `None` when it does not limit anything.
    fn new(
        source: &MiddlewareSource<'_, '_>,
        requests: f64,
        seconds: f64,
        name: String,
        dry_run: bool,
        on_store_failure: Option<OnStoreFailure>,
    ) -> Option<Self> {
        let rate = Rate::new(requests, seconds)?;
        let on_store_failure = on_store_failure.or(source.definition.tollgate.on_store_failure);
        let counter = source.context.registry.limit(name, source.context.settings.callers.limiter);
        Some(Limit { requests, seconds, rate, counter, dry_run, on_store_failure })
    }
}

impl ApiRateLimit {
    /// The limits of a request: of its path, and of a call's method and of what it is for. A path's limit replaces the API's.
    fn limits(&self, exchange: &Exchange<'_>) -> [Option<&Limit>; 3] {
        let [of_path, of_method, of_primitive] = self.by_endpoint.find_each(exchange.hits, &exchange.method);
        [of_path.or(self.global.as_ref()), of_method, of_primitive]
    }

    /// Counts a request that the limits before this one have counted.
    fn count(&self, exchange: &mut Exchange<'_>, from: usize) -> Step {
        let limits = self.limits(exchange);
        for (at, limit) in limits.into_iter().enumerate().skip(from) {
            let Some(limit) = limit else { continue };
            let admitted = match limit.counter.shared() {
                None => limit.counter.admit(limit.rate, exchange.arrival.now).is_ok(),
                Some(shared) => match shared.admit(limit.rate, exchange.arrival.now, exchange.patience(), limit.on_store_failure) {
                    LimitDecision::Asked => {
                        let until = exchange.until_limits(shared.pending());
                        return Step::hold(self, until, move |this, exchange| this.count(exchange, at));
                    }
                    LimitDecision::Silent => return Self::refuse(exchange, limits.get(..at), refusal::STORE_SILENT),
                    admission => admission == LimitDecision::Admitted,
                },
            };
            if !admitted && !limit.dry_run {
                return Self::refuse(exchange, limits.get(..at), refusal::API_RATE_LIMIT);
            }
            self.note_room(exchange, limit);
            let would_refuse = (!admitted).then_some(refusal::API_RATE_LIMIT);
            would_refuse.iter().for_each(|refusal| exchange.report_dry_run(refusal));
        }
        Step::Next
    }

    /// Refuses a request, which then counts for no limit.
    fn refuse(exchange: &mut Exchange<'_>, counted: Option<&[Option<&Limit>]>, refusal: Refusal) -> Step {
        for limit in counted.into_iter().flatten().flatten().filter(|limit| !limit.dry_run) {
            limit.counter.refund(limit.rate, exchange.arrival.now);
        }
        key_limits::take_back(exchange);
        Step::Refuse(refusal)
    }

    /// Notes the remaining requests for variables.
    fn note_room(&self, exchange: &mut Exchange<'_>, limit: &Limit) {
        if self.has_variables {
            let (room, full) = limit.counter.room(limit.rate, exchange.arrival.now);
            exchange.decisions.api_rate = Some([limit.requests as i64, room as i64, exchange.reset_after(full)]);
        }
    }
}

impl Middleware for ApiRateLimit {
    fn limit_of(&self, exchange: &Exchange<'_>, _: &Refusal) -> Option<LimitFact> {
        let now = exchange.arrival.now;
        let limits = self.limits(exchange).into_iter().flatten();
        // The one that refuses has the longest wait.
        let (limit, wait) = limits.map(|limit| (limit, limit.counter.wait(limit.rate, now))).max_by_key(|(_, wait)| *wait)?;
        let is_global = self.global.as_ref().is_some_and(|global| std::ptr::eq(global, limit));
        let of = if is_global { "api" } else { "endpoint" };
        let room = limit.counter.room(limit.rate, now).0;
        Some(key_limits::rate_fact(exchange, of.to_owned(), (limit.requests, limit.seconds), room, wait))
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        match exchange.decisions.skips_limits {
            true => Step::Next,
            false => self.count(exchange, 0),
        }
    }
}
