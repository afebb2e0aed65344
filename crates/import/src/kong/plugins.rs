//! Plugins of Kong: what each means for a route.

mod transform;

use super::KongReader;
use crate::node::Node;
use crate::plan::{
    AuthWay, Plan, PlannedAction, PlannedAddressRate, PlannedCache, PlannedCors, PlannedRate, PlannedRedirect, PlannedRoute,
};
use crate::report::Place;

/// Plugins that only observe: the gateway observes by itself.
const OBSERVING: &[&str] = &[
    "prometheus",
    "file-log",
    "http-log",
    "tcp-log",
    "udp-log",
    "syslog",
    "statsd",
    "statsd-advanced",
    "datadog",
    "zipkin",
    "opentelemetry",
    "loggly",
    "kafka-log",
    "splunk",
    "elasticsearch-log",
    "google-logging",
    "app-dynamics",
];

/// Plugins that keep somebody or something out and have no counterpart.
const PROTECTING: &[(&str, &str)] = &[
    ("oauth2", "clients are made anew: see the gateway as an OAuth 2.0 server"),
    ("oauth2-introspection", "set `external_oauth` with the server's address"),
    ("ldap-auth", "there is no LDAP"),
    ("ldap-auth-advanced", "there is no LDAP"),
    ("mtls-auth", "set `use_mutual_tls_auth` with certificates"),
    ("session", "there are no sessions in cookies"),
    ("bot-detection", "clients are not told apart by their User-Agent"),
    ("request-validator", "set `validate_json`, or write an OpenAPI document"),
    ("opa", "name the service with `tollgate.forward_auth`"),
    ("injection-protection", "the firewall here is `tollgate.waf`, with rules of its own"),
    ("json-threat-protection", "bodies are checked by schemas"),
    ("xml-threat-protection", "bodies are checked by schemas"),
    ("pre-function", "programs are not carried over, and this one runs before all else"),
    ("saml", "there is no SAML"),
    ("jwe-decrypt", "tokens are not decrypted"),
    ("vault-auth", "keys are in the gateway's store"),
    ("response-ratelimiting", "quotas that upstreams count are not counted here"),
    ("header-cert-auth", "set `use_mutual_tls_auth` with certificates"),
    ("key-auth-enc", "keys are given anew with `tollgate keys create`"),
];

/// A plugin with its place while it is read.
struct Config<'c> {
    name: &'c str,
    node: &'c Node,
    place: Place,
}

impl Config<'_> {
    fn get(&self, key: &str) -> &Node {
        self.node.get(key)
    }

    /// Reports each member of the configuration: those in `carried` act, the others do not, and are the result.
    fn report(&self, carried: &[&str], reader: &mut KongReader<'_>) -> Vec<String> {
        self.report_but(&[], carried, reader)
    }

    /// The same without those that have been reported.
    fn report_but(&self, reported: &[&str], carried: &[&str], reader: &mut KongReader<'_>) -> Vec<String> {
        let mut left_out = Vec::new();
        for member in self.node.members().iter().filter(|member| !reported.contains(&member.key.as_str())) {
            let place = reader.place(member.line);
            let name = format!("plugins.{}.{}", self.name, member.key);
            match carried.contains(&member.key.as_str()) || member.node.is_off() {
                true => reader.report.carried(&place, name),
                false => {
                    left_out.push(name.clone());
                    reader.report.not_carried(&place, name, "has no counterpart");
                }
            }
        }
        left_out
    }
}

/// Members of what protects that are left out may have restricted who may call.
fn restricted(route: &mut PlannedRoute, left_out: &[String], place: &Place) {
    route.closed.extend(left_out.iter().map(|name| format!("{name} at line {}: has no counterpart", place.line)));
}

