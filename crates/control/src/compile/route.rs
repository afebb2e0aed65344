//! Compiles `tollgate.route`: how requests reach the API, and the upstreams of its rules.

use super::balancing::{self, point};
use arc_swap::ArcSwap;
use std::sync::Arc;
use tollgate_balance::{Backoff, BudgetRules};
use tollgate_data::balanced::{
    BalancedUpstreams, CompiledPart, CompiledRetries, HashedValue, Mirror, MirrorTarget, PartFilters, Sticky,
};
use tollgate_data::middleware::Context;
use tollgate_data::pool_name::PoolName;
use tollgate_data::route::{RuleConditions, RulePath, ValueCondition, ValuePattern, normal_domain};
use tollgate_data::route_rules::{CompiledMatch, CompiledRoute, RouteAttached, RuleRewrite, header_changes};
use tollgate_data::snapshot::Upstreams;
use tollgate_data::target_list::{EmptyList, TargetList};
use tollgate_data::target_pool::TargetPool;
use tollgate_data::upstream::{Upstream, without_credentials};
use tollgate_model::api::{
    ApiDefinition, RetryCause, RouteBackend, RouteDefinition, RouteKind, RouteMatch, RouteMirror, RouteRetries, RouteRule,
    RouteSticky, SameSite, ValueMatch,
};

const NS_PER_MS: u64 = 1_000_000;
/// Largest body of a request that is copied.
const MIRRORED_BODY_BYTES_MAX: usize = 64 * 1024;
/// How many other endpoints are tried for a request that has reached nobody.
const OTHERS_TRIED_MAX: u32 = 4;
/// Retries are bounded by the attempts of each request alone.
const NO_BUDGET: BudgetRules = BudgetRules { percent: 100, saved_max: 0, per_s_min: u32::MAX };

/// A rule with its place.
#[derive(Clone, Copy)]
pub(super) struct NumberedRule<'d> {
    pub index: usize,
    pub rule: &'d RouteRule,
}

/// How requests reach the API.
pub(super) fn compile(definition: &ApiDefinition, context: &mut Context<'_>) -> Option<CompiledRoute> {
    let route = definition.tollgate.route.as_ref()?;
    let mut matches = Vec::new();
    let any = [RouteMatch::default()];
    for (rule, written) in route.rules.iter().enumerate() {
        let hosts: Arc<[String]> = written.hosts.iter().map(|host| normal_domain(host).into_owned()).collect();
        let list = if written.matches.is_empty() { any.as_slice() } else { written.matches.as_slice() };
        for (index, matched) in list.iter().enumerate() {
            let at = format!("$.tollgate.route.rules[{rule}].matches[{index}]");
            if let Some((path, conditions)) = compile_match(matched, &at, context) {
                matches.push(CompiledMatch { rule, hosts: hosts.clone(), path, conditions: Arc::new(conditions) });
            }
        }
    }
    // Stable: equal ones stay in the order of the rules.
    matches.sort_by_key(CompiledMatch::order);
    let own_port = [tollgate_model::api::RouteAttachment::default()];
    let attached = if route.attached.is_empty() { own_port.as_slice() } else { route.attached.as_slice() };
    let attached = attached.iter().map(|attached| RouteAttached {
        listener: attached.listener.clone(),
        hosts: attached.hosts.iter().map(|host| normal_domain(host).into_owned()).collect(),
    });
    Some(CompiledRoute { precedence: route.precedence.clone(), attached: attached.collect(), matches })
}

fn compile_match(written: &RouteMatch, at: &str, context: &mut Context<'_>) -> Option<(RulePath, RuleConditions)> {
    let path = &written.path;
    let path = match (&path.exact, &path.prefix, &path.starts_with, &path.regex) {
        (Some(exact), ..) => RulePath::Exact(exact.clone()),
        (_, _, Some(start), _) => RulePath::Start(start.clone()),
        (_, _, _, Some(regex)) => {
            let path = RulePath::pattern(regex);
            path.map_err(|error| context.error(format!("{at}.path.regex"), format!("not a valid pattern: {error}"))).ok()?
        }
        (_, prefix, ..) => RulePath::Prefix(prefix.as_deref().unwrap_or_default().trim_end_matches('/').to_owned()),
    };
    let method = Some(written.method.clone()).filter(|method| !method.is_empty());
    let headers = conditions(&written.headers, &format!("{at}.headers"), context)?;
    let query = conditions(&written.query, &format!("{at}.query"), context)?;
    Some((path, RuleConditions { method, headers, query }))
}

