//! `extra_config` of the service, of endpoints and of backends.

use super::settings::Level;
use super::{KrakendReader, bodies, martian};
use crate::node::{Member, Node};
use crate::plan::{AuthWay, IssuedTokens, Plan, PlannedAddressRate, PlannedCache, PlannedCors, PlannedRate, PlannedRoute};

/// Algorithms of tokens.
const ALGORITHMS: [&str; 13] =
    ["EdDSA", "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"];

/// What a backend speaks that is not HTTP.
pub(super) fn foreign_backend(extra: &Node) -> Option<String> {
    let foreign = [
        "backend/graphql",
        "backend/amqp",
        "backend/pubsub",
        "backend/grpc",
        "backend/lambda",
        "backend/soap",
        "backend/static-filesystem",
        "backend/conditional",
    ];
    extra
        .members()
        .iter()
        .map(|member| member.key.as_str())
        .find(|name| foreign.iter().any(|start| name.starts_with(start)))
        .map(str::to_owned)
}

pub(super) fn of_service(extra: &Node, plan: &mut Plan, reader: &mut KrakendReader<'_>) {
    let mut routes = std::mem::take(&mut plan.routes);
    for member in extra.members() {
        let mut everywhere: Vec<&mut PlannedRoute> = routes.iter_mut().collect();
        apply(member, Level::Service, &mut everywhere, reader);
    }
    plan.routes = routes;
}

pub(super) fn of_endpoint(extra: &Node, route: &mut PlannedRoute, reader: &mut KrakendReader<'_>) {
    for member in extra.members() {
        apply(member, Level::Endpoint, &mut [&mut *route], reader);
    }
}

pub(super) fn of_backend(extra: &Node, route: &mut PlannedRoute, reader: &mut KrakendReader<'_>) {
    for member in extra.members() {
        apply(member, Level::Backend, &mut [&mut *route], reader);
    }
}

