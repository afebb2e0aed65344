//! Middlewares of Traefik: what each means for a route.

use super::{TraefikReader, bare};
use crate::node::{Member, Node};
use crate::pattern;
use crate::plan::{
    AuthWay, ConsumerCredential, PathChange, Plan, PlannedAction, PlannedCompression, PlannedConsumer, PlannedCors, PlannedRate,
    PlannedRedirect, PlannedRetries, PlannedRoute,
};

use crate::report::Place;

/// Deepest nesting of chains.
const DEPTH_MAX: usize = 8;

pub(super) fn apply(name: &Node, route: &mut PlannedRoute, plan: &mut Plan, reader: &mut TraefikReader<'_>, depth: usize) {
    let text = bare(name.text());
    let Some(middleware) = reader.middlewares.iter().find(|middleware| middleware.key == text).cloned() else {
        name.names_nothing();
        let line = route.place.line;
        return reader.closes(
            route,
            "http.routers.middlewares.name",
            &format!("{text} is not in this file, and may protect"),
            line,
        );
    };
    for kind in middleware.node.members() {
        let title = format!("http.middlewares.{}", kind.key);
        if depth > DEPTH_MAX {
            return reader.closes(route, &title, "chains are nested too deep", kind.line);
        }
        one(kind, &title, route, plan, reader, depth);
    }
}

