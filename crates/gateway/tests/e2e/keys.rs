//! Keys as their operators handle them: made, named, shown, changed and deleted through the control API.

use serde_json::{Value, json};

use crate::harness::{Gateway, Shared, Upstream, api, error_json, request};

pub(crate) use crate::harness::keys::{call, create, done, keyed, refused, session, session_for, told, with_key};

pub(crate) fn start(conf: Value) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(conf, [keyed("a", &upstream)]);
    (upstream, gateway)
}

/// For tests whose keys no other test names, and that list none.
static PLAIN: Shared = Shared::new(|| start(json!({})));
static HASHED: Shared = Shared::new(|| start(hashed()));

pub(crate) fn hashed() -> Value {
    json!({"hash_keys": true, "enable_hashed_keys_listing": true})
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[test]
fn a_created_key_is_told_and_serves_at_once() {
    let shared = PLAIN.turn();
    let (upstream, gateway) = (&shared.upstream, &shared.gateway);
    let answer = gateway.control("POST", "/tyk/keys/create", &session(json!({})).to_string());
    let key = answer.json()["key"].as_str().expect("a key").to_owned();
    assert_eq!(told(&answer), (200, done(&key, "added")));
    let random = key.strip_prefix("default").expect("the organisation first");
    assert!(random.len() == 32 && is_hex(random), "{key}");
    assert_eq!(call(gateway, "/a/x", &key).status, 200);
    assert_eq!(upstream.last().target, "/x");
    assert_ne!(create(gateway, &session(json!({}))), key, "no two are alike");
}

#[test]
fn a_created_key_comes_with_its_hash_when_keys_are_hashed() {
    let shared = HASHED.turn();
    let gateway = &shared.gateway;
    let answer = gateway.control("POST", "/tyk/keys/create", &session(json!({})).to_string());
    let (key, hash) = (answer.json()["key"].clone(), answer.json()["key_hash"].clone());
    let (key, hash) = (key.as_str().expect("a key"), hash.as_str().expect("a hash"));
    assert!(hash.len() == 8 && is_hex(hash), "{answer}");
    let expect = format!("{{\"key\":\"{key}\",\"status\":\"ok\",\"action\":\"added\",\"key_hash\":\"{hash}\"}}\n");
    assert_eq!(told(&answer), (200, expect));
    assert_eq!(call(gateway, "/a/", key).status, 200);
    assert_eq!(call(gateway, "/a/", hash).status, 403, "the hash is no key");
}

#[test]
fn the_walk_through_of_the_full_load_case_works_as_written() {
    let upstream = Upstream::ok();
    let conf = json!({"hash_keys": true, "secret": "352d20ee67be67f6340b4c0605b044b7"});
    let definition = api("2", "/auth_api_test/", &upstream.url()).with_keys();
    let gateway = Gateway::start(conf, [definition]);
    let body = json!({
        "access_rights": {"2": {
            "allowed_urls": [], "api_id": "2", "api_name": "Tyk Auth API", "limit": null, "versions": ["Default"]
        }},
        "allowance": 100_000, "expires": 0, "org_id": "default", "per": 1, "quota_max": -1, "quota_remaining": -1,
        "quota_renewal_rate": -1, "quota_renews": 1_568_655_187, "rate": 100_000, "throttle_interval": -1, "throttle_retry_limit": -1
    });
    // As curl sends it: the body is labelled as a form.
    let lines = ["x-tyk-authorization:352d20ee67be67f6340b4c0605b044b7", "Content-Type: application/x-www-form-urlencoded"];
    let answer = gateway.send(request("POST", "/tyk/keys/create", &lines, &body.to_string()));
    assert_eq!(answer.status, 200, "{answer}");
    let key = answer.json()["key"].as_str().expect("a key").to_owned();
    assert_eq!((key.len(), answer.json()["key_hash"].as_str().map(str::len)), (39, Some(8)), "{answer}");
    let mut client = gateway.connect();
    for _ in 0..200 {
        let response = client.ask(with_key("/auth_api_test/json/valid", &key));
        assert_eq!(response.status, 200, "{response}");
        let shown = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"].map(|name| response.header(name));
        assert_eq!(shown, [Some("-1"), Some("-1"), Some("1568655187")]);
    }
    assert_eq!((upstream.requests(), upstream.last().target.as_str()), (200, "/json/valid"));
}

#[test]
fn a_key_may_be_named_by_its_operator_and_is_accepted_with_and_without_the_organisation() {
    for conf in [json!({}), hashed()] {
        let (_upstream, gateway) = start(conf.clone());
        let answer = gateway.control("POST", "/tyk/keys/mykey", &session(json!({})).to_string());
        assert_eq!(answer.status, 200, "{answer}");
        assert_eq!((&answer.json()["key"], &answer.json()["action"]), (&json!("defaultmykey"), &json!("added")), "{conf}");
        assert_eq!(answer.json().get("key_hash").is_some(), conf["hash_keys"] == true);
        for (key, status) in [("mykey", 200), ("defaultmykey", 200), ("mykey2", 403), ("mykez", 403), ("defaultdefaultmykey", 403)]
        {
            assert_eq!(call(&gateway, "/a/", key).status, status, "{key} {conf}");
        }
        assert_eq!(told(&gateway.control("GET", "/tyk/keys/mykey", "")), (404, refused("Key not found")));
        assert_eq!(gateway.control("GET", "/tyk/keys/mykey?org_id=default", "").status, 200);
        assert_eq!(gateway.control("GET", "/tyk/keys/defaultmykey", "").status, 200);
    }
}

#[test]
fn a_key_is_changed_and_the_change_holds_for_the_next_request() {
    let shared = HASHED.turn();
    let gateway = &shared.gateway;
    let key = create(gateway, &session(json!({})));
    let path = format!("/tyk/keys/{key}");
    let inactive = session(json!({"is_inactive": true})).to_string();
    assert_eq!(told(&gateway.control("PUT", &path, &inactive)), (200, done(&key, "modified")), "and no hash is told");
    assert_eq!(call(gateway, "/a/", &key).status, 403);
    assert_eq!(gateway.control("GET", &path, "").json()["is_inactive"], true);
    assert_eq!(gateway.control("PUT", &path, &session(json!({"alias": "back"})).to_string()).status, 200);
    assert_eq!(call(gateway, "/a/", &key).status, 200);
    assert_eq!(gateway.control("GET", &path, "").json()["alias"], "back");
}

#[test]
fn a_change_begins_the_quota_anew_unless_it_is_told_not_to() {
    let shared = PLAIN.turn();
    let gateway = &shared.gateway;
    let quota = session(json!({"quota_max": 10, "quota_renewal_rate": 3600}));
    let key = create(gateway, &quota);
    let left = || gateway.control("GET", &format!("/tyk/keys/{key}"), "").json()["quota_remaining"].clone();
    assert_eq!(left(), 10);
    for expect in [9, 8, 7] {
        assert_eq!(call(gateway, "/a/", &key).status, 200);
        assert_eq!(left(), expect, "what is shown is live");
    }
    assert_eq!(gateway.control("PUT", &format!("/tyk/keys/{key}?suppress_reset=1"), &quota.to_string()).status, 200);
    assert_eq!(left(), 7);
    assert_eq!(call(gateway, "/a/", &key).header("x-ratelimit-remaining"), Some("6"));
    assert_eq!(gateway.control("PUT", &format!("/tyk/keys/{key}"), &quota.to_string()).status, 200);
    assert_eq!(left(), 10);
    assert_eq!(call(gateway, "/a/", &key).header("x-ratelimit-remaining"), Some("9"));
}

#[test]
fn a_key_is_found_by_its_hash() {
    let shared = HASHED.turn();
    let gateway = &shared.gateway;
    let answer = gateway.control("POST", "/tyk/keys/create", &session(json!({"alias": "found"})).to_string()).json();
    let (key, hash) = (answer["key"].as_str().unwrap(), answer["key_hash"].as_str().unwrap());
    for target in [format!("/tyk/keys/{key}"), format!("/tyk/keys/{hash}?hashed=true")] {
        let shown = gateway.control("GET", &target, "");
        assert_eq!((shown.status, &shown.json()["alias"]), (200, &json!("found")), "{target}: {shown}");
    }
    assert_eq!(gateway.control("GET", &format!("/tyk/keys/{hash}"), "").status, 404);
    let changed = session(json!({"alias": "changed"})).to_string();
    assert_eq!(gateway.control("PUT", &format!("/tyk/keys/{hash}?hashed=1"), &changed).status, 200);
    assert_eq!(gateway.control("GET", &format!("/tyk/keys/{key}"), "").json()["alias"], "changed");
    assert_eq!(call(gateway, "/a/", key).status, 200);
    assert_eq!(told(&gateway.control("DELETE", &format!("/tyk/keys/{hash}?hashed=true"), "")), (200, done(hash, "deleted")));
    assert_eq!(call(gateway, "/a/", key).status, 403);
}

#[test]
fn without_hashing_nothing_is_found_by_a_hash() {
    let shared = PLAIN.turn();
    let gateway = &shared.gateway;
    let message = "Key requested by hash but key hashing is not enabled";
    assert_eq!(told(&gateway.control("GET", "/tyk/keys/49cb96ec?hashed=true", "")), (400, refused(message)));
}

#[test]
fn keys_are_listed_themselves_or_by_their_hashes_where_that_is_allowed() {
    let (_upstream, gateway) = start(json!({}));
    assert_eq!(told(&gateway.control("GET", "/tyk/keys", "")), (200, "{\"keys\":[]}\n".to_owned()));
    for id in ["one", "two", "three"] {
        assert_eq!(gateway.control("POST", &format!("/tyk/keys/{id}"), &session(json!({})).to_string()).status, 200);
    }
    let listed = |target: &str| -> Vec<String> {
        let answer = gateway.control("GET", target, "").json();
        let mut keys: Vec<String> =
            answer["keys"].as_array().expect("a list").iter().map(|key| key.as_str().unwrap().to_owned()).collect();
        keys.sort();
        keys
    };
    assert_eq!(listed("/tyk/keys"), ["defaultone", "defaultthree", "defaulttwo"]);
    assert_eq!(listed("/tyk/keys/?filter=defaultt"), ["defaultthree", "defaulttwo"]);

    let (_upstream, gateway) = start(hashed());
    let answer = gateway.control("POST", "/tyk/keys/one", &session(json!({})).to_string()).json();
    assert_eq!(gateway.control("GET", "/tyk/keys", "").json(), json!({"keys": [answer["key_hash"]]}));

    let (_upstream, gateway) = start(json!({"hash_keys": true}));
    create(&gateway, &session(json!({})));
    let message = "Hashed key listing is disabled in config (enable_hashed_keys_listing)";
    assert_eq!(told(&gateway.control("GET", "/tyk/keys", "")), (404, refused(message)));
}

#[test]
fn a_deleted_key_is_refused_by_the_next_request_on_every_connection() {
    for hash_keys in [false, true] {
        let (_upstream, gateway) = start(json!({"hash_keys": hash_keys, "tollgate": {"threads": 4}}));
        for _ in 0..5 {
            let key = create(&gateway, &session(json!({"quota_max": 1000, "quota_renewal_rate": 3600})));
            let mut clients: Vec<_> = (0..16).map(|_| gateway.connect()).collect();
            for client in &mut clients {
                assert_eq!(client.ask(with_key("/a/", &key)).status, 200);
            }
            assert_eq!(told(&gateway.control("DELETE", &format!("/tyk/keys/{key}"), "")), (200, done(&key, "deleted")));
            for client in &mut clients {
                let response = client.ask(with_key("/a/", &key));
                assert_eq!((response.status, response.text()), (403, error_json("Access to this API has been disallowed")));
            }
            assert_eq!(gateway.control("GET", &format!("/tyk/keys/{key}"), "").status, 404);
        }
    }
}

#[test]
fn a_key_that_is_made_again_begins_with_a_whole_quota() {
    let shared = PLAIN.turn();
    let gateway = &shared.gateway;
    let quota = session(json!({"quota_max": 2, "quota_renewal_rate": 3600})).to_string();
    for _ in 0..3 {
        assert_eq!(gateway.control("POST", "/tyk/keys/again", &quota).status, 200);
        let statuses = [0; 3].map(|_| call(gateway, "/a/", "again").status);
        assert_eq!(statuses, [200, 200, 403]);
        assert_eq!(gateway.control("DELETE", "/tyk/keys/again?org_id=default", "").status, 200);
    }
}

#[test]
fn what_is_not_there_cannot_be_read_changed_or_deleted() {
    let (_upstream, gateway) = start(hashed());
    let body = session(json!({})).to_string();
    for id in ["defaultnone", "none", "x", "%20", "none?hashed=true"] {
        let path = format!("/tyk/keys/{id}");
        assert_eq!(told(&gateway.control("GET", &path, "")), (404, refused("Key not found")), "{id}");
        assert_eq!(told(&gateway.control("PUT", &path, &body)), (404, refused("Key is not found")), "{id}");
        assert_eq!(told(&gateway.control("DELETE", &path, "")), (404, refused("There is no such key found")), "{id}");
    }
    assert_eq!(gateway.control("GET", "/tyk/keys", "").json(), json!({"keys": []}));
}

/// Bodies that are no session: broken, of another kind, with fields of wrong types.
const NO_SESSIONS: [&str; 12] = [
    "",
    "{",
    "[]",
    "7",
    "\"text\"",
    "not json",
    "{\"rate\": \"5\"}",
    "{\"access_rights\": []}",
    "{\"expires\": {}}",
    "{\"quota_max\": 1e400}",
    "{\"is_inactive\": 1}",
    "{\"access_rights\": {\"a\": {\"versions\": \"Default\"}}}",
];

#[test]
fn a_body_that_is_no_session_makes_no_key() {
    let (_upstream, gateway) = start(json!({}));
    for body in NO_SESSIONS {
        assert_eq!(told(&gateway.control("POST", "/tyk/keys/create", body)), (500, refused("Unmarshalling failed")), "{body}");
    }
    assert_eq!(gateway.control("GET", "/tyk/keys", "").json(), json!({"keys": []}));
}

#[test]
fn a_number_that_fits_nowhere_is_no_session() {
    let shared = PLAIN.turn();
    let gateway = &shared.gateway;
    for field in ["quota_max", "quota_renewal_rate", "expires"] {
        for number in ["99999999999999999999999", "-99999999999999999999999", "9223372036854775808"] {
            let fields = format!("\"org_id\":\"default\",\"{field}\":{number}");
            let body = format!("{{{fields},\"access_rights\":{{\"a\":{{\"api_id\":\"a\",\"versions\":[\"Default\"]}}}}}}");
            assert_eq!(told(&gateway.control("POST", "/tyk/keys/big", &body)), (400, refused("Request malformed")), "{body}");
        }
    }
}

#[test]
fn a_body_that_is_no_session_neither_makes_nor_changes_a_named_key() {
    let (_upstream, gateway) = start(json!({}));
    let key = create(&gateway, &session(json!({"alias": "kept"})));
    for body in NO_SESSIONS {
        for (method, id) in [("POST", "other"), ("POST", key.as_str()), ("PUT", key.as_str())] {
            let answer = gateway.control(method, &format!("/tyk/keys/{id}"), body);
            assert_eq!(told(&answer), (400, refused("Request malformed")), "{method} {id} {body}");
        }
    }
    assert_eq!(gateway.control("GET", &format!("/tyk/keys/{key}"), "").json()["alias"], "kept");
    assert_eq!(gateway.control("GET", "/tyk/keys", "").json(), json!({"keys": [key]}));
}

#[test]
fn a_key_without_access_rights_is_made_only_where_master_keys_are_allowed() {
    let message = "Failed to create key, keys must have at least one Access Rights record set.";
    let (_upstream, gateway) = start(json!({}));
    for body in
        [json!({}), json!({"org_id": "default"}), json!({"org_id": "default", "access_rights": {}}), json!({"access_rights": null})]
    {
        assert_eq!(told(&gateway.control("POST", "/tyk/keys/create", &body.to_string())), (400, refused(message)), "{body}");
        assert_eq!(told(&gateway.control("POST", "/tyk/keys/named", &body.to_string())), (400, refused(message)), "{body}");
    }
    assert_eq!(call(&gateway, "/a/", "named").status, 403);

    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({"allow_master_keys": true}), [keyed("a", &upstream), keyed("b", &upstream)]);
    let key = create(&gateway, &json!({"org_id": "default"}));
    assert_eq!((call(&gateway, "/a/", &key).status, call(&gateway, "/b/", &key).status), (200, 200));
}

