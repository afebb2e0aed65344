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
    let rights = json!({
        "a": {"endpoints": endpoints.clone()},
        "b": {"limit": {"rate": 8, "per": 3600}, "allowance_scope": "b", "endpoints": endpoints},
    });
    key_with(rights, rules)
}

/// Makes a key with these rights, and a rate of 9 for the key.
fn key_with(rights: Value, rules: PatternRules) -> Key {
    let patterns = RightPatterns::new(rules, Arc::default());
    let session = json!({"rate": 9, "per": 3600, "access_rights": rights});
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

/// Makes a key with this right for the MCP proxy `a`.
fn caller(right: Value) -> Key {
    key_with(json!({"a": right, "b": {}}), LOOSE)
}

#[test]
fn names_are_expressions_for_the_whole_name() {
    let key = caller(json!({
        "json_rpc_methods_access_rights": {"allowed": ["initialize", "tools/.*"], "blocked": ["tools/list"]},
        "mcp_access_rights": {
            "tools": {"allowed": ["echo", "weather\\..*", "a|b", "(?i)any", "odd(name"]},
            "resources": {"blocked": ["file:///repo/.*", "x("]},
        },
    }));
    let rights = key.mcp("a").unwrap();
    for (method, expect) in
        [("initialize", true), ("tools/call", true), ("tools/list", false), ("ping", false), ("xtools/call", false)]
    {
        assert_eq!(rights.permits_method(method), expect, "{method}");
    }
    use PrimitiveKind::{Prompt, Resource, Tool};
    for (kind, name, expect) in [
        (Tool, "echo", true),
        (Tool, "echoes", false),
        (Tool, "an echo", false),
        (Tool, "ECHO", false),
        (Tool, "", false),
        (Tool, "weather.today", true),
        (Tool, "weather.", true),
        (Tool, "weatherXtoday", false),
        (Tool, "a", true),
        (Tool, "b", true),
        (Tool, "ab", false),
        (Tool, "ANY", true),
        // What is no expression is compared as text, as in Tyk.
        (Tool, "odd(name", true),
        (Tool, "oddname", false),
        (Resource, "file:///repo/x", false),
        (Resource, "file:///a", true),
        (Resource, "x(", false),
        (Resource, "x", true),
        (Prompt, "echoes", true),
    ] {
        assert_eq!(!rights.blocks(kind, name) && rights.allows(kind, name), expect, "{kind} {name}");
    }
    assert!(rights.has_method_rules() && rights.has_rules(Tool) && rights.has_rules(Resource) && !rights.has_rules(Prompt));
    assert!(key.mcp("b").is_none() && key.mcp("c").is_none());
}

#[test]
fn names_that_need_an_engine_are_prepared() {
    let plain = caller(json!({"mcp_access_rights": {"tools": {"allowed": ["echo", "get-time", "odd("]}}}));
    let key = caller(json!({"mcp_access_rights": {"tools": {"allowed": ["echo", "a.*"]}}, "mcp_primitives": [
        {"type": "prompt", "name": "p.*", "limit": {"rate": 1, "per": 60}}]}));
    let Permission::Right(right) = key.right("a") else { panic!("a right") };
    assert!(plain.mcp("a").unwrap().is_ready() && !key.mcp("a").unwrap().is_ready());
    let lists = right.unprepared();
    assert_eq!(lists.len(), 2);
    let patterns = RightPatterns::new(LOOSE, Arc::default());
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(patterns.prepare(lists).wait());
    assert!(key.mcp("a").unwrap().is_ready() && right.unprepared().is_empty());
}

/// Rates with this name in lists of an access right.
fn limited(name: &str, rate: i64) -> Value {
    json!({"name": name, "type": "tool", "limit": {"rate": rate, "per": 3600}})
}

/// When requests arrive.
const NOW: Duration = Duration::from_secs(1);

/// The limits of a call.
fn call<'k>(key: &'k Key, method: &str, tool: Option<&str>) -> RequestLimits<'k> {
    let tool = tool.map(|name| (PrimitiveKind::Tool, [name; 2]));
    key.limits_at("a", "POST", || "/".into()).with_call(key.call_limits("a", method, tool))
}

fn rooms(key: &Key, method: &str, tool: Option<&str>) -> Vec<u64> {
    call(key, method, tool).rooms(NOW).map(|(_, room, _)| room).collect()
}

