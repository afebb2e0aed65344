//! Scripts that never end, in whatever built-in function: they delay no start, no change and no other request, and their processes go away.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::{Definition, Gateway, Upstream, api, eventually, reply, request};
use crate::keys::{keyed, session, with_key};

/// A function that looks at no clock.
const HANGS: &str = "'a'.repeat(2e7).includes('a'.repeat(1e7) + 'b');";

fn virtual_api(id: &str, upstream: &Upstream, script: &str) -> Definition {
    let entry = json!({"path": "/v", "method": "GET", "response_function_name": "f", "function_source_type": "blob",
        "function_source_uri": STANDARD.encode(script)});
    api(id, &format!("/{id}/"), &upstream.url()).list("virtual", json!([entry]))
}

fn good(id: &str, upstream: &Upstream) -> Definition {
    virtual_api(id, upstream, "function f() { return TykJsResponse({Body: 'good', Code: 200}, {}) }")
}

/// The processes that a process has started.
fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect()
}

#[test]
fn a_script_that_never_loads_delays_no_start_and_no_change() {
    let upstream = Upstream::ok();
    let hostile = format!("{HANGS} {HANGS} {HANGS} while (true) {{}} function f() {{}}");
    let mut definitions: Vec<Definition> = (0..6).map(|n| virtual_api(&format!("bad{n}"), &upstream, &hostile)).collect();
    definitions.extend([good("good", &upstream), api("plain", "/plain/", &upstream.url())]);
    let gateway = Gateway::start(json!({"enable_jsvm": true, "jsvm_timeout": 2}), definitions);
    assert_eq!(gateway.get("/plain/x").status, 200);
    eventually("the good API is served", || gateway.get("/good/v").text() == "good");
    let other = virtual_api("bad7", &upstream, &hostile);
    assert_eq!(gateway.control("POST", "/tyk/apis", &other.0.to_string()).status, 200);
    assert_eq!(gateway.control("POST", "/tyk/apis", &good("new", &upstream).0.to_string()).status, 200);
    gateway.reload();
    // On a busy machine, one call may take longer than it may.
    eventually("the new API is served", || gateway.get("/new/v").text() == "good");
    eventually("the log says which scripts were not loaded", || {
        let log = gateway.log();
        log.contains("a script can't be loaded; its calls fail") && log.contains("bad7")
    });
    assert_eq!(gateway.get("/bad0/v").status, 500);
    eventually("nothing of them is left", || children(gateway.pid()).len() <= 6);
}

#[test]
fn a_call_that_cannot_be_stopped_ends_in_time_and_so_does_its_process() {
    let upstream = Upstream::ok();
    let script = format!(
        "function f(request) {{ if (request.Params.bad) {{ while (true) {{ {HANGS} }} }} return TykJsResponse({{Body: 'good', Code: 200}}, {{}}) }}"
    );
    let definitions = [virtual_api("a", &upstream, &script), good("b", &upstream), api("plain", "/plain/", &upstream.url())];
    let gateway = Gateway::start(json!({"enable_jsvm": true, "jsvm_timeout": 2}), definitions);
    for _ in 0..3 {
        let mut waiting: Vec<_> = (0..8).map(|_| gateway.connect()).collect();
        waiting.iter_mut().for_each(|client| client.send(request("GET", "/a/v?bad=1", &[], "")));
        assert_eq!(gateway.get("/plain/x").status, 200);
        eventually("another API is served", || gateway.get("/b/v").text() == "good");
        for client in &mut waiting {
            assert_eq!(client.response("GET").status, 500);
        }
    }
    // An API is never barred: its processes are killed instead.
    eventually("the API is served again", || gateway.get("/a/v").text() == "good");
    eventually("no process is left with a hostile call", || children(gateway.pid()).len() <= 6);
    gateway.expect_no_panic();
}

