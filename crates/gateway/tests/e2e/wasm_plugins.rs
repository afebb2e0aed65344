//! Plugins in WebAssembly, made with the SDK for Rust: what hooks see and change, and what bad ones do.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::analytics::{recording, records};
use crate::harness::{Definition, Gateway, Response, Upstream, api, error_json, eventually, reply, request, skip};

/// Builds a plugin of this repository; `None` if the machine can't.
fn built(source: &str, module: &str) -> Option<PathBuf> {
    static BUILT: [OnceLock<Result<PathBuf, String>>; 2] = [OnceLock::new(), OnceLock::new()];
    let slot = usize::from(module == "told");
    match BUILT[slot].get_or_init(|| build(source, module)) {
        Ok(file) => Some(file.clone()),
        Err(reason) => {
            skip(reason);
            None
        }
    }
}

fn build(source: &str, module: &str) -> Result<PathBuf, String> {
    let program = std::env::current_exe().expect("this test");
    let target = program.ancestors().nth(3).expect("the target directory").join("test-wasm");
    if let Ok(reason) = std::fs::read_to_string(target.join("unavailable")) {
        return Err(reason);
    }
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join(source).join("Cargo.toml");
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet", "--release", "--locked", "--target", "wasm32-wasip1", "--manifest-path"]).arg(&manifest);
    // What cargo has set for this test is not for that build.
    command.arg("--target-dir").arg(&target).env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(target.join(format!("wasm32-wasip1/release/{module}.wasm")))
}

/// The plugin that does what it is told.
pub(crate) fn told() -> Option<PathBuf> {
    built("tests/e2e/wasm_plugin", "told")
}

/// A keyless API with these hooks.
fn hooked(id: &str, upstream: &Upstream, module: &Path, hooks: &[&str]) -> Definition {
    let entry = |hook: &str| json!({"name": hook, "path": module});
    let listed = |hook: &str| if hooks.contains(&hook) { json!([entry(hook)]) } else { json!([]) };
    api(id, &format!("/{id}/"), &upstream.url()).set(
        "custom_middleware",
        json!({"driver": "wasm", "pre": listed("pre"), "post": listed("post"), "post_key_auth": listed("post_key_auth"),
            "response": listed("response"), "auth_check": entry("auth_check")}),
    )
}

/// The same with a caller that the plugin identifies.
fn identified(id: &str, upstream: &Upstream, module: &Path, hooks: &[&str]) -> Definition {
    hooked(id, upstream, module, hooks).set("use_keyless", false).set("custom_plugin_auth_enabled", true).set("org_id", "org")
}

/// With time for calls: those of a module that takes long to load wait for it.
fn patient() -> Value {
    json!({"tollgate": {"plugins": {"timeout_ms": 60_000}}})
}

/// Waits until calls of the API `a` need not wait for its module.
fn is_loaded(gateway: &Gateway) {
    eventually("the module is loaded", || gateway.get("/a/x").status == 200);
}

fn send(gateway: &Gateway, target: &str, lines: &[&str]) -> Response {
    gateway.send(request("GET", target, lines, ""))
}

/// Lets a caller in as `ann`.
const ADMIT: &str = r#"X-Auth: property tollgate/session={"rate": 1000, "per": 1, "alias": "an alias", "meta_data": {"plan": "gold", "size": 7}};;property tollgate/token=ann"#;

