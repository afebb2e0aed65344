//! What the response cache did, by API.

use serde::Serialize;
use std::collections::BTreeMap;
use tollgate_cache::CacheFigures;
use tollgate_data::gateway_state::GatewayState;
use utoipa::ToSchema;

/// The name of the series of all APIs that have none of their own.
const OTHER: &str = "_other";

/// What the response cache did for an API since the gateway started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResponseCacheFigures {
    /// Requests that were answered with a fresh stored response.
    pub hits: u64,
    /// Requests that went to the upstream because no usable response was stored.
    pub misses: u64,
    /// Requests that were answered with a stale response.
    pub stale: u64,
    /// Requests that were answered with the response to another request that was in flight.
    pub coalesced: u64,
    /// Stored responses that the upstream confirmed.
    pub validated: u64,
    /// Requests that the cache does not handle.
    pub bypassed: u64,
    /// Responses that were stored.
    pub stored: u64,
    /// Responses that were considered and not stored.
    pub not_stored: u64,
    /// Responses that were dropped to make room.
    pub evicted: u64,
    /// Stored responses now.
    pub entries: u64,
    /// Their bytes in memory.
    pub bytes: u64,
    /// Share of the looked-up requests that the upstream did not see; null before the first one.
    pub hit_ratio: Option<f64>,
}

impl ResponseCacheFigures {
    fn add(&mut self, figures: &CacheFigures) {
        self.hits += figures.hits;
        self.misses += figures.misses;
        self.stale += figures.stale;
        self.coalesced += figures.coalesced;
        self.validated += figures.validated;
        self.bypassed += figures.bypassed;
        self.stored += figures.stored;
        self.not_stored += figures.not_stored;
        self.evicted += figures.evicted;
        self.entries += figures.entries;
        self.bytes += figures.bytes;
        let answered = self.hits + self.stale + self.coalesced;
        let looked_up = answered + self.misses;
        self.hit_ratio = (looked_up > 0).then(|| answered as f64 / looked_up as f64);
    }
}

/// The figures of each API that uses the cache.
pub fn response_caches(shared: &GatewayState) -> BTreeMap<String, ResponseCacheFigures> {
    let mut figures: BTreeMap<String, ResponseCacheFigures> = BTreeMap::new();
    for cache in &shared.registry.api_caches().0 {
        figures.entry(cache.id().to_owned()).or_default().add(&cache.figures());
    }
    figures
}

/// The same for scrapers: APIs beyond the maximum number of series share one.
pub(super) fn response_cache_series(shared: &GatewayState) -> BTreeMap<String, ResponseCacheFigures> {
    let meters = shared.registry.meters.all();
    let mut figures: BTreeMap<String, ResponseCacheFigures> = BTreeMap::new();
    for cache in &shared.registry.api_caches().0 {
        let name = meters.iter().find(|meter| *meter.api == *cache.id()).map_or(OTHER, |_| cache.id());
        figures.entry(name.to_owned()).or_default().add(&cache.figures());
    }
    figures
}
