//! Watches the targets of pools while no request asks for it: runs their checks, and asks discovery services for their lists. Each pool has its
//! own task, which ends with the pool.

mod answer;
mod check;
mod srv;

use check::CheckFault;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tollgate_balance::{CheckState, Nanos};
use tollgate_data::balanced::nanos;
use tollgate_data::found_target::FoundTarget;
use tollgate_data::gateway_state::GatewayState;
use tollgate_data::host_events::HostEvent;
use tollgate_data::target_pool::TargetPool;
use tollgate_data::target_watch::{Discovery, DiscoverySource, TargetCheck};
use tollgate_observe::UptimeResult;
use tollgate_outbound::{Call, CallClient};

/// How often a new snapshot is looked for.
const LOOK: Duration = Duration::from_millis(200);
/// Most checks at one time, as in Tyk: thousands of targets must not open thousands of connections at once.
const CHECKS_MAX: usize = 50;
/// Time limit and largest answer of a discovery service.
const DISCOVERY_TIME_MAX: Duration = Duration::from_secs(10);
const DISCOVERY_BYTES_MAX: usize = 1 << 20;
/// Bounds for the time that an answer of DNS holds: a time of 0 must not make a storm of questions, and a mistake must not last for days.
const DNS_INTERVAL_MIN: Duration = Duration::from_secs(1);
const DNS_INTERVAL_MAX: Duration = Duration::from_secs(300);
/// Time between two questions while DNS does not answer.
const DNS_RETRY_TIME: Duration = Duration::from_secs(5);

/// Watches the pools of every snapshot, and the backends that are checked.
pub async fn watch_targets(shared: Arc<GatewayState>) {
    let mut watched: Vec<Weak<TargetPool>> = Vec::new();
    let mut seen = None;
    let slots = Arc::new(Semaphore::new(CHECKS_MAX));
    loop {
        let backends = &shared.registry.routing.backends;
        let now = (shared.generation.load(Ordering::Acquire), backends.checks_revision());
        if seen.replace(now) != Some(now) {
            watched.retain(|pool| pool.strong_count() > 0);
            let (snapshot, checked) = (shared.current.load(), backends.checked());
            for pool in snapshot.target_pools().filter(|pool| pool.watch.is_some()).chain(&checked) {
                let weak = Arc::downgrade(pool);
                if watched.iter().any(|known| known.ptr_eq(&weak)) {
                    continue;
                }
                let Some(client) = shared.registry.auth_client.get() else { continue };
                if pool.watch.as_ref().is_some_and(|watch| watch.discovery.is_some()) {
                    client.spawn(discover(weak.clone(), client.clone()));
                }
                if pool.watch.as_ref().is_some_and(|watch| !watch.checks.is_empty()) {
                    client.spawn(check_targets(weak.clone(), client.clone(), shared.clone(), slots.clone()));
                }
                watched.push(weak);
            }
        }
        sleep(LOOK).await;
    }
}

/// Asks a discovery service again and again. Whatever goes wrong, the last good list stays.
async fn discover(pool: Weak<TargetPool>, client: Arc<CallClient>) {
    let mut failed = false;
    loop {
        let Some(pool) = pool.upgrade() else { return };
        let Some(discovery) = pool.watch.as_ref().and_then(|watch| watch.discovery.as_ref()) else { return };
        let mut interval = if discovery.interval.is_zero() { DNS_RETRY_TIME } else { discovery.interval };
        match ask(&client, discovery).await {
            Ok(found) => {
                interval = found.interval;
                failed = take(&pool, discovery, found.targets, failed);
            }
            Err(error) => report(&pool, &error, &mut failed),
        }
        drop(pool);
        sleep(interval).await;
    }
}

fn report(pool: &TargetPool, error: &str, failed: &mut bool) {
    // Once for each outage.
    if !std::mem::replace(failed, true) {
        tracing::warn!(api = pool.name.api, error, "discovery failed; the last good list of targets stays");
    }
}

/// Uses a list that was found. Returns whether it is unusable.
fn take(pool: &TargetPool, discovery: &Discovery, mut found: Vec<FoundTarget>, mut failed: bool) -> bool {
    // Services and name servers may order their answers as they like.
    found.sort_by(|a, b| (a.priority, &a.url).cmp(&(b.priority, &b.url)));
    if found == **discovery.found.load() {
        return false;
    }
    match (discovery.build)(&found) {
        Ok(list) => {
            tracing::info!(api = pool.name.api, targets = found.len(), "targets discovered");
            pool.targets.store(Arc::new(list));
            discovery.found.store(Arc::new(found));
            false
        }
        Err(error) => {
            report(pool, &error, &mut failed);
            true
        }
    }
}

