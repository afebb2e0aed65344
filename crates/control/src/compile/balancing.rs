//! Compiles `tollgate.upstream` and what Tyk has of it: pools of targets and the rules for them.

use super::watch;
use arc_swap::ArcSwap;
use std::sync::Arc;
use std::time::Duration;
use tollgate_balance::{Backoff, BalanceMethod, BudgetRules, Candidate, Candidates, HealthRules, TargetHealth, hash_bytes};
use tollgate_data::balanced::{
    BalancedUpstreams, CompiledHedge, CompiledPart, CompiledRetries, HashedValue, Mirror, MirrorTarget, Sticky,
};
use tollgate_data::middleware::Context;
use tollgate_data::pool_name::PoolName;
use tollgate_data::registry::Registry;
use tollgate_data::settings::StickyKey;
use tollgate_data::target_list::{PoolTarget, TargetList};
use tollgate_data::target_pool::TargetPool;
use tollgate_data::target_watch::ListBuilder;
use tollgate_data::upstream::{Upstream, without_credentials};
use tollgate_model::api::{
    ApiDefinition, BalanceRule, HashRule, HashedPart, HedgeRule, PassiveHealth, RetryRules, StickyCookie, UpstreamRules,
    WeightedTarget,
};
use tollgate_tls::TlsSettings;

const NS_PER_MS: u64 = 1_000_000;
/// Second sendings that unused requests leave for later: a target that hangs is noticed by its other requests.
const HEDGES_SAVED_MAX: u32 = 20;

/// Whether the upstreams of an API follow rules.
pub(super) fn is_used(definition: &ApiDefinition, context: &Context<'_>) -> bool {
    definition.tollgate.upstream.is_some() || watch::has_uptime_tests(definition, context) || discovers(definition)
}

/// Whether there may be targets besides those of `proxy`.
pub(super) fn has_others(definition: &ApiDefinition) -> bool {
    let written = |rules: &UpstreamRules| !rules.targets.is_empty() || !rules.split.is_empty();
    discovers(definition) || definition.tollgate.upstream.as_ref().is_some_and(written)
}

fn discovers(definition: &ApiDefinition) -> bool {
    let finds_in_dns = definition.tollgate.upstream.as_ref().is_some_and(|rules| rules.srv.is_some());
    finds_in_dns || definition.proxy.service_discovery.use_discovery_service
}

/// The upstreams of a version by the rules of its API. `None` if they are unusable.
pub(super) fn compile(definition: &ApiDefinition, version: &str, context: &mut Context<'_>) -> Option<BalancedUpstreams> {
    let default = UpstreamRules::default();
    let rules = definition.tollgate.upstream.as_ref().unwrap_or(&default);
    let method = method(rules);
    let health = health_rules(rules.health.as_ref());
    let zone = context.settings.upstreams.zone.clone();
    let (tls, sticky_key, registry) =
        (context.upstream_tls(definition), context.settings.upstreams.sticky_key, context.registry.clone());
    let maker = |part: &str| ListMaker {
        name: PoolName { api: definition.api_id.clone(), version: version.to_owned(), part: part.to_owned() },
        tls: tls.clone(),
        sticky_key,
        registry: registry.clone(),
        zone: zone.clone(),
        method,
        health,
    };
    let mut mirrors = Vec::new();
    if let Some(mirror) = &rules.mirror {
        match Upstream::new(&mirror.url, &tls, context.registry) {
            Ok(upstream) => {
                let target = MirrorTarget::Own(Box::new(upstream));
                mirrors.push(Mirror { target, until: point(mirror.percent), body_bytes_max: mirror.body_bytes_max });
            }
            Err(error) => {
                context.error("$.tollgate.upstream.mirror.url", error);
                return None;
            }
        }
    }
    let own_maker = maker("");
    let makers: Vec<ListMaker> = rules.split.iter().map(|part| maker(&part.name)).collect();
    let own = pool(
        definition,
        own_maker,
        ("targets", &rules.targets(&definition.proxy, definition.target_scheme())),
        discovers(definition),
        context,
    );
    let mut percent = 0.0;
    let mut split = Vec::new();
    for (index, (part, maker)) in rules.split.iter().zip(makers).enumerate() {
        percent += part.percent;
        let path = format!("split[{index}].targets");
        split.push(CompiledPart {
            pool: pool(definition, maker, (&path, &part.targets(definition.target_scheme())), false, context)?,
            until: point(percent),
            header: part.header.as_ref().map(|header| (header.name.clone(), header.value.clone())),
            cookie: part.cookie.as_ref().map(|cookie| (cookie.name.clone(), cookie.value.clone())),
            filters: None,
        });
    }
    let mut fault_statuses = rules.health.as_ref().map(|health| health.statuses.clone()).unwrap_or_default();
    fault_statuses.sort_unstable();
    Some(BalancedUpstreams {
        pool: own?,
        split,
        hashed: hashed(rules),
        sticky: rules.sticky_cookie.as_ref().map(sticky),
        fault_statuses,
        retries: rules.retries.as_ref().map(retries),
        hedge: rules.hedge.as_ref().map(hedge),
        mirrors,
        is_for_calls: false,
        answer_ms: None,
        is_punctual: false,
    })
}

