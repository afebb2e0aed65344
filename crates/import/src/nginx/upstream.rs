//! `upstream`: its servers and how one is chosen.

use super::directive::Directive;
use super::report_known;
use super::value::milliseconds;
use crate::plan::{PlannedBalance, PlannedTarget};
use crate::report::ImportReport;

/// The servers of an upstream; targets are without a scheme.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedUpstream {
    pub targets: Vec<PlannedTarget>,
    pub balance: PlannedBalance,
    pub health: Option<(u32, u64)>,
    pub sticky_cookie: Option<String>,
}

pub(super) fn read(directive: &Directive, report: &mut ImportReport) -> NamedUpstream {
    report.carried(&directive.place, "upstream");
    let mut upstream = NamedUpstream::default();
    let mut health = (1, 10);
    for inner in directive.inner() {
        let place = &inner.place;
        match inner.name.as_str() {
            "server" => server(inner, &mut upstream, &mut health, report),
            "least_conn" => {
                upstream.balance = PlannedBalance::LeastRequests;
                report.approximated(place, "least_conn", "the better of two random servers");
            }
            "ip_hash" => {
                upstream.balance = PlannedBalance::HashAddress;
                report.approximated(place, "ip_hash", "the whole address is hashed");
            }
            "random" => {
                upstream.balance = PlannedBalance::Random;
                report.carried(place, "random");
            }
            "least_time" => {
                upstream.balance = PlannedBalance::Latency;
                report.approximated(place, "least_time", "the better of two random servers by latency");
            }
            "hash" => match hash(inner.word(0)) {
                Some(balance) => {
                    upstream.balance = balance;
                    report.carried(place, "hash");
                }
                None => report.not_carried(place, "hash", "addresses, headers, cookies and paths can be hashed"),
            },
            "sticky" if inner.word(0) == "cookie" => {
                upstream.sticky_cookie = Some(inner.word(1).to_owned());
                report.approximated(place, "sticky", "with a cookie of the gateway's own form");
            }
            _ => {
                report_known(inner, report);
            }
        }
    }
    upstream.health = (upstream.targets.len() > 1 && health.0 > 0).then_some(health);
    upstream
}

fn server(inner: &Directive, upstream: &mut NamedUpstream, health: &mut (u32, u64), report: &mut ImportReport) {
    let place = &inner.place;
    let address = inner.word(0);
    if address.starts_with("unix:") {
        return report.not_carried(place, "server", "upstreams are reached over TCP, not over sockets of the file system");
    }
    let mut weight = 1;
    let mut notes = Vec::new();
    for word in inner.words.iter().skip(1) {
        match word.split_once('=').unwrap_or((word, "")) {
            ("weight", value) => weight = value.parse().unwrap_or(1),
            ("max_fails", value) => health.0 = value.parse().unwrap_or(1),
            ("fail_timeout", value) => health.1 = milliseconds(value).unwrap_or(10_000) / 1_000,
            ("down", _) => return report.carried(place, "server"),
            ("backup", _) => {
                let how = "a server for emergencies only has no counterpart, and is left out";
                return report.not_carried(place, "server", how);
            }
            ("resolve", _) => {}
            (name, _) => notes.push(format!("{name} has no counterpart")),
        }
    }
    upstream.targets.push(PlannedTarget { url: address.to_owned(), weight });
    match notes.is_empty() {
        true => report.carried(place, "server"),
        false => report.approximated(place, "server", notes.join("; ")),
    }
}

fn hash(key: &str) -> Option<PlannedBalance> {
    Some(match key {
        "$remote_addr" | "$binary_remote_addr" => PlannedBalance::HashAddress,
        "$request_uri" | "$uri" => PlannedBalance::HashPath,
        key => match (key.strip_prefix("$cookie_"), key.strip_prefix("$http_")) {
            (Some(name), _) => PlannedBalance::HashCookie(name.to_owned()),
            (_, Some(name)) => PlannedBalance::HashHeader(name.replace('_', "-")),
            _ => return None,
        },
    })
}
