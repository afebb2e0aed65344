//! `tollgate.upstream` of a definition: how requests are distributed to targets, and what happens when targets fail. Each member switches its
//! feature on.

use super::proxy::Proxy;
use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::{is_header_value, is_token, with_scheme};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `tollgate.upstream`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UpstreamRules {
    /// Targets instead of `proxy.target_url` and `proxy.target_list`.
    pub targets: Vec<WeightedTarget>,
    /// Targets come from DNS.
    pub srv: Option<SrvRule>,
    /// How a request's target is chosen.
    pub balance: BalanceRule,
    /// What the method `hash` hashes.
    pub hash: HashRule,
    /// Requests of a client stay with its first target.
    pub sticky_cookie: Option<StickyCookie>,
    /// Targets that fail get no requests for a while.
    pub health: Option<PassiveHealth>,
    /// The gateway asks the targets whether they work.
    pub checks: Option<ActiveChecks>,
    /// Failed requests are sent again.
    pub retries: Option<RetryRules>,
    /// Idempotent requests whose target is slow to answer are also sent to another one.
    pub hedge: Option<HedgeRule>,
    /// Some requests go to other targets.
    pub split: Vec<SplitPart>,
    /// Copies of requests go to another target, whose responses nobody gets.
    pub mirror: Option<MirrorRule>,
}

/// One target.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WeightedTarget {
    /// Absolute URL; without a scheme it is `http://`.
    pub url: String,
    /// Share of the requests, relative to the other targets' weights; 0 for none.
    pub weight: u32,
    /// Where it is. If the gateway's `tollgate.zone` is the zone of any target, those targets are preferred.
    pub zone: String,
}

impl Default for WeightedTarget {
    fn default() -> Self {
        WeightedTarget { url: String::new(), weight: 1, zone: String::new() }
    }
}

/// `srv`: hosts, ports, weights and priorities of SRV records (RFC 2782). The targets of the definition are used until there is an answer.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SrvRule {
    /// Name of the records, such as `_http._tcp.shop.example`.
    pub name: String,
    /// Scheme of the targets; `http` if empty, `tcp` for streams.
    pub scheme: String,
    /// Path of the targets.
    pub path: String,
}

/// How a request's target is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BalanceRule {
    /// In turn, by weight.
    #[default]
    RoundRobin,
    /// At random, by weight.
    Random,
    /// Of two random targets, the one with fewer requests in flight.
    LeastRequests,
    /// Of two random targets, the one with the lower product of latency and requests in flight.
    PeakEwma,
    /// By a hash of the request: the same header, cookie, address or path goes to the same target.
    Hash,
}

/// `hash`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HashRule {
    /// What is hashed. A request without it goes to a random target.
    pub by: HashedPart,
    /// Name of the header or cookie.
    pub name: String,
    /// A target with more than this many percent of the mean number of requests in flight is passed over; 0 means never.
    pub load_percent_max: u32,
}

/// The part of a request that is hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HashedPart {
    /// The client's address.
    #[default]
    Address,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
    /// The path.
    Path,
}

/// `sticky_cookie`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StickyCookie {
    /// Name of the cookie. Its value identifies a target without naming it.
    pub name: String,
    /// Its `Path`.
    pub path: String,
    /// Its `Max-Age` in seconds; 0 for a cookie that ends with the browser's session.
    pub max_age_s: u64,
    /// It is `Secure`.
    pub secure: bool,
}

impl Default for StickyCookie {
    fn default() -> Self {
        StickyCookie { name: "tollgate-target".to_owned(), path: "/".to_owned(), max_age_s: 0, secure: false }
    }
}

/// `health`: targets are ejected because of their responses. 0 switches a rule off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PassiveHealth {
    /// Faults in a row that eject a target: it can't be reached, closes the connection, answers too late, or with a status of `statuses`.
    pub consecutive_faults: u32,
    /// Share of faults in an interval that ejects a target.
    pub fault_percent: u32,
    /// A target whose mean latency in an interval is this many times the median of the others' is ejected.
    pub latency_factor: f64,
    /// Mean latencies below this are never too long.
    pub latency_ms_min: u64,
    /// Requests that a target needs in an interval before shares and latencies count.
    pub requests_min: u64,
    /// Length of an interval.
    pub interval_ms: u64,
    /// Statuses that are faults.
    pub statuses: Vec<u16>,
    /// Time of the first ejection; it doubles with each one that follows soon.
    pub ejected_ms: u64,
    /// Longest time of an ejection.
    pub ejected_ms_max: u64,
    /// Largest share of the targets that is ejected for faults or latency. Targets that can't be reached do not count.
    pub ejected_percent_max: u32,
    /// Time in which a target that returns gets its full share.
    pub slow_start_ms: u64,
}