#[test]
fn a_key_that_is_too_short_is_not_made() {
    let (_upstream, gateway) = start(json!({}));
    let body = session(json!({})).to_string();
    assert_eq!(gateway.control("POST", "/tyk/keys/ab", &body).status, 400);
    assert_eq!(gateway.control("POST", "/tyk/keys/abc", &body).status, 200);
    let (_upstream, gateway) = start(json!({"min_token_length": 10}));
    assert_eq!(gateway.control("POST", "/tyk/keys/ninechars", &body).status, 400);
    assert_eq!(gateway.control("POST", "/tyk/keys/ten-chars-", &body).status, 200);
}

#[test]
fn a_preview_shows_a_session_and_makes_nothing() {
    let (_upstream, gateway) = start(json!({}));
    let answer = gateway.control("POST", "/tyk/keys/preview", &session(json!({"rate": 5, "per": 2})).to_string());
    assert_eq!(answer.status, 200, "{answer}");
    assert_eq!((&answer.json()["rate"], &answer.json()["per"]), (&json!(5), &json!(2)), "{answer}");
    assert_eq!(answer.json()["access_rights"]["a"]["api_id"], "a");
    assert_eq!(gateway.control("GET", "/tyk/keys", "").json(), json!({"keys": []}));
}

#[test]
fn keys_are_handled_only_with_the_secret_and_the_right_method() {
    let shared = PLAIN.turn();
    let gateway = &shared.gateway;
    let key = create(gateway, &session(json!({})));
    let own = format!("/tyk/keys/{key}");
    for (method, target) in
        [("GET", "/tyk/keys"), ("POST", "/tyk/keys/create"), ("GET", &own), ("DELETE", &own), ("POST", "/tyk/keys/preview")]
    {
        let answer = gateway.send(request(method, target, &["x-tyk-authorization: wrong"], ""));
        let message = "Attempted administrative access with invalid or missing key!";
        assert_eq!(told(&answer), (403, refused(message)), "{method} {target}");
    }
    for (method, target) in
        [("DELETE", "/tyk/keys"), ("GET", "/tyk/keys/bulk"), ("GET", "/tyk/keys/create"), ("GET", "/tyk/keys/preview")]
    {
        let answer = gateway.control(method, target, "");
        assert_eq!(told(&answer), (405, refused("Method not supported")), "{method} {target}");
    }
    assert_eq!(call(gateway, "/a/", &key).status, 200);
}

