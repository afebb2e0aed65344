//! Response cache with Tyk's rules. Reads `cache_options`, `cache` and `advance_cache_config`. On a hit the client sees the stored response
//! with `x-tyk-cached-response: 1`, or 304 when it has it already. Each caller has its own entries. They are in memory, within
//! `tollgate.cache`, and in a Redis that gateways share, if there is one.
//!
//! A changed definition starts with an empty memory, because it is part of the key there. In Redis it is not: names and values are Tyk's.

mod tier;

use super::{Middleware, MiddlewareSource};
use crate::caching::{self, RequestLines, ResponseLines};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, GRACE, Step};
use crate::header_names::HeaderNames;
use crate::response_chain::{ResponseAction, ResponseHead, ResponseStep};
use regex::bytes::Regex;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tier::{Tier, TierPlace, TierQuestion};
use tollgate_cache::{ApiCache, BodyWriter, Decision, Fill, Filled, TykRequest, TykRules, header_values, is_safe_method};
use tollgate_engine::HoldUntil;
use tollgate_model::api::CachedEndpoint;
use tollgate_model::hexadecimal;

/// The method in `advance_cache_config` that stands for every safe method.
const SAFE_METHODS: &str = "SAFE_METHODS";
/// Largest body in a key: a data thread takes its digest, in half a millisecond.
const KEY_BODY_BYTES_MAX: usize = 256 << 10;

pub(super) struct ResponseCache {
    cache: Arc<ApiCache>,
    rules: TykRules,
    takes_all_safe: bool,
    paths: EndpointList<()>,
    by_endpoint: EndpointList<EndpointRules>,
    /// Request headers that are part of the key.
    headers: Vec<String>,
    /// Version and digest of the definition: the first part of the key.
    origin: String,
    is_keyless: bool,
    tier: Option<Tier>,
}

/// Rules of one entry of `advance_cache_config`.
struct EndpointRules {
    rules: TykRules,
    /// Selects the part of the body that goes into the key; without it, the whole body does.
    body_part: Option<Regex>,
}

