//! Handlers of events in JavaScript: what they see and do, and what becomes of those that fail.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Gateway, Upstream, eventually};
use crate::keys::{call, keyed};

#[test]
fn a_script_handles_events() {
    let (upstream, receiver) = (Upstream::ok(), Upstream::ok());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("told.js");
    let text = format!(
        r#"
        var told = new TykJS.TykEventHandlers.NewEventHandler({{}});
        told.NewHandler(function (event, context) {{
            var call = {{Method: "POST", Domain: "{}", Resource: "/hook", Body: JSON.stringify([event, context])}};
            TykMakeHttpRequest(JSON.stringify(call));
        }});
        var broken = new TykJS.TykEventHandlers.NewEventHandler({{}});
        broken.NewHandler(function () {{ throw new Error("on purpose") }});"#,
        receiver.url()
    );
    fs::write(&path, text).unwrap();
    let handler = |name: &str| json!({"handler_name": "eh_dynamic_handler", "handler_meta": {"name": name, "path": path}});
    let events = json!({"events": {"AuthFailure": [handler("told"), handler("broken"), handler("missing")]}});
    let definition = keyed("a", &upstream).set("event_handlers", events).set("org_id", "org");
    let conf = json!({"enable_jsvm": true});
    let gateway = Gateway::start(conf, [definition.clone()]);
    // A handler that cannot be loaded is an error of its definition.
    assert!(gateway.log().contains("defines no missing"), "{}", gateway.log());
    drop(gateway);
    let events = json!({"events": {"AuthFailure": [handler("told"), handler("broken")]}});
    let gateway = Gateway::start(json!({"enable_jsvm": true}), [definition.set("event_handlers", events)]);
    assert_eq!(call(&gateway, "/a/x", "unknown").status, 403);
    eventually("the handler calls the receiver", || receiver.requests() > 0);
    let told: Value = serde_json::from_str(&receiver.last().text()).unwrap();
    let (event, context) = (&told[0], &told[1]);
    assert_eq!((&event["Type"], context), (&json!("AuthFailure"), &json!({"APIID": "a", "OrgID": "org"})));
    let meta = ["Message", "Path", "Origin", "Key"].map(|name| event["Meta"][name].clone());
    assert_eq!(meta, [json!("Auth Failure"), json!("/a/x"), json!("127.0.0.1"), json!("unknown")]);
    assert!(event["TimeStamp"].as_str().is_some_and(|time| time.starts_with("20")), "{event}");
    eventually("the other one's fault is in the log", || gateway.log().contains("Error: on purpose"));
    eventually("both are counted", || {
        let live = gateway.control("GET", "/tyk/live", "").json();
        let of =
            |name: &str| live["events"].as_array().unwrap().iter().find(|handler| handler["receiver"] == name).cloned().unwrap();
        (&of("told")["sent"], &of("broken")["failed"]) == (&json!(1), &json!(1))
    });
}
