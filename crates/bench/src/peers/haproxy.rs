//! HAProxy: stick tables for limits, rules on header or parameter for keys. It has no quota.

use super::settings::{PROXY, beyond, key, limits};
use super::{Launch, PeerAdapter, Program, Setup, TLS_GROUP, TLS_SUITE};
use crate::scenario::{Auth, Case};
use std::fmt::Write;

/// Number of counters that can track a request, as compiled in.
const TRACKERS: usize = 3;

pub(crate) struct HaproxyAdapter;

impl PeerAdapter for HaproxyAdapter {
    fn name(&self) -> &'static str {
        "haproxy"
    }

    fn program(&self) -> Option<&'static str> {
        Some("haproxy")
    }

    fn version_arguments(&self) -> &'static [&'static str] {
        &["-v"]
    }

    fn cannot(&self, case: &Case) -> Option<String> {
        if limits(case).len() > TRACKERS {
            return Some(format!("tracks a request by at most {TRACKERS} counters"));
        }
        beyond(case, &PROXY)
    }

    fn prepare(&self, setup: &Setup) -> Result<Launch, String> {
        let mut rules = String::new();
        let mut tables = String::new();
        for (index, case) in setup.cases.iter().enumerate() {
            let listens: String = case.listens().map(|listen| format!("{listen} {index}\n")).collect();
            let map = setup.write(&format!("listen-{index}.map"), listens)?;
            // Writing into a String cannot fail.
            let _ = writeln!(rules, "  acl case_{index} path,map_beg({}) -m found", map.display());
        }
        let any: Vec<_> = (0..setup.cases.len()).map(|index| format!("!case_{index}")).collect();
        let _ = writeln!(rules, "  http-request deny deny_status 404 if {}", any.join(" "));
        for (index, case) in setup.cases.iter().enumerate() {
            for line in case_rules(index, case) {
                let _ = writeln!(rules, "  {line}");
            }
            for (number, limit) in limits(case).into_iter().enumerate() {
                let _ = writeln!(
                    tables,
                    "backend limit_{index}_{number}\n  stick-table type string len 64 size 100k expire {}s store http_req_rate({}s)",
                    limit.seconds.saturating_mul(2).max(10),
                    limit.seconds
                );
            }
        }
        let file = setup.write("haproxy.cfg", configuration(setup, &rules, &tables))?;
        let program = Program::new("haproxy", &setup.program).args(["-db", "-f"]).args([&file]);
        Ok(Launch::of(program, vec![file]))
    }
}

fn configuration(setup: &Setup, rules: &str, tables: &str) -> String {
    format!(
        "global
  nbthread {threads}
  maxconn 20000
  no strict-limits
defaults
  mode http
  http-reuse always
  timeout connect 5s
  timeout client 600s
  timeout server 600s
  timeout http-keep-alive 600s
frontend clients
  bind {listen} backlog 4096{bind}
{rules}  default_backend upstream
backend upstream
  server one {upstream} pool-purge-delay 600s
{tables}",
        bind = bind(setup),
        threads = setup.threads,
        listen = setup.listen(),
        upstream = setup.upstream,
    )
}

/// TLS and HTTP/2 settings of its port.
fn bind(setup: &Setup) -> String {
    match setup.certificate {
        Some(files) => {
            let alpn = if setup.speaks_http2() { "h2,http/1.1" } else { "http/1.1" };
            let both = files.both.display();
            format!(" ssl crt {both} alpn {alpn} ssl-min-ver TLSv1.3 ciphersuites {TLS_SUITE} curves {TLS_GROUP}")
        }
        None if setup.speaks_http2() => " proto h2".to_owned(),
        None => String::new(),
    }
}

fn case_rules(index: usize, case: &Case) -> Vec<String> {
    let on = format!("case_{index}");
    let mut rules = Vec::new();
    let caller = match key(case) {
        Some((auth, value)) => {
            let caller = match auth {
                Auth::Header(name) => format!("req.hdr({name})"),
                Auth::Query(name) => format!("url_param({name})"),
            };
            rules.push(format!("http-request deny deny_status 401 if {on} !{{ {caller} -m str {value} }}"));
            caller
        }
        None => "str(all)".to_owned(),
    };
    if let Some(methods) = case.key.as_ref().map(|key| &key.methods).filter(|methods| !methods.is_empty()) {
        rules.push(format!("http-request deny deny_status 403 if {on} !{{ method {} }}", methods.join(" ")));
    }
    if !case.api.allow_ips.is_empty() {
        rules.push(format!("http-request deny deny_status 403 if {on} !{{ src {} }}", case.api.allow_ips.join(" ")));
    }
    for (number, limit) in limits(case).into_iter().enumerate() {
        let table = format!("limit_{index}_{number}");
        rules.push(format!("http-request track-sc{number} {caller} table {table} if {on}"));
        rules.push(format!(
            "http-request deny deny_status 429 if {on} {{ sc_http_req_rate({number},{table}) gt {} }}",
            limit.requests
        ));
    }
    rules.extend(case.api.set_headers.iter().map(|(name, value)| format!("http-request set-header {name} \"{value}\" if {on}")));
    if !case.api.set_response_headers.is_empty() {
        rules.push(format!("http-request set-var(txn.case) int({index}) if {on}"));
    }
    rules.extend(
        case.api
            .set_response_headers
            .iter()
            .map(|(name, value)| format!("http-response set-header {name} \"{value}\" if {{ var(txn.case) -m int {index} }}")),
    );
    if case.api.analytics {
        rules.push("log stdout format raw local0 info".to_owned());
        rules.push("option httplog".to_owned());
        rules.push(format!("http-request set-log-level silent if !{on}"));
    }
    let depth = case.listen().matches('/').count() + 1;
    // Fields count from 1, and the first one is the empty one before the first slash.
    rules.push(format!("http-request set-path /%[path,field({depth},/,0)] if {on}"));
    rules
}
