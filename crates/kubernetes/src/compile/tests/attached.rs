mod backend_health;
mod keys;

use super::{BASE, ListenerStates, conditions, with};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A route with two rules, of which one has a name.
const ROUTE: &str = r#"
kind: HTTPRoute
metadata: {name: r, namespace: default}
spec:
  parentRefs: [{name: gw}]
  rules:
  - {matches: [{path: {value: /a}}], backendRefs: [{name: echo, port: 8080}]}
  - {name: b, matches: [{path: {value: /b}}], backendRefs: [{name: echo, port: 8080}]}
  - {matches: [{path: {value: /c}}], backendRefs: [{name: echo, port: 8080}]}
"#;

/// A policy of a day of January.
fn policy(kind: &str, name: &str, day: u32, targets: &str, settings: &str) -> String {
    format!(
        "kind: {kind}\nmetadata: {{name: {name}, namespace: default, creationTimestamp: '2026-01-{day:02}T00:00:00Z'}}\nspec: {{targetRefs: [{targets}], {settings}}}"
    )
}

fn target(kind: &str, name: &str, section: &str) -> String {
    let section = if section.is_empty() { String::new() } else { format!(", sectionName: {section}") };
    format!("{{group: gateway.networking.k8s.io, kind: {kind}, name: {name}{section}}}")
}

/// The definitions by id, with what of them is not the same for all.
fn definitions(manifests: &[&str]) -> Vec<(String, Value)> {
    with(manifests, &ListenerStates::new(), |compiled, _| {
        compiled.documents.definitions.iter().map(|(id, definition)| (id.clone(), definition.clone())).collect()
    })
}

fn only(manifests: &[&str]) -> Value {
    let definitions = definitions(manifests);
    assert_eq!(definitions.len(), 1, "{definitions:?}");
    definitions.into_iter().next().unwrap().1
}

/// Whether requests to all of a definition's rules are refused.
fn refuses(definition: &Value) -> bool {
    let rules = definition["tollgate"]["route"]["rules"].as_array().unwrap();
    rules.iter().all(|rule| rule.get("backends").is_none() && rule.get("redirect").is_none())
}

/// The path of the first match of each rule.
fn paths(definition: &Value) -> Vec<&str> {
    let rules = definition["tollgate"]["route"]["rules"].as_array().unwrap();
    rules.iter().map(|rule| rule["matches"][0]["path"]["prefix"].as_str().unwrap()).collect()
}

