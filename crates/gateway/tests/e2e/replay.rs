//! Replays: which recorded or live requests another configuration would answer differently, held against gateways that really have it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::commands::tollgate;
use crate::harness::definition::Definition;
use crate::harness::{Gateway, Response, Setup, Upstream, api, eventually, request};
use crate::keys::{keyed, session_for};

/// A gateway that writes an access log, with hashed keys and policies in files.
fn recording(apis: impl IntoIterator<Item = Definition>) -> (tempfile::TempDir, Gateway) {
    let folder = tempfile::tempdir().unwrap();
    let policies = folder.path().join("policies");
    fs::create_dir(&policies).unwrap();
    let conf = json!({
        "hash_keys": true,
        "policies": {"policy_source": "file", "policy_path": policies},
        "access_logs": {"enabled": true},
        "tollgate": {"access_log": {"file": folder.path().join("access.log")}}
    });
    let gateway = apis.into_iter().fold(Setup::new(conf), Setup::api).start();
    (folder, gateway)
}

fn make_key(gateway: &Gateway, name: &str, session: &Value) -> String {
    let made = gateway.control("POST", &format!("/tyk/keys/{name}"), &session.to_string());
    assert_eq!(made.status, 200, "{made}");
    made.json()["key_hash"].as_str().expect("a hash").to_owned()
}

fn dumped(gateway: &Gateway, folder: &Path) -> PathBuf {
    let dir = folder.join("conf");
    tollgate(gateway, &format!("dump {}", dir.display())).ok();
    dir
}

fn change(file: &Path, edit: impl FnOnce(&mut Value)) {
    let mut document: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    edit(&mut document);
    fs::write(file, document.to_string()).unwrap();
}

fn with_key(target: &str, key: &str) -> String {
    request("GET", target, &[&format!("Authorization: {key}")], "")
}

fn logged(folder: &Path, count: usize) -> PathBuf {
    let log = folder.join("access.log");
    eventually("all requests are logged", || fs::read_to_string(&log).is_ok_and(|text| text.lines().count() >= count));
    log
}

#[test]
fn a_replay_says_what_a_change_does_to_recorded_requests() {
    let upstream = Upstream::ok();
    let track = |definition: Definition| definition.set("do_not_track", false);
    let apis = [keyed("a", &upstream), keyed("b", &upstream), api("open", "/open/", &upstream.url())].map(track);
    let (folder, gateway) = recording(apis);
    let gold = make_key(
        &gateway,
        "gold",
        &session_for(&["a", "b"], json!({"rate": 100, "per": 60, "quota_max": 1000, "quota_renewal_rate": 3600})),
    );
    for number in 0..20 {
        assert_eq!(gateway.send(with_key(&format!("/a/things/{number}"), "defaultgold")).status, 200);
    }
    for _ in 0..3 {
        assert_eq!(gateway.send(with_key("/b/", "defaultgold")).status, 200);
        assert_eq!(gateway.get("/open/x").status, 200);
        assert_eq!(gateway.get("/a/").status, 401);
    }
    let log = logged(folder.path(), 29);
    let dir = dumped(&gateway, folder.path());
    let line = |verb: &str, more: &str| format!("{verb} {} {more}", dir.display());
    let replay = |more: &str| tollgate(&gateway, &format!("replay {} --dir {} {more}", log.display(), dir.display()));
    assert_eq!(replay("").ok(), "29 requests: 29 same, 0 different, 0 undecided\n");
    assert_eq!(
        tollgate(&gateway, &format!("replay {}", log.display())).ok(),
        "29 requests: 0 otherwise than recorded, 0 undecided\n"
    );

    // A limit for all callers of `a`, another header for keys of `b`, another target and path for `open`.
    change(&dir.join("apis/a.json"), |api| api["global_rate_limit"] = json!({"rate": 15, "per": 6_000}));
    change(&dir.join("apis/b.json"), |api| api["auth"]["auth_header_name"] = "X-Key".into());
    let seen = upstream.requests();
    change(&dir.join("apis/open.json"), |api| {
        api["proxy"]["target_url"] = "http://elsewhere.example/base/".into();
    });
    let told = replay("");
    assert_eq!(told.code(), 7);
    let said = told.out();
    for expected in [
        "api a: limit: forwarded -> 429 api_rate_limit (5 requests, 1 key)\n    GET gateway.test/a/things/",
        &format!("  key {gold}"),
        "api b: access: forwarded -> 401 auth_missing (3 requests, 1 key)",
        &format!("api open: rewrite: {} -> http://elsewhere.example (3 requests)", upstream.url()),
        "      + GET http://elsewhere.example/base/x",
        "29 requests: 18 same, 11 different, 0 undecided",
    ] {
        assert!(said.contains(expected), "{expected}\nis not in\n{said}");
    }
    let answer: Value =
        serde_json::from_str(tollgate(&gateway, &format!("diff {} --replay {} --json", dir.display(), log.display())).out())
            .unwrap();
    assert_eq!((&answer["replay"]["different"], answer["plan"].as_array().map(Vec::len)), (&json!(11), Some(3)));
    let refused = tollgate(&gateway, &line("sync", &format!("--replay {}", log.display())));
    assert_eq!(refused.code(), 7);
    assert!(refused.out().contains("3 to change") && refused.out().contains("11 different"), "{}", refused.out());
    assert_eq!(upstream.requests(), seen, "a replay sends nothing");
    let session = gateway.control("GET", "/tyk/keys/defaultgold", "").json();
    assert_eq!(session["quota_remaining"], json!(1000 - 23), "a replay counts nothing: {session}");
    tollgate(&gateway, &line("sync", &format!("--replay {} --accept", log.display()))).ok();
    assert_eq!(gateway.send(with_key("/b/", "defaultgold")).status, 401, "it is synced");
    let told = tollgate(&gateway, &format!("replay {}", log.display()));
    assert_eq!(told.code(), 7);
    assert!(told.out().contains("200 -> 401 auth_missing") || told.out().contains("otherwise than recorded"), "{}", told.out());
}

