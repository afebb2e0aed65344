//! Limits that say themselves what holds while Redis does not answer: side by side on one gateway, before, during and after an outage.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Gateway, Setup, Upstream, api, eventually, request};
use crate::keys::{create, keyed, session_for, with_key};
use crate::servers::Server;
use crate::shared_keys::on;

/// Requests that a limit has, those before the outage, and those sent in it and after it.
const LIMIT: usize = 20;
const BEFORE: usize = 5;
const SENT: usize = 40;

/// A caller, and how many of its requests pass while Redis is gone; the others get the status.
struct Caller {
    what: &'static str,
    request: String,
    meanwhile: usize,
    refused: u16,
    /// Refused by its limit when Redis is there.
    over: u16,
}

/// How many of some requests passed; none may get another answer than the one expected.
fn passed(gateway: &Gateway, caller: &Caller, requests: usize, refused: u16) -> usize {
    let mut client = gateway.connect();
    let statuses: Vec<u16> = (0..requests).map(|_| client.ask(&caller.request).status).collect();
    assert!(statuses.iter().all(|status| [200, refused].contains(status)), "{}: {statuses:?}", caller.what);
    statuses.iter().filter(|status| **status == 200).count()
}

fn callers(gateway: &Gateway) -> Vec<Caller> {
    let rate = json!({"rate": LIMIT, "per": 600});
    let quota = json!({"quota_max": LIMIT, "quota_renewal_rate": 600});
    let with = |base: &Value, on_store_failure: Value| {
        let mut session = base.clone();
        session["on_store_failure"] = on_store_failure;
        session
    };
    let left = LIMIT - BEFORE;
    // Of a quota a gateway alone uses half of what is left.
    let keys = [
        ("a rate that says nothing", "a", rate.clone(), left, 429, 429),
        ("a local rate", "a", with(&rate, json!("local")), left, 429, 429),
        ("a rate without the store unlimited", "a", with(&rate, json!("allow")), SENT, 429, 429),
        ("a rate that closes", "a", with(&rate, json!("deny")), 0, 503, 429),
        ("a local quota", "a", with(&quota, json!("local")), left / 2, 403, 403),
        ("a quota without the store unlimited", "a", with(&quota, json!("allow")), SENT, 403, 403),
        ("a quota that closes", "a", with(&quota, json!({"quota": "deny", "rate_limit": "allow"})), 0, 503, 403),
        ("a rate on an API that closes", "closing", rate.clone(), 0, 503, 429),
        ("a rate that says otherwise than its API", "closing", with(&rate, json!("allow")), SENT, 429, 429),
        (
            "an entry that says otherwise than its key",
            "a",
            with(&json!({"limits": [{"rate": LIMIT, "per": 600, "on_store_failure": "allow"}]}), json!("deny")),
            SENT,
            429,
            429,
        ),
    ];
    let mut callers: Vec<Caller> = keys
        .into_iter()
        .map(|(what, api, session, meanwhile, refused, over)| {
            let key = create(gateway, &session_for(&[api], session));
            Caller { what, request: with_key(&format!("/{api}/"), &key), meanwhile, refused, over }
        })
        .collect();
    let key = create(gateway, &json!({"org_id": "default", "apply_policies": ["closing"]}));
    callers.push(Caller { what: "a policy that closes", request: with_key("/a/", &key), meanwhile: 0, refused: 503, over: 429 });
    for (what, path, meanwhile, refused) in [
        ("an API's rate as the API says", "/open/", SENT, 429),
        ("an endpoint that says otherwise", "/open/closing", 0, 503),
        ("an API's rate that says otherwise than the API", "/strict/", 0, 503),
    ] {
        callers.push(Caller { what, request: request("GET", path, &[], ""), meanwhile, refused, over: 429 });
    }
    callers
}

fn stage(server: &Server, upstream: &Upstream) -> Gateway {
    let global = |on_store_failure: Value| json!({"rate": LIMIT, "per": 600, "on_store_failure": on_store_failure});
    let open = api("open", "/open/", &upstream.url())
        .set("tollgate/on_store_failure", "allow")
        .set("global_rate_limit", global(Value::Null))
        .list("rate_limit", json!([{"path": "/closing", "method": "GET", "rate": LIMIT, "per": 600, "on_store_failure": "deny"}]));
    let strict = api("strict", "/strict/", &upstream.url())
        .set("tollgate/on_store_failure", "allow")
        .set("global_rate_limit", global(json!("deny")));
    let mut conf = on(server);
    let closing = json!({"org_id": "default", "rate": LIMIT, "per": 600, "on_store_failure": "deny",
        "access_rights": {"a": {"api_id": "a", "versions": ["Default"]}}});
    let policies = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(policies.path(), json!({"closing": closing}).to_string()).expect("policies");
    conf["policies"] = json!({"policy_record_name": policies.path()});
    let gateway = Setup::new(conf)
        .api(keyed("a", upstream))
        .api(keyed("closing", upstream).set("tollgate/on_store_failure", "deny"))
        .api(open)
        .api(strict)
        .start();
    // Policies are read at start.
    drop(policies);
    gateway
}

fn check_outage(end: impl FnOnce(&mut Server), begin_again: impl FnOnce(&mut Server)) {
    // One that has its keys and counters again when it is started again.
    let server = &mut Server::start(&["--appendonly", "yes", "--appendfsync", "always"]);
    let upstream = Upstream::ok();
    let gateway = stage(server, &upstream);
    let callers = callers(&gateway);
    crate::shared_outages::settle_alone(&gateway, server);
    for caller in &callers {
        assert_eq!(passed(&gateway, caller, BEFORE, caller.over), BEFORE, "{} before", caller.what);
    }
    end(server);
    eventually("the end is noticed", || gateway.get("/ready").status == 503);
    for caller in &callers {
        let meanwhile = passed(&gateway, caller, SENT, caller.refused);
        assert_eq!(meanwhile, caller.meanwhile, "{} without Redis", caller.what);
    }
    begin_again(server);
    eventually("it is back", || gateway.get("/ready").status == 200);
    eventually("limits are counted in Redis again", || gateway.log().contains("limits are counted in Redis again"));
    // A gateway keeps to its share for a while, as others may not have heard yet.
    thread::sleep(Duration::from_millis(1_500));
    for caller in &callers {
        let after = passed(&gateway, caller, SENT, caller.over);
        // What passes while nobody counts is not counted later. A question without an answer may have taken a place.
        let counted = if caller.meanwhile < SENT { caller.meanwhile } else { 0 };
        let most = LIMIT - BEFORE - counted;
        assert!((most.saturating_sub(2)..=most).contains(&after), "{}: {after} of {most} afterwards", caller.what);
    }
}

#[test]
fn each_limit_says_what_holds_while_redis_hangs() {
    check_outage(|server| server.signal("STOP"), |server| server.signal("CONT"));
}

#[test]
fn each_limit_says_what_holds_while_redis_is_gone() {
    check_outage(Server::kill, Server::restart);
}