pub(super) fn apply(plugin: &Node, route: &mut PlannedRoute, reader: &mut KongReader<'_>) {
    let name = plugin.get("name").text().to_owned();
    let place = reader.place(plugin.line);
    let title = format!("plugins.{name}");
    for key in ["id", "tags", "protocols", "ordering", "instance_name", "created_at", "updated_at", "run_on"] {
        plugin.get(key).settle();
    }
    if plugin.get("enabled").is_false() {
        plugin.settle();
        return reader.report.carried(&place, title);
    }
    let config = Config { name: &name, node: plugin.get("config"), place: place.clone() };
    if OBSERVING.contains(&name.as_str()) {
        return reader.report.approximated(&place, title, "the gateway has metrics, logs, traces and analytics of its own");
    }
    if let Some((_, why)) = PROTECTING.iter().find(|(known, _)| *known == name) {
        return closes(route, &title, why, &place, reader);
    }
    match name.as_str() {
        "key-auth" | "basic-auth" | "jwt" | "hmac-auth" | "acl" | "openid-connect" => authentication(&config, route, reader),
        "rate-limiting" | "rate-limiting-advanced" => rates(&config, route, reader),
        "cors" => cors(&config, route, reader),
        "ip-restriction" => addresses(&config, route, reader),
        "request-size-limiting" => size(&config, route, reader),
        "request-termination" => termination(&config, route, reader),
        "redirect" => redirect(&config, route, reader),
        "proxy-cache" | "proxy-cache-advanced" => {
            let time_s = config.get("cache_ttl").whole().unwrap_or(300);
            let statuses = config.get("response_code").statuses();
            let time_s = (!config.get("cache_control").is_true()).then_some(time_s);
            let by_headers = config.get("vary_headers").texts();
            route.cache = Some(PlannedCache { time_s, statuses, by_headers });
            config.report(
                &["cache_ttl", "response_code", "cache_control", "vary_headers", "strategy", "memory", "request_method"],
                reader,
            );
            reader.report.approximated(
                &place,
                title,
                "in the gateway's own memory; without Cache-Control, each caller has responses of its own",
            );
        }
        "request-transformer" | "request-transformer-advanced" => transform::request(&config, route, reader),
        "response-transformer" | "response-transformer-advanced" => transform::response(&config, route, reader),
        "correlation-id" => {
            let header = config.get("header_name").text();
            route
                .request_headers
                .set
                .push((if header.is_empty() { "Kong-Request-ID" } else { header }.to_owned(), "{request_id}".to_owned()));
            if config.get("echo_downstream").is_true() {
                let name = if header.is_empty() { "Kong-Request-ID" } else { header };
                route.response_headers.set.push((name.to_owned(), "{request_id}".to_owned()));
            }
            config.report(&["header_name", "generator", "echo_downstream"], reader);
            reader.report.approximated(&place, title, "with the gateway's own identifier of the request");
        }
        "upstream-timeout" => {
            route.timeout_ms = config.get("read_timeout").whole().unwrap_or(route.timeout_ms);
            config.report(&["read_timeout", "connect_timeout", "send_timeout"], reader);
            reader.report.carried(&place, title);
        }
        "grpc-web"
        | "grpc-gateway"
        | "aws-lambda"
        | "azure-functions"
        | "post-function"
        | "mocking"
        | "acme"
        | "serverless-functions"
        | "ai-proxy"
        | "graphql-proxy-cache-advanced"
        | "websocket-size-limit"
        | "degraphql"
        | "inso" => {
            reader.report.not_carried(&place, title, "has no counterpart");
        }
        // What is not known may protect.
        _ => closes(route, &title, "is not known to the importer and may protect", &place, reader),
    }
}

/// A plugin at a consumer.
pub(super) fn of_consumer(consumer: &str, plugin: &Node, plan: &mut Plan, reader: &mut KongReader<'_>) {
    let name = plugin.get("name").text().to_owned();
    let place = reader.place(plugin.line);
    let title = format!("consumers.plugins.{name}");
    let config = Config { name: &name, node: plugin.get("config"), place: place.clone() };
    match name.as_str() {
        "rate-limiting" | "rate-limiting-advanced" => {
            let rates = windows(&config);
            if let Some(known) = plan.consumers.iter_mut().find(|known| known.name == consumer) {
                known.rates = rates;
            }
            reader.report.carried(&place, title);
        }
        name if OBSERVING.contains(&name) => reader.report.approximated(&place, title, "the gateway observes by itself"),
        _ => reader.report.unprotected(&place, title, "plugins of consumers can be rates"),
    }
}

fn closes(route: &mut PlannedRoute, title: &str, why: &str, place: &Place, reader: &mut KongReader<'_>) {
    reader.report.closes(place, title, why, &mut route.closed);
}

