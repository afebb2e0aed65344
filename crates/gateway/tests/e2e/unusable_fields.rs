//! Fields that can't be used: one that protects nothing has no effect and its API is served; one that protects something keeps its API away.

use serde_json::{Value, json};

use crate::harness::{Definition, Gateway, Upstream, api};

const EXTENDED: &str = "$.version_data.versions.Default.extended_paths";

fn plain(upstream: &Upstream) -> Definition {
    api("a", "/a/", &upstream.url())
}

/// A definition whose queries are executed, with one source.
fn executed(upstream: &Upstream, source: Value) -> Definition {
    plain(upstream).set(
        "graphql",
        json!({
            "enabled": true, "version": "2", "execution_mode": "executionEngine", "schema": "type Query { a: String }",
            "engine": {"field_configs": [], "data_sources": [source]}
        }),
    )
}

fn source(type_name: &str, fields: &[&str], url: &str) -> Value {
    json!({"kind": "REST", "name": "s", "root_fields": [{"type": type_name, "fields": fields}], "config": {"url": url, "method": "GET"}})
}

fn webhook(upstream: &Upstream, change: Value) -> Definition {
    let mut meta = json!({"method": "POST", "target_path": "http://127.0.0.1:9/", "event_timeout": 1});
    meta.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    let handler = json!({"handler_name": "eh_web_hook_handler", "handler_meta": meta});
    plain(upstream).set("event_handlers", json!({"events": {"AuthFailure": [handler]}}))
}

fn rewrite(upstream: &Upstream, change: Value) -> Definition {
    let mut entry = json!({"path": "/x", "method": "GET", "match_pattern": "/x", "rewrite_to": "/y"});
    entry.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    plain(upstream).list("url_rewrites", json!([entry]))
}

fn trigger(upstream: &Upstream, on: &str, pattern: &str) -> Definition {
    rewrite(
        upstream,
        json!({"triggers": [{"on": on, "options": {"header_matches": {"X-A": {"match_rx": pattern}}}, "rewrite_to": "/z"}]}),
    )
}

fn template(upstream: &Upstream, list: &str, mode: &str, text: &str) -> Definition {
    let data = json!({"template_mode": mode, "template_source": text, "input_type": "json"});
    plain(upstream).list(list, json!([{"path": "/x", "method": "POST", "template_data": data}]))
}

fn checked(upstream: &Upstream, check: Value, decides: bool) -> Definition {
    plain(upstream).set("uptime_tests", json!({"check_list": [check]})).set("proxy/check_host_against_uptime_tests", decides)
}

/// A definition, where its problem is, and whether it is served.
fn cases(upstream: &Upstream) -> Vec<(Definition, String, bool)> {
    let good = "http://127.0.0.1:9/";
    let meta = "$.event_handlers.events.AuthFailure[0].handler_meta";
    let at = |place: &str| format!("{EXTENDED}.{place}");
    let sources = "$.graphql.engine.data_sources[0]";
    vec![
        // Nobody can ask for such a field.
        (executed(upstream, source("Query", &["a", "nobody"], good)), format!("{sources}.root_fields[0]"), true),
        (executed(upstream, source("Nothing", &["a"], good)), format!("{sources}.root_fields[0]"), true),
        // Where to.
        (executed(upstream, source("Query", &["a"], "")), format!("{sources}.config.url"), false),
        (executed(upstream, json!({"kind": "Nobody", "name": "s"})), format!("{sources}.kind"), false),
        // Who is told.
        (webhook(upstream, json!({"target_path": "/hook"})), format!("{meta}.target_path"), true),
        (webhook(upstream, json!({"target_path": "ftp://a/"})), format!("{meta}.target_path"), true),
        (webhook(upstream, json!({"method": "BREW"})), format!("{meta}.method"), true),
        (webhook(upstream, json!({"header_map": {"a b": "c"}})), format!("{meta}.header_map[\"a b\"]"), true),
        (webhook(upstream, json!({"template_path": "/nowhere.json"})), format!("{meta}.template_path"), true),
        // What may pass, and what may be seen.
        (template(upstream, "transform", "file", "/nowhere.tmpl"), at("transform[0].template_data.template_source"), false),
        (
            template(upstream, "transform_response", "file", "/nowhere.tmpl"),
            at("transform_response[0].template_data.template_source"),
            false,
        ),
        (template(upstream, "transform", "blob", "e3sgLng="), at("transform[0].template_data.template_source"), false),
        // Where to.
        (rewrite(upstream, json!({"match_pattern": "("})), at("url_rewrites[0].match_pattern"), false),
        (trigger(upstream, "any", "("), at("url_rewrites[0].triggers[0].options.header_matches"), false),
        (trigger(upstream, "some", "a"), at("url_rewrites[0].triggers[0].on"), false),
        // A secret is not there.
        (plain(upstream).set("proxy/target_url", "env://NOBODY"), "$.proxy.target_url".to_owned(), false),
        (
            plain(upstream).version("global_headers", json!({"X-A": "env://NOBODY"})),
            "$.version_data.versions.Default.global_headers.X-A".to_owned(),
            false,
        ),
        (plain(upstream).set("jwt_source", "env://NOBODY"), "$.jwt_source".to_owned(), false),
        // A check that decides about no target.
        (checked(upstream, json!({"url": "::::"}), false), "$.uptime_tests.check_list[0]".to_owned(), true),
        (checked(upstream, json!({"url": good, "method": "a b"}), false), "$.uptime_tests.check_list[0].method".to_owned(), true),
        (checked(upstream, json!({"url": "::::"}), true), "$.uptime_tests.check_list[0]".to_owned(), false),
        (checked(upstream, json!({"url": good, "method": "a b"}), true), "$.uptime_tests.check_list[0].method".to_owned(), false),
        // What is recorded under a name of its own, and what is not recorded at all.
        (plain(upstream).list("track_endpoints", json!([{"path": "(", "method": "GET"}])), at("track_endpoints[0].path"), true),
        (
            plain(upstream).list("do_not_track_endpoints", json!([{"path": "(", "method": "GET"}])),
            at("do_not_track_endpoints[0].path"),
            false,
        ),
    ]
}

#[test]
fn a_field_that_protects_nothing_leaves_its_api_in_service_and_another_does_not() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    let mut wrong = Vec::new();
    for (definition, place, is_served) in cases(&upstream) {
        let before = gateway.log().len();
        gateway.write_api(&definition);
        gateway.reload();
        let log = gateway.log();
        let said = log.get(before..).unwrap_or_default();
        let level = if is_served { "warning" } else { "error" };
        let is_told = said.contains(&format!("{place}: {level}: "));
        let shown = gateway.control("GET", "/tyk/apis/a", "").status == 200;
        if !is_told || shown != is_served {
            wrong.push(format!("{place}: served {shown}: {said}"));
        }
        gateway.remove_file("a.json");
        gateway.reload();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
