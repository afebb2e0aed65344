//! The control API: health, the secret, wrong calls, and definitions written through it.

use std::io::Write;

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, Response, Setup, Upstream, api, get, request};

fn empty() -> Gateway {
    Gateway::start(json!({}), [])
}

/// The whole answer of a control call, as its callers compare it.
fn told(response: &Response) -> (u16, String) {
    assert_eq!(response.header("content-type"), Some("application/json"), "{response}");
    (response.status, response.text())
}

fn message(status: &str, message: &str) -> String {
    format!("{{\"status\":\"{status}\",\"message\":\"{message}\"}}\n")
}

fn done(key: &str, action: &str) -> String {
    format!("{{\"key\":\"{key}\",\"status\":\"ok\",\"action\":\"{action}\"}}\n")
}

#[test]
fn health_is_told_to_anyone() {
    let gateway = empty();
    for path in ["/hello", "/ready", "/live"] {
        let response = gateway.get(path);
        assert_eq!(response.status, 200, "{response}");
        let document = response.json();
        assert_eq!(document["status"], "pass", "{response}");
    }
    let hello = gateway.get("/hello").json();
    assert!(hello["version"].is_string() && hello["description"].is_string(), "{hello}");
}

#[test]
fn health_is_only_read() {
    let gateway = empty();
    assert_eq!(told(&gateway.send(request("POST", "/hello", &[], "x"))), (405, message("error", "Method Not Allowed")));
}

#[test]
fn health_and_data_share_a_connection() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let mut client = gateway.connect();
    for _ in 0..3 {
        assert_eq!(client.ask(get("/hello")).status, 200);
        assert_eq!(client.ask(get("/a/")).text(), "ok");
        let refused = client.ask(get("/tyk/apis"));
        assert_eq!(refused.status, 403);
    }
}

#[test]
fn without_the_secret_nothing_is_done() {
    let gateway = empty();
    let denied = message("error", "Attempted administrative access with invalid or missing key!");
    for line in [
        "X-None: 1",
        "x-tyk-authorization: wrong",
        "x-tyk-authorization:",
        &format!("x-tyk-authorization: {SECRET}x"),
        &format!("Authorization: {SECRET}"),
    ] {
        for target in ["/tyk/reload/", "/tyk/apis", "/tyk/apis/", "/tyk/reload/group"] {
            assert_eq!(told(&gateway.send(request("GET", target, &[line], ""))), (403, denied.clone()), "{line} {target}");
        }
    }
}

#[test]
fn the_secret_is_found_under_any_spelling_of_its_header() {
    let gateway = empty();
    let line = format!("X-TYK-AUTHORIZATION: {SECRET}");
    assert_eq!(gateway.send(request("GET", "/tyk/apis", &[&line], "")).status, 200);
}

#[test]
fn a_wrong_method_and_an_unknown_path_are_told() {
    let gateway = empty();
    for (method, target) in [("POST", "/tyk/reload"), ("DELETE", "/tyk/apis"), ("PATCH", "/tyk/apis/x")] {
        assert_eq!(
            told(&gateway.control(method, target, "")),
            (405, message("error", "Method not supported")),
            "{method} {target}"
        );
    }
    let unknown = gateway.control("GET", "/tyk/no-such-thing", "");
    assert_eq!((unknown.status, unknown.text().as_str()), (404, "404 page not found\n"));
    assert!(unknown.header("content-type").is_some_and(|kind| kind.starts_with("text/plain")), "{unknown}");
}

#[test]
fn a_reload_is_confirmed() {
    let gateway = empty();
    for target in ["/tyk/reload", "/tyk/reload/", "/tyk/reload/?block=true", "/tyk/reload/group", "/tyk/reload/group/"] {
        assert_eq!(told(&gateway.control("GET", target, "")), (200, message("ok", "")), "{target}");
    }
}

