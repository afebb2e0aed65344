//! Limits of an API. Reads `global_rate_limit` and `rate_limit` of `extended_paths`, which all callers share, and `tollgate.request_limits`, which
//! count for each client or value. The client sees 429 `API Rate Limit Exceeded` or `Rate Limit Exceeded`, or in dry run a header. Gateways with one
//! Redis count together; rejected requests do not count.

mod limited_part;

use super::{Middleware, key_limits, limit_headers};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use crate::ip_networks::IpNetworks;
use crate::middleware::MiddlewareSource;
use crate::refusal::{self, Refusal};
use limited_part::LimitedPart;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
use tollgate_limit::{LimitDecision, Limiter, Rate};
use tollgate_model::api::{LimitedBy, RequestLimit};
use tollgate_model::config::OnStoreFailure;
use tollgate_observe::LimitFact;

pub(super) struct ApiRateLimit {
    global: Option<Limit>,
    by_endpoint: EndpointList<Limit>,
    /// Those that count beside the others.
    by_part: Vec<Limit>,
    /// Whether variables may use the remaining requests.
    has_variables: bool,
}

struct Limit {
    requests: f64,
    seconds: f64,
    rate: Rate,
    counters: LimitCounters,
    dry_run: bool,
    on_store_failure: Option<OnStoreFailure>,
    refusal: Refusal,
    /// Addresses without it.
    exempt: Option<IpNetworks>,
}

/// What counts a limit: one counter for everybody, or one for each value of a part of requests.
enum LimitCounters {
    One(Arc<Limiter>),
    Each(LimitedPart),
}

/// The counter of a request.
enum OwnCounter<'l> {
    One(&'l Limiter),
    Each(Arc<Limiter>),
}

impl Deref for OwnCounter<'_> {
    type Target = Limiter;

    fn deref(&self) -> &Limiter {
        match self {
            OwnCounter::One(counter) => counter,
            OwnCounter::Each(counter) => counter,
        }
    }
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
        let written = definition.tollgate.request_limits.iter().enumerate();
        let by_part: Vec<Limit> = written.filter_map(|(index, written)| Limit::by_part(source, index, written)).collect();
        if global.is_none() && by_endpoint.is_empty() && by_part.is_empty() {
            return None;
        }
        let has_variables = definition.enable_context_vars;
        Some(Box::new(ApiRateLimit { global, by_endpoint, by_part, has_variables }))
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
        let counters = LimitCounters::One(source.context.registry.limit(name, source.context.settings.callers.limiter));
        Some(Limit { requests, seconds, rate, counters, dry_run, on_store_failure, refusal: refusal::API_RATE_LIMIT, exempt: None })
    }

    /// Makes one of `tollgate.request_limits`.
    fn by_part(source: &MiddlewareSource<'_, '_>, index: usize, written: &RequestLimit) -> Option<Self> {
        let name = match written.counter.as_str() {
            "" => format!("{}/request/{index}", source.definition.api_id),
            // No id of an API begins with a slash in the name of a counter.
            counter => format!("/{counter}"),
        };
        let RequestLimit { requests, window_s, dry_run, on_store_failure, .. } = *written;
        let limit = Limit::new(source, requests, window_s, name.clone(), dry_run, on_store_failure)?;
        let limit = Limit { exempt: IpNetworks::new(&written.exempt), ..limit };
        if written.by == LimitedBy::Everybody {
            return Some(limit);
        }
        let table = source.context.registry.limit_table(name, source.context.settings.callers.limiter);
        let counters = LimitCounters::Each(LimitedPart { table, by: written.by, name: written.name.clone() });
        Some(Limit { counters, refusal: refusal::KEY_RATE_LIMIT, ..limit })
    }

    fn counter(&self, exchange: &Exchange<'_>) -> OwnCounter<'_> {
        match &self.counters {
            LimitCounters::One(counter) => OwnCounter::One(counter),
            LimitCounters::Each(part) => OwnCounter::Each(part.counter(exchange)),
        }
    }
}

