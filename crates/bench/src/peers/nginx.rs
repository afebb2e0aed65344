//! nginx: `map` for keys, `limit_req` for limits, `limit_except` for methods. It has no quota. Its limit is a leaky bucket; a burst
//! of the limit's size turns it into a limit of requests per period.

use super::settings::{Need, PROXY, beyond, key, limits};
use super::{Launch, PeerAdapter, Program, Reload, Setup, TLS_GROUP, TLS_SUITE};
use crate::scenario::{Auth, Case, LimitSpec};
use std::fmt::Write;

pub(crate) struct NginxAdapter;

impl PeerAdapter for NginxAdapter {
    fn name(&self) -> &'static str {
        "nginx"
    }

    fn program(&self) -> Option<&'static str> {
        Some("nginx")
    }

    fn version_arguments(&self) -> &'static [&'static str] {
        &["-v"]
    }

    fn cannot(&self, case: &Case) -> Option<String> {
        if limits(case).iter().any(|limit| per_minute(*limit) == 0) {
            return Some("has no limit below one request a minute".to_owned());
        }
        let can: Vec<_> = PROXY.into_iter().chain([Need::Cache]).collect();
        beyond(case, &can)
    }

    fn prepare(&self, setup: &Setup) -> Result<Launch, String> {
        let file = setup.write("nginx.conf", configuration(setup))?;
        let program = Program::new("nginx", &setup.program).args(["-e", "stderr", "-c"]).args([&file]);
        Ok(Launch::of(program, vec![file]))
    }

    fn can_reload(&self) -> bool {
        true
    }

    fn reload(&self, _setup: &Setup) -> Option<Reload> {
        Some(Reload::Hangup)
    }
}

fn configuration(setup: &Setup) -> String {
    let dir = setup.dir.display();
    let mut maps = String::new();
    let mut locations = String::new();
    for (index, case) in setup.cases.iter().enumerate() {
        // Writing into a String cannot fail.
        let _ = write!(maps, "{}", tables(index, case));
        for listen in case.listens() {
            let _ =
                write!(locations, "    location {listen} {{\n{}    }}\n", location(index, case, &setup.dir.display().to_string()));
        }
    }
    let temp: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("  {kind}_temp_path {dir}/{kind};\n"))
        .collect();
    let user = if rustix::process::geteuid().is_root() { "user root;\n" } else { "" };
    format!(
        "{user}daemon off;
worker_processes {threads};
worker_rlimit_nofile 65536;
pid {dir}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 16384; }}
http {{
{temp}{cache}  access_log off;
  keepalive_timeout 600s;
  keepalive_requests 100000000;
  client_max_body_size 0;
  server_names_hash_bucket_size 128;
  upstream backend {{
    server {upstream};
    keepalive 4096;
    keepalive_requests 100000000;
    keepalive_timeout 600s;
  }}
{maps}  server {{
    listen {address} backlog=4096{listen};
{tls}    proxy_http_version 1.1;
    proxy_set_header Connection \"\";
    proxy_request_buffering off;
    proxy_max_temp_file_size 0;
    limit_req_status 429;
    limit_req_log_level info;
{locations}  }}
}}
",
        cache = cache(setup),
        listen = listen(setup),
        tls = tls(setup),
        threads = setup.threads,
        upstream = setup.upstream,
        address = setup.listen(),
    )
}

/// Its cache, as large as Tollgate's by default. Files stay open, so that a hit costs no more system calls than necessary.
fn cache(setup: &Setup) -> String {
    if !setup.cases.iter().any(|case| case.api.cache) {
        return String::new();
    }
    let dir = setup.dir.display();
    format!(
        "  proxy_cache_path {dir}/cache levels=1:2 keys_zone=responses:32m max_size=256m inactive=1h use_temp_path=off;\n  \
         open_file_cache max=20000 inactive=60s;\n  sendfile on;\n  tcp_nopush on;\n"
    )
}

/// HTTP/2 and TLS parameters of its port.
fn listen(setup: &Setup) -> String {
    let http2 = if setup.speaks_http2() { " http2" } else { "" };
    let tls = if setup.certificate.is_some() { " ssl" } else { "" };
    format!("{tls}{http2}")
}

fn tls(setup: &Setup) -> String {
    let Some(files) = setup.certificate else { return String::new() };
    format!(
        "    ssl_certificate {}; ssl_certificate_key {}; ssl_protocols TLSv1.3;\n    \
         ssl_conf_command Ciphersuites {TLS_SUITE}; ssl_ecdh_curve {TLS_GROUP};\n",
        files.certificate.display(),
        files.key.display(),
    )
}

/// Directives outside of servers: known keys, and zones of limits.
fn tables(index: usize, case: &Case) -> String {
    let mut text = String::new();
    let caller = match key(case) {
        Some((auth, value)) => {
            let _ = writeln!(text, "  map {} $known_{index} {{ default 0; \"{value}\" 1; }}", variable(auth));
            variable(auth)
        }
        None => "$server_name".to_owned(),
    };
    for (number, limit) in limits(case).into_iter().enumerate() {
        let rate = if limit.seconds == 1 { format!("{}r/s", limit.requests) } else { format!("{}r/m", per_minute(limit)) };
        let _ = writeln!(text, "  limit_req_zone {caller} zone=limit_{index}_{number}:1m rate={rate};");
    }
    text
}

fn location(index: usize, case: &Case, dir: &str) -> String {
    let mut lines = Vec::new();
    if case.api.auth.is_some() {
        lines.push(format!("if ($known_{index} = 0) {{ return 401; }}"));
    }
    for (number, limit) in limits(case).into_iter().enumerate() {
        let burst = match limit.requests - 1 {
            0 => String::new(),
            burst => format!(" burst={} nodelay", burst.min(1_000_000)),
        };
        lines.push(format!("limit_req zone=limit_{index}_{number}{burst};"));
    }
    if let Some(methods) = case.key.as_ref().map(|key| &key.methods).filter(|methods| !methods.is_empty()) {
        lines.push(format!("limit_except {} {{ deny all; }}", methods.join(" ")));
    }
    if !case.api.allow_ips.is_empty() {
        lines.extend(case.api.allow_ips.iter().map(|address| format!("allow {address};")));
        lines.push("deny all;".to_owned());
    }
    if case.request.websocket {
        lines.push("proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;".to_owned());
    } else if !case.api.set_headers.is_empty() {
        // Setting one header drops the inherited ones.
        lines.push("proxy_set_header Connection \"\";".to_owned());
    }
    lines.extend(case.api.set_headers.iter().map(|(name, value)| format!("proxy_set_header {name} \"{value}\";")));
    lines.extend(case.api.set_response_headers.iter().map(|(name, value)| format!("add_header {name} \"{value}\" always;")));
    if case.api.cache {
        lines.push("proxy_cache responses;".to_owned());
    }
    if case.api.analytics {
        lines.push(format!("access_log {dir}/access-{index}.log combined buffer=64k flush=1s;"));
    }
    lines.push("proxy_pass http://backend/;".to_owned());
    lines.iter().map(|line| format!("      {line}\n")).collect()
}

fn variable(auth: &Auth) -> String {
    match auth {
        Auth::Header(name) => format!("$http_{}", name.to_ascii_lowercase().replace('-', "_")),
        Auth::Query(name) => format!("$arg_{name}"),
    }
}

/// Converts a limit to requests per minute: nginx supports only rates per second and per minute.
fn per_minute(limit: LimitSpec) -> u64 {
    limit.requests.saturating_mul(60) / limit.seconds
}