/// What a client and an upstream see of a request.
#[derive(Debug, PartialEq)]
struct Seen {
    status: u16,
    /// Body of an answer of the gateway itself.
    body: String,
    /// Method, path and header lines that reached the upstream.
    upstream: Option<(String, String, Vec<String>)>,
}

fn really(gateway: &Gateway, upstream: &Upstream, request: &str) -> Seen {
    let before = upstream.requests();
    let response: Response = gateway.send(request);
    let is_forwarded = upstream.requests() > before;
    let last = is_forwarded.then(|| upstream.last());
    let lines = |seen: &crate::harness::upstream::Seen| {
        let mut lines: Vec<String> = seen.head.names().iter().map(|name| format!("{name}: {:?}", seen.head.all(name))).collect();
        lines.sort();
        lines.dedup();
        lines
    };
    let headers: Vec<String> =
        ["X-Served-By"].iter().filter_map(|name| Some(format!("{name}: {}", response.header(name)?))).collect();
    Seen {
        status: response.status,
        body: if is_forwarded { headers.join("\n") } else { response.text() },
        upstream: last.map(|seen| (seen.method.clone(), seen.target.clone(), lines(&seen))),
    }
}

/// APIs that refuse, answer, change and forward for many reasons.
fn varied(upstream: &Upstream) -> Vec<Definition> {
    let shop = keyed("shop", upstream)
        .list("white_list", json!([{"path": "/mock", "method_actions": {"GET": {"action": "reply", "code": 202, "data": "made up", "headers": {"X-Made": "up"}}}}]))
        .list("ignored", json!([{"path": "/status", "method_actions": {"GET": {"action": "no_action", "code": 200}}}]));
    let paths = api("paths", "/paths/", &upstream.url())
        .list("black_list", json!([{"path": "/secret", "method_actions": {"GET": {"action": "no_action", "code": 200}}}]))
        .list(
            "url_rewrites",
            json!([{"path": "/old/{id}", "method": "GET", "match_pattern": "/old/(.*)", "rewrite_to": "/new/$1"}]),
        )
        .list("method_transforms", json!([{"path": "/put", "method": "GET", "to_method": "PUT"}]))
        .list("size_limits", json!([{"path": "/small", "method": "POST", "size_limit": 10}]))
        .list(
            "transform_headers",
            json!([{"path": "/headers", "method": "GET", "add_headers": {"X-Added": "one"}, "delete_headers": ["X-Team"]}]),
        )
        .version("global_headers", json!({"X-Global": "yes"}))
        .version("global_response_headers", json!({"X-Served-By": "old"}));
    let versioned = api("versioned", "/versioned/", &upstream.url())
        .set("version_data/not_versioned", false)
        .set("version_data/versions", json!({"v1": {"name": "v1"}, "v2": {"name": "v2", "global_headers": {"X-Version": "2"}}}));
    vec![shop, paths, versioned, api("gone", "/gone/", &upstream.url())]
}