#[test]
fn unknown_fields_of_a_session_are_kept() {
    let shared = PLAIN.turn();
    let gateway = &shared.gateway;
    let key = create(gateway, &session(json!({"from_elsewhere": {"x": [1]}, "meta_data": {"team": "blue"}, "tags": ["t"]})));
    let shown = gateway.control("GET", &format!("/tyk/keys/{key}"), "").json();
    assert_eq!(
        (&shown["from_elsewhere"], &shown["meta_data"], &shown["tags"]),
        (&json!({"x": [1]}), &json!({"team": "blue"}), &json!(["t"]))
    );
}

#[test]
fn keys_are_listed_by_the_api_that_they_may_call_and_by_how_they_begin() {
    for conf in [
        json!({"allow_master_keys": true}),
        json!({"allow_master_keys": true, "hash_keys": true, "enable_hashed_keys_listing": true}),
    ] {
        let upstream = Upstream::ok();
        let gateway = Gateway::start(conf.clone(), [keyed("a", &upstream), keyed("b", &upstream)]);
        let shown = |session: Value| -> String {
            let answer = gateway.control("POST", "/tyk/keys/create", &session.to_string()).json();
            answer.get("key_hash").unwrap_or(&answer["key"]).as_str().expect("a key").to_owned()
        };
        let (only_a, only_b) = (shown(session_for(&["a"], json!({}))), shown(session_for(&["b"], json!({}))));
        let (both, master) = (shown(session_for(&["a", "b"], json!({}))), shown(json!({"org_id": "default"})));
        let listed = |query: &str| -> Value { gateway.control("GET", &format!("/tyk/keys{query}"), "").json()["keys"].clone() };
        let sorted = |mut keys: Vec<&String>| {
            keys.sort();
            json!(keys)
        };
        assert_eq!(listed("?api_id=a"), sorted(vec![&only_a, &both, &master]), "{conf}");
        assert_eq!(listed("?api_id=b"), sorted(vec![&only_b, &both, &master]), "{conf}");
        assert_eq!(listed("?api_id="), sorted(vec![&only_a, &only_b, &both, &master]), "{conf}");
        // Of hashes nothing is left out, as in Tyk.
        let is_hashed = conf["hash_keys"] == true;
        let expect = if is_hashed { sorted(vec![&only_a, &only_b, &both, &master]) } else { json!([only_a]) };
        assert_eq!(listed(&format!("?filter={only_a}")), expect, "{conf}");
    }
}

