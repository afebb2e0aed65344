//! Organisations: their sessions in the control API, and the limits that all their APIs share.

use serde_json::{Value, json};

use super::harness::keys::{call, create, done, keyed, refused, session, told};
use super::harness::{Definition, Gateway, Upstream, api, error_json};

const DISABLED: &str = "this organisation access has been disabled, please contact your API administrator";
const QUOTA: &str = "This organisation quota has been exceeded, please contact your API administrator";
const RATE: &str = "This organisation rate limit has been exceeded, please contact your API administrator";

fn enforced() -> Value {
    json!({"enforce_org_quotas": true})
}

/// Two open APIs of `acme` and one of somebody else.
fn apis(upstream: &Upstream) -> [Definition; 3] {
    let of = |id: &str, org: &str| api(id, &format!("/{id}/"), &upstream.url()).set("org_id", org);
    [of("one", "acme"), of("two", "acme"), of("else", "other")]
}

fn put(gateway: &Gateway, target: &str, session: Value) {
    let answer = gateway.control("PUT", target, &session.to_string());
    assert_eq!(answer.status, 200, "{answer}");
}

fn statuses(gateway: &Gateway, targets: &[&str]) -> Vec<u16> {
    targets.iter().map(|target| gateway.get(target).status).collect()
}

#[test]
fn sessions_of_organisations_are_made_shown_listed_and_deleted() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), apis(&upstream));
    let ask = |method: &str, target: &str, body: &str| told(&gateway.control(method, target, body));
    assert_eq!(ask("GET", "/tyk/org/keys", ""), (200, "{\"keys\":[]}\n".to_owned()));
    assert_eq!(ask("GET", "/tyk/org/keys/acme", ""), (404, refused("Org not found")));
    assert_eq!(ask("DELETE", "/tyk/org/keys/acme", ""), (400, refused("Failed to remove the key")), "as in Tyk");
    assert_eq!(ask("POST", "/tyk/org/keys/acme", r#"{"quota_max": 5, "org_id": "acme"}"#), (200, done("acme", "added")));
    assert_eq!(ask("PUT", "/tyk/org/keys/acme/", r#"{"quota_max": 7, "org_id": "acme"}"#), (200, done("acme", "modified")));
    assert_eq!(ask("PUT", "/tyk/org/keys/beta", r#"{"rate": 7, "per": 1}"#), (200, done("beta", "modified")));
    assert_eq!(ask("GET", "/tyk/org/keys", ""), (200, "{\"keys\":[\"acme\",\"beta\"]}\n".to_owned()));
    assert_eq!(ask("GET", "/tyk/org/keys?filter=b", ""), (200, "{\"keys\":[\"beta\"]}\n".to_owned()));
    let shown = gateway.control("GET", "/tyk/org/keys/acme", "").json();
    assert_eq!((&shown["quota_max"], &shown["org_id"]), (&json!(7), &json!("acme")), "{shown}");
    assert_eq!(ask("DELETE", "/tyk/org/keys/acme", ""), (200, done("acme", "deleted")));
    assert_eq!(ask("GET", "/tyk/org/keys", ""), (200, "{\"keys\":[\"beta\"]}\n".to_owned()));
}

#[test]
fn what_is_no_session_is_refused_in_tyks_words() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({"suppress_default_org_store": true}), apis(&upstream));
    let ask = |target: &str, body: &str| told(&gateway.control("POST", target, body));
    assert_eq!(ask("/tyk/org/keys/acme", "{"), (400, refused("Request malformed")));
    assert_eq!(ask("/tyk/org/keys/acme", r#"{"rate": "many"}"#), (400, refused("Request malformed")));
    assert_eq!(ask("/tyk/org/keys/nobody", "{}"), (404, refused("No such organisation found in Active API list")));
    assert_eq!(ask("/tyk/org/keys/acme", "{}").0, 200);
    assert_eq!(gateway.control("POST", "/tyk/org/keys", "{}").status, 405);
}

#[test]
fn the_apis_of_an_organisation_share_its_rate() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(enforced(), apis(&upstream));
    assert_eq!(statuses(&gateway, &["/one/", "/two/", "/else/"]), [200; 3], "without a session there is no limit");
    put(&gateway, "/tyk/org/keys/acme", json!({"rate": 3, "per": 3600}));
    assert_eq!(statuses(&gateway, &["/one/", "/two/", "/one/", "/two/", "/one/", "/else/"]), [200, 200, 200, 403, 403, 200]);
    assert_eq!(gateway.get("/one/").text(), error_json(RATE));
    assert_eq!(gateway.control("DELETE", "/tyk/org/keys/acme", "").status, 200);
    assert_eq!(statuses(&gateway, &["/one/", "/two/"]), [200; 2]);
}

#[test]
fn an_organisations_quota_holds_until_it_is_reset() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(enforced(), apis(&upstream));
    let quota = |max: i64| json!({"quota_max": max, "quota_renewal_rate": 3600});
    put(&gateway, "/tyk/org/keys/acme", quota(2));
    assert_eq!(statuses(&gateway, &["/one/", "/two/", "/one/"]), [200, 200, 403]);
    assert_eq!(gateway.get("/two/").text(), error_json(QUOTA));
    assert_eq!(gateway.control("GET", "/tyk/org/keys/acme", "").json()["quota_remaining"], Value::Null, "zero is not written");
    put(&gateway, "/tyk/org/keys/acme", quota(3));
    assert_eq!(statuses(&gateway, &["/one/", "/one/"]), [200, 403], "the count goes on");
    put(&gateway, "/tyk/org/keys/acme?reset_quota=1", quota(3));
    assert_eq!(gateway.control("GET", "/tyk/org/keys/acme", "").json()["quota_remaining"], json!(3));
    assert_eq!(statuses(&gateway, &["/one/", "/one/", "/one/", "/one/"]), [200, 200, 200, 403]);
}

#[test]
fn a_disabled_organisation_is_refused_at_once() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(enforced(), apis(&upstream));
    put(&gateway, "/tyk/org/keys/acme", json!({"is_inactive": true}));
    let response = gateway.get("/one/");
    assert_eq!((response.status, response.text()), (403, error_json(DISABLED)));
    put(&gateway, "/tyk/org/keys/acme", json!({}));
    assert_eq!(gateway.get("/one/").status, 200);
}

#[test]
fn without_the_setting_sessions_of_organisations_limit_nobody() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), apis(&upstream));
    put(&gateway, "/tyk/org/keys/acme", json!({"is_inactive": true, "rate": 1, "per": 3600}));
    assert_eq!(statuses(&gateway, &["/one/", "/one/", "/one/"]), [200; 3]);
}

#[test]
fn keys_keep_their_own_limits_beside_those_of_the_organisation() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(enforced(), [keyed("a", &upstream).set("org_id", "default")]);
    put(&gateway, "/tyk/org/keys/default", json!({"rate": 4, "per": 3600}));
    let few = create(&gateway, &session(json!({"rate": 1, "per": 3600})));
    let many = create(&gateway, &session(json!({})));
    let ask = |key: &str| call(&gateway, "/a/", key).status;
    assert_eq!([ask(&few), ask(&few), ask(&many), ask("unknown"), ask(&many)], [200, 429, 200, 403, 403]);
}

#[test]
fn an_organisation_in_dry_run_is_told_and_served() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(enforced(), apis(&upstream));
    put(&gateway, "/tyk/org/keys/acme", json!({"rate": 1, "per": 3600, "dry_run": true}));
    let told = || {
        let response = gateway.get("/one/");
        (response.status, response.header("tollgate-dry-run").map(str::to_owned))
    };
    assert_eq!([told(), told()], [(200, None), (200, Some("org_rate_limit".to_owned()))]);
}