/// Targets, and when to ask again.
struct FoundTargets {
    targets: Vec<FoundTarget>,
    interval: Duration,
}

async fn ask(client: &CallClient, discovery: &Discovery) -> Result<FoundTargets, String> {
    match &discovery.source {
        DiscoverySource::Service { uri, tls, shape } => {
            let call = Call::get(uri.clone(), tls.clone(), DISCOVERY_TIME_MAX, DISCOVERY_BYTES_MAX);
            let reply = client.call(call).await.map_err(|fault| fault.to_string())?;
            if !reply.status.is_success() {
                return Err(format!("the service answered with status {}", reply.status.as_u16()));
            }
            let urls = answer::targets(&reply.body, shape)?;
            let targets = urls.into_iter().map(|url| FoundTarget { url, weight: 1, priority: 0 }).collect();
            Ok(FoundTargets { targets, interval: discovery.interval })
        }
        DiscoverySource::Dns { resolver, name, scheme, path } => {
            let asking = timeout(DISCOVERY_TIME_MAX, resolver.lookup(name)).await;
            let (records, life) = asking.map_err(|_| "no name server answered in time".to_owned())??;
            let targets = srv::targets(records, scheme, path)?;
            Ok(FoundTargets { targets, interval: life.clamp(DNS_INTERVAL_MIN, DNS_INTERVAL_MAX) })
        }
    }
}

/// Runs the checks of a pool round after round.
async fn check_targets(pool: Weak<TargetPool>, client: Arc<CallClient>, shared: Arc<GatewayState>, slots: Arc<Semaphore>) {
    let mut states: BTreeMap<String, CheckState> = BTreeMap::new();
    loop {
        let Some(pool) = pool.upgrade() else { return };
        let Some(watch) = &pool.watch else { return };
        let checks = watch.checks.of(&pool.targets.load());
        let running: Vec<_> = checks.iter().map(|check| tokio::spawn(run(client.clone(), slots.clone(), check.clone()))).collect();
        states.retain(|name, _| checks.iter().any(|check| check.name == *name));
        let mut results = Vec::new();
        for (check, running) in checks.iter().zip(running) {
            let lost = |_| (Err("the check could not be run".to_owned().into()), Duration::ZERO);
            let (outcome, time) = running.await.unwrap_or_else(lost);
            let state = states.entry(check.name.clone()).or_default();
            results.push(UptimeResult { url: &check.name, time, status: answered(&outcome) });
            if let Some(is_up) = state.note(outcome.is_ok(), watch.rise, watch.fall) {
                let (status, error) = outcome.map_or_else(|fault| (fault.status, fault.error), |status| (status, String::new()));
                shared.host_events.tell(&HostEvent { api: &pool.name.api, check: &check.name, is_up, error: &error, status });
            }
        }
        if let (Some(records), Some(record)) = (&shared.uptime_records, &watch.record) {
            records.write((&pool.name.api, &record.org_id), record.life_s, &results).await;
        }
        // What nobody uses any more must not decide: nothing would take its verdict back.
        if watch.decides && Arc::strong_count(&pool) > 1 {
            apply(&pool, &checks, &states, nanos(shared.start.elapsed()));
        }
        let interval = watch.interval;
        drop(pool);
        sleep(interval).await;
    }
}

/// Takes targets out that a check finds down, and lets the others in again.
fn apply(pool: &TargetPool, checks: &[Arc<TargetCheck>], states: &BTreeMap<String, CheckState>, now: Nanos) {
    let list = pool.targets.load();
    for (target, candidate) in list.targets.iter().zip(list.candidates.list()) {
        let is_own = |check: &&Arc<TargetCheck>| match &check.authority {
            Some(authority) => authority.eq_ignore_ascii_case(&target.upstream.host),
            None => check.name == target.url,
        };
        let mut own = checks.iter().filter(is_own);
        let is_down = own.any(|check| states.get(&check.name).is_some_and(|state| !state.is_up()));
        candidate.health.set_down(is_down, now);
    }
}

/// The status that a check's record has, as in Tyk: 200 for a dialogue. `None` if there was no answer.
fn answered(outcome: &Result<u16, CheckFault>) -> Option<u16> {
    match outcome {
        Ok(0) => Some(200),
        Ok(status) => Some(*status),
        Err(fault) => Some(fault.status).filter(|status| *status != 0),
    }
}

/// Runs one check, and measures it.
async fn run(client: Arc<CallClient>, slots: Arc<Semaphore>, check: Arc<TargetCheck>) -> (Result<u16, CheckFault>, Duration) {
    // `acquire` cannot fail: the semaphore is never closed.
    let _slot = slots.acquire().await;
    let start = Instant::now();
    (check::run(&client, &check).await, start.elapsed())
}