fn apply(member: &Member, level: Level, routes: &mut [&mut PlannedRoute], reader: &mut KrakendReader<'_>) {
    let node = &member.node;
    let name = member.key.clone();
    let title = format!("extra_config.{name}");
    let place = reader.place(member.line);
    let closes = |why: &str, routes: &mut [&mut PlannedRoute], reader: &mut KrakendReader<'_>| {
        reader.report.unprotected(&place, title.clone(), why);
        routes.iter_mut().for_each(|route| route.closed.push(format!("{title} at line {}: {why}", place.line)));
    };
    match name.as_str() {
        "auth/validator" if node.get("@disabled").is_true() => {
            node.settle();
            reader.report.carried(&place, title);
        }
        "auth/validator" => match tokens(node) {
            Ok(tokens) => {
                fields(member, &name, reader);
                claims(node.get("propagate_claims"), routes, reader);
                reader.report.carried(&place, title);
                routes.iter_mut().for_each(|route| route.auth.ways = vec![AuthWay::JwtOfIssuer(tokens.clone())]);
            }
            Err(why) => closes(&why, routes, reader),
        },
        "qos/ratelimit/router" | "qos/ratelimit/service" => match rates(node, level, routes) {
            Ok(None) => reader.report.carried(&place, title),
            Ok(Some(how)) => reader.report.weakened(&place, title, how),
            Err(why) => closes(&why, routes, reader),
        },
        "qos/ratelimit/proxy" => {
            if let Some(rate) = rate(node, "max_rate", "capacity") {
                routes.iter_mut().filter(|route| route.rate.is_none()).for_each(|route| route.rate = Some(rate));
            }
            reader.report.approximated(&place, title, "requests to the endpoint are limited in place of those to the backend");
        }
        "qos/http-cache" => {
            routes.iter_mut().for_each(|route| route.cache = Some(PlannedCache::default()));
            reader.report.carried(&place, title);
        }
        "security/cors" => {
            let cors = cors(node);
            routes.iter_mut().for_each(|route| {
                // A preflight has a method of its own.
                route.cors = Some(cors.clone());
            });
            preflights(routes);
            fields(member, &name, reader);
            reader.report.carried(&place, title);
        }
        "security/http" => secure(member, routes, reader),
        "backend/http" | "router" | "documentation/openapi" | "documentation/postman" => {
            reader.report.approximated(&place, title, "statuses, errors and paths are those of the gateway");
        }
        name if name.starts_with("telemetry/") => {
            reader.report.approximated(&place, title, "the gateway has metrics, logs, traces and analytics of its own");
        }
        "proxy" => bodies::proxy(node, level, routes, reader),
        "validation/json-schema" => match bodies::schema(level, reader) {
            Some(schema) => {
                node.settle();
                routes.iter_mut().for_each(|route| route.body_schema = Some(schema.clone()));
                reader.report.carried(&place, title);
            }
            None => closes("the schema is no object in JSON, or refers to other documents", routes, reader),
        },
        "security/bot-detector"
        | "security/policies"
        | "validation/cel"
        | "validation/response-json-schema"
        | "auth/api-keys"
        | "auth/basic"
        | "auth/gcp"
        | "auth/ntlm"
        | "auth/revoker"
        | "modifier/lua-endpoint"
        | "plugin/http-server"
        | "server/virtualhost"
        | "qos/ratelimit/tiered" => {
            closes("has no counterpart, and protects or may protect", routes, reader);
        }
        "auth/client-credentials" => reader.report.not_carried(&place, title, "set `upstream_auth` with the client's credentials"),
        "qos/circuit-breaker" => {
            let failures = node.get("max_errors").up_to(10_000).filter(|count| *count > 0);
            let Some((failures, rest_s)) = failures.zip(node.get("timeout").whole().filter(|time| *time > 0)) else {
                return reader.report.not_carried(&place, title, "has no number of errors or no time");
            };
            ["interval", "name", "log_status_change"].iter().for_each(|key| node.get(key).settle());
            routes.iter_mut().for_each(|route| route.breaker = Some((failures, rest_s)));
            reader.report.approximated(&place, title, "opens when as many requests as it allows errors have all failed");
        }
        "modifier/martian" => martian::apply(member, routes, reader),
        name if ["auth/", "security/", "validation/", "qos/ratelimit/", "plugin/"].iter().any(|start| name.starts_with(start)) => {
            closes("is not known to the importer, and protects or may protect", routes, reader);
        }
        name if name.starts_with('@') => reader.report.carried(&place, title),
        _ => reader.report.not_carried(&place, title, "has no counterpart"),
    }
}

/// Reports the fields of a setting that acts.
fn fields(member: &Member, name: &str, reader: &mut KrakendReader<'_>) {
    for field in member.node.members() {
        let place = reader.place(field.line);
        let title = format!("extra_config.{name}.{}", field.key);
        match field.key.as_str() {
            "alg" | "auth_header_name" | "cookie_key" | "jwk_url" | "issuer" | "audience" | "roles" | "roles_key" | "scopes"
            | "scopes_key" | "scopes_matcher" | "allow_origins" | "allow_methods" | "allow_headers" | "expose_headers"
            | "max_age" | "allow_credentials" => reader.report.carried(&place, title),
            "propagate_claims" => {}
            "roles_key_is_nested" => reader.report.carried(&place, title),
            "cache" | "disable_jwk_security" | "operation_debug" | "debug" if is_flag(&field.node) => {
                let how = match field.key.as_str() {
                    "cache" => "key sets are kept and refreshed by themselves",
                    "disable_jwk_security" => "key sets are fetched from addresses with and without TLS",
                    _ => "it writes to the log alone",
                };
                reader.report.built_in(&place, title, how);
            }
            "cache"
            | "cache_duration"
            | "jwk_fingerprints"
            | "cipher_suites"
            | "debug"
            | "failed_jwk_key_cooldown"
            | "key_identify_strategy"
            | "options_success_status"
            | "options_passthrough" => reader.report.approximated(&place, title, "key sets are kept and refreshed by themselves"),
            _ if field.node.is_off() => reader.report.carried(&place, title),
            _ => reader.report.not_carried(&place, title, "has no counterpart"),
        }
    }
}

fn is_flag(node: &Node) -> bool {
    node.is_true() || node.is_false()
}