fn passes(key: &Key, method: &str, tool: Option<&str>) -> bool {
    let limits = call(key, method, tool);
    limits.admit(NOW, 1, Checks::ALL, DryRun::default(), tollgate_limit::WaitPolicy::Waits).is_ok()
}

#[test]
fn a_call_counts_once_for_the_key_once_for_its_method_and_once_for_its_tool() {
    let key = caller(json!({
        "json_rpc_methods": [limited("tools/call", 4), limited("open", 0)],
        "mcp_primitives": [limited("add", 2), limited("a.b", 3), limited("a.*", 1)],
    }));
    assert_eq!(rooms(&key, "tools/call", Some("add")), [9, 4, 2]);
    assert_eq!(rooms(&key, "tools/call", Some("echo")), [9, 4]);
    assert_eq!(rooms(&key, "ping", None), [9]);
    assert_eq!(rooms(&key, "open", Some("a.b")), [9, 3]);
    assert_eq!(call(&key, "tools/call", Some("add")).told(Duration::ZERO).map(|(rule, ..)| rule.name.as_str()), Some("tool"));

    assert!(passes(&key, "tools/call", Some("add")) && passes(&key, "tools/call", Some("add")));
    assert!(!passes(&key, "tools/call", Some("add")), "the tool's rate");
    // What is refused counts nowhere.
    assert_eq!(rooms(&key, "tools/call", Some("add")), [7, 2, 0]);
    assert!(passes(&key, "tools/call", Some("echo")) && passes(&key, "tools/call", None));
    assert!(!passes(&key, "tools/call", Some("echo")), "the method's rate");
    assert_eq!(rooms(&key, "tools/call", Some("a.b")), [5, 0, 3]);
    assert!((0..5).all(|_| passes(&key, "ping", None)) && !passes(&key, "ping", None), "the key's rate");
}

#[test]
fn names_with_limits_are_names_or_patterns_of_whole_names() {
    let limits = json!([
        limited("add", 1),
        limited("none.*", 0),
        limited("weather.*", 2),
        limited("a+b", 3),
        limited("file:///repo/*", 4),
        limited("user-{id}", 5),
        limited("odd(", 6),
        limited("none.*", 7),
    ]);
    let key = caller(json!({"mcp_primitives": limits}));
    for (name, expect) in [
        ("add", Some(1)),
        ("adder", None),
        ("xadd", None),
        ("ADD", None),
        ("weather.today", Some(2)),
        ("the weather", None),
        ("a+b", Some(3)),
        ("aab", Some(3)),
        ("file:///repo/x/y", Some(4)),
        ("file:///repo", None),
        ("user-7", Some(5)),
        ("user-7/x", None),
        ("odd(", Some(6)),
        ("none", Some(7)),
    ] {
        assert_eq!(rooms(&key, "tools/call", Some(name)).get(1).copied(), expect, "{name}");
    }
    let other = key.call_limits("a", "tools/call", Some((PrimitiveKind::Prompt, ["add"; 2])));
    assert!(other.is_empty() && key.call_limits("b", "tools/call", Some((PrimitiveKind::Tool, ["add"; 2]))).is_empty());
}

/// The more names a primitive has, the first limit of them all counts.
#[test]
fn a_limit_counts_for_each_name_of_a_primitive() {
    let of = |name: &str, rate| json!({"name": name, "type": "resource", "limit": {"rate": rate, "per": 3600}});
    let key = caller(json!({"mcp_primitives": [of("file:///a", 1), of(".*", 2)]}));
    for (names, expect) in [(["FILE:///a", "file:///a"], 1), (["file:///b", "file:///b"], 2)] {
        let limits = key.call_limits("a", "resources/read", Some((PrimitiveKind::Resource, names)));
        let limits = key.limits_at("a", "POST", || "/".into()).with_call(limits);
        assert_eq!(limits.rooms(NOW).map(|(_, room, _)| room).collect::<Vec<_>>(), [9, expect]);
    }
}

#[test]
fn a_call_that_is_taken_back_counted_nothing() {
    let key = caller(json!({"json_rpc_methods": [limited("tools/call", 4)], "mcp_primitives": [limited("add", 2)]}));
    assert!(passes(&key, "tools/call", Some("add")));
    call(&key, "tools/call", Some("add")).take_back(NOW, 1, super::super::CountedRequest::of(Checks::ALL, None));
    assert_eq!(rooms(&key, "tools/call", Some("add")), [9, 4, 2]);
}
