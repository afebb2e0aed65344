//! Calls that the console's pages make besides those of other resources: lists, searches, chains with their cost, requests that are tried.

use serde_json::{Value, json};

use crate::console::{user, with_secret};
use crate::harness::{Gateway, Upstream, api, eventually, reply, request};
use crate::keys::{create, session_for};

fn rows(page: &Value) -> &Vec<Value> {
    page["rows"].as_array().expect("rows")
}

fn ids(page: &Value) -> Vec<&str> {
    rows(page).iter().filter_map(|row| row["id"].as_str()).collect()
}

#[test]
fn a_key_is_found_by_the_key_itself_without_an_address_that_names_it() {
    for hash_keys in [true, false] {
        let upstream = Upstream::ok();
        let gateway = Gateway::start(json!({"hash_keys": hash_keys}), [api("shop", "/shop/", &upstream.url()).with_keys()]);
        let keys: Vec<String> = (0..5)
            .map(|number| create(&gateway, &session_for(&["shop"], json!({"alias": format!("customer {number}")}))))
            .collect();
        let viewer = user(&gateway, "viewer");
        let find = |body: Value| viewer.call("POST", "/list/keys", &body.to_string());
        for body in [json!({"key": keys[3]}), json!({"q": keys[3]}), json!({"q": keys[3], "limit": 1})] {
            let answer = find(body.clone());
            let page = answer.json();
            assert_eq!((answer.status, &page["rows"][0]["alias"]), (200, &json!("customer 3")), "{body}: {answer}");
            assert!(!answer.text().contains(&keys[3]), "{body}: {answer}");
            // The row opens the key.
            let row = &page["rows"][0];
            let target = format!("/keys/{}?{}", row["id"].as_str().unwrap(), row["by"].as_str().unwrap());
            assert_eq!(viewer.call("GET", &target, "").json()["alias"], "customer 3", "{target}");
        }
        // By key and words: the key comes first, and once.
        let page = find(json!({"key": keys[3], "q": "customer"})).json();
        assert_eq!((rows(&page).len(), &page["rows"][0]["alias"], &page["next"]), (5, &json!("customer 3"), &json!("")), "{page}");
        assert_eq!(rows(&find(json!({"q": "customer 2"})).json()).len(), 1);
        assert_eq!(rows(&find(json!({"q": "nobody"})).json()).len(), 0);
        for (body, place) in [(json!({"limit": 0}), "limit"), (json!({"wrong": 1}), "wrong"), (json!({"sort": "alias"}), "sort")] {
            let answer = find(body.clone());
            assert!(answer.status == 400 && answer.text().contains(place), "{body}: {answer}");
        }
        // A search is no change.
        let changes = gateway.control("GET", "/tyk/list/changes", "").json();
        assert!(rows(&changes).iter().all(|row| row["target"] != "keys"), "{changes}");
    }
}

#[test]
fn clients_of_all_apis_and_gateways_are_lists() {
    let upstream = Upstream::ok();
    let provider = |id: &str| {
        api(id, &format!("/{id}/"), &upstream.url())
            .set("use_keyless", false)
            .set("use_oauth2", true)
            .set("oauth_meta/allowed_access_types", json!(["client_credentials"]))
    };
    let gateway = Gateway::start(json!({}), [provider("a"), provider("b"), api("shop", "/shop/", &upstream.url())]);
    for (api, client) in [("a", "two"), ("a", "one"), ("b", "three")] {
        let body = json!({"client_id": client, "api_id": api, "secret": "s3cret", "redirect_uri": "https://x.example/", "description": format!("the {client}")});
        assert_eq!(gateway.control("POST", "/tyk/oauth/clients/create", &body.to_string()).status, 200);
    }
    let list = |query: &str| gateway.control("GET", &format!("/tyk/list/clients{query}"), "");
    for (query, found) in [
        ("", vec!["one", "three", "two"]),
        ("?sort=-id", vec!["two", "three", "one"]),
        ("?sort=-api_id", vec!["three", "one", "two"]),
        ("?q=THE%20three", vec!["three"]),
        ("?q=nobody", vec![]),
        ("?limit=2", vec!["one", "three"]),
        ("?limit=2&after=2", vec!["two"]),
    ] {
        let answer = list(query);
        assert!(!answer.text().contains("s3cret"), "{answer}");
        assert_eq!(ids(&answer.json()), found, "{query}: {answer}");
    }
    let row = &list("?q=three").json()["rows"][0];
    assert_eq!((&row["api_id"], &row["public"], &row["redirect_uri"]), (&json!("b"), &json!(false), &json!("https://x.example/")));
    assert_eq!((list("?sort=secret").status, list("?after=api.x").status), (400, 400));

    let nodes = gateway.control("GET", "/tyk/list/nodes?sort=-apis", "").json();
    assert_eq!((rows(&nodes).len(), &nodes["rows"][0]["self"], &nodes["rows"][0]["apis"]), (1, &json!(true), &json!(3)), "{nodes}");
    assert_eq!(nodes["rows"][0]["id"], nodes["rows"][0]["node"]);
    assert_eq!(rows(&gateway.control("GET", "/tyk/list/nodes?q=no-such-gateway", "").json()).len(), 0);
}

