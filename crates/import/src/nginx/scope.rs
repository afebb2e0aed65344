//! Directives that hold for a level and those below it, as nginx inherits them.

use super::compression::CompressionScope;
use super::directive::Directive;
use super::value::{bytes, milliseconds};
use super::{Shared, report_known, users};
use crate::files::NamedFiles;
use crate::plan::{Plan, PlannedAddressRate, PlannedCache, PlannedChecks, PlannedRate, PlannedRetries};
use crate::report::{ImportReport, Place};
use ipnet::IpNet;
use std::collections::BTreeMap;
use std::net::IpAddr;
use tollgate_model::api::UpstreamRules;

/// How long an upstream may be silent within a response, or take nothing of a request: here as in nginx by default.
const STALL_MS: u64 = 60_000;

/// What holds at a level.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// Headers for the upstream. A level that has one has none of its parent's.
    pub request_headers: Vec<(Directive, String, String)>,
    /// Headers for the client, in the same way.
    pub response_headers: Vec<(Directive, String, String)>,
    pub hidden_headers: Vec<String>,
    /// `allow` and `deny`, in their order, in the same way.
    pub access: Vec<(bool, String)>,
    pub basic: bool,
    /// Path of the location that decides.
    pub asks: Option<(String, Place)>,
    pub asked_headers: Vec<(String, String)>,
    pub body_bytes_max: Option<u64>,
    pub timeout_ms: u64,
    pub cache: Option<PlannedCache>,
    pub cache_time_s: Option<u64>,
    pub compression: CompressionScope,
    pub retries: Option<PlannedRetries>,
    pub rate: Option<PlannedRate>,
    pub address_rates: Vec<PlannedAddressRate>,
    /// What clients over a limit get, if it is said.
    pub limit_status: Option<u16>,
    pub verifies_upstream: bool,
    /// Checks of the upstream's servers; not inherited.
    pub checks: Option<PlannedChecks>,
    /// Values of `set`.
    pub variables: BTreeMap<String, String>,
    /// Headers of `expires`, with its directive.
    pub expiry: Option<(Directive, Vec<(&'static str, String)>)>,
    /// Of locations and cookies of upstreams: what they say and what clients get. Without `proxy_redirect`, nginx has a rule of its own.
    pub locations: Option<Vec<(String, String)>>,
    pub cookie_paths: Vec<(String, String)>,
    pub cookie_domains: Vec<(String, String)>,
    /// Type of the texts that nginx itself answers with.
    pub default_type: Option<String>,
    /// What protects this level and has no counterpart.
    pub closed: Vec<String>,
}

impl Scope {
    /// The scope of a level within this one, of whose directives some replace what is inherited.
    pub(super) fn within(&self, directives: &[Directive]) -> Scope {
        let mut inner = Scope { checks: None, ..self.clone() };
        let has = |names: &[&str]| directives.iter().any(|directive| names.contains(&directive.name.as_str()));
        if has(&["proxy_set_header"]) {
            inner.request_headers.clear();
        }
        if has(&["add_header"]) {
            inner.response_headers.clear();
        }
        if has(&["proxy_redirect"]) {
            // `off` alone leaves no rule.
            inner.locations = Some(Vec::new());
        }
        if has(&["proxy_cookie_path"]) {
            inner.cookie_paths.clear();
        }
        if has(&["proxy_cookie_domain"]) {
            inner.cookie_domains.clear();
        }
        if has(&["allow", "deny"]) {
            inner.access.clear();
        }
        if has(&["limit_req"]) {
            inner.rate = None;
            inner.address_rates.clear();
        }
        inner
    }

    /// Takes a directive that is allowed at all levels.
    pub(super) fn take(
        &mut self,
        directive: &Directive,
        shared: &Shared,
        files: &mut NamedFiles,
        plan: &mut Plan,
        report: &mut ImportReport,
    ) {
        let place = &directive.place;
        let name = directive.name.as_str();
        let first = directive.word(0);
        match name {
            "proxy_set_header" => self.request_headers.push((directive.clone(), first.to_owned(), directive.word(1).to_owned())),
            "add_header" => self.response_headers.push((directive.clone(), first.to_owned(), directive.word(1).to_owned())),
            "default_type" => {
                self.default_type = Some(first.to_owned());
                report.carried(place, name);
            }
            "expires" => {
                let last = directive.words.last().map_or("", String::as_str);
                let control = |value: &str| ("Cache-Control", value.to_owned());
                let headers = match (last, milliseconds(last)) {
                    ("off", _) => Vec::new(),
                    ("epoch", _) => vec![("Expires", "Thu, 01 Jan 1970 00:00:01 GMT".to_owned()), control("no-cache")],
                    ("max", _) => vec![("Expires", "Thu, 31 Dec 2037 23:55:55 GMT".to_owned()), control("max-age=315360000")],
                    (last, _) if last.starts_with('-') => vec![control("no-cache")],
                    (_, Some(time)) => vec![control(&format!("max-age={}", time / 1_000))],
                    (_, None) => return report.not_carried(place, name, "is no time"),
                };
                self.expiry = Some((directive.clone(), headers));
            }
            "health_check" => {
                self.checks = Some(checks(directive));
                report.approximated(place, name, "good are statuses from 200 to 399, within two seconds");
            }
            "proxy_redirect" if matches!((directive.words.len(), first), (1, "default")) => {
                self.locations = None;
                report.approximated(place, name, "locations of the own server begin with its path, without scheme and host");
            }
            "proxy_redirect" | "proxy_cookie_path" | "proxy_cookie_domain" if directive.words.len() >= 2 => {
                self.replace_start(directive, report)
            }
            "proxy_cache_bypass" | "proxy_no_cache" if !shared.stores => {
                report.built_in(place, name, "nothing is cached here");
            }
            "keepalive_timeout" | "client_header_timeout" | "proxy_connect_timeout" => match shared.times.of(name) {
                Some((member, time_ms, is_of_all)) if time_ms > 0 => {
                    plan.timeouts.insert(member, time_ms);
                    match is_of_all {
                        true => report.carried(place, name),
                        false => report.approximated(place, name, "the longest of all times, for the whole gateway"),
                    }
                }
                _ => {
                    report_known(directive, report);
                }
            },
            "proxy_hide_header" => {
                self.hidden_headers.push(first.to_owned());
                report.carried(place, name);
            }
            "allow" | "deny" => {
                self.access.push((name == "allow", first.to_owned()));
                report.carried(place, name);
            }
            "auth_basic" => {
                self.basic = first != "off";
                report.carried(place, name);
            }
            "auth_basic_user_file" => users::read(directive, files, plan, report),
            "auth_request" => {
                self.asks = (first != "off").then(|| (first.to_owned(), place.clone()));
                report.carried(place, name);
            }
            "auth_request_set" => {
                self.asked_headers.push((first.to_owned(), directive.word(1).to_owned()));
                report.carried(place, name);
            }
            "satisfy" if first == "any" => {
                report.weakened(place, name, "stricter: both the address and the credentials must be right")
            }
            "satisfy" => report.carried(place, name),
            "client_max_body_size" => match bytes(first) {
                Some(most) if shared.body_bytes_max == Some(most) => {
                    plan.body_bytes_max = Some(most);
                    report.carried(place, name);
                }
                Some(most) => {
                    self.body_bytes_max = Some(most);
                    match most {
                        0 => report.carried(place, name),
                        _ => report.weakened(place, name, "stricter: bodies without a length are refused too"),
                    }
                }
                None => self.close(place, name, "is no size", report),
            },
            "proxy_read_timeout" | "grpc_read_timeout" => {
                self.timeout_ms = milliseconds(first).unwrap_or_default();
                match self.timeout_ms == STALL_MS {
                    true => report.carried(place, name),
                    false => report.approximated(place, name, "until the response begins, in whole seconds"),
                }
            }
            "proxy_send_timeout" | "grpc_send_timeout" if milliseconds(first) == Some(STALL_MS) => {
                report.built_in(place, name, "an upstream may take nothing of a request for so long");
            }
            "limit_req" => self.limit_requests(directive, shared, report),
            "limit_req_status" => match first.parse::<u16>().ok().filter(|status| (400..=599).contains(status)) {
                Some(444) => {
                    self.limit_status = Some(403);
                    report.approximated(place, name, "403 in place of a closed connection");
                }
                Some(status) => {
                    self.limit_status = Some(status);
                    report.carried(place, name);
                }
                None => report.not_carried(place, name, "is no status from 400 to 599"),
            },
            "limit_conn" => {
                let is_by_address = shared.connection_zones.get(first).is_some_and(|key| key.contains("remote_addr"));
                match directive.word(1).parse::<u32>() {
                    Ok(most) if is_by_address => {
                        plan.address_connections = plan.address_connections.max(most);
                        report.weakened(place, name, "connections of an address to the whole gateway; the largest number of all");
                    }
                    _ => self.close(place, name, "only connections of an address are counted", report),
                }
            }
            "proxy_cache" => {
                self.cache = (first != "off").then(PlannedCache::default);
                report.carried(place, name);
            }
            "proxy_cache_valid" => {
                let time = directive.words.last().and_then(|word| milliseconds(word)).map(|time| time / 1_000);
                let ok = directive.words.len() == 1 || directive.words.iter().any(|word| word == "200" || word == "any");
                if ok {
                    self.cache_time_s = time.or(self.cache_time_s);
                    report.approximated(place, name, "one time for all responses with 200, whatever their Cache-Control says");
                } else {
                    report.not_carried(place, name, "only responses with 200 are stored");
                }
            }
            "proxy_next_upstream" => {
                let statuses = directive
                    .words
                    .iter()
                    .filter_map(|word| word.strip_prefix("http_")?.parse().ok())
                    .filter(|status| *status >= 500);
                let tries = if first == "off" { 1 } else { 3 };
                self.retries = Some(PlannedRetries { tries, statuses: statuses.collect() });
                report.approximated(place, name, "three tries, of idempotent requests");
            }
            "proxy_next_upstream_tries" => {
                let tries = first.parse().unwrap_or(3);
                self.retries.get_or_insert_default().tries = if tries == 0 { 10 } else { tries };
                report.carried(place, name);
            }
            "proxy_ssl_verify" => {
                self.verifies_upstream = first == "on";
                report.carried(place, name);
            }
            "set_real_ip_from" => match first.parse::<IpNet>().or_else(|_| first.parse::<IpAddr>().map(IpNet::from)) {
                Ok(network) => {
                    plan.trusted_proxies.push(network);
                    report.carried(place, name);
                }
                Err(_) => report.not_carried(place, name, "is no network"),
            },
            "real_ip_header" => {
                plan.client_header = Some(first.to_owned());
                report.carried(place, name);
            }
            "real_ip_recursive" => report.approximated(place, name, "trusted proxies are always skipped"),
            "set" => {
                self.variables.insert(first.trim_start_matches('$').to_owned(), directive.word(1).to_owned());
                report.carried(place, name);
            }
            "ssl_verify_client" if first != "off" => self.close(place, name, "certificates of clients are not asked for", report),
            "ssl_verify_client" => report.carried(place, name),
            _ if self.compression.take(directive, shared.compresses, report) => {}
            _ => {
                let protects = report_known(directive, report);
                self.closed.extend(protects);
            }
        }
    }

    /// Something protects this level and is not carried over.
    pub(super) fn close(&mut self, place: &Place, name: &str, why: &str, report: &mut ImportReport) {
        report.unprotected(place, name, why);
        self.closed.push(format!("{name} at line {}: {why}", place.line));
    }

    /// A text at the start of locations or of the paths of cookies, or a domain, and what takes its place.
    fn replace_start(&mut self, directive: &Directive, report: &mut ImportReport) {
        let (place, name) = (&directive.place, directive.name.as_str());
        let (from, to) = (directive.word(0).to_owned(), directive.word(1).to_owned());
        if from.starts_with('~') || [&from, &to].iter().any(|text| text.contains('$')) || directive.words.len() > 2 {
            return report.not_carried(place, name, "texts without expressions and variables can be replaced");
        }
        match name {
            "proxy_redirect" => self.locations.get_or_insert_default(),
            "proxy_cookie_path" => &mut self.cookie_paths,
            _ => &mut self.cookie_domains,
        }
        .push((from, to));
        report.carried(place, name);
    }

    fn limit_requests(&mut self, directive: &Directive, shared: &Shared, report: &mut ImportReport) {
        let place = &directive.place;
        let named = |start: &str| directive.words.iter().find_map(|word| word.strip_prefix(start));
        let Some((key, rate)) = named("zone=").and_then(|zone| shared.rate_zones.get(zone)) else {
            return self.close(place, "limit_req", "its zone is not defined", report);
        };
        let burst: f64 = named("burst=").and_then(|burst| burst.parse().ok()).unwrap_or(0.0);
        // nginx lets a burst of requests pass and then one each interval: so do ours, with this many at once.
        let requests = burst + 1.0;
        let rate = PlannedRate { requests, per_s: requests * rate.per_s / rate.requests };
        match key.as_str() {
            "$binary_remote_addr" | "$remote_addr" => {
                let counter = format!("{}, burst {burst}", named("zone=").unwrap_or_default());
                self.address_rates.push(PlannedAddressRate { rate, counter, header: None });
                report.carried(place, "limit_req");
            }
            "$server_name" | "$host" | "$http_host" => {
                self.rate = Some(rate);
                report.carried(place, "limit_req");
            }
            key if key.starts_with("$http_") && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"$_".contains(&byte)) => {
                let header = key.trim_start_matches("$http_").replace('_', "-");
                let counter = format!("{}, burst {burst}", named("zone=").unwrap_or_default());
                self.address_rates.push(PlannedAddressRate { rate, counter, header: Some(header) });
                report.weakened(place, "limit_req", "stricter: requests without the header are counted together");
            }
            key => self.close(place, "limit_req", &format!("requests cannot be counted by {key}"), report),
        }
    }

    /// The access rules as lists of allowed and blocked networks, or why they cannot be lists.
    pub(super) fn lists(&self) -> Result<(Vec<String>, Vec<String>), String> {
        let (mut allowed, mut blocked) = (Vec::new(), Vec::new());
        for (allows, network) in &self.access {
            match (allows, network.as_str()) {
                (true, "all") => return if allowed.is_empty() { Ok((Vec::new(), blocked)) } else { exceptions(&allowed, blocked) },
                (false, "all") => {
                    // Nobody is in an empty list of allowed networks, which would admit everybody.
                    let nobody = vec!["255.255.255.255".to_owned()];
                    return Ok((if allowed.is_empty() { nobody } else { allowed }, blocked));
                }
                (true, "unix:") | (false, "unix:") => {}
                (true, network) => {
                    checked(network)?;
                    allowed.push(network.to_owned());
                }
                (false, network) => {
                    checked(network)?;
                    blocked.push(network.to_owned());
                }
            }
        }
        if allowed.is_empty() { Ok((allowed, blocked)) } else { exceptions(&allowed, blocked) }
    }

    /// Whether nobody may come.
    pub(super) fn denies_all(&self) -> bool {
        matches!(self.access.first(), Some((false, network)) if network == "all")
    }
}