#[test]
fn settings_become_members_of_definitions() {
    let cases = [
        (
            "AuthenticationPolicy",
            "apiKeys: {matchLabels: {a: b}}",
            json!({"use_keyless": false, "use_standard_auth": true, "strip_auth_data": true, "auth_configs": {"authToken": {}},
                "tollgate": {"key_ring": {"name": "kubernetes/default/p", "stored_keys": false}}}),
        ),
        (
            "AuthenticationPolicy",
            "apiKeys: {stored: true, from: {query: key, cookie: k}}, forwardCredentials: true",
            json!({"use_standard_auth": true, "strip_auth_data": false, "auth_configs": {"authToken":
                {"disable_header": true, "use_param": true, "param_name": "key", "use_cookie": true, "cookie_name": "k"}}}),
        ),
        (
            "AuthenticationPolicy",
            "jwt: {jwksUris: ['https://a.test/keys'], algorithms: ECDSA, issuers: [i], audiences: [a], subjectClaim: email}, requiredScopes: [x, z], claimHeaders: [{claim: email, header: X-User}]",
            json!({"use_keyless": false, "enable_jwt": true, "jwt_signing_method": "ecdsa", "jwt_jwks_uris": [{"url": "https://a.test/keys"}],
                "enable_context_vars": true,
                "tollgate": {"scope_check": {"alternatives": [["x", "z"]]},
                    "jwt": {"policies_optional": true, "allowed_issuers": ["i"], "allowed_audiences": ["a"], "subject_claims": ["email"]}},
                "version_data": {"versions": {"Default": {"name": "Default", "global_headers": {"X-User": "$tyk_context.jwt_claims_email"}}}}}),
        ),
        (
            "AuthenticationPolicy",
            "oidc: {providers: [{issuer: 'https://a.test', clients: [shop]}]}, apiKeys: {stored: true}",
            json!({"use_openid": true, "openid_options": {"providers": [{"issuer": "https://a.test", "client_ids": {"c2hvcA==": ""}}]},
                "tollgate": {"auth_alternatives": [["authToken"], ["oidc"]], "jwt": {"policies_optional": true}}}),
        ),
        (
            "AuthenticationPolicy",
            "external: {url: 'http://auth.test/check', timeout: 500ms, identityHeader: X-User}",
            json!({"use_keyless": false, "tollgate": {"forward_auth":
                {"url": "http://auth.test/check", "timeout_ms": 500, "identity_header": "X-User"}}}),
        ),
        (
            "RateLimitPolicy",
            "limits: [{requests: 5, window: 1m30s}, {requests: 1, window: 1s, per: Header, name: X-T, dryRun: true, onStoreFailure: Deny}]",
            json!({"tollgate": {"request_limits": [
                {"requests": 5, "window_s": 90.0, "by": "client", "counter": "k8s-httproute-default.r/default/p/0"},
                {"requests": 1, "window_s": 1.0, "by": "header", "name": "X-T", "dry_run": true, "on_store_failure": "deny",
                    "counter": "k8s-httproute-default.r/default/p/1"}]}}),
        ),
        (
            "RateLimitPolicy",
            "concurrent: {perAddress: 4, exempt: [10.0.0.0/8]}",
            json!({"tollgate": {"concurrency": {"per_address": 4, "exempt": ["10.0.0.0/8"]}}}),
        ),
        (
            "TrafficPolicy",
            "circuitBreaker: {failurePercent: 50, minRequests: 20, openFor: 1m30s}",
            json!({"version_data": {"versions": {"Default": {"extended_paths": {"circuit_breakers": [
                {"path": "/.*", "method": "GET", "threshold_percent": 0.5, "samples": 20, "return_to_service_after": 90,
                    "disable_half_open_state": false}, {}, {}, {}, {}, {}, {"method": "OPTIONS"}]}}}}}),
        ),
        (
            "TrafficPolicy",
            "firewall: {mode: Detection, paranoiaLevel: 2, inboundThreshold: 7, exclusions: [{tags: [attack-xss], paths: [/a]}], maxBodyBytes: 0, passesLargerBodies: true, inspectsResponses: true}",
            json!({"tollgate": {"waf": {"mode": "detection", "core_rules": true, "paranoia_level": 2, "inbound_threshold": 7, "body_max": 0,
                "larger_bodies": "inspect_start", "responses": true,
                "exclusions": [{"rules": [], "tags": ["attack-xss"], "parameters": [], "paths": ["/a"]}]}}}),
        ),
        (
            "TrafficPolicy",
            "firewall: {withoutCoreRules: true, rules: SecRuleRemoveById 1}",
            json!({"tollgate": {"waf": {"mode": "enforcing", "core_rules": false, "rules": "SecRuleRemoveById 1"}}}),
        ),
        (
            "TrafficPolicy",
            "clients: {allow: [10.0.0.0/8], deny: [10.0.0.1]}, maxRequestBytes: 10, timeout: 2s, cache: {byCaller: true}",
            json!({"allowed_ips": ["10.0.0.0/8"], "blacklisted_ips": ["10.0.0.1"], "tollgate": {"cache": {"by_caller": true}},
                "version_data": {"versions": {"Default": {"global_size_limit": 10, "global_enforce_timeout": 2.0}}}}),
        ),
        (
            "TrafficPolicy",
            "requestHeaders: {set: [{name: A, value: b}], remove: [C]}, responseHeaders: {remove: [D]}, requestBody: {jq: .body}, responseBody: {jq: .body}",
            json!({"response_processors": [{"name": "response_body_transform_jq"}], "version_data": {"versions": {"Default": {
                "global_headers": {"A": "b"}, "global_headers_remove": ["C"], "global_response_headers_remove": ["D"],
                "extended_paths": {"transform_jq": [{"method": "POST", "filter": ".body"}, {}, {}, {}]}}}}}),
        ),
        (
            "TrafficPolicy",
            "plugins: {driver: JavaScript, hooks: [{phase: BeforeAuthentication, name: f, path: a/f.js}, {phase: Response, name: g, path: g.js}], config: {x: 1}}, errors: [{statuses: ['429', 5xx], status: 503, body: busy, headers: [{name: A, value: b}]}]",
            json!({"custom_middleware": {"driver": "otto", "pre": [{"name": "f", "path": "a/f.js"}], "response": [{"name": "g", "path": "g.js"}]},
                "config_data": {"x": 1}, "error_overrides": {
                    "429": [{"response": {"status_code": 503, "body": "busy", "headers": {"A": "b"}}}], "5xx": [{}]}}),
        ),
    ];
    for (kind, settings, expected) in cases {
        let policy = policy(kind, "p", 1, &target("HTTPRoute", "r", ""), settings);
        let definition = only(&[BASE, ROUTE, &policy]);
        has(&definition, &expected, settings);
        assert_eq!(paths(&definition), ["/a", "/b", "/c"]);
        assert!(!refuses(&definition), "{settings}: {definition}");
        let conditions = conditions(&[BASE, ROUTE, &policy]);
        assert!(conditions.contains(&format!("{kind} default/p\n  gw +Accepted +ResolvedRefs\n")), "{settings}: {conditions}");
    }
}

