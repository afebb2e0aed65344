//! Operators with a scope. What they must not see or change is tried on every endpoint that the control API describes, with every id of
//! another team; an endpoint without a rule fails.

use serde_json::{Value, json};

use crate::harness::{Gateway, Response, api, request};
use crate::keys::{create, session_for};
use crate::openapi::{Stage, prepared};
use crate::operator_tokens::{call, made};

/// In the names of what belongs to another team. No request sends it.
const MARK: &str = "zq-other-team";
/// Ids of what belongs to another team, and of nothing at all.
const FOREIGN: [&str; 7] = ["quick", "pets", "assistant", "accounts", "gold", "default", "nothing-at-all"];
const RULES: [&str; 9] = ["closed", "open", "api", "policy", "org", "query:api", "query:api_id", "tail", "reached"];

/// What another team has, with the mark in it.
fn marked() -> Stage {
    let stage = prepared();
    let gateway = &stage.gateway;
    let change = |method: &str, target: &str, body: &Value| {
        let answer = gateway.control(method, target, &body.to_string());
        assert_eq!(answer.status, 200, "{method} {target}: {answer}");
    };
    for id in ["quick", "accounts"] {
        let mut definition = gateway.control("GET", &format!("/tyk/apis/{id}"), "").json();
        definition["name"] = MARK.into();
        definition["proxy"]["listen_path"] = format!("/{MARK}-{id}/").into();
        change("PUT", &format!("/tyk/apis/{id}"), &definition);
    }
    let mut policy = gateway.control("GET", "/tyk/policies/gold", "").json();
    policy["name"] = MARK.into();
    change("PUT", "/tyk/policies/gold", &policy);
    change("PUT", "/tyk/keys/defaultmykey", &session_for(&["quick"], json!({"alias": MARK, "org_id": "default"})));
    let client = json!({"client_id": "shop", "api_id": "accounts", "policy_id": "gold", "description": MARK, "secret": "x", "redirect_uri": "https://a.example/"});
    change("POST", "/tyk/oauth/clients/create", &client);
    change("POST", "/tyk/users", &json!({"name": MARK, "role": "viewer", "password": "correct horse battery"}));
    // A refused request for the tail.
    let path = format!("/{MARK}-quick/x");
    assert_eq!(gateway.get(&path).status, 401);
    stage
}

/// Everything that a change could change.
fn state(gateway: &Gateway) -> Vec<Value> {
    let mut lists = Vec::new();
    for target in [
        "/tyk/apis",
        "/tyk/apis/oas",
        "/tyk/mcps",
        "/tyk/policies",
        "/tyk/list/keys",
        "/tyk/keys/defaultmykey",
        "/tyk/org/keys",
        "/tyk/certs",
        "/tyk/oauth/clients/accounts",
        "/tyk/users",
    ] {
        let answer = gateway.control("GET", target, "");
        assert_eq!(answer.status, 200, "{target}: {answer}");
        lists.push(answer.json());
    }
    lists
}

#[test]
fn every_endpoint_declares_what_operators_with_a_scope_may_do() {
    let stage = Stage::new();
    for operation in stage.operations().iter().filter(|operation| !operation.is_open()) {
        let declared = operation.described["security"][0]["secret"][1].as_str().and_then(|rule| rule.strip_prefix("scope:"));
        assert!(declared.is_some_and(|rule| RULES.contains(&rule)), "{} {}: {declared:?}", operation.method, operation.path);
    }
}

#[test]
fn nothing_of_another_team_leaks_or_changes_at_any_endpoint() {
    let stage = marked();
    let gateway = &stage.gateway;
    let token = made(gateway, &json!({"name": "team-a", "role": "editor", "scope": {"tags": ["team-a"]}}));
    let before = state(gateway);
    let judge = |what: &str, answer: &Response| {
        assert!(!answer.text().contains(MARK), "{what}: {answer}");
        assert!([200, 400, 403, 404, 409, 412, 422, 429, 500].contains(&answer.status), "{what}: {answer}");
    };
    for operation in stage.operations().iter().filter(|operation| !operation.is_open()) {
        let rule = operation.described["security"][0]["secret"][1].as_str().unwrap_or_default();
        let values: Vec<Option<&str>> = match operation.parameters("path").next() {
            Some(_) => std::iter::once(None).chain(FOREIGN.map(Some)).collect(),
            None => vec![None],
        };
        for value in values {
            let target = operation.target(value);
            let what = format!("{} {target} ({rule})", operation.method);
            let answer = call(gateway, &token, operation.method, &target, &operation.example());
            judge(&what, &answer);
            if !["scope:open", "scope:reached"].contains(&rule) {
                assert_eq!(answer.status, 403, "{what}: {answer}");
            }
            // A version that nobody has makes an answer show the current one.
            let headers = [&format!("Authorization: Bearer {token}")[..], "If-Match: \"x\"", "Connection: close"];
            judge(&what, &gateway.send(request(operation.method, &target, &headers, &operation.example())));
        }
        assert_eq!(state(gateway), before, "{} {}", operation.method, operation.path);
    }
}

