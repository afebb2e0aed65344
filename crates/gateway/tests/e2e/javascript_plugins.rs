//! Plugins in JavaScript: what they see and change, and what a bad one cannot do. Names and wordings are those of Tyk's `mw_js_plugin.go` and
//! `mw_js_plugin_response.go`.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::scripts::{Scripts, with_hooks};
use crate::harness::{Definition, Gateway, Response, Upstream, api, error_json, eventually, request};

const FAILED: &str = "Middleware error";

fn start(definitions: impl IntoIterator<Item = Definition>) -> Gateway {
    Gateway::start(json!({"enable_jsvm": true, "jsvm_timeout": 3}), definitions)
}

fn refusal(response: &Response) -> (u16, String) {
    (response.status, response.text())
}

#[test]
fn bad_plugins_fail_in_time_and_others_are_served() {
    let upstream = Upstream::ok();
    let scripts = Scripts::new();
    let bad = [
        ("endless", "while (true) {}"),
        ("throws", "throw new Error('on purpose')"),
        ("eats", "var all = []; while (true) all.push(new Array(10000).join('x'))"),
        ("nothing", "return"),
        ("text", "return 'text'"),
        ("types", "request.SetHeaders = 5; return types.ReturnData(request, {})"),
        ("number", "request.SetHeaders['X-A'] = 5; return number.ReturnData(request, {})"),
        ("huge", "request.SetHeaders['X-A'] = 'x'.repeat(1e6); return huge.ReturnData(request, {})"),
        ("injects", "request.SetHeaders['X-A'] = 'b\\r\\nX-B: c'; return injects.ReturnData(request, {})"),
        ("name", "request.SetHeaders['X A'] = 'b'; return name.ReturnData(request, {})"),
        ("floods", "while (true) log('again and again')"),
        ("recurses", "function f() { return f() + 1 } return f()"),
    ];
    let definitions = bad.map(|(name, body)| {
        with_hooks(api(name, &format!("/{name}/"), &upstream.url()), json!({"pre": [scripts.on_request(name, body)]}))
    });
    let other = "request.URL = '/plain/secret'; return moves.ReturnData(request, {})";
    let moves = with_hooks(api("moves", "/moves/", &upstream.url()), json!({"pre": [scripts.on_request("moves", other)]}));
    let secret = Upstream::ok();
    let gateway = start(definitions.into_iter().chain([moves, api("plain", "/plain/", &secret.url())]));
    for (name, _) in bad {
        assert_eq!(refusal(&gateway.get(&format!("/{name}/x"))), (500, error_json(FAILED)), "{name}");
        assert_eq!(gateway.get("/plain/x").status, 200, "{name}");
    }
    assert_eq!(upstream.requests(), 0);
    // A path of another API is one of the script's own upstream.
    let before = secret.requests();
    assert_eq!(gateway.get("/moves/x").status, 200);
    assert_eq!((upstream.requests(), secret.requests()), (1, before));
    eventually("a fault is in the log with its place", || gateway.log().contains("throws.js, line 2"));
}

#[test]
fn the_example_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plugins/javascript");
    let upstream = Upstream::ok();
    let mut definition: Value = serde_json::from_slice(&fs::read(folder.join("apps/greeting.json")).unwrap()).unwrap();
    definition["proxy"]["target_url"] = json!(upstream.url());
    let at_home = |value: &mut Value| *value = json!(folder.join(value.as_str().unwrap()));
    at_home(&mut definition["custom_middleware"]["pre"][0]["path"]);
    at_home(&mut definition["version_data"]["versions"]["Default"]["extended_paths"]["virtual"][0]["function_source_uri"]);
    let conf = json!({"enable_jsvm": true, "middleware_path": folder});
    let gateway = Gateway::start(conf, [Definition(definition)]);
    let response = gateway.send(request("GET", "/greeting/x", &["X-Secret: s"], ""));
    assert_eq!(response.status, 200, "{response} {}", gateway.log());
    assert_eq!((upstream.last().header("x-greeting"), upstream.last().header("x-secret")), (Some("Hello from JavaScript"), None));
    assert_eq!(refusal(&gateway.get("/greeting/x?drink=tea")), (418, error_json("No tea here")));
    assert_eq!(refusal(&gateway.get("/greeting/sum?n=1&n=2&n=39")), (200, r#"{"sum":42}"#.to_owned()));
    let checked =
        Command::new(env!("CARGO_BIN_EXE_tollgate")).args(["check", "--conf", "tyk.conf"]).current_dir(&folder).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
}
