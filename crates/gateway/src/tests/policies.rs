//! Policies: where they are read from, what they make of a key, and how soon a change of one is in effect.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::harness::keys::{call, create, done, keyed, refused, session, told};
use super::harness::{Gateway, Upstream, error_json};

/// A gateway whose policies lie in a folder of the test's.
struct Stage {
    folder: TempDir,
    gateway: Gateway,
    _upstream: Upstream,
}

impl Stage {
    fn with(policies: &[Value]) -> Stage {
        let folder = tempfile::tempdir().expect("a folder");
        for policy in policies {
            fs::write(folder.path().join(format!("{}.json", policy["id"].as_str().unwrap())), policy.to_string())
                .expect("a policy");
        }
        let upstream = Upstream::ok();
        let conf = json!({"policies": {"policy_source": "file", "policy_path": folder.path()}});
        let gateway = Gateway::start(conf, [keyed("a", &upstream), keyed("b", &upstream)]);
        Stage { folder, gateway, _upstream: upstream }
    }

    /// A key that has these policies and nothing else.
    fn key(&self, ids: &[&str]) -> String {
        create(&self.gateway, &json!({"org_id": "default", "apply_policies": ids}))
    }

    fn statuses(&self, target: &str, key: &str, count: usize) -> Vec<u16> {
        (0..count).map(|_| call(&self.gateway, target, key).status).collect()
    }

    fn left(&self, target: &str, key: &str) -> String {
        call(&self.gateway, target, key).header("x-ratelimit-remaining").expect("what is left").to_owned()
    }
}

/// A policy for one API, with `fields` laid over it.
fn policy(id: &str, api: &str, fields: Value) -> Value {
    let rights = json!({api: {"api_id": api, "api_name": api, "versions": ["Default"]}});
    let mut policy = json!({"id": id, "name": id, "org_id": "default", "active": true, "quota_max": -1, "access_rights": rights});
    super::harness::definition::merge(&mut policy, &fields);
    policy
}

#[test]
fn a_policy_of_the_folder_gives_rights_rate_and_quota() {
    let stage = Stage::with(&[
        policy("gold", "a", json!({"rate": 4, "per": 3600})),
        policy("counted", "a", json!({"quota_max": 2, "quota_renewal_rate": 3600})),
    ]);
    let gold = stage.key(&["gold"]);
    assert_eq!(stage.statuses("/a/", &gold, 6), [200, 200, 200, 200, 429, 429]);
    assert_eq!(stage.statuses("/b/", &gold, 1), [403]);
    let counted = stage.key(&["counted"]);
    assert_eq!(stage.statuses("/a/", &counted, 4), [200, 200, 403, 403]);
    let shown = stage.gateway.control("GET", &format!("/tyk/keys/{gold}"), "").json();
    assert_eq!((&shown["rate"], &shown["per"], &shown["apply_policies"]), (&json!(4), &json!(3600), &json!(["gold"])));
    assert_eq!(shown["access_rights"]["a"]["api_id"], "a");
}

#[test]
fn a_file_may_hold_all_policies() {
    let upstream = Upstream::ok();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("policies.json");
    let document = |rate: i64| json!({"silver": policy("", "a", json!({"rate": rate, "per": 3600}))}).to_string();
    fs::write(&file, document(2)).expect("a file");
    let conf = json!({"policies": {"policy_source": "file", "policy_record_name": file}});
    let gateway = Gateway::start(conf, [keyed("a", &upstream)]);
    let body = json!({"org_id": "default", "apply_policies": ["silver"]});
    let key = create(&gateway, &body);
    assert_eq!([0; 3].map(|_| call(&gateway, "/a/", &key).status), [200, 200, 429]);
    fs::write(&file, document(1)).expect("a file");
    gateway.reload();
    let key = create(&gateway, &body);
    assert_eq!([0; 3].map(|_| call(&gateway, "/a/", &key).status), [200, 429, 429]);
}

#[test]
fn the_older_name_of_the_list_works_too() {
    let stage = Stage::with(&[policy("gold", "a", json!({"rate": 1, "per": 3600}))]);
    let key = create(&stage.gateway, &json!({"org_id": "default", "apply_policy_id": "gold"}));
    assert_eq!(stage.statuses("/a/", &key, 2), [200, 429]);
}

