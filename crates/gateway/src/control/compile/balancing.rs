//! Compiles `tollgate.upstream`: pools of targets and the rules for them.

use crate::data::balanced::{BalancedUpstreams, CompiledPart, CompiledRetries, HashedValue, Sticky};
use crate::data::middleware::Context;
use crate::data::pool_name::PoolName;
use crate::data::target_pool::{PoolTarget, TargetList, TargetPool};
use crate::data::upstream::Upstream;
use arc_swap::ArcSwap;
use std::sync::Arc;
use tollgate_balance::{Backoff, BalanceMethod, BudgetRules, Candidate, Candidates, HealthRules, hash_bytes};
use tollgate_model::api::{
    ApiDefinition, BalanceRule, HashedPart, PassiveHealth, RetryRules, StickyCookie, UpstreamRules, WeightedTarget,
};

const NS_PER_MS: u64 = 1_000_000;

/// The upstreams of a version by the rules of its API. `None` if they are unusable.
pub(super) fn compile(
    definition: &ApiDefinition,
    rules: &UpstreamRules,
    version: &str,
    context: &mut Context<'_>,
) -> Option<BalancedUpstreams> {
    let method = method(rules);
    let health = health_rules(rules.health.as_ref());
    let name = |part: &str| PoolName { api: definition.api_id.clone(), version: version.to_owned(), part: part.to_owned() };
    let mut pool = |part: &str, path: &str, targets: &[WeightedTarget]| {
        pool(definition, name(part), (path, targets), (method, health), context)
    };
    let own = pool("", "targets", &rules.targets(&definition.proxy));
    let mut percent = 0.0;
    let parts = rules.split.iter().enumerate().map(|(index, part)| {
        percent += part.percent;
        Some(CompiledPart {
            pool: pool(&part.name, &format!("split[{index}].targets"), &part.targets())?,
            // 100 percent is every random number.
            until: if percent >= 100.0 { u64::MAX } else { (percent / 100.0 * u64::MAX as f64) as u64 },
            header: part.header.as_ref().map(|header| (header.name.clone(), header.value.clone())),
            cookie: part.cookie.as_ref().map(|cookie| (cookie.name.clone(), cookie.value.clone())),
        })
    });
    let split: Vec<Option<CompiledPart>> = parts.collect();
    let mut fault_statuses = rules.health.as_ref().map(|health| health.statuses.clone()).unwrap_or_default();
    fault_statuses.sort_unstable();
    Some(BalancedUpstreams {
        pool: own?,
        split: split.into_iter().collect::<Option<_>>()?,
        hashed: hashed(rules),
        sticky: rules.sticky_cookie.as_ref().map(sticky),
        fault_statuses,
        retries: rules.retries.as_ref().map(retries),
    })
}

fn pool(
    definition: &ApiDefinition,
    name: PoolName,
    (path, targets): (&str, &[WeightedTarget]),
    (method, health): (BalanceMethod, HealthRules),
    context: &mut Context<'_>,
) -> Option<Arc<TargetPool>> {
    let tls = context.upstream_tls(definition);
    let mut list = Vec::new();
    let mut candidates = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let upstream = match Upstream::new(&target.url, &tls, context.registry) {
            Ok(upstream) => upstream,
            Err(error) => {
                context.error(format!("$.tollgate.upstream.{path}[{index}]"), error);
                return None;
            }
        };
        candidates.push(Candidate {
            weight: target.weight,
            hash: hash_bytes(target.url.as_bytes()),
            tier: 0,
            health: context.registry.target_health(&name, &target.url),
        });
        let sticky_id = context.settings.sticky_id(&definition.api_id, &target.url);
        list.push(PoolTarget { url: target.url.clone(), upstream, sticky_id });
    }
    let budget = context.registry.retry_budget(&name);
    let targets = ArcSwap::from_pointee(TargetList::new(list, Candidates::new(candidates, method, health)));
    Some(Arc::new(TargetPool { name, targets, budget }))
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
    match rules.hash.by {
        HashedPart::Address => HashedValue::Address,
        HashedPart::Header => HashedValue::Header(rules.hash.name.clone()),
        HashedPart::Cookie => HashedValue::Cookie(rules.hash.name.clone()),
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
        try_ms: (rules.try_ms > 0).then_some(rules.try_ms),
        backoff: Backoff { first: rules.backoff_ms * NS_PER_MS, most: rules.backoff_ms_max * NS_PER_MS },
        budget: BudgetRules { percent: rules.budget_percent, saved_max: rules.budget_saved_max, per_s_min: rules.budget_per_s_min },
        body_bytes_max: rules.body_bytes_max,
    }
}

/// The rules for the health of targets. Without any, no response ejects a target.
fn health_rules(health: Option<&PassiveHealth>) -> HealthRules {
    let off = PassiveHealth { consecutive_faults: 0, fault_percent: 0, latency_factor: 0.0, ..PassiveHealth::default() };
    let health = health.unwrap_or(&off);
    HealthRules {
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