/// The random number below which this share of all random numbers is.
pub(super) fn point(percent: f64) -> u64 {
    // 100 percent is every random number.
    if percent >= 100.0 { u64::MAX } else { (percent / 100.0 * u64::MAX as f64) as u64 }
}

/// Makes lists of targets for one pool, now and when its list changes.
#[derive(Clone)]
struct ListMaker {
    name: PoolName,
    tls: TlsSettings,
    sticky_key: StickyKey,
    registry: Arc<Registry>,
    /// The gateway's zone; empty if that does not matter.
    zone: String,
    method: BalanceMethod,
    health: HealthRules,
}

impl ListMaker {
    /// Makes a list of a definition's targets.
    fn written_list(&self, targets: &[WeightedTarget]) -> Result<TargetList, (usize, String)> {
        let has_zone = !self.zone.is_empty() && targets.iter().any(|target| target.zone == self.zone);
        // Other zones are in the odd tier.
        let tier = |target: &WeightedTarget| u8::from(has_zone && target.zone != self.zone);
        self.list(targets.iter().map(|target| (target.url.as_str(), target.weight, tier(target))))
    }

    /// Makes a list of targets with their weights and tiers. `Err` has the index of the target that is unusable.
    fn list<'t>(&self, targets: impl Iterator<Item = (&'t str, u32, u8)>) -> Result<TargetList, (usize, String)> {
        let mut list = Vec::new();
        let mut candidates = Vec::new();
        for (index, (url, weight, tier)) in targets.enumerate() {
            let upstream = Upstream::new(url, &self.tls, &self.registry).map_err(|error| (index, error))?;
            let health = self.registry.target_health(&self.name, url);
            candidates.push(Candidate { weight, hash: hash_bytes(url.as_bytes()), tier, health });
            let sticky_id = self.sticky_key.id(&self.name.api, url);
            list.push(PoolTarget { url: without_credentials(url), upstream, sticky_id });
        }
        Ok(TargetList::new(list, Candidates::new(candidates, self.method, self.health)))
    }
}

/// The list of one target.
pub(super) fn list_of_url(
    definition: &ApiDefinition,
    name: &PoolName,
    url: &str,
    context: &Context<'_>,
) -> Result<TargetList, String> {
    let maker = ListMaker {
        name: name.clone(),
        tls: context.upstream_tls(definition),
        sticky_key: context.settings.upstreams.sticky_key,
        registry: context.registry.clone(),
        zone: String::new(),
        method: BalanceMethod::default(),
        health: health_rules(None),
    };
    maker.list(std::iter::once((url, 1, 0))).map_err(|(_, error)| error)
}

fn pool(
    definition: &ApiDefinition,
    maker: ListMaker,
    (path, targets): (&str, &[WeightedTarget]),
    discovers: bool,
    context: &mut Context<'_>,
) -> Option<Arc<TargetPool>> {
    let list = match maker.written_list(targets) {
        Ok(list) => list,
        Err((index, error)) => {
            context.error(format!("$.tollgate.upstream.{path}[{index}]"), error);
            return None;
        }
    };
    let name = maker.name.clone();
    let mut list = list;
    let discovery = match discovers {
        true => {
            let (found, build) = (context.registry.discovered(&name), list_builder(maker.clone()));
            let last = found.load_full();
            if !last.is_empty() {
                list = build(&last).unwrap_or(list);
            }
            Some(watch::discovery(definition, &maker.tls, found, build, context)?)
        }
        false => None,
    };
    let watch = watch::compile(definition, &maker.tls, discovery, context);
    if watch.as_ref().is_none_or(|watch| !watch.decides) {
        // No check will say that a target which was down is up.
        list.candidates.list().iter().for_each(|candidate| drop_verdict(&candidate.health));
    }
    let budget = context.registry.retry_budget(&name);
    let hedges = definition.tollgate.upstream.as_ref().is_some_and(|rules| rules.hedge.is_some());
    let hedging = hedges.then(|| context.registry.hedging(&name));
    Some(Arc::new(TargetPool { name, targets: Arc::new(ArcSwap::from_pointee(list)), budget, hedging, watch }))
}

