//! The OAuth 2.0 provider as clients, users and login pages meet it: every grant, what is refused, and the token as a way in.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::oauth::{call, code, error, make_client, policy, post, provider, text, token, with_policies};
use crate::harness::{Gateway, Upstream, error_json, eventually};
use crate::oauth_clients::{Stage, stage};

#[test]
fn of_many_who_redeem_a_code_at_once_one_is_given_a_token() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    for _ in 0..5 {
        let form = format!("grant_type=authorization_code&code={}", code(&gateway, ""));
        let given = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| post(&gateway, "token", &form).status)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).filter(|status| *status == 200).count()
        });
        assert_eq!(given, 1);
    }
}

#[test]
fn tokens_survive_a_restart_and_end_for_good() {
    let (upstream, data) = (Upstream::ok(), tempfile::tempdir().unwrap());
    let conf = json!({"hash_keys": true, "tollgate": {"data_dir": data.path()}});
    let (conf, _folder) = with_policies(conf, &[policy(json!({}))]);
    let start = || Gateway::start(conf.clone(), [provider("a", &upstream)]);
    let mut gateway = start();
    make_client(&gateway, json!({}));
    let given = token(&gateway, &format!("grant_type=authorization_code&code={}", code(&gateway, "")));
    let revoked = text(&token(&gateway, "grant_type=client_credentials")["access_token"]);
    assert_eq!(post(&gateway, "revoke", &format!("token={revoked}")).status, 200);
    let listed = gateway.control("GET", "/tyk/oauth/clients/a/shop/tokens", "").json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
    gateway.signal("KILL");
    gateway.wait_for_exit();
    let gateway = start();
    assert_eq!(call(&gateway, &text(&given["access_token"])).status, 200);
    assert_eq!(call(&gateway, &revoked).status, 403);
    assert_eq!(gateway.control("GET", "/tyk/oauth/clients/a/shop/tokens", "").json(), listed);
    let renewed = token(&gateway, &format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"])));
    assert_eq!(call(&gateway, &text(&renewed["access_token"])).status, 200);
    // In the file there is nothing that opens anything.
    let mut stored = Vec::new();
    for file in std::fs::read_dir(data.path()).unwrap() {
        stored.extend(std::fs::read(file.unwrap().path()).unwrap_or_default());
    }
    for secret in [text(&renewed["access_token"]), text(&renewed["refresh_token"])] {
        let is_there = stored.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!is_there, "a token is stored");
    }
}

#[test]
fn the_owner_is_told_of_new_tokens() {
    let owner = Upstream::ok();
    let url = format!("{}/told", owner.url());
    let Stage { gateway, upstream: _upstream, .. } =
        stage(json!({}), |api| api.set("notifications", json!({"shared_secret": "between us", "oauth_on_keychange_url": url})));
    make_client(&gateway, json!({}));
    let code = code(&gateway, "");
    let given = token(&gateway, &format!("grant_type=authorization_code&code={code}"));
    let old = text(&given["refresh_token"]);
    let renewed = token(&gateway, &format!("grant_type=refresh_token&refresh_token={}", old));
    eventually("both are told", || owner.requests() == 2);
    let told: Vec<Value> = owner.seen().iter().map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect();
    let first = json!({
        "auth_code": code, "new_oauth_token": given["access_token"], "refresh_token": given["refresh_token"], "old_refresh_token": "",
        "notification_type": "new"
    });
    let second = json!({
        "auth_code": "", "new_oauth_token": renewed["access_token"], "refresh_token": renewed["refresh_token"],
        "old_refresh_token": old, "notification_type": "refresh"
    });
    assert!(told.contains(&first) && told.contains(&second), "{told:?}");
    let seen = &owner.seen()[0];
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/told"));
    assert_eq!(seen.header("x-tyk-shared-secret"), Some("between us"));
    assert_eq!(seen.header("user-agent"), Some("Tyk-Gatewy-Notifications"));
}

#[test]
fn records_name_the_client_and_never_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("records.json");
    let conf = json!({"enable_analytics": true, "hash_keys": true, "tollgate": {"analytics": {"file": file}}});
    let Stage { gateway, upstream: _upstream, .. } =
        stage(conf, |api| api.set("do_not_track", false).set("enable_detailed_recording", true));
    make_client(&gateway, json!({}));
    let token = text(&token(&gateway, "grant_type=client_credentials")["access_token"]);
    assert_eq!(call(&gateway, &token).status, 200);
    let read = || std::fs::read_to_string(&file).unwrap_or_default();
    eventually("the call is recorded", || read().ends_with("}\n"));
    let records = read();
    assert_eq!(records.lines().count(), 1, "what goes to the provider is no call of the API: {records}");
    let record: Value = serde_json::from_str(&records).unwrap();
    assert_eq!((&record["oauth_id"], &record["api_id"]), (&json!("shop"), &json!("a")));
    let raw = String::from_utf8(STANDARD.decode(text(&record["raw_request"])).unwrap()).unwrap();
    assert!(raw.contains("Authorization: ***") && !records.contains(&token) && !raw.contains(&token), "{raw}");
}

#[test]
fn the_status_of_refusals_and_the_life_of_tokens_are_configured() {
    let conf = json!({"oauth_error_status_code": 400, "oauth_token_expire": 1, "oauth_refresh_token_expire": 2});
    let Stage { gateway, upstream: _upstream, .. } = stage(conf, |api| api);
    make_client(&gateway, json!({}));
    assert_eq!(error(&post(&gateway, "token", "grant_type=x")), (400, "unsupported_grant_type".to_owned()));
    let given = token(&gateway, &format!("grant_type=authorization_code&code={}", code(&gateway, "")));
    assert_eq!(given["expires_in"], 1);
    eventually("the token ends", || {
        let answer = call(&gateway, &text(&given["access_token"]));
        answer.status == 401 && answer.text() == error_json("Key has expired, please renew")
    });
    // In its last second it is in the list, as in Tyk.
    eventually("the token is not listed", || gateway.control("GET", "/tyk/oauth/clients/a/shop/tokens", "").json() == json!([]));
    eventually("the refresh token ends", || {
        let shown = post(&gateway, "introspect", &format!("token={}&token_type_hint=refresh_token", text(&given["refresh_token"])));
        shown.json() == json!({"active": false})
    });
    let renewal = post(&gateway, "token", &format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"])));
    assert_eq!(error(&renewal), (400, "invalid_grant".to_owned()));
}
