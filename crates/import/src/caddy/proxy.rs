//! `reverse_proxy`: upstreams, their balance and checks, and headers on the way.

use super::address::target;
use super::directive::edit;
use super::lines::CaddyLine;
use crate::plan::{PlannedAction, PlannedBalance, PlannedChecks, PlannedRetries, PlannedRoute, PlannedTarget, PlannedUpstream};
use crate::report::ImportReport;

/// What has one argument.
const SINGLE: [&str; 8] =
    ["lb_retries", "health_uri", "health_path", "health_interval", "health_timeout", "health_status", "max_fails", "fail_duration"];

/// `words`: the upstreams in the line itself.
pub(super) fn reverse_proxy(line: &CaddyLine, words: &[String], route: &mut PlannedRoute, report: &mut ImportReport) {
    let place = &line.place;
    let to = line.inner().iter().filter(|inner| inner.word(0) == "to").flat_map(|inner| inner.from(1));
    for address in words.iter().filter(|address| target(address).is_none()) {
        report.not_carried(place, "reverse_proxy.to", format!("{address} is no address of an upstream over TCP"));
    }
    let is_whole = words.iter().all(|address| target(address).is_some());
    let targets: Vec<PlannedTarget> = words.iter().chain(to).filter_map(|address| target(address)).collect();
    let mut upstream = PlannedUpstream { targets, balance: PlannedBalance::Random, ..PlannedUpstream::default() };
    let (mut fails, mut gone_s) = (1, 0);
    for inner in line.inner() {
        let title = format!("reverse_proxy.{}", inner.word(0));
        let place = &inner.place;
        if SINGLE.contains(&inner.word(0)) && inner.words.len() != 2 {
            report.not_carried(place, title, "has one argument");
            continue;
        }
        match inner.word(0) {
            "to" => match inner.from(1).iter().find(|address| target(address).is_none()) {
                _ if inner.from(1).is_empty() => report.not_carried(place, title, "has no address"),
                Some(address) => report.not_carried(place, title, format!("{address} is no address of an upstream over TCP")),
                None => report.carried(place, title),
            },
            "flush_interval" => report.approximated(place, title, "the gateway streams bodies"),
            "lb_policy" | "lb" => match balance(inner, &mut upstream) {
                true => report.carried(place, title),
                false => report.approximated(place, title, "targets are chosen at random"),
            },
            "lb_retries" => match inner.word(1).parse::<u32>() {
                Ok(retries) => {
                    route.retries = Some(PlannedRetries { tries: retries + 1, statuses: Vec::new() });
                    report.carried(place, title);
                }
                Err(_) => report.not_carried(place, title, "is no number"),
            },
            "lb_try_duration" | "lb_try_interval" => report.approximated(place, title, "retries are counted, not timed"),
            "health_uri" | "health_path" => {
                upstream.checks.get_or_insert_with(usual).path = inner.word(1).to_owned();
                report.carried(place, title);
            }
            "health_interval" | "health_timeout" | "health_status" => health(inner, &mut upstream, &title, report),
            "max_fails" => match inner.word(1).parse() {
                Ok(number) => {
                    fails = number;
                    report.carried(place, title);
                }
                Err(_) => report.not_carried(place, title, "is no number"),
            },
            "fail_duration" => match milliseconds(inner.word(1)) {
                Some(time) => {
                    gone_s = time.div_ceil(1_000);
                    report.carried(place, title);
                }
                None => report.not_carried(place, title, "is no duration"),
            },
            "header_up" if inner.word(1).eq_ignore_ascii_case("host") => {
                let value = inner.word(2);
                match (value.contains('{'), value) {
                    (_, "{host}" | "{http.request.host}") => report.carried(place, title),
                    (_, "{upstream_hostport}" | "{http.reverse_proxy.upstream.hostport}") => {
                        let first = upstream.targets.first().and_then(|target| target.url.split_once("://"));
                        route.upstream_host = first.map(|(_, host)| host.to_owned());
                        report.approximated(place, title, "that of the first upstream");
                    }
                    (false, host) if !host.is_empty() => {
                        route.upstream_host = Some(host.to_owned());
                        report.carried(place, title);
                    }
                    _ => report.not_carried(place, title, format!("{value} has no counterpart")),
                }
            }
            // The gateway sends these itself.
            "header_up" if matches!(inner.word(1), "X-Real-IP" | "X-Forwarded-For") && inner.word(2).contains("remote") => {
                report.carried(place, title);
            }
            "header_up" => edit(inner.from(1), &title, place, &mut route.request_headers, report),
            "header_down" => edit(inner.from(1), &title, place, &mut route.response_headers, report),
            "transport" => transport(inner, &mut upstream, report),
            _ => report.not_carried(place, title, "has no counterpart, or is not read"),
        }
    }
    if gone_s > 0 {
        upstream.health = Some((fails, gone_s));
    }
    if upstream.targets.is_empty() {
        report.not_carried(place, "reverse_proxy", "has no upstream over TCP; the route answers 502");
        route.action = PlannedAction::Answer { status: 502, body: String::new(), headers: Vec::new() };
    } else {
        match is_whole {
            true => report.carried(place, "reverse_proxy"),
            false => report.approximated(place, "reverse_proxy", "without the upstreams that are no addresses over TCP"),
        }
        route.action = PlannedAction::Forward(upstream);
    }
}