#[test]
fn the_chain_of_an_api_tells_what_its_middlewares_cost() {
    let upstream = Upstream::ok();
    let definition = api("shop", "/shop/", &upstream.url()).with_keys();
    let gateway = Gateway::start(json!({"tollgate": {"threads": 1}}), [definition, api("open", "/open/", &upstream.url())]);
    let viewer = user(&gateway, "viewer");
    let chain = || viewer.call("GET", "/apis/shop/chain", "").json();
    let step = |chain: &Value, name: &str| -> Value {
        let steps = chain["middlewares"].as_array().unwrap();
        steps.iter().find(|step| step["name"] == name).unwrap_or_else(|| panic!("{name}: {chain}")).clone()
    };
    let before = chain();
    assert_eq!(step(&before, "TokenAuth"), json!({"name": "TokenAuth", "phase": "auth", "samples": 0, "mean_ns": null}));
    assert_eq!(step(&before, "KeyLimits")["phase"], "post_auth");
    assert_eq!(before["versions"][0]["middlewares"], before["middlewares"]);
    // The first request of each core is timed.
    gateway.get("/shop/");
    let after = step(&chain(), "TokenAuth");
    assert!(after["samples"] == 1 && after["mean_ns"].as_u64() > Some(0), "{after}");
    let open = viewer.call("GET", "/apis/open/chain", "").json();
    assert!(open["middlewares"].as_array().unwrap().iter().all(|step| step["phase"] != "auth"), "{open}");
    assert_eq!(viewer.call("GET", "/apis/nobody/chain", "").status, 404);
}

#[test]
fn a_request_that_is_tried_tells_what_each_middleware_decided_and_what_went_upstream() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(
        json!({}),
        [api("shop", "/shop/", &upstream.url())
            .with_keys()
            .set("strip_auth_data", true)
            .set("proxy/target_url", format!("{}/base", upstream.url()))
            .version("global_headers", json!({"X-Injected": "very secret"}))],
    );
    let key = create(&gateway, &session_for(&["shop"], json!({"alias": "acme", "rate": 2, "per": 60})));
    let editor = user(&gateway, "editor");
    let tried = |body: &Value, query: &str| {
        let answer = editor.call("POST", &format!("/debug{query}"), &body.to_string());
        assert_eq!(answer.status, 200, "{body}: {answer}");
        answer.json()
    };
    let body = json!({"api_id": "shop", "path": "/shop/things?page=2", "headers": {"Authorization": key, "X-Own": ["a", "b"]}});
    let first = tried(&body, "");
    assert_eq!((&first["status"], &first["api_id"], &first["routed"]), (&json!(200), &json!("shop"), &json!(true)), "{first}");
    let decisions: Vec<(&str, &str)> = first["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (step["name"].as_str().unwrap(), step["decision"].as_str().unwrap()))
        .collect();
    assert!(decisions.contains(&("TokenAuth", "next")) && decisions.contains(&("KeyLimits", "next")), "{first}");
    let sent = &first["upstream"];
    assert_eq!(
        (&sent["method"], &sent["path"], &sent["status"]),
        (&json!("GET"), &json!("/base/things?page=2"), &json!(200)),
        "{first}"
    );
    assert_eq!(sent["target"], upstream.url().trim_end_matches('/'), "{first}");
    let headers = sent["headers"].as_array().unwrap();
    assert!(headers.contains(&json!(["X-Injected", "********"])) && headers.contains(&json!(["X-Own", "b"])), "{first}");
    assert!(!first.to_string().contains("very secret") && !sent.to_string().contains(&key), "{first}");
    assert!(headers.iter().any(|line| line[0] == "X-Forwarded-For" && line[1] == "127.0.0.1"), "{first}");
    let second = tried(&body, "?reveal=true");
    assert!(second["upstream"]["headers"].as_array().unwrap().contains(&json!(["X-Injected", "very secret"])), "{second}");

    // It counts: the third one is over the limit.
    let third = tried(&body, "");
    let last = third["steps"].as_array().unwrap().last().unwrap();
    assert_eq!((&third["status"], &third["upstream"]), (&json!(429), &Value::Null), "{third}");
    assert_eq!(
        (&last["name"], &last["decision"], &last["cause"]),
        (&json!("KeyLimits"), &json!("refuse"), &json!("key_rate_limit")),
        "{third}"
    );
    assert_eq!(gateway.send(request("GET", "/shop/", &[&format!("Authorization: {key}")], "")).status, 429);

    let refused = tried(&json!({"path": "/shop/"}), "");
    assert_eq!(
        (&refused["status"], &refused["steps"].as_array().unwrap().last().unwrap()["cause"]),
        (&json!(401), &json!("auth_missing")),
        "{refused}"
    );
    let nowhere = tried(&json!({"path": "/nowhere"}), "");
    assert_eq!(
        (&nowhere["status"], &nowhere["routed"], &nowhere["api_id"]),
        (&json!(404), &json!(false), &Value::Null),
        "{nowhere}"
    );

    for (body, place) in [
        (json!({"path": "/tyk/apis"}), "$.path"),
        (json!({"path": "/shop/", "client_ip": "nobody"}), "$.client_ip"),
        (json!({"path": "shop"}), "$.path"),
        (json!({"path": "/shop/", "headers": {"A": "b\r\nC: d"}}), "$.headers.A"),
    ] {
        let answer = editor.call("POST", "/debug", &body.to_string());
        assert!(answer.status == 400 && answer.json()["message"].as_str().unwrap().starts_with(place), "{body}: {answer}");
    }
    assert_eq!(user(&gateway, "viewer").call("POST", "/debug", &body.to_string()).status, 403);
    eventually("the log of changes has them", || {
        let changes = gateway.control("GET", "/tyk/list/changes?q=debug", "").json();
        assert!(!changes.to_string().contains(&key), "{changes}");
        rows(&changes).iter().any(|row| row["user"] == "editor" && row["target"] == "GET /shop/things" && row["status"] == 429)
    });
}

