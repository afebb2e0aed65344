//! Tokens for automation: what they may do, when they end, and that all gateways of a cluster refuse one at once when it is revoked.

use serde_json::{Value, json};

use crate::commands::tollgate;
use crate::harness::{Gateway, Response, Upstream, api, eventually, request};
use crate::servers::Server;
use crate::shared_keys::on;

/// Makes a token and returns its text.
pub(crate) fn made(gateway: &Gateway, body: &Value) -> String {
    let answer = gateway.control("POST", "/tyk/tokens", &body.to_string());
    assert_eq!(answer.status, 200, "{answer}");
    answer.json()["token"].as_str().expect("a token").to_owned()
}

/// A call of the control API with a token.
pub(crate) fn call(gateway: &Gateway, token: &str, method: &str, target: &str, body: &str) -> Response {
    gateway.send(request(method, target, &[&format!("Authorization: Bearer {token}"), "Connection: close"], body))
}

#[test]
fn a_token_may_do_what_its_role_may_and_its_text_is_nowhere() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("shop", "/shop/", &upstream.url())]);
    let token = |name: &str, role: &str| made(&gateway, &json!({"name": name, "role": role}));
    let [viewer, editor, admin] = ["viewer", "editor", "admin"].map(|role| token(&format!("a-{role}"), role));
    for (method, target, body, expect) in [
        ("GET", "/tyk/apis", "", [200, 200, 200]),
        ("PUT", "/tyk/apis/shop", "{}", [403, 400, 400]),
        ("GET", "/tyk/tokens", "", [403, 403, 200]),
        ("POST", "/tyk/tokens", "{}", [403, 403, 400]),
    ] {
        let answers = [&viewer, &editor, &admin].map(|token| call(&gateway, token, method, target, body).status);
        assert_eq!(answers, expect, "{method} {target}");
    }
    // As the control secret is sent, too.
    let header = format!("x-tyk-authorization: {editor}");
    assert_eq!(gateway.send(request("GET", "/tyk/apis", &[&header], "")).status, 200);
    let listed = gateway.control("GET", "/tyk/tokens", "");
    for text in [&viewer, &editor, &admin] {
        assert!(!listed.text().contains(text.trim_start_matches("tollgate_")), "{listed}");
    }
    eventually("the use is shown", || {
        let listed = gateway.control("GET", "/tyk/tokens", "").json();
        let used = |row: &Value| row["last_used"].as_u64().is_some() && row["last_address"] == "127.0.0.1";
        listed["tokens"].as_array().unwrap().iter().all(used)
    });
    eventually("a change names the token", || {
        let changes = gateway.control("GET", "/tyk/list/changes?q=a-viewer", "").json();
        changes["rows"].as_array().unwrap().iter().any(|row| row["kind"] == "token" && row["user"] == "secret")
    });
    // A viewer's token shows no secrets.
    let secret = json!({"name": "s", "api_id": "s", "use_keyless": true, "hmac_allowed_clock_skew": -1, "version_data": {"not_versioned": true},
        "proxy": {"listen_path": "/s/", "target_url": "http://ann:pa55word@127.0.0.1:9/"}});
    assert_eq!(gateway.control("POST", "/tyk/apis", &secret.to_string()).status, 200);
    assert!(!call(&gateway, &viewer, "GET", "/tyk/apis/s", "").text().contains("pa55word"));
    assert!(call(&gateway, &editor, "GET", "/tyk/apis/s", "").text().contains("pa55word"));
}

#[test]
fn a_wrong_token_gets_in_nowhere() {
    let gateway = Gateway::start(json!({}), []);
    let right = made(&gateway, &json!({"name": "ci", "role": "admin", "expires_in_s": 1}));
    let wrong = format!("{}{}", &right[..right.len() - 1], if right.ends_with('0') { "1" } else { "0" });
    for text in [wrong.as_str(), "tollgate_", "", &right[9..], &format!("{right}0")] {
        assert_eq!(call(&gateway, text, "GET", "/tyk/apis", "").status, 403, "{text}");
    }
    eventually("it ends", || call(&gateway, &right, "GET", "/tyk/apis", "").status == 403);
}

#[test]
fn what_is_no_token_is_refused_with_the_reason() {
    let gateway = Gateway::start(json!({}), []);
    for (body, part) in [
        (json!({"name": "a:b", "role": "viewer"}), "name"),
        (json!({"name": "ci", "role": "owner"}), "owner"),
        (json!({"name": "ci", "role": "viewer", "scope": {}}), "scope"),
        (json!({"name": "ci", "role": "viewer", "scope": {"tag": ["x"]}}), "tag"),
        (json!({"name": "ci", "role": "admin", "scope": {"tags": ["x"]}}), "scope"),
        (json!({"name": "ci", "role": "viewer", "expires_in_s": 0}), "expires_in_s"),
        (json!({"name": "ci", "role": "viewer", "expires_in_s": 99_999_999}), "expires_in_s"),
    ] {
        let answer = gateway.control("POST", "/tyk/tokens", &body.to_string());
        assert!(answer.status == 400 && answer.text().contains(part), "{body}: {answer}");
    }
    made(&gateway, &json!({"name": "ci", "role": "viewer"}));
    assert_eq!(gateway.control("POST", "/tyk/tokens", &json!({"name": "ci", "role": "viewer"}).to_string()).status, 409);
}