fn authentication(config: &Config<'_>, route: &mut PlannedRoute, reader: &mut KongReader<'_>) {
    let title = format!("plugins.{}", config.name);
    let place = &config.place;
    let hides = config.get("hide_credentials").is_true();
    let anonymous = !config.get("anonymous").is_empty();
    let left_out;
    match config.name {
        "key-auth" => {
            let names = config.get("key_names").header_names();
            let first = names.first().cloned().unwrap_or_else(|| "apikey".to_owned());
            let query = (!config.get("key_in_query").is_false()).then(|| first.clone());
            route.auth.ways.push(AuthWay::Key { header: first, query, cookie: None });
            left_out = config.report(
                &["key_names", "hide_credentials", "key_in_query", "key_in_header", "run_on_preflight", "realm", "anonymous"],
                reader,
            );
            if names.len() > 1 {
                reader.report.weakened(
                    place,
                    title.clone(),
                    format!("keys are looked for in {} only", names.first().map_or("", String::as_str)),
                );
            }
        }
        "basic-auth" => {
            route.auth.ways.push(AuthWay::Basic);
            left_out = config.report(&["hide_credentials", "realm", "anonymous"], reader);
        }
        "jwt" => {
            let claim = config.get("key_claim_name").text();
            let query = config.get("uri_param_names").texts();
            let headers = config.get("header_names").header_names();
            let required = config.get("claims_to_verify").texts();
            required.iter().filter(|claim| !["exp", "nbf"].contains(&claim.as_str())).for_each(|_| {
                config.get("claims_to_verify").is_not_understood();
            });
            if config.get("secret_is_base64").is_true() {
                let how = "stricter: secrets are used as they are written: give the decoded ones";
                reader.report.weakened(&reader.place(config.get("secret_is_base64").line), "plugins.jwt.secret_is_base64", how);
            }
            route.auth.ways.push(AuthWay::JwtOfConsumer {
                claim: if claim.is_empty() { "iss" } else { claim }.to_owned(),
                algorithm: "hmac".to_owned(),
                header: headers.first().cloned(),
                required,
                query: query.first().cloned().or_else(|| config.node.find("uri_param_names").is_none().then(|| "jwt".to_owned())),
                cookie: config.get("cookie_names").texts().first().cloned(),
            });
            let known = [
                "key_claim_name",
                "uri_param_names",
                "cookie_names",
                "claims_to_verify",
                "run_on_preflight",
                "anonymous",
                "header_names",
                "secret_is_base64",
            ];
            left_out = config.report(&known, reader);
        }
        "hmac-auth" => {
            route.auth.ways.push(AuthWay::Signed);
            left_out = config.report(&["hide_credentials", "clock_skew", "algorithms", "anonymous"], reader);
        }
        "openid-connect" => {
            let issuer = config.get("issuer").text();
            let issuer = issuer.strip_suffix("/.well-known/openid-configuration").unwrap_or(issuer).to_owned();
            let audiences = config.get("audience_required").texts();
            let claims = config.get("consumer_claim").texts();
            if issuer.is_empty() {
                return closes(route, &title, "has no issuer", place, reader);
            }
            if audiences.is_empty() {
                return closes(route, &title, "tokens need an audience: `openid_options` with the clients", place, reader);
            }
            if !claims.is_empty() {
                return closes(
                    route,
                    &title,
                    "tokens of consumers need their rights: `openid_options` with policies",
                    place,
                    reader,
                );
            }
            route.auth.ways.push(AuthWay::OpenId { issuer, audiences });
            left_out = config.report(&["issuer", "audience_required", "auth_methods", "client_id", "client_secret"], reader);
            restricted(route, &left_out, place);
            return reader.report.weakened(place, title, "stricter: bearer tokens only, and no browser is sent to log in");
        }
        _ => {
            let list = |new: &str, old: &str| [config.get(new).texts(), config.get(old).texts()].concat();
            route.auth.allowed_groups.extend(list("allow", "whitelist"));
            route.auth.denied_groups.extend(list("deny", "blacklist"));
            left_out = config.report(
                &["allow", "deny", "whitelist", "blacklist", "hide_groups_header", "always_use_authenticated_groups"],
                reader,
            );
            restricted(route, &left_out, place);
            return reader.report.carried(place, title);
        }
    }
    restricted(route, &left_out, place);
    route.auth.strips |= hides;
    if anonymous {
        reader.report.weakened(place, format!("{title}.anonymous"), "stricter: callers without credentials are refused");
    }
    reader.report.carried(place, title);
}

