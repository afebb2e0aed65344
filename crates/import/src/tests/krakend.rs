use super::{Imported, api, assert_valid, imported, outcomes, rule, version};
use serde_json::{Value, json};

const GATEWAY: &str = r#"{
  "$schema": "https://www.krakend.io/schema/krakend.json",
  "version": 3, "port": 8090, "timeout": "3s", "host": ["http://users.int:8000"],
  "endpoints": [
    {
      "endpoint": "/users/{id}", "input_query_strings": ["page"],
      "extra_config": {
        "auth/validator": {"alg": "RS256", "jwk_url": "https://login.test/keys", "issuer": "https://login.test", "roles": ["admin"]},
        "qos/ratelimit/router": {"max_rate": 10, "every": "1s"}
      },
      "backend": [{"url_pattern": "/v1/user/{id}", "allow": ["name", "address.city"], "mapping": {"name": "title"}, "group": "user"}]
    },
    {"endpoint": "/both", "backend": [{"url_pattern": "/a"}, {"url_pattern": "/b"}]}
  ]
}"#;

fn is_closed(moved: &Imported, name: &str) -> bool {
    version(&api(moved, name))["extended_paths"]["black_list"] == json!([{"path": "/.*"}])
}

/// A gateway with these endpoints, and settings of the service.
fn gateway(settings: &str, endpoints: &str) -> Imported {
    let text = format!(r#"{{"version": 3, "host": ["http://a:1"], "extra_config": {{{settings}}}, "endpoints": [{endpoints}]}}"#);
    let moved = imported("krakend.json", &text);
    assert_valid(&moved);
    moved
}

#[test]
fn endpoints_become_routes_with_their_shapes() {
    let moved = imported("krakend.json", GATEWAY);
    assert_valid(&moved);
    let users = api(&moved, "GET /users");
    assert_eq!(rule(&users)["matches"], json!([{"path": {"regex": "/users/[^/]+"}, "method": "GET"}]));
    let rewrite = &version(&users)["extended_paths"]["url_rewrites"][0];
    assert_eq!(rewrite["match_pattern"], "^/users/([^/?]+)(\\?.*)?$");
    assert_eq!(rewrite["rewrite_to"], "/v1/user/$1$2");
    assert_eq!(users["jwt_source"], "https://login.test/keys");
    assert_eq!(users["tollgate"]["jwt"]["custom_claims"], json!({"roles": {"type": "contains", "allowed_values": ["admin"]}}));
    assert_eq!(users["global_rate_limit"], json!({"rate": 10.0, "per": 1.0}));
    let filter = version(&users)["extended_paths"]["transform_jq_response"][0]["filter"].as_str().unwrap();
    assert!(filter.contains("\"address\":{\"city\":true}") && filter.contains("{\"user\": .}"), "{filter}");
    assert_eq!(rule(&users)["passes"], json!({"headers": ["Content-Type"], "query": ["page"]}));
    assert_eq!(outcomes(&moved, "endpoints.backend"), ["carried", "carried", "approximated"]);
    let policy = moved.files.iter().find(|file| file.path == "policies/imported.json").unwrap();
    assert!(policy.text.contains("get-users-id"));
}

#[test]
fn former_names_of_settings_are_known() {
    for before in ["github_com", "github.com"] {
        let text = GATEWAY.replace("auth/validator", &format!("{before}/devopsfaith/krakend-jose/validator"));
        let moved = imported("krakend.json", &text);
        assert_eq!(api(&moved, "GET /users")["jwt_source"], "https://login.test/keys");
        let text = GATEWAY.replace("qos/ratelimit/router", &format!("{before}/devopsfaith/krakend-cel"));
        assert!(is_closed(&imported("krakend.json", &text), "GET /users"), "{before}");
    }
}

#[test]
fn what_protects_closes_the_endpoint() {
    for setting in ["validation/cel", "modifier/lua-endpoint", "auth/api-keys"] {
        let text = GATEWAY.replace("qos/ratelimit/router", setting);
        let moved = imported("krakend.json", &text);
        assert!(is_closed(&moved, "GET /users"), "{setting}");
    }
}

#[test]
fn the_smaller_rate_holds() {
    let limit = |rate: u32, more: &str| format!(r#""qos/ratelimit/router": {{"max_rate": {rate}{more}}}"#);
    let endpoint =
        |settings: &str| format!(r#"{{"endpoint": "/a", "extra_config": {{{settings}}}, "backend": [{{"url_pattern": "/a"}}]}}"#);
    let rate_of = |service: &str, own: &str| api(&gateway(service, &endpoint(own)), "GET /a")["global_rate_limit"].clone();
    assert_eq!(rate_of(&limit(500, ""), &limit(5, "")), json!({"rate": 5.0, "per": 1.0}));
    assert_eq!(rate_of(&limit(5, ""), &limit(500, "")), json!({"rate": 5.0, "per": 1.0}));
    // What comes at once is what may come in a second.
    assert_eq!(rate_of("", &limit(30, r#", "every": "1m""#)), json!({"rate": 1.0, "per": 2.0}));
    assert_eq!(rate_of("", &limit(30, r#", "every": "1m", "capacity": 30"#)), json!({"rate": 30.0, "per": 60.0}));
}

#[test]
fn clients_are_counted_for_the_service_and_for_endpoints() {
    let limit = |rate: u32| format!(r#""qos/ratelimit/router": {{"max_rate": 1000, "client_max_rate": {rate}, "strategy": "ip"}}"#);
    let endpoint = format!(r#"{{"endpoint": "/a", "extra_config": {{{}}}, "backend": [{{"url_pattern": "/a"}}]}}"#, limit(2));
    let moved = gateway(&limit(9), &endpoint);
    let counters: Vec<(String, f64)> = api(&moved, "GET /a")["tollgate"]["request_limits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|limit| (limit["counter"].as_str().unwrap_or_default().to_owned(), limit["requests"].as_f64().unwrap()))
        .collect();
    assert_eq!(counters, [(String::new(), 2.0), ("service".to_owned(), 9.0)]);
}

#[test]
fn headers_with_claims_are_never_the_client_s() {
    let validator = r#""auth/validator": {"alg": "RS256", "jwk_url": "https://a/k", "propagate_claims": [["sub", "x-user"], ["a.b", "x-deep"]]}"#;
    let moved =
        gateway("", &format!(r#"{{"endpoint": "/a", "extra_config": {{{validator}}}, "backend": [{{"url_pattern": "/b"}}]}}"#));
    let route = api(&moved, "GET /a");
    assert_eq!(version(&route)["global_headers"], json!({"x-user": "$tyk_context.jwt_claims_sub"}));
    assert_eq!(route["enable_context_vars"], true);
    assert!(version(&route)["global_headers_remove"].as_array().unwrap().contains(&json!("x-deep")));
    assert!(moved.report.is_less_protected());
}

#[test]
fn a_shadow_answers_nobody() {
    let shadow = r#"{"url_pattern": "/copy", "extra_config": {"proxy": {"shadow": true}}}"#;
    let moved = gateway("", &format!(r#"{{"endpoint": "/a", "backend": [{shadow}, {{"url_pattern": "/b"}}]}}"#));
    assert_eq!(version(&api(&moved, "GET /a"))["extended_paths"]["url_rewrites"][0]["rewrite_to"], "/b");
}

#[test]
fn methods_and_queries_of_backends_are_kept() {
    let backend = r#"[{"url_pattern": "/b?x=1", "method": "post"}]"#;
    let moved = gateway("", &format!(r#"{{"endpoint": "/a", "input_query_strings": ["*"], "backend": {backend}}}"#));
    let route = api(&moved, "GET /a");
    let paths = &version(&route)["extended_paths"];
    assert_eq!(paths["method_transforms"], json!([{"path": "/.*", "method": "GET", "to_method": "POST"}]));
    assert_eq!(paths["url_rewrites"][0]["match_pattern"], "^/a(?:\\?(.*))?$");
    assert_eq!(paths["url_rewrites"][0]["rewrite_to"], "/b?x=1&$1");
}

#[test]
fn schemas_are_checked_unless_they_refer_to_other_documents() {
    let endpoint = |schema: &str| {
        format!(
            r#"{{"endpoint": "/a", "method": "POST", "extra_config": {{"validation/json-schema": {schema}}}, "backend": [{{"url_pattern": "/a"}}]}}"#
        )
    };
    let schema = r#"{"type": "object", "properties": {"n": {"const": "1"}}}"#;
    let moved = gateway("", &endpoint(schema));
    let definition = api(&moved, "POST /a");
    let entry = &version(&definition)["extended_paths"]["validate_json"][0];
    assert_eq!(entry["schema"], serde_json::from_str::<serde_json::Value>(schema).unwrap());
    assert_eq!(outcomes(&moved, "endpoints.extra_config"), ["carried"]);
    for schema in [r#"{"properties": {"n": {"$ref": "https://a/b"}}}"#, r#""a""#, "[]"] {
        assert!(is_closed(&gateway("", &endpoint(schema)), "POST /a"), "{schema}");
    }
}

#[test]
fn probes_find_the_endpoint_for_health() {
    let endpoint = r#"{"endpoint": "/a", "backend": [{"url_pattern": "/a"}]}"#;
    let moved = gateway("", endpoint);
    let health = api(&moved, "GET /__health");
    assert_eq!(version(&health)["extended_paths"]["mock_response"][0]["code"], 200);
    for settings in [r#""router": {"disable_health": true}"#, r#""router": {"health_path": "/up"}"#] {
        let moved = gateway(settings, endpoint);
        assert!(!moved.files.iter().any(|file| file.text.contains("__health")), "{settings}");
    }
}

#[test]
fn operations_on_members_are_carried_over_all_or_none() {
    let moved = |operation: &str| {
        let proxy = format!(r#""proxy": {{"flatmap_filter": [{operation}]}}"#);
        let backend = format!(r#"{{"url_pattern": "/a", "deny": ["x"], "extra_config": {{{proxy}}}}}"#);
        gateway("", &format!(r#"{{"endpoint": "/a", "backend": [{backend}]}}"#))
    };
    let filter = |moved: &Imported| {
        version(&api(moved, "GET /a"))["extended_paths"]["transform_jq_response"][0]["filter"].as_str().unwrap().to_owned()
    };
    let removed = moved(r#"{"type": "del", "args": ["a.*.b"]}"#);
    assert!(filter(&removed).contains(r#"del(.["a"]?[]? | objects | .["b"])"#), "{}", filter(&removed));
    // They take the place of `deny`.
    assert!(!filter(&removed).contains("\"x\""), "{}", filter(&removed));
    let to_many = moved(r#"{"type": "move", "args": ["a.*.b", "c.*"]}"#);
    assert!(filter(&to_many).contains(r#".["x"]"#) && to_many.report.is_less_protected(), "{}", filter(&to_many));
}

#[test]
fn a_script_merges_what_several_backends_answer() {
    let backends = r#"[{"url_pattern": "u/{id}", "deny": ["a.b"]}, {"url_pattern": "/o/{resp0_id}", "method": "POST", "group": "o", "host": ["http://b:22"]}]"#;
    let proxy = r#""proxy": {"sequential": true, "static": {"data": {"n": 1}}}"#;
    let moved = gateway(
        "",
        &format!(
            r#"{{"endpoint": "/u/{{id}}", "timeout": "7s", "extra_config": {{{proxy}}}, "input_headers": ["X-A"], "backend": {backends}}}"#
        ),
    );
    let route = api(&moved, "GET /u/{id}");
    let part = |host: &str, method: &str, path: &str, denied: serde_json::Value, group: &str| {
        json!({
            "hosts": [host], "method": method, "path": path, "list": false, "any": false, "target": [], "allowed": {}, "denied": denied,
            "renamed": [], "group": group,
        })
    };
    let parts = [
        part("http://a:1", "GET", "/u/{id}", json!([["a", "b"]]), ""),
        part("http://b:22", "POST", "/o/{resp0_id}", json!([]), "o"),
    ];
    assert_eq!(
        route["config_data"],
        json!({"path": "^/u/([^/?]+)$", "names": ["id"], "headers": ["X-A"], "query": [], "sequential": true, "parts": parts})
    );
    let paths = &version(&route)["extended_paths"];
    assert_eq!(paths["virtual"][0]["function_source_uri"], "scripts/merge.js");
    assert!(paths["transform_jq_response"][0]["filter"].as_str().unwrap().contains(r#". + {"n":1}"#), "{paths}");
    assert_eq!(version(&route)["global_headers"], json!({"X-Forwarded-For": "$tyk_context.remote_addr"}));
    assert!(moved.files.iter().any(|file| file.path == "scripts/merge.js"));
    let settings = moved.files.iter().find(|file| file.path == "tyk.conf").unwrap();
    let settings: serde_json::Value = serde_json::from_str(&settings.text).unwrap();
    assert_eq!(
        json!([settings["enable_jsvm"], settings["jsvm_timeout"], settings["middleware_path"]]),
        json!([true, 7, "scripts/"])
    );
}

#[test]
fn backends_get_the_headers_and_parameters_that_are_listed() {
    let passes = |lists: &str| {
        let text = format!(
            "{{\"version\": 3, \"endpoints\": [{{\"endpoint\": \"/a\", {lists} \"backend\": [{{\"host\": [\"http://b\"], \"url_pattern\": \"/b\"}}]}}]}}"
        );
        let moved = imported("krakend.json", &text);
        assert_valid(&moved);
        rule(&api(&moved, "GET /a"))["passes"].clone()
    };
    assert_eq!(passes(""), json!({"headers": ["Content-Type"], "query": []}));
    assert_eq!(
        passes(r#""input_headers": ["X-A"], "input_query_strings": ["page", "size"],"#),
        json!({"headers": ["X-A"], "query": ["page", "size"]})
    );
    assert_eq!(passes(r#""input_headers": ["*"], "input_query_strings": ["*"],"#), Value::Null);
}

#[test]
fn times_for_clients_roles_by_their_names_and_changes_of_headers_are_carried_over() {
    let text = r#"{"version": 3, "cache_ttl": "60s", "endpoints": [{"endpoint": "/a", "backend": [{"host": ["http://b"], "url_pattern": "/b",
        "extra_config": {
            "qos/circuit-breaker": {"interval": 60, "timeout": 10, "max_errors": 3},
            "modifier/martian": {"fifo.Group": {"scope": ["request", "response"], "aggregateErrors": true, "modifiers": [
                {"header.Modifier": {"scope": ["request"], "name": "X-In", "value": "1"}},
                {"header.Append": {"scope": ["response"], "name": "X-Out", "value": "2"}},
                {"header.Blacklist": {"scope": ["response"], "names": ["X-Gone"]}}]}}}}],
        "extra_config": {"auth/validator": {"alg": "RS256", "jwk_url": "http://keys", "cache": true, "disable_jwk_security": true,
            "roles_key": "realm.roles", "roles": ["a"], "operation_debug": true}}}]}"#;
    let moved = imported("krakend.json", text);
    assert_valid(&moved);
    let api = api(&moved, "GET /a");
    let cache = json!([{"name": "Cache-Control", "value": "public, max-age=60"}]);
    assert_eq!(rule(&api)["status_headers"], json!([{"statuses": [200, 201], "headers": {"set": cache}}]));
    // Without `roles_key_is_nested`, the dot is part of the name.
    assert_eq!(api["tollgate"]["jwt"]["custom_claims"], json!({"realm\\.roles": {"type": "contains", "allowed_values": ["a"]}}));
    assert_eq!(version(&api)["global_headers"]["X-In"], "1");
    assert_eq!(rule(&api)["response_headers"], json!({"add": [{"name": "X-Out", "value": "2"}]}));
    assert_eq!(version(&api)["global_response_headers_remove"], json!(["X-Gone"]));
    let breaker = &version(&api)["extended_paths"]["circuit_breakers"][0];
    assert_eq!((&breaker["samples"], &breaker["return_to_service_after"]), (&json!(3), &json!(10)));
    for (name, outcome) in [
        ("cache_ttl", "carried"),
        ("extra_config.auth/validator.cache", "built in"),
        ("extra_config.auth/validator.disable_jwk_security", "built in"),
        ("extra_config.modifier/martian", "carried"),
        ("extra_config.qos/circuit-breaker", "approximated"),
    ] {
        assert_eq!(outcomes(&moved, name), [outcome], "{name}");
    }
    let nested = text.replace("\"roles\":", "\"roles_key_is_nested\": true, \"roles\":");
    let moved = imported("krakend.json", &nested);
    assert!(api_text(&moved).contains("\"realm.roles\""), "{}", api_text(&moved));
    let unknown = imported("krakend.json", &text.replace("header.Append", "body.Modifier"));
    assert_eq!(outcomes(&unknown, "extra_config.modifier/martian"), ["not"]);
}

fn api_text(moved: &Imported) -> String {
    api(moved, "GET /a").to_string()
}