#[test]
fn a_key_that_is_chosen_is_sent_and_not_shown_where_keys_are_not_hashed() {
    let echo = Upstream::start(|seen| reply("200 OK", &[], seen.header("Authorization").unwrap_or_default()));
    for hashed in [false, true] {
        let gateway = Gateway::start(json!({"hash_keys": hashed}), [api("shop", "/shop/", &echo.url()).with_keys()]);
        let key = create(&gateway, &session_for(&["shop"], json!({"alias": "acme"})));
        let listed = gateway.control("GET", "/tyk/list/keys?q=acme", "").json();
        let tried = |id: &Value, query: &str| {
            let body = json!({"path": "/shop/", "key_id": id}).to_string();
            gateway.control("POST", &format!("/tyk/debug{query}"), &body)
        };
        let found = tried(&rows(&listed)[0]["id"], "");
        if hashed {
            assert!(found.status == 400 && found.text().contains("$.key_id: keys are stored as hashes"), "{found}");
            continue;
        }
        assert_eq!(
            (found.json()["status"].clone(), echo.last().header("authorization")),
            (json!(200), Some(key.as_str())),
            "{found}"
        );
        assert!(!found.text().contains(&key), "neither in what went upstream nor in what came back: {found}");
        assert_eq!(tried(&rows(&listed)[0]["id"], "?reveal=true").json()["body"], json!(key));
        assert_eq!(tried(&json!("none"), "").status, 400);
        let other = json!({"path": "/shop/", "key_id": rows(&listed)[0]["id"], "key_header": "X-Other"}).to_string();
        assert_eq!(gateway.control("POST", "/tyk/debug", &other).json()["status"], 401);
    }
}

#[test]
fn tried_requests_go_through_loops_and_tell_why_an_upstream_failed() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(
        json!({}),
        [
            api("outer", "/outer/", "tyk://inner/").version("global_headers", json!({"X-Outer": "1"})),
            api("inner", "/inner/", &upstream.url()).version("global_headers", json!({"X-Inner": "1"})),
            api("dead", "/dead/", "http://127.0.0.1:1/"),
        ],
    );
    let editor = with_secret(&gateway);
    let tried = |body: Value| editor.call("POST", "/debug", &body.to_string()).json();
    let looped = tried(json!({"path": "/outer/x"}));
    assert_eq!((&looped["status"], &looped["api_id"]), (&json!(200), &json!("inner")), "{looped}");
    let apis: Vec<&str> = looped["steps"].as_array().unwrap().iter().filter_map(|step| step["api_id"].as_str()).collect();
    assert!(apis.contains(&"outer") && apis.last() == Some(&"inner"), "{looped}");
    let dead = tried(json!({"method": "POST", "path": "/dead/", "body": "hello"}));
    assert_eq!(
        (&dead["status"], &dead["upstream"]["status"], &dead["upstream"]["error"]),
        (&json!(500), &json!(0), &json!("upstream_connect")),
        "{dead}"
    );
    assert_eq!(dead["upstream"]["body_bytes"], 5, "{dead}");
}

