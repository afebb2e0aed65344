//! What a RateLimitPolicy makes of definitions.

use super::traffic::address;
use super::{Effect, invalid, members};
use crate::compile::http::milliseconds;
use crate::conditions::Fault;
use crate::objects::{ConcurrentRequests, LimitPer, RateLimitSettings, StoreFailureRule};
use serde_json::{Map, Value, json};

/// The longest window: a day.
const WINDOW_MS_MAX: u64 = 86_400_000;

/// # Errors
/// It can't act.
pub(super) fn effect(settings: &RateLimitSettings) -> Result<Effect, Fault> {
    if settings.limits.is_empty() && settings.concurrent.is_none() {
        return Err(invalid("It has no limits"));
    }
    let mut limits = Vec::with_capacity(settings.limits.len());
    for written in &settings.limits {
        let window_ms = milliseconds(&written.window).map_err(|fault| invalid(fault.message))?;
        if !(1..=WINDOW_MS_MAX).contains(&window_ms) {
            return Err(invalid(format!("The window {} is not between 1ms and 24h", written.window)));
        }
        let (by, needs_name) = match written.per {
            LimitPer::Client => ("client", false),
            LimitPer::Address => ("address", false),
            LimitPer::Header => ("header", true),
            LimitPer::Claim => ("claim", true),
            LimitPer::Route => ("everybody", false),
        };
        let name = written.name.as_deref().unwrap_or_default();
        if needs_name && name.is_empty() {
            return Err(invalid(format!("A limit per {by} must have a name")));
        }
        let window_s = window_ms as f64 / 1000.0;
        let mut limit = json!({"requests": written.requests, "window_s": window_s, "by": by});
        if let Value::Object(limit) = &mut limit {
            limit.extend(needs_name.then(|| ("name".to_owned(), json!(name))));
            limit.extend(written.dry_run.then(|| ("dry_run".to_owned(), json!(true))));
            let on_failure = written.on_store_failure.map(|rule| match rule {
                StoreFailureRule::Local => "local",
                StoreFailureRule::Allow => "allow",
                StoreFailureRule::Deny => "deny",
            });
            limit.extend(on_failure.map(|rule| ("on_store_failure".to_owned(), json!(rule))));
        }
        limits.push(limit);
    }
    let mut own = Map::new();
    if !limits.is_empty() {
        own.insert("request_limits".to_owned(), json!(limits));
    }
    if let Some(ConcurrentRequests { per_address, exempt }) = &settings.concurrent {
        if *per_address == 0 {
            return Err(invalid("concurrent.perAddress must be at least 1"));
        }
        exempt.iter().try_for_each(|text| address(text))?;
        own.insert("concurrency".to_owned(), json!({"per_address": per_address, "exempt": exempt}));
    }
    Ok(Effect { members: members(json!({"tollgate": own})), ..Effect::default() })
}

/// Names the counters of limits: wherever a route is served, they are the same.
pub(super) fn name_counters(members: &mut Map<String, Value>, prefix: &str) {
    let limits = members.get_mut("tollgate").and_then(|tollgate| tollgate.get_mut("request_limits"));
    for (index, limit) in limits.and_then(Value::as_array_mut).into_iter().flatten().enumerate() {
        if let Value::Object(limit) = limit {
            limit.insert("counter".to_owned(), json!(format!("{prefix}/{index}")));
        }
    }
}
