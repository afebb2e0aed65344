//! Plugins over gRPC, in a real server in Python: what hooks see and change, and what bad ones do.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::harness::certificates::Authority;
use crate::harness::collector::{Collector, to};
use crate::harness::definition::merge;
use crate::harness::{Definition, Gateway, Response, Upstream, api, error_json, eventually, reply, request, skip};
use crate::real_clients::python;

/// The server of `plugin_server.py`.
pub(crate) struct PluginServer {
    child: Child,
    pub(crate) port: u16,
    said: Arc<Mutex<Vec<String>>>,
}

impl PluginServer {
    /// Starts it on a free port; `None` if the machine can't.
    pub(crate) fn start() -> Option<PluginServer> {
        PluginServer::start_with(crate::servers::free_port(), None)
    }

    fn start_with(port: u16, pem: Option<&str>) -> Option<PluginServer> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut command = Command::new(python()?);
        command
            .arg(root.join("tests/e2e/plugin_server.py"))
            .arg(root.join("../../examples/plugins/python-grpc"))
            .arg(port.to_string());
        command.args(pem).env_remove("http_proxy").env_remove("https_proxy").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python runs");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().expect("its port").unwrap();
        let port = first.parse().unwrap_or_else(|_| panic!("the server says {first:?}"));
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = said.clone();
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| heard.lock().unwrap().push(line)));
        Some(PluginServer { child, port, said })
    }

    pub(crate) fn said(&self, prefix: &str) -> Vec<String> {
        let said = self.said.lock().unwrap();
        said.iter().filter_map(|line| line.strip_prefix(prefix).map(str::to_owned)).collect()
    }

    pub(crate) fn conf(&self) -> Value {
        json!({"coprocess_options": {"enable_coprocess": true, "coprocess_grpc_server": format!("tcp://127.0.0.1:{}", self.port)}})
    }
}

impl Drop for PluginServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A keyless API with these hooks.
fn hooked(id: &str, upstream: &Upstream, hooks: &[&str]) -> Definition {
    let listed = |hook: &str| if hooks.contains(&hook) { json!([{"name": hook}]) } else { json!([]) };
    api(id, &format!("/{id}/"), &upstream.url()).set(
        "custom_middleware",
        json!({"driver": "grpc", "pre": listed("pre"), "post": listed("post"), "post_key_auth": listed("post_key_auth"),
            "response": listed("response"), "auth_check": {"name": "auth_check"}}),
    )
}

/// The same with a caller that the plugin identifies.
fn identified(id: &str, upstream: &Upstream, hooks: &[&str]) -> Definition {
    hooked(id, upstream, hooks).set("use_keyless", false).set("custom_plugin_auth_enabled", true).set("org_id", "org")
}

/// A header that tells a hook what to do.
fn tell(header: &str, told: &Value) -> String {
    format!("{header}: {told}")
}

