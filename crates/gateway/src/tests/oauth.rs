//! The OAuth 2.0 provider as clients, users and login pages meet it: every grant, what is refused, and the token as a way in.

use serde_json::{Value, json};

use super::harness::keys::{keyed, session_for};
use super::harness::oauth::{
    CHALLENGE, FORM, VERIFIER, basic, call, code, consent, encoded, error, make_client, policy, post, provider, text, token,
    with_policies,
};
use super::harness::{Definition, Gateway, Setup, Upstream, error_json, request};

pub(super) struct Stage {
    pub gateway: Gateway,
    pub upstream: Upstream,
    _policies: tempfile::TempDir,
}

/// A gateway with the API `a` and the policy `gold`, both changed as wanted.
pub(super) fn stage(conf: Value, change: impl Fn(Definition) -> Definition) -> Stage {
    stage_with(conf, policy(json!({})), change)
}

fn stage_with(conf: Value, policy: Value, change: impl Fn(Definition) -> Definition) -> Stage {
    let upstream = Upstream::ok();
    let (conf, folder) = with_policies(conf, &[policy]);
    let gateway = Setup::new(conf).api(change(provider("a", &upstream))).api(keyed("plain", &upstream)).start();
    Stage { gateway, upstream, _policies: folder }
}

#[test]
fn a_client_gets_a_token_in_its_own_name() {
    let Stage { gateway, upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let answer = post(&gateway, "token", "grant_type=client_credentials&scope=read+write");
    assert_eq!(answer.status, 200, "{answer}");
    let given = answer.json();
    let names: Vec<&String> = given.as_object().unwrap().keys().collect();
    assert_eq!(names, ["access_token", "expires_in", "scope", "token_type"]);
    assert_eq!(
        (&given["expires_in"], &given["scope"], &given["token_type"]),
        (&json!(3600), &json!("read write"), &json!("bearer"))
    );
    for (name, value) in [
        ("content-type", "application/json"),
        ("cache-control", "no-cache, no-store, must-revalidate"),
        ("pragma", "no-cache"),
        ("expires", "0"),
        ("x-content-type-options", "nosniff"),
        ("x-xss-protection", "1; mode=block"),
        ("x-frame-options", "DENY"),
        ("strict-transport-security", "max-age=63072000; includeSubDomains"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    let token = text(&given["access_token"]);
    assert_eq!(call(&gateway, &token).status, 200);
    assert_eq!(upstream.requests(), 1, "the provider's endpoints are not the upstream's");
    // It is a key like any other.
    let shown = gateway.control("GET", &format!("/tyk/keys/{token}"), "").json();
    assert_eq!((&shown["oauth_client_id"], &shown["apply_policies"]), (&json!("shop"), &json!(["gold"])));
    // As many as it wants, each good for itself.
    let other = text(&self::token(&gateway, "grant_type=client_credentials")["access_token"]);
    assert_ne!(token, other);
    assert_eq!((call(&gateway, &token).status, call(&gateway, &other).status), (200, 200));
    let listed = gateway.control("GET", "/tyk/oauth/clients/a/shop/tokens", "").json();
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    let expires = listed[0]["expires"].as_u64().unwrap();
    assert_eq!(shown["expires"].as_u64(), Some(expires));
    let page = gateway.control("GET", "/tyk/oauth/clients/a/shop/tokens?page=1", "").json();
    assert_eq!((&page["Tokens"], &page["Pagination"]["page_total"]), (&listed, &json!(1)));
}

#[test]
fn a_code_is_redeemed_once_for_a_token_that_can_be_renewed() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let query = "response_type=code&client_id=shop&redirect_uri=https%3A%2F%2Fapp.test%2Fcb&state=a%20b&scope=read";
    let answer = gateway.get(&format!("/a/oauth/authorize/?{query}"));
    assert_eq!((answer.status, answer.header("location")), (307, Some(format!("https://login.test/start?{query}").as_str())));
    let posted = gateway.send(request("POST", "/a/oauth/authorize", &[FORM], query));
    assert_eq!((posted.status, posted.header("location")), (307, Some("https://login.test/start")));
    let answer = consent(&gateway, query);
    let told = answer.json();
    let code = text(&told["code"]);
    assert_eq!(code.len(), 22);
    let expected =
        format!("{{\"code\":\"{code}\",\"redirect_to\":\"https://app.test/cb?code={code}&state=a+b\",\"state\":\"a b\"}}\n");
    assert_eq!((answer.status, answer.text()), (200, expected));
    let form = format!("grant_type=authorization_code&code={code}&redirect_uri=https%3A%2F%2Fapp.test%2Fcb");
    let given = token(&gateway, &form);
    assert_eq!(given["scope"], "read");
    let first = text(&given["access_token"]);
    assert_eq!(call(&gateway, &first).status, 200);
    let renewed = token(&gateway, &format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"])));
    let second = text(&renewed["access_token"]);
    assert_ne!(renewed["refresh_token"], given["refresh_token"], "refresh tokens change with each use");
    assert_eq!(renewed["scope"], "read");
    assert_eq!((call(&gateway, &first).status, call(&gateway, &second).status), (403, 200), "the old token ends");
    let again = post(&gateway, "token", &format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"])));
    assert_eq!(error(&again), (403, "invalid_grant".to_owned()));
    let wider =
        post(&gateway, "token", &format!("grant_type=refresh_token&scope=all&refresh_token={}", text(&renewed["refresh_token"])));
    assert_eq!(error(&wider), (403, "invalid_scope".to_owned()));
}

#[test]
fn a_code_that_comes_again_takes_its_token_back() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let form = format!("grant_type=authorization_code&code={}", code(&gateway, ""));
    let given = token(&gateway, &form);
    assert_eq!(call(&gateway, &text(&given["access_token"])).status, 200);
    assert_eq!(error(&post(&gateway, "token", &form)), (403, "invalid_grant".to_owned()));
    assert_eq!(call(&gateway, &text(&given["access_token"])).status, 403);
    let renewal = post(&gateway, "token", &format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"])));
    assert_eq!(error(&renewal), (403, "invalid_grant".to_owned()));
}

#[test]
fn a_challenge_must_be_met() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let s256 = format!("&code_challenge={CHALLENGE}&code_challenge_method=S256");
    let plain = format!("&code_challenge={VERIFIER}");
    let redeem = |code: &str, more: &str| post(&gateway, "token", &format!("grant_type=authorization_code&code={code}{more}"));
    for challenge in [&s256, &plain] {
        let code = code(&gateway, challenge);
        for wrong in
            ["", "&code_verifier=", &format!("&code_verifier={}x", &VERIFIER[1..]), &format!("&code_verifier={}", "x".repeat(500))]
        {
            assert_eq!(error(&redeem(&code, wrong)), (403, "invalid_grant".to_owned()), "{challenge} {wrong:.60}");
        }
        assert_eq!(redeem(&code, &format!("&code_verifier={VERIFIER}")).status, 200, "{challenge}");
    }
    // Of the challenge that an attacker took out of the request the verifier tells.
    assert_eq!(error(&redeem(&code(&gateway, ""), &format!("&code_verifier={VERIFIER}"))), (403, "invalid_grant".to_owned()));
    for (challenge, why) in [
        ("&code_challenge=short", "code_challenge must have 43 to 128 letters, digits, '-', '.', '_' or '~'"),
        (&format!("&code_challenge={CHALLENGE}&code_challenge_method=S999"), "transform algorithm not supported"),
    ] {
        let answer = consent(&gateway, &format!("response_type=code&client_id=shop{challenge}"));
        assert_eq!(
            (error(&answer), text(&answer.json()["error_description"])),
            ((403, "invalid_request".to_owned()), why.to_owned())
        );
    }
}

#[test]
fn challenges_can_be_asked_for() {
    let rules = json!({"pkce_required": true, "pkce_methods": ["S256"], "exact_redirect_uris": true});
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api.set("tollgate/oauth", rules.clone()));
    make_client(&gateway, json!({}));
    let ask = |more: &str| gateway.get(&format!("/a/oauth/authorize?response_type=code&client_id=shop{more}"));
    let without = ask("");
    assert_eq!((without.status, without.json()), (403, json!({"status": "error", "message": "code challenge required"})));
    assert_eq!(ask(&format!("&code_challenge={VERIFIER}")).json()["message"], "transform algorithm not supported");
    let s256 = format!("&code_challenge={CHALLENGE}&code_challenge_method=S256");
    assert_eq!(ask(&s256).status, 307);
    assert_eq!(ask(&format!("{s256}&redirect_uri=https%3A%2F%2Fapp.test%2Fcb%2Fx")).status, 403);
    let code = code(&gateway, &s256);
    assert!(!token(&gateway, &format!("grant_type=authorization_code&code={code}&code_verifier={VERIFIER}")).is_null());
}

#[test]
fn a_user_logs_in_with_a_password_and_has_one_token_at_a_time() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({"meta_data": {"plan": "free", "own": "client"}}));
    let user =
        session_for(&["a"], json!({"basic_auth_data": {"password": "open sesame"}, "alias": "al", "meta_data": {"own": "user"}}));
    assert_eq!(gateway.control("POST", "/tyk/keys/alice?org_id=default", &user.to_string()).status, 200);
    let given = token(&gateway, "grant_type=password&username=alice&password=open+sesame");
    let first = text(&given["access_token"]);
    assert_eq!(call(&gateway, &first).status, 200);
    let shown = gateway.control("GET", &format!("/tyk/keys/{first}"), "").json();
    assert_eq!((&shown["alias"], &shown["meta_data"]), (&json!("al"), &json!({"own": "user", "plan": "free"})));
    assert!(shown.get("basic_auth_data").is_none_or(|data| data.get("password").is_none()), "{shown}");
    let renewed = token(&gateway, &format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"])));
    assert_eq!(gateway.control("GET", &format!("/tyk/keys/{}", text(&renewed["access_token"])), "").json()["alias"], "al");
    let second = text(&token(&gateway, "grant_type=password&username=alice&password=open+sesame")["access_token"]);
    let third = text(&token(&gateway, "grant_type=password&username=alice&password=open+sesame")["access_token"]);
    assert_eq!([&first, &second, &third].map(|token| call(&gateway, token).status), [403, 403, 200]);
    for (form, expected) in [
        ("username=alice&password=wrong", "access_denied"),
        ("username=nobody&password=open+sesame", "access_denied"),
        ("username=alice&password=", "invalid_grant"),
        ("username=&password=x", "invalid_grant"),
    ] {
        assert_eq!(error(&post(&gateway, "token", &format!("grant_type=password&{form}"))), (403, expected.to_owned()), "{form}");
    }
    // Neither of these was let in, and the password still is what it was.
    let off = session_for(&["a"], json!({"is_inactive": true}));
    assert_eq!(gateway.control("PUT", "/tyk/keys/alice?org_id=default", &off.to_string()).status, 200);
    let refused = post(&gateway, "token", "grant_type=password&username=alice&password=open+sesame");
    assert_eq!(error(&refused), (403, "access_denied".to_owned()));
    assert!(!gateway.log().contains("sesame"));
}

#[test]
fn a_token_can_be_given_at_once_in_the_fragment() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let told = consent(&gateway, "response_type=token&client_id=shop&state=s&scope=read").json();
    let names: Vec<&String> = told.as_object().unwrap().keys().collect();
    assert_eq!(names, ["access_token", "expires_in", "redirect_to", "scope", "state", "token_type"]);
    let token = text(&told["access_token"]);
    let expected = format!("https://app.test/cb#access_token={token}&expires_in=3600&scope=read&state=s&token_type=bearer");
    assert_eq!(told["redirect_to"], expected);
    assert_eq!(call(&gateway, &token).status, 200);
}