#[test]
fn a_team_works_with_what_is_its_own() {
    let stage = marked();
    let gateway = &stage.gateway;
    let token = made(gateway, &json!({"name": "team-a", "role": "editor", "scope": {"tags": ["team-a"], "orgs": ["acme"]}}));
    let ask = |method: &str, target: &str, body: &Value| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        call(gateway, &token, method, target, &body)
    };
    let ok = |method: &str, target: &str, body: &Value| {
        let answer = ask(method, target, body);
        assert_eq!(answer.status, 200, "{method} {target}: {answer}");
        answer.json()
    };
    let mine = api("mine", "/mine/", "http://127.0.0.1:9/").with_keys().set("tags", json!(["team-a"])).0;
    let theirs = api("theirs", "/theirs/", "http://127.0.0.1:9/").with_keys().set("org_id", json!("acme")).0;
    ok("POST", "/tyk/apis", &mine);
    ok("POST", "/tyk/apis", &theirs);
    let ids = |list: &Value, member: &str| -> Vec<String> {
        list.as_array().unwrap().iter().map(|row| row[member].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&ok("GET", "/tyk/apis", &Value::Null), "api_id"), ["mine", "theirs"]);
    assert_eq!(ids(&ok("GET", "/tyk/list/apis", &Value::Null)["rows"], "id"), ["mine", "theirs"]);
    // Neither a tag nor the organisation can be given away, and nobody else's API taken over.
    let mut given = mine.clone();
    given["tags"] = json!(["team-b"]);
    assert_eq!(ask("PUT", "/tyk/apis/mine", &given).status, 403);
    let mut taken = api("quick", "/quick/", "http://127.0.0.1:9/").0;
    taken["tags"] = json!(["team-a"]);
    assert_eq!(ask("POST", "/tyk/apis", &taken).status, 403);
    assert_eq!(ask("PUT", "/tyk/apis/quick", &taken).status, 403);

    let policy = |apis: &[&str]| {
        let rights: serde_json::Map<String, Value> =
            apis.iter().map(|id| ((*id).to_owned(), json!({"api_id": id, "versions": ["Default"]}))).collect();
        json!({"id": "silver", "name": "Silver", "org_id": "acme", "access_rights": rights})
    };
    for apis in [&["quick"][..], &["mine", "quick"], &["no-such-api"]] {
        assert_eq!(ask("POST", "/tyk/policies", &policy(apis)).status, 403, "{apis:?}");
    }
    ok("POST", "/tyk/policies", &policy(&["theirs"]));
    ok("GET", "/tyk/policies/silver", &Value::Null);
    assert_eq!(ids(&ok("GET", "/tyk/policies", &Value::Null), "id"), ["silver"]);

    for session in [
        session_for(&["quick"], json!({})),
        session_for(&["mine", "quick"], json!({})),
        json!({"org_id": "acme", "apply_policies": ["gold"]}),
        json!({"org_id": "acme", "apply_policies": ["silver", "gold"]}),
        json!({"org_id": "acme", "access_rights": {}}),
        session_for(&["mine"], json!({"org_id": "of-somebody"})),
    ] {
        assert_eq!(ask("POST", "/tyk/keys/create", &session).status, 403, "{session}");
        assert_eq!(ask("POST", "/tyk/keys/preview", &session).status, 403, "{session}");
    }
    let key = ok("POST", "/tyk/keys/create", &session_for(&["mine"], json!({"alias": "own"})))["key"].as_str().unwrap().to_owned();
    ok("GET", &format!("/tyk/keys/{key}"), &Value::Null);
    ok("PATCH", &format!("/tyk/keys/{key}"), &json!({"alias": "renamed"}));
    assert_eq!(ask("PATCH", &format!("/tyk/keys/{key}"), &json!({"apply_policies": ["gold"]})).status, 403);
    let listed = ok("GET", "/tyk/list/keys", &Value::Null);
    assert_eq!(ids(&listed["rows"], "alias"), ["renamed"]);
    // However a key of another team is named, it is not found or refused, and stays what it is.
    let foreign = create(gateway, &session_for(&["quick"], json!({"alias": MARK})));
    for (method, target) in [
        ("GET", format!("/tyk/keys/{foreign}")),
        ("GET", format!("/tyk/keys/{foreign}?api_id=quick")),
        ("PUT", format!("/tyk/keys/{foreign}")),
        ("POST", format!("/tyk/keys/{foreign}")),
        ("POST", "/tyk/keys/mykey".to_owned()),
        ("PATCH", format!("/tyk/keys/{foreign}")),
        ("DELETE", format!("/tyk/keys/{foreign}")),
        ("DELETE", "/tyk/keys/mykey?org_id=default".to_owned()),
        ("POST", format!("/tyk/keys/policy/{foreign}")),
    ] {
        let body = session_for(&["mine"], json!({"org_id": "default"}));
        let body = if target.contains("/policy/") { json!({"apply_policies": ["silver"]}) } else { body };
        let answer = ask(method, &target, if method == "GET" || method == "DELETE" { &Value::Null } else { &body });
        assert!([403, 404].contains(&answer.status) && !answer.text().contains(MARK), "{method} {target}: {answer}");
        for key in [&foreign, "defaultmykey"] {
            assert_eq!(gateway.control("GET", &format!("/tyk/keys/{key}"), "").json()["alias"], MARK, "{method} {target}");
        }
    }
    ok("DELETE", &format!("/tyk/keys/{key}"), &Value::Null);

    ok("POST", "/tyk/org/keys/acme", &json!({"rate": 5, "per": 1}));
    assert_eq!(ask("POST", "/tyk/org/keys/default", &json!({"rate": 5, "per": 1})).status, 403);
    ok("DELETE", "/tyk/policies/silver", &Value::Null);
    ok("DELETE", "/tyk/apis/mine", &Value::Null);
}
