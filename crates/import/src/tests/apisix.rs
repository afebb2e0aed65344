use super::{api, assert_valid, imported, outcomes, rule, version};
use serde_json::{Value, json};

#[test]
fn routes_refer_to_upstreams_services_and_plugin_configurations() {
    let text = r#"
routes:
- id: 1
  name: items
  uri: /items/*
  host: api.test
  methods: [GET]
  service_id: s
  plugin_config_id: p
  vars: [["http_x_version", "==", "2"]]
  plugins:
    proxy-rewrite: {regex_uri: ["^/items/(.*)", "/v1/$1"], headers: {set: {X-A: b}}}
    limit-count: {count: 5, time_window: 60, key_type: constant, key: all}
- id: 2
  uri: /exact
  upstream: {type: chash, key: remote_addr, nodes: {"10.0.0.1:80": 1, "10.0.0.2:80": 2}}
services:
- id: s
  upstream_id: u
  plugins: {ip-restriction: {whitelist: [10.0.0.0/8]}}
upstreams:
- id: u
  scheme: https
  pass_host: node
  nodes: [{host: items.int, port: 8443, weight: 1}]
plugin_configs:
- id: p
  plugins: {key-auth: {header: x-key}}
consumers:
- username: anna
  plugins: {key-auth: {key: abc}}
#END
"#;
    let moved = imported("apisix.yaml", text);
    assert_valid(&moved);
    let items = api(&moved, "items");
    assert_eq!(items["allowed_ips"], json!(["10.0.0.0/8"]));
    assert_eq!(items["global_rate_limit"], json!({"rate": 5.0, "per": 60.0}));
    assert_eq!(items["proxy"]["target_url"], "https://items.int:8443");
    assert_eq!(items["proxy"]["transport"]["ssl_insecure_skip_verify"], true);
    assert_eq!(rule(&items)["matches"][0]["headers"], json!([{"name": "x-version", "exact": "2"}]));
    assert_eq!(version(&items)["global_headers"], json!({"X-A": "b"}));
    let exact = api(&moved, "2");
    assert_eq!(rule(&exact)["matches"][0]["path"], json!({"exact": "/exact"}));
    assert_eq!(exact["tollgate"]["upstream"]["hash"]["by"], "address");
    assert_eq!(moved.consumers[0].key, "abc");
}

#[test]
fn exports_of_the_admin_api_are_lists_of_values() {
    let text = r#"{"total": 1, "list": [{"key": "/apisix/routes/1", "value": {"id": "1", "uri": "/a", "upstream": {"nodes": {"b:1": 1}}}, "createdIndex": 3}]}"#;
    let moved = imported("routes.json", text);
    assert_valid(&moved);
    assert_eq!(api(&moved, "1")["proxy"]["target_url"], "http://b:1");
}

#[test]
fn an_issuer_tells_where_its_keys_are_if_tokens_are_for_a_client() {
    let with = |more: &str| {
        let text = format!(
            "routes:\n- id: 1\n  uri: /a\n  upstream: {{nodes: {{'b:1': 1}}}}\n  plugins:\n    openid-connect: {{client_id: shop, bearer_only: true{more}}}\n"
        );
        let moved = imported("apisix.yaml", &text);
        assert_valid(&moved);
        api(&moved, "1")
    };
    let discovery = ", discovery: 'https://id.test/.well-known/openid-configuration'";
    let audience = ", claim_validator: {audience: {match_with_client_id: true}}";
    let api = with(&format!("{discovery}{audience}"));
    assert_eq!(api["openid_options"]["providers"], json!([{"issuer": "https://id.test", "client_ids": {"c2hvcA==": "imported"}}]));
    assert_eq!(version(&api)["extended_paths"]["black_list"], json!(null));
    for more in [discovery.to_owned(), audience.to_owned(), format!("{discovery}{audience}, required_scopes: [a]")] {
        assert_eq!(version(&with(&more))["extended_paths"]["black_list"], json!([{"path": "/.*"}]), "{more}");
    }
}

#[test]
fn what_protects_closes_the_route() {
    for plugin in [
        "uri-blocker: {block_rules: [x]}",
        "openid-connect: {client_id: a}",
        "limit-conn: {conn: 1}",
        "unheard-of: {}",
        "limit-count: {count: 1, time_window: 1, key: cookie_x}",
    ] {
        let text = format!("routes:\n- id: 1\n  uri: /a\n  upstream: {{nodes: {{'b:1': 1}}}}\n  plugins:\n    {plugin}\n");
        let moved = imported("apisix.yaml", &text);
        assert_eq!(version(&api(&moved, "1"))["extended_paths"]["black_list"], json!([{"path": "/.*"}]), "{plugin}");
    }
}

#[test]
fn plugins_that_compress_become_compression() {
    let of = |plugins: &str| {
        let text =
            format!("routes:\n- uri: /a\n  plugins: {{{plugins}}}\n  upstream: {{nodes: {{'10.0.0.1:1': 1}}, type: roundrobin}}\n");
        let moved = imported("apisix.yaml", &text);
        assert_valid(&moved);
        let first = moved.files.iter().find(|file| file.path.starts_with("apis/")).expect("a definition");
        let api: Value = serde_json::from_str(&first.text).unwrap();
        (api["tollgate"]["compression"].clone(), moved)
    };
    let usual = json!({"encodings": ["gzip"], "types": ["text/html"], "bytes_min": 20, "gzip_level": 1});
    assert_eq!(of("gzip: {}").0, usual);
    let (own, moved) = of(
        "gzip: {types: [text/css, application/json], min_length: 100, comp_level: 6, vary: true, http_version: 1.1, buffers: {number: 32, size: 4096}}",
    );
    assert_eq!(own, json!({"encodings": ["gzip"], "types": ["text/css", "application/json"], "bytes_min": 100, "gzip_level": 6}));
    for (field, outcome) in
        [("types", "carried"), ("min_length", "carried"), ("comp_level", "carried"), ("vary", "built in"), ("buffers", "built in")]
    {
        assert_eq!(outcomes(&moved, &format!("plugins.gzip.{field}")), [outcome], "{field}");
    }
    assert_eq!(outcomes(&moved, "plugins.gzip"), ["carried"]);
    let (both, moved) = of("gzip: {types: '*'}, brotli: {comp_level: 9}");
    assert_eq!(
        both,
        json!({"encodings": ["br", "gzip"], "types": ["*", "text/html"], "bytes_min": 20, "gzip_level": 1, "brotli_level": 4, "event_streams": true})
    );
    assert_eq!(outcomes(&moved, "plugins.brotli.comp_level"), ["approximated"]);
}
