//! The OAuth 2.0 provider on a Redis that several gateways share: under Tyk's names, and what one of them takes away all of them refuse.

use serde_json::{Value, json};

use crate::harness::oauth::{
    CHALLENGE, FORM, VERIFIER, call, code, consent, make_client, policy, post, provider, text, token, with_policies,
};
use crate::harness::{Gateway, Upstream, eventually, request};
use crate::servers::{Cluster, Server};
use crate::shared_keys::on;

/// Gateways on one Redis, with the API `a`.
fn gateways(conf: &Value, upstream: &Upstream, count: usize) -> (Vec<Gateway>, tempfile::TempDir) {
    let (conf, folder) = with_policies(conf.clone(), &[policy(json!({}))]);
    let start = |_| Gateway::start(conf.clone(), [provider("a", upstream)]);
    ((0..count).map(start).collect(), folder)
}

#[test]
fn a_revoked_token_is_refused_by_every_gateway() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let (gateways, _folder) = gateways(&on(&server), &upstream, 3);
    make_client(&gateways[0], json!({}));
    let given = token(&gateways[1], &format!("grant_type=authorization_code&code={}", code(&gateways[0], "")));
    let all_are = |token: &str, status: u16| {
        for gateway in &gateways {
            eventually("all gateways know", || call(gateway, token).status == status);
        }
    };
    let first = text(&given["access_token"]);
    all_are(&first, 200);
    // Revoked where it was neither given nor used first.
    assert_eq!(post(&gateways[2], "revoke", &format!("token={first}&token_type_hint=access_token")).status, 200);
    assert_eq!(call(&gateways[2], &first).status, 403);
    all_are(&first, 403);
    let renewed = token(&gateways[2], &format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"])));
    let second = text(&renewed["access_token"]);
    all_are(&second, 200);
    let replay = format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"]));
    assert_eq!(post(&gateways[0], "token", &replay).status, 403);
    let listed = gateways[0].control("GET", "/tyk/oauth/clients/a/shop/tokens", "").json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    // With the client goes everything.
    assert_eq!(gateways[1].control("DELETE", "/tyk/oauth/clients/a/shop", "").status, 200);
    all_are(&second, 403);
    for gateway in &gateways {
        assert_eq!(gateway.control("GET", "/tyk/oauth/clients/a/shop", "").status, 404);
    }
    assert_eq!(server.cli(&["KEYS", "apikey-*"]), "");
    eventually("nothing of it is left but what ends by itself", || {
        let names = server.cli(&["KEYS", "oauth-data.*"]);
        names.lines().all(|name| name.contains(".oauth-redeemed."))
    });
}

#[test]
fn a_refresh_token_that_comes_again_ends_its_successors_on_every_gateway() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let (gateways, _folder) = gateways(&on(&server), &upstream, 2);
    make_client(&gateways[0], json!({"client_id": "app", "secret": null, "public": true}));
    let challenge = format!("code_challenge={CHALLENGE}&code_challenge_method=S256");
    let code = text(&consent(&gateways[0], &format!("response_type=code&client_id=app&{challenge}")).json()["code"]);
    let ask = |gateway: &Gateway, form: &str| gateway.send(request("POST", "/a/oauth/token", &[FORM], form));
    let form = format!("grant_type=authorization_code&client_id=app&code={code}&code_verifier={VERIFIER}");
    let first = ask(&gateways[0], &form).json();
    let renew = |gateway: &Gateway, given: &Value| {
        ask(gateway, &format!("grant_type=refresh_token&client_id=app&refresh_token={}", text(&given["refresh_token"])))
    };
    let second = renew(&gateways[1], &first).json();
    let all_are = |status: u16| {
        for gateway in &gateways {
            eventually("all gateways know", || call(gateway, &text(&second["access_token"])).status == status);
        }
    };
    all_are(200);
    assert_eq!(renew(&gateways[0], &first).status, 403);
    all_are(403);
    for gateway in &gateways {
        assert_eq!(renew(gateway, &second).status, 403);
    }
    let names = server.cli(&["KEYS", "oauth-data.a.oauth-refresh*"]);
    assert!(names.starts_with("oauth-data.a.oauth-refresh-reused.app.") && names.lines().count() == 1, "{names}");
    let ttl = server.cli(&["TTL", &names]).parse::<i64>().unwrap();
    assert!((1_209_000..=1_209_600).contains(&ttl), "what was noted ends with the tokens: {ttl}");
}