/// Whether a document has all of another one.
#[track_caller]
fn has(document: &Value, expected: &Value, at: &str) {
    match expected {
        Value::Object(members) => members.iter().for_each(|(name, value)| has(&document[name], value, &format!("{at}.{name}"))),
        Value::Array(entries) => {
            assert_eq!(document.as_array().map(Vec::len), Some(entries.len()), "{at}: {document}");
            entries.iter().enumerate().for_each(|(index, value)| has(&document[index], value, &format!("{at}[{index}]")));
        }
        _ => assert_eq!(document, expected, "{at}"),
    }
}

#[test]
fn what_can_not_act_refuses_requests_and_says_why() {
    let cases = [
        ("AuthenticationPolicy", "forwardCredentials: true", "names no method"),
        ("AuthenticationPolicy", "apiKeys: {}", "matchLabels is empty"),
        ("AuthenticationPolicy", "apiKeys: {matchLabels: {}}", "matchLabels is empty"),
        ("AuthenticationPolicy", "apiKeys: 7", "invalid type"),
        ("AuthenticationPolicy", "apiKeys: {matchLabels: {a: b}, quota: {requests: 0, window: 1h}}", "at least 1 request"),
        ("AuthenticationPolicy", "apiKeys: {matchLabels: {a: b}, quota: {requests: 1, window: 1ms}}", "at least 1s"),
        ("AuthenticationPolicy", "basic: {secrets: [none]}", "The Secret default/none does not exist"),
        ("AuthenticationPolicy", "basic: {secrets: []}", "names no Secrets"),
        ("AuthenticationPolicy", "basic: {secrets: [none]}, apiKeys: {stored: true}", "basic does not go with"),
        ("AuthenticationPolicy", "clientCertificates: {}", "name no authorities"),
        ("AuthenticationPolicy", "clientCertificates: {secrets: [none]}", "The Secret default/none does not exist"),
        ("AuthenticationPolicy", "clientCertificates: {configMaps: [none]}", "The ConfigMap default/none does not exist"),
        ("AuthenticationPolicy", "jwt: {}", "either jwksUris or a publicKey"),
        ("AuthenticationPolicy", "jwt: {jwksUris: ['file:///etc/passwd']}", "is no URL of HTTP"),
        ("AuthenticationPolicy", "jwt: {jwksUris: ['https://a.test'], algorithms: none}", "unknown variant"),
        ("AuthenticationPolicy", "oidc: {providers: []}", "names no providers"),
        ("AuthenticationPolicy", "external: {url: ''}", "is no URL of HTTP"),
        ("AuthenticationPolicy", "apiKeys: {stored: true}, requiredScopes: [x]", "requiredScopes are for tokens"),
        ("RateLimitPolicy", "limits: []", "has no limits"),
        ("RateLimitPolicy", "limits: [{requests: 1, window: ever}]", "is no duration"),
        ("RateLimitPolicy", "limits: [{requests: 1, window: 0s}]", "is not between"),
        ("RateLimitPolicy", "limits: [{requests: 1, window: 99999999999999999999h}]", "is no duration"),
        ("RateLimitPolicy", "limits: [{requests: 1, window: 1s, per: Header}]", "must have a name"),
        ("RateLimitPolicy", "limits: [{requests: -1, window: 1s}]", "invalid value"),
        ("RateLimitPolicy", "concurrent: {perAddress: 0}", "at least 1"),
        ("RateLimitPolicy", "concurrent: {perAddress: 1, exempt: [x]}", "no address and no network"),
        ("TrafficPolicy", "circuitBreaker: {failurePercent: 0, minRequests: 1, openFor: 1s}", "from 1 to 100"),
        ("TrafficPolicy", "circuitBreaker: {failurePercent: 1, minRequests: 1, openFor: 10ms}", "at least 1s"),
        ("TrafficPolicy", "firewall: {withoutCoreRules: true}", "has no rules"),
        ("TrafficPolicy", "clients: {allow: []}", "is empty"),
        ("TrafficPolicy", "clients: {allow: [10.0.0.0/99]}", "no address and no network"),
        ("TrafficPolicy", "plugins: {driver: JavaScript, hooks: [{phase: Request, name: f}]}", "has no path"),
        (
            "TrafficPolicy",
            "plugins: {driver: JavaScript, hooks: [{phase: Request, name: f, path: ../../etc/passwd}]}",
            "no path below",
        ),
        ("TrafficPolicy", "plugins: {driver: WebAssembly, hooks: [{phase: Request, name: f, path: /etc/passwd}]}", "no path below"),
        ("TrafficPolicy", "errors: [{statuses: ['404']}]", "changes nothing"),
        ("TrafficPolicy", "maxRequestBytes: -1", "more than 0"),
    ];
    for (kind, settings, expected) in cases {
        let policy = policy(kind, "p", 1, &target("HTTPRoute", "r", ""), settings);
        assert!(refuses(&only(&[BASE, ROUTE, &policy])), "{kind} {settings}");
        with(&[BASE, ROUTE, &policy], &ListenerStates::new(), |_, statuses| {
            let (_, status) = statuses.iter().find(|(object, _)| object.starts_with(kind)).unwrap();
            let accepted = &status["ancestors"][0]["conditions"][0];
            assert_eq!((&accepted["status"], &accepted["reason"]), (&json!("False"), &json!("Invalid")), "{kind} {settings}");
            assert!(accepted["message"].as_str().unwrap().contains(expected), "{kind} {settings}: {accepted}");
        });
    }
}

