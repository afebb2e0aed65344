use tollgate_model::api::ApiDefinition;

use super::*;
use crate::convert::{to_classic, to_openapi};
use crate::extension::{ClassicForm, EXTENSION, classic_form};
use crate::places::put;

/// A proxy with this middleware and these paths.
fn proxy(middleware: Value, paths: Value) -> Value {
    json!({
        "openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": paths,
        EXTENSION: {
            "info": {"name": "a", "id": "a1", "state": {"active": true}}, "upstream": {"url": "http://127.0.0.1:1/"},
            "server": {"listenPath": {"value": "/a/", "strip": true}}, "middleware": middleware,
        },
        "x-tollgate": {"application_protocol": "mcp"},
    })
}

fn form(root: &Value) -> ClassicForm {
    classic_form(&Document::new(root.clone()).unwrap().0)
}

fn problems(root: &Value) -> Vec<String> {
    form(root).problems.iter().map(|problem| problem.to_string().replace(&format!("$.{EXTENSION}.middleware."), "")).collect()
}

fn list(form: &ClassicForm, name: &str) -> Value {
    form.definition.pointer(&format!("/version_data/versions//extended_paths/{name}")).cloned().unwrap_or_default()
}

fn operation(id: &str) -> Value {
    json!({"post": {"operationId": id, "responses": {"200": {"description": "ok"}}}})
}

#[test]
fn primitives_and_methods_become_entries_with_paths_of_their_own() {
    let on = json!({"enabled": true});
    let root = proxy(
        json!({
            "mcpTools": {
                "weather.today": {"requestSizeLimit": {"enabled": true, "value": 100}, "block": {"enabled": false}},
                "get*": {"block": on}, "get-one": {"allow": on, "rateLimit": {"enabled": true, "rate": 2, "per": "60s"}}, "idle": {},
            },
            "mcpResources": {"file:///repo/{name}/*": {"block": on}, "file:///a(1)": {"transformRequestHeaders": {"enabled": true, "add": [{"name": "X-R", "value": "a"}]}}},
            "mcpPrompts": {"code-review": {"circuitBreaker": {"enabled": true, "threshold": 0.5, "sampleSize": 3, "coolDownPeriod": 5}}},
            "operations": {"json-rpc-method:tools/list": {"allow": on}, "call": {"rateLimit": {"enabled": true, "rate": 1, "per": "1s"}}, "health": {"ignoreAuthentication": on}},
        }),
        json!({"/json-rpc-method:tools/list": operation("json-rpc-method:tools/list"), "/tools/call": operation("call"), "/health": operation("health")}),
    );
    assert_eq!(problems(&root), Vec::<String>::new());
    let form = form(&root);
    let paths = |name: &str| -> Vec<String> {
        let entries = list(&form, name);
        let path = |entry: &Value| format!("{} {}", entry["method"].as_str().unwrap(), entry["path"].as_str().unwrap());
        entries.as_array().into_iter().flatten().map(path).collect()
    };
    assert_eq!(paths("size_limits"), [r"POST ^/mcp-tool:weather\.today$"]);
    assert_eq!(
        paths("black_list"),
        [r"POST ^/mcp-tool:weather\.today$", "POST ^/mcp-tool:get.*$", r"POST ^/mcp-resource:file:///repo/\x7bname\x7d/.*$"]
    );
    assert_eq!(list(&form, "black_list")[0]["disabled"], true);
    assert_eq!(paths("white_list"), ["POST ^/json-rpc-method:tools/list$", "POST ^/mcp-tool:get-one$"]);
    assert_eq!(paths("rate_limit"), ["POST ^/json-rpc-method:tools/call$", "POST ^/mcp-tool:get-one$"]);
    assert_eq!(paths("transform_headers"), [r"POST ^/mcp-resource:file:///a\(1\)$"]);
    assert_eq!(paths("circuit_breakers"), ["POST ^/mcp-prompt:code-review$"]);
    assert_eq!(paths("ignored"), ["POST /health"]);
    let (definition, more) = ApiDefinition::from_value(form.definition, None, &|_, _| Ok(String::new())).unwrap();
    assert!(definition.is_mcp() && more.is_empty(), "{more:?}");
    assert_eq!(definition.json_rpc_version, "2.0");
}