#[test]
fn a_login_page_may_say_what_session_the_token_has() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({"policy_id": ""}));
    let rules = session_for(&["a"], json!({"alias": "joe", "org_id": "", "rate": 2, "per": 60}));
    let code = code(&gateway, &format!("&key_rules={}", encoded(&rules.to_string())));
    let given = token(&gateway, &format!("grant_type=authorization_code&code={code}"));
    let shown = gateway.control("GET", &format!("/tyk/keys/{}", text(&given["access_token"])), "").json();
    assert_eq!((&shown["alias"], &shown["org_id"], &shown["oauth_client_id"]), (&json!("joe"), &json!("default"), &json!("shop")));
    let token = text(&given["access_token"]);
    assert_eq!([(); 3].map(|()| call(&gateway, &token).status), [200, 200, 429]);
    // Neither a policy nor rules, and rules that would open everything.
    for more in ["".to_owned(), format!("&key_rules={}", encoded(r#"{"org_id":"default"}"#))] {
        let code = self::code(&gateway, &more);
        let answer = post(&gateway, "token", &format!("grant_type=authorization_code&code={code}"));
        assert_eq!(error(&answer), (403, "server_error".to_owned()), "{more}");
    }
}

#[test]
fn a_token_is_asked_for_as_tyk_asks() {
    let Stage { gateway, upstream, .. } =
        stage(json!({}), |api| api.set("auth_configs/oauth", json!({"use_param": true, "param_name": "access_token"})));
    make_client(&gateway, json!({}));
    let token = text(&token(&gateway, "grant_type=client_credentials")["access_token"]);
    let key = super::harness::keys::create(&gateway, &session_for(&["a"], json!({})));
    let missing = (400, "Authorization field missing", "Bearer");
    let malformed = (400, "Bearer token malformed", "Bearer error=\"invalid_request\"");
    let unknown = (403, "Key not authorised", "Bearer error=\"invalid_token\"");
    let gone = (403, "Key not authorised. OAuth client access was revoked", "Bearer error=\"invalid_token\"");
    for (line, (status, message, challenge)) in [
        ("X-Nothing: here".to_owned(), missing),
        (format!("Authorization: {token}"), missing),
        ("Authorization: Bearer".to_owned(), missing),
        (format!("Authorization: Basic {token}"), malformed),
        ("Authorization: Bearer none".to_owned(), unknown),
        (format!("Authorization: Bearer  {token}"), unknown),
        (format!("Authorization: Bearer {key}"), gone),
    ] {
        let answer = gateway.send(request("GET", "/a/x", &[&line], ""));
        assert_eq!((answer.status, answer.text()), (status, error_json(message)), "{line}");
        assert_eq!(answer.header("www-authenticate"), Some(challenge), "{line}");
    }
    assert_eq!(upstream.requests(), 0);
    for line in [format!("Authorization: Bearer {token}"), format!("authorization: bEARER {token}")] {
        assert_eq!(gateway.send(request("GET", "/a/x", &[&line], "")).status, 200);
    }
    assert_eq!(gateway.get(&format!("/a/x?access_token={token}")).status, 200);
    assert!(!gateway.log().contains(&token));
}

#[test]
fn limits_quotas_rights_and_dry_runs_hold_for_tokens() {
    let limited = policy(json!({"quota_max": 3, "quota_renewal_rate": 3600, "access_rights": {
        "a": {"api_id": "a", "api_name": "a", "versions": ["Default"], "allowed_urls": [{"url": "/x", "methods": ["GET"]}]}
    }}));
    let Stage { gateway, upstream: _upstream, .. } = stage_with(json!({}), limited, |api| api);
    make_client(&gateway, json!({}));
    let fresh = || text(&token(&gateway, "grant_type=client_credentials")["access_token"]);
    let token = fresh();
    let answers = [(); 4].map(|()| call(&gateway, &token));
    assert_eq!(answers.each_ref().map(|answer| answer.status), [200, 200, 200, 403]);
    assert_eq!(answers[0].header("x-ratelimit-remaining"), Some("2"));
    assert_eq!(answers[3].text(), error_json("Quota exceeded"));
    let other = fresh();
    assert_eq!(call(&gateway, &other).status, 200, "each token has its own");
    let elsewhere = gateway.send(request("GET", "/a/other", &[&format!("Authorization: Bearer {other}")], ""));
    assert_eq!((elsewhere.status, elsewhere.text()), (403, error_json("Access to this resource has been disallowed")));
    let dry = policy(json!({"rate": 1, "per": 60, "dry_run": ["rate_limit"]}));
    let Stage { gateway, upstream: _upstream, .. } = stage_with(json!({}), dry, |api| api);
    make_client(&gateway, json!({}));
    let token = text(&self::token(&gateway, "grant_type=client_credentials")["access_token"]);
    assert_eq!(call(&gateway, &token).header("tollgate-dry-run"), None);
    let over = call(&gateway, &token);
    assert_eq!((over.status, over.header("tollgate-dry-run")), (200, Some("key_rate_limit")));
}

#[test]
fn cross_origin_rules_and_address_lists_hold_for_the_endpoints() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| {
        api.set("CORS", json!({"enable": true, "allowed_origins": ["https://app.test"], "allowed_methods": ["POST"]}))
    });
    make_client(&gateway, json!({}));
    let preflight = gateway.send(request(
        "OPTIONS",
        "/a/oauth/token",
        &["Origin: https://app.test", "Access-Control-Request-Method: POST"],
        "",
    ));
    assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, Some("https://app.test")));
    let lines = [&*basic("shop", "s3cret"), FORM, "Origin: https://app.test"];
    let given = gateway.send(request("POST", "/a/oauth/token", &lines, "grant_type=client_credentials"));
    assert_eq!((given.status, given.header("access-control-allow-origin")), (200, Some("https://app.test")));
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api.set("allowed_ips", json!(["10.0.0.1"])));
    let refused = post(&gateway, "token", "grant_type=client_credentials");
    assert_eq!((refused.status, refused.text()), (403, error_json("access from this IP has been disallowed")));
}