/// The windows of a rate.
fn windows(config: &Config<'_>) -> Vec<PlannedRate> {
    let named =
        [("second", 1.0), ("minute", 60.0), ("hour", 3_600.0), ("day", 86_400.0), ("month", 2_592_000.0), ("year", 31_536_000.0)];
    let mut rates: Vec<PlannedRate> = named
        .iter()
        .filter_map(|(key, per_s)| {
            Some(PlannedRate { requests: config.get(key).number().filter(|number| *number > 0.0)?, per_s: *per_s })
        })
        .collect();
    let (limits, sizes) = (config.get("limit"), config.get("window_size"));
    let pairs = limits.items().iter().zip(sizes.items());
    rates.extend(pairs.filter_map(|(limit, size)| Some(PlannedRate { requests: limit.number()?, per_s: size.number()? })));
    rates
}

fn rates(config: &Config<'_>, route: &mut PlannedRoute, reader: &mut KongReader<'_>) {
    let title = format!("plugins.{}", config.name);
    let place = config.place.clone();
    let rates = windows(config);
    let known = ["consumer", "credential", "ip", "service", "header", "path", "consumer-group", "route"];
    let by = [config.get("limit_by").word(&known), config.get("identifier").word(&known)]
        .into_iter()
        .find(|text| !text.is_empty())
        .unwrap_or("consumer");
    let known = [
        "second",
        "minute",
        "hour",
        "day",
        "month",
        "year",
        "limit",
        "window_size",
        "limit_by",
        "identifier",
        "policy",
        "window_type",
        "strategy",
        "sync_rate",
        "fault_tolerant",
        "hide_client_headers",
        "error_code",
        "error_message",
        "redis_host",
        "redis_port",
        "redis",
        "redis_database",
        "redis_timeout",
        "redis_password",
        "namespace",
        "dictionary_name",
        "header_name",
    ];
    if !config.get("error_code").is_empty() {
        route.refuse_over_limits_with(config.get("error_code").status().unwrap_or(429));
    }
    let policy = config.get("policy");
    let counts_alike = !policy.is_empty() && !policy.word(&["local", "cluster", "redis"]).is_empty();
    route.on_store_failure = match config.get("fault_tolerant") {
        tolerant if tolerant.is_true() => Some("allow"),
        tolerant if tolerant.is_false() => Some("deny"),
        _ => route.on_store_failure,
    };
    let told = config.get("hide_client_headers");
    let is_told_alike = told.is_true() || told.is_false();
    for member in config.node.members() {
        let place = reader.place(member.line);
        let name = format!("{title}.{}", member.key);
        match member.key.as_str() {
            "policy" if counts_alike => {
                reader.report.built_in(&place, name, "all gateways on one store count together, and a gateway alone by itself");
            }
            "hide_client_headers" if is_told_alike => {
                reader.report.approximated(&place, name, "limits are told in RateLimit and RateLimit-Policy");
            }
            _ => {}
        }
    }
    let known: Vec<&str> = known.into_iter().filter(|key| !["policy", "hide_client_headers"].contains(key)).collect();
    config.report_but(&["policy", "hide_client_headers"], &known, reader);
    let Some(tightest) = rates.iter().copied().min_by(|a, b| a.per_second().total_cmp(&b.per_second())) else {
        return closes(route, &title, "has no rate", &place, reader);
    };
    match by {
        "service" | "path" | "route" => {
            route.rate = Some(tightest);
            match rates.len() {
                1 => reader.report.carried(&place, title),
                _ => reader.report.weakened(&place, title, "of several windows, the one that admits least over time"),
            }
        }
        "consumer" | "credential" if !route.auth.ways.is_empty() => {
            route.consumer_rates = rates;
            reader.report.carried(&place, title);
        }
        // Without a consumer, Kong counts by address.
        "consumer" | "credential" | "ip" => {
            route.address_rates.extend(rates.iter().map(|rate| rate.of_route()));
            reader.report.carried(&place, title);
        }
        "header" if config.get("header_name").token().is_some() => {
            let header = config.get("header_name").token().map(str::to_owned);
            route.address_rates.extend(rates.iter().map(|rate| PlannedAddressRate { header: header.clone(), ..rate.of_route() }));
            reader.report.weakened(&place, title, "stricter: requests without the header are counted together");
        }
        other => closes(route, &title, &format!("requests cannot be counted by {other}"), &place, reader),
    }
}

