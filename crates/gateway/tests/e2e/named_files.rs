//! Which files documents may name: those below directories of the configuration. Nobody who may write a document reads others through it.

use crate::console::user;
use crate::harness::{Definition, Gateway, Upstream, api, eventually, request};
use crate::keys::keyed;
use serde_json::{Value, json};
use std::path::Path;

/// What no one may see: it stands in a file of the data directory.
pub(crate) const CANARY: &str = "c4n4ry-7f21";
const OUTSIDE: &str = "is outside of the directories whose files documents may name";

fn base(upstream: &Upstream) -> Definition {
    api("a", "/a/", &upstream.url())
}

/// A gateway whose documents may name files below `files`, and a file of its data that they may not name.
fn start(upstream: &Upstream, files: &Path) -> (Gateway, String) {
    let conf = json!({"file": {"base_path": files}, "enable_jsvm": true, "middleware_path": files});
    let gateway = Gateway::start(conf, [base(upstream)]);
    let canary = gateway.dir().join("data/canary.js");
    // As a text, a template, a script and a header value, it is what it is.
    std::fs::write(&canary, CANARY).unwrap();
    (gateway, canary.display().to_string())
}

#[test]
fn an_editor_cannot_read_the_gateways_files_through_a_definition() {
    let upstream = Upstream::ok();
    let files = tempfile::tempdir().unwrap();
    let (gateway, canary) = start(&upstream, files.path());
    std::fs::write(files.path().join("open"), "open text").unwrap();
    std::os::unix::fs::symlink(&canary, files.path().join("link.js")).unwrap();
    let link = files.path().join("link.js").display().to_string();
    let editor = user(&gateway, "editor");
    let put = |definition: Definition| editor.call("PUT", "/apis/a", &definition.0.to_string());
    let header = |text: &str| base(&upstream).version("global_headers", json!({"X-Read": text}));
    let answer = put(header("file://open"));
    assert_eq!(answer.status, 200, "{answer}");
    gateway.get("/a/");
    assert_eq!(upstream.last().header("x-read"), Some("open text"));

    let relative = format!("../{}", canary.trim_start_matches('/'));
    for name in
        [&canary, &link, &relative, "link.js", "/etc/hostname", "../../etc/hostname", "/proc/self/environ", "data/control-secret"]
    {
        for (scheme, is_refused) in [("file://", true), ("kv://file/", true), ("$secret_file.", false)] {
            let answer = put(header(&format!("{scheme}{name}")));
            assert_eq!(answer.status == 200, !is_refused, "{scheme}{name}: {answer}");
            gateway.get("/a/");
            let seen = upstream.last();
            assert_ne!(seen.header("x-read"), Some(CANARY), "{scheme}{name}");
        }
    }
    for path in [&canary, &link, "/etc/hostname", "/no/such/file"] {
        // Without the ending .js, a plugin for records is one in Go, and nothing reads it.
        let is_read = |what: &str| what != "record script" || path.ends_with(".js");
        for (what, definition) in naming(&upstream, path).into_iter().filter(|(what, _)| is_read(what)) {
            let answer = put(definition);
            assert!(answer.status == 400 && answer.text().contains(OUTSIDE), "{what} {path}: {answer}");
        }
    }
    // Handlers of events protect nothing: the API is served without them.
    let webhook = json!({"method": "POST", "target_path": upstream.url(), "template_path": canary});
    for (name, meta) in [("eh_web_hook_handler", webhook), ("eh_dynamic_handler", json!({"name": "f", "path": canary}))] {
        let handlers = json!({"events": {"AuthFailure": [{"handler_name": name, "handler_meta": meta}]}});
        let answer = put(keyed("a", &upstream).set("event_handlers", handlers));
        assert_eq!(answer.status, 200, "{answer}");
        assert_eq!(gateway.get("/a/").status, 401);
    }
    let log = gateway.log();
    assert_eq!(log.matches(OUTSIDE).count(), 2, "{log}");
    assert!(!log.contains(CANARY), "{log}");
    assert!(!upstream.seen().iter().any(|seen| format!("{seen:?}").contains(CANARY)));
}