impl Default for PassiveHealth {
    fn default() -> Self {
        PassiveHealth {
            consecutive_faults: 5,
            fault_percent: 50,
            latency_factor: 0.0,
            latency_ms_min: 50,
            requests_min: 20,
            interval_ms: 1_000,
            statuses: vec![500, 502, 503, 504],
            ejected_ms: 1_000,
            ejected_ms_max: 60_000,
            ejected_percent_max: 50,
            slow_start_ms: 10_000,
        }
    }
}

/// `checks`: every target is asked regularly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ActiveChecks {
    /// Path of the request; empty to only connect.
    pub path: String,
    /// Headers of the request.
    pub headers: BTreeMap<String, String>,
    /// Statuses that are good; empty for 200 to 399.
    pub statuses: Vec<u16>,
    /// Time between two checks.
    pub interval_ms: u64,
    /// Time limit of a check.
    pub timeout_ms: u64,
    /// Good checks in a row after which a target gets requests.
    pub rise: u32,
    /// Failed checks in a row after which it gets none.
    pub fall: u32,
}

impl Default for ActiveChecks {
    fn default() -> Self {
        ActiveChecks {
            path: String::new(),
            headers: BTreeMap::new(),
            statuses: Vec::new(),
            interval_ms: 5_000,
            timeout_ms: 2_000,
            rise: 2,
            fall: 3,
        }
    }
}

/// `retries`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RetryRules {
    /// Tries of one request, the first included.
    pub tries: u32,
    /// After what a request is sent again.
    pub causes: Vec<RetryCause>,
    /// Statuses after which it is sent again.
    pub statuses: Vec<u16>,
    /// Methods of requests that are sent again. A request that never reached its target is sent again whatever its method.
    pub methods: Vec<String>,
    /// Time for each try, until the first byte of the response; 0 for the API's own.
    pub try_ms: u64,
    /// Upper bound of the random wait before a request is sent again to the same target; it doubles. Another target is tried at once.
    pub backoff_ms: u64,
    /// Largest upper bound of that wait.
    pub backoff_ms_max: u64,
    /// Retries per 100 requests, for all requests of the API together.
    pub budget_percent: u32,
    /// Retries that unused requests leave for later.
    pub budget_saved_max: u32,
    /// Retries per second that are always allowed.
    pub budget_per_s_min: u32,
    /// A request with a larger body is not sent again.
    pub body_bytes_max: usize,
}

impl Default for RetryRules {
    fn default() -> Self {
        RetryRules {
            tries: 3,
            causes: vec![RetryCause::Connect, RetryCause::Closed, RetryCause::Timeout],
            statuses: vec![502, 503, 504],
            methods: ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"].map(str::to_owned).to_vec(),
            try_ms: 0,
            backoff_ms: 25,
            backoff_ms_max: 1_000,
            budget_percent: 10,
            budget_saved_max: 100,
            budget_per_s_min: 1,
            body_bytes_max: 64 * 1024,
        }
    }
}

/// `hedge`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HedgeRule {
    /// Time without a response after which a request is sent to a second target. With a percentile, the shortest such time.
    pub after_ms: u64,
    /// The percentile of recent latencies that is this time, such as 95; 0 for `after_ms` alone.
    pub percentile: f64,
    /// Second sendings per 100 requests.
    pub budget_percent: u32,
    /// A request with a larger body is not sent twice.
    pub body_bytes_max: usize,
}

impl Default for HedgeRule {
    fn default() -> Self {
        HedgeRule { after_ms: 0, percentile: 95.0, budget_percent: 5, body_bytes_max: 64 * 1024 }
    }
}