/// The same with a change of each kind.
fn changed(upstream: &Upstream) -> Vec<Definition> {
    let mut apis = varied(upstream);
    let shop = apis.remove(0).list("ignored", json!([])).list(
        "white_list",
        json!([{"path": "/mock", "method_actions": {"GET": {"action": "reply", "code": 203, "data": "made up", "headers": {"X-Made": "up"}}}}]),
    );
    let paths = apis
        .remove(0)
        .list("black_list", json!([{"path": "/secret|/other", "method_actions": {"GET": {"action": "no_action", "code": 200}}}]))
        .list(
            "url_rewrites",
            json!([{"path": "/old/{id}", "method": "GET", "match_pattern": "/old/(.*)", "rewrite_to": "/newer/$1"}]),
        )
        .list("method_transforms", json!([{"path": "/put", "method": "GET", "to_method": "PATCH"}]))
        .list("size_limits", json!([{"path": "/small", "method": "POST", "size_limit": 4}]))
        .list("transform_headers", json!([{"path": "/headers", "method": "GET", "add_headers": {"X-Added": "two"}}]))
        .version("global_response_headers", json!({"X-Served-By": "new"}));
    let versioned = apis.remove(0).set("version_data/versions", json!({"v1": {"name": "v1"}, "v3": {"name": "v3"}}));
    vec![shop, paths, versioned, api("gone", "/elsewhere/", &upstream.url())]
}

/// Method, path, headers, key, and bytes of the body.
type TriedRequest = (&'static str, String, Vec<(String, String)>, Option<&'static str>, Option<usize>);

/// Requests by everything that the APIs tell apart.
fn table() -> Vec<TriedRequest> {
    let mut requests = Vec::new();
    let paths = [
        "/shop/",
        "/shop/mock",
        "/shop/status",
        "/shop/things/7?a=b",
        "/paths/",
        "/paths/secret",
        "/paths/other",
        "/paths/old/7",
        "/paths/old/",
        "/paths/put",
        "/paths/headers",
        "/paths/a//b",
        "/paths/a%2Fb",
        "/versioned/",
        "/gone/",
        "/gone",
        "/elsewhere/x",
        "/nothing",
    ];
    for path in paths {
        for key in [None, Some("gold"), Some("silver"), Some("inactive")] {
            for team in [None, Some("red")] {
                let headers = team.iter().map(|team| ("X-Team".to_owned(), (*team).to_owned())).collect();
                requests.push(("GET", path.to_owned(), headers, key, None));
            }
            requests.push(("DELETE", path.to_owned(), Vec::new(), key, None));
        }
    }
    for version in ["v1", "v2", "v3", "v4"] {
        requests.push(("GET", "/versioned/x".to_owned(), vec![("x-api-version".to_owned(), version.to_owned())], None, None));
    }
    for bytes in [1, 3, 4, 5, 9, 10, 11, 500] {
        requests.push(("POST", "/paths/small".to_owned(), Vec::new(), None, Some(bytes)));
    }
    requests
}