#[test]
fn everything_is_stored_under_tyks_names() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let (gateways, _folder) = gateways(&on(&server), &upstream, 1);
    let gateway = &gateways[0];
    make_client(gateway, json!({"meta_data": {"plan": "x"}}));
    let client = r#"{"id":"shop","secret":"s3cret","redirecturi":"https://app.test/cb","meta_data":{"plan":"x"},"policyid":"gold","description":""}"#;
    assert_eq!(server.cli(&["GET", "oauth-data.a.oauth-clientid.shop"]), client);
    assert_eq!(server.cli(&["LRANGE", "oauth-data.a.oauth-client-index.default", "0", "-1"]), "oauth-clientid.shop");
    assert_eq!(server.cli(&["SMEMBERS", "oauth-data.a.oauth-clientset.oauth-clientid."]), client);
    let code = code(gateway, "&state=s&scope=read");
    let stored: Value = serde_json::from_str(&server.cli(&["GET", &format!("oauth-data.a.oauth-authorize.{code}")])).unwrap();
    assert_eq!((&stored["Code"], &stored["Client"]["id"], &stored["ExpiresIn"]), (&json!(code), &json!("shop"), &json!(250)));
    assert_eq!(
        (&stored["RedirectUri"], &stored["State"], &stored["Scope"]),
        (&json!("https://app.test/cb"), &json!("s"), &json!("read"))
    );
    let ttl = |name: &str| server.cli(&["TTL", name]).parse::<i64>().unwrap();
    assert!((200..=250).contains(&ttl(&format!("oauth-data.a.oauth-authorize.{code}"))));
    let given = token(gateway, &format!("grant_type=authorization_code&code={code}"));
    assert_eq!(server.cli(&["EXISTS", &format!("oauth-data.a.oauth-authorize.{code}")]), "0");
    let (access, refresh) = (text(&given["access_token"]), text(&given["refresh_token"]));
    let hash = server.cli(&["KEYS", "apikey-*"]).trim_start_matches("apikey-").to_owned();
    assert_eq!(server.cli(&["ZRANGE", "oauth-data.a.oauth-client-tokens.shop", "0", "-1"]), hash);
    for name in [format!("oauth-data.a.oauth-access.{hash}"), format!("oauth-data.a.oauth-refresh.{refresh}")] {
        let stored: Value = serde_json::from_str(&server.cli(&["GET", &name])).unwrap();
        assert_eq!((&stored["AccessToken"], &stored["RefreshToken"]), (&json!(access), &json!(refresh)), "{name}");
        assert!((1_209_000..=1_209_600).contains(&ttl(&name)), "{name}");
    }
    // The session outlives its token a little, so that its holder learns what has happened.
    assert!((3_600..=4_300).contains(&ttl(&format!("apikey-{hash}"))));
    // What Tyk has written is read.
    server.cli(&["SET", "oauth-data.a.oauth-clientid.tyks", &client.replace("shop", "tyks")]);
    server.cli(&["RPUSH", "oauth-data.a.oauth-client-index.default", "oauth-clientid.tyks"]);
    let listed = gateway.control("GET", "/tyk/oauth/clients/a", "").json();
    let ids: Vec<&Value> = listed.as_array().unwrap().iter().map(|client| &client["client_id"]).collect();
    assert_eq!(ids, ["shop", "tyks"]);
    assert_eq!(gateway.control("GET", "/tyk/oauth/clients/a/tyks", "").json()["policy_id"], "gold");
    // What has ended for long is taken out of the lists.
    server.cli(&["ZADD", "oauth-data.a.oauth-client-tokens.shop", "100", "long-gone"]);
    assert_eq!(gateway.control("DELETE", "/tyk/oauth/tokens?scope=lapsed", "").status, 200);
    assert_eq!(server.cli(&["ZRANGE", "oauth-data.a.oauth-client-tokens.shop", "0", "-1"]), hash);
}

#[test]
fn a_client_that_somebody_else_deletes_is_noticed() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let (gateways, _folder) = gateways(&on(&server), &upstream, 1);
    make_client(&gateways[0], json!({}));
    let token = text(&token(&gateways[0], "grant_type=client_credentials")["access_token"]);
    assert_eq!(call(&gateways[0], &token).status, 200);
    server.cli(&["DEL", "oauth-data.a.oauth-clientid.shop"]);
    eventually("the deletion is noticed", || call(&gateways[0], &token).status == 403);
}

#[test]
fn without_redis_nobody_is_given_a_token_and_nobody_is_told_a_lie() {
    let (mut server, upstream) = (Server::start(&["--appendonly", "yes"]), Upstream::ok());
    let (gateways, _folder) = gateways(&on(&server), &upstream, 1);
    make_client(&gateways[0], json!({}));
    let token = text(&token(&gateways[0], "grant_type=client_credentials")["access_token"]);
    assert_eq!(call(&gateways[0], &token).status, 200);
    server.kill();
    eventually("the provider says so", || {
        let answer = post(&gateways[0], "token", "grant_type=client_credentials");
        (answer.status, &answer.json()["error"]) == (503, &json!("temporarily_unavailable"))
    });
    assert_eq!(call(&gateways[0], &token).status, 200, "what was known holds");
    server.restart();
    eventually("it heals", || post(&gateways[0], "token", "grant_type=client_credentials").status == 200);
}

#[test]
fn a_cluster_serves_as_one_server_does() {
    let (cluster, upstream) = (Cluster::start(), Upstream::ok());
    let node = format!("127.0.0.1:{}", cluster.nodes[0].port);
    let storage = json!({"type": "redis", "enable_cluster": true, "addrs": [node]});
    let conf = crate::shared_keys::patient(json!({"hash_keys": true, "storage": storage}));
    let (gateways, _folder) = gateways(&conf, &upstream, 2);
    make_client(&gateways[0], json!({}));
    let given = token(&gateways[0], &format!("grant_type=authorization_code&code={}", code(&gateways[1], "")));
    assert_eq!(call(&gateways[1], &text(&given["access_token"])).status, 200);
    assert_eq!(post(&gateways[0], "revoke", &format!("token={}", text(&given["refresh_token"]))).status, 200);
    eventually("it is refused", || call(&gateways[1], &text(&given["access_token"])).status == 403);
}
