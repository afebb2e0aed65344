//! Clients of the OAuth 2.0 provider, as operators handle them: the answers are Tyk's, to the character.

use serde_json::{Value, json};

use crate::harness::oauth::{make_client, policy, provider, with_policies};
use crate::harness::{Definition, Gateway, Setup, Upstream, request};
use crate::keys::{done, keyed, refused, told};

pub(crate) struct Stage {
    pub gateway: Gateway,
    pub upstream: Upstream,
    _policies: tempfile::TempDir,
}

/// A gateway with the API `a` and the policy `gold`, both changed as wanted.
pub(crate) fn stage(conf: Value, change: impl Fn(Definition) -> Definition) -> Stage {
    stage_with(conf, policy(json!({})), change)
}

pub(crate) fn stage_with(conf: Value, policy: Value, change: impl Fn(Definition) -> Definition) -> Stage {
    let upstream = Upstream::ok();
    let (conf, folder) = with_policies(conf, &[policy]);
    let gateway = Setup::new(conf).api(change(provider("a", &upstream))).api(keyed("plain", &upstream)).start();
    Stage { gateway, upstream, _policies: folder }
}

#[test]
fn a_client_is_made_shown_changed_and_deleted() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    let body = r#"{"client_id":"shop","redirect_uri":"https://app.test/cb","api_id":"a","policy_id":"gold","secret":"s3cret","description":"d"}"#;
    let shown = concat!(
        r#"{"client_id":"shop","redirect_uri":"https://app.test/cb","policy_id":"gold","secret":"s3cret","meta_data":null,"#,
        r#""description":"d"}"#,
        "\n"
    );
    assert_eq!(told(&gateway.control("POST", "/tyk/oauth/clients/create", body)), (200, shown.to_owned()));
    assert_eq!(told(&gateway.control("GET", "/tyk/oauth/clients/a/shop", "")), (200, shown.to_owned()));
    assert_eq!(told(&gateway.control("GET", "/tyk/oauth/clients/a/", "")), (200, format!("[{}]\n", shown.trim_end())));
    assert_eq!(told(&gateway.control("GET", "/tyk/oauth/clients/apis/shop?orgID=default", "")), (200, "[\"a\"]\n".to_owned()));
    assert_eq!(told(&gateway.control("GET", "/tyk/oauth/clients/apis/shop?orgID=other", "")), (200, "[]\n".to_owned()));
    assert_eq!(told(&gateway.control("GET", "/tyk/oauth/clients/apis/none?orgID=", "")), (200, "[]\n".to_owned()));
    let change = r#"{"redirect_uri":"https://new.test/","policy_id":"gold","meta_data":{"k":1},"secret":"ignored"}"#;
    let changed = concat!(
        r#"{"client_id":"shop","redirect_uri":"https://new.test/","policy_id":"gold","secret":"s3cret","meta_data":{"k":1},"#,
        r#""description":""}"#,
        "\n"
    );
    assert_eq!(told(&gateway.control("PUT", "/tyk/oauth/clients/a/shop", change)), (200, changed.to_owned()));
    assert_eq!(told(&gateway.control("GET", "/tyk/oauth/clients/a/shop", "")), (200, changed.to_owned()));
    let rotated = gateway.control("PUT", "/tyk/oauth/clients/a/shop/rotate", "").json();
    assert_ne!(rotated["secret"], "s3cret");
    assert_eq!(rotated["secret"].as_str().map(str::len), Some(48), "{rotated}");
    assert_eq!(gateway.control("GET", "/tyk/oauth/clients/a/shop", "").json(), rotated);
    assert_eq!(told(&gateway.control("GET", "/tyk/oauth/clients/a/shop/tokens", "")), (200, "[]\n".to_owned()));
    let page = "{\"Pagination\":{\"page_num\":2,\"page_total\":0,\"page_size\":100},\"Tokens\":[]}\n";
    assert_eq!(told(&gateway.control("GET", "/tyk/oauth/clients/a/shop/tokens?page=2", "")), (200, page.to_owned()));
    assert_eq!(told(&gateway.control("DELETE", "/tyk/oauth/clients/a/shop", "")), (200, done("shop", "deleted")));
    assert_eq!(told(&gateway.control("GET", "/tyk/oauth/clients/a/shop", "")), (404, refused("OAuth Client ID not found")));
    assert_eq!(told(&gateway.control("GET", "/tyk/oauth/clients/a", "")), (200, "[]\n".to_owned()));
    assert_eq!(told(&gateway.control("DELETE", "/tyk/oauth/clients/a/shop", "")), (200, done("shop", "deleted")));
}

#[test]
fn id_and_secret_are_made_when_they_are_not_given() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    let make = || make_client(&gateway, json!({"client_id": "", "secret": null, "api_id": ""}));
    let (one, other) = (make(), make());
    assert_eq!(one["client_id"].as_str().map(str::len), Some(32), "{one}");
    assert_eq!(one["secret"].as_str().map(str::len), Some(48), "{one}");
    assert_ne!((&one["client_id"], &one["secret"]), (&other["client_id"], &other["secret"]));
    assert_eq!(gateway.control("GET", "/tyk/oauth/clients/a", "").json().as_array().map(Vec::len), Some(2));
}