#[test]
fn processes_of_scripts_end_with_the_gateway() {
    let upstream = Upstream::ok();
    let mut gateway = Gateway::start(json!({"enable_jsvm": true}), [good("a", &upstream)]);
    assert_eq!(gateway.get("/a/v").text(), "good");
    let processes = children(gateway.pid());
    assert!(!processes.is_empty());
    for pid in &processes {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap();
        let names: Vec<_> = environment.split(|byte| *byte == 0).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
        assert!(
            names
                .iter()
                .all(|line| line.is_empty() || line.starts_with("TOLLGATE_SCRIPT_WORKER=") || line.starts_with("LD_LIBRARY_PATH=")),
            "{names:?}"
        );
    }
    gateway.signal("KILL");
    gateway.wait_for_exit();
    let is_gone = |pid: &u32| !Path::new(&format!("/proc/{pid}/exe")).exists();
    eventually("its processes end", || processes.iter().all(is_gone));
}

#[test]
fn a_key_that_a_script_stores_is_the_key_of_that_name() {
    let upstream = Upstream::ok();
    for hash_keys in [false, true] {
        let config = json!({"enable_jsvm": true, "jsvm_timeout": 60, "hash_keys": hash_keys});
        let script = r#"function f(request) {
            var made = JSON.parse(request.Params.session[0]);
            TykSetKeyData("made-by-script", JSON.stringify(made), "1");
            var seen = JSON.parse(TykGetKeyData("made-by-script", "a"));
            return TykJsResponse({Body: JSON.stringify([seen.alias, seen.rate]), Code: 200}, {});
        }"#;
        let keyed = keyed("k", &upstream).set("org_id", "org");
        let gateway = Gateway::start(config, [virtual_api("a", &upstream, script), keyed]);
        let rights = json!({"k": {"api_id": "k", "api_name": "k", "versions": ["Default"]}});
        let made = session(json!({"alias": "by script", "rate": 5, "per": 1, "org_id": "org", "access_rights": rights}));
        let query: String = made.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect();
        let response = gateway.get(&format!("/a/v?session={query}"));
        assert_eq!(response.text(), r#"["by script",5]"#, "{}", gateway.log());
        let stored = gateway.control("GET", "/tyk/keys/made-by-script", "");
        assert_eq!((stored.status, &stored.json()["alias"]), (200, &json!("by script")));
        assert_eq!(gateway.send(with_key("/k/x", "made-by-script")).status, 200, "{}", gateway.log());
    }
}

#[test]
fn urls_of_scripts_are_escaped_as_go_does() {
    // Recorded from Tyk 5.14.0: `url.ParseRequestURI` and `URL.String` of the Go that it is built with. It sends spaces of a query as they
    // are, which no server accepts; here they are escaped.
    let other = Upstream::start(|seen| reply("200 OK", &[], &seen.target));
    for (resource, expected) in [
        ("/a b", "/a%20b"),
        ("/a\"b", "/a%22b"),
        ("/é", "/%C3%A9"),
        ("/a#b", "/a%23b"),
        ("/a%2Fb", "/a%2Fb"),
        ("/a|b^c`d{e}f<g>h\\i", "/a%7Cb%5Ec%60d%7Be%7Df%3Cg%3Eh%5Ci"),
        ("/x?q=a b&r=é", "/x?q=a%20b&r=%C3%A9"),
        ("/x?q=\"a\"#b", "/x?q=%22a%22"),
        ("?q=1", "/?q=1"),
        ("/ok/(a)!*'~;:@&=+$,?a=b+c%20d", "/ok/(a)!*'~;:@&=+$,?a=b+c%20d"),
    ] {
        let resource: Value = resource.into();
        let script = format!(
            "function f() {{ var got = TykMakeHttpRequest(JSON.stringify({{Method: 'GET', Domain: '{}', Resource: {resource}}}));
            return TykJsResponse({{Body: got ? JSON.parse(got).Body : 'none', Code: 200}}, {{}}) }}",
            other.url()
        );
        let gateway = Gateway::start(json!({"enable_jsvm": true}), [virtual_api("a", &other, &script)]);
        assert_eq!(gateway.get("/a/v").text(), expected, "{resource}: {}", gateway.log());
    }
}