#[test]
fn definitions_are_made_read_changed_and_deleted() {
    let upstream = Upstream::ok();
    let gateway = empty();
    let definition = api("made", "/made/", &upstream.url());
    let text = definition.0.to_string();
    assert_eq!(gateway.get("/made/").status, 404);

    assert_eq!(told(&gateway.control("POST", "/tyk/apis", &text)), (200, done("made", "added")));
    assert_eq!(gateway.get("/made/x").status, 200, "a new definition applies at once");
    assert!(gateway.apps().join("made.json").exists());

    let read = gateway.control("GET", "/tyk/apis/made", "").json();
    assert_eq!((&read["api_id"], &read["proxy"]["listen_path"]), (&json!("made"), &json!("/made/")));
    let list = gateway.control("GET", "/tyk/apis/", "").json();
    assert_eq!(
        list.as_array().map(|list| list.iter().map(|api| api["api_id"].clone()).collect::<Vec<_>>()),
        Some(vec![json!("made")])
    );

    let moved = definition.clone().set("proxy/listen_path", "/moved/").0.to_string();
    assert_eq!(told(&gateway.control("PUT", "/tyk/apis/made", &moved)), (200, done("made", "modified")));
    assert_eq!((gateway.get("/made/x").status, gateway.get("/moved/x").status), (200, 200), "the id stays a path");
    assert_eq!(upstream.last().target, "/x");

    assert_eq!(told(&gateway.control("DELETE", "/tyk/apis/made", "")), (200, done("made", "deleted")));
    assert_eq!(gateway.get("/moved/x").status, 404);
    assert!(!gateway.apps().join("made.json").exists());
    assert_eq!(gateway.control("GET", "/tyk/apis", "").json(), json!([]));
}

#[test]
fn what_is_not_there_cannot_be_read_changed_or_deleted() {
    let gateway = empty();
    let not_found = (404, message("error", "API not found"));
    let text = api("gone", "/gone/", "http://127.0.0.1:9").0.to_string();
    assert_eq!(told(&gateway.control("GET", "/tyk/apis/gone", "")), not_found);
    assert_eq!(told(&gateway.control("PUT", "/tyk/apis/gone", &text)), not_found);
    assert_eq!(told(&gateway.control("DELETE", "/tyk/apis/gone", "")), not_found);
}

#[test]
fn of_several_who_delete_a_definition_one_does_and_the_others_find_none() {
    let gateway = empty();
    for round in 0..8 {
        let text = api("shared", "/shared/", "http://127.0.0.1:9").0.to_string();
        assert_eq!(gateway.control("POST", "/tyk/apis", &text).status, 200);
        let mut answers: Vec<(u16, String)> = std::thread::scope(|scope| {
            let deletions: Vec<_> =
                (0..8).map(|_| scope.spawn(|| told(&gateway.control("DELETE", "/tyk/apis/shared", "")))).collect();
            deletions.into_iter().map(|deletion| deletion.join().unwrap()).collect()
        });
        answers.sort();
        let (first, others) = answers.split_first().unwrap();
        assert_eq!(*first, (200, done("shared", "deleted")), "round {round}");
        assert!(others.iter().all(|other| *other == (404, message("error", "API not found"))), "round {round}: {others:?}");
    }
}

#[test]
fn a_definition_that_could_not_be_read_again_is_not_written() {
    let gateway = empty();
    let large = |entries: usize| api("a", "/a/", "http://127.0.0.1:9").set("config_data", json!({"list": vec![0; entries]})).0;
    let answer = gateway.control("POST", "/tyk/apis", &large(2_000_000).to_string());
    assert_eq!(answer.status, 400, "{answer}");
    assert!(answer.text().contains("its file would be larger than 16777216 bytes"), "{answer}");
    assert!(!gateway.apps().join("a.json").exists());
    let mut client = gateway.connect();
    let secret = format!("x-tyk-authorization: {SECRET}");
    // The answer may come before the end of the body.
    let _ = client.try_send(request("POST", "/tyk/apis", &[&secret], &large(9_000_000).to_string()));
    assert_eq!(told(&client.response("POST")), (413, message("error", "the body is larger than 16777216 bytes")));
    assert_eq!(gateway.control("POST", "/tyk/apis", &large(100_000).to_string()).status, 200);
}