/// Everybody may come but some, with exceptions: only if the exceptions mean nothing.
fn exceptions(allowed: &[String], blocked: Vec<String>) -> Result<(Vec<String>, Vec<String>), String> {
    if blocked.is_empty() {
        return Ok((Vec::new(), blocked));
    }
    Err(format!("{} is allowed before a larger network is denied, which two lists cannot say", allowed.join(", ")))
}

fn checked(network: &str) -> Result<(), String> {
    let is_network = network.parse::<ipnet::IpNet>().is_ok() || network.parse::<std::net::IpAddr>().is_ok();
    if is_network { Ok(()) } else { Err(format!("{network} is no address or network")) }
}

fn checks(directive: &Directive) -> PlannedChecks {
    let mut checks =
        PlannedChecks { path: "/".to_owned(), interval_ms: 5_000, timeout_ms: 2_000, rise: 1, fall: 1, statuses: Vec::new() };
    for (name, value) in directive.words.iter().filter_map(|word| word.split_once('=')) {
        match name {
            "uri" if value.starts_with('/') => checks.path = value.to_owned(),
            "interval" => {
                checks.interval_ms = milliseconds(value).unwrap_or(checks.interval_ms).clamp(1, UpstreamRules::TIME_MS_MAX)
            }
            "fails" => checks.fall = value.parse().unwrap_or(checks.fall).max(1),
            "passes" => checks.rise = value.parse().unwrap_or(checks.rise).max(1),
            _ => {}
        }
    }
    checks
}