fn cors(config: &Config<'_>, route: &mut PlannedRoute, reader: &mut KongReader<'_>) {
    let list = |key: &str| config.get(key).texts();
    let mut origins = config.get("origins").origins();
    let names_some = !config.get("origins").texts().is_empty();
    let known = ["origins", "methods", "headers", "exposed_headers", "credentials", "max_age", "preflight_continue"];
    config.report(&known, reader);
    if origins.is_empty() && names_some {
        return;
    }
    if origins.is_empty() {
        origins.push("*".to_owned());
    }
    let methods = match list("methods") {
        methods if methods.is_empty() => {
            ["GET", "HEAD", "PUT", "PATCH", "POST", "DELETE", "OPTIONS", "TRACE", "CONNECT"].map(str::to_owned).to_vec()
        }
        methods => methods,
    };
    let headers = match list("headers") {
        headers if headers.is_empty() => vec!["*".to_owned()],
        headers => headers,
    };
    route.cors = Some(PlannedCors {
        origins,
        methods,
        headers,
        exposed: list("exposed_headers"),
        credentials: config.get("credentials").is_true(),
        max_age_s: config.get("max_age").up_to(u32::MAX).unwrap_or_default(),
        passes_preflights: config.get("preflight_continue").is_true(),
    });
    reader.report.carried(&config.place, "plugins.cors");
}

fn addresses(config: &Config<'_>, route: &mut PlannedRoute, reader: &mut KongReader<'_>) {
    let list = |new: &str, old: &str| Ok([config.get(new).networks()?, config.get(old).networks()?].concat());
    let lists = list("allow", "whitelist").and_then(|allowed| Ok((allowed, list("deny", "blacklist")?)));
    let (allowed, blocked): (Vec<String>, Vec<String>) = match lists {
        Ok(lists) => lists,
        Err(why) => return closes(route, "plugins.ip-restriction", &String::clone(&why), &config.place.clone(), reader),
    };
    route.allowed_ips.extend(allowed);
    route.blocked_ips.extend(blocked);
    config.report(&["allow", "deny", "whitelist", "blacklist", "status", "message"], reader);
    reader.report.carried(&config.place, "plugins.ip-restriction");
}

fn size(config: &Config<'_>, route: &mut PlannedRoute, reader: &mut KongReader<'_>) {
    let unit = config.get("size_unit").choice(&[("bytes", 1), ("kilobytes", 1 << 10), ("megabytes", 1 << 20)], 1 << 20);
    route.body_bytes_max = Some(config.get("allowed_payload_size").whole().unwrap_or(128).saturating_mul(unit));
    config.report(&["allowed_payload_size", "size_unit", "require_content_length"], reader);
    reader.report.carried(&config.place, "plugins.request-size-limiting");
}

fn termination(config: &Config<'_>, route: &mut PlannedRoute, reader: &mut KongReader<'_>) {
    let status = config.get("status_code").status().unwrap_or(503);
    let body = config.get("body").text();
    let (body, kind) = match body.is_empty() {
        true => (format!("{{\"message\":{}}}", serde_json::Value::from(config.get("message").text())), "application/json"),
        false => (body.to_owned(), config.get("content_type").text()),
    };
    let kind = if kind.is_empty() { "application/json" } else { kind };
    config.report(&["status_code", "message", "body", "content_type"], reader);
    if !config.get("trigger").is_empty() {
        return closes(route, "plugins.request-termination", "only some requests are refused", &config.place.clone(), reader);
    }
    route.action = PlannedAction::Answer { status, body, headers: vec![("Content-Type".to_owned(), kind.to_owned())] };
    reader.report.carried(&config.place, "plugins.request-termination");
}

fn redirect(config: &Config<'_>, route: &mut PlannedRoute, reader: &mut KongReader<'_>) {
    let location = config.get("location").url().unwrap_or_default();
    let status = config.get("status_code").status().unwrap_or(301);
    let (scheme, rest) = location.split_once("://").unwrap_or(("", location));
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let keeps = config.get("keep_incoming_path").is_true();
    config.report(&["location", "status_code", "keep_incoming_path"], reader);
    let is_usable = ["http", "https"].contains(&scheme) && !host.contains(':') && !host.is_empty() && !path.contains('?');
    if !is_usable || ![301, 302, 303, 307, 308].contains(&status) {
        return reader.report.not_carried(
            &config.place,
            "plugins.redirect",
            format!("a redirect to {location} has no counterpart"),
        );
    }
    let path = (!keeps).then(|| if path.is_empty() { "/".to_owned() } else { path.to_owned() });
    route.action = PlannedAction::Redirect(PlannedRedirect {
        status,
        scheme: scheme.to_owned(),
        host: host.to_owned(),
        path,
        ..PlannedRedirect::default()
    });
    reader.report.carried(&config.place, "plugins.redirect");
}