impl ResponseCache {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let options = &definition.cache_options;
        // As in Tyk: event streams and calls are not what this cache is for.
        if !options.enable_cache || definition.is_mcp() {
            return None;
        }
        let rules = TykRules {
            timeout_s: options.cache_timeout,
            response_codes: options.cache_response_codes.clone(),
            has_upstream_control: options.enable_upstream_cache_control,
            ttl_header: options.cache_control_ttl_header.clone(),
        };
        let paths = plain_paths(source);
        let entries = &source.info.extended_paths.advance_cache_config;
        let by_endpoint = source.checked_endpoints("advance_cache_config", entries, |_, entry| EndpointRules::new(&rules, entry));
        if !options.cache_all_safe_requests && paths.is_empty() && by_endpoint.is_empty() {
            return None;
        }
        let cache = match source.context.registry.api_cache(&definition.api_id, source.context.settings.sizes.cache) {
            Ok(cache) => cache,
            Err(error) => {
                source.context.error("$.cache_options", format!("there can be no cache: {error}"));
                return None;
            }
        };
        let written = hexadecimal(&Sha256::digest(definition.raw.to_string()));
        Some(Box::new(ResponseCache {
            cache,
            rules,
            takes_all_safe: options.cache_all_safe_requests,
            paths,
            by_endpoint,
            headers: options.cache_by_headers.clone(),
            origin: format!("{written} {}", source.variant()),
            is_keyless: definition.use_keyless,
            tier: Tier::compile(source),
        }))
    }

    /// The rules for a request; `None` when it bypasses the cache.
    fn rules_for(&self, exchange: &Exchange<'_>) -> Option<(&TykRules, Option<&Regex>)> {
        let is_safe = is_safe_method(&exchange.method);
        // As in Tyk: the endpoint's own rules do not apply here.
        if is_safe && (self.takes_all_safe || self.paths.find(exchange.hits, &exchange.method).is_some()) {
            return Some((&self.rules, None));
        }
        let of_method = self.by_endpoint.find(exchange.hits, &exchange.method);
        let found = of_method.or_else(|| self.by_endpoint.find(exchange.hits, SAFE_METHODS).filter(|_| is_safe));
        found.map(|found| (&found.rules, found.body_part.as_ref()))
    }

    /// The cache key of the request; `None` when the request must bypass the cache.
    fn key(&self, exchange: &mut Exchange<'_>, target: &[u8], body_part: Option<&Regex>) -> Result<Option<String>, Step> {
        let has_body_in_key = matches!(&*exchange.method, "POST" | "PUT" | "PATCH");
        if has_body_in_key {
            exchange.read_body()?;
            if exchange.body().len() > KEY_BODY_BYTES_MAX {
                return Ok(None);
            }
        }
        // A body outside the key must not affect the response of others.
        let has_other_body = !has_body_in_key && caching::has_body(exchange);
        // Otherwise HEAD and GET would share an entry.
        let changes_head = (exchange.method == "HEAD") != (exchange.request.method == "HEAD");
        if has_other_body || changes_head || exchange.request.upgrade.is_some() {
            return Ok(None);
        }
        let caller = match &exchange.caller.key {
            Some(key) if !key.shown.is_empty() => Ok(&*key.shown),
            None if self.is_keyless || exchange.decisions.ignored => Err(exchange.arrival.client_ip),
            // A caller who is authenticated by something other than a key.
            _ => return Ok(None),
        };
        let body = match body_part {
            _ if !has_body_in_key => None,
            Some(part) => part.find(exchange.body()).map(|found| Sha256::digest(found.as_bytes())),
            None => Some(Sha256::digest(exchange.body())),
        };
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        let headers: Vec<Option<String>> = self.header_values(exchange).iter().map(|value| value.as_deref().map(text)).collect();
        let host = caching::preserved_host(exchange).as_deref().map(text);
        // Debug formatting keeps the parts apart with quotes and escapes.
        Ok(Some(format!("{:?}", (&self.origin, caller, host, &exchange.method, text(target), headers, body))))
    }

    /// The values of the headers in the key, as the upstream receives them.
    fn header_values(&self, exchange: &Exchange<'_>) -> Vec<Option<Vec<u8>>> {
        if self.headers.is_empty() { Vec::new() } else { header_values(&self.headers, &RequestLines::new(exchange)) }
    }
}

impl ResponseCache {
    /// Asks the second tier once, then the upstream.
    fn fetch(&self, exchange: &mut Exchange<'_>, mut fill: Fill, body_part: Option<&Regex>, has_asked: bool) -> Step {
        let values = || self.headers.iter().map(String::as_str).zip(self.header_values(exchange)).collect::<Vec<_>>();
        let place = self.tier.as_ref().and_then(|tier| tier.place(exchange, &self.cache, &values(), body_part));
        if let (Some(tier), Some(place), false) = (&self.tier, &place, has_asked) {
            match tier.ask(exchange, place, fill) {
                Ok(question) => {
                    let until = HoldUntil::Done(question.work(), tier.time_max() + GRACE);
                    return Step::hold(self, until, |this, exchange| this.look_up(exchange, Some(question)));
                }
                Err(unasked) => fill = unasked,
            }
        }
        let is_head = exchange.method == "HEAD";
        exchange.response.chain.push(StoringByTyk { fill: Some(fill), writer: None, is_head, place });
        Step::Next
    }
}

/// The paths of the plain list, for each safe method.
fn plain_paths(source: &mut MiddlewareSource<'_, '_>) -> EndpointList<()> {
    let info = source.info;
    let mut made = EndpointList::default();
    for (index, path) in info.extended_paths.cache.iter().enumerate().filter(|_| info.use_extended_paths) {
        match source.patterns.add(path, false) {
            Ok(pattern) => ["GET", "HEAD", "OPTIONS"].iter().for_each(|method| made.push(pattern, method, ())),
            Err(error) => {
                let version = source.version_name;
                source.context.error(format!("$.version_data.versions.{version}.extended_paths.cache[{index}]"), error);
            }
        }
    }
    made
}

