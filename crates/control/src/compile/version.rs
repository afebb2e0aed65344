//! Compiles one version: its chain, its upstreams, and changes to its responses.

use super::route::{self, NumberedRule};
use super::{balancing, chain, expiry_of, federation, llm};
use std::sync::Arc;
use std::time::Duration;
use tollgate_data::exchange::ChainLink;
use tollgate_data::graphql::{GraphServer, GraphTerms, GraphqlApi, GraphqlSource};
use tollgate_data::header_change::HeaderChange;
use tollgate_data::header_names::HeaderNames;
use tollgate_data::middleware::Context;
use tollgate_data::route_rules::header_changes;
use tollgate_data::snapshot::{ApiVersion, Expiry, Upstreams};
use tollgate_data::template::{ValueTemplate, VariableScope};
use tollgate_data::upstream::{Upstream, split_url};
use tollgate_data::version_terms::VersionTerms;
use tollgate_http::is_value;
use tollgate_model::api::{ApiDefinition, VersionInfo};
use tollgate_model::reference::SecretSources;

/// With a rule, what of the version belongs to it.
pub(super) fn compile(
    definition: &ApiDefinition,
    name: &str,
    info: &VersionInfo,
    rule: Option<NumberedRule<'_>>,
    context: &mut Context<'_>,
) -> Option<ApiVersion> {
    let chain = chain::compile(definition, name, info, rule.map(|numbered| (numbered.index, numbered.rule)), context);
    let upstreams = upstreams(definition, info, rule, context);
    let expires = expiry_of(&info.expires);
    let (chain, matcher) = chain?;
    let removes_forwarded_for =
        !info.global_headers_disabled && info.global_headers_remove.iter().any(|name| name.eq_ignore_ascii_case("x-forwarded-for"));
    Some(ApiVersion {
        terms: VersionTerms { name: name.to_owned(), is_chosen: false, matcher, keeps_forwarded_for: removes_forwarded_for },
        expires,
        header_names: header_names(definition, &chain),
        chain,
        upstreams: upstreams?,
        first_byte_ms: first_byte_ms(definition, info),
        response_lines: response_lines(expiry_of(&definition.expiration), expires),
        replaces_rate_limit: context.settings.answers.reports_quotas && context.settings.answers.tyk_limit_headers,
        response_changes: response_changes(info, rule, &context.settings.documents.secrets),
    })
}

/// The endpoints of the OAuth 2.0 provider, as a separate version.
pub(super) fn compile_provider(definition: &ApiDefinition, context: &mut Context<'_>) -> Option<ApiVersion> {
    let (chain, matcher) = chain::compile_for_strangers(definition, context)?;
    Some(ApiVersion {
        terms: VersionTerms { name: String::new(), is_chosen: false, matcher, keeps_forwarded_for: false },
        expires: Expiry::Never,
        header_names: header_names(definition, &chain),
        chain,
        upstreams: Upstreams::Control,
        first_byte_ms: None,
        response_lines: Vec::new(),
        replaces_rate_limit: false,
        response_changes: Vec::new(),
    })
}

fn upstreams(
    definition: &ApiDefinition,
    info: &VersionInfo,
    rule: Option<NumberedRule<'_>>,
    context: &mut Context<'_>,
) -> Option<Upstreams> {
    if definition.graphql.is_executed() {
        return data_graph(definition, context);
    }
    if let (Some(numbered), Some(written)) = (rule, &definition.tollgate.route)
        && route::has_backends(definition, written, numbered.rule)
    {
        return route::upstreams(definition, numbered, context);
    }
    if let Some(mcp) = &definition.tollgate.mcp {
        return federation::upstream(definition, mcp, context);
    }
    if let Some(models) = &definition.tollgate.llm {
        return llm::upstream(definition, models, context);
    }
    let urls = match info.override_target.as_str() {
        "" => definition.proxy.targets(definition.target_scheme()),
        target => vec![target.to_owned()],
    };
    if let Some(parts) = urls.first().and_then(|url| split_url(url)).filter(|parts| parts.scheme == "tyk") {
        return Some(Upstreams::Loop(parts.authority.to_owned()));
    }
    let is_nowhere = urls.iter().all(String::is_empty);
    let has_targets = !is_nowhere || balancing::has_others(definition);
    if info.override_target.is_empty() && has_targets && balancing::is_used(definition, context) {
        return balancing::compile(definition, &info.name, context).map(|rules| Upstreams::Balanced(Box::new(rules)));
    }
    if is_nowhere {
        return Some(Upstreams::Nowhere);
    }
    let tls = context.upstream_tls(definition);
    let mut list = Vec::new();
    for (index, url) in urls.iter().enumerate() {
        if has_user(url) {
            let place = if urls.len() == 1 { "$.proxy.target_url".to_owned() } else { format!("$.proxy.target_list[{index}]") };
            context
                .warning(place, "has a user or password, which is not sent, as in Tyk: use upstream_auth.basic_auth or a header");
        }
        match Upstream::new(url, &tls, context.registry) {
            Ok(upstream) => list.push(upstream),
            Err(error) if urls.len() == 1 => context.error("$.proxy.target_url", error),
            Err(error) => context.error(format!("$.proxy.target_list[{index}]"), error),
        }
    }
    match list.len() {
        0 => None,
        1 => list.pop().map(Upstreams::One),
        _ => Some(Upstreams::Many { list, turn: context.registry.turn(format!("{}/{}", definition.api_id, info.name)) }),
    }
}