#[test]
fn versions_do_not_stand_between_a_client_and_its_token() {
    let versioned = |api: super::harness::Definition| {
        api.set(
            "version_data",
            json!({"not_versioned": false, "versions": {"v1": {"name": "v1", "use_extended_paths": true,
            "extended_paths": {"white_list": [{"path": "/x", "method_actions": {"GET": {"action": "no_action"}}}]}}}}),
        )
    };
    let open = policy(json!({"access_rights": {"a": {"api_id": "a", "api_name": "a", "versions": ["v1"]}}}));
    let Stage { gateway, upstream: _upstream, .. } = stage_with(json!({}), open, versioned);
    make_client(&gateway, json!({}));
    let token = text(&token(&gateway, "grant_type=client_credentials")["access_token"]);
    let line = format!("Authorization: Bearer {token}");
    let call = |target: &str, version: &str| {
        gateway.send(request("GET", target, &[&line, &format!("x-api-version: {version}")], "")).status
    };
    assert_eq!((call("/a/x", "v1"), call("/a/y", "v1"), call("/a/x", "v2")), (200, 403, 403));
    // What only begins like an endpoint is none, and the inner path of the endpoints is nobody's.
    for target in ["/a/oauth/token/more", "/a/oauth", "/a/oauth/tokens"] {
        assert_eq!(call(target, "v1"), 403, "{target}");
    }
    assert_eq!(
        gateway.send(request("POST", "/oauth/a/token", &[&basic("shop", "s3cret"), FORM], "grant_type=client_credentials")).status,
        404
    );
}

#[test]
fn a_client_may_show_itself_in_the_header_and_in_the_body() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let same = "grant_type=client_credentials&client_id=shop&client_secret=s3cret";
    assert_eq!(call(&gateway, &text(&token(&gateway, same)["access_token"])).status, 200);
    for other in ["client_id=shop&client_secret=s3cre", "client_id=shop2&client_secret=s3cret"] {
        let answer = post(&gateway, "token/", &format!("grant_type=client_credentials&{other}"));
        assert_eq!(answer.json()["error"], "invalid_request", "{answer}");
    }
}
