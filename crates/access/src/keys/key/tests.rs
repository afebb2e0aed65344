use super::super::Counters;
use super::super::quota::Quota;
use super::super::rights::RightPatterns;
use super::*;
use crate::keys::Checks;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tollgate_limit::{LimitAlgorithm, Limiter};
use tollgate_pattern::PatternRules;

/// Makes a key with these endpoints on API `a`, and a rate of 9 for the key.
fn key(endpoints: Value, rules: PatternRules) -> Key {
    let patterns = RightPatterns::new(rules, Arc::default());
    let session = json!({"rate": 9, "per": 3600, "access_rights": {
        "a": {"endpoints": endpoints.clone()},
        "b": {"limit": {"rate": 8, "per": 3600}, "allowance_scope": "b", "endpoints": endpoints},
    }});
    let (session, _) = Session::from_value(&session).unwrap();
    let counters = Counters::default();
    let source = LimitSource {
        rate: &|name| counters.rate(name, |_| Limiter::new(LimitAlgorithm::Gcra)),
        quota: &|scope| Arc::new(Quota::new(scope.to_owned(), None, Arc::default(), Arc::default())),
        patterns: &patterns,
        smooths: true,
    };
    Key::compile(session, 1, &source)
}

const EXACT: PatternRules = PatternRules { prefix: true, suffix: true, ignore_case: false };
const LOOSE: PatternRules = PatternRules { prefix: false, suffix: false, ignore_case: false };

/// Remaining requests to an endpoint; `None` for unlimited.
fn room(key: &Key, api: &str, method: &str, path: &str) -> Option<u64> {
    key.limits_at(api, method, || path.into()).rooms(Duration::ZERO).map(|(_, room, _)| room).min()
}

fn admit(key: &Key, api: &str, method: &str, path: &str) -> bool {
    key.limits_at(api, method, || path.into())
        .admit(Duration::from_secs(1), 1, Checks::ALL, DryRun::default(), tollgate_limit::WaitPolicy::Waits)
        .is_ok()
}

fn endpoint(path: &str, method: &str, rate: i64) -> Value {
    json!({"path": path, "methods": [{"name": method, "limit": {"rate": rate, "per": 3600}}]})
}

#[test]
fn an_endpoints_rate_takes_the_place_of_the_apis() {
    let endpoints = json!([endpoint("/x/{id}", "GET", 2), endpoint("/free", "GET", -1), endpoint("/x/.*", "get", 3)]);
    let key = key(endpoints, EXACT);
    for (method, path, expect) in [
        ("GET", "/x/1", Some(2)),
        ("GET", "/x/1/y", Some(3)),
        ("GET", "/free", None),
        ("POST", "/x/1", Some(9)),
        ("GET", "/y", Some(9)),
        ("GET", "/y/x/1", Some(9)),
        ("GET", "/freedom", Some(9)),
    ] {
        assert_eq!(room(&key, "a", method, path), expect, "{method} {path}");
    }
    assert_eq!(room(&key, "b", "GET", "/y"), Some(8));
    assert_eq!(room(&key, "b", "GET", "/x/1"), Some(2));
}

#[test]
fn patterns_are_read_as_the_gateways_settings_say() {
    let loose = key(json!([endpoint("/x", "GET", 2)]), LOOSE);
    assert_eq!(room(&loose, "a", "GET", "/y/xyz"), Some(2));
    let exact = key(json!([endpoint("/x", "GET", 2)]), EXACT);
    assert_eq!(room(&exact, "a", "GET", "/y/xyz"), Some(9));
}

#[test]
fn an_endpoint_counts_for_itself() {
    let key = key(json!([endpoint("/x", "GET", 2), endpoint("/x", "POST", 2), endpoint("/y", "GET", 2)]), EXACT);
    assert!(admit(&key, "a", "GET", "/x") && admit(&key, "a", "GET", "/x") && !admit(&key, "a", "GET", "/x"));
    for (api, method, path, expect) in [("a", "POST", "/x", 2), ("a", "GET", "/y", 2), ("b", "GET", "/x", 2), ("a", "GET", "/z", 9)]
    {
        assert_eq!(room(&key, api, method, path), Some(expect), "{api} {method} {path}");
    }
}

#[test]
fn a_pattern_that_is_none_leaves_the_others_in_place() {
    let key = key(json!([endpoint("/x(", "GET", 1), endpoint("/y", "GET", 2)]), EXACT);
    assert_eq!((room(&key, "a", "GET", "/x("), room(&key, "a", "GET", "/y")), (Some(9), Some(2)));
}
