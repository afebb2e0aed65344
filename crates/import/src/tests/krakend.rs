use super::{api, assert_valid, imported, outcomes, rule, version};
use serde_json::json;

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
    {"endpoint": "/both", "method": "POST", "output_encoding": "no-op", "backend": [{"url_pattern": "/a"}, {"url_pattern": "/b"}]}
  ]
}"#;

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
    assert!(filter.contains("[\"address\",\"city\"]") && filter.contains("{\"user\": .}"), "{filter}");
    assert_eq!(version(&users)["global_headers_remove"], json!(["Authorization", "Cookie"]));
    assert_eq!(outcomes(&moved, "endpoints.backend"), ["carried", "carried", "not"]);
    let policy = moved.files.iter().find(|file| file.path == "policies/imported.json").unwrap();
    assert!(policy.text.contains("get-users-id"));
}

#[test]
fn former_names_of_settings_are_known() {
    let text = GATEWAY.replace("auth/validator", "github_com/devopsfaith/krakend-jose/validator");
    let moved = imported("krakend.json", &text);
    assert_eq!(api(&moved, "GET /users")["jwt_source"], "https://login.test/keys");
}

#[test]
fn what_protects_closes_the_endpoint() {
    for setting in ["validation/cel", "modifier/lua-endpoint", "auth/api-keys"] {
        let text = GATEWAY.replace("qos/ratelimit/router", setting);
        let moved = imported("krakend.json", &text);
        assert_eq!(version(&api(&moved, "GET /users"))["extended_paths"]["black_list"], json!([{"path": "/.*"}]), "{setting}");
    }
}
