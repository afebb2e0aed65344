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
                "white_list": [{"path": "^/old/(.*)$", "method": "GET"}, {"path": "/new", "method": "GET"}],
                "validate_json": [{"path": "/things", "method": "POST", "schema": {}, "error_response_code": 400}]
            }
        }}},
        "custom_middleware": {"pre": [{"name": "f", "path": "f.js"}]},
        "event_handlers": {"events": {"QuotaExceeded": [
            {"handler_name": "eh_web_hook_handler", "handler_meta": {"method": "POST", "target_path": "http://hook/", "event_timeout": 10}}
        ]}},
        "uptime_tests": {"check_list": [{"url": "http://a/health", "timeout": 2_000_000_000_u64, "method": "GET"}]}
    })
}

/// The classic form of what a definition is converted to, and what it says.
fn form_of(definition: &Value) -> (Value, ConvertedDefinition) {
    let converted = to_openapi(definition).expect("a document");
    let form = classic_form(&Document::new(converted.document.clone()).expect("a document").0);
    assert!(form.problems.iter().all(|problem| !problem.is_error()), "{:?}", form.problems);
    (form.definition, converted)
}

#[test]
fn a_classic_definition_becomes_a_document_that_means_the_same() {
    let (form, ConvertedDefinition { document, losses, notes }) = form_of(&shop());
    let at = |pointer: &str| form.pointer(pointer).cloned().unwrap_or_default();
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
        ("/custom_middleware/pre/0/path", json!("f.js")),
        ("/event_handlers/events/QuotaExceeded/0/handler_meta/event_timeout", json!(10)),
        ("/uptime_tests/check_list/0/timeout", json!(2_000_000_000_u64)),
        ("/version_data/versions//global_headers", json!({"X-Shop": "1"})),
        ("/version_data/versions//global_headers_disabled", json!(false)),
        ("/version_data/versions//extended_paths/size_limits/0/size_limit", json!(100)),
        ("/version_data/versions//extended_paths/size_limits/0/disabled", json!(false)),
        ("/version_data/versions//extended_paths/transform_headers/0/add_headers", json!({"X-A": "b"})),
        ("/version_data/versions//extended_paths/ignored/0/path", json!("/status")),
        // A list with a pattern keeps its order.
        ("/version_data/versions//extended_paths/white_list/0/path", json!("^/old/(.*)$")),
        ("/version_data/versions//extended_paths/white_list/1/path", json!("/new")),
        ("/version_data/versions//extended_paths/validate_json/0/error_response_code", json!(400)),
    ] {
        assert_eq!(at(pointer), expected, "{pointer} of {document:#}");
    }
    assert_eq!(losses, Vec::<String>::new());
    let expected =
        ["Default.extended_paths.white_list: \"^/old/(.*)$\" is a pattern", "extended_paths.validate_json: has no counterpart"];
    for part in expected {
        assert!(notes.iter().any(|note| note.contains(part)), "{part} in {notes:#?}");
    }
    assert_eq!(notes.len(), expected.len(), "{notes:#?}");
}

#[test]
fn there_and_back_is_the_same() {
    let there = to_openapi(&shop()).expect("a document").document;
    let back = to_classic(there.clone()).expect("a definition");
    assert_eq!(back.losses, Vec::<String>::new());
    let again = to_openapi(&back.document).expect("a document").document;
    let form = |document: &Value| classic_form(&Document::new(document.clone()).expect("a document").0).definition;
    assert_eq!(form(&again), form(&there));
    assert_eq!(again["paths"], there["paths"]);
    assert_eq!(back.document["version_data"]["versions"]["Default"]["name"], "Default");
}

#[test]
fn rewrites_with_triggers_and_functions_are_operations() {
    let mut definition = shop();
    let rewrite = json!({
        "path": "/things", "method": "GET", "match_pattern": "/things(.*)", "rewrite_to": "/all$1",
        "triggers": [{"on": "any", "rewrite_to": "/some", "options": {
            "header_matches": {"X-A": {"match_rx": "a", "reverse": true}}, "query_val_matches": {"q": {"match_rx": "b"}},
            "payload_matches": {"match_rx": "c"}
        }}],
    });
    let function = json!({"path": "/made", "method": "GET", "response_function_name": "f", "function_source_type": "blob", "function_source_uri": "eA=="});
    definition["version_data"]["versions"]["Default"]["extended_paths"] = json!({"url_rewrites": [rewrite], "virtual": [function]});
    let (form, converted) = form_of(&definition);
    assert_eq!((converted.losses.len(), converted.notes.len()), (0, 0), "{converted:#?}");
    assert!(converted.document.get("x-tollgate").is_none());
    let lists = form.pointer("/version_data/versions//extended_paths").expect("lists");
    assert!(covers(&lists["url_rewrites"][0], &rewrite), "{lists:#}");
    assert!(covers(&lists["virtual"][0], &function), "{lists:#}");
}

