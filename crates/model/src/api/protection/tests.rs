use serde_json::{Value, json};

use crate::api::ApiDefinition;
use crate::protections::PROTECTIONS;

/// A keyless definition with one version, with the members of `over`.
fn definition(over: Value, extended_paths: Value) -> ApiDefinition {
    let mut document = json!({
        "api_id": "1",
        "use_keyless": true,
        "version_data": {
            "not_versioned": true,
            "versions": {"Default": {"use_extended_paths": true, "extended_paths": extended_paths}}
        },
        "proxy": {"listen_path": "/a/", "target_url": "http://upstream/"}
    });
    for (name, value) in over.as_object().unwrap() {
        document[name] = value.clone();
    }
    ApiDefinition::parse(document.to_string().as_bytes(), None).unwrap().0
}

fn missing(definition: &ApiDefinition) -> Vec<(&'static str, String)> {
    let all = definition.missing_protections();
    assert!(all.iter().all(|one| PROTECTIONS.contains(&one.field)), "{all:?}");
    all.into_iter().map(|one| (one.field, one.path)).collect()
}

#[test]
fn what_protects_and_does_not_act_is_found_with_its_place() {
    for (over, field, place) in [
        (
            json!({"custom_middleware": {"driver": "goplugin", "pre": [{"name": "f"}]}}),
            "custom_middleware",
            "$.custom_middleware.pre[0]",
        ),
        (
            json!({"custom_middleware": {"driver": "goplugin", "Post": [{"name": "f", "disabled": true}, {"name": "g"}]}}),
            "custom_middleware",
            "$.custom_middleware.post[1]",
        ),
        (
            json!({"custom_middleware": {"driver": "goplugin", "response": [{}]}}),
            "custom_middleware",
            "$.custom_middleware.response[0]",
        ),
        (
            json!({"use_keyless": false, "custom_middleware": {"driver": "goplugin", "post_key_auth": [{"name": "f"}]}}),
            "custom_middleware",
            "$.custom_middleware.post_key_auth[0]",
        ),
    ] {
        assert_eq!(missing(&definition(over.clone(), json!({}))), [(field, place.to_owned())], "{over}");
    }
    for list in ["validate_request", "go_plugin"] {
        let paths = json!({list: [{"path": "/x", "disabled": true}, {"path": "/y", "enabled": true}]});
        let place = format!("$.version_data.versions.Default.extended_paths.{list}[1]");
        assert_eq!(missing(&definition(json!({}), paths)), [(list, place)]);
    }
}

#[test]
fn what_is_switched_off_or_the_same_as_the_gateways_does_not_count() {
    let keyed = |hook: &str| json!({"custom_middleware": {"driver": "goplugin", hook: [{"name": "f"}]}});
    for over in [
        json!({"listen_port": 8080, "protocol": "http"}),
        json!({"custom_middleware": {"pre": [], "post": null, "driver": "otto", "id_extractor": {"extract_from": "header"}}}),
        json!({"custom_middleware": {"pre": [{"name": "f", "disabled": true}]}}),
        keyed("post_key_auth"),
        json!({"custom_middleware": {"driver": "goplugin", "auth_check": {"name": "f"}}}),
        json!({"custom_middleware_bundle": "b.zip"}),
        json!({"custom_middleware": {"driver": "grpc", "pre": [{"name": "f"}]}}),
        json!({"graphql": {"enabled": true, "execution_mode": "supergraph"}}),
        json!({"graphql": {"enabled": true, "execution_mode": "proxyOnly", "schema": "type Query"}}),
        json!({"graphql": {"enabled": true, "execution_mode": "subgraph"}}),
        json!({"application_protocol": "mcp", "json_rpc_version": "2.0"}),
    ] {
        assert_eq!(missing(&definition(over.clone(), json!({}))), [], "{over}");
    }
    let paths = json!({
        "go_plugin": [{"path": "/x", "disabled": true}],
        "validate_request": [{"path": "/x"}],
        "virtual": [{"path": "/x"}],
        "persist_graphql": [{"path": "/x"}],
        "transform": [{"path": "/x"}]
    });
    assert_eq!(missing(&definition(json!({}), paths)), []);
}

#[test]
fn versions_that_nothing_leads_to_do_not_count() {
    let guarded = json!({"use_extended_paths": true, "extended_paths": {"go_plugin": [{"path": "/"}]}});
    let of = |not_versioned: bool, versions: Value| {
        definition(json!({"version_data": {"not_versioned": not_versioned, "versions": versions}}), json!({}))
    };
    let both = json!({"Default": {}, "old": guarded});
    assert_eq!(missing(&of(true, both.clone())), []);
    assert_eq!(missing(&of(false, both)).len(), 1);
    let mut unused = guarded;
    unused["use_extended_paths"] = json!(false);
    assert_eq!(missing(&of(true, json!({"Default": unused}))), []);
}

#[test]
fn names_that_are_no_protection_are_refused() {
    let mut document = definition(json!({}), json!({})).raw;
    document["tollgate"] = json!({"serve_without": ["virtual", "cache"]});
    let problems = ApiDefinition::parse(document.to_string().as_bytes(), None).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].path, "$.tollgate.serve_without[1]");
}
