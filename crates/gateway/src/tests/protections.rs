//! Definitions that ask for a protection which does not exist here: such an API is not served, unless somebody has said that it may be.

use serde_json::{Value, json};

use super::harness::{Definition, Gateway, Setup, Upstream, api};

/// Definitions that need what Tollgate does not have, each with the field that asks for it.
fn guarded(upstream: &Upstream) -> Vec<(&'static str, Definition)> {
    let made = |field: &'static str| api(field, &format!("/{field}/"), &upstream.url());
    let entry = json!([{"path": "/x", "method": "GET", "enabled": true}]);
    let mut all = vec![(
        "custom_middleware",
        made("custom_middleware").set("custom_middleware", json!({"driver": "goplugin", "pre": [{"name": "f"}]})),
    )];
    for list in ["validate_request", "virtual", "go_plugin"] {
        all.push((list, made(list).list(list, entry.clone())));
    }
    all
}

fn started(conf: Value, definitions: &[(&str, Definition)]) -> Gateway {
    definitions.iter().fold(Setup::new(conf), |setup, (_, definition)| setup.api(definition.clone())).start()
}

#[test]
fn an_api_without_its_protection_is_not_served_and_the_log_says_why() {
    let upstream = Upstream::ok();
    let definitions = guarded(&upstream);
    let gateway = started(json!({}), &definitions);
    let log = gateway.log();
    for (field, _) in &definitions {
        assert_eq!(gateway.get(&format!("/{field}/x")).status, 404, "{field}");
        let names = |line: &&str| line.contains("ERROR") && line.contains(&format!("{field}.json")) && line.contains("$.");
        assert!(log.lines().any(|line| names(&line) && line.contains(field)), "{field} in\n{log}");
    }
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_definition_or_the_gateway_may_say_that_it_is_served_all_the_same() {
    let upstream = Upstream::ok();
    let definitions = guarded(&upstream);
    let names: Vec<&str> = definitions.iter().map(|(field, _)| *field).collect();
    let gateway = started(json!({"tollgate": {"serve_without": names}}), &definitions);
    let each =
        definitions.iter().map(|(field, definition)| (*field, definition.clone().set("tollgate/serve_without", json!([field]))));
    let own = started(json!({}), &each.collect::<Vec<_>>());
    for (field, _) in &definitions {
        for gateway in [&gateway, &own] {
            assert_eq!(gateway.get(&format!("/{field}/x")).status, 200, "{field}");
            let log = gateway.log();
            let warns =
                |line: &str| line.contains("WARN") && line.contains(&format!("{field}.json")) && line.contains("serve_without");
            assert!(log.lines().any(warns), "{field} in\n{log}");
        }
    }
    let other = json!({"tollgate": {"serve_without": ["virtual"]}});
    assert_eq!(started(other, &definitions).get("/go_plugin/x").status, 404, "another field's name is not enough");
}

#[test]
fn what_is_switched_off_keeps_nobody_from_being_served() {
    let upstream = Upstream::ok();
    let definition = api("a", "/a/", &upstream.url())
        .set("custom_middleware", json!({"driver": "otto", "pre": [], "post": [{"name": "f", "disabled": true}]}))
        .set("custom_middleware_bundle", "b.zip")
        .set("custom_middleware_bundle_disabled", true)
        .set("graphql", json!({"enabled": false, "schema": "type Query { a: Int }"}))
        .set("protocol", "http")
        .list("go_plugin", json!([{"path": "/x", "method": "POST", "disabled": true}]))
        .list("virtual", json!([]));
    let gateway = Gateway::start(json!({}), [definition]);
    assert_eq!(gateway.get("/a/x").status, 200, "{}", gateway.log());
}

#[test]
fn a_reload_keeps_the_last_good_version_and_the_control_api_refuses() {
    let upstream = Upstream::ok();
    let plain = api("a", "/a/", &upstream.url());
    let gateway = Gateway::start(json!({}), [plain.clone()]);
    let virtual_endpoint = json!([{"path": "/x", "method": "GET", "response_function_name": "f"}]);
    let guarded = plain.set("proxy/strip_listen_path", false).list("virtual", virtual_endpoint);

    for (method, target) in [("POST", "/tyk/apis"), ("PUT", "/tyk/apis/a")] {
        let answer = gateway.control(method, target, &guarded.0.to_string());
        assert_eq!(answer.status, 400, "{answer}");
        assert!(answer.text().contains("$.version_data.versions.Default.extended_paths.virtual[0]"), "{answer}");
    }
    gateway.write_api(&guarded);
    let answer = gateway.control("GET", "/tyk/reload/?block=true", "");
    assert!(answer.text().contains("virtual[0]"), "{answer}");
    assert_eq!(gateway.get("/a/x").status, 200);
    assert_eq!(upstream.last().target, "/x", "the last good version");

    gateway.write_api(&guarded.set("tollgate/serve_without", json!(["virtual"])));
    gateway.reload();
    assert_eq!(gateway.get("/a/x").status, 200);
    assert_eq!(upstream.last().target, "/a/x", "the new one");
}

#[test]
fn other_fields_without_effect_are_one_warning_for_each_api_at_start_and_reload() {
    let upstream = Upstream::ok();
    let of = |id: &str| api(id, &format!("/{id}/"), &upstream.url()).set("my_own", 1).set("their_own", 2);
    let gateway = Gateway::start(json!({}), [of("a"), of("b"), api("plain", "/plain/", &upstream.url())]);
    gateway.reload();
    let log = gateway.log();
    for (file, lines) in [("a.json", 2), ("b.json", 2), ("plain.json", 0)] {
        let warned: Vec<&str> = log.lines().filter(|line| line.contains("WARN") && line.contains(file)).collect();
        assert_eq!(warned.len(), lines, "{file} in\n{log}");
        for line in warned {
            let names = ["my_own", "their_own"];
            assert!(names.iter().all(|name| line.contains(name)), "{line}");
        }
    }
    assert_eq!(gateway.get("/a/x").status, 200);
}
