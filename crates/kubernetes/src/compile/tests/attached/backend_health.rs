//! Policies that look after the endpoints of backends.

use super::{BASE, ListenerStates, ROUTE, conditions, policy, target, with};
use serde_json::{Value, json};

/// The backends of the rules, in their order, and the table.
fn backends(manifests: &[&str]) -> (Vec<String>, Value) {
    with(manifests, &ListenerStates::new(), |compiled, _| {
        let mut definitions: Vec<&Value> = compiled.documents.definitions.values().collect();
        definitions.sort_by_key(|definition| definition["tollgate"]["route"]["precedence"].to_string());
        let rules = definitions.iter().flat_map(|definition| definition["tollgate"]["route"]["rules"].as_array().unwrap());
        let names = rules.map(|rule| rule["backends"][0]["backend"].as_str().unwrap().to_owned()).collect();
        (names, json!(compiled.documents.backends))
    })
}

const SETTINGS: &str = "backendHealth: {passive: {consecutiveFailures: 3, failurePercent: 40, minRequests: 10, interval: 5s, statuses: [500, 503], ejectFor: 2m, maxEjectedPercent: 100}, active: {path: /health, interval: 10s, timeout: 500ms, healthyThreshold: 1, unhealthyThreshold: 2, statuses: [200]}}";

#[test]
fn a_policy_of_a_rule_has_backends_of_its_own() {
    let written = policy("TrafficPolicy", "p", 1, &target("HTTPRoute", "r", "b"), SETTINGS);
    let (names, table) = backends(&[BASE, ROUTE, &written]);
    assert_eq!(names, ["default/echo:8080", "default/echo:8080+default/p", "default/echo:8080"]);
    let (plain, checked) = (&table["default/echo:8080"], &table["default/echo:8080+default/p"]);
    assert_eq!(plain["endpoints"], checked["endpoints"]);
    assert_eq!((&plain["health"], &plain["checks"]), (&Value::Null, &Value::Null));
    assert_eq!(
        checked["health"],
        json!({"consecutive_faults": 3, "fault_percent": 40, "requests_min": 10, "interval_ms": 5_000, "statuses": [500, 503],
            "ejected_ms": 120_000, "ejected_ms_max": 120_000, "ejected_percent_max": 100})
    );
    assert_eq!(
        checked["checks"],
        json!({"path": "/health", "interval_ms": 10_000, "timeout_ms": 500, "rise": 1, "fall": 2, "statuses": [200]})
    );
}

#[test]
fn policies_of_a_gateway_are_for_requests_and_not_for_connections() {
    let stream = r#"
kind: Gateway
metadata: {name: gw, namespace: default}
spec:
  gatewayClassName: tollgate
  listeners: [{name: http, port: 80, protocol: HTTP}, {name: tcp, port: 81, protocol: TCP}]
---
kind: TCPRoute
metadata: {name: t, namespace: default}
spec:
  parentRefs: [{name: gw, sectionName: tcp}]
  rules: [{backendRefs: [{name: echo, port: 8080}]}]
"#;
    let written = policy("TrafficPolicy", "p", 1, &target("Gateway", "gw", ""), "backendHealth: {active: {interval: 1s}}");
    let route = ROUTE.replace("{name: gw}", "{name: gw, sectionName: http}");
    let (_, table) = backends(&[BASE, stream, &route, &written]);
    let mut names: Vec<&String> = table.as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(names, ["default/echo:8080+default/p", "default/echo:8080/tcp"]);
    assert_eq!(table["default/echo:8080/tcp"]["checks"], Value::Null);
}

#[test]
fn backends_that_can_only_be_connected_to_are_named() {
    let grpc = "kind: GRPCRoute\nmetadata: {name: g, namespace: default}\nspec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{name: echo, port: 8080}]}]}";
    for (settings, is_told) in [("{active: {path: /health}}", true), ("{active: {interval: 1s}}", false)] {
        let written = policy("TrafficPolicy", "p", 1, &target("GRPCRoute", "g", ""), &format!("backendHealth: {settings}"));
        let said = conditions(&[BASE, grpc, &written]);
        let expected = "TrafficPolicy default/p\n  gw +Accepted +ResolvedRefs";
        let told = format!("{expected} +PartiallyInvalid:UnsupportedValue\n");
        assert!(said.contains(if is_told { told.as_str() } else { expected }), "{said}");
        assert_eq!(said.contains("PartiallyInvalid"), is_told, "{said}");
    }
}

#[test]
fn what_can_not_act_is_told_and_refuses_requests() {
    for (settings, why) in [
        ("{}", "backendHealth needs passive or active"),
        ("{passive: {statuses: [500]}}", "needs consecutiveFailures or failurePercent"),
        ("{passive: {consecutiveFailures: 1, statuses: [5]}}", "backendHealth.passive.statuses has 5"),
        ("{passive: {failurePercent: 101}}", "backendHealth.passive.failurePercent must be from 1 to 100"),
        ("{passive: {consecutiveFailures: 1, ejectFor: 2h}}", "backendHealth.passive.ejectFor is 2h"),
        ("{passive: {consecutiveFailures: 1, ejectFor: 5s, maxEjectFor: 1s}}", "backendHealth.passive.maxEjectFor is 1s"),
        ("{passive: {consecutiveFailures: 1, interval: 5}}", "invalid type"),
        ("{active: {path: health}}", "backendHealth.active.path is `health`"),
        ("{active: {interval: 1ms}}", "backendHealth.active.interval is 1ms"),
        ("{active: {timeout: soon}}", "backendHealth.active.timeout: `soon` is no duration"),
        ("{active: {healthyThreshold: 0}}", "backendHealth.active.healthyThreshold must be at least 1"),
        ("{active: {statuses: [999]}}", "backendHealth.active.statuses has 999"),
    ] {
        let written = policy("TrafficPolicy", "p", 1, &target("HTTPRoute", "r", ""), &format!("backendHealth: {settings}"));
        let manifests = [BASE, ROUTE, &written];
        let said = with(&manifests, &ListenerStates::new(), |compiled, statuses| {
            let refuses = compiled.documents.definitions.values().all(super::refuses);
            assert!(refuses, "{settings}");
            statuses.into_iter().find(|(object, _)| object.starts_with("TrafficPolicy")).unwrap().1
        });
        let condition = &said["ancestors"][0]["conditions"][0];
        assert_eq!((&condition["type"], &condition["status"]), (&json!("Accepted"), &json!("False")), "{said}");
        assert!(condition["message"].as_str().unwrap().contains(why), "{settings}: {condition}");
    }
    let written = policy("TrafficPolicy", "p", 1, &target("HTTPRoute", "r", ""), SETTINGS);
    assert!(conditions(&[BASE, ROUTE, &written]).contains("TrafficPolicy default/p\n  gw +Accepted +ResolvedRefs"));
}
