//! Compiles what is done about the targets of a pool without a request: `uptime_tests`, `tollgate.upstream.checks` and
//! `proxy.service_discovery`.

use arc_swap::ArcSwap;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use hyper::body::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tollgate_data::found_target::FoundTarget;
use tollgate_data::middleware::Context;
use tollgate_data::target_list::PoolTarget;
use tollgate_data::target_watch::{
    AnswerShape, CheckKind, DialogueStep, Discovery, DiscoverySource, ListBuilder, TargetCheck, TargetChecks, TargetWatch,
    UptimeRecordRules,
};
use tollgate_data::upstream::split_url;
use tollgate_engine::SrvResolver;
use tollgate_model::api::{ActiveChecks, ApiDefinition, CheckProtocol, UptimeCheck};
use tollgate_tls::ServiceKind;
use tollgate_tls::{TlsRules, TlsSettings};

/// The status that Tyk's checks expect.
const EXPECTED: u16 = 200;

/// Whether the API has checks of Tyk's that run.
pub(super) fn has_uptime_tests(definition: &ApiDefinition, context: &Context<'_>) -> bool {
    let tests = &definition.uptime_tests;
    context.settings.upstreams.uptime_tests.is_some() && !tests.disabled && !tests.check_list.is_empty()
}

/// What is done about the targets; `None` for nothing.
pub(super) fn compile(
    definition: &ApiDefinition,
    tls: &TlsSettings,
    discovery: Option<Discovery>,
    context: &mut Context<'_>,
) -> Option<TargetWatch> {
    let has_tests = has_uptime_tests(definition, context);
    let own = definition.tollgate.upstream.as_ref().and_then(|rules| rules.checks.as_ref());
    if let Some(checks) = own {
        if has_tests {
            context.error("$.tollgate.upstream.checks", "uptime_tests has checks as well: an API has one kind");
        }
        let tls = tls.clone();
        return Some(TargetWatch { discovery, ..each_target(checks, move |host| tls.for_host(host)) });
    }
    let rounds = context.settings.upstreams.uptime_tests.filter(|_| has_tests);
    if rounds.is_none() && discovery.is_none() {
        return None;
    }
    let tests = if rounds.is_some() { definition.uptime_tests.check_list.as_slice() } else { &[] };
    let mut checks = Vec::new();
    for (index, test) in tests.iter().enumerate().filter(|(_, test)| test.is_usable()) {
        match uptime_check(test, tls) {
            Ok(check) => checks.push(Arc::new(check)),
            Err(error) if definition.proxy.check_host_against_uptime_tests => {
                context.error(format!("$.uptime_tests.check_list[{index}]"), error);
            }
            // It decides about no target.
            Err(error) => context.warning(format!("$.uptime_tests.check_list[{index}]"), format!("{error}: it is never run")),
        }
    }
    let (trigger, interval) = rounds.map_or((1, Duration::from_secs(10)), |rounds| (rounds.trigger, rounds.interval));
    Some(TargetWatch {
        checks: TargetChecks::Listed(checks),
        interval,
        rise: trigger,
        fall: trigger,
        record: Some(UptimeRecordRules {
            org_id: definition.org_id.clone(),
            life_s: definition.uptime_tests.config.expire_utime_after,
        }),
        decides: rounds.is_some() && definition.proxy.check_host_against_uptime_tests,
        discovery,
    })
}

fn uptime_check(test: &UptimeCheck, tls: &TlsSettings) -> Result<TargetCheck, String> {
    let (protocol, place) = test.place().ok_or("has an unknown protocol")?;
    let name = test.url.clone();
    if protocol == CheckProtocol::Http {
        let parts = split_url(&place).ok_or("must be a URL")?;
        let uri: Uri = place.parse().map_err(|_| "must be a URL".to_owned())?;
        let host = uri.host().unwrap_or_default().to_owned();
        let method = match test.method.as_str() {
            "" => Method::GET,
            method => method.parse().map_err(|_| format!("{method} is not a method"))?,
        };
        let body = STANDARD.decode(&test.body).unwrap_or_else(|_| test.body.clone().into_bytes());
        let kind = CheckKind::Http {
            method,
            headers: headers(&test.headers)?,
            body: Bytes::from(body),
            tls: TlsRules { service: ServiceKind::Health, ..tls.for_host(&host) },
            statuses: vec![EXPECTED],
            uri,
        };
        return Ok(TargetCheck { name, authority: Some(parts.authority.to_owned()), kind, time_max: test.time_max() });
    }
    let (host, port) = place.rsplit_once(':').ok_or("must be host:port")?;
    let port = port.parse().map_err(|_| format!("{port} is not a port"))?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let dialogue = test.commands.iter().map(|command| match command.name.as_str() {
        "send" => DialogueStep::Send(command.message.clone().into_bytes()),
        _ => DialogueStep::Expect(command.message.clone().into_bytes()),
    });
    let kind = CheckKind::Tcp {
        port,
        tls: (protocol == CheckProtocol::Tls).then(|| tls.for_host(&host)),
        host,
        announces_client: test.enable_proxy_protocol,
        dialogue: dialogue.collect(),
    };
    Ok(TargetCheck { name, authority: Some(place.clone()), kind, time_max: test.time_max() })
}