pub(super) fn drop_verdict(health: &TargetHealth) {
    health.set_down(false, 0);
}

fn list_builder(maker: ListMaker) -> Box<ListBuilder> {
    Box::new(move |found| {
        let targets = found.iter().map(|target| (target.url.as_str(), target.weight, target.priority.saturating_mul(2)));
        maker.list(targets).map_err(|(index, error)| format!("{}: {error}", found.get(index).map_or("", |target| &target.url)))
    })
}

fn method(rules: &UpstreamRules) -> BalanceMethod {
    match rules.balance {
        BalanceRule::RoundRobin => BalanceMethod::RoundRobin,
        BalanceRule::Random => BalanceMethod::Random,
        BalanceRule::LeastRequests => BalanceMethod::LeastRequests,
        BalanceRule::PeakEwma => BalanceMethod::PeakEwma,
        BalanceRule::Hash => BalanceMethod::Hash { load_percent_max: rules.hash.load_percent_max },
    }
}

fn hashed(rules: &UpstreamRules) -> HashedValue {
    if rules.balance != BalanceRule::Hash {
        return HashedValue::Nothing;
    }
    hashed_part(&rules.hash)
}

/// What a rule hashes.
pub(super) fn hashed_part(rule: &HashRule) -> HashedValue {
    match rule.by {
        HashedPart::Address => HashedValue::Address,
        HashedPart::Header => HashedValue::Header(rule.name.clone()),
        HashedPart::Cookie => HashedValue::Cookie(rule.name.clone()),
        HashedPart::Path => HashedValue::Path,
    }
}

fn sticky(cookie: &StickyCookie) -> Sticky {
    let mut attributes = format!("; Path={}; HttpOnly; SameSite=Lax", cookie.path);
    if cookie.max_age_s > 0 {
        attributes.push_str(&format!("; Max-Age={}", cookie.max_age_s));
    }
    if cookie.secure {
        attributes.push_str("; Secure");
    }
    Sticky { name: cookie.name.clone(), attributes }
}

fn retries(rules: &RetryRules) -> CompiledRetries {
    CompiledRetries {
        tries: rules.tries,
        causes: rules.causes.clone(),
        statuses: rules.statuses.clone(),
        methods: rules.methods.iter().map(|method| method.to_ascii_uppercase()).collect(),
        any_method: false,
        wait_min: 0,
        elsewhere_only: false,
        try_ms: (rules.try_ms > 0).then_some(rules.try_ms),
        backoff: Backoff { first: rules.backoff_ms * NS_PER_MS, most: rules.backoff_ms_max * NS_PER_MS },
        budget: BudgetRules { percent: rules.budget_percent, saved_max: rules.budget_saved_max, per_s_min: rules.budget_per_s_min },
        body_bytes_max: rules.body_bytes_max,
    }
}

fn hedge(rule: &HedgeRule) -> CompiledHedge {
    CompiledHedge {
        after: Duration::from_millis(rule.after_ms),
        percentile: rule.percentile,
        // A minimum per second would send every request of a quiet API twice.
        budget: BudgetRules { percent: rule.budget_percent, saved_max: HEDGES_SAVED_MAX, per_s_min: 0 },
        body_bytes_max: rule.body_bytes_max,
    }
}

/// The rules for the health of targets. Without any, no response ejects a target.
pub(super) fn health_rules(health: Option<&PassiveHealth>) -> HealthRules {
    let off = PassiveHealth { consecutive_faults: 0, fault_percent: 0, latency_factor: 0.0, ..PassiveHealth::default() };
    let health = health.unwrap_or(&off);
    HealthRules {
        failed_connect: false,
        consecutive_faults: health.consecutive_faults,
        fault_percent: health.fault_percent,
        latency_factor: health.latency_factor,
        latency_min: health.latency_ms_min * NS_PER_MS,
        requests_min: health.requests_min,
        interval: health.interval_ms * NS_PER_MS,
        ejected: health.ejected_ms * NS_PER_MS,
        ejected_max: health.ejected_ms_max * NS_PER_MS,
        ejected_percent_max: health.ejected_percent_max,
        slow_start: health.slow_start_ms * NS_PER_MS,
    }
}
