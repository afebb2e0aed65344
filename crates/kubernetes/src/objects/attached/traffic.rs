//! Settings of a TrafficPolicy: from where requests may come, and what is done to them and to their responses.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// From where requests may come, and what is done to them and to their responses.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct TrafficSettings {
    /// Addresses of clients.
    pub clients: Option<ClientAddresses>,
    /// Responses are stored and reused by RFC 9111: the backend decides with Cache-Control.
    pub cache: Option<ResponseCacheSettings>,
    /// Changes of the headers that backends get.
    pub request_headers: Option<HeaderSettings>,
    /// Changes of the headers that clients get.
    pub response_headers: Option<HeaderSettings>,
    /// Another body for the backend.
    pub request_body: Option<BodyChange>,
    /// Another body for the client.
    pub response_body: Option<BodyChange>,
    /// Plugins, whose files the gateway has.
    pub plugins: Option<Plugins>,
    /// Requests pass the rules of a web application firewall.
    pub firewall: Option<FirewallPolicySettings>,
    /// Backends that fail get no requests for a while.
    pub circuit_breaker: Option<CircuitBreakerSettings>,
    /// Endpoints of backends that fail, or whose checks do, get no requests for a while.
    pub backend_health: Option<BackendHealthSettings>,
    /// Other responses in place of errors; the first that fits counts.
    #[schemars(length(max = 16))]
    pub errors: Vec<ErrorRule>,
    /// The largest body of a request in bytes; a larger one gets 400.
    #[schemars(range(min = 1))]
    pub max_request_bytes: Option<i64>,
    /// Time until a response begins, such as `500ms` or `30s`; then 504.
    #[schemars(length(max = 16), regex(pattern = "^([0-9]+(h|m|s|ms))+$"))]
    pub timeout: Option<String>,
}

/// Addresses or networks such as `10.0.0.0/8`. Others get 403.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-validations" = json!([
    {"rule": "has(self.allow) || has(self.deny)", "message": "name addresses to allow or to deny"},
])))]
pub(crate) struct ClientAddresses {
    /// If it is there, only these.
    #[schemars(length(min = 1, max = 256), inner(length(max = 64)))]
    pub allow: Option<Vec<String>>,
    /// Not these.
    #[schemars(length(min = 1, max = 256), inner(length(max = 64)))]
    pub deny: Option<Vec<String>>,
}

/// The cache.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ResponseCacheSettings {
    /// Each key has responses of its own.
    pub by_caller: bool,
    /// Headers of requests that distinguish responses, beside those of Vary.
    #[schemars(length(max = 16), inner(length(max = 128)))]
    pub by_headers: Vec<String>,
    /// Clients can't bypass the cache.
    pub ignore_request_directives: bool,
}

/// Changes of headers.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct HeaderSettings {
    /// Headers that replace those with the same name.
    #[schemars(length(max = 32))]
    pub set: Vec<HeaderValue>,
    /// Names of headers that are removed.
    #[schemars(length(max = 32), inner(length(min = 1, max = 128), regex(pattern = "^[A-Za-z0-9_-]+$")))]
    pub remove: Vec<String>,
}

/// A header.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub(crate) struct HeaderValue {
    /// Its name.
    #[schemars(length(min = 1, max = 128), regex(pattern = "^[A-Za-z0-9_-]+$"))]
    pub name: String,
    /// Its value.
    #[schemars(length(max = 4096))]
    pub value: String,
}

/// Another body.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub(crate) struct BodyChange {
    /// A filter in the language of jq, for bodies in JSON. `.body` is the body; the filter makes an object, whose `body` is the new one.
    #[schemars(length(min = 1, max = 16_384))]
    pub jq: String,
}

/// Plugins of one driver.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub(crate) struct Plugins {
    /// What runs them.
    pub driver: PluginDriverName,
    /// Functions, in the order in which they run.
    #[schemars(length(min = 1, max = 16))]
    pub hooks: Vec<PluginHook>,
    /// What they are configured with.
    #[serde(default)]
    #[schemars(extend("type" = "object", "x-kubernetes-preserve-unknown-fields" = true))]
    pub config: Option<Value>,
}