#[test]
fn a_policy_overrules_what_the_key_says() {
    let stage = Stage::with(&[policy("gold", "a", json!({"rate": 3, "per": 3600}))]);
    let key = create(&stage.gateway, &session(json!({"rate": 1, "per": 3600, "apply_policies": ["gold"]})));
    assert_eq!(stage.statuses("/a/", &key, 4), [200, 200, 200, 429]);
}

#[test]
fn of_several_policies_rights_add_up_and_the_highest_limit_holds() {
    let stage = Stage::with(&[
        policy("few", "a", json!({"rate": 1, "per": 3600, "tags": ["x"], "meta_data": {"one": "1"}})),
        policy("many", "a", json!({"rate": 3, "per": 3600, "tags": ["y"], "meta_data": {"two": "2"}})),
        policy("other", "b", json!({"rate": 2, "per": 3600})),
    ]);
    for ids in [["few", "many"], ["many", "few"]] {
        let key = stage.key(&ids);
        assert_eq!(stage.statuses("/a/", &key, 4), [200, 200, 200, 429], "{ids:?}");
        let shown = stage.gateway.control("GET", &format!("/tyk/keys/{key}"), "").json();
        let mut tags: Vec<&str> = shown["tags"].as_array().expect("tags").iter().filter_map(Value::as_str).collect();
        tags.sort_unstable();
        assert_eq!(tags, ["x", "y"]);
        assert_eq!(shown["meta_data"], json!({"one": "1", "two": "2"}));
    }
    let key = stage.key(&["few", "other"]);
    assert_eq!((stage.statuses("/a/", &key, 1), stage.statuses("/b/", &key, 1)), (vec![200], vec![200]));
}

#[test]
fn partitions_take_only_their_part() {
    let stage = Stage::with(&[
        policy(
            "quota",
            "a",
            json!({"quota_max": 2, "quota_renewal_rate": 3600, "rate": 1, "per": 3600, "partitions": {"quota": true}}),
        ),
        policy(
            "rate",
            "a",
            json!({"rate": 3, "per": 3600, "quota_max": 1, "quota_renewal_rate": 3600, "partitions": {"rate_limit": true}}),
        ),
        policy("acl", "b", json!({"rate": 1, "per": 3600, "partitions": {"acl": true}})),
    ]);
    let key = create(&stage.gateway, &session(json!({"apply_policies": ["quota"]})));
    assert_eq!(stage.statuses("/a/", &key, 4), [200, 200, 403, 403]);
    let key = create(&stage.gateway, &session(json!({"apply_policies": ["rate"]})));
    assert_eq!(stage.statuses("/a/", &key, 5), [200, 200, 200, 429, 429]);
    let key = stage.key(&["acl"]);
    assert_eq!((stage.statuses("/b/", &key, 3), stage.statuses("/a/", &key, 1)), (vec![200; 3], vec![403]));
}

