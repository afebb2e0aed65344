//! Plugins of APISIX: what each means for a route or a consumer.

use super::ApisixReader;
use crate::node::{Member, Node};
use crate::pattern;
use crate::plan::{
    AuthWay, ConsumerCredential, PathChange, PlannedAction, PlannedAddressRate, PlannedCache, PlannedConsumer, PlannedCors,
    PlannedRate, PlannedRedirect, PlannedRoute,
};

/// Plugins that only observe.
const OBSERVING: &[&str] = &[
    "prometheus",
    "zipkin",
    "skywalking",
    "opentelemetry",
    "http-logger",
    "file-logger",
    "kafka-logger",
    "tcp-logger",
    "udp-logger",
    "syslog",
    "sls-logger",
    "clickhouse-logger",
    "elasticsearch-logger",
    "loki-logger",
    "datadog",
    "error-log-logger",
    "google-cloud-logging",
    "rocketmq-logger",
    "skywalking-logger",
    "splunk-hec-logging",
    "loggly",
    "log-rotate",
    "node-status",
    "server-info",
    "public-api",
    "tencent-cloud-cls",
    "lago",
];

/// Plugins that keep somebody or something out and have no counterpart.
const PROTECTING: &[(&str, &str)] = &[
    ("ldap-auth", "there is no LDAP"),
    ("wolf-rbac", "there is no server of this kind"),
    ("authz-keycloak", "set scopes with `tollgate.scope_check`"),
    ("authz-casbin", "set rights in policies"),
    ("authz-casdoor", "set `jwt_source` with the issuer's key set"),
    ("cas-auth", "there is no CAS"),
    ("opa", "name the service with `tollgate.forward_auth`"),
    ("multi-auth", "set `tollgate.auth_alternatives`"),
    ("referer-restriction", "requests are not told apart by their referrer"),
    ("ua-restriction", "clients are not told apart by their User-Agent"),
    ("uri-blocker", "set `black_list`"),
    ("csrf", "there are no tokens of this kind"),
    ("request-validation", "set `validate_json`, or write an OpenAPI document"),
    ("chaitin-waf", "the firewall here is `tollgate.waf`, with rules of its own"),
    ("coraza-filter", "the firewall here is `tollgate.waf`, with rules of its own"),
    ("serverless-pre-function", "programs are not carried over, and this one runs before all else"),
    ("ext-plugin-pre-req", "programs are not carried over, and this one runs before all else"),
    ("limit-conn", "requests in flight are not counted by key"),
    ("jwe-decrypt", "tokens are not decrypted"),
];

/// Plugins that act here, and whose fields may each restrict who may call.
const RESTRICTING: &[&str] = &[
    "key-auth",
    "basic-auth",
    "jwt-auth",
    "hmac-auth",
    "openid-connect",
    "forward-auth",
    "consumer-restriction",
    "ip-restriction",
];

pub(super) fn apply(plugin: &Member, route: &mut PlannedRoute, reader: &mut ApisixReader<'_>) {
    let config = &plugin.node;
    let name = plugin.key.as_str();
    let title = format!("plugins.{name}");
    let place = reader.place(plugin.line);
    if config.get("_meta").get("disable").is_true() || config.get("disable").is_true() {
        config.settle();
        return reader.report.carried(&place, title);
    }
    if OBSERVING.contains(&name) {
        return reader.report.approximated(&place, title, "the gateway has metrics, logs, traces and analytics of its own");
    }
    if let Some((_, why)) = PROTECTING.iter().find(|(known, _)| *known == name) {
        return reader.closes(route, &title, why, plugin.line);
    }
    if let Some(known) = act(plugin, route, reader) {
        for member in config.members() {
            let place = reader.place(member.line);
            let field = format!("{title}.{}", member.key);
            match known.contains(&member.key.as_str()) || member.node.is_empty() || member.key == "_meta" {
                true => reader.report.carried(&place, field),
                false if member.key == "enable" && member.node.is_true() => {
                    reader.report.built_in(&place, field, "a plugin that is written acts");
                }
                // A condition that is left out would admit more.
                false if RESTRICTING.contains(&name) => reader.closes(route, &field, "has no counterpart", member.line),
                false => reader.report.not_carried(&place, field, "has no counterpart"),
            }
        }
    }
}