#[test]
fn the_most_specific_policy_applies_and_of_two_the_older_one() {
    let limit =
        |name: &str, day: u32, targets: &str| policy("RateLimitPolicy", name, day, targets, "limits: [{requests: 1, window: 1s}]");
    let (gateway, listener) = (target("Gateway", "gw", ""), target("Gateway", "gw", "http"));
    let (route, rule) = (target("HTTPRoute", "r", ""), target("HTTPRoute", "r", "b"));
    let cases = [
        (vec![limit("g", 1, &gateway)], vec![("", "g /a /b /c")], vec!["g +Accepted"]),
        (vec![limit("g", 1, &gateway), limit("l", 2, &listener)], vec![("", "l /a /b /c")], vec!["g +Accepted", "l +Accepted"]),
        (vec![limit("l", 1, &listener), limit("r", 2, &route)], vec![("", "r /a /b /c")], vec!["l +Accepted", "r +Accepted"]),
        (
            vec![limit("r", 1, &route), limit("b", 2, &rule)],
            vec![("", "r /a"), ("~~rule.b", "b /b"), ("~~rule-2", "r /c")],
            vec!["r +Accepted", "b +Accepted"],
        ),
        (vec![limit("b", 2, &rule)], vec![("", "- /a"), ("~~rule.b", "b /b"), ("~~rule-2", "- /c")], vec!["b +Accepted"]),
        (
            vec![limit("new", 2, &route), limit("old", 1, &route)],
            vec![("", "old /a /b /c")],
            vec!["new -Accepted:Conflicted", "old +Accepted"],
        ),
        // One that is the first for any of its targets is accepted.
        (
            vec![limit("both", 2, &format!("{route}, {gateway}")), limit("old", 1, &route)],
            vec![("", "old /a /b /c")],
            vec!["both +Accepted", "old +Accepted"],
        ),
    ];
    for (policies, expected, statuses) in cases {
        let manifests: Vec<&str> = [BASE, ROUTE].into_iter().chain(policies.iter().map(String::as_str)).collect();
        let definitions = definitions(&manifests);
        let line = |definition: &Value| {
            let counter = definition["tollgate"]["request_limits"][0]["counter"].as_str().unwrap_or("///-/");
            format!("{} {}", counter.rsplit('/').nth(1).unwrap(), paths(definition).join(" "))
        };
        let mut found: Vec<(&str, String)> = definitions
            .iter()
            .map(|(id, definition)| (id.strip_prefix("k8s-httproute-default.r").unwrap(), line(definition)))
            .collect();
        let precedence = |id: &str| {
            let (_, definition) = definitions.iter().find(|(known, _)| known.ends_with(id)).unwrap();
            definition["tollgate"]["route"]["precedence"].as_str().unwrap().to_owned()
        };
        // In the order of their precedence, the rules are in theirs.
        found.sort_by_key(|(id, _)| if id.is_empty() { precedence(".r") } else { precedence(id) });
        let expected: Vec<(&str, String)> = expected.into_iter().map(|(id, line)| (id, line.to_owned())).collect();
        assert_eq!(found, expected);
        let conditions = conditions(&manifests);
        for status in statuses {
            let (name, accepted) = status.split_once(' ').unwrap();
            assert!(
                conditions.contains(&format!("RateLimitPolicy default/{name}\n  gw {accepted} +ResolvedRefs\n")),
                "{status}: {conditions}"
            );
        }
    }
}