fn headers(written: &BTreeMap<String, String>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in written {
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{name} is not a header name"))?;
        headers.insert(key, HeaderValue::from_str(value).map_err(|_| format!("the value of {name} can't be a header's"))?);
    }
    Ok(headers)
}

/// Checks of each target. `tls` has the rules for a host.
pub(super) fn each_target(checks: &ActiveChecks, tls: impl Fn(&str) -> TlsRules + Send + Sync + 'static) -> TargetWatch {
    let (interval, rise, fall) = (Duration::from_millis(checks.interval_ms), checks.rise, checks.fall);
    let checks = checks.clone();
    TargetWatch {
        checks: TargetChecks::EachTarget(Box::new(move |target| target_check(target, &checks, &tls))),
        interval,
        rise,
        fall,
        decides: true,
        record: None,
        discovery: None,
    }
}

fn target_check(target: &PoolTarget, checks: &ActiveChecks, tls: &impl Fn(&str) -> TlsRules) -> Option<TargetCheck> {
    let parts = split_url(&target.url)?;
    let scheme = parts.scheme.to_ascii_lowercase();
    let is_secure = matches!(scheme.as_str(), "https" | "wss" | "tls");
    let uri: Uri = format!("{}://{}{}", if is_secure { "https" } else { "http" }, parts.authority, checks.path).parse().ok()?;
    let host = uri.host()?.to_owned();
    let rules = is_secure.then(|| tls(&host));
    // Targets that speak HTTP/2 without negotiation, or something else, would not understand the request.
    let kind = if checks.path.is_empty() || matches!(scheme.as_str(), "h2c" | "tcp" | "tls") {
        let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        CheckKind::Tcp { host, port, tls: rules, announces_client: false, dialogue: Vec::new() }
    } else {
        let (method, headers, body) = (Method::GET, headers(&checks.headers).ok()?, Bytes::new());
        CheckKind::Http {
            method,
            uri,
            headers,
            body,
            tls: TlsRules { service: ServiceKind::Health, ..rules.unwrap_or_default() },
            statuses: checks.statuses.clone(),
        }
    };
    let time_max = Duration::from_millis(checks.timeout_ms);
    Some(TargetCheck { name: target.url.clone(), authority: None, kind, time_max })
}

/// Where the targets come from.
pub(super) fn discovery(
    definition: &ApiDefinition,
    tls: &TlsSettings,
    found: Arc<ArcSwap<Vec<FoundTarget>>>,
    build: Box<ListBuilder>,
    context: &mut Context<'_>,
) -> Option<Discovery> {
    let written = &definition.proxy.service_discovery;
    if let Some(srv) = definition.tollgate.upstream.as_ref().and_then(|rules| rules.srv.as_ref()) {
        if written.use_discovery_service {
            context.error("$.tollgate.upstream.srv", "proxy.service_discovery finds targets as well: an API has one source");
        }
        let source = DiscoverySource::Dns {
            resolver: SrvResolver::new(&context.settings.upstreams.name_servers),
            name: srv.name.clone(),
            scheme: if srv.scheme.is_empty() { definition.target_scheme().to_owned() } else { srv.scheme.clone() },
            path: srv.path.clone(),
        };
        return Some(Discovery { source, interval: Duration::ZERO, found, build });
    }
    let Ok(uri) = written.query_endpoint.parse::<Uri>() else {
        context.error("$.proxy.service_discovery.query_endpoint", "is not a URL");
        return None;
    };
    let interval = match (written.cache_disabled, u64::try_from(written.cache_timeout).unwrap_or_default()) {
        (true, _) => Duration::from_secs(1),
        (false, 0) => context.settings.upstreams.discovery_interval,
        (false, seconds) => Duration::from_secs(seconds),
    };
    // As in Tyk, which takes all other paths from the answer itself.
    let has_parent = written.use_nested_query || written.use_target_list && !written.endpoint_returns_list;
    let parent = Some(&written.parent_data_path).filter(|path| has_parent && (written.use_nested_query || !path.is_empty()));
    let shape = AnswerShape {
        parent_path: parent.cloned(),
        is_nested: written.use_nested_query,
        host_path: written.data_path.clone(),
        scheme: definition.target_scheme(),
        port_path: written.port_data_path.clone(),
        target_path: written.target_path.clone(),
        is_list: written.endpoint_returns_list,
        takes_all: written.use_target_list,
    };
    let tls = TlsRules { service: ServiceKind::Discovery, ..tls.for_host(uri.host().unwrap_or_default()) };
    let source = DiscoverySource::Service { tls, uri, shape };
    Some(Discovery { source, interval, found, build })
}