fn one(kind: &Member, title: &str, route: &mut PlannedRoute, plan: &mut Plan, reader: &mut TraefikReader<'_>, depth: usize) {
    let node = &kind.node;
    let place = reader.place(kind.line);
    let text = |key: &str| node.get(key).text().to_owned();
    match kind.key.to_lowercase().as_str() {
        "chain" => {
            reader.report.carried(&place, title);
            for name in node.get("middlewares").items() {
                apply(name, route, plan, reader, depth + 1);
            }
        }
        "stripprefix" => {
            let (from, are_all) = node.get("prefixes").paths();
            match from.as_slice() {
                [] if !are_all => return reader.report.not_carried(&place, title, "its prefixes are no paths"),
                [one] => {
                    route.path_change =
                        Some(PathChange::Beginning { from: one.trim_end_matches('/').to_owned(), to: String::new() })
                }
                several => {
                    let list: Vec<String> = several.iter().map(|prefix| pattern::escaped(prefix.trim_end_matches('/'))).collect();
                    route.path_change =
                        Some(PathChange::Pattern { pattern: format!("^(?:{})/?(.*)$", list.join("|")), to: "/$1".to_owned() });
                }
            }
            reader.report.carried(&place, title);
        }
        "addprefix" => {
            let to = node.get("prefix").path().unwrap_or_default().to_owned();
            match &route.path_change {
                _ if to.is_empty() => return reader.report.not_carried(&place, title, "its prefix is no path"),
                None => route.path_change = Some(PathChange::Beginning { from: String::new(), to }),
                Some(PathChange::Beginning { from, .. }) => {
                    route.path_change = Some(PathChange::Beginning { from: from.clone(), to })
                }
                Some(_) => return reader.report.not_carried(&place, title, "a path is changed once"),
            }
            reader.report.carried(&place, title);
        }
        "replacepath" => match node.get("path").path() {
            Some(path) => {
                route.path_change = Some(PathChange::Whole(path.to_owned()));
                reader.report.carried(&place, title);
            }
            None => reader.report.not_carried(&place, title, "has no path"),
        },
        "replacepathregex" | "stripprefixregex" => {
            let rewritten = match node.get("regex").items() {
                [one] if kind.key.eq_ignore_ascii_case("stripPrefixRegex") => {
                    pattern::rewrite(&format!("^{}(.*)$", one.text().trim_start_matches('^')), "$1")
                }
                _ => pattern::rewrite(&text("regex"), &text("replacement").replace("${", "$").replace('}', "")),
            };
            match rewritten {
                Ok((pattern, to)) => {
                    route.path_change = Some(PathChange::Pattern { pattern, to });
                    reader.report.carried(&place, title);
                }
                Err(why) => reader.report.not_carried(&place, title, why),
            }
        }
        "headers" => headers(node, title, route, reader),
        "redirectscheme" => {
            let status = if node.get("permanent").is_true() { 301 } else { 302 };
            let port = node.get("port").up_to(65_535).unwrap_or(0) as u16;
            let redirect = PlannedRedirect {
                status,
                scheme: node.get("scheme").word(&["http", "https"]).to_owned(),
                port,
                ..PlannedRedirect::default()
            };
            // It redirects what is not of the scheme already, and the gateway's own port has no TLS.
            route.action = PlannedAction::Redirect(redirect);
            reader.report.carried(&place, title);
        }
        "basicauth" => {
            route.auth.ways.push(AuthWay::Basic);
            route.auth.strips |= node.get("removeHeader").is_true();
            users(node, plan, reader);
            reader.report.carried(&place, title);
        }
        "forwardauth" => {
            let Some(address) = node.get("address").url() else {
                return reader.closes(route, title, "the service that decides has no address", kind.line);
            };
            let request_headers = match node.get("authRequestHeaders").header_names() {
                list if list.is_empty() => ["Authorization", "Cookie"].map(str::to_owned).to_vec(),
                list => list,
            };
            route.auth.ways.push(AuthWay::Asks {
                url: address.to_owned(),
                request_headers,
                response_headers: node.get("authResponseHeaders").header_names(),
            });
            reader.report.carried(&place, title);
        }
        "ipallowlist" | "ipwhitelist" => {
            let list = match node.get("sourceRange").networks() {
                Ok(list) => list,
                Err(why) => return reader.closes(route, title, &why, kind.line),
            };
            match list.is_empty() || node.find("ipStrategy").is_some_and(|strategy| !strategy.is_empty()) {
                true => reader.closes(
                    route,
                    title,
                    "addresses are those of the connection, or of `tollgate.trusted_proxies`",
                    kind.line,
                ),
                false => {
                    route.admit_only(list);
                    reader.report.carried(&place, title);
                }
            }
        }
        "ratelimit" => {
            let average = node.get("average").number().unwrap_or(0.0);
            let burst = node.get("burst").number().unwrap_or(1.0).max(1.0);
            let period = match node.get("period").text() {
                "" => Some(1.0),
                _ => node.get("period").duration_ms().map(|time| time as f64 / 1_000.0),
            };
            match period {
                _ if !node.get("sourceCriterion").is_empty() => {
                    reader.closes(route, title, "requests are counted by address only", kind.line);
                }
                Some(period) if period > 0.0 => {
                    if average > 0.0 {
                        route.address_rates.push(PlannedRate { requests: burst, per_s: burst * period / average }.of_route());
                    }
                    reader.report.carried(&place, title);
                }
                _ => reader.closes(route, title, "has no period", kind.line),
            }
        }
        "buffering" => {
            route.body_bytes_max = node.get("maxRequestBodyBytes").whole().or(route.body_bytes_max);
            reader.report.carried(&place, title);
        }
        "retry" => {
            route.retries = Some(PlannedRetries {
                tries: node.get("attempts").up_to(u32::MAX).unwrap_or(1).clamp(1, 10),
                statuses: Vec::new(),
            });
            reader.report.carried(&place, title);
        }
        "compress" => compress(node, title, &place, route, reader),
        "contenttype" => reader.report.approximated(&place, title, "upstreams say the types of what they send"),
        "circuitbreaker" => reader.report.not_carried(&place, title, "set `circuit_breakers`"),
        "errors" => reader.report.not_carried(&place, title, "`error_overrides` replaces errors"),
        "redirectregex" => {
            redirect_regex(&text("regex"), &text("replacement"), node.get("permanent").is_true(), title, kind.line, route, reader)
        }
        _ => reader.closes(route, title, "has no counterpart, and protects or may protect", kind.line),
    }
}