/// What runs plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) enum PluginDriverName {
    JavaScript,
    WebAssembly,
    #[serde(rename = "gRPC")]
    Grpc,
}

/// A function of a plugin.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub(crate) struct PluginHook {
    /// When it runs.
    pub phase: PluginPhase,
    /// Its name.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// Its file below the gateway's folder of plugins; the driver gRPC has none.
    #[serde(default)]
    #[schemars(length(min = 1, max = 512))]
    pub path: Option<String>,
}

/// When a plugin runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
pub(crate) enum PluginPhase {
    /// Before the caller is known.
    BeforeAuthentication,
    /// When the caller is known.
    AfterAuthentication,
    /// Before the request goes to the backend.
    Request,
    /// When the backend has answered.
    Response,
}

/// The circuit breaker of a route. Each method counts for itself, at each gateway, in a window of ten seconds.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CircuitBreakerSettings {
    /// Share of failures from which it opens.
    #[schemars(range(min = 1, max = 100))]
    pub failure_percent: u32,
    /// Requests in the window before it may open.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub min_requests: u64,
    /// How long requests get 503, in whole seconds, such as `30s`.
    #[schemars(length(max = 16), regex(pattern = "^([0-9]+(h|m|s|ms))+$"))]
    pub open_for: String,
    /// No single requests look meanwhile whether the backend works again.
    #[serde(default)]
    pub without_probes: bool,
}

/// The health of the endpoints of backends. Each policy has its own view of them, at each gateway.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-validations" = json!([
    {"rule": "has(self.passive) || has(self.active)", "message": "name passive or active"},
])))]
pub(crate) struct BackendHealthSettings {
    /// Responses to requests of clients take endpoints out.
    pub passive: Option<PassiveHealthSettings>,
    /// The gateway asks each endpoint whether it works.
    pub active: Option<ActiveHealthSettings>,
}

/// What takes an endpoint out, and for how long. A fault is a connection that fails, a response that is late, or one with a status of the list.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-validations" = json!([
    {"rule": "has(self.consecutiveFailures) || has(self.failurePercent)", "message": "name consecutiveFailures or failurePercent"},
])))]
pub(crate) struct PassiveHealthSettings {
    /// Faults in a row.
    #[schemars(range(min = 1, max = 1000))]
    pub consecutive_failures: Option<u32>,
    /// Share of faults in an interval.
    #[schemars(range(min = 1, max = 100))]
    pub failure_percent: Option<u32>,
    /// Requests that an interval needs before the share counts; 20 by default.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub min_requests: Option<u64>,
    /// Length of an interval, such as `10s`; `1s` by default.
    #[schemars(length(max = 16), regex(pattern = "^([0-9]+(h|m|s|ms))+$"))]
    pub interval: Option<String>,
    /// Statuses that are faults; 500, 502, 503 and 504 by default.
    #[schemars(length(min = 1, max = 16), inner(range(min = 100, max = 599)))]
    pub statuses: Option<Vec<u16>>,
    /// How long an endpoint is out, such as `30s`; `1s` by default. It doubles with each time that follows soon.
    #[schemars(length(max = 16), regex(pattern = "^([0-9]+(h|m|s|ms))+$"))]
    pub eject_for: Option<String>,
    /// The longest time; `1m` by default, or `ejectFor` if that is longer.
    #[schemars(length(max = 16), regex(pattern = "^([0-9]+(h|m|s|ms))+$"))]
    pub max_eject_for: Option<String>,
    /// The largest share of the endpoints that is out for faults; 50 by default.
    #[schemars(range(min = 1, max = 100))]
    pub max_ejected_percent: Option<u32>,
}