/// Definitions with a file in each kind of place.
fn naming(upstream: &Upstream, path: &str) -> Vec<(&'static str, Definition)> {
    let template = json!([{"path": "/x", "method": "GET", "template_data": {"input_type": "json", "template_mode": "file", "template_source": path}}]);
    let hooks = |driver: &str| json!({"driver": driver, "pre": [{"name": "f", "path": path}]});
    let with = |field: &str, value: Value| base(upstream).set(field, value);
    vec![
        ("transform", base(upstream).list("transform", template.clone())),
        ("transform_response", base(upstream).list("transform_response", template)),
        (
            "virtual",
            base(upstream).list(
                "virtual",
                json!([{"path": "/x", "method": "GET", "response_function_name": "f", "function_source_type": "file", "function_source_uri": path}]),
            ),
        ),
        ("script", with("custom_middleware", hooks("otto"))),
        ("module", with("custom_middleware", hooks("wasm"))),
        ("record script", with("analytics_plugin", json!({"enable": true, "plugin_path": path, "func_name": "f"}))),
        ("own certificate", with("certificates", json!([path]))),
        ("client certificate", with("client_certificates", json!([path]))),
        ("upstream certificate", with("upstream_certificates", json!({"*": path}))),
    ]
}

#[test]
fn a_reload_takes_the_files_of_a_definition_as_they_are_now() {
    let upstream = Upstream::ok();
    let files = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(files.path().join(name), text).unwrap();
    let path = |name: &str| files.path().join(name).display().to_string();
    let script = |word: &str| {
        format!(
            "function f(request, session, config) {{ return TykJsResponse({{Body: '{word}', Code: 200}}, session.meta_data); }}"
        )
    };
    write("template", "one");
    write("virtual.js", &script("one"));
    write("secret", "one");
    let template = json!({"template_mode": "file", "template_source": path("template"), "input_type": "json"});
    let definition = base(&upstream)
        .list("transform", json!([{"path": "/template", "method": "POST", "template_data": template}]))
        .list(
            "virtual",
            json!([{"path": "/virtual", "method": "GET", "response_function_name": "f", "function_source_type": "file",
                "function_source_uri": path("virtual.js")}]),
        )
        .version("global_headers", json!({"X-Secret": "file://secret"}));
    let conf = json!({"file": {"base_path": files.path()}, "enable_jsvm": true, "template_path": files.path()});
    let gateway = Gateway::start(conf, [definition]);
    let seen = || {
        assert_eq!(gateway.send(request("POST", "/a/template", &[], "{}")).status, 200);
        let last = upstream.last();
        [last.text(), gateway.get("/a/virtual").text(), last.header("x-secret").unwrap_or_default().to_owned()]
    };
    assert_eq!(seen(), ["one", "one", "one"]);
    write("template", "two");
    gateway.reload();
    assert_eq!(seen(), ["two", "one", "one"]);
    write("virtual.js", &script("two"));
    write("secret", "two");
    gateway.reload();
    assert_eq!(seen(), ["two", "two", "two"]);

    // A broken one is reported, and the last good version stays.
    // On a busy machine, a script may take longer to load than anybody waits for it: then it is taken, and its calls fail.
    eventually("it is reported", || {
        write("virtual.js", &script("two"));
        gateway.reload();
        write("virtual.js", "function f( {");
        gateway.reload();
        gateway.log().contains("function_source_uri")
    });
    assert_eq!(seen(), ["two", "two", "two"]);
    std::fs::remove_file(files.path().join("virtual.js")).unwrap();
    gateway.reload();
    assert!(gateway.log().contains("No such file"), "{}", gateway.log());
    assert_eq!(seen(), ["two", "two", "two"]);
    write("virtual.js", &script("three"));
    gateway.reload();
    assert_eq!(seen(), ["two", "three", "two"]);
}