/// Applies a plugin; the result are the fields that act, or `None` if the plugin does not.
fn act(plugin: &Member, route: &mut PlannedRoute, reader: &mut ApisixReader<'_>) -> Option<&'static [&'static str]> {
    let config = &plugin.node;
    let name = plugin.key.as_str();
    let title = format!("plugins.{name}");
    let place = reader.place(plugin.line);
    let text = |key: &str| Some(config.get(key).text().to_owned()).filter(|text| !text.is_empty());
    let known: &'static [&'static str] = match name {
        "key-auth" => {
            let header = text("header").unwrap_or_else(|| "apikey".to_owned());
            let query = Some(text("query").unwrap_or_else(|| "apikey".to_owned()));
            route.auth.ways.push(AuthWay::Key { header, query, cookie: None });
            route.auth.strips |= config.get("hide_credentials").is_true();
            &["header", "query", "hide_credentials"]
        }
        "basic-auth" => {
            route.auth.ways.push(AuthWay::Basic);
            route.auth.strips |= config.get("hide_credentials").is_true();
            &["hide_credentials"]
        }
        "jwt-auth" => {
            let (header, query, cookie) = (
                text("header"),
                text("query").or_else(|| Some("jwt".to_owned())),
                text("cookie").or_else(|| Some("jwt".to_owned())),
            );
            let claim = text("key_claim_name").unwrap_or_else(|| "key".to_owned());
            route.auth.ways.push(AuthWay::JwtOfConsumer {
                claim,
                algorithm: "hmac".to_owned(),
                header,
                query,
                cookie,
                required: Vec::new(),
            });
            route.auth.strips |= config.get("hide_credentials").is_true();
            &["header", "query", "cookie", "hide_credentials", "key_claim_name"]
        }
        "hmac-auth" => {
            route.auth.ways.push(AuthWay::Signed);
            &["clock_skew", "signed_headers", "allowed_algorithms", "hide_credentials"]
        }
        "openid-connect" => return openid(plugin, route, reader),
        "forward-auth" => {
            let url = text("uri").unwrap_or_default();
            route.auth.ways.push(AuthWay::Asks {
                url,
                request_headers: config.get("request_headers").texts(),
                response_headers: config.get("upstream_headers").texts(),
            });
            &["uri", "request_headers", "upstream_headers", "request_method", "ssl_verify", "timeout"]
        }
        "consumer-restriction" => {
            let kind = text("type").unwrap_or_else(|| "consumer_name".to_owned());
            if !["consumer_name", "consumer_group_id"].contains(&kind.as_str()) || !config.get("allowed_by_methods").is_empty() {
                reader.closes(route, &title, "consumers are admitted by name and group", plugin.line);
                return None;
            }
            route.auth.allowed_groups.extend(config.get("whitelist").texts());
            route.auth.denied_groups.extend(config.get("blacklist").texts());
            &["type", "whitelist", "blacklist", "rejected_code", "rejected_msg"]
        }
        "ip-restriction" => {
            match (config.get("whitelist").networks(), config.get("blacklist").networks()) {
                (Ok(allowed), Ok(blocked)) => {
                    route.allowed_ips.extend(allowed);
                    route.blocked_ips.extend(blocked);
                }
                (Err(why), _) | (_, Err(why)) => {
                    reader.closes(route, &title, &why, plugin.line);
                    return None;
                }
            }
            &["whitelist", "blacklist", "message", "response_code"]
        }
        "limit-count" | "limit-req" => return limit(plugin, route, reader),
        "client-control" => {
            route.body_bytes_max = config.get("max_body_size").whole();
            &["max_body_size"]
        }
        "cors" => return cors(plugin, route, reader),
        "proxy-rewrite" => return rewrite(plugin, route, reader),
        "response-rewrite" => return response_rewrite(plugin, route, reader),
        "redirect" => return redirect(plugin, route, reader),
        "fault-injection" => return fault(plugin, route, reader),
        "mocking" => {
            let status = config.get("response_status").status().unwrap_or(200);
            let kind = text("content_type").unwrap_or_else(|| "application/json".to_owned());
            let headers = vec![("Content-Type".to_owned(), kind)];
            route.action = PlannedAction::Answer { status, body: text("response_example").unwrap_or_default(), headers };
            &["response_status", "content_type", "response_example", "delay", "with_mock_header"]
        }
        "proxy-cache" => {
            let statuses = config.get("cache_http_status").statuses();
            let time_s = (!config.get("cache_control").is_true()).then(|| config.get("cache_ttl").whole().unwrap_or(300));
            route.cache = Some(PlannedCache { time_s, statuses, by_headers: Vec::new() });
            &[
                "cache_http_status",
                "cache_ttl",
                "cache_control",
                "cache_strategy",
                "cache_zone",
                "cache_method",
                "hide_cache_headers",
            ]
        }
        "proxy-mirror" => {
            if let Some(host) = config.get("host").origin_url() {
                let percent = (config.get("sample_ratio").number().unwrap_or(1.0) * 100.0) as u32;
                route.mirror = Some((host.trim_end_matches('/').to_owned(), percent.min(100)));
            }
            &["host", "sample_ratio"]
        }
        "request-id" => {
            let header = (text("header_name").unwrap_or_else(|| "X-Request-Id".to_owned()), "{request_id}".to_owned());
            if !config.get("include_in_response").is_false() {
                route.response_headers.set.push(header.clone());
            }
            route.request_headers.set.push(header);
            &["header_name", "include_in_response", "algorithm"]
        }
        "real-ip" => {
            reader.report.not_carried(&place, title, "`tollgate.trusted_proxies` says whose headers count");
            return None;
        }
        "gzip" | "brotli" => {
            super::compression::compress(plugin, route, reader);
            return None;
        }
        "api-breaker" => {
            let failures = config.get("unhealthy").get("failures").up_to(10_000).unwrap_or(3).max(1);
            let rest_s = config.get("max_breaker_sec").whole().unwrap_or(300).max(1);
            ["break_response_code", "break_response_body", "break_response_headers", "healthy"]
                .iter()
                .for_each(|key| config.get(key).settle());
            config.get("unhealthy").get("http_statuses").settle();
            route.breaker = Some((failures, rest_s));
            reader.report.approximated(&place, title, "opens after as many failed requests, for the longest time, with 503");
            return None;
        }
        "traffic-split" => {
            reader.report.not_carried(&place, title, "set `tollgate.upstream.split`; all requests go to the route's own upstream");
            return None;
        }
        "grpc-transcode"
        | "grpc-web"
        | "serverless-post-function"
        | "ext-plugin-post-req"
        | "ext-plugin-post-resp"
        | "aws-lambda"
        | "azure-functions"
        | "dubbo-proxy"
        | "kafka-proxy"
        | "mqtt-proxy"
        | "degraphql"
        | "body-transformer"
        | "echo"
        | "inspect"
        | "workflow"
        | "ai-proxy"
        | "ai-prompt-template"
        | "batch-requests"
        | "proxy-control"
        | "proxy-buffering"
        | "attach-consumer-label" => {
            reader.report.not_carried(&place, title, "has no counterpart");
            return None;
        }
        _ => {
            reader.closes(route, &title, "is not known to the importer and may protect", plugin.line);
            return None;
        }
    };
    reader.report.carried(&place, title);
    Some(known)
}