#[test]
fn a_definition_without_an_id_gets_one() {
    let upstream = Upstream::ok();
    let gateway = empty();
    let mut definition = api("", "/new/", &upstream.url()).0;
    definition.as_object_mut().unwrap().remove("api_id");
    let answer = gateway.control("POST", "/tyk/apis", &definition.to_string()).json();
    let key = answer["key"].as_str().expect("an id").to_owned();
    assert!(key.len() >= 32, "{key}");
    assert_eq!(gateway.get("/new/").status, 200);
    assert_eq!(gateway.get(&format!("/{key}/")).status, 200);
}

#[test]
fn a_bad_definition_is_refused_and_the_last_good_one_serves_on() {
    let upstream = Upstream::ok();
    let definition = api("a", "/a/", &upstream.url());
    let gateway = Gateway::start(json!({}), [definition.clone()]);
    let malformed = (400, message("error", "Request malformed"));
    for text in ["{", "", "[]", "\"text\"", "{\"api_id\": 7}"] {
        assert_eq!(told(&gateway.control("POST", "/tyk/apis", text)), malformed, "{text}");
        assert_eq!(told(&gateway.control("PUT", "/tyk/apis/a", text)), malformed, "{text}");
    }
    let mismatch = message("error", "Request APIID does not match that in Definition! For Update operations these must match.");
    let other = api("b", "/a/", &upstream.url()).0.to_string();
    assert_eq!(told(&gateway.control("PUT", "/tyk/apis/a", &other)), (400, mismatch));
    for bad in [
        definition.clone().set("allowed_ips", json!(["not an address"])),
        definition.clone().set("blacklisted_ips", json!(["10.0.0.0/99"])),
        definition.clone().list("hard_timeouts", json!([{"path": "/x", "method": "GET", "timeout": -1}])),
    ] {
        let answer = gateway.control("PUT", "/tyk/apis/a", &bad.0.to_string());
        assert_eq!(answer.status, 400, "{answer}");
        assert!(answer.text().contains("Validation of API Definition failed. Reason: "), "{answer}");
    }
    assert_eq!(gateway.get("/a/").status, 200);
    assert_eq!(gateway.control("GET", "/tyk/apis", "").json().as_array().map(Vec::len), Some(1));
}

#[test]
fn an_id_cannot_lead_out_of_the_folder_of_definitions() {
    let upstream = Upstream::ok();
    let gateway = empty();
    for id in ["../escaped", "a/b", "..", "/etc/escaped", "a\\..\\b", "nul\u{0}byte"] {
        let answer = gateway.control("POST", "/tyk/apis", &api(id, "/x/", &upstream.url()).0.to_string());
        assert!(answer.status == 400 || answer.status == 200, "{answer}");
    }
    for target in ["/tyk/apis/..%2Fescaped", "/tyk/apis/%2e%2e", "/tyk/apis/..%2f..%2fetc%2fpasswd"] {
        let answer = gateway.control("DELETE", target, "");
        assert!((300..500).contains(&answer.status), "{target}: {answer}");
    }
    assert!(!gateway.dir().join("escaped.json").exists());
    assert!(!gateway.dir().join("escaped").exists());
    assert!(gateway.dir().join("tyk.conf").exists());
}

#[test]
fn a_body_of_a_hundred_megabytes_is_refused_without_being_kept() {
    let gateway = empty();
    let before = gateway.peak_rss_kib();
    let mut client = gateway.connect();
    client.send(format!(
        "POST /tyk/apis HTTP/1.1\r\nHost: h\r\nx-tyk-authorization: {SECRET}\r\nContent-Length: {}\r\n\r\n",
        100 << 20
    ));
    let mut socket = client.socket().try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        let block = vec![b' '; 1 << 20];
        for _ in 0..100 {
            if socket.write_all(&block).is_err() {
                return;
            }
        }
    });
    let response = client.response("POST");
    assert_eq!(response.status, 413, "{response}");
    drop(client);
    sender.join().unwrap();
    assert!(gateway.peak_rss_kib() < before + 48 * 1024, "{} KiB", gateway.peak_rss_kib());
    assert_eq!(gateway.get("/hello").status, 200);
}

