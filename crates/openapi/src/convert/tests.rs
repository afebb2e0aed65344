use super::*;

fn shop() -> Value {
    json!({
        "name": "Shop", "api_id": "shop", "org_id": "default", "active": true,
        "use_keyless": false, "use_standard_auth": true,
        "auth": {"auth_header_name": "X-Key", "use_param": true, "param_name": "key"},
        "domain": "shop.example", "allowed_ips": ["10.0.0.0/8"], "tags": ["edge"], "enable_context_vars": true,
        "global_rate_limit": {"rate": 10, "per": 60},
        "CORS": {"enable": true, "allowed_origins": ["https://shop.example"], "max_age": 60},
        "cache_options": {"enable_cache": true, "cache_timeout": 5},
        "proxy": {"listen_path": "/shop/", "strip_listen_path": true, "target_url": "http://up/", "enable_load_balancing": true, "target_list": ["http://a/", "http://b/", "http://a/"]},
        "version_data": {"not_versioned": true, "versions": {"Default": {
            "name": "Default", "use_extended_paths": true, "global_headers": {"X-Shop": "1"},
            "extended_paths": {
                "size_limits": [{"path": "/things/{id}", "method": "POST", "size_limit": 100}],
                "transform_headers": [{"path": "/things/{id}", "method": "POST", "add_headers": {"X-A": "b"}, "delete_headers": ["X-C"]}],
                "ignored": [{"path": "/status", "method_actions": {"GET": {"action": "no_action", "code": 200}}}],
                "white_list": [{"path": "^/old/(.*)$", "method": "GET"}],
                "validate_json": [{"path": "/things", "method": "POST", "schema": {}}]
            }
        }}},
        "custom_middleware": {"pre": [{"name": "f", "path": "f.js"}]}, "event_handlers": {"events": {}}
    })
}

#[test]
fn a_classic_definition_becomes_a_document_that_means_the_same() {
    let ConvertedDefinition { document, notes } = to_openapi(&shop()).expect("a document");
    let form = classic_form(&Document::new(document.clone()).expect("a document").0);
    assert!(form.problems.iter().all(|problem| !problem.is_error()), "{:?}", form.problems);
    let at = |pointer: &str| form.definition.pointer(pointer).cloned().unwrap_or_default();
    for (pointer, expected) in [
        ("/api_id", json!("shop")),
        ("/proxy/listen_path", json!("/shop/")),
        ("/proxy/target_list", json!(["http://a/", "http://a/", "http://b/"])),
        ("/use_keyless", json!(false)),
        ("/use_standard_auth", json!(true)),
        ("/auth_configs/authToken/auth_header_name", json!("X-Key")),
        ("/auth_configs/authToken/param_name", json!("key")),
        ("/do_not_track", json!(false)),
        ("/domain", json!("shop.example")),
        ("/domain_disabled", json!(false)),
        ("/allowed_ips", json!(["10.0.0.0/8"])),
        ("/ip_access_control_disabled", json!(false)),
        ("/global_rate_limit/disabled", json!(false)),
        ("/global_rate_limit/per", json!(60)),
        ("/CORS/allowed_origins", json!(["https://shop.example"])),
        ("/version_data/versions//global_headers", json!({"X-Shop": "1"})),
        ("/version_data/versions//global_headers_disabled", json!(false)),
        ("/version_data/versions//extended_paths/size_limits/0/size_limit", json!(100)),
        ("/version_data/versions//extended_paths/size_limits/0/disabled", json!(false)),
        ("/version_data/versions//extended_paths/transform_headers/0/add_headers", json!({"X-A": "b"})),
        ("/version_data/versions//extended_paths/ignored/0/path", json!("/status")),
    ] {
        assert_eq!(at(pointer), expected, "{pointer} of {document:#}");
    }
    let expected = ["extended_paths.white_list[0]", "extended_paths.validate_json", "$.custom_middleware"];
    for part in expected {
        assert!(notes.iter().any(|note| note.contains(part)), "{part} in {notes:#?}");
    }
    assert_eq!(notes.len(), expected.len(), "{notes:#?}");
}

#[test]
fn there_and_back_is_the_same() {
    let there = to_openapi(&shop()).expect("a document").document;
    let back = to_classic(there.clone()).expect("a definition").document;
    let again = to_openapi(&back).expect("a document").document;
    let form = |document: &Value| classic_form(&Document::new(document.clone()).expect("a document").0).definition;
    assert_eq!(form(&again), form(&there));
    assert_eq!(again["paths"], there["paths"]);
    assert_eq!(back["version_data"]["versions"]["Default"]["name"], "Default");
}

#[test]
fn what_can_not_be_one_document_says_so() {
    let mut several = shop();
    several["version_data"] = json!({"not_versioned": false, "versions": {"v1": {"name": "v1"}, "v2": {"name": "v2"}}});
    let why = to_openapi(&several).expect_err("versions");
    assert!(why.contains("2 versions (v1, v2)"), "{why}");
    assert!(to_classic(json!({"openapi": "3.0.3"})).is_err());
}