#[test]
fn names_without_a_wildcard_act_before_those_with_one_and_long_ones_before_short_ones() {
    let block = json!({"block": {"enabled": true}});
    let root = proxy(json!({"mcpTools": {"*": block, "get*": block, "get": block, "get-a*": block}}), json!({}));
    let entries = list(&form(&root), "black_list");
    let paths: Vec<&str> = entries.as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["^/mcp-tool:get$", "^/mcp-tool:get-a.*$", "^/mcp-tool:get.*$", "^/mcp-tool:.*$"]);
}

#[test]
fn middleware_without_effect_on_primitives_is_a_warning() {
    for name in WITHOUT_EFFECT {
        let root = proxy(json!({"mcpTools": {"a": {name: {"enabled": true}}}}), json!({}));
        assert_eq!(problems(&root), [format!("mcpTools.a.{name}: warning: has no effect on tools, resources and prompts")]);
        assert!(form(&root).definition.pointer("/version_data/versions//extended_paths").is_none(), "{name}");
        let off = proxy(json!({"mcpTools": {"a": {name: {"enabled": false}}}}), json!({}));
        assert_eq!(problems(&off), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn what_can_not_be_a_rule_is_reported() {
    let on = json!({"enabled": true});
    for (middleware, paths, expected) in [
        (json!({"mcpTools": []}), json!({}), "mcpTools: error: must be an object"),
        (json!({"mcpTools": {"a": 1}}), json!({}), "mcpTools.a: error: must be an object"),
        (json!({"mcpTools": {"": {"block": on}}}), json!({}), "mcpTools[\"\"]: error: needs a name"),
        (json!({"mcpTools": {"a": {"blok": on}}}), json!({}), "mcpTools.a.blok: ignored: unknown field"),
        (
            json!({"mcpTools": {"a": {"block": {"enabled": true, "only": 1}}}}),
            json!({}),
            "mcpTools.a.block.only: error: unknown field: what it should protect is not protected",
        ),
        (
            json!({"mcpTools": {"a": {"rateLimit": {"enabled": true, "rate": 1, "per": "soon"}}}}),
            json!({}),
            "mcpTools.a.rateLimit.per: error: must be a span of time such as 10s or 1m30s",
        ),
        (
            json!({"operations": {"m": {"validateRequest": on}}}),
            json!({"/tools/call": operation("m")}),
            "operations.m.validateRequest: error: is not supported for methods of JSON-RPC",
        ),
        (
            json!({"operations": {"m": {"ignoreAuthentication": on}}}),
            json!({"/tools/call": operation("m")}),
            "operations.m.ignoreAuthentication: warning: has no effect on methods of JSON-RPC",
        ),
        (
            json!({}),
            json!({"/tools/call": operation("m"), "/json-rpc-method:tools/call": operation("n")}),
            "$.paths[\"/tools/call\"].post: error: stands for the same method as /json-rpc-method:tools/call",
        ),
    ] {
        assert_eq!(problems(&proxy(middleware.clone(), paths)), [expected], "{middleware}");
    }
    let mut plain = proxy(json!({"mcpTools": {"a": {"block": on}}}), json!({}));
    plain["x-tollgate"] = json!({});
    let told = problems(&plain);
    assert!(told.len() == 1 && told[0].starts_with("mcpTools: error: only acts in proxies"), "{told:?}");
    plain["x-tollgate"] = json!({"application_protocol": "other"});
    assert!(problems(&plain).contains(&"$.x-tollgate.application_protocol: error: must be mcp".to_owned()));
}

#[test]
fn scopes_of_primitives_are_checked_and_told() {
    let tool = |scopes: Value, on: bool| json!({"security": [{"corp": scopes}], "scopeCheck": {"enabled": on}});
    let mut root = proxy(
        json!({"mcpTools": {"read": tool(json!(["a:read"]), true), "free": tool(json!(["a:free"]), false), "*": tool(json!(["a:any"]), true)}}),
        json!({}),
    );
    let metadata = json!({"enabled": true, "resource": "https://api", "authorizationServers": ["https://idp"]});
    let corp = json!({"enabled": true, "scopeCheck": {"enabled": true}, "protectedResourceMetadata": metadata});
    let token = json!({"enabled": true, "source": "c2VjcmV0", "signingMethod": "hmac", "header": {"enabled": true, "name": "Authorization"}});
    put(
        &mut root,
        &[EXTENSION, "server", "authentication"],
        json!({"enabled": true, "securitySchemes": {"corp": corp, "token": token}}),
    );
    root["security"] = json!([{"token": []}]);
    root["components"] = json!({"securitySchemes": {
        "corp": {"type": "oauth2", "flows": {}}, "token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    }});
    assert_eq!(problems(&root), Vec::<String>::new());
    let form = form(&root);
    let expected = json!([
        {"path": "^/mcp-tool:read$", "method": "POST", "alternatives": [["a:read"]]},
        {"path": "^/mcp-tool:.*$", "method": "POST", "alternatives": [["a:any"]]},
    ]);
    assert_eq!(list(&form, "operation_scopes"), expected);
    assert_eq!(form.definition["tollgate"]["protected_resource"]["scopes_supported"], json!(["a:any", "a:free", "a:read"]));
}

#[test]
fn classic_definitions_keep_primitives_on_the_way_there_and_back() {
    let on = json!({"enabled": true});
    let root = proxy(
        json!({
            "mcpTools": {"a.b": {"block": on, "trackEndpoint": on}, "c*": {"block": on}, "slow": {"enforceTimeout": {"enabled": true, "value": 3}}},
            "mcpResources": {"file:///x/{y}": {"allow": on}}, "mcpPrompts": {"p": {"doNotTrackEndpoint": on}},
            "operations": {"m": {"block": on}, "h": {"block": on}},
        }),
        json!({"/json-rpc-method:ping": operation("m"), "/health": operation("h")}),
    );
    let classic = to_classic(root.clone()).unwrap();
    assert_eq!(classic.losses, Vec::<String>::new());
    let back = to_openapi(&classic.document).unwrap();
    assert_eq!((back.losses, back.notes), (vec![], vec![]));
    let middleware = |root: &Value, section: &str| root[EXTENSION]["middleware"][section].clone();
    for section in ["mcpTools", "mcpResources", "mcpPrompts"] {
        let written = middleware(&back.document, section);
        for (name, settings) in middleware(&root, section).as_object().unwrap() {
            for member in settings.as_object().unwrap().keys() {
                assert_eq!(written[name][member]["enabled"], true, "{section} {name} {member}");
            }
        }
    }
    let lists = |root: &Value| form(root).definition["version_data"]["versions"][""]["extended_paths"].clone();
    assert_eq!(lists(&back.document), lists(&root));
    assert!(mcp_mark::is_in(&back.document));
}

#[test]
fn lists_that_no_document_has_stay_as_they_are() {
    for entries in [
        // Another order than that of a document.
        json!([{"path": "^/mcp-tool:a.*$", "method": "POST"}, {"path": "^/mcp-tool:ab$", "method": "POST"}]),
        json!([{"path": "^/mcp-tool:[ab]$", "method": "POST"}]),
        json!([{"path": "^/mcp-tool:a$", "method": "GET"}]),
    ] {
        let classic = json!({
            "api_id": "a", "name": "a", "active": true, "use_keyless": true, "application_protocol": "mcp", "json_rpc_version": "2.0",
            "proxy": {"listen_path": "/a/", "target_url": "http://up/"},
            "version_data": {"not_versioned": true, "versions": {"Default": {"name": "Default", "use_extended_paths": true, "extended_paths": {"black_list": entries}}}},
        });
        let made = to_openapi(&classic).unwrap();
        assert_eq!(made.losses, Vec::<String>::new());
        assert_eq!(made.document["x-tollgate"]["extended_paths"]["black_list"], entries);
        assert_eq!(list(&form(&made.document), "black_list"), entries);
    }
}