#[test]
fn a_token_that_is_revoked_on_one_gateway_is_refused_by_the_next_call_on_another() {
    let server = Server::start(&[]);
    let gateways: Vec<Gateway> = (0..2).map(|_| Gateway::start(on(&server), [])).collect();
    let token = made(&gateways[0], &json!({"name": "ci", "role": "viewer"}));
    for gateway in &gateways {
        assert_eq!(call(gateway, &token, "GET", "/tyk/apis", "").status, 200);
    }
    assert_eq!(gateways[0].control("DELETE", "/tyk/tokens/ci", "").status, 200);
    for gateway in &gateways {
        assert_eq!(call(gateway, &token, "GET", "/tyk/apis", "").status, 403);
    }
}

#[test]
fn a_scoped_token_of_one_gateway_reaches_the_same_on_another_until_it_is_revoked_there() {
    let server = Server::start(&[]);
    let apis = || {
        let own = api("own", "/own/", "http://127.0.0.1:9/").set("tags", json!(["team-a"]));
        [own, api("other", "/other/", "http://127.0.0.1:9/")]
    };
    let (first, second) = (Gateway::start(on(&server), apis()), Gateway::start(on(&server), apis()));
    let token = made(&first, &json!({"name": "team-a", "role": "editor", "scope": {"tags": ["team-a"]}}));
    for gateway in [&second, &first] {
        let listed = call(gateway, &token, "GET", "/tyk/apis", "").json();
        assert_eq!(listed.as_array().unwrap().iter().map(|api| &api["api_id"]).collect::<Vec<_>>(), [&json!("own")]);
        for (method, target, body, expect) in [
            ("GET", "/tyk/apis/own", "", 200),
            ("GET", "/tyk/apis/other", "", 403),
            ("DELETE", "/tyk/apis/other", "", 403),
            ("GET", "/tyk/certs", "", 403),
            ("POST", "/tyk/tokens", r#"{"name": "more", "role": "viewer"}"#, 403),
        ] {
            assert_eq!(call(gateway, &token, method, target, body).status, expect, "{method} {target}");
        }
    }
    // A key that it makes at one gateway is its own at the other, and no other key is.
    let rights = |api: &str| json!({"access_rights": {api: {"api_id": api, "versions": ["Default"]}}}).to_string();
    let key = call(&second, &token, "POST", "/tyk/keys", &rights("own")).json()["key"].as_str().expect("a key").to_owned();
    assert_eq!(call(&first, &token, "GET", &format!("/tyk/keys/{key}"), "").status, 200);
    let foreign = first.control("POST", "/tyk/keys", &rights("other")).json()["key"].as_str().expect("a key").to_owned();
    assert_eq!(call(&second, &token, "GET", &format!("/tyk/keys/{foreign}"), "").status, 403);
    assert_eq!(second.control("DELETE", "/tyk/tokens/team-a", "").status, 200);
    for gateway in [&first, &second] {
        assert_eq!(call(gateway, &token, "GET", "/tyk/apis", "").status, 403);
    }
}

#[test]
fn the_command_lists_the_keys_that_a_scope_reaches() {
    let own = api("own", "/own/", "http://127.0.0.1:9/").set("tags", json!(["team-a"]));
    let gateway = Gateway::start(json!({}), [own, api("other", "/other/", "http://127.0.0.1:9/")]);
    let token = made(&gateway, &json!({"name": "team-a", "role": "editor", "scope": {"tags": ["team-a"]}}));
    let rights =
        |api: &str| json!({"alias": format!("of {api}"), "access_rights": {api: {"api_id": api, "versions": ["Default"]}}});
    for api in ["own", "other"] {
        assert_eq!(gateway.control("POST", "/tyk/keys", &rights(api).to_string()).status, 200);
    }
    let file = gateway.dir().join("token");
    std::fs::write(&file, token).expect("written");
    let as_scoped = |line: &str| tollgate(&gateway, &format!("{line} --secret-file {}", file.display()));
    let listed = as_scoped("keys list").ok();
    assert!(listed.contains("of own") && !listed.contains("of other"), "{listed}");
    let ids = as_scoped("keys list --quiet").ok();
    let id = ids.trim();
    assert_eq!(as_scoped("keys list --json").json(), json!({"keys": [id]}));
    assert_eq!(as_scoped("keys list --quiet --api other").ok(), "");
    assert!(as_scoped(&format!("keys show --id {id}")).ok().contains("of own"));
}

#[test]
fn the_command_makes_lists_and_revokes_tokens() {
    let gateway = Gateway::start(json!({}), []);
    let made = tollgate(&gateway, "tokens create ci --role editor --tag team-a --expires-in 1h").ok();
    let token = made.trim();
    assert_eq!(call(&gateway, token, "GET", "/tyk/apis", "").status, 200);
    let listed = tollgate(&gateway, "tokens list").ok();
    assert!(listed.contains("tag team-a") && listed.contains("editor") && !listed.contains(token), "{listed}");
    tollgate(&gateway, "tokens revoke ci").ok();
    assert_eq!(call(&gateway, token, "GET", "/tyk/apis", "").status, 403);
    tollgate(&gateway, "tokens revoke ci").fails(1, "Token not found");
}
