//! Plugins that change analytics records before they are written: `custom_middleware.traffic_logs` and `analytics_plugin`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::analytics::{recording, records, tracked};
use crate::harness::{Definition, Gateway, Upstream, eventually};

/// Masks, renames, drops and fails, as the path of a request asks for.
const MASK: &str = r#"
    function mask(record, config) {
        if (record.path === "/dropped") return null;
        if (record.path === "/throws") throw new Error("on purpose");
        if (record.path === "/endless") while (true) {}
        if (record.path === "/types") record.response_code = "no number";
        if (record.path === "/nothing") return 5;
        if (record.path === "/replaced") return {method: "PUT", path: "/by another", api_id: record.api_id};
        record.alias = [record.method, record.response_code, record.raw_path, config.config_data.secret].join(" ");
        record.path = "/masked";
        record.tags.push("seen");
        record.ip_address = "";
    }"#;

fn script(directory: &Path, name: &str, code: &str) -> String {
    let file = directory.join(name);
    fs::write(&file, code).unwrap();
    file.to_str().unwrap().to_owned()
}

fn hooked(definition: Definition, path: &str) -> Definition {
    let section = json!({"driver": "otto", "traffic_logs": {"name": "mask", "path": path}});
    definition.set("custom_middleware", section).set("config_data", json!({"secret": "s3"}))
}

fn count(gateway: &Gateway, sample: &str) -> f64 {
    let text = gateway.control("GET", "/tyk/metrics", "").text();
    let line = text.lines().find_map(|line| line.strip_prefix(sample)).unwrap_or_else(|| panic!("no {sample} in {text}"));
    line.trim().parse().unwrap()
}

#[test]
fn a_plugin_changes_or_drops_records_before_they_are_written() {
    let upstream = Upstream::ok();
    let (directory, conf) = recording(json!({"enable_jsvm": true, "jsvm_timeout": 3}));
    let path = script(directory.path(), "mask.js", MASK);
    let gateway = Gateway::start(conf, [hooked(tracked("a", "/a/", &upstream), &path), tracked("b", "/b/", &upstream)]);
    for target in ["/a/x", "/a/dropped", "/a/throws", "/a/endless", "/a/types", "/a/nothing", "/a/replaced", "/b/x"] {
        assert_eq!(gateway.get(target).status, 200, "{target}: the request itself never waits for its record");
    }
    let mut written = records(&directory, 3);
    written.sort_by_key(|record| record["path"].to_string());
    let [replaced, masked, plain] = written.as_slice() else { panic!("{written:?}") };
    assert_eq!((&plain["path"], &plain["api_id"], &plain["alias"]), (&json!("/x"), &json!("b"), &json!("")));
    assert_eq!(
        (&masked["path"], &masked["alias"], &masked["ip_address"]),
        (&json!("/masked"), &json!("GET 200 /x s3"), &json!(""))
    );
    assert_eq!(
        (&masked["raw_path"], &masked["host"]),
        (&json!("/x"), &plain["host"]),
        "what it leaves alone is as in other records"
    );
    assert!(masked["tags"].as_array().unwrap().contains(&json!("seen")), "{masked}");
    assert!(masked["timestamp"].as_str().unwrap().starts_with("20"), "{masked}");
    // What a function returns takes the place of the whole record.
    assert_eq!(
        (&replaced["path"], &replaced["method"], &replaced["user_agent"]),
        (&json!("/by another"), &json!("PUT"), &json!(""))
    );
    // A record whose plugin fails is not written: it may hide something.
    eventually("all failures are counted", || {
        count(&gateway, "tollgate_sink_records_total{sink=\"record_plugins\",result=\"failed\"}") == 4.0
    });
    assert_eq!(count(&gateway, "tollgate_sink_records_total{sink=\"record_plugins\",result=\"written\"}"), 2.0);
    eventually("no record is under way", || count(&gateway, "tollgate_sink_waiting_records{sink=\"record_plugins\"}") == 0.0);
    let calls = |result: &str| {
        count(
            &gateway,
            &format!("tollgate_plugin_calls_total{{api=\"a\",hook=\"traffic_logs\",function=\"mask\",result=\"{result}\"}}"),
        )
    };
    assert_eq!((calls("answered"), calls("failed")), (3.0, 4.0));
    assert!(gateway.log().contains("its record is not written"), "{}", gateway.log());
}