#[test]
fn what_is_wrong_is_told_as_tyk_tells_it() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let long = format!("{{\"client_id\":\"{}\"}}", "x".repeat(2_000));
    for (method, target, body, status, message) in [
        ("POST", "/tyk/oauth/clients/create", "{", 500, "Unmarshalling failed"),
        ("POST", "/tyk/oauth/clients/create", "[]", 500, "Unmarshalling failed"),
        ("POST", "/tyk/oauth/clients/create", r#"{"client_id":7}"#, 500, "Unmarshalling failed"),
        ("POST", "/tyk/oauth/clients/create", r#"{"api_id":"none"}"#, 400, "API doesn't exist"),
        ("POST", "/tyk/oauth/clients/create", r#"{"api_id":"plain"}"#, 400, "API is not OAuth2"),
        ("POST", "/tyk/oauth/clients/create", "{}", 400, "Policy doesn't exist"),
        ("POST", "/tyk/oauth/clients/create", r#"{"policy_id":"none"}"#, 400, "Policy doesn't exist"),
        (
            "POST",
            "/tyk/oauth/clients/create",
            &long,
            400,
            "client_id must have at most 1024 bytes, and no colon, slash or control character",
        ),
        ("GET", "/tyk/oauth/clients/none", "", 404, "OAuth client not found"),
        ("GET", "/tyk/oauth/clients/none/shop", "", 404, "OAuth Client ID not found"),
        ("GET", "/tyk/oauth/clients/a/none", "", 404, "OAuth Client ID not found"),
        ("GET", "/tyk/oauth/clients/none/shop/tokens", "", 404, "OAuth Client ID not found"),
        ("PUT", "/tyk/oauth/clients/a/shop", "{", 500, "Unmarshalling failed"),
        ("PUT", "/tyk/oauth/clients/none/shop", "{}", 404, "API doesn't exist"),
        ("PUT", "/tyk/oauth/clients/a/none", "{}", 404, "OAuth Client ID not found"),
        ("PUT", "/tyk/oauth/clients/a/shop", r#"{"policy_id":"none"}"#, 404, "Policy doesn't exist"),
        (
            "PUT",
            "/tyk/oauth/clients/plain/shop",
            r#"{"policy_id":"gold"}"#,
            400,
            "Policy access rights doesn't contain API this OAuth client belongs to",
        ),
        ("PUT", "/tyk/oauth/clients/none/shop/rotate", "", 404, "API doesn't exist"),
        ("PUT", "/tyk/oauth/clients/a/none/rotate", "", 404, "OAuth Client ID not found"),
        ("DELETE", "/tyk/oauth/clients/none/shop", "", 404, "OAuth Client ID not found"),
        ("DELETE", "/tyk/oauth/clients/a/none/tokens", "", 404, "OAuth Client ID not found"),
        ("DELETE", "/tyk/oauth/refresh/r", "", 400, "Missing parameter api_id"),
        ("DELETE", "/tyk/oauth/refresh/r?api_id=none", "", 404, "API for this refresh token not found"),
        ("DELETE", "/tyk/oauth/refresh/r?api_id=plain", "", 400, "OAuth is not enabled on this API"),
        ("DELETE", "/tyk/oauth/tokens", "", 422, "scope parameter is required"),
        ("DELETE", "/tyk/oauth/tokens?scope=all", "", 400, "unknown scope"),
        ("POST", "/tyk/oauth/revoke", "", 400, "token is required"),
        ("POST", "/tyk/oauth/revoke", "token=t", 400, "client_id is required"),
        ("POST", "/tyk/oauth/revoke", "token=t&client_id=none", 400, "oauth client doesn't exist"),
        ("POST", "/tyk/oauth/revoke", "token=%zz", 400, "cannot parse form. Form malformed"),
        ("POST", "/tyk/oauth/revoke_all", "", 401, "client_id is required"),
        ("POST", "/tyk/oauth/revoke_all", "client_id=shop", 401, "client_secret is required"),
        ("POST", "/tyk/oauth/revoke_all", "client_id=none&client_secret=x", 404, "oauth client doesn't exist"),
        ("POST", "/tyk/oauth/revoke_all", "client_id=shop&client_secret=x", 401, "client secret is wrong"),
        ("POST", "/tyk/oauth/authorize-client", "client_id=shop", 404, "API doesn't exist"),
    ] {
        let answer = gateway.control(method, target, body);
        assert_eq!(told(&answer), (status, refused(message)), "{method} {target} {body:.60}");
    }
    let ok = |text: &str| (200, format!("{{\"status\":\"ok\",\"message\":\"{text}\"}}\n"));
    assert_eq!(told(&gateway.control("DELETE", "/tyk/oauth/tokens?scope=lapsed", "")), ok("lapsed tokens purged"));
    assert_eq!(told(&gateway.control("DELETE", "/tyk/oauth/refresh/r?api_id=a", "")), (200, done("r", "deleted")));
    let form = "client_id=shop&client_secret=s3cret";
    assert_eq!(told(&gateway.control("POST", "/tyk/oauth/revoke_all", form)), ok("tokens revoked successfully"));
    let form = "client_id=shop&token=none&org_id=default";
    assert_eq!(told(&gateway.control("POST", "/tyk/oauth/revoke", form)), ok("token revoked successfully"));
    let denied = gateway.send(request("GET", "/tyk/oauth/clients/a", &[], ""));
    assert_eq!(denied.status, 403, "{denied}");
}

#[test]
fn clients_survive_a_restart() {
    let (upstream, data) = (Upstream::ok(), tempfile::tempdir().unwrap());
    let (conf, _folder) = with_policies(json!({"tollgate": {"data_dir": data.path()}}), &[policy(json!({}))]);
    let start = || Gateway::start(conf.clone(), [provider("a", &upstream)]);
    let mut gateway = start();
    let made = make_client(&gateway, json!({"meta_data": {"plan": "x"}}));
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    let gateway = start();
    assert_eq!(gateway.control("GET", "/tyk/oauth/clients/a/shop", "").json(), made);
    assert_eq!(gateway.control("GET", "/tyk/oauth/clients/a", "").json(), json!([made]));
}