#[test]
fn rules_of_other_routes_do_not_come_between_those_of_a_split_route() {
    let rule = policy("RateLimitPolicy", "p", 1, &target("HTTPRoute", "r", "b"), "limits: [{requests: 1, window: 1s}]");
    let others: Vec<String> =
        ["q", "r-2", "r.x", "s"].iter().map(|name| ROUTE.replace("name: r,", &format!("name: {name},"))).collect();
    let manifests: Vec<&str> = [BASE, ROUTE, &rule].into_iter().chain(others.iter().map(String::as_str)).collect();
    let mut order: Vec<(String, String)> = definitions(&manifests)
        .into_iter()
        .map(|(id, definition)| {
            (definition["tollgate"]["route"]["precedence"].as_str().unwrap().to_owned(), id.replace("k8s-httproute-default.", ""))
        })
        .collect();
    order.sort();
    let order: Vec<String> = order.into_iter().map(|(_, id)| id).collect();
    assert_eq!(order, ["q", "r", "r~~rule.b", "r~~rule-2", "r-2", "r.x", "s"]);
}

#[test]
fn a_route_at_two_listeners_has_the_policies_of_each() {
    let gateway = "kind: Gateway\nmetadata: {name: gw, namespace: default}\nspec:\n  gatewayClassName: tollgate\n  listeners: [{name: http, port: 80, protocol: HTTP}, {name: open, port: 81, protocol: HTTP}]";
    let limit = policy("RateLimitPolicy", "p", 1, &target("Gateway", "gw", "http"), "limits: [{requests: 1, window: 1s}]");
    let definitions = definitions(&[BASE, gateway, ROUTE, &limit]);
    let found: Vec<(&str, &Value, bool)> = definitions
        .iter()
        .map(|(id, definition)| {
            let listener = &definition["tollgate"]["route"]["attached"][0]["listener"];
            (id.as_str(), listener, definition["tollgate"].get("request_limits").is_some())
        })
        .collect();
    assert_eq!(
        found,
        [
            ("k8s-httproute-default.r", &json!("default/gw/open"), false),
            ("k8s-httproute-default.r~~ratelimitpolicy.default.p", &json!("default/gw/http"), true),
        ]
    );
}