fn compress(node: &Node, title: &str, place: &Place, route: &mut PlannedRoute, reader: &mut TraefikReader<'_>) {
    let mut planned = PlannedCompression {
        bytes_min: node.get("minResponseBodyBytes").whole().unwrap_or(1024).max(1),
        ..PlannedCompression::default()
    };
    let encodings = node.get("encodings").texts();
    let is_own = |name: &str| [("gzip", "gzip"), ("br", "br")].into_iter().find(|(known, _)| *known == name).map(|(_, own)| own);
    planned.encodings = encodings.iter().filter_map(|name| is_own(name)).collect();
    if planned.encodings.is_empty() {
        planned.encodings = vec!["gzip", "br"];
    }
    let mut types = node.get("includedContentTypes").texts();
    let excluded = node.get("excludedContentTypes").texts();
    let has_others = !excluded.is_empty() && excluded.iter().any(|name| name != "text/event-stream");
    if types.is_empty() && !has_others {
        // Traefik compresses whatever is not left out.
        types.push("*".to_owned());
    }
    let wrong = planned.add_types(types.iter().map(String::as_str)).join(", ");
    planned.event_streams &= excluded.is_empty();
    let mut why = Vec::new();
    if has_others {
        why.push("types that compress well, and not all but some".to_owned());
    }
    if encodings.iter().any(|name| is_own(name).is_none()) {
        why.push("encodings are gzip and brotli".to_owned());
    }
    if !wrong.is_empty() {
        why.push(format!("{wrong}: no type of a response"));
    }
    if !node.get("defaultEncoding").is_empty() {
        why.push("clients that accept nothing get bodies as they are".to_owned());
    }
    match why.is_empty() {
        true => reader.report.carried(place, title),
        false => reader.report.approximated(place, title, why.join("; ")),
    }
    route.compression = Some(planned);
}

#[allow(clippy::too_many_arguments, reason = "the parts of a redirect")]
fn redirect_regex(
    from: &str,
    to: &str,
    is_permanent: bool,
    title: &str,
    line: usize,
    route: &mut PlannedRoute,
    reader: &mut TraefikReader<'_>,
) {
    let place = reader.place(line);
    let host = to.split_once("://").map(|(scheme, rest)| (scheme, rest.split('/').next().unwrap_or_default()));
    let keeps_path = from.ends_with("/(.*)") || from.ends_with("/(.*)$");
    match host {
        Some((scheme, host)) if keeps_path && !host.contains('$') && !host.contains(':') && ["http", "https"].contains(&scheme) => {
            let status = if is_permanent { 301 } else { 302 };
            let redirect =
                PlannedRedirect { status, scheme: scheme.to_owned(), host: host.to_owned(), ..PlannedRedirect::default() };
            route.action = PlannedAction::Redirect(redirect);
            reader.report.approximated(&place, title, "all requests of the router are redirected");
        }
        _ => reader.report.not_carried(&place, title, "redirects keep the path or have one for all"),
    }
}