/// After what a request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RetryCause {
    /// The target can't be reached: name, connection, TLS.
    Connect,
    /// It closed the connection, or answered with something that is not HTTP.
    Closed,
    /// It did not answer in time.
    Timeout,
}

/// `mirror`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MirrorRule {
    /// URL of the target, without a path: it gets the path that the request has upstream.
    pub url: String,
    /// Share of the requests that are copied.
    pub percent: f64,
    /// A request with a larger body is not copied.
    pub body_bytes_max: usize,
}

impl Default for MirrorRule {
    fn default() -> Self {
        MirrorRule { url: String::new(), percent: 100.0, body_bytes_max: 64 * 1024 }
    }
}

/// One part of `split`: requests that go to targets of its own.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SplitPart {
    /// Its name in metrics.
    pub name: String,
    /// Share of the requests that no header or cookie assigns, in percent.
    pub percent: f64,
    /// Requests with this header belong to it.
    pub header: Option<RequestValue>,
    /// Requests with this cookie belong to it.
    pub cookie: Option<RequestValue>,
    /// Its targets.
    pub targets: Vec<WeightedTarget>,
}

/// A header or cookie with a value.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RequestValue {
    /// Name.
    pub name: String,
    /// Value; empty for any.
    pub value: String,
}

impl UpstreamRules {
    /// The most tries of one request.
    pub const TRIES_MAX: u32 = 10;
    /// The largest body that is kept to be sent again.
    pub const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
    /// The longest time that a field may set: one hour.
    pub const TIME_MS_MAX: u64 = 3_600_000;
    /// The most targets of a list.
    pub const TARGETS_MAX: usize = 512;

    /// The targets for requests that belong to no part of the split. An entry that occurs twice in Tyk's list gets twice the requests.
    pub fn targets(&self, proxy: &Proxy, scheme: &str) -> Vec<WeightedTarget> {
        if !self.targets.is_empty() {
            return absolute(&self.targets, scheme);
        }
        let mut targets: Vec<WeightedTarget> = Vec::new();
        for url in proxy.targets(scheme).into_iter().filter(|url| !url.is_empty()) {
            match targets.iter_mut().find(|target| target.url == url) {
                Some(target) => target.weight += 1,
                None => targets.push(WeightedTarget { url, ..WeightedTarget::default() }),
            }
        }
        targets
    }
}

impl SplitPart {
    /// Its targets with absolute URLs.
    pub fn targets(&self, scheme: &str) -> Vec<WeightedTarget> {
        absolute(&self.targets, scheme)
    }
}

fn absolute(targets: &[WeightedTarget], scheme: &str) -> Vec<WeightedTarget> {
    targets.iter().map(|target| WeightedTarget { url: with_scheme(&target.url, scheme), ..target.clone() }).collect()
}