fn conditions(written: &[ValueMatch], at: &str, context: &mut Context<'_>) -> Option<Vec<ValueCondition>> {
    let mut list: Vec<ValueCondition> = Vec::with_capacity(written.len());
    for (index, value) in written.iter().enumerate() {
        let pattern = match (&value.exact, &value.regex) {
            (_, Some(regex)) => {
                let pattern = ValuePattern::expression(regex);
                let at = format!("{at}[{index}].regex");
                pattern.map_err(|error| context.error(at, format!("not a valid pattern: {error}"))).ok()?
            }
            (exact, None) => ValuePattern::Exact(exact.clone().unwrap_or_default()),
        };
        // Of entries with one name, the first counts.
        if !list.iter().any(|known| known.name.eq_ignore_ascii_case(&value.name)) {
            list.push(ValueCondition { name: value.name.clone(), pattern });
        }
    }
    Some(list)
}

/// The upstreams of a rule. `None` if they are unusable.
pub(super) fn upstreams(definition: &ApiDefinition, numbered: NumberedRule<'_>, context: &mut Context<'_>) -> Option<Upstreams> {
    let NumberedRule { index, rule } = numbered;
    let kind = definition.tollgate.route.as_ref().map_or(RouteKind::Http, |route| route.kind);
    let at = format!("$.tollgate.route.rules[{index}]");
    let rules = definition.tollgate.route.iter().flat_map(|route| &route.rules);
    let is_named = !rule.name.is_empty() && rules.filter(|other| other.name == rule.name).count() == 1;
    let rule_name = if is_named { rule.name.clone() } else { format!("rules[{index}]") };
    let name = |part: &str| PoolName { api: definition.api_id.clone(), version: rule_name.clone(), part: part.to_owned() };
    let weights: u64 = rule.backends.iter().map(|backend| u64::from(backend.weight)).sum();
    let mut split = Vec::new();
    let mut before = 0;
    for (number, backend) in rule.backends.iter().enumerate().filter(|(_, backend)| backend.weight > 0) {
        before += u64::from(backend.weight);
        let at = format!("{at}.backends[{number}]");
        let targets = if backend.url.is_empty() {
            context.registry.routing.backends.get(&backend.backend)
        } else {
            let list = balancing::list_of_url(definition, &name(&backend.url), &backend.url, context);
            let list = list.map_err(|error| context.error(format!("{at}.url"), error)).ok()?;
            Arc::new(ArcSwap::from_pointee(list))
        };
        let label = backend_label(backend);
        // Figures have one place for each.
        let is_only = rule.backends.iter().filter(|other| backend_label(other) == label).count() == 1;
        let part = if is_only { label.clone() } else { format!("{label} [{number}]") };
        split.push(CompiledPart {
            pool: pool(name(&part), targets, context),
            until: if before == weights { u64::MAX } else { point(before as f64 * 100.0 / weights as f64) },
            header: None,
            cookie: None,
            filters: filters(definition, backend, &at, context)?,
        });
    }
    let nowhere = Arc::new(ArcSwap::from_pointee(TargetList::empty(EmptyList::Unknown)));
    Some(Upstreams::Balanced(Box::new(BalancedUpstreams {
        pool: pool(name(""), nowhere, context),
        split,
        hashed: rule.hash.as_ref().map_or(HashedValue::Nothing, balancing::hashed_part),
        sticky: rule.sticky.as_ref().map(sticky),
        fault_statuses: Vec::new(),
        retries: Some(retries(rule)),
        hedge: None,
        mirrors: mirrors(definition, &rule.mirrors, &format!("{at}.mirrors"), context)?,
        is_for_calls: kind == RouteKind::Grpc,
        answer_ms: Some(rule.timeouts.request_ms).filter(|time| *time > 0),
        is_punctual: true,
    })))
}

/// What names a backend in figures.
fn backend_label(backend: &RouteBackend) -> String {
    if backend.url.is_empty() { backend.backend.clone() } else { without_credentials(&backend.url) }
}

fn pool(name: PoolName, targets: Arc<ArcSwap<TargetList>>, context: &Context<'_>) -> Arc<TargetPool> {
    let budget = context.registry.retry_budget(&name);
    Arc::new(TargetPool { name, targets, budget, hedging: None, watch: None })
}