#[test]
fn a_policy_of_the_control_api_is_in_effect_with_its_answer() {
    let stage = Stage::with(&[]);
    let gateway = &stage.gateway;
    let write = |method: &str, target: &str, policy: &Value| told(&gateway.control(method, target, &policy.to_string()));
    let made = policy("new", "a", json!({"quota_max": 10, "quota_renewal_rate": 3600}));
    assert_eq!(write("POST", "/tyk/policies", &made), (200, done("new", "added")));
    assert!(stage.folder.path().join("new.json").exists());
    let key = stage.key(&["new"]);
    assert_eq!(stage.left("/a/", &key), "9");

    let mut client = gateway.connect();
    let mut ask = |target: &str| client.ask(super::harness::keys::with_key(target, &key)).status;
    assert_eq!(ask("/a/"), 200);
    let changed = policy("new", "a", json!({"quota_max": 3, "quota_renewal_rate": 3600}));
    assert_eq!(write("PUT", "/tyk/policies/new", &changed), (200, done("new", "modified")));
    assert_eq!([ask("/a/"), ask("/a/")], [200, 403], "two of three were used before");

    assert_eq!(write("PUT", "/tyk/policies/new", &policy("new", "b", json!({}))), (200, done("new", "modified")));
    assert_eq!([ask("/a/"), ask("/b/")], [403, 200]);
    assert_eq!(
        write("PUT", "/tyk/policies/new", &policy("new", "b", json!({"is_inactive": true}))),
        (200, done("new", "modified"))
    );
    assert_eq!(ask("/b/"), 403);

    let shown = gateway.control("GET", "/tyk/policies/new", "");
    assert_eq!((shown.status, &shown.json()["is_inactive"]), (200, &json!(true)));
    let listed = gateway.control("GET", "/tyk/policies", "").json();
    assert_eq!(
        listed.as_array().map(|list| list.iter().map(|policy| policy["id"].clone()).collect::<Vec<_>>()),
        Some(vec![json!("new")])
    );
    assert_eq!(told(&gateway.control("DELETE", "/tyk/policies/new", "")), (200, done("new", "deleted")));
    assert_eq!(told(&gateway.control("GET", "/tyk/policies/new", "")), (404, refused("Policy not found")));
    assert!(!stage.folder.path().join("new.json").exists());
    assert_ne!(ask("/b/"), 200, "a key whose only policy is gone is let in nowhere");
}

#[test]
fn a_file_that_changes_is_in_effect_after_a_reload() {
    let stage = Stage::with(&[policy("gold", "a", json!({"quota_max": 10, "quota_renewal_rate": 3600}))]);
    let key = stage.key(&["gold"]);
    assert_eq!(stage.left("/a/", &key), "9");
    let changed = policy("gold", "a", json!({"quota_max": 20, "quota_renewal_rate": 3600}));
    fs::write(stage.folder.path().join("gold.json"), changed.to_string()).expect("a policy");
    assert_eq!(stage.left("/a/", &key), "8");
    stage.gateway.reload();
    assert_eq!(stage.left("/a/", &key), "17");
}

#[test]
fn a_policy_that_is_not_there_is_named() {
    let stage = Stage::with(&[policy("gold", "a", json!({})), policy("foreign", "a", json!({"org_id": "elsewhere"}))]);
    let cases = [
        (json!(["none"]), "Failed to create key - policy not found: \\\"none\\\""),
        (json!(["none", "neither"]), "Failed to create key - key has no valid policies to be applied"),
        (json!(["foreign"]), "Failed to create key - attempting to apply policy from different organisation to key, skipping"),
    ];
    for (ids, message) in cases {
        let body = session(json!({"apply_policies": ids})).to_string();
        let expect = (500, format!("{{\"status\":\"error\",\"message\":\"{message}\"}}\n"));
        assert_eq!(told(&stage.gateway.control("POST", "/tyk/keys/create", &body)), expect, "{ids}");
        assert_eq!(told(&stage.gateway.control("POST", "/tyk/keys/named", &body)), expect, "{ids}");
    }
    let key = stage.key(&["none", "gold"]);
    assert_eq!(stage.statuses("/a/", &key, 1), [200], "of several, the unknown ones are passed over");
    assert_eq!(stage.gateway.control("GET", "/tyk/keys", "").json(), json!({"keys": [key]}));
}

#[test]
fn a_policy_per_api_cannot_have_partitions() {
    let stage = Stage::with(&[policy("both", "a", json!({"partitions": {"per_api": true, "quota": true}}))]);
    let answer = stage.gateway.control("POST", "/tyk/keys/create", &session(json!({"apply_policies": ["both"]})).to_string());
    assert_eq!(answer.status, 500, "{answer}");
    assert!(answer.text().contains("Failed to create key - "), "{answer}");
}

#[test]
fn a_policy_per_api_counts_each_api_by_itself() {
    let limit = |rate: i64| json!({"rate": rate, "per": 3600, "quota_max": -1});
    let mut both = policy("each", "a", json!({"partitions": {"per_api": true}}));
    both["access_rights"]["a"]["limit"] = limit(2);
    both["access_rights"]["b"] = json!({"api_id": "b", "versions": ["Default"], "limit": limit(1)});
    let stage = Stage::with(&[both]);
    let key = stage.key(&["each"]);
    assert_eq!(stage.statuses("/a/", &key, 3), [200, 200, 429]);
    assert_eq!(stage.statuses("/b/", &key, 3), [200, 429, 429]);
}