#[test]
fn a_body_of_a_hundred_megabytes_in_chunks_is_refused_too() {
    let gateway = empty();
    let mut client = gateway.connect();
    client
        .send(format!("POST /tyk/apis HTTP/1.1\r\nHost: h\r\nx-tyk-authorization: {SECRET}\r\nTransfer-Encoding: chunked\r\n\r\n"));
    let mut socket = client.socket().try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        let block = [b"100000\r\n".to_vec(), vec![b' '; 1 << 20], b"\r\n".to_vec()].concat();
        for _ in 0..100 {
            if socket.write_all(&block).is_err() {
                return;
            }
        }
        let _ = socket.write_all(b"0\r\n\r\n");
    });
    assert_eq!(client.response("POST").status, 413);
    drop(client);
    sender.join().unwrap();
    assert_eq!(gateway.get("/hello").status, 200);
}

#[test]
fn control_paths_come_before_definitions() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("root", "/", &upstream.url()), api("t", "/tyk/", &upstream.url())]);
    assert_eq!(gateway.get("/hello").json()["status"], "pass");
    assert_eq!(gateway.get("/tyk/apis").status, 403);
    assert_eq!(gateway.get("/helloworld").text(), "ok");
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn a_very_deep_document_is_refused() {
    let gateway = empty();
    let deep = "[".repeat(200_000);
    let answer = gateway.control("POST", "/tyk/apis", &format!("{{\"config_data\":{deep}"));
    assert_eq!(answer.status, 400, "{answer}");
    assert_eq!(gateway.get("/hello").status, 200);
}

#[test]
fn writes_at_the_same_time_are_all_kept() {
    let upstream = Upstream::ok();
    let gateway = empty();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (gateway, upstream) = (&gateway, &upstream);
            scope.spawn(move || {
                let text = api(&format!("n{number}"), &format!("/n{number}/"), &upstream.url()).0.to_string();
                assert_eq!(gateway.control("POST", "/tyk/apis", &text).status, 200);
                assert_eq!(gateway.get(&format!("/n{number}/")).status, 200);
            });
        }
    });
    let list = gateway.control("GET", "/tyk/apis", "").json();
    assert_eq!(list.as_array().map(Vec::len), Some(8));
    let names: Vec<&Value> = list.as_array().unwrap().iter().map(|api| &api["api_id"]).collect();
    assert!((0..8).all(|number| names.contains(&&json!(format!("n{number}")))), "{names:?}");
}