/// Reports what is wrong with the rules. `check_target` reports an unusable URL.
pub(super) fn check(rules: &UpstreamRules, findings: &mut Findings, check_target: fn(&JsonPath, &str, &mut Findings)) {
    let at = JsonPath::of("tollgate.upstream");
    check_targets(&at.key("targets"), &rules.targets, findings, check_target);
    if let Some(srv) = &rules.srv {
        check_srv(&at.key("srv"), srv, findings);
    }
    let hash_at = at.key("hash");
    match rules.hash.by {
        HashedPart::Header | HashedPart::Cookie if !is_token(&rules.hash.name) => {
            findings.error(&hash_at.key("name"), "must be the name of a header or cookie");
        }
        _ => {}
    }
    if matches!(rules.hash.load_percent_max, 1..=100) {
        findings.error(&hash_at.key("load_percent_max"), "must be 0 or more than 100: no target can stay below the mean");
    }
    if let Some(cookie) = &rules.sticky_cookie {
        let at = at.key("sticky_cookie");
        if !is_token(&cookie.name) {
            findings.error(&at.key("name"), "is not a cookie name");
        }
        if cookie.path.bytes().any(|byte| byte.is_ascii_control() || byte == b';' || !byte.is_ascii()) {
            findings.error(&at.key("path"), "is not a path of a cookie");
        }
    }
    if let Some(health) = &rules.health {
        check_health(&at.key("health"), health, findings);
    }
    if let Some(checks) = &rules.checks {
        check_checks(&at.key("checks"), checks, findings);
    }
    if let Some(retries) = &rules.retries {
        check_retries(&at.key("retries"), retries, findings);
    }
    if let Some(hedge) = &rules.hedge {
        check_hedge(&at.key("hedge"), hedge, findings);
    }
    if let Some(mirror) = &rules.mirror {
        let at = at.key("mirror");
        check_target(&at.key("url"), &mirror.url, findings);
        let rest = mirror.url.split_once("://").map_or("", |(_, rest)| rest);
        if rest.trim_end_matches('/').contains(['/', '?', '#']) {
            findings.error(&at.key("url"), "must not have a path: the mirror gets the path that the request has upstream");
        }
        if !(0.0..=100.0).contains(&mirror.percent) {
            findings.error(&at.key("percent"), "must be from 0 to 100");
        }
        if mirror.body_bytes_max > UpstreamRules::BODY_BYTES_MAX {
            findings.error(&at.key("body_bytes_max"), format!("must be at most {}", UpstreamRules::BODY_BYTES_MAX));
        }
    }
    let mut percent = 0.0;
    for (index, part) in rules.split.iter().enumerate() {
        let at = at.key("split").index(index);
        percent += part.percent;
        if !(0.0..=100.0).contains(&part.percent) {
            findings.error(&at.key("percent"), "must be from 0 to 100");
        }
        if part.targets.is_empty() {
            findings.error(&at.key("targets"), "must not be empty");
        }
        if part.name.is_empty() || rules.split.iter().take(index).any(|other| other.name == part.name) {
            findings.error(&at.key("name"), "must be there and differ from the others'");
        }
        check_targets(&at.key("targets"), &part.targets, findings, check_target);
        for (field, value) in [("header", &part.header), ("cookie", &part.cookie)] {
            if value.as_ref().is_some_and(|value| !is_token(&value.name)) {
                findings.error(&at.key(field).key("name"), format!("is not a {field} name"));
            }
        }
    }
    if percent > 100.0 {
        findings.error(&at.key("split"), "the shares are more than 100 percent");
    }
}

fn check_hedge(at: &JsonPath, hedge: &HedgeRule, findings: &mut Findings) {
    if !(hedge.percentile == 0.0 || (50.0..100.0).contains(&hedge.percentile)) {
        findings.error(&at.key("percentile"), "must be 0, or from 50 to below 100");
    }
    if hedge.percentile == 0.0 && hedge.after_ms == 0 {
        findings.error(&at.key("after_ms"), "must be set without a percentile: every request would be sent twice");
    }
    if hedge.after_ms > UpstreamRules::TIME_MS_MAX {
        findings.error(&at.key("after_ms"), format!("must be at most {}", UpstreamRules::TIME_MS_MAX));
    }
    if !(1..=100).contains(&hedge.budget_percent) {
        findings.error(&at.key("budget_percent"), "must be from 1 to 100");
    }
    if hedge.body_bytes_max > UpstreamRules::BODY_BYTES_MAX {
        findings.error(&at.key("body_bytes_max"), format!("must be at most {}", UpstreamRules::BODY_BYTES_MAX));
    }
}

fn check_srv(at: &JsonPath, srv: &SrvRule, findings: &mut Findings) {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len()) && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let name = srv.name.strip_suffix('.').unwrap_or(&srv.name);
    if name.len() > 253 || !name.split('.').all(is_label) {
        findings.error(&at.key("name"), "is not the name of SRV records, such as _http._tcp.shop.example");
    }
    if !["", "http", "https", "h2c", "tcp", "tls"].contains(&srv.scheme.as_str()) {
        findings.error(&at.key("scheme"), "must be http, https, h2c, tcp, tls or empty");
    }
    if !srv.path.is_empty() && (!srv.path.starts_with('/') || srv.path.bytes().any(|byte| byte <= 0x20 || byte == 0x7f)) {
        findings.error(&at.key("path"), "must begin with a slash and have no spaces");
    }
}