#[test]
fn verdicts_are_those_of_gateways_that_have_the_configurations() {
    let upstream = Upstream::ok();
    let (folder, old) = recording(varied(&upstream));
    let (_other, new) = recording(changed(&upstream));
    let mut hashes = std::collections::BTreeMap::new();
    for gateway in [&old, &new] {
        for (name, session) in [
            ("gold", session_for(&["shop"], json!({}))),
            ("silver", session_for(&["other"], json!({}))),
            ("inactive", session_for(&["shop"], json!({"is_inactive": true}))),
        ] {
            hashes.insert(name, make_key(gateway, name, &session));
        }
    }
    let dir = folder.path().join("conf");
    fs::create_dir_all(dir.join("apis")).unwrap();
    for definition in changed(&upstream) {
        fs::write(dir.join("apis").join(format!("{}.json", definition.id())), definition.0.to_string()).unwrap();
    }
    let changes: Vec<Value> =
        changed(&upstream).iter().map(|api| json!({"kind": "api", "action": "put", "document": api.0})).collect();
    let begin = json!({"digest": "*", "changes": changes}).to_string();
    let table = table();
    assert!(table.len() > 200, "{}", table.len());
    let mut different = 0;
    for (method, path, headers, key, bytes) in table {
        let mut lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        lines.extend(key.map(|key| format!("Authorization: default{key}")));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let body = "x".repeat(bytes.unwrap_or_default());
        let sent = request(method, &path, &lines, &body);
        let (before, after) = (really(&old, &upstream, &sent), really(&new, &upstream, &sent));

        let begun = old.control("POST", "/tyk/configuration/replays", &begin);
        assert_eq!(begun.status, 200, "{begun}");
        let place = format!("/tyk/configuration/replays/{}", begun.json()["id"]);
        let mut line = json!({"method": method, "path": path, "host": "localhost", "headers": headers, "status": before.status, "content_length": bytes.unwrap_or_default()});
        if let Some(key) = key {
            line["key"] = hashes[key].as_str().into();
        }
        let answer = old.control("POST", &format!("{place}/requests"), &line.to_string());
        assert_eq!(answer.status, 200, "{answer}");
        let report = answer.json();
        assert_eq!(old.control("DELETE", &place, "").status, 200);
        let really_different = before != after;
        different += usize::from(really_different);
        assert_eq!(
            (&report["requests"], &report["different"], &report["unlike_recorded"]),
            (&json!(1), &json!(u64::from(really_different)), &json!(0)),
            "{method} {path} {headers:?} {key:?}\nbefore {before:?}\nafter {after:?}\n{report}"
        );
        if really_different && before.status != after.status && after.upstream.is_none() && after.status != 404 {
            let to = report["groups"][0]["to"].as_str().unwrap();
            assert!(to.starts_with(&after.status.to_string()), "{method} {path}: {to} instead of {after:?}");
        }
    }
    assert!(different > 40, "{different}");
}

#[test]
fn a_canary_runs_beside_the_configuration_in_service() {
    let upstream = Upstream::ok();
    let track = |definition: Definition| definition.set("do_not_track", false);
    let (folder, gateway) = recording([keyed("a", &upstream), api("open", "/open/", &upstream.url())].map(track));
    make_key(&gateway, "gold", &session_for(&["a"], json!({})));
    let dir = dumped(&gateway, folder.path());
    change(&dir.join("apis/a.json"), |api| api["auth"]["auth_header_name"] = "X-Key".into());
    change(&dir.join("apis/open.json"), |api| {
        api["version_data"]["versions"]["Default"]["extended_paths"] =
            json!({"black_list": [{"path": "/closed", "method_actions": {"GET": {"action": "no_action", "code": 200}}}]})
    });
    fs::write(dir.join("apis/new.json"), api("new", "/new/", &upstream.url()).0.to_string()).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let traffic = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                assert_eq!(gateway.send(with_key("/a/x", "defaultgold")).status, 200);
                assert_eq!(
                    gateway.send(request("GET", "/a/x", &["Authorization: defaultgold", "X-Key: defaultgold"], "")).status,
                    200
                );
                assert_eq!((gateway.get("/open/closed").status, gateway.get("/open/").status), (200, 200));
                assert_eq!(gateway.get("/new/x").status, 404);
                thread::sleep(Duration::from_millis(20));
            }
        });
        let told = tollgate(&gateway, &format!("sync {} --canary 2", dir.display()));
        is_over.store(true, Ordering::Relaxed);
        traffic.join().unwrap();
        assert_eq!(told.code(), 7, "{}", told.out());
        let said = told.out();
        for expected in [
            "api a: access: forwarded -> 401 auth_missing",
            "api open: rights: forwarded -> 403 endpoint_forbidden",
            "api new: route: no API -> API new",
            "2 to change",
        ] {
            assert!(said.contains(expected), "{expected}\nis not in\n{said}");
        }
        assert!(!said.contains("otherwise than recorded") && !said.contains("defaultgold"), "{said}");
    });
    assert_eq!(gateway.get("/new/x").status, 404, "nothing was changed");
    let quiet = tollgate(&gateway, &format!("sync {} --canary 1", dir.display()));
    assert!(quiet.ok().contains("0 requests: 0 same, 0 different"), "without requests, nothing speaks against it");
    assert_eq!(gateway.get("/new/x").status, 200);
}