/// Headers with claims for backends. A client cannot write them itself.
fn claims(list: &Node, routes: &mut [&mut PlannedRoute], reader: &mut KrakendReader<'_>) {
    let is_plain =
        |claim: &str| !claim.is_empty() && claim.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    for pair in list.items() {
        let title = "extra_config.auth/validator.propagate_claims";
        let [claim, header] = pair.items() else {
            pair.settle();
            reader.report.unprotected(&reader.place(pair.line), title, "is no pair of a claim and a header");
            continue;
        };
        let place = reader.place(claim.line);
        let (claim, Some(header)) = (claim.text(), header.token()) else { continue };
        if is_plain(claim) {
            routes.iter_mut().for_each(|route| route.request_headers.set.push((header.to_owned(), format!("{{claim:{claim}}}"))));
            reader.report.carried(&place, title);
        } else {
            routes.iter_mut().for_each(|route| route.request_headers.remove.push(header.to_owned()));
            reader.report.unprotected(
                &place,
                title,
                format!("{claim} is no claim at the top of a token; {header} does not reach backends"),
            );
        }
    }
}

fn tokens(node: &Node) -> Result<IssuedTokens, String> {
    let Some(url) = node.get("jwk_url").url() else {
        return Err("key sets are fetched from an address".to_owned());
    };
    let algorithm = match node.get("alg").word(&ALGORITHMS) {
        alg if alg.starts_with("ES") => "ecdsa",
        alg if alg.starts_with("HS") => "hmac",
        "EdDSA" => "eddsa",
        _ => "rsa",
    };
    let key = |name: &str, usual: &str| {
        let text = Some(node.get(name).text()).filter(|text| !text.is_empty()).unwrap_or(usual);
        let is_claim = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/".contains(&byte));
        if !is_claim {
            node.get(name).is_not_understood();
        }
        is_claim.then(|| text.to_owned()).ok_or_else(|| format!("{name} is no name of a claim"))
    };
    let mut required = Vec::new();
    let roles = node.get("roles").texts();
    if !roles.is_empty() {
        let name = key("roles_key", "roles")?;
        // Dots lead into objects here, and there only if it is told so.
        let is_nested = node.get("roles_key_is_nested").is_true();
        required.push((if is_nested { name } else { name.replace('.', "\\.") }, roles));
    }
    let scopes = node.get("scopes").texts();
    if !scopes.is_empty() {
        if node.get("scopes_matcher").text() == "all" && scopes.len() > 1 {
            return Err("all of several scopes: set `tollgate.scope_check`".to_owned());
        }
        required.push((key("scopes_key", "scope")?, scopes));
    }
    Ok(IssuedTokens {
        keys_url: url.to_owned(),
        algorithm: algorithm.to_owned(),
        issuer: Some(node.get("issuer").text().to_owned()).filter(|issuer| !issuer.is_empty()),
        audiences: node.get("audience").texts(),
        claim: "sub".to_owned(),
        required,
        header: node.get("auth_header_name").token().map(str::to_owned),
        cookie: node.get("cookie_key").token().map(str::to_owned),
    })
}

/// A rate with what may come at once: without a capacity, what comes in a second, and one if `max_rate` lets less than one come.
fn rate(node: &Node, rate: &str, capacity: &str) -> Option<PlannedRate> {
    let every_s = node.get("every").duration_ms().map_or(1.0, |time| time as f64 / 1_000.0).max(1.0);
    let in_a_second = |name: &str| node.get(name).number().filter(|number| *number > 0.0).map(|number| number / every_s);
    let per_second = in_a_second(rate)?;
    let usual = if in_a_second("max_rate").is_none_or(|all| all < 1.0) { 1.0 } else { per_second.floor().max(1.0) };
    let at_once = node.get(capacity).number().filter(|capacity| *capacity >= 1.0).unwrap_or(usual);
    Some(PlannedRate { requests: at_once, per_s: at_once / per_second })
}