#[test]
fn a_key_is_also_made_under_the_path_of_all_keys() {
    let shared = PLAIN.turn();
    let gateway = &shared.gateway;
    let answer = gateway.control("POST", "/tyk/keys", &session(json!({})).to_string());
    let key = answer.json()["key"].as_str().expect("a key").to_owned();
    assert_eq!(told(&answer), (200, done(&key, "added")));
    assert_eq!(call(gateway, "/a/", &key).status, 200);
    assert_eq!(told(&gateway.control("POST", "/tyk/keys", "{")), (400, refused("Request malformed")));
}

#[test]
fn a_key_remembers_when_it_was_made() {
    let shared = PLAIN.turn();
    let gateway = &shared.gateway;
    let key = create(gateway, &session(json!({})));
    let path = format!("/tyk/keys/{key}");
    let made = gateway.control("GET", &path, "").json()["date_created"].clone();
    assert!(made.as_str().is_some_and(|date| date.len() == 20 && date.ends_with('Z')), "{made}");
    let changed = session(json!({"alias": "x", "date_created": "1999-01-01T00:00:00Z"}));
    assert_eq!(gateway.control("PUT", &path, &changed.to_string()).status, 200);
    assert_eq!(gateway.control("GET", &path, "").json()["date_created"], made);
}