#[test]
fn broken_records_and_changes_are_refused_by_name() {
    let upstream = Upstream::ok();
    let (folder, gateway) = recording([api("open", "/open/", &upstream.url())]);
    let file = folder.path().join("records.jsonl");
    fs::write(&file, "nonsense\n").unwrap();
    tollgate(&gateway, &format!("replay {}", file.display())).fails(1, "line 1: is neither JSON nor a line of an access log");
    fs::write(&file, "{\"method\": \"GET\", \"path\": \"nowhere\"}\n{\"method\": \"G T\", \"path\": \"/\"}\n{\"method\": \"GET\", \"path\": \"/open/\"}\n").unwrap();
    let said = tollgate(&gateway, &format!("replay {}", file.display())).ok();
    assert!(said.contains("unreadable: \"nowhere\" is no path") && said.contains("1 requests"), "{said}");
    tollgate(&gateway, &format!("replay {}", folder.path().join("none").display())).fails(1, "cannot be read");
    tollgate(&gateway, "replay").fails(2, "required");
    let begin = |changes: Value| {
        gateway.control("POST", "/tyk/configuration/replays", &json!({"digest": "*", "changes": changes}).to_string())
    };
    let broken = begin(
        json!([{"kind": "api", "action": "put", "source": "x.json", "document": {"api_id": "x", "proxy": {"listen_path": "/x/", "target_url": "nothing"}}}]),
    );
    assert_eq!(broken.status, 400, "{broken}");
    assert!(broken.text().contains("x.json") && broken.text().contains("$.proxy.target_url"), "{broken}");
    assert_eq!(
        gateway.control("POST", "/tyk/configuration/replays", &json!({"digest": "00", "changes": []}).to_string()).status,
        412
    );
    let places: Vec<String> = (0..4).map(|_| format!("/tyk/configuration/replays/{}", begin(json!([])).json()["id"])).collect();
    assert_eq!(begin(json!([])).status, 429);
    for place in places {
        assert_eq!(gateway.control("GET", &place, "").status, 200);
        assert_eq!(gateway.control("DELETE", &place, "").status, 200);
        assert_eq!(gateway.control("DELETE", &place, "").status, 404);
    }
    assert_eq!(begin(json!([])).status, 200);
    gateway.expect_no_panic();
}

/// A gateway with an open API and one with keys, and its directory with the first one closed.
fn closing(gateway: &Gateway, folder: &Path) -> PathBuf {
    let dir = dumped(gateway, folder);
    change(&dir.join("apis/open.json"), |api| {
        api["version_data"]["versions"]["Default"]["extended_paths"] =
            json!({"black_list": [{"path": "/closed", "method_actions": {"GET": {"action": "no_action", "code": 200}}}]})
    });
    dir
}

#[test]
fn records_that_wait_in_redis_for_the_pump_are_replayed_and_stay_there() {
    let upstream = Upstream::ok();
    for (serializer, several) in [("", false), ("protobuf", true)] {
        let redis = crate::servers::Server::start(&["--requirepass", "hidden"]);
        let conf = json!({
            "enable_analytics": true, "hash_keys": true,
            "enable_separate_analytics_store": true,
            "analytics_storage": {"type": "redis", "host": "127.0.0.1", "port": redis.port, "password": "hidden"},
            "analytics_config": {"serializer_type": serializer, "enable_multiple_analytics_keys": several},
        });
        let track = |definition: Definition| definition.set("do_not_track", false);
        let apis = [track(keyed("a", &upstream)), track(api("open", "/open/", &upstream.url()))];
        let gateway = apis.into_iter().fold(Setup::new(conf), Setup::api).start();
        make_key(&gateway, "gold", &session_for(&["a"], json!({})));
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..3 {
            assert_eq!(gateway.get("/open/closed?q=1").status, 200);
            assert_eq!(gateway.send(with_key("/a/x", "defaultgold")).status, 200);
            assert_eq!(gateway.get("/a/x").status, 401);
        }
        let waiting = || {
            let names = redis.cli(&["-a", "hidden", "--no-auth-warning", "KEYS", "analytics-*"]);
            let lengths = names.lines().filter(|name| !name.is_empty());
            lengths
                .map(|name| redis.cli(&["-a", "hidden", "--no-auth-warning", "LLEN", name]).trim().parse::<u32>().unwrap())
                .sum::<u32>()
        };
        eventually("all records are there", || waiting() == 9);
        let dir = closing(&gateway, folder.path());
        let address = format!("redis://:hidden@127.0.0.1:{}/0", redis.port);
        let told = tollgate(&gateway, &format!("replay {address} --dir {}", dir.display()));
        assert_eq!(told.code(), 7, "{}", told.out());
        let said = told.out();
        assert!(said.contains("api open: rights: forwarded -> 403 endpoint_forbidden (3 requests)"), "{said}");
        assert!(said.contains("9 requests: 6 same, 3 different, 0 undecided"), "{said}");
        assert_eq!(waiting(), 9, "the pump still gets them");
        let wrong = address.replace("hidden", "n0t-it");
        let refused = tollgate(&gateway, &format!("replay {wrong}"));
        assert!(!refused.out().contains("n0t-it"));
        refused.fails(3, &format!("redis://127.0.0.1:{}/0: ", redis.port));
    }
}