#[test]
fn usage_counts_records_as_the_plugin_has_made_them() {
    let upstream = Upstream::ok();
    let (directory, conf) = recording(json!({"enable_jsvm": true}));
    let path = script(directory.path(), "mask.js", MASK);
    let gateway = Gateway::start(conf, [hooked(tracked("a", "/a/", &upstream), &path)]);
    for target in ["/a/x", "/a/y", "/a/dropped"] {
        assert_eq!(gateway.get(target).status, 200);
    }
    let rows = || -> Vec<Value> {
        let answer = gateway.control("GET", "/tyk/usage?by=path&api_id=a", "").json();
        answer["rows"].as_array().cloned().unwrap_or_default()
    };
    eventually("usage is written", || !rows().is_empty());
    let told = Value::from(rows()).to_string();
    assert!(told.contains("/masked") && !told.contains("/x") && !told.contains("/dropped"), "{told}");
}

#[test]
fn the_older_field_names_a_script_too() {
    let upstream = Upstream::ok();
    let (directory, conf) = recording(json!({"enable_jsvm": true}));
    let path = script(directory.path(), "mask.js", MASK);
    let plugin = json!({"enable": true, "plugin_path": path, "func_name": "mask"});
    let definition = tracked("a", "/a/", &upstream).set("analytics_plugin", plugin);
    let gateway = Gateway::start(conf, [definition.set("config_data", json!({"secret": "s3"}))]);
    assert_eq!(gateway.get("/a/x").status, 200);
    assert_eq!(records(&directory, 1)[0]["path"], "/masked");
}

#[test]
fn plugins_that_cannot_run_here_are_reported_and_broken_ones_write_nothing() {
    let upstream = Upstream::ok();
    let (directory, conf) = recording(json!({"enable_jsvm": true}));
    let broken = script(directory.path(), "broken.js", "function ( {");
    let good = script(directory.path(), "mask.js", MASK);
    let with = |id: &str, section: Value| tracked(id, &format!("/{id}/"), &upstream).set("custom_middleware", section);
    let hook = |driver: &str, name: &str, path: &str| json!({"driver": driver, "traffic_logs": {"name": name, "path": path}});
    let older = tracked("old", "/old/", &upstream)
        .set("analytics_plugin", json!({"enable": true, "plugin_path": "/opt/plugin.so", "func_name": "Mask"}));
    let definitions = [
        with("go", hook("goplugin", "Mask", "/opt/plugin.so")),
        with("grpc", hook("grpc", "mask", "")),
        with("wasm", hook("wasm", "mask", "mask.wasm")),
        older,
        with("broken", hook("otto", "mask", &broken)),
        with("unnamed", hook("otto", "other", &good)),
        with("off", json!({"driver": "otto", "traffic_logs": {"name": "mask", "path": broken, "disabled": true}})),
    ];
    let mut conf = conf;
    conf["coprocess_options"] = json!({"enable_coprocess": true, "coprocess_grpc_server": "tcp://127.0.0.1:1"});
    let gateway = Gateway::start(conf, definitions);
    for id in ["go", "grpc", "wasm", "old", "broken", "unnamed", "off"] {
        assert_eq!(gateway.get(&format!("/{id}/x")).status, 200, "{id} {}", gateway.log());
    }
    let mut ids: Vec<String> = records(&directory, 5).iter().map(|record| record["api_id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    assert_eq!(ids, ["go", "grpc", "off", "old", "wasm"]);
    let log = gateway.log();
    for expected in ["only functions in JavaScript change analytics records", "SyntaxError", "defines no other"] {
        assert!(log.contains(expected), "{expected}: {log}");
    }
    assert_eq!(log.matches("Records stay as they are").count(), 4, "{log}");
    assert_eq!(log.matches("no records of the API are written").count(), 2, "{log}");
}
