//! Applications of APIs with OAuth: they get a client in place of a key.

use serde_json::{Value, json};

use crate::harness::oauth::{FORM, basic, provider};
use crate::harness::{Gateway, Response, eventually, request};
use crate::portal::{Caller, Stage, stage_of};

fn stage() -> Stage {
    stage_of(None, json!({}), |upstream| provider("shop", upstream))
}

/// Asks for a token as a client.
fn ask(gateway: &Gateway, made: &Value) -> Response {
    let text = |member: &str| made[member].as_str().expect("a text").to_owned();
    let credentials = basic(&text("key"), &text("secret"));
    gateway.send(request("POST", "/shop/oauth/token/", &[&credentials, FORM], "grant_type=client_credentials"))
}

fn token(gateway: &Gateway, made: &Value) -> String {
    let answer = ask(gateway, made);
    assert_eq!(answer.status, 200, "{answer}");
    answer.json()["access_token"].as_str().expect("a token").to_owned()
}

fn call(gateway: &Gateway, token: &str) -> u16 {
    gateway.send(request("GET", "/shop/", &[&format!("Authorization: Bearer {token}")], "")).status
}

fn client(ada: &mut Caller, grant: &str) -> Value {
    let answer = ada.call("POST", &format!("{grant}/keys"), &json!({}));
    assert_eq!(answer.status, 201, "{answer}");
    answer.json()
}

#[test]
fn an_application_gets_a_client_whose_tokens_are_served() {
    let stage = stage();
    let mut ada = stage.invited("ada@example.com");
    let grant = ada.granted("free");
    let made = client(&mut ada, &grant);
    let token = token(&stage.gateway, &made);
    assert_eq!(call(&stage.gateway, &token), 200);
    let shown = ada.call("GET", grant.split("/grants").next().expect("a path"), &json!({}));
    assert!(!shown.text().contains(made["secret"].as_str().expect("a secret")), "the secret is shown once: {shown}");
    let removed = ada.call("DELETE", &format!("{grant}/keys/{}", made["id"].as_str().expect("an id")), &json!({}));
    assert_eq!(removed.status, 200, "{removed}");
    assert_ne!(call(&stage.gateway, &token), 200, "its tokens end with the client");
    assert_eq!(ask(&stage.gateway, &made).status, 403);
}

#[test]
fn what_tokens_of_a_client_are_used_for_is_shown_as_that_of_keys_is() {
    let stage = stage_of(None, json!({"enable_analytics": true}), |upstream| provider("shop", upstream).set("do_not_track", false));
    let mut ada = stage.invited("ada@example.com");
    let grant = ada.granted("free");
    stage.control("PATCH", &grant.replace("/api/", "/tyk/portal/"), &json!({"plan": "large"}));
    let made = client(&mut ada, &grant);
    let tokens = [token(&stage.gateway, &made), token(&stage.gateway, &made)];
    // Two in a minute.
    let statuses: Vec<u16> = (0..6).map(|number| call(&stage.gateway, &tokens[number % 2])).collect();
    assert!(statuses.contains(&200) && statuses.contains(&429), "{statuses:?}");
    let usage = format!("{}/usage", grant.split("/grants").next().expect("a path"));
    let mut shown = json!({});
    eventually("all requests are counted", || {
        shown = ada.call("GET", &usage, &json!({})).json()["keys"][0].clone();
        let rows = shown["usage"].as_array().cloned().unwrap_or_default();
        rows.iter().filter_map(|row| row["requests"].as_u64()).sum::<u64>() == 6
    });
    let refusals = shown["refusals"].as_array().expect("a list");
    assert_eq!(refusals.len(), statuses.iter().filter(|status| **status == 429).count(), "{shown}");
    assert!(refusals[0]["message"].as_str().is_some_and(|text| !text.is_empty()), "{shown}");
    assert_eq!((&shown["state"]["rate"], &shown["state"]["is_suspended"]), (&json!(2.0), &json!(false)), "{shown}");
    // Nobody else's requests.
    let mut eve = stage.invited("eve@example.com");
    let grant = eve.granted("free");
    client(&mut eve, &grant);
    let usage = format!("{}/usage", grant.split("/grants").next().expect("a path"));
    let shown = eve.call("GET", &usage, &json!({})).json()["keys"][0].clone();
    assert_eq!((&shown["usage"], &shown["refusals"]), (&json!([]), &json!([])), "{shown}");
}

#[test]
fn a_client_is_rotated_by_a_second_one() {
    let stage = stage();
    let mut ada = stage.invited("ada@example.com");
    let grant = ada.granted("free");
    let old = client(&mut ada, &grant);
    let rotate = |ada: &mut Caller, made: &Value, overlap_s: u64| {
        let path = format!("{grant}/keys/{}/rotate", made["id"].as_str().expect("an id"));
        let answer = ada.call("POST", &path, &json!({"overlap_s": overlap_s}));
        assert_eq!(answer.status, 201, "{answer}");
        answer.json()
    };
    let new = rotate(&mut ada, &old, 3600);
    assert_ne!(old["key"], new["key"]);
    for made in [&old, &new] {
        assert_eq!(call(&stage.gateway, &token(&stage.gateway, made)), 200, "both work");
    }
    // The end is kept when an operator changes the client.
    let path = format!("/tyk/oauth/clients/shop/{}", old["key"].as_str().expect("an id"));
    let ends = |answer: Value| answer["ends_unix_s"].as_u64();
    let before = ends(stage.control("GET", &path, &json!({})));
    stage.control("PUT", &path, &json!({"description": "old", "policy_id": "gold"}));
    assert_eq!((before.is_some(), ends(stage.control("GET", &path, &json!({})))), (true, before));
    let last = rotate(&mut ada, &new, 0);
    assert_eq!(ask(&stage.gateway, &new).status, 403, "without an overlap, the old client ends at once");
    assert_eq!(ask(&stage.gateway, &last).status, 200);
}

#[test]
fn a_suspended_client_is_refused_and_a_removed_developer_has_none() {
    let stage = stage();
    let mut ada = stage.invited("ada@example.com");
    let grant = ada.granted("free");
    let made = client(&mut ada, &grant);
    let old = token(&stage.gateway, &made);
    let place = grant.replace("/api/", "/tyk/portal/");
    stage.control("PATCH", &place, &json!({"state": "suspended"}));
    assert_ne!(call(&stage.gateway, &old), 200);
    assert_eq!(ask(&stage.gateway, &made).status, 403);
    stage.control("PATCH", &place, &json!({"state": "approved"}));
    eventually("it gets tokens again", || ask(&stage.gateway, &made).status == 200);
    // Two in a minute.
    stage.control("PATCH", &place, &json!({"plan": "large"}));
    let new = token(&stage.gateway, &made);
    let statuses: Vec<u16> = (0..3).map(|_| call(&stage.gateway, &new)).collect();
    assert!(statuses.contains(&429), "the smaller plan: {statuses:?}");
    let id = stage.control("GET", "/tyk/portal/developers", &json!({}))[0]["id"].as_str().expect("an id").to_owned();
    stage.control("DELETE", &format!("/tyk/portal/developers/{id}"), &json!({}));
    assert_ne!(call(&stage.gateway, &new), 200);
    assert_eq!(ask(&stage.gateway, &made).status, 403);
    let clients = stage.gateway.control("GET", "/tyk/oauth/clients/shop", "");
    assert!(!clients.text().contains(made["key"].as_str().expect("an id")), "{clients}");
}