fn filters(
    definition: &ApiDefinition,
    backend: &RouteBackend,
    at: &str,
    context: &mut Context<'_>,
) -> Option<Option<Box<PartFilters>>> {
    let mirrors = mirrors(definition, &backend.mirrors, &format!("{at}.mirrors"), context)?;
    let rewrite = backend.rewrite.as_ref().map(RuleRewrite::new).transpose();
    let filters = PartFilters {
        request: header_changes(&backend.request_headers),
        response: header_changes(&backend.response_headers),
        rewrite: rewrite.map_err(|error| context.error(format!("{at}.rewrite.path.replace.regex"), error)).ok()?,
        mirrors,
    };
    let is_empty =
        filters.request.is_empty() && filters.response.is_empty() && filters.rewrite.is_none() && filters.mirrors.is_empty();
    Some((!is_empty).then(|| Box::new(filters)))
}

fn mirrors(definition: &ApiDefinition, written: &[RouteMirror], at: &str, context: &mut Context<'_>) -> Option<Vec<Mirror>> {
    let mut list = Vec::with_capacity(written.len());
    for (index, mirror) in written.iter().enumerate().filter(|(_, mirror)| mirror.numerator > 0) {
        let target = if mirror.url.is_empty() {
            MirrorTarget::Shared(context.registry.routing.backends.get(&mirror.backend))
        } else {
            let tls = context.upstream_tls(definition);
            let upstream = Upstream::new(&mirror.url, &tls, context.registry);
            let upstream = upstream.map_err(|error| context.error(format!("{at}[{index}].url"), error)).ok()?;
            MirrorTarget::Own(Box::new(upstream))
        };
        let until = point(f64::from(mirror.numerator) * 100.0 / f64::from(mirror.denominator.max(1)));
        list.push(Mirror { target, until, body_bytes_max: MIRRORED_BODY_BYTES_MAX });
    }
    Some(list)
}

fn sticky(written: &RouteSticky) -> Sticky {
    let path = if written.path.is_empty() { "/" } else { &written.path };
    let same_site = match written.same_site {
        SameSite::Lax => "Lax",
        SameSite::Strict => "Strict",
        SameSite::None => "None",
    };
    let mut attributes = format!("; Path={path}; HttpOnly; SameSite={same_site}");
    if written.absolute_timeout_s > 0 {
        attributes.push_str(&format!("; Max-Age={}", written.absolute_timeout_s));
    }
    if !written.domain.is_empty() {
        attributes.push_str(&format!("; Domain={}", written.domain));
    }
    if written.secure {
        attributes.push_str("; Secure");
    }
    Sticky { name: written.cookie.clone(), attributes }
}

/// How the requests of a rule are sent again. Without a word about that, those that have reached nobody go to other endpoints: one that is on its way
/// out is gone before the gateway hears of it.
fn retries(rule: &RouteRule) -> CompiledRetries {
    let unwritten = RouteRetries { attempts: OTHERS_TRIED_MAX, connection_errors: false, ..RouteRetries::default() };
    let written = rule.retries.as_ref().unwrap_or(&unwritten);
    let causes = match (written.connection_errors, rule.retries.is_some()) {
        (true, _) => vec![RetryCause::Connect, RetryCause::Closed, RetryCause::Timeout],
        (false, true) => Vec::new(),
        (false, false) => vec![RetryCause::Connect],
    };
    CompiledRetries {
        tries: written.attempts + 1,
        causes,
        statuses: written.statuses.clone(),
        methods: written.methods.clone(),
        any_method: written.methods.is_empty(),
        try_ms: Some(rule.timeouts.backend_request_ms).filter(|time| *time > 0),
        backoff: Backoff { first: 0, most: 0 },
        wait_min: written.backoff_ms * NS_PER_MS,
        elsewhere_only: rule.retries.is_none(),
        budget: NO_BUDGET,
        body_bytes_max: written.body_bytes_max,
    }
}

/// Whether the rules of a route decide where requests go: not, if a rule names no backend and the definition has a target of its own.
pub(super) fn has_backends(definition: &ApiDefinition, route: &RouteDefinition, rule: &RouteRule) -> bool {
    let has_own = !definition.proxy.target_url.is_empty() || definition.tollgate.upstream.is_some();
    !rule.backends.is_empty() || !has_own || route.kind == RouteKind::Stream
}