#[test]
fn changes_of_files_by_hand_are_in_the_log_and_those_of_the_control_api_only_once() {
    let (upstream, policies) = (Upstream::ok(), tempfile::tempdir().unwrap());
    let conf = json!({"policies": {"policy_source": "file", "policy_path": policies.path()}});
    let shop = |name: &str, secret: &str| api("shop", "/shop/", &upstream.url()).set("name", name).set("jwt_source", secret);
    let gateway = Gateway::start(conf, [shop("first", "old c4n4ry")]);
    gateway.write_api(&shop("by hand", "new c4n4ry"));
    gateway.write_api(&api("more", "/more/", &upstream.url()));
    std::fs::write(policies.path().join("gold.json"), json!({"id": "gold", "rate": 1, "per": 1}).to_string()).unwrap();
    gateway.reload();
    let by_call = shop("by call", "new c4n4ry").0.to_string();
    assert_eq!(gateway.control("PUT", "/tyk/apis/shop", &by_call).status, 200);
    let silver = json!({"id": "silver", "rate": 1, "per": 1}).to_string();
    assert_eq!(gateway.control("POST", "/tyk/policies", &silver).status, 200);
    assert_eq!(gateway.control("DELETE", "/tyk/policies/silver", "").status, 200);
    gateway.remove_file("more.json");
    gateway.write_file("shop.json", "{ broken");
    gateway.reload();
    let mut changes = Value::Null;
    eventually("all changes are logged", || {
        changes = gateway.control("GET", "/tyk/list/changes", "").json();
        rows(&changes).len() >= 8
    });
    let mut seen: Vec<String> = rows(&changes)
        .iter()
        .map(|row| {
            format!(
                "{} {} {} {} {}",
                row["user"].as_str().unwrap(),
                row["action"].as_str().unwrap(),
                row["kind"].as_str().unwrap(),
                row["target"].as_str().unwrap(),
                row["status"]
            )
        })
        .collect();
    seen.sort_unstable();
    assert_eq!(
        seen,
        [
            "files create api more 200",
            "files create policy gold 200",
            "files delete api more 200",
            "files update api shop 200",
            "files update api shop 422",
            "secret create policy silver 200",
            "secret delete policy silver 200",
            "secret update api shop 200",
        ],
        "{changes}"
    );
    assert!(!changes.to_string().contains("c4n4ry"), "{changes}");
    let by_hand =
        rows(&changes).iter().find(|row| row["user"] == "files" && row["status"] == 200 && row["target"] == "shop").unwrap();
    let diff = by_hand["diff"].as_array().unwrap();
    assert!(diff.contains(&json!({"path": "$.name", "old": "first", "new": "by hand"})), "{by_hand}");
    assert_eq!((&by_hand["role"], &by_hand["address"]), (&Value::Null, &Value::Null));
}

#[test]
fn lists_say_who_uses_a_certificate_and_which_files_have_problems() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("shop", "/shop/", &upstream.url()), api("other", "/other/", &upstream.url())]);
    let (certificate, key) = crate::certs::made("shop.test", 2090);
    let id = gateway.control("POST", "/tyk/certs?org_id=default", &format!("{certificate}{key}")).json()["id"].clone();
    let listed = || gateway.control("GET", "/tyk/list/certs", "").json()["rows"][0]["used_by"].clone();
    assert_eq!(listed(), json!([]));
    gateway.write_api(&api("shop", "/shop/", &upstream.url()).set("upstream_certificates", json!({"*": id})));
    gateway.reload();
    assert_eq!(listed(), json!([{"what": "api", "id": "shop"}]));

    gateway.write_file("other.json", "{ broken");
    gateway.reload();
    let page = gateway.control("GET", "/tyk/list/apis?sort=id", "").json();
    let errors: Vec<(&str, u64)> =
        rows(&page).iter().map(|row| (row["id"].as_str().unwrap(), row["problems"]["errors"].as_u64().unwrap())).collect();
    assert_eq!(errors, [("other", 1), ("shop", 0)], "{page}");
}