#[test]
fn a_hook_sees_the_request_the_session_and_the_api() {
    let Some(module) = told() else { return };
    let upstream = Upstream::ok();
    let definition = identified("a", &upstream, &module, &["pre", "post_key_auth", "post"]).set("config_data", json!({"limit": 7}));
    let gateway = Gateway::start(patient(), [definition]);
    let seen = |header: &str, what: &str| {
        let show = format!("{header}: show {what}");
        let auth = if header == "X-Auth" { "X-Other: 1" } else { ADMIT };
        let lines = [auth, show.as_str(), "X-Twice: one", "X-Twice: two", "User-Agent: test"];
        let answer = gateway.send(request("POST", "/a/x%20y?p=1&p=2&q=%26", &lines, "some body"));
        assert_eq!(answer.status, 200, "{header} {what}: {}", answer.text());
        answer.text()
    };
    for (header, hook) in [("X-Pre", "pre"), ("X-Auth", "auth_check"), ("X-Key", "post_key_auth"), ("X-Post", "post")] {
        for (what, wanted) in [
            ("tollgate/hook", hook),
            ("plugin_name", hook),
            ("plugin_root_id", hook),
            ("plugin_vm_id", "a"),
            ("tollgate/api_id", "a"),
            ("tollgate/org_id", "org"),
            ("tollgate/config_data", "{\"limit\":7}"),
            ("tollgate/bundle_hash", "d41d8cd98f00b204e9800998ecf8427e"),
            ("tollgate/request_uri", "/a/x%20y?p=1&p=2&q=%26"),
            ("tollgate/params/p", "1"),
            ("tollgate/params/q", "&"),
            ("request/path", "/a/x%20y?p=1&p=2&q=%26"),
            ("request/url_path", "/a/x%20y"),
            ("request/query", "p=1&p=2&q=%26"),
            ("request/host", "gateway.test"),
            ("request/scheme", "http"),
            ("request/method", "POST"),
            ("request/headers/x-twice", "one"),
            ("request/useragent", "test"),
            ("request/size", "\t\0\0\0\0\0\0\0"),
            ("body", "some body"),
            ("response/code", "none"),
            ("no/such", "none"),
        ] {
            assert_eq!(seen(header, what), wanted, "{hook}: {what}");
        }
        let headers = seen(header, "headers");
        for line in [
            ":method=POST",
            ":path=/a/x%20y?p=1&p=2&q=%26",
            ":authority=gateway.test",
            ":scheme=http",
            "x-twice=one",
            "x-twice=two",
            "content-length=9",
        ] {
            assert!(headers.lines().any(|known| known == line), "{hook}: {line} in {headers}");
        }
        let knows_caller = matches!(hook, "post_key_auth" | "post");
        for (what, wanted) in [("tollgate/token", "ann"), ("tollgate/meta_data/plan", "gold"), ("tollgate/meta_data/size", "7")] {
            assert_eq!(seen(header, what), if knows_caller { wanted } else { "none" }, "{hook}: {what}");
        }
        if knows_caller {
            let session: Value = serde_json::from_str(&seen(header, "tollgate/session")).unwrap();
            assert_eq!(
                (&session["alias"], &session["rate"], &session["org_id"]),
                (&json!("an alias"), &json!(1000), &json!("org"))
            );
        } else {
            assert_eq!(seen(header, "tollgate/session"), "none", "{hook}");
        }
    }
    assert_eq!(upstream.requests(), 0);
    let time: u64 = send(&gateway, "/a/x", &[ADMIT, "X-Pre: time"]).text().parse().unwrap();
    assert!(time.abs_diff(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()) < 60);
}

#[test]
fn a_hook_changes_the_request() {
    let Some(module) = told() else { return };
    let upstream = Upstream::ok();
    let gateway = Gateway::start(patient(), [hooked("a", &upstream, &module, &["pre", "post"])]);
    for header in ["X-Pre", "X-Post"] {
        for (commands, method, target, text) in [
            ("", "POST", "/x?p=1", "sent"),
            ("set :method=PUT", "PUT", "/x?p=1", "sent"),
            ("set :path=/a/other", "POST", "/other", "sent"),
            ("set :path=/a/other?z=1", "POST", "/other?z=1", "sent"),
            // A path beside the listen path goes to the API's own upstream, like every other.
            ("set :path=/b/other", "POST", "/b/other", "sent"),
            ("body changed", "POST", "/x?p=1", "changed"),
            ("body ", "POST", "/x?p=1", ""),
            ("append  more", "POST", "/x?p=1", "sent more"),
            ("prepend more ;;append  end", "POST", "/x?p=1", "more sent end"),
        ] {
            let line = format!("{header}: {commands}");
            let answer = gateway.send(request("POST", "/a/x?p=1", &[&line, "X-Gone: 1", "X-Set: old"], "sent"));
            assert_eq!(answer.status, 200, "{line}: {}", answer.text());
            let seen = upstream.last();
            let all = (seen.method.as_str(), seen.target.as_str(), seen.text());
            assert_eq!(all, (method, target, text.to_owned()), "{line}");
            assert_eq!((seen.header("X-Gone"), seen.header("X-Set")), (Some("1"), Some("old")));
        }
        let line = format!("{header}: remove x-gone;;set x-set=new;;add x-more=1;;add x-more=2;;add X-Old=b");
        let answer = send(&gateway, "/a/x", &[&line, "X-Gone: 1", "X-Set: old", "X-Set: older", "X-Old: a"]);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let seen = upstream.last();
        assert_eq!((seen.header("X-Gone"), seen.head.all("X-Set")), (None, vec!["new"]), "{header}");
        assert_eq!((seen.head.all("X-More"), seen.head.all("X-Old")), (vec!["1", "2"], vec!["a", "b"]), "{header}");
        let line = format!("{header}: only X-Only=1");
        send(&gateway, "/a/x", &[&line, "X-Gone: 1"]);
        let seen = upstream.last();
        assert_eq!((seen.header("X-Only"), seen.header("X-Gone")), (Some("1"), None));
        assert!(seen.header("Host").is_some());
        // Framing is the gateway's: such headers have no effect, as with other plugins.
        for name in ["Content-Length", "Transfer-Encoding", "Host", "Connection", ":authority", ":scheme"] {
            let line = format!("{header}: set {name}=7");
            assert_eq!(send(&gateway, "/a/x", &[&line]).status, 200, "{name}");
        }
    }
}