#[test]
fn live_requests_are_kept_without_credentials_and_replayed_later() {
    let upstream = Upstream::ok();
    let track = |definition: Definition| definition.set("do_not_track", false);
    let (folder, gateway) = recording([keyed("a", &upstream), api("open", "/open/", &upstream.url())].map(track));
    let hash = make_key(&gateway, "gold", &session_for(&["a"], json!({})));
    let dir = closing(&gateway, folder.path());
    let file = folder.path().join("sample.jsonl");
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let traffic = scope.spawn(|| {
            let lines = ["Authorization: defaultgold", "Accept: text/plain", "X-Api-Token: h1dden", "X-Other: kept-out"];
            while !is_over.load(Ordering::Relaxed) {
                let body = "a body of a client";
                assert_eq!(gateway.send(request("POST", "/a/x?api_key=h1dden&page=2", &lines, body)).status, 200);
                assert_eq!(gateway.get("/open/closed").status, 200);
                assert_eq!(gateway.get("/nowhere").status, 404);
                thread::sleep(Duration::from_millis(20));
            }
        });
        let line = format!("replay --live 3 --save {} --header Accept --header X-Api-Token --header Authorization", file.display());
        let said = tollgate(&gateway, &line).ok();
        is_over.store(true, Ordering::Relaxed);
        traffic.join().unwrap();
        assert!(said.contains("sample.jsonl: ") && said.contains(" requests, 0 missed"), "{said}");
    });
    let text = fs::read_to_string(&file).unwrap();
    for secret in ["defaultgold", "h1dden", "a body of a client", "kept-out", "X-Api-Token", "uthorization"] {
        assert!(!text.contains(secret), "{secret} is in {}", text.lines().take(6).collect::<Vec<_>>().join("\n"));
    }
    let first: Value =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).find(|line: &Value| line["method"] == "POST").unwrap();
    assert_eq!((&first["path"], &first["key"]), (&json!("/a/x?api_key=********&page=2"), &json!(hash)));
    assert_eq!(first["headers"], json!([["Accept", "text/plain"]]));
    let told = tollgate(&gateway, &format!("replay {} --dir {}", file.display(), dir.display()));
    assert_eq!(told.code(), 7, "{}", told.out());
    let said = told.out();
    assert!(said.contains("api open: rights: forwarded -> 403 endpoint_forbidden"), "{said}");
    assert!(said.contains(", 0 undecided") && !said.contains("otherwise than recorded"), "{said}");
    // It is never written over, and its options need it.
    tollgate(&gateway, &format!("replay --live 1 --save {}", file.display())).fails(1, "can't be written");
    tollgate(&gateway, "replay --live 1 --header Accept").fails(2, "--save");
    for (query, status) in
        [("seconds=0", 400), ("seconds=31", 400), ("every=1", 400), ("seconds=1&other=1", 400), ("seconds=1", 200)]
    {
        assert_eq!(gateway.control("GET", &format!("/tyk/configuration/sample?{query}"), "").status, status, "{query}");
    }
}