#[test]
fn every_method_of_authentication_keeps_its_settings() {
    let sources = json!({"auth_header_name": "X-T", "use_cookie": true, "cookie_name": "t"});
    let cases = [
        json!({"use_openid": true, "openid_options": {"segregate_by_client": true, "providers": [{"issuer": "https://i/", "client_ids": {"YQ==": "p"}}]},
               "scopes": {"oidc": {"scope_claim_name": "s", "scope_to_policy": {"read": "p"}}}, "auth_configs": {"oidc": sources}}),
        json!({"enable_jwt": true, "jwt_source": "c2VjcmV0", "jwt_signing_method": "hmac", "jwt_default_policies": ["p"], "jwt_expires_at_validation_skew": 5,
               "jwt_jwks_uris": [{"url": "https://i/jwks", "cache_timeout": "10s"}], "scopes": {"jwt": {"scope_claim_name": "s", "scope_to_policy": {"read": "p"}}}, "auth_configs": {"jwt": sources}}),
        json!({"use_oauth2": true, "oauth_meta": {"allowed_access_types": ["refresh_token", "authorization_code", "client_credentials"], "allowed_authorize_types": ["code"], "auth_login_redirect": "http://l/"},
               "notifications": {"shared_secret": "x", "oauth_on_keychange_url": "http://n/"}, "auth_configs": {"oauth": sources}}),
        json!({"use_basic_auth": true, "basic_auth": {"disable_caching": true, "cache_ttl": 5, "extract_from_body": true, "body_user_regexp": "u(.)", "body_password_regexp": "p(.)"}, "auth_configs": {"basic": sources}}),
        json!({"enable_signature_checking": true, "hmac_allowed_algorithms": ["hmac-sha256"], "hmac_allowed_clock_skew": 100, "auth_configs": {"hmac": sources}}),
        json!({"use_standard_auth": true, "auth_configs": {"authToken": {"disable_header": true, "use_param": true, "param_name": "k", "use_certificate": true,
               "validate_signature": true, "signature": {"algorithm": "MasherySHA256", "header": "X-S", "secret": "s", "allowed_clock_skew": 2}}}}),
        json!({"custom_plugin_auth_enabled": true, "custom_middleware": {"driver": "grpc", "auth_check": {"name": "check"},
               "id_extractor": {"extract_from": "header", "extract_with": "value", "extractor_config": {"header_name": "X-Id"}}}}),
    ];
    for case in cases {
        let mut definition = json!({"name": "a", "api_id": "a", "active": true, "use_keyless": false, "proxy": {"listen_path": "/a/", "target_url": "http://up/"}});
        definition.as_object_mut().unwrap().extend(case.as_object().unwrap().clone());
        let (form, converted) = form_of(&definition);
        assert_eq!(converted.losses, Vec::<String>::new(), "{case}");
        assert!(covers(&form, &case), "{case}\n{form:#}");
    }
}

#[test]
fn lists_that_would_act_in_another_order_keep_theirs() {
    let mut definition = shop();
    let limit = |path: &str, size: u64| json!({"path": path, "method": "POST", "size_limit": size});
    let lists = json!({"size_limits": [limit("/a", 1), limit("/a/b", 2)]});
    definition["version_data"]["versions"]["Default"]["extended_paths"] = lists.clone();
    let (form, converted) = form_of(&definition);
    assert!(converted.notes[0].contains("the order of its entries"), "{converted:#?}");
    assert!(covers(form.pointer("/version_data/versions//extended_paths").expect("lists"), &lists));
}

#[test]
fn what_has_no_counterpart_is_a_loss() {
    let changes: [(&str, Value); 3] = [
        ("/external_oauth", json!({"enabled": true, "providers": [{"jwt": {"enabled": true}}]})),
        ("/some_protection", json!({"enabled": true})),
        ("/auth_configs", json!({"authToken": {"auth_header_name": "X-Key", "something_else": true}})),
    ];
    for (pointer, value) in changes {
        let mut definition = shop();
        definition[&pointer[1..]] = value;
        let losses = to_openapi(&definition).expect("a document").losses;
        let name = pointer.replace('/', "$.");
        assert!(losses.iter().any(|loss| loss.starts_with(&name)), "{name} in {losses:#?}");
    }
    let mut document = to_openapi(&shop()).expect("a document").document;
    document["x-tollgate"]["validate_responses"] = json!({});
    put(&mut document, &[EXTENSION, "middleware", "operations", "post-things-id", "validateRequest"], json!({"enabled": true}));
    let back = to_classic(document).expect("a definition");
    assert_eq!(back.losses.len(), 2, "{:#?}", back.losses);
    assert!(back.document.pointer("/tollgate/validate_responses").is_none());
}

#[test]
fn what_can_not_be_one_document_says_so() {
    let mut several = shop();
    several["version_data"] = json!({"not_versioned": false, "versions": {"v1": {"name": "v1"}, "v2": {"name": "v2"}}});
    let why = to_openapi(&several).expect_err("versions");
    assert!(why.contains("2 versions (v1, v2)"), "{why}");
    assert!(to_classic(json!({"openapi": "3.0.3"})).is_err());
}