/// How each endpoint is asked.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ActiveHealthSettings {
    /// Path of a GET request; without it, the gateway only connects.
    #[schemars(length(max = 1024), regex(pattern = "^/[!-~]*$"))]
    pub path: Option<String>,
    /// Time between two checks, such as `10s`; `5s` by default.
    #[schemars(length(max = 16), regex(pattern = "^([0-9]+(h|m|s|ms))+$"))]
    pub interval: Option<String>,
    /// Time limit of a check; `2s` by default.
    #[schemars(length(max = 16), regex(pattern = "^([0-9]+(h|m|s|ms))+$"))]
    pub timeout: Option<String>,
    /// Good checks in a row after which an endpoint gets requests again; 2 by default.
    #[schemars(range(min = 1, max = 100))]
    pub healthy_threshold: Option<u32>,
    /// Failed checks in a row after which it gets none; 3 by default.
    #[schemars(range(min = 1, max = 100))]
    pub unhealthy_threshold: Option<u32>,
    /// Statuses that are good; 200 to 399 by default.
    #[schemars(length(min = 1, max = 32), inner(range(min = 100, max = 599)))]
    pub statuses: Option<Vec<u16>>,
}

/// The firewall.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-validations" = json!([
    {"rule": "!has(self.withoutCoreRules) || !self.withoutCoreRules || has(self.rules)", "message": "without core rules, name rules"},
])))]
pub(crate) struct FirewallPolicySettings {
    /// What happens to a request that the rules deny; by default it is rejected.
    pub mode: FirewallMode,
    /// How suspicious the rules are; 1 by default.
    #[schemars(range(min = 1, max = 4))]
    pub paranoia_level: Option<u8>,
    /// Sum of scores from which a request is denied; 5 by default.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub inbound_threshold: Option<u32>,
    /// What rules do not look at.
    #[schemars(length(max = 64))]
    pub exclusions: Vec<FirewallExclusion>,
    /// Rules of one's own in the language of ModSecurity, before the others.
    #[schemars(length(min = 1, max = 65_536))]
    pub rules: Option<String>,
    /// The rules in the gateway's directory are not used.
    pub without_core_rules: bool,
    /// Bytes of a body that are inspected; 131072 by default, 0 for none.
    #[schemars(range(min = 0, max = 1_073_741_824))]
    pub max_body_bytes: Option<u32>,
    /// Of larger bodies the start is inspected, and the rest passes. By default they get 400.
    pub passes_larger_bodies: bool,
    /// Whether responses are inspected, too.
    pub inspects_responses: bool,
}

/// What happens to a request that the rules deny.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) enum FirewallMode {
    /// It is rejected.
    #[default]
    Enforcing,
    /// It passes, is counted and recorded.
    Detection,
}

/// What some rules do not look at. A list that is missing means all.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-validations" = json!([
    {"rule": "has(self.rules) || has(self.tags) || has(self.parameters) || has(self.paths)", "message": "name rules, tags, parameters or paths"},
])))]
pub(crate) struct FirewallExclusion {
    /// Numbers of rules, or ranges such as `942100-942199`.
    #[schemars(length(max = 64), inner(length(min = 1, max = 64)))]
    pub rules: Vec<String>,
    /// Tags of rules such as `attack-sqli`.
    #[schemars(length(max = 64), inner(length(min = 1, max = 128)))]
    pub tags: Vec<String>,
    /// Values such as `ARGS:comment`.
    #[schemars(length(max = 64), inner(length(min = 1, max = 256)))]
    pub parameters: Vec<String>,
    /// Starts of paths.
    #[schemars(length(max = 64), inner(length(min = 1, max = 1024), regex(pattern = "^/")))]
    pub paths: Vec<String>,
}

/// Another response in place of errors.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = json!([
    {"rule": "has(self.status) || has(self.body) || has(self.headers)", "message": "name a status, a body or headers"},
])))]
pub(crate) struct ErrorRule {
    /// Statuses such as `429`, or `4xx` and `5xx`.
    #[schemars(length(min = 1, max = 16), inner(regex(pattern = "^([45][0-9][0-9]|[45]xx)$")))]
    pub statuses: Vec<String>,
    /// Another status.
    #[schemars(range(min = 200, max = 599))]
    pub status: Option<u16>,
    /// Another body. One with `{{.` is a template of Go, with `.Message` and `.StatusCode`.
    #[schemars(length(max = 16_384))]
    pub body: Option<String>,
    /// Headers that it has.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub headers: Option<Vec<HeaderValue>>,
}
