use super::{api, assert_valid, imported, outcomes, rule, version};
use serde_json::{Value, json};

const DECK: &str = r#"
_format_version: "3.0"
services:
- name: orders
  url: http://orders.int:8080/v1
  retries: 2
  read_timeout: 5000
  routes:
  - name: orders
    hosts: [api.example.com]
    paths: [/orders]
    methods: [GET, POST]
    plugins:
    - name: rate-limiting
      config: {minute: 60, hour: 1000, policy: local}
  - name: open
    paths: ["~/open/(?<id>\\d+)$"]
    strip_path: false
    preserve_host: true
  plugins:
  - name: key-auth
    config: {key_names: [x-key], hide_credentials: true}
  - name: acl
    config: {allow: [gold]}
- name: pool
  host: pool
  port: 80
  protocol: http
  routes:
  - name: pool
    paths: [/pool]
upstreams:
- name: pool
  algorithm: least-connections
  targets: [{target: "10.0.0.1:80", weight: 10}, {target: "10.0.0.2:80"}]
consumers:
- username: anna
  keyauth_credentials: [{key: abc}]
  acls: [{group: gold}]
- username: bert
  keyauth_credentials: [{key: def}]
plugins:
- name: cors
  config: {origins: ["https://a.example"], methods: [GET], credentials: true, max_age: 60}
- name: prometheus
"#;

#[test]
fn services_routes_plugins_and_consumers_become_definitions_and_keys() {
    let moved = imported("kong.yaml", DECK);
    assert_valid(&moved);
    let orders = api(&moved, "orders");
    assert_eq!(orders["auth_configs"]["authToken"]["auth_header_name"], "x-key");
    assert_eq!(orders["strip_auth_data"], true);
    assert_eq!(orders["CORS"]["allowed_origins"], json!(["https://a.example"]));
    assert_eq!(orders["tollgate"]["route"]["attached"], json!([{"hosts": ["api.example.com"]}]));
    assert_eq!(
        rule(&orders)["matches"],
        json!([{"path": {"regex": "/orders.*"}, "method": "GET"}, {"path": {"regex": "/orders.*"}, "method": "POST"}])
    );
    assert_eq!(rule(&orders)["rewrite"]["host"], "orders.int:8080");
    let rewrite = &version(&orders)["extended_paths"]["url_rewrites"][0];
    assert_eq!((rewrite["match_pattern"].as_str(), rewrite["rewrite_to"].as_str()), (Some("^/orders(.*)$"), Some("/v1$1")));
    let open = api(&moved, "open");
    assert_eq!(rule(&open)["rewrite"], Value::Null);
    let pool = api(&moved, "pool");
    assert_eq!(pool["tollgate"]["upstream"]["targets"][0], json!({"url": "http://10.0.0.1:80", "weight": 10}));
    assert_eq!(pool["use_keyless"], true);
    // Of two consumers one is in the group.
    assert_eq!(moved.consumers.len(), 1);
    let anna = &moved.consumers[0];
    assert_eq!(anna.key, "abc");
    assert_eq!(
        anna.session["access_rights"]["orders"]["limit"],
        json!({"rate": 60.0, "per": 60.0, "limits": [{"rate": 1000.0, "per": 3600.0}]})
    );
    assert!(anna.session["access_rights"].get("pool").is_none());
    assert_eq!(outcomes(&moved, "plugins.rate-limiting"), ["carried"]);
}

#[test]
fn a_consumer_without_rights_gets_no_key() {
    let text = "_format_version: '3.0'\nservices:\n- name: a\n  url: http://a\n  routes: [{name: a, paths: [/a]}]\nconsumers:\n- username: b\n  keyauth_credentials: [{key: c}]\n";
    let moved = imported("kong.yaml", text);
    assert!(moved.consumers.is_empty(), "a session without rights would be an administrator's");
    assert_eq!(outcomes(&moved, "credential"), ["not"]);
}

#[test]
fn plugins_that_protect_and_unknown_ones_close_the_route() {
    for plugin in ["ldap-auth", "pre-function", "bot-detection", "our-own-guard", "request-validator"] {
        let text = format!(
            "_format_version: '3.0'\nservices:\n- name: a\n  url: http://a\n  routes:\n  - name: a\n    paths: [/a]\n    plugins: [{{name: {plugin}}}]\n"
        );
        let moved = imported("kong.yaml", &text);
        assert_eq!(version(&api(&moved, "a"))["extended_paths"]["black_list"], json!([{"path": "/.*"}]), "{plugin}");
    }
}