fn send(gateway: &Gateway, target: &str, told: &[(&str, Value)]) -> Response {
    let lines: Vec<String> = told.iter().map(|(header, told)| tell(header, told)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    gateway.send(request("GET", target, &lines, ""))
}

/// What lets a caller in as `name`.
fn admit(name: &str) -> Value {
    json!({"merge": {"session": {"rate": 1000, "per": 1, "alias": "an alias"}, "metadata": {"token": name, "plan": "gold"}}})
}

#[test]
fn a_hook_sees_what_tyks_hooks_see() {
    let Some(server) = PluginServer::start() else { return };
    let upstream = Upstream::ok();
    let definition = identified("a", &upstream, &["pre", "post_key_auth", "post"]).set("config_data", json!({"limit": 7}));
    let gateway = Gateway::start(server.conf(), [definition]);
    let body = "{\"some\":\"body\"}";
    let seen = |header: &str| -> Value {
        let mut lines = vec![tell("X-Auth", &admit("ann")), "X-Twice: one".to_owned(), "X-Twice: two".to_owned()];
        lines.retain(|line| !line.starts_with(header));
        let mut show = if header == "X-Auth" { admit("ann") } else { json!({}) };
        show["show"] = json!(true);
        lines.push(tell(header, &show));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let answer = gateway.send(request("POST", "/a/x%20y?p=1&p=2&q=%26", &lines, body));
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/plain; charset=utf-8")), "{}", answer.text());
        answer.json()
    };
    for (header, kind, name, has_session) in [
        ("X-Pre", "Pre", "pre", false),
        ("X-Auth", "CustomKeyCheck", "auth_check", false),
        ("X-Key", "PostKeyAuth", "post_key_auth", true),
        ("X-Post", "Post", "post", true),
    ] {
        let call = seen(header);
        let request = &call["request"];
        assert_eq!((&call["hook_type"], &call["hook_name"]), (&json!(kind), &json!(name)));
        for (field, wanted) in [
            ("url", json!("/a/x%20y?p=1&p=2&q=%26")),
            ("request_uri", json!("/a/x%20y?p=1&p=2&q=%26")),
            ("method", json!("POST")),
            ("scheme", json!("http")),
            ("body", json!(body)),
            ("params", json!({"p": "1", "q": "&"})),
        ] {
            assert_eq!(request[field], wanted, "{name}: {field}");
        }
        for (header, wanted) in [("X-Twice", "one"), ("Host", "gateway.test"), ("Content-Length", "15")] {
            assert_eq!(request["headers"][header], json!(wanted), "{name}: {header}");
        }
        let spec = &call["spec"];
        assert_eq!((&spec["APIID"], &spec["OrgID"], &spec["config_data"]), (&json!("a"), &json!("org"), &json!("{\"limit\":7}")));
        assert_eq!(spec["bundle_hash"], json!("d41d8cd98f00b204e9800998ecf8427e"));
        if has_session {
            let session = &call["session"];
            assert_eq!((&session["alias"], &session["rate"]), (&json!("an alias"), &json!(1000.0)), "{name}: {session}");
            assert_eq!((&session["org_id"], &session["key_id"]), (&json!("org"), &json!("ann")), "{name}");
            assert_eq!(call["metadata"], json!({"token": "ann", "plan": "gold"}), "{name}");
        } else if header == "X-Pre" {
            assert_eq!((&call["session"], &call["metadata"]), (&Value::Null, &Value::Null), "{name}");
        }
    }
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_hook_changes_what_tyks_hooks_change() {
    let Some(server) = PluginServer::start() else { return };
    let upstream = Upstream::ok();
    let gateway = Gateway::start(server.conf(), [hooked("a", &upstream, &["pre", "post"])]);
    for header in ["X-Pre", "X-Post"] {
        for (told, method, target, text) in [
            (json!({}), "POST", "/x?p=1&q=2", "sent"),
            (json!({"merge": {"request": {"method": "PUT"}}}), "PUT", "/x?p=1&q=2", "sent"),
            (json!({"merge": {"request": {"url": "/a/other"}}}), "POST", "/other?p=1&q=2", "sent"),
            // As in Tyk, a query in the URL has no effect, and a path beside the listen path goes to the API's own upstream.
            (json!({"merge": {"request": {"url": "/b/other?z=1"}}}), "POST", "/b/other?p=1&q=2", "sent"),
            (json!({"merge": {"request": {"add_params": {"p": "9", "z": "a b"}}}}), "POST", "/x?p=9&q=2&z=a+b", "sent"),
            (json!({"merge": {"request": {"delete_params": ["p", "q"]}}}), "POST", "/x", "sent"),
            (json!({"body": "changed"}), "POST", "/x?p=1&q=2", "changed"),
            (json!({"body": ""}), "POST", "/x?p=1&q=2", ""),
        ] {
            let line = tell(header, &told);
            let answer = gateway.send(request("POST", "/a/x?p=1&q=2", &[&line, "X-Gone: 1", "X-Set: old"], "sent"));
            assert_eq!(answer.status, 200, "{header} {told}: {}", answer.text());
            let seen = upstream.last();
            let all = (seen.method.as_str(), seen.target.as_str(), seen.text());
            assert_eq!(all, (method, target, text.to_owned()), "{header} {told}");
            assert_eq!((seen.header("X-Gone"), seen.header("X-Set")), (Some("1"), Some("old")));
        }
        let told = json!({"merge": {"request": {"delete_headers": ["x-gone"], "set_headers": {"x-set": "new", "X-New": "1"}}}});
        gateway.send(request("GET", "/a/x", &[&tell(header, &told), "X-Gone: 1", "X-Set: old", "X-Set: older"], ""));
        let seen = upstream.last();
        assert_eq!((seen.header("X-Gone"), seen.header("X-New")), (None, Some("1")), "{header}");
        assert_eq!(seen.head.all("X-Set"), ["new"], "{header}");
    }
}

#[test]
fn what_an_early_hook_changes_counts_for_all_later_steps() {
    let Some(server) = PluginServer::start() else { return };
    let upstream = Upstream::ok();
    let definition = hooked("a", &upstream, &["pre"])
        .set("use_keyless", false)
        .set("enable_context_vars", true)
        .version("global_headers", json!({"X-Copy": "$tyk_context.headers_X_New"}))
        .list("transform_headers", json!([{"path": "/moved", "method": "GET", "add_headers": {"X-Endpoint": "moved"}}]));
    let gateway = Gateway::start(server.conf(), [definition]);
    let created = gateway.control(
        "POST",
        "/tyk/keys/thekey",
        &json!({"rate": 100, "per": 1, "access_rights": {"a": {"api_id": "a", "versions": ["Default"]}}}).to_string(),
    );
    assert_eq!(created.status, 200, "{}", created.text());
    let told = json!({"merge": {"request": {"set_headers": {"Authorization": "thekey", "X-New": "new"}, "url": "/a/moved"}}});
    assert_eq!(gateway.get("/a/x").status, 401, "without the plugin's header there is no key");
    let answer = send(&gateway, "/a/x", &[("X-Pre", told)]);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let seen = upstream.last();
    assert_eq!((seen.target.as_str(), seen.header("X-Copy"), seen.header("X-Endpoint")), ("/moved", Some("new"), Some("moved")));
    assert_eq!(seen.head.all("Authorization"), ["thekey"]);
}

#[test]
fn a_hook_ends_a_request_with_its_own_response() {
    let Some(server) = PluginServer::start() else { return };
    let upstream = Upstream::ok();
    let gateway = Gateway::start(server.conf(), [hooked("a", &upstream, &["pre", "post"])]);
    let overrides = |overrides: Value| json!({"merge": {"request": {"return_overrides": overrides}}});
    for header in ["X-Pre", "X-Post"] {
        for (told, status, content_type, body) in [
            (json!({"response_code": 200, "response_body": "fine"}), 200, "text/plain; charset=utf-8", "fine".to_owned()),
            (
                json!({"response_code": 201, "response_body": "{}", "headers": {"content-type": "application/json"}}),
                201,
                "application/json",
                "{}".to_owned(),
            ),
            (json!({"response_code": 403, "response_error": "no"}), 403, "application/json", error_json("no")),
            (json!({"response_code": 401}), 401, "application/json", error_json("Key not authorised")),
            (
                json!({"response_code": 418, "response_body": "teapot", "override_error": true}),
                418,
                "text/plain; charset=utf-8",
                "teapot".to_owned(),
            ),
        ] {
            let mut told = told;
            told["headers"]["x-plugin"] = json!("1");
            let answer = send(&gateway, "/a/x", &[(header, overrides(told.clone()))]);
            assert_eq!((answer.status, answer.text()), (status, body), "{header} {told}");
            assert_eq!((answer.header("content-type"), answer.header("x-plugin")), (Some(content_type), Some("1")), "{told}");
        }
    }
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_response_hook_sees_and_changes_the_response() {
    let Some(server) = PluginServer::start() else { return };
    let upstream = Upstream::start(|seen| match seen.target.as_str() {
        "/empty" => b"HTTP/1.1 204 No Content\r\nX-One: 1\r\n\r\n".to_vec(),
        "/chunked" => b"HTTP/1.1 200 OK\r\nX-One: 1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n".to_vec(),
        _ => reply("200 OK", &["X-One: 1", "X-One: 2", "Content-Type: text/plain"], "hello"),
    });
    let gateway = Gateway::start(server.conf(), [hooked("a", &upstream, &["pre", "response"])]);
    let shown = send(&gateway, "/a/x?p=1", &[("X-Response", json!({"show": true}))]).json();
    assert_eq!((&shown["hook_type"], &shown["hook_name"]), (&json!("Response"), &json!("response")));
    let response = &shown["response"];
    assert_eq!((&response["status_code"], &response["body"]), (&json!(200), &json!("hello")));
    assert_eq!((&response["headers"]["X-One"], &response["headers"]["Content-Type"]), (&json!("1"), &json!("text/plain")));
    let lines = response["multivalue_headers"].as_array().unwrap();
    assert!(lines.contains(&json!({"key": "X-One", "values": ["1", "2"]})), "{lines:?}");
    let at_upstream = format!("{}/x?p=1", upstream.url());
    assert_eq!((&shown["request"]["url"], &shown["request"]["method"]), (&json!(at_upstream), &json!("GET")));
    for (target, told, status, one, text) in [
        ("/a/x", json!({}), 200, &["1", "2"][..], "hello"),
        ("/a/x", json!({"merge": {"response": {"status_code": 202, "headers": {"X-New": "n"}}}}), 202, &["1", "2"], "hello"),
        ("/a/x", json!({"merge": {"response": {"headers": {"X-One": "9"}}}}), 200, &["9", "2"], "hello"),
        ("/a/x", json!({"drop": ["X-One"]}), 200, &[], "hello"),
        ("/a/x", json!({"response_body": "longer than before"}), 200, &["1", "2"], "longer than before"),
        ("/a/chunked", json!({"response_body": ""}), 200, &["1"], ""),
        ("/a/chunked", json!({}), 200, &["1"], "abc"),
        ("/a/empty", json!({}), 204, &["1"], ""),
    ] {
        let answer = send(&gateway, target, &[("X-Response", told.clone())]);
        assert_eq!((answer.status, answer.text().as_str()), (status, text), "{target} {told}");
        assert_eq!(answer.head.all("X-One"), one, "{target} {told}");
    }
    // Two requests on one connection: the first response does not disturb the second.
    let mut client = gateway.connect();
    for _ in 0..2 {
        let line = tell("X-Response", &json!({"sleep": 0.05}));
        assert_eq!(client.ask(request("GET", "/a/x", &[&line], "")).text(), "hello");
    }
    let head = gateway.send(request("HEAD", "/a/x", &[], ""));
    assert_eq!(head.status, 200);
    for (told, reason) in [
        (json!({"throw": true}), "throws"),
        (json!({"nothing": true}), "no response"),
        (json!({"merge": {"response": {"status_code": -5}}}), "no status"),
    ] {
        let answer = send(&gateway, "/a/x", &[("X-Response", told)]);
        assert_eq!((answer.status, answer.text()), (500, error_json("Middleware error")), "{reason}");
    }
}

#[test]
fn a_plugin_identifies_callers_and_their_limits_apply() {
    let Some(server) = PluginServer::start() else { return };
    let upstream = Upstream::ok();
    let gateway = Gateway::start(server.conf(), [identified("a", &upstream, &[]), identified("b", &upstream, &[])]);
    let limited = |name: &str| {
        let rights = json!({"a": {"api_id": "a", "versions": ["Default"]}});
        json!({"merge": {"session": {"rate": 2, "per": 60, "access_rights": rights}, "metadata": {"token": name}}})
    };
    let status = |target: &str, told: Value| send(&gateway, target, &[("X-Auth", told)]).status;
    assert_eq!([(); 3].map(|()| status("/a/x", limited("ann"))), [200, 200, 429]);
    assert_eq!(status("/a/x", limited("bob")), 200, "another caller has limits of its own");
    assert_eq!(status("/b/x", limited("cat")), 403, "no right to this API");
    let quota = json!({"merge": {"session": {"rate": 100, "per": 1, "quota_max": 1, "quota_renewal_rate": 60}, "metadata": {"token": "dan"}}});
    assert_eq!([(); 2].map(|()| status("/a/x", quota.clone())), [200, 403]);
    let refused = |told: Value| send(&gateway, "/a/x", &[("X-Auth", told)]);
    for (told, status, message) in [
        (json!({}), 403, "Forbidden"),
        (json!({"merge": {"session": {"rate": 1}}}), 403, "Forbidden"),
        (json!({"merge": {"session": {"apply_policies": ["unknown"]}, "metadata": {"token": "eve"}}}), 403, "Forbidden"),
        (json!({"throw": true}), 403, "Key not authorised"),
        (json!({"merge": {"request": {"return_overrides": {"response_code": 402, "response_error": "pay"}}}}), 402, "pay"),
    ] {
        let answer = refused(told.clone());
        assert_eq!((answer.status, answer.text()), (status, error_json(message)), "{told}");
    }
    assert_eq!(gateway.send(request("GET", "/a/x", &["Authorization: ann"], "")).status, 403, "the name of a session is no key");
}

#[test]
fn an_extractor_spares_the_plugin_calls_for_callers_it_knows() {
    let Some(server) = PluginServer::start() else { return };
    let upstream = Upstream::ok();
    let extractor =
        |with: &str, from: &str, config: Value| json!({"extract_with": with, "extract_from": from, "extractor_config": config});
    let by_header = identified("a", &upstream, &[])
        .set("custom_middleware/id_extractor", extractor("value", "header", json!({"header_name": "X-Id"})));
    let by_form = identified("b", &upstream, &[]).set(
        "custom_middleware/id_extractor",
        extractor("regex", "form", json!({"param_name": "id", "regex_expression": "[a-z]+", "regex_match_index": 1})),
    );
    let by_path = identified("c", &upstream, &[]).set(
        "custom_middleware/id_extractor",
        extractor("xpath", "body", json!({"xpath_expression": "//user[@role='admin']/@id"})),
    );
    let gateway = Gateway::start(server.conf(), [by_header, by_form, by_path]);
    let until = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() + 600;
    let told = |deadline: u64| json!({"merge": {"session": {"rate": 100, "per": 1, "id_extractor_deadline": deadline.to_string()}, "metadata": {"token": "t"}}});
    let calls = || server.said("called auth_check").len();
    let ask = |target: &str, id: &str, deadline: u64| {
        let line = tell("X-Auth", &told(deadline));
        gateway.send(request("GET", target, &[&line, id], "")).status
    };
    for (target, id, deadline, wanted) in [
        ("/a/x", "X-Id: one", until, 1),
        ("/a/x", "X-Id: one", until, 1),
        ("/a/x", "X-Id: two", 1, 2),
        ("/a/x", "X-Id: two", until, 3),
        ("/b/x?id=12ab34cd", "X-Other: 1", until, 4),
        ("/b/x?id=5xy6cd7", "X-Other: 1", until, 4),
    ] {
        assert_eq!(ask(target, id, deadline), 200, "{target} {id}");
        eventually("the server has told its calls", || calls() >= wanted);
        assert_eq!(calls(), wanted, "{target} {id}");
    }
    let line = tell("X-Auth", &told(until));
    for (body, wanted) in [
        ("<a><user role='admin' id='1'/></a>", 5),
        ("<user role='admin' id='1'>again</user>", 5),
        ("<user role='admin' id='2'/>", 6),
    ] {
        let answer = gateway.send(request("POST", "/c/x", &[&line], body));
        assert_eq!((answer.status, upstream.last().text()), (200, body.to_owned()), "{}", answer.text());
        eventually("the server has told its calls", || calls() >= wanted);
        assert_eq!(calls(), wanted, "{body}");
    }
    for target in ["/a/x", "/b/x", "/b/x?id=ab", "/c/x"] {
        let answer = gateway.get(target);
        assert_eq!((answer.status, answer.text()), (400, error_json("Authorization field missing")), "{target}");
    }
}

#[test]
fn a_bad_plugin_costs_only_its_own_requests() {
    let Some(server) = PluginServer::start() else { return };
    let upstream = Upstream::ok();
    let mut conf = server.conf();
    conf["tollgate"] = json!({"plugins": {"timeout_ms": 2_000}, "threads": 1});
    let other = Upstream::ok();
    let gateway = Gateway::start(conf, [hooked("a", &upstream, &["pre"]), api("b", "/b/", &other.url())]);
    let set = |name: &str, value: &str| json!({"merge": {"request": {"set_headers": {name: value}}}});
    for (what, told) in [
        // Longer than any client waits for an answer.
        ("never returns", json!({"sleep": 600})),
        ("throws", json!({"throw": true})),
        ("returns more than allowed", json!({"eat": 5_000_000})),
        ("returns garbage", json!({"garbage": "ffffffff"})),
        ("returns nothing", json!({"nothing": true})),
        ("huge headers", json!({"long": 70_000})),
        ("a line end in a value", set("X-Bad", "1\r\nX-Injected: 1")),
        ("a line end in a name", set("X-Bad: 1\r\nX-Injected", "1")),
        ("an empty name", set("", "1")),
        ("a bad method", json!({"merge": {"request": {"method": "GET / HTTP/1.1\r\n"}}})),
        ("a bad URL", json!({"merge": {"request": {"url": "no path"}}})),
        ("a line end in a URL", json!({"merge": {"request": {"url": "/a/x\r\nX-Injected: 1"}}})),
        ("a bad status", json!({"merge": {"request": {"return_overrides": {"response_code": 99_999}}}})),
    ] {
        let line = tell("X-Pre", &told);
        std::thread::scope(|scope| {
            let answer = scope.spawn(|| gateway.send(request("GET", "/a/x", &[&line], "")));
            (0..3).for_each(|_| assert_eq!(gateway.get("/b/x").status, 200));
            assert!(what != "never returns" || !answer.is_finished(), "others are served meanwhile");
            let answer = answer.join().unwrap();
            assert_eq!((answer.status, answer.text()), (500, error_json("Middleware error")), "{what}");
        });
    }
    // Framing is the gateway's: such headers have no effect, as in Tyk.
    for name in ["Content-Length", "Transfer-Encoding", "Host", "Connection"] {
        let answer = send(&gateway, "/a/x", &[("X-Pre", set(name, "7"))]);
        assert_eq!(answer.status, 200, "{name}: {}", answer.text());
    }
    assert!(upstream.seen().iter().all(|seen| !seen.head.has("X-Injected")));
    gateway.expect_no_panic();
}

#[test]
fn calls_of_a_dead_server_fail_or_are_left_out_until_it_comes_back() {
    let Some(server) = PluginServer::start() else { return };
    let upstream = Upstream::ok();
    let definitions = || [hooked("a", &upstream, &["pre"]), identified("b", &upstream, &[])];
    let closed = Gateway::start(server.conf(), definitions());
    let mut conf = server.conf();
    conf["tollgate"] = json!({"plugins": {"on_failure": "open"}});
    let open = Gateway::start(conf, definitions());
    assert_eq!((closed.get("/a/x").status, open.get("/a/x").status), (200, 200));
    // It dies in the middle of a call.
    let died = send(&closed, "/a/x", &[("X-Pre", json!({"exit": true}))]);
    assert_eq!((died.status, died.text()), (500, error_json("Middleware error")));
    for _ in 0..5 {
        let answer = closed.get("/a/x");
        assert_eq!((answer.status, answer.text()), (500, error_json("Middleware error")));
        assert_eq!(closed.get("/b/x").text(), error_json("Key not authorised"));
    }
    assert_eq!(open.get("/a/x").status, 200, "the request goes on without the plugin");
    assert_eq!(open.get("/b/x").status, 403, "an outage admits nobody");
    assert!(closed.log().contains("can't be reached"), "{}", closed.log());
    let port = server.port;
    drop(server);
    let Some(_again) = PluginServer::start_with(port, None) else { return };
    eventually("the new server is found", || closed.get("/a/x").status == 200);
}

#[test]
fn plugins_are_reached_over_tls() {
    let authority = Authority::new("plugins");
    let dir = tempfile::tempdir().unwrap();
    authority.issue(&["localhost"]).write(dir.path(), "own.pem");
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("roots.pem"), authority.pem()).unwrap();
    let Some(server) = PluginServer::start_with(0, Some(&path("own.pem"))) else { return };
    let upstream = Upstream::ok();
    let conf = |tls: Value| {
        let address = format!("https://localhost:{}", server.port);
        json!({"coprocess_options": {"enable_coprocess": true, "coprocess_grpc_server": address}, "tollgate": {"plugins": {"grpc_tls": tls}}})
    };
    for (tls, status) in [
        (json!({"ca_file": path("roots.pem")}), 200),
        (json!({"insecure_skip_verify": true}), 200),
        (json!({"ca_file": path("roots.pem"), "server_name": "other.test"}), 500),
        (json!({}), 500),
    ] {
        let gateway = Gateway::start(conf(tls.clone()), [hooked("a", &upstream, &["pre"])]);
        assert_eq!(gateway.get("/a/x").status, status, "{tls}: {}", gateway.log());
    }
}

#[test]
fn an_api_whose_plugins_cannot_be_loaded_refuses_every_request() {
    let upstream = Upstream::ok();
    let on = |server: &str| json!({"coprocess_options": {"enable_coprocess": true, "coprocess_grpc_server": server}});
    for (conf, reason) in [
        (json!({}), "coprocess_options.enable_coprocess"),
        (on(""), "coprocess_options.coprocess_grpc_server"),
        (on("ftp://plugins:1"), "scheme"),
    ] {
        let gateway = Gateway::start(conf, [hooked("a", &upstream, &["pre"]), api("b", "/b/", &upstream.url())]);
        let answer = gateway.get("/a/x");
        assert_eq!((answer.status, answer.text()), (500, error_json("Middleware error")), "{reason}");
        assert_eq!(gateway.get("/b/x").status, 200);
        let log = gateway.log();
        let is_told = |line: &str| line.contains("a.json") && line.contains(reason) && line.contains("every request is refused");
        assert!(log.lines().any(is_told), "{reason} in {log}");
    }
    for (driver, way_out) in [("goplugin", "gRPC"), ("python", "gRPC"), ("lua", "grpc"), ("other", "other")] {
        let definition = hooked("a", &upstream, &["pre"]).set("custom_middleware/driver", driver);
        let gateway = Gateway::start(json!({}), [definition]);
        assert_eq!(gateway.get("/a/x").status, 404, "{driver}");
        let log = gateway.log();
        assert!(
            log.lines().any(|line| line.contains("ERROR") && line.contains(driver) && line.contains(way_out)),
            "{driver} in {log}"
        );
    }
}

#[test]
fn the_example_in_python_runs() {
    let Some(python) = python() else { return };
    let mut command = Command::new(python);
    command.arg(example("python-grpc").join("server.py")).env_remove("http_proxy").env_remove("https_proxy");
    example_runs(command, &example("python-grpc"), "Python");
}

#[test]
fn the_example_in_go_runs() {
    let program = std::env::current_exe().expect("this test");
    let directory = program.ancestors().nth(3).expect("the target directory").join("test-go/go-grpc");
    if let Ok(reason) = std::fs::read_to_string(directory.join("unavailable")) {
        return skip(&reason);
    }
    let program = directory.join("hello");
    assert!(program.exists(), "{} is missing: run scripts/test-deps.sh tests", program.display());
    example_runs(Command::new(program), &example("go-grpc"), "Go");
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plugins").join(name)
}

/// Runs a server and its three hooks, which name its language.
fn example_runs(mut command: Command, example: &Path, language: &str) {
    let mut child = command.arg("0").stdout(Stdio::piped()).spawn().expect("the server runs");
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).expect("its port");
    let port = line.trim().strip_prefix("listening on ").and_then(|port| port.parse().ok()).unwrap_or_else(|| panic!("{line:?}"));
    let server = PluginServer { child, port, said: Arc::default() };
    let read = |name: &str| -> Value { serde_json::from_slice(&std::fs::read(example.join(name)).unwrap()).unwrap() };
    let mut conf = read("tyk.conf");
    let written = conf["coprocess_options"].take();
    assert_eq!(written, json!({"enable_coprocess": true, "coprocess_grpc_server": "tcp://127.0.0.1:5555"}));
    let upstream = Upstream::ok();
    let gateway = Gateway::start(server.conf(), [Definition(read("apps/hello.json")).set("proxy/target_url", upstream.url())]);
    let answer = gateway.send(request("GET", "/hello/x", &["Authorization: open sesame"], ""));
    let greeting = format!("from {language}");
    assert_eq!((answer.status, answer.header("x-bye")), (200, Some(greeting.as_str())), "{}", answer.text());
    assert_eq!(upstream.last().header("X-Hello"), Some(greeting.as_str()));
    let refused = gateway.get("/hello/x");
    assert_eq!((refused.status, refused.text()), (403, error_json("Not authorised")));
}

#[test]
fn a_handler_in_a_plugin_gets_the_events_of_its_api() {
    let Some(server) = PluginServer::start() else { return };
    let upstream = Upstream::ok();
    let handler = |meta: Value| json!([{"handler_name": "cp_dynamic_handler", "handler_meta": meta}]);
    let definition = api("a", "/a/", &upstream.url()).set("use_keyless", false).set("org_id", "org").set(
        "event_handlers",
        json!({"events": {"AuthFailure": handler(json!({"name": "on_failure"})), "VersionFailure": handler(json!({"name": "off", "disabled": true}))}}),
    );
    let gateway = Gateway::start(server.conf(), [definition.clone()]);
    assert_eq!(gateway.send(request("GET", "/a/x", &["Authorization: unknown"], "")).status, 403);
    eventually("the server gets the event", || !server.said("event ").is_empty());
    let event: Value = serde_json::from_str(&server.said("event ")[0]).unwrap();
    assert_eq!((&event["handler_name"], &event["spec"]), (&json!("on_failure"), &json!({"APIID": "a", "OrgID": "org"})));
    let message = &event["message"];
    assert_eq!((&message["Type"], &message["Meta"]["Path"]), (&json!("AuthFailure"), &json!("/a/x")));
    assert_eq!((&message["Meta"]["Message"], &message["Meta"]["Key"]), (&json!("Auth Failure"), &json!("unknown")));
    // Without a server the handler is left out, and that is told.
    let gateway = Gateway::start(json!({}), [definition]);
    let log = gateway.log();
    assert!(log.contains("AuthFailure[0].handler_meta.name") && log.contains("gRPC plugins are off"), "{log}");
    assert_eq!(gateway.get("/a/x").status, 401);
}

#[test]
fn a_caller_whom_a_plugin_refuses_is_an_event() {
    let Some(server) = PluginServer::start() else { return };
    let upstream = Upstream::ok();
    let handlers =
        json!({"events": {"AuthFailure": [{"handler_name": "cp_dynamic_handler", "handler_meta": {"name": "on_failure"}}]}});
    let gateway = Gateway::start(server.conf(), [identified("a", &upstream, &["pre"]).set("event_handlers", handlers)]);
    let refuses = json!({"merge": {"request": {"return_overrides": {"response_code": 403}}}});
    // A refusal of another hook is none, and one without a session is.
    for (header, status, events) in [("X-Pre", 403, 0), ("X-Auth", 403, 1), ("X-Other", 403, 2)] {
        assert_eq!(send(&gateway, "/a/x", &[(header, refuses.clone())]).status, status, "{header}");
        eventually("the server has the events", || server.said("event ").len() >= events);
    }
    let event: Value = serde_json::from_str(&server.said("event ")[0]).unwrap();
    assert_eq!((&event["message"]["Type"], server.said("event ").len()), (&json!("AuthFailure"), 2));
}

#[test]
fn calls_carry_the_trace_of_their_request() {
    let Some(server) = PluginServer::start() else { return };
    let (upstream, collector) = (Upstream::ok(), Collector::http());
    let mut conf = to(&collector, json!({}));
    merge(&mut conf, &server.conf());
    let gateway = Gateway::start(conf, [hooked("a", &upstream, &["pre", "response"])]);
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let line = format!("traceparent: 00-{trace}-b7ad6b7169203331-01");
    assert_eq!(gateway.send(request("GET", "/a/x", &[&line], "")).status, 200);
    eventually("both hooks are called", || server.said("traced ").len() == 2);
    let spans = collector.spans(2);
    let of_request = spans.iter().find(|span| span.parent_span_id == [0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31]).unwrap();
    let parent: String = of_request.span_id.iter().map(|byte| format!("{byte:02x}")).collect();
    for (called, hook) in server.said("traced ").iter().zip(["pre", "response"]) {
        assert_eq!(*called, format!("{hook} 00-{trace}-{parent}-01"));
    }
    let untraced = Gateway::start(server.conf(), [hooked("a", &upstream, &["pre"])]);
    assert_eq!(untraced.get("/a/x").status, 200);
    assert_eq!(server.said("traced ").len(), 2);
}

#[test]
fn plugins_of_records_are_reported() {
    let Some(server) = PluginServer::start() else { return };
    let upstream = Upstream::ok();
    let definition = hooked("a", &upstream, &["pre"]).set("custom_middleware/traffic_logs", json!({"name": "f", "path": "f.so"}));
    let gateway = Gateway::start(server.conf(), [definition]);
    assert_eq!(gateway.get("/a/x").status, 200);
    assert!(gateway.log().contains("custom_middleware.traffic_logs"), "{}", gateway.log());
}

#[test]
fn calls_of_plugins_are_counted() {
    let Some(server) = PluginServer::start() else { return };
    let upstream = Upstream::ok();
    let gateway = Gateway::start(server.conf(), [hooked("a", &upstream, &["pre", "response"])]);
    assert_eq!(gateway.get("/a/x").status, 200);
    assert_eq!(send(&gateway, "/a/x", &[("X-Pre", json!({"throw": true}))]).status, 500);
    let text = gateway.control("GET", "/tyk/metrics", "").text();
    for (hook, result, count) in [("pre", "answered", 1), ("pre", "failed", 1), ("response", "answered", 1)] {
        let sample =
            format!("tollgate_plugin_calls_total{{api=\"a\",hook=\"{hook}\",function=\"{hook}\",result=\"{result}\"}} {count}\n");
        assert!(text.contains(&sample), "{sample} in {text}");
    }
    assert!(text.contains("tollgate_plugin_seconds_total{api=\"a\",hook=\"pre\",function=\"pre\"}"), "{text}");
}