fn usual() -> PlannedChecks {
    PlannedChecks { path: "/".to_owned(), interval_ms: 30_000, timeout_ms: 5_000, rise: 1, fall: 1, statuses: Vec::new() }
}

fn health(line: &CaddyLine, upstream: &mut PlannedUpstream, title: &str, report: &mut ImportReport) {
    let checks = upstream.checks.get_or_insert_with(usual);
    match (line.word(0), milliseconds(line.word(1)), line.word(1).parse::<u16>()) {
        ("health_interval", Some(time), _) => checks.interval_ms = time,
        ("health_timeout", Some(time), _) => checks.timeout_ms = time,
        ("health_status", _, Ok(status)) => checks.statuses = vec![status],
        _ => return report.approximated(&line.place, title, "the gateway's default"),
    }
    report.carried(&line.place, title);
}

fn balance(line: &CaddyLine, upstream: &mut PlannedUpstream) -> bool {
    let words = match line.word(1) {
        "header" => 3..=3,
        "cookie" => 2..=4,
        _ => 2..=2,
    };
    if !words.contains(&line.words.len()) {
        return false;
    }
    upstream.balance = match line.word(1) {
        "random" => PlannedBalance::Random,
        "round_robin" => PlannedBalance::RoundRobin,
        "least_conn" => PlannedBalance::LeastRequests,
        "ip_hash" | "client_ip_hash" => PlannedBalance::HashAddress,
        "uri_hash" => PlannedBalance::HashPath,
        "header" => PlannedBalance::HashHeader(line.word(2).to_owned()),
        "cookie" => {
            let name = if line.word(2).is_empty() { "lb" } else { line.word(2) };
            upstream.sticky_cookie = Some(name.to_owned());
            PlannedBalance::Random
        }
        _ => return false,
    };
    true
}

fn transport(line: &CaddyLine, upstream: &mut PlannedUpstream, report: &mut ImportReport) {
    for inner in line.inner() {
        let title = format!("reverse_proxy.transport.{}", inner.word(0));
        match inner.word(0) {
            "tls" => {
                for target in &mut upstream.targets {
                    if let Some(rest) = target.url.strip_prefix("http://") {
                        target.url = format!("https://{rest}");
                    }
                }
                report.carried(&inner.place, title);
            }
            "tls_insecure_skip_verify" => {
                upstream.accepts_any_certificate = true;
                report.carried(&inner.place, title);
            }
            "tls_client_auth" | "tls_trusted_ca_certs" | "tls_trust_pool" | "tls_server_name" => {
                report.not_carried(
                    &inner.place,
                    title,
                    "certificates for upstreams: `proxy.transport` and `upstream_certificates`",
                );
            }
            _ => report.approximated(&inner.place, title, "the gateway's own limits of connections"),
        }
    }
    report.carried(&line.place, "reverse_proxy.transport");
}

/// `10s`, `500ms`, `1m30s`.
fn milliseconds(text: &str) -> Option<u64> {
    let mut all = 0_u64;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, behind) = rest.split_at(digits);
        let unit_end = behind.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, after) = behind.split_at(unit_end);
        let factor = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        all = all.checked_add(number.parse::<u64>().ok()?.checked_mul(factor)?)?;
        rest = after;
    }
    Some(all)
}