#[test]
fn tokens_of_an_issuer_need_an_audience_and_nothing_else() {
    let issuer = "issuer: 'https://id.test/.well-known/openid-configuration'";
    let closed = json!([{"path": "/.*"}]);
    for (config, plugins, list) in [
        (format!("{issuer}, audience_required: [shop]"), "", json!(null)),
        (issuer.to_owned(), "", closed.clone()),
        (format!("{issuer}, audience_required: [shop], scopes_required: [admin]"), "", closed.clone()),
        (format!("{issuer}, audience_required: [shop]"), ", {name: acl, config: {allow: [staff]}}", closed.clone()),
    ] {
        let text = format!(
            "_format_version: '3.0'\nservices:\n- name: a\n  url: http://a\n  routes: [{{name: a, paths: [/a]}}]\n  plugins: [{{name: openid-connect, config: {{{config}}}}}{plugins}]\n"
        );
        let moved = imported("kong.yaml", &text);
        assert_valid(&moved);
        assert_eq!(version(&api(&moved, "a"))["extended_paths"]["black_list"], list, "{config}{plugins}");
    }
}

#[test]
fn rates_of_addresses_are_those_of_their_route() {
    let text = "_format_version: '3.0'\nservices:\n- name: a\n  url: http://a\n  routes: [{name: a, paths: [/a]}, {name: b, paths: [/b]}]\nplugins:\n- {name: rate-limiting, route: a, config: {limit_by: ip, minute: 60, month: 31}}\n";
    let moved = imported("kong.yaml", text);
    assert_valid(&moved);
    let limits = api(&moved, "a")["tollgate"]["request_limits"].clone();
    assert_eq!((limits[0]["requests"].as_f64(), limits[0]["window_s"].as_f64()), (Some(60.0), Some(60.0)));
    assert_eq!(limits[0]["by"], "address");
    assert_eq!(limits[1]["window_s"], 86_400.0, "no window is longer than a day");
    assert!(api(&moved, "b")["tollgate"].get("request_limits").is_none());
}

#[test]
fn tokens_name_their_consumer_by_a_claim() {
    let text = "_format_version: '3.0'\nservices:\n- name: a\n  url: http://a\n  routes: [{name: a, paths: [/a]}]\n  plugins: [{name: jwt}]\nconsumers:\n- username: b\n  jwt_secrets: [{key: issuer-1, secret: s3cret}]\n";
    let moved = imported("kong.yaml", text);
    assert_valid(&moved);
    assert_eq!(api(&moved, "a")["jwt_identity_base_field"], "iss");
    assert_eq!(moved.consumers[0].key, "issuer-1");
    assert_eq!(moved.consumers[0].session["jwt_data"]["secret"], "s3cret");
}

#[test]
fn what_tokens_must_say_and_limits_do_without_their_store_is_carried_over() {
    let text = "_format_version: '3.0'\nservices:\n- name: s\n  url: http://a\n  connect_timeout: 3000\n  routes:\n  - name: r\n    \
                paths: [/a]\n    path_handling: v0\n    request_buffering: true\n    plugins:\n    - name: jwt\n      config:\n        \
                claims_to_verify: [exp]\n        header_names: [X-Token]\n    - name: rate-limiting\n      config:\n        minute: 5\n        \
                limit_by: header\n        header_name: X-Team\n        policy: local\n        fault_tolerant: false\n        error_code: 503\n    \
                - name: correlation-id\n      config:\n        header_name: X-Id\n        echo_downstream: true\n";
    let moved = imported("kong.yaml", text);
    assert_valid(&moved);
    let api = api(&moved, "r");
    assert_eq!(api["tollgate"]["jwt"]["custom_claims"], json!({"exp": {"type": "required"}}));
    assert_eq!(api["auth_configs"]["jwt"]["auth_header_name"], "X-Token");
    assert_eq!(api["tollgate"]["on_store_failure"], "deny");
    assert_eq!(api["tollgate"]["request_limits"], json!([{"requests": 5.0, "window_s": 60.0, "by": "header", "name": "X-Team"}]));
    assert_eq!(api["error_overrides"]["429"][0]["response"]["status_code"], 503);
    assert_eq!(version(&api)["global_response_headers"], json!({"X-Id": "$tyk_context.request_id"}));
    let settings = moved.files.iter().find(|file| file.path == "tyk.conf").unwrap();
    assert!(settings.text.contains("\"upstream_connect_ms\": 3000"), "{}", settings.text);
    for (name, outcome) in [
        ("plugins.jwt.claims_to_verify", "carried"),
        ("plugins.rate-limiting.fault_tolerant", "carried"),
        ("plugins.rate-limiting.policy", "built in"),
        ("plugins.rate-limiting.error_code", "carried"),
        ("services.connect_timeout", "carried"),
        ("routes.path_handling", "carried"),
        ("routes.request_buffering", "built in"),
    ] {
        assert_eq!(outcomes(&moved, name), [outcome], "{name}");
    }
}