/// The gateway asks the issuer itself where its keys are, and checks for whom a token is.
fn openid(plugin: &Member, route: &mut PlannedRoute, reader: &mut ApisixReader<'_>) -> Option<&'static [&'static str]> {
    let config = &plugin.node;
    let title = "plugins.openid-connect";
    let client = config.get("client_id").text();
    let is_for_client = config.get("claim_validator").get("audience").get("match_with_client_id").is_true();
    let why = match config.get("discovery").text().strip_suffix("/.well-known/openid-configuration") {
        _ if !config.get("bearer_only").is_true() => "browsers are not sent to log in; with bearer_only, tokens are verified",
        None => "its discovery document is not that of an issuer",
        Some(_) if client.is_empty() || !is_for_client => "tokens need an audience: `openid_options` with the clients",
        Some(issuer) => {
            route.auth.ways.push(AuthWay::OpenId { issuer: issuer.to_owned(), audiences: vec![client.to_owned()] });
            reader.report.carried(&reader.place(plugin.line), title);
            return Some(&[
                "discovery",
                "bearer_only",
                "client_id",
                "client_secret",
                "claim_validator",
                "realm",
                "scope",
                "use_jwks",
                "ssl_verify",
            ]);
        }
    };
    reader.closes(route, title, why, plugin.line);
    None
}

fn limit(plugin: &Member, route: &mut PlannedRoute, reader: &mut ApisixReader<'_>) -> Option<&'static [&'static str]> {
    let config = &plugin.node;
    let title = format!("plugins.{}", plugin.key);
    let place = reader.place(plugin.line);
    let rate = match plugin.key.as_str() {
        "limit-count" => config
            .get("count")
            .number()
            .zip(config.get("time_window").number())
            .map(|(requests, per_s)| PlannedRate { requests, per_s }),
        _ => config.get("rate").number().filter(|rate| *rate > 0.0).map(|rate| {
            let requests = config.get("burst").number().unwrap_or(0.0) + 1.0;
            PlannedRate { requests, per_s: requests / rate }
        }),
    };
    let Some(rate) = rate else {
        reader.closes(route, &title, "has no rate in numbers", plugin.line);
        return None;
    };
    let status = config.get("rejected_code");
    route.refuse_over_limits_with(if status.is_empty() { 503 } else { status.status().unwrap_or(429) });
    if !config.get("policy").is_empty() {
        config.get("policy").word(&["local", "redis", "redis-cluster"]);
    }
    match config.get("key").text().trim_start_matches('$') {
        "" | "remote_addr" | "http_x_real_ip" | "http_x_forwarded_for" if config.get("key_type").text() != "constant" => {
            route.address_rates.push(rate.of_route());
            reader.report.carried(&place, title);
        }
        "consumer_name" if !route.auth.ways.is_empty() => {
            route.consumer_rates.push(rate);
            reader.report.carried(&place, title);
        }
        "server_addr" | "host" | "http_host" | "service_id" | "route_id" => {
            route.rate = Some(rate);
            reader.report.carried(&place, title);
        }
        _ if config.get("key_type").text() == "constant" => {
            route.rate = Some(rate);
            reader.report.carried(&place, title);
        }
        key if key.starts_with("http_") && is_variable(key) && ["", "var"].contains(&config.get("key_type").text()) => {
            let header = key.trim_start_matches("http_").replace('_', "-");
            route.address_rates.push(PlannedAddressRate { header: Some(header), ..rate.of_route() });
            reader.report.weakened(&place, title, "stricter: requests without the header are counted together");
        }
        key => {
            config.get("key").is_not_understood();
            let why = format!("requests cannot be counted by {key}");
            reader.closes(route, &title, &why, plugin.line);
            return None;
        }
    }
    Some(&[
        "count",
        "time_window",
        "key",
        "key_type",
        "rate",
        "burst",
        "rejected_code",
        "rejected_msg",
        "policy",
        "nodelay",
        "allow_degradation",
        "show_limit_quota_header",
        "redis_host",
        "redis_port",
        "redis_password",
        "redis_database",
        "redis_timeout",
        "group",
    ])
}

fn is_variable(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn cors(plugin: &Member, route: &mut PlannedRoute, reader: &mut ApisixReader<'_>) -> Option<&'static [&'static str]> {
    let config = &plugin.node;
    let list = |key: &str| -> Vec<String> {
        let text = config.get(key).text();
        let text = if text.is_empty() { "*" } else { text };
        text.split(',').map(|item| if item == "**" { "*" } else { item.trim() }.to_owned()).collect()
    };
    let exposed = config.get("expose_headers").text();
    route.cors = Some(PlannedCors {
        origins: match config.get("allow_origins").is_empty() {
            true => vec!["*".to_owned()],
            false => config.get("allow_origins").listed_origins(),
        },
        methods: match list("allow_methods").as_slice() {
            [all] if all == "*" => {
                ["GET", "HEAD", "PUT", "PATCH", "POST", "DELETE", "OPTIONS", "TRACE", "CONNECT"].map(str::to_owned).to_vec()
            }
            methods => methods.to_vec(),
        },
        headers: list("allow_headers"),
        exposed: exposed
            .split(',')
            .map(str::trim)
            .filter(|header| !header.is_empty() && !header.contains('*'))
            .map(str::to_owned)
            .collect(),
        credentials: config.get("allow_credential").is_true(),
        max_age_s: config.get("max_age").up_to(u32::MAX).unwrap_or(5),
        passes_preflights: false,
    });
    let place = reader.place(plugin.line);
    reader.report.carried(&place, "plugins.cors");
    Some(&["allow_origins", "allow_methods", "allow_headers", "expose_headers", "allow_credential", "max_age"])
}

fn rewrite(plugin: &Member, route: &mut PlannedRoute, reader: &mut ApisixReader<'_>) -> Option<&'static [&'static str]> {
    let config = &plugin.node;
    let place = reader.place(plugin.line);
    let pairs = config.get("regex_uri").texts();
    if let [from, to, rest @ ..] = pairs.as_slice() {
        match pattern::rewrite(from, to) {
            Ok((pattern, to)) if rest.is_empty() => route.path_change = Some(PathChange::Pattern { pattern, to }),
            Ok(_) => reader.report.not_carried(
                &place,
                "plugins.proxy-rewrite.regex_uri",
                "a path is changed once: several expressions have no counterpart",
            ),
            Err(why) => reader.report.not_carried(&place, "plugins.proxy-rewrite.regex_uri", why),
        }
    } else if !config.get("uri").is_empty() {
        let uri = config.get("uri").path().unwrap_or_default();
        match uri.contains('$') {
            _ if uri.is_empty() => {}
            true => reader.report.not_carried(&place, "plugins.proxy-rewrite.uri", "variables in a path are not computed"),
            false => route.path_change = Some(PathChange::Whole(uri.to_owned())),
        }
    }
    if let Some(host) = config.get("host").authority() {
        route.upstream_host = Some(host.to_owned());
    }
    let mut edits = std::mem::take(&mut route.request_headers);
    headers(config.get("headers"), "plugins.proxy-rewrite", &mut edits.set, &mut edits.remove, reader);
    route.request_headers = edits;
    reader.report.carried(&place, "plugins.proxy-rewrite");
    Some(&["regex_uri", "uri", "host", "headers", "scheme", "use_real_request_uri_unsafe"])
}

/// `headers` with `set`, `add` and `remove`, or headers themselves.
fn headers(node: &Node, title: &str, set: &mut Vec<(String, String)>, remove: &mut Vec<String>, reader: &mut ApisixReader<'_>) {
    let mut put = |member: &Member, reader: &mut ApisixReader<'_>| {
        let value = member.node.text();
        let value = match value {
            "$remote_addr" => "{client_ip}".to_owned(),
            "$request_id" => "{request_id}".to_owned(),
            value => match value.strip_prefix("$http_") {
                Some(name) => format!("{{header:{}}}", name.replace('_', "-")),
                None => value.to_owned(),
            },
        };
        let place = reader.place(member.line);
        match value.contains('$') {
            true => reader.report.not_carried(&place, format!("{title}.headers.header"), format!("{value} has no counterpart")),
            false => set.push((member.key.clone(), value)),
        }
    };
    for member in node.members() {
        match (member.key.as_str(), member.node.is_map()) {
            ("set" | "add", true) => member.node.members().iter().for_each(|header| put(header, reader)),
            ("remove", _) => remove.extend(member.node.texts()),
            _ => put(member, reader),
        }
    }
}

fn response_rewrite(plugin: &Member, route: &mut PlannedRoute, reader: &mut ApisixReader<'_>) -> Option<&'static [&'static str]> {
    let config = &plugin.node;
    let place = reader.place(plugin.line);
    let mut edits = std::mem::take(&mut route.response_headers);
    headers(config.get("headers"), "plugins.response-rewrite", &mut edits.set, &mut edits.remove, reader);
    route.response_headers = edits;
    reader.report.carried(&place, "plugins.response-rewrite");
    Some(&["headers"])
}

fn redirect(plugin: &Member, route: &mut PlannedRoute, reader: &mut ApisixReader<'_>) -> Option<&'static [&'static str]> {
    let config = &plugin.node;
    let place = reader.place(plugin.line);
    let status = config.get("ret_code").status().unwrap_or(302);
    let uri = config.get("uri").text();
    let mut to = PlannedRedirect { status, ..PlannedRedirect::default() };
    if config.get("http_to_https").is_true() {
        to.scheme = "https".to_owned();
        to.status = 301;
    } else if uri.starts_with('/') && !uri.contains(['$', '?']) {
        to.path = Some(uri.to_owned());
    } else if let Some((scheme, rest)) = uri.split_once("://").filter(|_| uri.ends_with("$request_uri") || !uri.contains('$')) {
        let (host, path) = rest.find(['/', '$']).map_or((rest, ""), |at| rest.split_at(at));
        to.scheme = scheme.to_owned();
        to.host = host.to_owned();
        to.path = (path != "$request_uri").then(|| if path.is_empty() { "/".to_owned() } else { path.to_owned() });
    } else {
        config.get("uri").is_not_understood();
        reader.report.not_carried(&place, "plugins.redirect", "redirects keep the path or have one for all; the route answers 404");
        route.action = PlannedAction::default();
        return None;
    }
    if to.host.contains(':') || ![301, 302, 303, 307, 308].contains(&to.status) {
        reader.report.not_carried(&place, "plugins.redirect", "has a status or port without counterpart; the route answers 404");
        route.action = PlannedAction::default();
        return None;
    }
    route.action = PlannedAction::Redirect(to);
    reader.report.carried(&place, "plugins.redirect");
    Some(&["uri", "ret_code", "http_to_https"])
}

fn fault(plugin: &Member, route: &mut PlannedRoute, reader: &mut ApisixReader<'_>) -> Option<&'static [&'static str]> {
    let abort = plugin.node.get("abort");
    let place = reader.place(plugin.line);
    let is_always = abort.get("percentage").whole().is_none_or(|percent| percent >= 100) && abort.get("vars").is_empty();
    match abort.get("http_status").status() {
        Some(status) if is_always => {
            route.action = PlannedAction::Answer { status, body: abort.get("body").text().to_owned(), headers: Vec::new() };
            reader.report.carried(&place, "plugins.fault-injection");
        }
        _ => reader.report.not_carried(&place, "plugins.fault-injection", "all requests are answered, or none"),
    }
    Some(&["abort"])
}

/// A plugin of a consumer: its credentials, and its rate.
pub(super) fn of_consumer(plugin: &Member, consumer: &mut PlannedConsumer, reader: &mut ApisixReader<'_>) {
    let config = &plugin.node;
    let place = reader.place(plugin.line);
    let title = format!("consumers.plugins.{}", plugin.key);
    let text = |key: &str| config.get(key).text().to_owned();
    let credential = match plugin.key.as_str() {
        "key-auth" => ConsumerCredential::Key(text("key")),
        "basic-auth" => ConsumerCredential::Basic { user: text("username"), password: text("password"), hash_type: String::new() },
        "jwt-auth" => {
            let key = text("public_key");
            ConsumerCredential::Jwt { key: text("key"), secret: if key.is_empty() { text("secret") } else { key } }
        }
        "hmac-auth" => {
            let key = text("key_id");
            ConsumerCredential::Signing { key: if key.is_empty() { text("access_key") } else { key }, secret: text("secret_key") }
        }
        "limit-count" => {
            if let Some((requests, per_s)) = config.get("count").number().zip(config.get("time_window").number()) {
                consumer.rates.push(PlannedRate { requests, per_s });
            }
            return reader.report.carried(&place, title);
        }
        name if OBSERVING.contains(&name) => return reader.report.approximated(&place, title, "the gateway observes by itself"),
        _ => return reader.report.unprotected(&place, title, "plugins of consumers can be credentials and rates"),
    };
    let has_all = match &credential {
        ConsumerCredential::Key(key) => !key.is_empty() && !key.starts_with('$'),
        ConsumerCredential::Basic { user, password, .. } => !user.is_empty() && !password.is_empty() && !password.starts_with('$'),
        ConsumerCredential::Jwt { key, secret } | ConsumerCredential::Signing { key, secret } => {
            !key.is_empty() && !secret.is_empty() && !secret.starts_with('$')
        }
    };
    match has_all {
        true => {
            consumer.credentials.push(credential);
            reader.report.carried(&place, title);
        }
        false => reader.report.not_carried(&place, title, "its value is not in the file: give it with `tollgate keys create`"),
    }
}