#[test]
fn a_hook_ends_a_request_with_its_own_response() {
    let Some(module) = told() else { return };
    let upstream = Upstream::ok();
    let gateway = Gateway::start(patient(), [hooked("a", &upstream, &module, &["pre", "post"])]);
    for header in ["X-Pre", "X-Post"] {
        for (status, body) in [(200, "fine"), (201, ""), (404, "not here"), (503, "later")] {
            let answer = send(&gateway, "/a/x", &[&format!("{header}: reply {status} {body}")]);
            assert_eq!((answer.status, answer.text().as_str()), (status, body), "{header}");
            assert_eq!(answer.head.all("X-Plugin"), ["1", "2"]);
            assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
        }
    }
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_response_hook_sees_and_changes_the_response() {
    let Some(module) = told() else { return };
    let upstream = Upstream::start(|seen| match seen.target.as_str() {
        "/empty" => b"HTTP/1.1 204 No Content\r\nX-One: 1\r\n\r\n".to_vec(),
        _ => reply("200 OK", &["X-One: 1", "X-One: 2", "Content-Type: text/plain"], "hello"),
    });
    let gateway = Gateway::start(patient(), [hooked("a", &upstream, &module, &["pre", "response"])]);
    for (what, wanted) in [
        ("response/code", "\u{fffd}\0\0\0\0\0\0\0"),
        ("response/headers/x-one", "1"),
        ("request/path", "/a/x?p=1"),
        ("request/method", "GET"),
        ("tollgate/hook", "response"),
        ("body", "hello"),
    ] {
        let answer = send(&gateway, "/a/x?p=1", &[&format!("X-Response: show {what}")]);
        // A number that is no text is shown as its bytes.
        let wanted = if what == "response/code" { "[200, 0, 0, 0, 0, 0, 0, 0]" } else { wanted };
        assert_eq!((answer.status, answer.text().as_str()), (200, wanted), "{what}");
    }
    let headers = send(&gateway, "/a/x", &["X-Response: show headers"]).text();
    assert!(headers.contains(":status=200\n") && headers.contains("x-one=1\nx-one=2\n"), "{headers}");
    for (target, commands, status, one, text) in [
        ("/a/x", "", 200, &["1", "2"][..], "hello"),
        ("/a/x", "set :status=202;;set X-New=n", 202, &["1", "2"], "hello"),
        ("/a/x", "set x-one=9", 200, &["9"], "hello"),
        ("/a/x", "add x-one=3", 200, &["1", "2", "3"], "hello"),
        ("/a/x", "remove X-One", 200, &[], "hello"),
        ("/a/x", "body longer than before", 200, &["1", "2"], "longer than before"),
        ("/a/empty", "", 204, &["1"], ""),
        ("/a/x", "reply 403 no", 403, &[], "no"),
    ] {
        let answer = send(&gateway, target, &[&format!("X-Response: {commands}")]);
        assert_eq!((answer.status, answer.text().as_str()), (status, text), "{target} {commands}");
        assert_eq!(answer.head.all("X-One"), one, "{target} {commands}");
    }
    assert_eq!(send(&gateway, "/a/x", &["X-Response: set X-New=n"]).head.all("X-New"), ["n"]);
    for commands in ["panic", "set :status=no", "set :status=99", "inject X-Bad"] {
        let answer = send(&gateway, "/a/x", &[&format!("X-Response: {commands}")]);
        assert_eq!((answer.status, answer.text()), (500, error_json("Middleware error")), "{commands}");
        assert!(!answer.head.has("X-Injected"));
    }
}

#[test]
fn a_plugin_identifies_callers() {
    let Some(module) = told() else { return };
    let upstream = Upstream::ok();
    let gateway = Gateway::start(patient(), [identified("a", &upstream, &module, &["post_key_auth", "post"])]);
    assert_eq!(send(&gateway, "/a/x", &[ADMIT]).status, 200);
    for (commands, status, message) in [
        ("", 403, "Forbidden"),
        ("property tollgate/token=ann", 403, "Forbidden"),
        (r#"property tollgate/session={"rate": 1}"#, 403, "Forbidden"),
        ("property tollgate/session=nonsense;;property tollgate/token=ann", 403, "Key not authorised"),
        ("panic", 403, "Key not authorised"),
        ("pause", 403, "Key not authorised"),
    ] {
        let answer = send(&gateway, "/a/x", &[&format!("X-Auth: {commands}")]);
        assert_eq!((answer.status, answer.text()), (status, error_json(message)), "{commands}");
    }
    // The session's rights and limits count as those of a key.
    let limited = r#"X-Auth: property tollgate/session={"rate": 2, "per": 60};;property tollgate/token=bob"#;
    let statuses: Vec<u16> = (0..3).map(|_| send(&gateway, "/a/x", &[limited]).status).collect();
    assert_eq!(statuses, [200, 200, 429]);
    let urls = r#"X-Auth: property tollgate/session={"access_rights": {"a": {"api_id": "a", "versions": ["Default"], "allowed_urls": [{"url": "/a/x", "methods": ["GET"]}]}}};;property tollgate/token=eve"#;
    assert_eq!((send(&gateway, "/a/x", &[urls]).status, send(&gateway, "/a/y", &[urls]).status), (200, 403));
}

#[test]
fn metadata_that_a_hook_sets_is_seen_by_the_hooks_after_it() {
    let Some(module) = told() else { return };
    let upstream = Upstream::ok();
    let gateway = Gateway::start(patient(), [identified("a", &upstream, &module, &["post_key_auth", "post"])]);
    let set = "X-Key: property tollgate/meta_data/plan=silver";
    for (what, wanted) in [("tollgate/meta_data/plan", "silver"), ("tollgate/meta_data/size", "7")] {
        let answer = send(&gateway, "/a/x", &[ADMIT, set, &format!("X-Post: show {what}")]);
        assert_eq!((answer.status, answer.text().as_str()), (200, wanted), "{what}");
    }
    let answer = send(&gateway, "/a/x", &[ADMIT, "X-Post: show tollgate/meta_data/plan"]);
    assert_eq!(answer.text(), "gold", "only for that request");
}

#[test]
fn what_a_plugin_has_changed_decides_whether_a_request_is_recorded() {
    let Some(module) = told() else { return };
    let upstream = Upstream::ok();
    let (directory, conf) = recording(patient());
    let definition = hooked("a", &upstream, &module, &["pre"])
        .set("do_not_track", false)
        .list("do_not_track_endpoints", json!([{"path": "/private", "method": "GET"}]));
    let gateway = Gateway::start(conf, [definition]);
    for (target, commands) in [("/a/open", "set :path=/a/private"), ("/a/private", "set :path=/a/open"), ("/a/private", "")] {
        assert_eq!(send(&gateway, target, &[&format!("X-Pre: {commands}")]).status, 200);
    }
    assert_eq!(records(&directory, 1)[0]["path"], json!("/open"));
}

#[test]
fn a_bad_plugin_costs_only_its_own_requests() {
    let Some(module) = told() else { return };
    let (upstream, other) = (Upstream::ok(), Upstream::ok());
    let conf = json!({"tollgate": {"plugins": {"timeout_ms": 2_000}, "threads": 1}});
    let gateway = Gateway::start(conf, [hooked("a", &upstream, &module, &["pre"]), api("b", "/b/", &other.url())]);
    is_loaded(&gateway);
    for (what, command) in [
        ("never returns", "spin"),
        ("panics", "panic"),
        ("eats memory", "eat"),
        ("waits for nothing", "pause"),
        ("uses what is not there", "tick"),
        ("huge headers", "huge 70000"),
        ("headers beyond all bounds", "huge 1000000"),
        ("a line end in a value", "inject X-Bad"),
        ("a line end in a name", "set X-Bad:\n1=1"),
        ("an empty name", "set =1"),
        ("a bad method", "set :method=GET / HTTP/1.1"),
        ("a bad URL", "set :path=no path"),
        ("a bad status", "reply 99999 x"),
        ("no pseudo header", "set :other=1"),
        ("a property that is not its own", "property tollgate/session={}"),
    ] {
        let line = format!("X-Pre: {}", command.replace('\n', " "));
        std::thread::scope(|scope| {
            let answer = scope.spawn(|| send(&gateway, "/a/x", &[&line]));
            (0..3).for_each(|_| assert_eq!(gateway.get("/b/x").status, 200));
            assert!(command != "spin" || !answer.is_finished(), "others are served meanwhile");
            let answer = answer.join().unwrap();
            assert_eq!((answer.status, answer.text()), (500, error_json("Middleware error")), "{what}");
        });
        // On a busy machine, one call may take longer than it may.
        eventually("the next request is served", || send(&gateway, "/a/x", &[]).status == 200);
    }
    assert!(upstream.seen().iter().all(|seen| !seen.head.has("X-Injected")));
    // One call floods the log: some lines of it are there, and what it writes is one line each.
    eventually("it ends", || send(&gateway, "/a/x", &["X-Pre: log 20000"]).status == 200);
    eventually("the log says that lines are left out", || gateway.log().contains("logged too much"));
    let log = gateway.log();
    assert!(log.contains("line 0\\nforged") && !log.contains("line 99\\n"), "{log}");
    assert!(log.contains("as told"), "the message of a panic");
    eventually("what is printed is in the log", || {
        send(&gateway, "/a/x", &["X-Pre: print printed"]);
        gateway.log().contains("printed")
    });
    gateway.expect_no_panic();
}

#[test]
fn endless_loops_leave_the_data_thread_to_others() {
    let Some(module) = told() else { return };
    let (upstream, other) = (Upstream::ok(), Upstream::ok());
    let conf = json!({"tollgate": {"plugins": {"timeout_ms": 5_000}, "threads": 1}});
    let gateway = Gateway::start(
        conf,
        [hooked("a", &upstream, &module, &["pre"]), hooked("c", &upstream, &module, &["pre"]), api("b", "/b/", &other.url())],
    );
    is_loaded(&gateway);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    assert_eq!(send(&gateway, "/a/x", &["X-Pre: spin"]).status, 500);
                }
            });
        }
        // Whatever fails, the loops end.
        let served = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            std::thread::sleep(Duration::from_millis(200));
            for _ in 0..5 {
                assert_eq!(gateway.get("/b/x").status, 200);
                // On a busy machine, one call may take longer than it may.
                eventually("another API's plugin is served while the loops run", || gateway.get("/c/x").status == 200);
            }
        }));
        is_over.store(true, Ordering::Relaxed);
        served.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    eventually("the plugin serves again", || gateway.get("/a/x").status == 200);
}