#[test]
fn deleting_a_key_tells_its_whole_name() {
    let shared = PLAIN.turn();
    let gateway = &shared.gateway;
    gateway.control("POST", "/tyk/keys/mykey", &session(json!({})).to_string());
    assert_eq!(told(&gateway.control("DELETE", "/tyk/keys/mykey?org_id=default", "")), (200, done("defaultmykey", "deleted")));
}

#[test]
fn other_policies_do_not_change_how_a_hashed_key_is_shown() {
    let (_upstream, gateway) = start(hashed());
    let answer = gateway.control("POST", "/tyk/keys/create", &session(json!({})).to_string()).json();
    let (key, hash) = (answer["key"].as_str().unwrap(), answer["key_hash"].as_str().unwrap());
    assert_eq!(gateway.control("POST", &format!("/tyk/keys/policy/{key}"), "{}").status, 200);
    assert_eq!(gateway.control("GET", "/tyk/keys", "").json(), json!({"keys": [hash]}), "and the key itself is nowhere told");
}

#[test]
fn a_preview_needs_no_rights_and_says_what_is_no_session() {
    let shared = PLAIN.turn();
    let gateway = &shared.gateway;
    assert_eq!(gateway.control("POST", "/tyk/keys/preview", "{\"org_id\":\"default\"}").status, 200);
    assert_eq!(told(&gateway.control("POST", "/tyk/keys/preview", "{")), (500, refused("Unmarshalling failed")));
}