/// Whether a URL has user information before its host.
fn has_user(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}

/// The upstream that executes the queries of a GraphQL API.
fn data_graph(definition: &ApiDefinition, context: &mut Context<'_>) -> Option<Upstreams> {
    let rules = &definition.tollgate.graphql;
    let key = GraphqlSource::new(&definition.graphql, rules);
    // Its problems have been reported where requests are checked.
    let api = context.registry.graphql_api(&definition.api_id, key, || GraphqlApi::compile(&definition.graphql, rules)).ok()?;
    let places = definition.auth_methods().next().map(|method| definition.places(method));
    let credentials = places.filter(|_| !definition.use_keyless && !definition.strip_auth_data);
    let Some(client) = context.registry.graph_client.0.get() else {
        context.error("$.graphql.execution_mode", "the system cannot start the threads of data graphs");
        return None;
    };
    let terms = GraphTerms {
        name: definition.api_id.clone(),
        api,
        tls: context.upstream_tls(definition),
        credentials: credentials.and_then(|places| places.header().map(str::to_owned)),
        client,
        memory: context.registry.graph_client.1.clone(),
        api_calls: context.registry.api_calls.get().cloned(),
        consumers: context.registry.consumers.clone(),
    };
    Some(Upstreams::One(Upstream::within(Arc::new(GraphServer(Arc::new(terms))).connector(), context.registry)))
}

/// What a server within the process needs at most beside what it waits for.
const SPARE: Duration = Duration::from_secs(10);

/// How long the upstream may take until its response begins, in milliseconds, if it is not the time of the configuration.
fn first_byte_ms(definition: &ApiDefinition, info: &VersionInfo) -> Option<u64> {
    let applies = !info.global_enforce_timeout_disabled && info.global_enforce_timeout > 0.0;
    let enforced = applies.then_some((info.global_enforce_timeout * 1000.0) as u64);
    let (mcp, llm) = (definition.tollgate.mcp.as_ref(), definition.tollgate.llm.as_ref());
    let answered = mcp.map(federation::answer_time_max).or_else(|| llm.map(llm::answer_time_max));
    let within = answered.map(|time_max| u64::try_from((time_max + SPARE).as_millis()).unwrap_or(u64::MAX));
    enforced.or(within)
}

fn header_names(definition: &ApiDefinition, chain: &[ChainLink]) -> HeaderNames {
    let mut names = HeaderNames::default();
    if !definition.tollgate.forward_request_trailers {
        names.add_all();
        return names;
    }
    chain.iter().for_each(|link| link.middleware.header_names(&mut names));
    for method in definition.auth_methods() {
        let places = definition.places(method);
        places.header().into_iter().chain([places.signature.header.as_str()]).for_each(|name| names.add(name));
    }
    names.add(&definition.definition.key);
    definition.tag_headers.iter().for_each(|name| names.add(name));
    names
}

/// Header lines of every proxied response: the expiry of the API, or else of the version.
fn response_lines(api: Expiry, version: Expiry) -> Vec<u8> {
    let end = if let Expiry::At(_) = api { api } else { version };
    match end {
        Expiry::At(end) => format!("X-Tyk-Api-Expires: {}\r\n", httpdate::fmt_http_date(end).replace("GMT", "UTC")).into_bytes(),
        Expiry::Never | Expiry::Ended => Vec::new(),
    }
}

/// Header changes of the version that do not depend on the request.
fn response_changes(info: &VersionInfo, rule: Option<NumberedRule<'_>>, secrets: &SecretSources) -> Vec<HeaderChange> {
    let of_rule = rule.map(|numbered| header_changes(&numbered.rule.response_headers)).unwrap_or_default();
    if info.global_response_headers_disabled {
        return of_rule;
    }
    let removed = info.global_response_headers_remove.iter().map(|name| HeaderChange::Remove(name.as_str().into()));
    let set = info.global_response_headers.iter().filter_map(|(name, value)| {
        // The chain handles values with variables, per request. A secret may contain bytes that are invalid in a header line.
        let template = ValueTemplate::new(value, VariableScope { context: true, secrets });
        let value = template.literal().map(str::as_bytes).filter(|value| is_value(value));
        value.map(|value| HeaderChange::Set(name.as_str().into(), value.to_vec()))
    });
    removed.chain(set).chain(of_rule).collect()
}