#[test]
fn an_api_whose_module_cannot_be_loaded_refuses_every_request() {
    let upstream = Upstream::ok();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("no.wasm"), "no module").unwrap();
    for (path, reason) in [("missing.wasm", "No such file"), ("no.wasm", "is no module"), ("", "must name the file")] {
        let conf = json!({"middleware_path": folder.path()});
        let gateway = Gateway::start(conf, [hooked("a", &upstream, Path::new(path), &["pre"]), api("b", "/b/", &upstream.url())]);
        assert_eq!((gateway.get("/a/x").status, gateway.get("/b/x").status), (500, 200), "{reason}");
        let log = gateway.log();
        let is_told = |line: &str| line.contains("a.json") && line.contains(reason) && line.contains("every request is refused");
        assert!(log.lines().any(is_told), "{reason} in {log}");
    }
}

#[test]
fn the_example_in_rust_runs() {
    let Some(module) = built("../../examples/plugins/rust-wasm", "hello") else { return };
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plugins/rust-wasm");
    let text = std::fs::read_to_string(example.join("apps/hello.json")).unwrap();
    let text = text.replace("target/wasm32-wasip1/release/hello.wasm", module.to_str().unwrap());
    let upstream = Upstream::ok();
    let definition = Definition(serde_json::from_str(&text).unwrap()).set("proxy/target_url", upstream.url());
    let gateway = Gateway::start(patient(), [definition]);
    let answer = send(&gateway, "/hello/x", &["Authorization: open sesame"]);
    assert_eq!((answer.status, answer.header("x-bye")), (200, Some("from Rust")), "{} {}", answer.text(), gateway.log());
    assert_eq!(upstream.last().header("X-Hello"), Some("from Rust"));
    let refused = gateway.get("/hello/x");
    assert_eq!((refused.status, refused.text()), (403, "Not authorised".to_owned()));
}