impl ApiRateLimit {
    /// The limits of a request: of its path, and of a call's method and of what it is for, where a path's limit replaces the API's; then those
    /// beside them.
    fn limits(&self, exchange: &Exchange<'_>) -> impl Iterator<Item = &Limit> + use<'_> {
        let [of_path, of_method, of_primitive] = self.by_endpoint.find_each(exchange.hits, &exchange.method);
        let address = exchange.arrival.client_ip;
        let by_part = self.by_part.iter().filter(move |limit| limit.exempt.as_ref().is_none_or(|exempt| !exempt.contains(address)));
        [of_path.or(self.global.as_ref()), of_method, of_primitive].into_iter().flatten().chain(by_part)
    }

    /// Counts a request that the first `counted` limits have counted.
    fn count(&self, exchange: &mut Exchange<'_>, counted: usize) -> Step {
        let limits = self.limits(exchange);
        for (at, limit) in limits.enumerate().skip(counted) {
            let (counter, now) = (limit.counter(exchange), exchange.arrival.now);
            let wait = match counter.shared() {
                None => counter.admit(limit.rate, now).err(),
                Some(shared) => match shared.admit(limit.rate, now, exchange.patience(), limit.on_store_failure) {
                    LimitDecision::Asked => {
                        let until = exchange.until_limits(shared.pending());
                        return Step::hold(self, until, move |this, exchange| this.count(exchange, at));
                    }
                    LimitDecision::Silent => return self.refuse(exchange, at, refusal::STORE_SILENT),
                    LimitDecision::Refused(wait) => Some(wait),
                    LimitDecision::Admitted => None,
                },
            };
            if let Some(wait) = wait.filter(|_| !limit.dry_run) {
                let step = self.refuse(exchange, at, limit.refusal.clone());
                limit.tell(exchange, &counter, Some(wait));
                return step;
            }
            limit.tell(exchange, &counter, None);
            self.note_room(exchange, limit, &counter);
            let would_refuse = wait.is_some().then_some(&limit.refusal);
            would_refuse.into_iter().for_each(|refusal| exchange.report_dry_run(refusal));
        }
        Step::Next
    }

    /// Refuses a request, which then counts for no limit.
    fn refuse(&self, exchange: &mut Exchange<'_>, counted: usize, refusal: Refusal) -> Step {
        for limit in self.limits(exchange).take(counted).filter(|limit| !limit.dry_run) {
            limit.counter(exchange).refund(limit.rate, exchange.arrival.now);
        }
        key_limits::take_back(exchange);
        Step::Refuse(refusal)
    }

    /// Notes the remaining requests for variables.
    fn note_room(&self, exchange: &mut Exchange<'_>, limit: &Limit, counter: &Limiter) {
        if self.has_variables {
            let (room, full) = counter.room(limit.rate, exchange.arrival.now);
            exchange.decisions.api_rate = Some([limit.requests as i64, room as i64, exchange.reset_after(full)]);
        }
    }
}

impl Limit {
    /// Tells the client of a limit that is its own.
    fn tell(&self, exchange: &mut Exchange<'_>, counter: &Limiter, wait: Option<Duration>) {
        if let LimitCounters::Each(part) = &self.counters {
            let (room, full) = counter.room(self.rate, exchange.arrival.now);
            limit_headers::add_rate(exchange, part.shown(), (self.requests, self.seconds), (room, full), wait);
        }
    }
}

impl Middleware for ApiRateLimit {
    fn header_names(&self, names: &mut HeaderNames) {
        let parts = self.by_part.iter().filter_map(|limit| match &limit.counters {
            LimitCounters::Each(part) if part.by == LimitedBy::Header => Some(&part.name),
            _ => None,
        });
        parts.for_each(|name| names.add(name));
    }

    fn limit_of(&self, exchange: &Exchange<'_>, _: &Refusal) -> Option<LimitFact> {
        let now = exchange.arrival.now;
        let limits = self.limits(exchange);
        // The one that refuses has the longest wait.
        let waits = limits.map(|limit| (limit, limit.counter(exchange).wait(limit.rate, now)));
        let (limit, wait) = waits.max_by_key(|(_, wait)| *wait)?;
        let is_global = self.global.as_ref().is_some_and(|global| std::ptr::eq(global, limit));
        let of = match &limit.counters {
            LimitCounters::Each(part) => part.shown(),
            LimitCounters::One(_) if is_global => "api",
            LimitCounters::One(_) => "endpoint",
        };
        let room = limit.counter(exchange).room(limit.rate, now).0;
        Some(key_limits::rate_fact(exchange, of.to_owned(), (limit.requests, limit.seconds), room, wait))
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        match exchange.decisions.skips_limits {
            true => Step::Next,
            false => self.count(exchange, 0),
        }
    }
}