#[test]
fn the_apis_of_one_policy_share_its_limit() {
    let mut both = policy("both", "a", json!({"rate": 3, "per": 3600}));
    both["access_rights"]["b"] = json!({"api_id": "b", "versions": ["Default"]});
    let stage = Stage::with(&[both]);
    let key = stage.key(&["both"]);
    let statuses = ["/a/", "/b/", "/a/", "/b/"].map(|target| call(&stage.gateway, target, &key).status);
    assert_eq!(statuses, [200, 200, 200, 429]);
}

#[test]
fn an_inactive_policy_makes_its_keys_inactive() {
    let stage = Stage::with(&[policy("off", "a", json!({"is_inactive": true}))]);
    let key = stage.key(&["off"]);
    let response = call(&stage.gateway, "/a/", &key);
    assert_eq!((response.status, response.text()), (403, error_json("Key is inactive, please renew")));
}

#[test]
fn a_policy_says_how_long_its_keys_live() {
    let stage = Stage::with(&[policy("short", "a", json!({"key_expires_in": 2}))]);
    let key = stage.key(&["short"]);
    assert_eq!(stage.statuses("/a/", &key, 1), [200]);
    super::harness::eventually("the key has expired", || call(&stage.gateway, "/a/", &key).status == 401);
}

#[test]
fn a_key_is_given_other_policies_by_its_hash() {
    let folder = tempfile::tempdir().expect("a folder");
    for (id, api) in [("one", "a"), ("two", "b")] {
        fs::write(folder.path().join(format!("{id}.json")), policy(id, api, json!({})).to_string()).expect("a policy");
    }
    let upstream = Upstream::ok();
    let conf = json!({"hash_keys": true, "policies": {"policy_source": "file", "policy_path": folder.path()}});
    let gateway = Gateway::start(conf, [keyed("a", &upstream), keyed("b", &upstream)]);
    let body = json!({"org_id": "default", "apply_policies": ["one"]}).to_string();
    let answer = gateway.control("POST", "/tyk/keys/create", &body).json();
    let (key, hash) = (answer["key"].as_str().unwrap(), answer["key_hash"].as_str().unwrap());
    let let_in = || ["/a/", "/b/"].map(|target| call(&gateway, target, key).status);
    assert_eq!(let_in(), [200, 403]);
    let path = format!("/tyk/keys/policy/{hash}");
    let give = |body: Value| told(&gateway.control("POST", &path, &body.to_string()));
    assert_eq!(give(json!({"policy": "two"})), (200, done(hash, "updated")));
    assert_eq!(let_in(), [403, 200]);
    assert_eq!(give(json!({"apply_policies": ["one", "two"]})), (200, done(hash, "updated")));
    assert_eq!(let_in(), [200, 200]);
    assert_eq!(gateway.control("POST", &path, "{").status, 400);
    assert_eq!(gateway.control("POST", "/tyk/keys/policy/00000000", &json!({"policy": "two"}).to_string()).status, 404);
    assert_eq!(let_in(), [200, 200]);
}

#[test]
fn a_preview_shows_what_policies_make_of_a_session() {
    let stage = Stage::with(&[policy("gold", "a", json!({"rate": 7, "per": 60, "tags": ["gold"]}))]);
    let answer =
        stage.gateway.control("POST", "/tyk/keys/preview", &json!({"org_id": "default", "apply_policies": ["gold"]}).to_string());
    assert_eq!(answer.status, 200, "{answer}");
    let shown = answer.json();
    assert_eq!((&shown["rate"], &shown["tags"]), (&json!(7), &json!(["gold"])), "{answer}");
    assert_eq!(shown["access_rights"]["a"]["limit"]["rate"], 7, "{answer}");
    assert_eq!(stage.gateway.control("GET", "/tyk/keys", "").json(), json!({"keys": []}));
}

