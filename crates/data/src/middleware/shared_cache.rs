//! A shared cache by RFC 9111. Reads `tollgate.cache`. Response headers of the upstream decide what is stored. The client of a hit sees the stored
//! response with `Age`, and `Cache-Status` reports what the cache did. Simultaneous requests for one resource become one request; the others
//! are held until its response arrives. Responses are stored in memory, within the gateway's `tollgate.cache`.
//!
//! The definition is part of the key, so a changed definition starts with an empty cache.

mod key;
mod overflow;
mod steps;

use super::{Middleware, MiddlewareSource};
use crate::caching::{self, RequestLines};
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use crate::refusal::{self, RefusalText};
use key::{RequestKey, names_in_key};
use sha2::{Digest, Sha256};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use steps::{Bypassed, FetchedResponse, LOOKUP_FAILED};
use tollgate_cache::{ANSWERED_HERE, ApiCache, ApiCacheSettings, CacheRequest, Decision, Fill, Follower, header_values};
use tollgate_engine::{HoldUntil, Work};
use tollgate_model::api::SharedCache as Rules;
use tollgate_model::hexadecimal;

pub(super) struct SharedCacheLookup {
    cache: Arc<ApiCache>,
    /// Request headers that are part of the key.
    headers: Vec<String>,
    by_caller: bool,
    /// Digest of the definition and name of the version or rule: the first part of the key.
    origin: String,
    is_keyless: bool,
    wait_ms_max: u64,
    body_bytes_max: usize,
}

impl SharedCacheLookup {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let rules = definition.tollgate.cache.as_ref().filter(|_| !definition.is_mcp())?;
        let memory = source.context.settings.sizes.cache;
        let cache = match source.context.registry.api_cache_with(&definition.api_id, memory, settings(rules)) {
            Ok(cache) => cache,
            Err(error) => {
                source.context.error("$.tollgate.cache.memory_mib", error);
                return None;
            }
        };
        let written = hexadecimal(&Sha256::digest(definition.raw.to_string()));
        Some(Box::new(SharedCacheLookup {
            cache,
            headers: names_in_key(&rules.by_headers),
            by_caller: rules.by_caller,
            origin: format!("{written} {}", source.variant()),
            is_keyless: definition.use_keyless,
            wait_ms_max: rules.wait_ms_max,
            body_bytes_max: usize::try_from(memory.body_bytes_max).unwrap_or(usize::MAX),
        }))
    }

    /// The key of a request; `None` if no stored response can answer it.
    fn key(&self, exchange: &Exchange<'_>, lines: &RequestLines<'_>) -> Option<RequestKey> {
        // A response to GET does not fit a client that sent HEAD, nor the reverse.
        let changes_head = (exchange.method == "HEAD") != (exchange.request.method == "HEAD");
        if changes_head || exchange.request.upgrade.is_some() {
            return None;
        }
        // Whether the API knows the caller.
        let is_known = !self.is_keyless && !exchange.decisions.ignored;
        let caller = match &exchange.caller.key {
            _ if !self.by_caller || !is_known => None,
            Some(key) if !key.shown.is_empty() => Some(key.shown.as_bytes().to_vec()),
            _ => return None,
        };
        Some(RequestKey {
            host: caching::preserved_host(exchange),
            target: caching::target(exchange)?,
            headers: header_values(&self.headers, lines),
            // Callers with responses of their own share none.
            is_authorised: is_known && caller.is_none(),
            caller,
            has_body: caching::has_body(exchange),
        })
    }

    fn decide(&self, request: &CacheRequest<'_>, follower: Option<Follower>, now_ms: u64) -> Decision {
        match follower {
            Some(follower) => self.cache.resume(request, follower, now_ms),
            None => self.cache.lookup(request, now_ms),
        }
    }

    /// Sends the request upstream for the cache, which needs the whole response and evaluates conditions itself.
    fn fetch(&self, exchange: &mut Exchange<'_>, fill: Fill) {
        let headers = &exchange.request.headers;
        let edits = &mut exchange.outgoing.edits;
        ANSWERED_HERE.iter().for_each(|name| edits.remove(headers, name));
        for (name, value) in fill.conditions() {
            edits.add(name, &value);
            exchange.decisions.is_conditional = true;
        }
        exchange.response.chain.push(FetchedResponse::new(fill, self.body_bytes_max));
    }

    /// Holds the request until the response to another request arrives.
    fn wait(&self, follower: Follower, now_ms: u64) -> Step {
        let left_ms = follower.deadline_ms().saturating_sub(now_ms).min(self.wait_ms_max);
        let follower = Rc::new(follower);
        let followed = follower.clone();
        let work: Work = Box::pin(std::future::poll_fn(move |cx| match followed.is_ready(cx.waker()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }));
        let until = HoldUntil::Done(work, Duration::from_millis(left_ms.saturating_add(1)));
        // The work that shared it has ended.
        Step::hold(self, until, |this, exchange| this.look_up(exchange, Rc::into_inner(follower)))
    }
}