#[test]
fn each_kind_of_change_is_logged_once_and_no_secret_with_it() {
    let upstream = Upstream::ok();
    let provider = api("a", "/a/", &upstream.url())
        .set("use_keyless", false)
        .set("use_oauth2", true)
        .set("oauth_meta/allowed_access_types", json!(["client_credentials"]));
    let gateway = Gateway::start(json!({"hash_keys": false}), [provider, api("shop", "/shop/", &upstream.url()).with_keys()]);
    let certificate = rcgen::generate_simple_self_signed(vec!["shop.test".to_owned()]).unwrap();
    let pem = certificate.cert.pem() + &certificate.signing_key.serialize_pem();
    let session = json!({"access_rights": {"shop": {"api_id": "shop", "versions": ["Default"]}}});
    let call = |method: &str, path: &str, body: &str| {
        let answer = gateway.control(method, path, body);
        assert_eq!(answer.status, 200, "{method} {path}: {answer}");
        answer.json()
    };
    let id = call("POST", "/tyk/certs", &pem)["id"].as_str().unwrap().to_owned();
    call("DELETE", &format!("/tyk/certs/{id}"), "");
    call("POST", "/tyk/users", &json!({"name": "ann", "role": "viewer", "password": "a long password"}).to_string());
    call("PUT", "/tyk/users/ann", &json!({"role": "editor"}).to_string());
    call("POST", "/tyk/users/ann/password", &json!({"new": "another long password"}).to_string());
    call("DELETE", "/tyk/users/ann", "");
    call("POST", "/tyk/org/keys/acme", &json!({"rate": 5, "per": 1}).to_string());
    call("PUT", "/tyk/org/keys/acme", &json!({"rate": 6, "per": 1}).to_string());
    call("DELETE", "/tyk/org/keys/acme", "");
    let client = json!({"client_id": "app", "api_id": "a", "secret": "c4n4ry-client"}).to_string();
    call("POST", "/tyk/oauth/clients/create", &client);
    call("PUT", "/tyk/oauth/clients/a/app/rotate", "");
    call("DELETE", "/tyk/oauth/clients/a/app/tokens", "");
    call("DELETE", "/tyk/oauth/refresh/c4n4ry-refresh?api_id=a", "");
    call("DELETE", "/tyk/oauth/clients/a/app", "");
    call("DELETE", "/tyk/cache/shop", "");
    call("POST", "/tyk/cache/shop/purge", &json!({"everything": true}).to_string());
    call("POST", "/tyk/keys/c4n4ry-key", &session.to_string());
    call("PUT", "/tyk/keys/c4n4ry-key", &session.to_string());
    call("PATCH", "/tyk/keys/c4n4ry-key", &json!({"alias": "x"}).to_string());
    call("POST", "/tyk/keys/bulk", &json!({"action": "activate", "select": {"api": "shop"}, "dry_run": true}).to_string());
    call("POST", "/tyk/keys/bulk", &json!({"action": "activate", "select": {"api": "shop"}, "dry_run": false}).to_string());
    call("DELETE", "/tyk/keys/c4n4ry-key", "");
    // What only asks, and what fails, is no change.
    call("POST", "/tyk/keys/preview", &session.to_string());
    assert_eq!(gateway.control("DELETE", "/tyk/users/nobody", "").status, 404);
    let mut changes = Value::Null;
    eventually("all changes are logged", || {
        changes = gateway.control("GET", "/tyk/list/changes", "").json();
        rows(&changes).first().is_some_and(|row| row["kind"] == "key" && row["action"] == "delete")
    });
    assert!(!changes.to_string().contains("c4n4ry"), "{changes}");
    let seen: Vec<String> = rows(&changes)
        .iter()
        .rev()
        .map(|row| ["action", "kind", "target"].map(|name| row[name].as_str().unwrap()).join(" "))
        .collect();
    assert_eq!(
        seen,
        [
            &format!("create certificate {id}"),
            &format!("delete certificate {id}"),
            "create user ann",
            "update user ann",
            "update user ann",
            "delete user ann",
            "create organisation acme",
            "update organisation acme",
            "delete organisation acme",
            "create client app",
            "update client app",
            "delete tokens app",
            "delete tokens ********",
            "delete client app",
            "delete cache shop",
            "create cache shop",
            "create key ********",
            "update key ********",
            "update key ********",
            "bulk key activate 1 keys",
            "delete key ********",
        ]
    );
}