#[test]
fn a_broken_policy_is_refused_and_the_last_good_one_holds() {
    let stage = Stage::with(&[policy("gold", "a", json!({"quota_max": 10, "quota_renewal_rate": 3600}))]);
    let gateway = &stage.gateway;
    let key = stage.key(&["gold"]);
    for body in ["", "{", "[]", "7", "{\"id\": 7}", "{\"id\": \"gold\", \"rate\": \"5\"}"] {
        assert_eq!(told(&gateway.control("POST", "/tyk/policies", body)), (400, refused("Request malformed")), "{body}");
        assert_eq!(told(&gateway.control("PUT", "/tyk/policies/gold", body)), (400, refused("Request malformed")), "{body}");
    }
    let mismatch = "Request ID does not match that in policy! For Update operations these must match.";
    let other = policy("other", "a", json!({})).to_string();
    assert_eq!(told(&gateway.control("PUT", "/tyk/policies/gold", &other)), (400, refused(mismatch)));
    assert_eq!(told(&gateway.control("DELETE", "/tyk/policies/none", "")), (500, refused("Delete failed")));
    assert_eq!(told(&gateway.control("GET", "/tyk/policies/none", "")), (404, refused("Policy not found")));
    assert_eq!(stage.left("/a/", &key), "9");

    fs::write(stage.folder.path().join("gold.json"), "{\"id\": \"gold\", ").expect("a policy");
    let answer = gateway.control("GET", "/tyk/reload/?block=true", "");
    assert!(answer.text().contains("gold.json"), "{answer}");
    assert_eq!(stage.left("/a/", &key), "8");
}

#[test]
fn a_policys_id_cannot_lead_out_of_the_folder() {
    let stage = Stage::with(&[]);
    for id in ["../escaped", "a/b", "..", "/etc/escaped", "nul\u{0}byte"] {
        let answer = stage.gateway.control("POST", "/tyk/policies", &policy(id, "a", json!({})).to_string());
        assert!(matches!(answer.status, 200 | 400), "{id}: {answer}");
    }
    assert!(!stage.folder.path().parent().unwrap().join("escaped.json").exists());
    for target in ["/tyk/policies/..%2Fescaped", "/tyk/policies/%2e%2e"] {
        assert!(stage.gateway.control("GET", target, "").status >= 400, "{target}");
        assert!(stage.gateway.control("DELETE", target, "").status >= 400, "{target}");
    }
}

#[test]
fn of_several_policies_the_more_generous_endpoint_counts() {
    let with_rate = |id: &str, rate: i64| {
        let endpoints = json!([{"path": "/x", "methods": [{"name": "GET", "limit": {"rate": rate, "per": 3600}}]}]);
        policy(id, "a", json!({"rate": 50, "per": 3600, "access_rights": {"a": {"endpoints": endpoints}}}))
    };
    let stage = Stage::with(&[with_rate("low", 1), with_rate("high", 3)]);
    let key = stage.key(&["low", "high"]);
    assert_eq!(stage.statuses("/a/x", &key, 5), [200, 200, 200, 429, 429]);
    assert_eq!(stage.statuses("/a/y", &key, 5), [200; 5]);
}

#[test]
fn a_policy_that_is_not_there_may_come_later() {
    let stage = Stage::with(&[policy("gold", "a", json!({}))]);
    let key = create(&stage.gateway, &json!({"org_id": "default", "apply_policies": ["gold"]}));
    let give = |policies: Value| told(&stage.gateway.control("POST", &format!("/tyk/keys/policy/{key}"), &policies.to_string()));
    assert_eq!(give(json!({"apply_policies": ["later"]})), (200, done(&key, "updated")));
    assert_eq!(call(&stage.gateway, "/a/", &key).status, 403, "until then the key is refused");
    assert_eq!(give(json!({"policy": "gold"})), (200, done(&key, "updated")));
    assert_eq!(call(&stage.gateway, "/a/", &key).status, 200);
    let session = json!({"org_id": "default", "apply_policies": ["later"], "quota_max": 5});
    let preview = stage.gateway.control("POST", "/tyk/keys/preview", &session.to_string());
    assert_eq!((preview.status, &preview.json()["quota_max"]), (200, &json!(5)), "{preview}");
}