/// The result says how it acts otherwise.
fn rates(node: &Node, level: Level, routes: &mut [&mut PlannedRoute]) -> Result<Option<String>, String> {
    let mut how = None;
    if let Some(all) = rate(node, "max_rate", "capacity") {
        // Of two rates, the smaller one holds.
        let holds = |route: &PlannedRoute| route.rate.is_none_or(|own| all.per_second() < own.per_second());
        routes.iter_mut().filter(|route| holds(route)).for_each(|route| route.rate = Some(all));
        if level == Level::Service {
            how = Some("the rate of the whole service holds for each endpoint".to_owned());
        }
    }
    let Some(client) = rate(node, "client_max_rate", "client_capacity") else { return Ok(how) };
    match node.get("strategy").word(&["ip", "header", "param"]) {
        "" if !node.get("strategy").is_empty() => Err("requests cannot be counted so".to_owned()),
        "" | "ip" => {
            let counter = if level == Level::Service { "service" } else { "" };
            let limit = PlannedAddressRate { rate: client, counter: counter.to_owned(), header: None };
            routes.iter_mut().for_each(|route| route.address_rates.push(limit.clone()));
            let header = node.get("key").text();
            if !header.is_empty() {
                how = Some(format!("the address of a client is not read from {header}: set `tollgate.trusted_proxies`"));
            }
            Ok(how)
        }
        other => Err(format!("requests cannot be counted by {other} {}", node.get("key").text())),
    }
}

fn cors(node: &Node) -> PlannedCors {
    let list = |key: &str, usual: &[&str]| match node.get(key).texts() {
        list if list.is_empty() => usual.iter().map(|item| (*item).to_owned()).collect(),
        list => list,
    };
    PlannedCors {
        origins: match node.get("allow_origins").is_empty() {
            true => vec!["*".to_owned()],
            false => node.get("allow_origins").origins(),
        },
        methods: list("allow_methods", &["GET", "HEAD", "POST"]),
        headers: list("allow_headers", &[]),
        exposed: node.get("expose_headers").texts(),
        credentials: node.get("allow_credentials").is_true(),
        max_age_s: (node.get("max_age").duration_ms().unwrap_or_default() / 1_000) as u32,
        passes_preflights: false,
    }
}

/// Endpoints are for one method; their preflights come with another.
fn preflights(routes: &mut [&mut PlannedRoute]) {
    let mut seen = std::collections::BTreeSet::new();
    for route in routes.iter_mut() {
        let Some(first) = route.matches.first().cloned() else { continue };
        if first.method != "OPTIONS" && seen.insert(format!("{:?}", first.path)) {
            route.matches.push(crate::plan::PlannedMatch { method: "OPTIONS".to_owned(), ..first });
        }
    }
}

fn secure(member: &Member, routes: &mut [&mut PlannedRoute], reader: &mut KrakendReader<'_>) {
    let place = reader.place(member.line);
    for field in member.node.members() {
        let node = &field.node;
        let header = match field.key.as_str() {
            "sts_seconds" => node
                .whole()
                .filter(|seconds| *seconds > 0)
                .map(|seconds| ("Strict-Transport-Security", format!("max-age={seconds}"))),
            "frame_deny" => node.is_true().then(|| ("X-Frame-Options", "DENY".to_owned())),
            "custom_frame_options_value" => Some(("X-Frame-Options", node.text().to_owned())),
            "content_type_nosniff" => node.is_true().then(|| ("X-Content-Type-Options", "nosniff".to_owned())),
            "browser_xss_filter" => node.is_true().then(|| ("X-XSS-Protection", "1; mode=block".to_owned())),
            "content_security_policy" => Some(("Content-Security-Policy", node.text().to_owned())),
            "referrer_policy" => Some(("Referrer-Policy", node.text().to_owned())),
            _ => {
                let place = reader.place(field.line);
                let title = format!("extra_config.security/http.{}", field.key);
                match node.is_off() {
                    true => reader.report.carried(&place, title),
                    false => reader.report.not_carried(&place, title, "has no counterpart"),
                }
                continue;
            }
        };
        let place = reader.place(field.line);
        reader.report.carried(&place, format!("extra_config.security/http.{}", field.key));
        if let Some((name, value)) = header.filter(|(_, value)| !value.is_empty()) {
            routes.iter_mut().for_each(|route| route.response_headers.set.push((name.to_owned(), value.clone())));
        }
    }
    reader.report.carried(&place, "extra_config.security/http");
}