fn settings(rules: &Rules) -> ApiCacheSettings {
    ApiCacheSettings {
        memory_bytes: Some(rules.memory_mib.saturating_mul(1 << 20)).filter(|bytes| *bytes > 0),
        honours_requests: !rules.ignore_request_directives,
        wait_ms_max: rules.wait_ms_max,
        hit_for_miss_ms: rules.hit_for_miss_ms,
    }
}

impl Middleware for SharedCacheLookup {
    fn cache_key(&self, exchange: &mut Exchange<'_>) -> Option<String> {
        let key = self.key(exchange, &RequestLines::new(exchange))?;
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        let headers = self.headers.iter().zip(&key.headers).filter_map(|(name, value)| Some((name, text(value.as_ref()?))));
        let headers: Vec<_> = headers.collect();
        Some(format!("{:?}", (key.host.as_deref().map(text), text(&key.target), key.caller.as_deref().map(text), headers)))
    }

    fn header_names(&self, names: &mut HeaderNames) {
        self.headers.iter().for_each(|name| names.add(name));
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        self.look_up(exchange, None)
    }
}

impl SharedCacheLookup {
    /// Decides about a request, which may have followed another one.
    fn look_up(&self, exchange: &mut Exchange<'_>, follower: Option<Follower>) -> Step {
        let now_ms = tollgate_clock::unix_ms();
        let lines = RequestLines::new(exchange);
        let Some(key) = self.key(exchange, &lines) else { return Step::Next };
        let decision = key.with_request(&self.origin, &exchange.method, &lines, |request| self.decide(request, follower, now_ms));
        match decision {
            Decision::Serve(answer) => {
                caching::serve(exchange.outgoing, &answer);
                exchange.decisions.from_cache = true;
                Step::Reply
            }
            Decision::Revalidate(answer, fill) => {
                self.fetch(exchange, fill);
                Step::Revalidate(Box::new(answer))
            }
            Decision::Fetch(fill) => {
                self.fetch(exchange, fill);
                Step::Next
            }
            Decision::Wait(follower) => self.wait(follower, now_ms),
            Decision::Bypass(status) => {
                let step = Bypassed::new(&self.cache, &self.origin, key, &exchange.method, &lines, status);
                exchange.response.chain.push(step);
                Step::Next
            }
            Decision::Refuse => Step::Refuse(refusal::NOT_CACHED),
            Decision::Fail(LOOKUP_FAILED) => Step::Refuse(refusal::UPSTREAM_LOOKUP),
            Decision::Fail(504) => Step::Refuse(refusal::UPSTREAM_TIMEOUT),
            Decision::Fail(500) => Step::Refuse(refusal::UPSTREAM_FAILED),
            Decision::Fail(status) => Step::Refuse(RefusalText { status, ..(*refusal::UPSTREAM_FAILED).clone() }.into()),
        }
    }
}