fn check_targets(
    at: &JsonPath,
    targets: &[WeightedTarget],
    findings: &mut Findings,
    check_target: fn(&JsonPath, &str, &mut Findings),
) {
    for (index, target) in targets.iter().enumerate() {
        check_target(&at.index(index).key("url"), &target.url, findings);
    }
    if !targets.is_empty() && targets.iter().all(|target| target.weight == 0) {
        findings.error(at, "a target needs a weight");
    }
    if targets.len() > UpstreamRules::TARGETS_MAX {
        findings.error(at, format!("must have at most {} targets", UpstreamRules::TARGETS_MAX));
    }
}

pub(crate) fn check_health(at: &JsonPath, health: &PassiveHealth, findings: &mut Findings) {
    check_times(
        at,
        &[
            ("latency_ms_min", health.latency_ms_min),
            ("interval_ms", health.interval_ms),
            ("ejected_ms", health.ejected_ms),
            ("ejected_ms_max", health.ejected_ms_max),
            ("slow_start_ms", health.slow_start_ms),
        ],
        findings,
    );
    for (field, number) in [("interval_ms", health.interval_ms), ("ejected_ms", health.ejected_ms)] {
        if number == 0 {
            findings.error(&at.key(field), "must not be 0");
        }
    }
    for (field, percent) in [("fault_percent", health.fault_percent), ("ejected_percent_max", health.ejected_percent_max)] {
        if percent > 100 {
            findings.error(&at.key(field), "must be at most 100");
        }
    }
    if health.latency_factor < 0.0 || (health.latency_factor > 0.0 && health.latency_factor < 1.5) {
        findings.error(&at.key("latency_factor"), "must be 0 or at least 1.5");
    }
    check_statuses(&at.key("statuses"), &health.statuses, findings);
}

pub(crate) fn check_checks(at: &JsonPath, checks: &ActiveChecks, findings: &mut Findings) {
    check_times(at, &[("interval_ms", checks.interval_ms), ("timeout_ms", checks.timeout_ms)], findings);
    for (field, number) in [
        ("interval_ms", checks.interval_ms),
        ("timeout_ms", checks.timeout_ms),
        ("rise", u64::from(checks.rise)),
        ("fall", u64::from(checks.fall)),
    ] {
        if number == 0 {
            findings.error(&at.key(field), "must not be 0");
        }
    }
    if !(checks.path.is_empty() || checks.path.starts_with('/')) || checks.path.bytes().any(|byte| byte <= 0x20 || byte >= 0x7f) {
        findings.error(&at.key("path"), "must be a path such as /health");
    }
    check_statuses(&at.key("statuses"), &checks.statuses, findings);
    for (name, value) in &checks.headers {
        if !is_token(name) || !is_header_value(value) {
            findings.error(&at.key("headers").key(name), "is not a header");
        }
    }
}

fn check_retries(at: &JsonPath, retries: &RetryRules, findings: &mut Findings) {
    if !(1..=UpstreamRules::TRIES_MAX).contains(&retries.tries) {
        findings.error(&at.key("tries"), format!("must be from 1 to {}", UpstreamRules::TRIES_MAX));
    }
    if retries.budget_percent > 100 {
        findings.error(&at.key("budget_percent"), "must be at most 100");
    }
    if retries.body_bytes_max > UpstreamRules::BODY_BYTES_MAX {
        findings.error(&at.key("body_bytes_max"), format!("must be at most {}", UpstreamRules::BODY_BYTES_MAX));
    }
    let times = [("try_ms", retries.try_ms), ("backoff_ms", retries.backoff_ms), ("backoff_ms_max", retries.backoff_ms_max)];
    check_times(at, &times, findings);
    check_statuses(&at.key("statuses"), &retries.statuses, findings);
    for (index, method) in retries.methods.iter().enumerate() {
        if !is_token(method) {
            findings.error(&at.key("methods").index(index), "is not a method");
        }
    }
}

fn check_times(at: &JsonPath, times: &[(&str, u64)], findings: &mut Findings) {
    for (field, time) in times {
        if *time > UpstreamRules::TIME_MS_MAX {
            findings.error(&at.key(field), format!("must be at most {}", UpstreamRules::TIME_MS_MAX));
        }
    }
}

fn check_statuses(at: &JsonPath, statuses: &[u16], findings: &mut Findings) {
    for (index, status) in statuses.iter().enumerate() {
        if !(200..=599).contains(status) {
            findings.error(&at.index(index), "is not the status of a response");
        }
    }
}
