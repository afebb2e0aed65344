//! Settings of a RateLimitPolicy: how much.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// How much. A request must have room in all limits.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-validations" = json!([
    {"rule": "has(self.limits) || has(self.concurrent)", "message": "name limits or concurrent"},
])))]
pub(crate) struct RateLimitSettings {
    /// Limits, each with counters of its own.
    #[schemars(length(min = 1, max = 16))]
    pub limits: Vec<RateLimitRule>,
    /// How many requests of a client may be in progress at once, at each gateway.
    pub concurrent: Option<ConcurrentRequests>,
}

/// Requests at once.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConcurrentRequests {
    /// Requests of an address, or of an IPv6 network of 64 bits; more get 429.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub per_address: u32,
    /// Addresses or networks without this limit.
    #[serde(default)]
    #[schemars(length(max = 64), inner(length(max = 64)))]
    pub exempt: Vec<String>,
}

/// One limit.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = json!([
    {"rule": "(has(self.per) && self.per in ['Header', 'Claim']) == has(self.name)", "message": "name is the name of the header or claim"},
])))]
pub(crate) struct RateLimitRule {
    /// Requests in a window.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub requests: u32,
    /// Length of the window such as `1s`, `10m` or `24h`.
    #[schemars(length(max = 16), regex(pattern = "^([0-9]+(h|m|s|ms))+$"))]
    pub window: String,
    /// Whose requests are counted together; `Client` by default.
    #[serde(default)]
    pub per: LimitPer,
    /// The name of the header or claim.
    #[schemars(length(min = 1, max = 128), regex(pattern = "^[A-Za-z0-9_.-]+$"))]
    pub name: Option<String>,
    /// Count and report, but refuse nobody.
    #[serde(default)]
    pub dry_run: bool,
    /// What applies while the gateways' Redis does not answer; the gateway's own setting by default.
    pub on_store_failure: Option<StoreFailureRule>,
}

/// Whose requests are counted together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) enum LimitPer {
    /// Key or user of a token; without one, the address.
    #[default]
    Client,
    Address,
    Header,
    Claim,
    /// All requests of the route.
    Route,
}

/// What applies while the store does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) enum StoreFailureRule {
    /// Each gateway's share.
    Local,
    /// No limit.
    Allow,
    /// 503.
    Deny,
}