#[test]
fn a_new_api_becomes_a_version_of_another_and_leaves_it_again() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("base", "/base/", &upstream.url())]);
    let second = api("second", "/second/", &upstream.url()).0.to_string();
    let wishes = "base_api_id=base&base_api_version_name=v1&new_version_name=v2&set_default=true";
    assert_eq!(told(&gateway.control("POST", &format!("/tyk/apis?{wishes}"), &second)), (200, done("second", "added")));
    let third = api("third", "/third/", &upstream.url()).set("internal", true).0.to_string();
    assert_eq!(gateway.control("POST", "/tyk/apis?base_api_id=base&new_version_name=v3", &third).status, 200);

    let definition = gateway.control("GET", "/tyk/apis/base", "").json()["definition"].clone();
    assert_eq!((&definition["enabled"], &definition["name"], &definition["default"]), (&json!(true), &json!("v1"), &json!("v2")));
    assert_eq!(definition["versions"], json!({"v2": "second", "v3": "third"}));
    let names = |query: &str| -> Vec<String> {
        let document = gateway.control("GET", &format!("/tyk/apis/base/versions{query}"), "").json();
        assert_eq!(document["status"], "success");
        document["apis"].as_array().unwrap().iter().map(|api| api["versionName"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(""), ["v1", "v2", "v3"]);
    assert_eq!(names("?searchText=V2"), ["v2"]);
    assert_eq!(names("?accessType=internal"), ["v3"]);
    assert_eq!(names("?accessType=external"), ["v1", "v2"]);
    for (version, target) in [("v1", "/x"), ("v2", "/x"), ("v3", "/x")] {
        let response = gateway.send(request("GET", "/base/x", &[&format!("x-api-version: {version}")], ""));
        assert_eq!((response.status, upstream.last().target.as_str()), (200, target), "{version}");
    }

    assert_eq!(told(&gateway.control("DELETE", "/tyk/apis/second", "")), (200, done("second", "deleted")));
    assert_eq!(names(""), ["v1", "v3"]);
    assert_eq!(gateway.control("GET", "/tyk/apis/base", "").json()["definition"]["default"], "self");
}

#[test]
fn a_wish_for_a_version_that_cannot_be_fulfilled_makes_nothing() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("base", "/base/", &upstream.url())]);
    let text = api("second", "/second/", &upstream.url()).0.to_string();
    for (query, status, reason) in [
        ("base_api_id=base", 422, "The new version name is required"),
        ("base_api_id=none&new_version_name=v2", 400, "none is not a valid Base API version"),
        ("base_api_id=base&new_version_name=v2", 400, "you need to provide a version name for the new Base API: base"),
    ] {
        assert_eq!(told(&gateway.control("POST", &format!("/tyk/apis?{query}"), &text)), (status, message("error", reason)));
    }
    assert_eq!(gateway.control("GET", "/tyk/apis/second", "").status, 404);
    // Nor of itself.
    let base = api("base", "/base/", &upstream.url()).0.to_string();
    let wishes = "base_api_id=base&base_api_version_name=v1&new_version_name=v2";
    let answer = gateway.control("POST", &format!("/tyk/apis?{wishes}"), &base);
    assert!(answer.status == 400 && answer.text().contains("base_api_id: an API can't be a version of itself"), "{answer}");
}

#[test]
fn what_a_link_leads_to_is_written_and_a_file_that_cannot_be_is_named() {
    let (upstream, place) = (Upstream::ok(), tempfile::tempdir().unwrap());
    let gateway = Gateway::start(json!({}), []);
    let (file, link) = (place.path().join("shop.json"), gateway.apps().join("shop.json"));
    std::fs::write(&file, api("shop", "/first/", &upstream.url()).0.to_string()).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    gateway.reload();
    let other = api("shop", "/other/", &upstream.url()).0.to_string();
    assert_eq!(gateway.control("PUT", "/tyk/apis/shop", &other).status, 200);
    assert_eq!((gateway.get("/first/").status, gateway.get("/other/").status), (404, 200));
    assert!(link.is_symlink() && std::fs::read_to_string(&file).unwrap().contains("/other/"));
    gateway.reload();
    assert_eq!(gateway.get("/other/").status, 200);

    // A directory is in the way of the file.
    std::fs::create_dir(gateway.apps().join("more.json")).unwrap();
    let answer = gateway.control("POST", "/tyk/apis", &api("more", "/more/", &upstream.url()).0.to_string());
    assert!(
        answer.status == 500 && answer.text().contains("more.json") && answer.text().contains("no file was changed"),
        "{answer}"
    );
    assert_eq!(gateway.control("DELETE", "/tyk/apis/shop", "").status, 200);
    assert!(!link.is_symlink() && file.exists(), "a link is removed, not what it leads to");
}

#[test]
fn new_definitions_of_one_change_get_files_of_their_own() {
    let upstream = Upstream::ok();
    // Its name is that of another one's file.
    let taken = api("other", "/other/", &upstream.url()).0.to_string();
    let gateway = Setup::new(json!({})).file("x.json", taken).start();
    let put = |id: &str| json!({"kind": "api", "action": "put", "document": api(id, &format!("/{id}/"), &upstream.url()).0});
    let body = json!({"digest": "*", "wait": true, "changes": [put("x"), put("x.2")]});
    let answer = gateway.control("POST", "/tyk/configuration", &body.to_string());
    assert_eq!(answer.status, 200, "{answer}");
    for target in ["/other/", "/x/", "/x.2/"] {
        assert_eq!(gateway.get(target).status, 200, "{target}");
    }
    // Nobody is there to wait for.
    assert_eq!(answer.json()["warnings"][0]["path"], "$.wait", "{answer}");
    gateway.reload();
    assert_eq!(gateway.get("/x.2/").status, 200);
}

