//! While a bad plugin does its worst, its own requests fail, and another API is served. Each kind of plugin has the whole table of what is
//! bad.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::neighbours::{assert_beside, beside};
use crate::harness::{Definition, Gateway, Upstream, api, eventually, request};
use crate::plugins::PluginServer;
use crate::wasm_plugins;

fn script(directory: &Path, name: &str, body: &str) -> Value {
    let code = format!(
        "var {name} = new TykJS.TykMiddleware.NewMiddleware({{}});\n\
         {name}.NewProcessRequest(function (request) {{ {body}; return {name}.ReturnData(request, {{}}) }});"
    );
    let path = directory.join(format!("{name}.js"));
    fs::write(&path, code).unwrap();
    json!({"driver": "otto", "pre": [{"name": name, "path": path}]})
}

#[test]
fn bad_scripts_leave_other_apis_served() {
    let (upstream, neighbour) = (Upstream::ok(), Upstream::ok());
    let directory = tempfile::tempdir().unwrap();
    let bad = [
        ("never_returns", "while (true) {}", 500),
        ("throws", "throw new Error('on purpose')", 500),
        ("eats_memory", "var all = []; while (true) all.push(new Array(10000).join('x'))", 500),
        ("returns_wrong_types", "request.SetHeaders = 5", 500),
        ("sets_huge_headers", "request.SetHeaders['X-A'] = 'x'.repeat(1e6)", 500),
        ("injects_headers", "request.SetHeaders['X-A'] = 'b\\r\\nX-B: c'", 500),
        ("goes_to_another_api", "request.URL = '/beside/x'", 200),
        ("recurses", "(function f() { return f() + 1 })()", 500),
        ("floods_the_log", "while (true) log('again and again')", 500),
    ];
    let hooked = |name: &str, body: &str| -> Definition {
        api(name, &format!("/{name}/"), &upstream.url()).set("custom_middleware", script(directory.path(), name, body))
    };
    let definitions = bad.iter().map(|(name, body, _)| hooked(name, body)).chain([beside(&neighbour)]);
    let gateway = Gateway::start(json!({"enable_jsvm": true, "jsvm_timeout": 3}), definitions);
    for (name, _, status) in bad {
        assert_beside(&gateway, name, &|_| request("GET", &format!("/{name}/x"), &[], ""), status);
    }
    gateway.expect_no_panic();
}

#[test]
fn bad_servers_of_plugins_leave_other_apis_served() {
    let Some(server) = PluginServer::start() else { return };
    let (upstream, neighbour) = (Upstream::ok(), Upstream::ok());
    let mut conf = server.conf();
    conf["tollgate"] = json!({"plugins": {"timeout_ms": 3_000}});
    let hooked = api("bad", "/bad/", &upstream.url()).set("custom_middleware", json!({"driver": "grpc", "pre": [{"name": "pre"}]}));
    let gateway = Gateway::start(conf, [hooked, beside(&neighbour)]);
    let of_request = |request: Value| json!({"merge": {"request": request}});
    for (what, told, status) in [
        ("never answers", json!({"sleep": 4}), 500),
        ("throws", json!({"throw": true}), 500),
        ("answers with too much", json!({"eat": 5_000_000}), 500),
        ("answers with no message", json!({"garbage": "ffffff"}), 500),
        ("sets huge headers", json!({"long": 1_000_000}), 500),
        ("injects headers", of_request(json!({"set_headers": {"X-A": "b\r\nX-B: c"}})), 500),
        ("goes to another API", of_request(json!({"url": "/beside/x"})), 200),
        // The last one: nobody starts it again.
        ("ends in mid-call", json!({"exit": true}), 500),
    ] {
        assert_beside(&gateway, what, &|_| request("GET", "/bad/x", &[&format!("X-Pre: {told}")], ""), status);
    }
    gateway.expect_no_panic();
}

#[test]
fn bad_modules_leave_other_apis_served() {
    let Some(module) = wasm_plugins::told() else { return };
    let (upstream, neighbour) = (Upstream::ok(), Upstream::ok());
    let hooked = api("bad", "/bad/", &upstream.url())
        .set("custom_middleware", json!({"driver": "wasm", "pre": [{"name": "pre", "path": module}]}));
    let gateway = Gateway::start(json!({"tollgate": {"plugins": {"timeout_ms": 3_000}}}), [hooked, beside(&neighbour)]);
    eventually("the module is loaded", || gateway.get("/bad/x").status == 200);
    for (what, told, status) in [
        ("never returns", "spin", 500),
        ("traps", "panic", 500),
        ("eats memory", "eat", 500),
        ("waits for nothing", "pause", 500),
        ("sets huge headers", "huge 100000", 500),
        ("injects headers", "inject X-A", 500),
        ("goes to another API", "set :path=/beside/x", 200),
        ("floods the log", "log 100000", 200),
    ] {
        assert_beside(&gateway, what, &|_| request("GET", "/bad/x", &[&format!("X-Pre: {told}")], ""), status);
    }
    gateway.expect_no_panic();
}