fn headers(node: &Node, title: &str, route: &mut PlannedRoute, reader: &mut TraefikReader<'_>) {
    let mut cors = PlannedCors::default();
    for member in node.members() {
        let place = reader.place(member.line);
        let name = format!("{title}.{}", member.key);
        let header = match member.key.as_str() {
            "customRequestHeaders" | "customResponseHeaders" => {
                let edits =
                    if member.key == "customRequestHeaders" { &mut route.request_headers } else { &mut route.response_headers };
                for header in member.node.members() {
                    match header.node.text() {
                        "" => edits.remove.push(header.key.clone()),
                        value => edits.set.push((header.key.clone(), value.to_owned())),
                    }
                }
                None
            }
            "accessControlAllowOriginList" => {
                cors.origins = member.node.origins();
                None
            }
            "accessControlAllowMethods" => {
                cors.methods = member.node.texts();
                None
            }
            "accessControlAllowHeaders" => {
                cors.headers = member.node.texts();
                None
            }
            "accessControlExposeHeaders" => {
                cors.exposed = member.node.texts();
                None
            }
            "accessControlAllowCredentials" => {
                cors.credentials = member.node.is_true();
                None
            }
            "accessControlMaxAge" => {
                cors.max_age_s = member.node.up_to(u32::MAX).unwrap_or_default();
                None
            }
            "stsSeconds" => {
                let below = if node.get("stsIncludeSubdomains").is_true() { "; includeSubDomains" } else { "" };
                let preload = if node.get("stsPreload").is_true() { "; preload" } else { "" };
                Some(("Strict-Transport-Security", format!("max-age={}{below}{preload}", member.node.whole().unwrap_or_default())))
            }
            "stsIncludeSubdomains" | "stsPreload" | "forceSTSHeader" | "addVaryHeader" | "isDevelopment" => None,
            "frameDeny" => member.node.is_true().then(|| ("X-Frame-Options", "DENY".to_owned())),
            "customFrameOptionsValue" => Some(("X-Frame-Options", member.node.text().to_owned())),
            "contentTypeNosniff" => member.node.is_true().then(|| ("X-Content-Type-Options", "nosniff".to_owned())),
            "browserXssFilter" => member.node.is_true().then(|| ("X-XSS-Protection", "1; mode=block".to_owned())),
            "contentSecurityPolicy" => Some(("Content-Security-Policy", member.node.text().to_owned())),
            "referrerPolicy" => Some(("Referrer-Policy", member.node.text().to_owned())),
            "permissionsPolicy" => Some(("Permissions-Policy", member.node.text().to_owned())),
            "allowedHosts" | "hostsProxyHeaders" | "sslRedirect" => {
                reader.report.unprotected(&place, name, "routes say their hosts");
                continue;
            }
            _ => {
                reader.report.not_carried(&place, name, "has no counterpart");
                continue;
            }
        };
        route.response_headers.set.extend(header.map(|(name, value)| (name.to_owned(), value)));
        reader.report.carried(&place, name);
    }
    if !cors.origins.is_empty() {
        route.cors = Some(cors);
    }
    let place = reader.place(node.line);
    reader.report.carried(&place, title);
}

/// `user:hash` in a list.
fn users(node: &Node, plan: &mut Plan, reader: &mut TraefikReader<'_>) {
    if !node.get("usersFile").is_empty() {
        let place = reader.place(node.get("usersFile").line);
        reader.report.not_carried(
            &place,
            "http.middlewares.basicAuth.usersFile",
            "its users are given with `tollgate keys create`",
        );
    }
    for user in node.get("users").items() {
        let place = reader.place(user.line);
        let text = user.text().replace("$$", "$");
        let Some((name, hash)) = text.split_once(':') else {
            reader.report.unprotected(&place, "http.middlewares.basicAuth.user", "has no name and hash with a colon between them");
            continue;
        };
        let is_known = plan.consumers.iter().any(|consumer| consumer.name == name);
        match hash.starts_with("$2") {
            true if is_known => {}
            true => {
                let credential =
                    ConsumerCredential::Basic { user: name.to_owned(), password: hash.to_owned(), hash_type: "bcrypt".to_owned() };
                let consumer = PlannedConsumer {
                    name: name.to_owned(),
                    place: place.clone(),
                    credentials: vec![credential],
                    ..PlannedConsumer::default()
                };
                plan.consumers.push(consumer);
                reader.report.carried(&place, "http.middlewares.basicAuth.user");
            }
            false => {
                let why = format!("the hash of {name} is of a kind that is not checked here: give a new password");
                reader.report.not_carried(&place, "http.middlewares.basicAuth.user", why);
            }
        }
    }
}