impl EndpointRules {
    fn new(api: &TykRules, entry: &CachedEndpoint) -> Result<Self, (&'static str, String)> {
        let compiled = || tollgate_re2::compile_for_bytes(&entry.cache_key_regex);
        let body_part = (!entry.cache_key_regex.is_empty()).then(compiled).transpose();
        let body_part = body_part.map_err(|error| ("cache_key_regex", format!("not a valid pattern: {error}")))?;
        Ok(EndpointRules { rules: api.for_endpoint(entry.timeout, &entry.cache_response_codes), body_part })
    }
}

impl Middleware for ResponseCache {
    fn cache_key(&self, exchange: &mut Exchange<'_>) -> Option<String> {
        let (_, body_part) = self.rules_for(exchange)?;
        let target = caching::target(exchange)?;
        let key = self.key(exchange, &target, body_part).ok()??;
        // It begins with the digest of the definition, quoted.
        key.split_once("\", ").map(|(_, rest)| rest.to_owned())
    }

    fn header_names(&self, names: &mut HeaderNames) {
        self.headers.iter().for_each(|name| names.add(name));
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        self.look_up(exchange, None)
    }
}

impl ResponseCache {
    /// Decides about a request. `question` is what it has asked the second tier.
    fn look_up(&self, exchange: &mut Exchange<'_>, question: Option<TierQuestion>) -> Step {
        let Some((rules, body_part)) = self.rules_for(exchange) else { return Step::Next };
        let Some(target) = caching::target(exchange) else { return Step::Next };
        let key = match self.key(exchange, &target, body_part) {
            Ok(Some(key)) => key,
            Ok(None) => return Step::Next,
            Err(step) => return step,
        };
        let has_asked = question.is_some();
        let has = RequestLines::new(exchange).first("If-None-Match");
        let request = TykRequest { key: &key, method: &exchange.method, target: &target, if_none_match: has.as_deref(), rules };
        let now_ms = tollgate_clock::unix_ms();
        let decision = match question {
            Some(question) => question.decide(&self.cache, &request, now_ms),
            None => self.cache.lookup_tyk(&request, now_ms),
        };
        match decision {
            Decision::Serve(answer) => {
                caching::serve(exchange.outgoing, &answer);
                exchange.decisions.from_cache = true;
                exchange.response.last_lines = answer.last_lines().clone();
                Step::Reply
            }
            Decision::Fetch(fill) => self.fetch(exchange, fill, body_part, has_asked),
            _ => Step::Next,
        }
    }
}

/// Stores a response as it passes. One that is truncated, too large or purged meanwhile is dropped together with this step.
struct StoringByTyk {
    fill: Option<Fill>,
    writer: Option<BodyWriter>,
    is_head: bool,
    /// Where it goes in the second tier.
    place: Option<TierPlace>,
}

impl StoringByTyk {
    fn finish(&mut self, writer: BodyWriter) {
        match self.place.take() {
            Some(place) => place.finish(writer),
            None => drop(writer.finish()),
        }
    }
}

impl ResponseStep for StoringByTyk {
    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction {
        let Some(fill) = self.fill.take() else { return ResponseAction::Pass };
        let body_len = if self.is_head { Some(0) } else { head.body_len() };
        if head.overridden().is_some_and(|last_headers| !last_headers.is_empty()) {
            // Tyk's format does not say which lines come last.
            self.place = None;
        }
        let fill = caching::marked(fill, head);
        let (headers, edits) = head.lines();
        match fill.head(head.status(), &ResponseLines { headers, edits }, body_len, tollgate_clock::unix_ms()) {
            // No body bytes follow that could complete the entry.
            Filled::Store(writer, _) if body_len == Some(0) => {
                self.finish(writer);
                ResponseAction::Pass
            }
            Filled::Store(writer, _) => {
                self.writer = Some(writer);
                ResponseAction::Watch
            }
            _ => ResponseAction::Pass,
        }
    }

    fn on_bytes(&mut self, bytes: &[u8], is_end: bool) {
        if let Some(writer) = &mut self.writer {
            writer.push(bytes);
        }
        if let Some(writer) = self.writer.take_if(|_| is_end) {
            self.finish(writer);
        }
    }
}
