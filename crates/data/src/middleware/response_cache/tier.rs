//! How the response cache uses the second tier: the name of an entry there, the question that holds a request, and what is written.

use super::MiddlewareSource;
use crate::caching;
use crate::exchange::{Exchange, Redirect};
use crate::second_tier::{SecondTier, TierEntry};
use regex::bytes::Regex;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;
use tollgate_cache::{ApiCache, BodyWriter, Decision, Fill, PurgeMark, TykBody, TykKeyParts, TykPayload, TykRequest};
use tollgate_clock::Pending;
use tollgate_engine::Work;
use tollgate_model::hexadecimal;

/// The second tier for one version of an API.
pub(super) struct Tier {
    shared: Arc<SecondTier>,
    api_id: String,
    /// The version or rule of an API with several.
    version: Option<String>,
}

/// What a request that memory has no answer to has asked the second tier.
pub(super) struct TierQuestion {
    pending: Pending<Option<Arc<TykPayload>>>,
    /// The purges before the question.
    mark: PurgeMark,
    /// For the upstream, when the second tier has nothing either.
    fill: Fill,
}

/// Where a response goes in the second tier.
pub(super) struct TierPlace {
    shared: Arc<SecondTier>,
    cache: Arc<ApiCache>,
    key: String,
}

impl Tier {
    pub(super) fn compile(source: &MiddlewareSource<'_, '_>) -> Option<Self> {
        let registry = source.context.registry;
        let versions = &source.definition.version_data;
        Some(Tier {
            shared: registry.second_tier()?.clone(),
            api_id: source.definition.api_id.clone(),
            version: (!versions.not_versioned || source.rule.is_some()).then(|| source.variant()),
        })
    }

    /// The place of the request's response; `None` when Tyk has no name for it.
    pub(super) fn place(
        &self,
        exchange: &Exchange<'_>,
        cache: &Arc<ApiCache>,
        values: &[(&str, Option<Vec<u8>>)],
        body_part: Option<&Regex>,
    ) -> Option<TierPlace> {
        let caller = match (&exchange.caller.key, &exchange.caller.token) {
            (Some(_), Some(token)) => token.to_string(),
            (Some(key), None) => key.shown.to_string(),
            (None, _) => exchange.arrival.client_ip.to_string(),
        };
        let mut headers = Vec::with_capacity(values.len());
        for (name, value) in values {
            headers.push((*name, std::str::from_utf8(first_line(value.as_deref())).ok()?));
        }
        let body = match body_part {
            Some(part) => TykBody::Match(part.find(exchange.body()).map(|found| found.as_bytes())),
            None => TykBody::Whole(exchange.body()),
        };
        let url = exchange.uri();
        let parts =
            TykKeyParts { api_id: &self.api_id, caller: &caller, method: &exchange.method, url: &url, headers: &headers, body };
        let key = format!("{}{}", parts.redis_key(), self.distinction(exchange, values));
        Some(TierPlace { shared: self.shared.clone(), cache: cache.clone(), key })
    }

    /// A suffix for what Tyk's names do not distinguish, although the upstream does: versions, hosts, upstreams that rewrites choose, and
    /// further lines of a header. Where a request has none of these, the name is Tyk's.
    fn distinction(&self, exchange: &Exchange<'_>, values: &[(&str, Option<Vec<u8>>)]) -> String {
        let host = caching::preserved_host(exchange);
        let more: Vec<_> = values.iter().filter(|(_, value)| has_more(value.as_deref())).collect();
        let upstream = match &exchange.decisions.redirected {
            Some(Redirect::Upstream(upstream)) => Some((&upstream.host, &upstream.path, &upstream.query)),
            _ => None,
        };
        if self.version.is_none() && host.is_none() && upstream.is_none() && more.is_empty() {
            return String::new();
        }
        let digest = hexadecimal(&Sha256::digest(format!("{:?}", (&self.version, host, upstream, more))));
        format!("-{}", digest.get(..32).unwrap_or_default())
    }

    /// Asks the second tier; gives `fill` back when that can't be asked.
    pub(super) fn ask(&self, exchange: &Exchange<'_>, place: &TierPlace, fill: Fill) -> Result<TierQuestion, Fill> {
        let mark = place.cache.purge_mark();
        match self.shared.read(place.key.clone(), exchange.method == "HEAD") {
            Some(pending) => Ok(TierQuestion { pending, mark, fill }),
            None => Err(fill),
        }
    }

    /// How long the answer may take.
    pub(super) fn time_max(&self) -> Duration {
        self.shared.answer_time_max
    }
}

/// The value of the first line in the values of one header.
fn first_line(values: Option<&[u8]>) -> &[u8] {
    values.and_then(|values| values.split(|byte| *byte == b'\n').next()).unwrap_or_default()
}

/// Whether Tyk does not see all that the upstream sees: it reads only one line with the header's own name, and takes an empty one for none.
fn has_more(values: Option<&[u8]>) -> bool {
    values.is_some_and(|values| values == b"\n" || values.contains(&0) || values.iter().filter(|byte| **byte == b'\n').count() > 1)
}

impl TierQuestion {
    /// The wait for the answer.
    pub(super) fn work(&self) -> Work {
        self.pending.work()
    }

    /// The decision with the answer.
    pub(super) fn decide(self, cache: &Arc<ApiCache>, request: &TykRequest<'_>, now_ms: u64) -> Decision {
        let payload = self.pending.get().flatten();
        match payload.and_then(|payload| cache.adopt_tyk(request, &payload, self.mark, now_ms)) {
            Some(answer) => Decision::Serve(answer),
            None => Decision::Fetch(self.fill),
        }
    }
}

impl TierPlace {
    /// Completes a response in memory, and writes it here if memory keeps it.
    pub(super) fn finish(self, writer: BodyWriter) {
        let stored = writer.stored().clone();
        if writer.finish() {
            let TierPlace { shared, cache, key } = self;
            shared.write(TierEntry { cache, key, stored, now_ms: tollgate_clock::unix_ms() });
        }
    }
}