#[test]
fn policies_say_what_they_are_for_and_what_is_missing() {
    let others = "kind: Gateway\nmetadata: {name: other, namespace: default}\nspec: {gatewayClassName: others, listeners: [{name: http, port: 80, protocol: HTTP}]}";
    let lost = ROUTE.replace("name: r,", "name: lost,").replace("name: gw", "name: other");
    let cases = [
        (target("HTTPRoute", "r", ""), "  gw +Accepted +ResolvedRefs"),
        (target("HTTPRoute", "r", "b"), "  gw +Accepted +ResolvedRefs"),
        (target("HTTPRoute", "r", "nope"), "  gw -Accepted:TargetNotFound +ResolvedRefs"),
        (target("HTTPRoute", "nope", ""), "  nope -Accepted:TargetNotFound +ResolvedRefs"),
        (target("GRPCRoute", "r", ""), "  r -Accepted:TargetNotFound +ResolvedRefs"),
        (target("Gateway", "gw", "nope"), "  gw -Accepted:TargetNotFound +ResolvedRefs"),
        (target("Gateway", "nope", ""), "  nope -Accepted:TargetNotFound +ResolvedRefs"),
        (target("Gateway", "../gw", ""), "  ../gw -Accepted:TargetNotFound +ResolvedRefs"),
        (target("TCPRoute", "r", ""), "  r -Accepted:Invalid +ResolvedRefs"),
        ("{group: '', kind: Service, name: echo}".to_owned(), "  echo -Accepted:Invalid +ResolvedRefs"),
        // Somebody else's say nothing.
        (target("Gateway", "other", ""), ""),
        (target("HTTPRoute", "lost", ""), ""),
    ];
    for (target, expected) in cases {
        let policy = policy("RateLimitPolicy", "p", 1, &target, "limits: [{requests: 1, window: 1s}]");
        let conditions = conditions(&[BASE, others, ROUTE, &lost, &policy]);
        let found = conditions.split_once("RateLimitPolicy default/p\n").map(|(_, rest)| rest.trim_end()).unwrap_or_default();
        assert_eq!(found, expected, "{target}");
    }
}

#[test]
fn policies_of_several_kinds_may_have_one_name() {
    let gateway = "kind: Gateway\nmetadata: {name: gw, namespace: default}\nspec:\n  gatewayClassName: tollgate\n  listeners: [{name: http, port: 80, protocol: HTTP}, {name: other, port: 81, protocol: HTTP}]";
    let limit = policy("RateLimitPolicy", "p", 1, &target("Gateway", "gw", "http"), "limits: [{requests: 1, window: 1s}]");
    let traffic = policy("TrafficPolicy", "p", 1, &target("Gateway", "gw", "other"), "maxRequestBytes: 1");
    let definitions = definitions(&[BASE, gateway, ROUTE, &limit, &traffic]);
    let mut named: Vec<&Value> =
        definitions.iter().map(|(_, definition)| &definition["tollgate"]["route"]["affected_by"]).collect();
    named.sort_by_key(|names| names.to_string());
    assert_eq!(named, [&json!(["RateLimitPolicy default/p"]), &json!(["TrafficPolicy default/p"])]);
}

#[test]
fn policies_are_for_their_own_namespace() {
    let elsewhere = policy("RateLimitPolicy", "p", 1, &target("Gateway", "gw", ""), "limits: [{requests: 1, window: 1s}]")
        .replace("namespace: default", "namespace: elsewhere");
    let definition = only(&[BASE, ROUTE, &elsewhere]);
    assert!(definition["tollgate"].get("request_limits").is_none());
    assert!(definition["tollgate"]["route"].get("affected_by").is_none());
}

#[test]
fn a_policy_with_a_thousand_targets_has_a_status_and_changes_nothing_else() {
    let many: Vec<String> = (0..1000).map(|number| target("HTTPRoute", &format!("r{number}"), "")).collect();
    let policy = policy("RateLimitPolicy", "p", 1, &many.join(", "), "limits: [{requests: 1, window: 1s}]");
    with(&[BASE, ROUTE, &policy], &ListenerStates::new(), |compiled, statuses| {
        let (_, status) = statuses.iter().find(|(object, _)| object.starts_with("RateLimitPolicy")).unwrap();
        assert_eq!(status["ancestors"].as_array().map(Vec::len), Some(16));
        assert!(compiled.documents.refusing.is_empty());
    });
}

#[test]
fn of_a_gateways_policy_connections_have_the_addresses_alone() {
    let manifests = r#"
kind: Gateway
metadata: {name: gw, namespace: default}
spec: {gatewayClassName: tollgate, listeners: [{name: tcp, port: 5432, protocol: TCP}]}
---
kind: TCPRoute
metadata: {name: t, namespace: default}
spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{name: echo, port: 8080}]}]}
"#;
    let traffic = policy("TrafficPolicy", "p", 1, &target("Gateway", "gw", ""), "clients: {allow: [10.0.0.1]}, maxRequestBytes: 1");
    let keys = policy("AuthenticationPolicy", "q", 1, &target("Gateway", "gw", ""), "apiKeys: {stored: true}");
    let definition = only(&[BASE, manifests, &traffic, &keys]);
    assert_eq!((&definition["allowed_ips"], &definition["use_keyless"]), (&json!(["10.0.0.1"]), &json!(true)), "{definition}");
    assert!(definition["version_data"]["versions"]["Default"].get("global_size_limit").is_none());
    let broken = policy("TrafficPolicy", "p", 1, &target("Gateway", "gw", ""), "clients: {allow: [x]}");
    assert!(refuses(&only(&[BASE, manifests, &broken])));
}