#[test]
fn the_cache_of_an_api_that_is_not_there_is_emptied_all_the_same() {
    let gateway = empty();
    for target in ["/tyk/cache/a", "/tyk/cache/a/"] {
        assert_eq!(told(&gateway.control("DELETE", target, "")), (200, message("ok", "cache invalidated")));
    }
}

#[test]
fn the_schema_of_definitions_fits_what_is_accepted() {
    let gateway = empty();
    let answer = gateway.control("GET", "/tyk/schema", "").json();
    assert_eq!(answer["status"], "Success");
    let schema = jsonschema::draft202012::new(&answer["schema"]).expect("a schema");
    let documents = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../model/tests/documents");
    let read = |name: &str| -> Value { serde_json::from_slice(&std::fs::read(documents.join(name)).unwrap()).unwrap() };
    let written = ["dashboard-export.json", "keyless.json", "orders.json"].map(read);
    for definition in written.into_iter().chain([api("a", "/a/", "http://127.0.0.1:1").0]) {
        let faults: Vec<String> =
            schema.iter_errors(&definition).map(|fault| format!("{}: {fault}", fault.instance_path)).collect();
        assert!(faults.is_empty(), "{}: {faults:#?}", definition["name"]);
    }
    let wrong = api("a", "/a/", "http://127.0.0.1:1");
    for (path, value) in [
        ("name", json!(7)),
        ("use_keyless", json!("yes")),
        ("allowed_ips", json!("10.0.0.1")),
        ("proxy/listen_path", json!(["/a/"])),
        ("version_data/versions/Default/extended_paths/url_rewrites", json!([{"triggers": [{"options": []}]}])),
    ] {
        assert!(!schema.is_valid(&wrong.clone().set(path, value).0), "{path}");
    }
}

#[test]
fn the_schema_of_openapi_documents_fits_those_that_are_served() {
    let gateway = empty();
    let schema = |version: &str| gateway.control("GET", &format!("/tyk/schema?oasVersion={version}"), "");
    let read = |version: &str| jsonschema::validator_for(&schema(version).json()["schema"]).unwrap();
    let document = crate::harness::openapi::document("a", "http://127.0.0.1:1/");
    assert!(read("3.0.3").is_valid(&document));
    assert!(!read("3.1").is_valid(&document), "the document is of another version");
    for (place, value) in [
        ("info/id", json!(7)),
        ("server/listenPath/strip", json!("yes")),
        ("upstream/url", json!([])),
        ("middleware/operations", json!({"getThing": {"enforceTimeout": {"value": "soon"}}})),
    ] {
        let wrong = crate::harness::openapi::extended(document.clone(), place, value);
        assert!(!read("3.0").is_valid(&wrong), "{place}");
    }
    let message = r#"{"status":"Failed","message":"Schema not found for version \"2.0\""}"#;
    assert_eq!(told(&schema("2.0")), (404, format!("{message}\n")));
}

#[test]
fn the_control_api_can_have_an_address_of_its_own() {
    let port = crate::servers::free_port();
    let gateway = Gateway::start(json!({"control_api_port": port, "tollgate": {"control_listen_address": "127.0.0.2"}}), []);
    let socket = std::net::TcpStream::connect(("127.0.0.2", port)).expect("it listens there");
    let secret = format!("x-tyk-authorization: {}", crate::harness::gateway::SECRET);
    let response = crate::harness::Connection::over(socket).ask(request("GET", "/tyk/apis", &[&secret], ""));
    assert_eq!(response.status, 200, "{response}");
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err(), "and nowhere else");
    assert_eq!(gateway.control("GET", "/tyk/apis", "").status, 404);
}

