//! The part of a TrafficPolicy that acts on the endpoints of backends: members of their entries in the table.

use super::{invalid, members};
use crate::compile::http::milliseconds;
use crate::conditions::Fault;
use crate::objects::{ActiveHealthSettings, BackendHealthSettings, PassiveHealthSettings};
use serde_json::{Map, Value, json};

/// Shorter checks would cost more than requests.
const INTERVAL_MS_MIN: u64 = 100;
/// Longest time of the gateway's own members.
const TIME_MS_MAX: u64 = 3_600_000;
/// How long an endpoint is out at most, unless the policy says otherwise.
const EJECTED_MS_MAX: u64 = 60_000;

/// Members of backends.
///
/// # Errors
/// It can't act.
pub(super) fn backend_members(settings: &BackendHealthSettings) -> Result<Map<String, Value>, Fault> {
    let mut document = Map::new();
    if let Some(passive) = &settings.passive {
        document.insert("health".to_owned(), passive_document(passive)?);
    }
    if let Some(active) = &settings.active {
        document.insert("checks".to_owned(), active_document(active)?);
    }
    if document.is_empty() { Err(invalid("backendHealth needs passive or active")) } else { Ok(document) }
}

fn passive_document(written: &PassiveHealthSettings) -> Result<Value, Fault> {
    if written.consecutive_failures.unwrap_or(0) == 0 && written.failure_percent.unwrap_or(0) == 0 {
        return Err(invalid("backendHealth.passive needs consecutiveFailures or failurePercent"));
    }
    let ejected_ms = time("passive.ejectFor", &written.eject_for, 1)?;
    let usual_max = ejected_ms.filter(|time| *time > EJECTED_MS_MAX);
    let ejected_ms_max = time("passive.maxEjectFor", &written.max_eject_for, ejected_ms.unwrap_or(1))?.or(usual_max);
    let mut document = members(json!({
        "consecutive_faults": written.consecutive_failures.unwrap_or(0),
        "fault_percent": percent("failurePercent", written.failure_percent)?.unwrap_or(0),
    }));
    let others = [
        ("requests_min", written.min_requests.map(|requests| json!(requests))),
        ("interval_ms", time("passive.interval", &written.interval, 1)?.map(|time| json!(time))),
        ("statuses", statuses("passive", written.statuses.as_deref())?),
        ("ejected_ms", ejected_ms.map(|time| json!(time))),
        ("ejected_ms_max", ejected_ms_max.map(|time| json!(time))),
        ("ejected_percent_max", percent("maxEjectedPercent", written.max_ejected_percent)?.map(|percent| json!(percent))),
    ];
    document.extend(others.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    Ok(Value::Object(document))
}

fn active_document(written: &ActiveHealthSettings) -> Result<Value, Fault> {
    let is_path = |path: &&String| path.starts_with('/') && path.bytes().all(|byte| (0x21..0x7f).contains(&byte));
    if let Some(path) = written.path.as_ref().filter(|path| !is_path(path)) {
        return Err(invalid(format!("backendHealth.active.path is `{path}`, and must be a path such as /health")));
    }
    let thresholds = [("healthyThreshold", written.healthy_threshold), ("unhealthyThreshold", written.unhealthy_threshold)];
    if let Some((name, _)) = thresholds.iter().find(|(_, threshold)| *threshold == Some(0)) {
        return Err(invalid(format!("backendHealth.active.{name} must be at least 1")));
    }
    let members = [
        ("path", written.path.as_ref().map(|path| json!(path))),
        ("interval_ms", time("active.interval", &written.interval, INTERVAL_MS_MIN)?.map(|time| json!(time))),
        ("timeout_ms", time("active.timeout", &written.timeout, 1)?.map(|time| json!(time))),
        ("rise", written.healthy_threshold.map(|threshold| json!(threshold))),
        ("fall", written.unhealthy_threshold.map(|threshold| json!(threshold))),
        ("statuses", statuses("active", written.statuses.as_deref())?),
    ];
    Ok(Value::Object(members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()))
}

fn time(name: &str, written: &Option<String>, min: u64) -> Result<Option<u64>, Fault> {
    let Some(text) = written else { return Ok(None) };
    let time = milliseconds(text).map_err(|fault| invalid(format!("backendHealth.{name}: {}", fault.message)))?;
    if (min..=TIME_MS_MAX).contains(&time) {
        return Ok(Some(time));
    }
    Err(invalid(format!("backendHealth.{name} is {text}, and must be from {min}ms to 1h")))
}

fn percent(name: &str, written: Option<u32>) -> Result<Option<u32>, Fault> {
    match written {
        Some(percent) if !(1..=100).contains(&percent) => {
            Err(invalid(format!("backendHealth.passive.{name} must be from 1 to 100")))
        }
        written => Ok(written),
    }
}

fn statuses(kind: &str, written: Option<&[u16]>) -> Result<Option<Value>, Fault> {
    match written.and_then(|list| list.iter().find(|status| !(100..=599).contains(*status))) {
        Some(status) => Err(invalid(format!("backendHealth.{kind}.statuses has {status}, which is no status"))),
        None => Ok(written.map(|list| json!(list))),
    }
}