#[test]
fn a_route_says_which_policies_it_has() {
    let limit = |name: &str, target: &str| policy("RateLimitPolicy", name, 1, target, "limits: [{requests: 1, window: 1s}]");
    let (route, rule) = (limit("p", &target("HTTPRoute", "r", "")), limit("q", &target("HTTPRoute", "r", "b")));
    with(&[BASE, ROUTE, &route, &rule], &ListenerStates::new(), |_, statuses| {
        let (_, status) = statuses.iter().find(|(object, _)| object.starts_with("HTTPRoute")).unwrap();
        let conditions = status["parents"][0]["conditions"].as_array().unwrap();
        let said: Vec<_> =
            conditions.iter().map(|condition| (condition["type"].as_str().unwrap(), &condition["message"])).collect();
        let (nothing, names) = (json!(""), json!("By default/p, default/q"));
        assert_eq!(said, [("Accepted", &nothing), ("ResolvedRefs", &nothing), ("tollgate.dev/RateLimitPolicyAffected", &names)]);
    });
    // What is no more is not said any more.
    let written = ROUTE.to_owned()
        + "status: {parents: [{controllerName: tollgate.dev/gateway-controller, parentRef: {name: gw}, conditions: [{type: tollgate.dev/RateLimitPolicyAffected, status: 'True', reason: PolicyAffected, message: By default/p, lastTransitionTime: '2026-01-01T00:00:00Z'}]}]}";
    assert!(conditions(&[BASE, &written]).contains("HTTPRoute default/r\n  gw +Accepted +ResolvedRefs\n"));
}

#[test]
fn callers_are_known_by_users_and_certificates_in_secrets() {
    let authority = |name: &str| {
        let mut written = rcgen::CertificateParams::new(Vec::new()).unwrap();
        written.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        written.distinguished_name.push(rcgen::DnType::CommonName, name);
        written.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().pem()
    };
    let (one, two, three) = (authority("one"), authority("two"), authority("three"));
    let secret = |name: &str, entry: &str, text: &str| {
        let data = STANDARD.encode(text);
        format!("kind: Secret\nmetadata: {{name: {name}, namespace: default}}\ndata: {{{entry}: {data}}}")
    };
    let users = secret("users", "auth", "# staff\njoe:{SHA}x\n\nann:$2b$05$x\nno-hash:\n");
    let authorities = secret("authorities", "ca.crt", &format!("{one}\n{two}"));
    let map = format!(
        "kind: ConfigMap\nmetadata: {{name: more, namespace: default}}\ndata: {{ca.crt: {}}}",
        serde_json::to_string(&three).unwrap()
    );
    let with_policy = |settings: &str| {
        only(&[
            BASE,
            ROUTE,
            &users,
            &authorities,
            &map,
            &policy("AuthenticationPolicy", "p", 1, &target("HTTPRoute", "r", ""), settings),
        ])
    };
    let basic = with_policy("basic: {secrets: [users]}");
    assert_eq!(basic["tollgate"]["user_passwords"], json!(["joe:{SHA}x", "ann:$2b$05$x"]));
    assert_eq!(basic["use_keyless"], json!(true));
    assert_eq!(basic["version_data"]["versions"]["Default"]["global_headers_remove"], json!(["Authorization"]));
    let forwarded = with_policy("basic: {secrets: [users]}, forwardCredentials: true");
    assert!(forwarded["version_data"]["versions"]["Default"].get("global_headers_remove").is_none());
    let certificates = with_policy("clientCertificates: {secrets: [authorities], configMaps: [more]}, apiKeys: {stored: true}");
    assert_eq!((&certificates["use_mutual_tls_auth"], &certificates["use_keyless"]), (&json!(true), &json!(false)));
    let list: Vec<&str> = certificates["client_certificates"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(list, [one.trim_end(), two.trim_end(), three.trim_end()].map(|text| text));
    assert_eq!(with_policy("clientCertificates: {secrets: [authorities]}")["use_keyless"], json!(true));
    // A Secret without users would let nobody in, and say nothing.
    assert!(refuses(&with_policy("basic: {secrets: [authorities]}")));
}