#[test]
fn a_definition_is_shown_with_what_was_not_written_and_can_be_written_back() {
    let upstream = Upstream::ok();
    let written = api("a", "/a/", &upstream.url())
        .set("made_up", json!({"by": ["us"]}))
        .set("version_data/versions/Default/more", 1)
        .set("version_data/versions/Default/global_enforce_timeout", "30s")
        .set("expiration", "2999-12-31 23:59");
    let gateway = Gateway::start(json!({}), [written.clone()]);
    let shown = gateway.control("GET", "/tyk/apis/a", "").json();
    assert_eq!(gateway.control("GET", "/tyk/apis", "").json(), json!([shown]));
    // Zeros of each kind, on top and within.
    for (path, zero) in [
        ("/enable_jwt", json!(false)),
        ("/jwt_source", json!("")),
        ("/session_lifetime", json!(0)),
        ("/tags", json!(null)),
        ("/auth/use_param", json!(false)),
        ("/proxy/transport/ssl_min_version", json!(0)),
        ("/version_data/versions/Default/paths/ignored", json!(null)),
        ("/upstream_auth/oauth/enabled", json!(false)),
    ] {
        assert_eq!(shown.pointer(path), Some(&zero), "{path}");
    }
    // What was written is there, whoever knows it.
    fn within(written: &Value, shown: &Value, path: &str) {
        match written {
            Value::Object(members) => {
                members.iter().for_each(|(name, value)| within(value, &shown[name], &format!("{path}.{name}")))
            }
            written => assert_eq!(written, shown, "{path}"),
        }
    }
    within(&written.0, &shown, "$");
    let answer = gateway.control("PUT", "/tyk/apis/a", &shown.to_string());
    assert_eq!(told(&answer), (200, done("a", "modified")));
    assert_eq!(gateway.control("GET", "/tyk/apis/a", "").json(), shown);
    let response = gateway.get("/a/x");
    assert_eq!((response.status, response.header("x-tyk-api-expires")), (200, Some("Tue, 31 Dec 2999 23:59:00 UTC")));
    let check = std::process::Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("check").arg(gateway.apps().join("a.json")).output();
    let check = check.expect("it runs");
    let said = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(check.status.success() && said.contains(": 0 errors, 0 warnings, "), "{said}");
}

#[test]
fn every_protected_kind_of_definition_can_be_written_back_as_it_is_shown() {
    let upstream = Upstream::ok();
    let keyed = |id: &str| api(id, &format!("/{id}/"), &upstream.url()).set("use_keyless", false);
    let definitions = [
        keyed("key"),
        keyed("jwt").set("enable_jwt", true).set("jwt_signing_method", "hmac").set("jwt_source", "c2VjcmV0"),
        keyed("basic").set("use_basic_auth", true),
        keyed("oauth").set("use_oauth2", true),
        api("lists", "/lists/", &upstream.url())
            .list("url_rewrites", json!([{"path": "/a", "method": "GET", "match_pattern": "a", "rewrite_to": "b"}]))
            .list("white_list", json!([{"path": "/a", "method_actions": {"GET": {"action": "no_action", "code": 200}}}])),
    ];
    let gateway = Gateway::start(json!({}), definitions);
    for id in ["key", "jwt", "basic", "oauth", "lists"] {
        let before = gateway.get(&format!("/{id}/x"));
        let shown = gateway.control("GET", &format!("/tyk/apis/{id}"), "").json();
        let answer = gateway.control("PUT", &format!("/tyk/apis/{id}"), &shown.to_string());
        assert_eq!(answer.status, 200, "{id}: {answer}");
        let after = gateway.get(&format!("/{id}/x"));
        assert_eq!((after.status, after.text()), (before.status, before.text()), "{id}");
    }
}

#[test]
fn the_name_of_the_control_api_is_reported_where_it_has_no_effect() {
    let gateway = Gateway::start(json!({"control_api_hostname": "control.example"}), []);
    assert!(gateway.log().contains("$.control_api_hostname"), "{}", gateway.log());
    assert_eq!(gateway.control("GET", "/tyk/apis", "").status, 200, "as in Tyk it answers for every name");
}
