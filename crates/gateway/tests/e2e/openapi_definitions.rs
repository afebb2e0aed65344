//! APIs that OpenAPI documents define: pairs of files, documents alone, JSON and YAML, and their settings.

use serde_json::{Value, json};

use crate::commands::tollgate;
use crate::configuration::Folders;
use crate::harness::openapi::{document, extended};
use crate::harness::{Gateway, Upstream, eventually, request};

#[test]
fn pairs_and_documents_alone_are_served() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    gateway.write_file("pair.json", json!({"is_oas": true, "api_id": "pair", "proxy": {"listen_path": "/other/"}}).to_string());
    gateway.write_file("pair-oas.json", document("pair", &upstream.url()).to_string());
    gateway.write_file("alone-oas.json", document("alone", &upstream.url()).to_string());
    gateway.write_file("plain.json", document("plain", &upstream.url()).to_string());
    let yaml = format!(
        "openapi: 3.1.0\ninfo: {{title: y, version: '1'}}\npaths: {{}}\nx-tyk-api-gateway:\n  info: {{id: yaml, name: yaml, state: {{active: true}}}}\n  upstream: {{url: '{}'}}\n  server:\n    listenPath: {{value: /yaml/, strip: true}}\n",
        upstream.url()
    );
    gateway.write_file("yaml.yaml", yaml);
    let report = gateway.control("GET", "/tyk/reload/?block=true", "");
    assert_eq!(report.status, 200, "{report}");
    for id in ["pair", "alone", "plain", "yaml"] {
        assert_eq!(gateway.get(&format!("/{id}/things/1")).status, 200, "{id}");
        assert_eq!(upstream.last().target, "/things/1");
    }
    assert_eq!(gateway.get("/other/things/1").status, 404);
    let log = gateway.log();
    assert!(log.contains("the classic definition beside it differs in $.proxy.listen_path"), "{log}");
    // The classic form is what the other half of the control API shows.
    let shown: Value = serde_json::from_str(&gateway.control("GET", "/tyk/apis/pair", "").text()).unwrap();
    assert_eq!(shown["proxy"]["listen_path"], "/pair/");
    let shown: Value = serde_json::from_str(&gateway.control("GET", "/tyk/apis/oas/pair", "").text()).unwrap();
    assert_eq!(shown, document("pair", &upstream.url()));
    let shown: Value = serde_json::from_str(&gateway.control("GET", "/tyk/apis/oas?mode=public", "").text()).unwrap();
    assert_eq!(shown.as_array().map(Vec::len), Some(4));
    assert!(shown.as_array().unwrap().iter().all(|document| document.get("x-tyk-api-gateway").is_none()));
}

#[test]
fn schemas_a_hundred_deep_are_served_whichever_way_they_come() {
    let upstream = Upstream::ok();
    let folders = Folders::new();
    let gateway = folders.start();
    // Two levels of JSON for each schema.
    let deep = |levels: usize| {
        (0..levels)
            .fold(json!({"type": "string"}), |schema, _| json!({"type": "object", "properties": {"a": schema}, "required": ["a"]}))
    };
    let nested = |levels: usize, inner: &str| format!("{}{inner}{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    let of = |id: &str, levels: usize| {
        let mut document = document(id, &upstream.url());
        document["paths"]["/things/{id}"]["put"] = json!({
            "operationId": "putThing",
            "requestBody": {"required": true, "content": {"application/json": {"schema": deep(levels)}}},
            "responses": {"200": {"description": "Done."}},
        });
        extended(document, "middleware/operations", json!({"putThing": {"validateRequest": {"enabled": true}}}))
    };
    let serves = |id: &str| {
        let ask =
            |body: &str| gateway.send(request("PUT", &format!("/{id}/things/1"), &["Content-Type: application/json"], body)).status;
        assert_eq!([ask(&nested(100, "\"x\"")), ask(&nested(100, "5")), ask(&nested(99, "\"x\""))], [200, 422, 422], "{id}");
    };
    std::fs::write(folders.apps().join("file-oas.json"), of("file", 100).to_string()).unwrap();
    // JSON is YAML.
    std::fs::write(folders.apps().join("yaml.yaml"), format!("# YAML\n{}\n", of("yaml", 100))).unwrap();
    gateway.reload();
    serves("file");
    serves("yaml");
    let created = gateway.control("POST", "/tyk/apis/oas", &of("created", 100).to_string());
    assert_eq!(created.status, 200, "{created}");
    serves("created");
    let mut plain = of("imported", 100);
    plain.as_object_mut().unwrap().remove("x-tyk-api-gateway");
    let file = gateway.dir().join("plain.json");
    std::fs::write(&file, plain.to_string()).unwrap();
    let line =
        format!("apis import {} --id imported --listen-path /imported/ --validate --upstream {}", file.display(), upstream.url());
    tollgate(&gateway, &line).ok();
    serves("imported");
    // As code: what is dumped, changed and synced.
    let conf = gateway.dir().join("conf");
    tollgate(&gateway, &format!("dump {}", conf.display())).ok();
    tollgate(&gateway, &format!("diff {}", conf.display())).ok();
    let files = std::fs::read_dir(conf.join("apis")).unwrap().map(|entry| entry.unwrap().path());
    let dumped: Vec<_> = files.filter(|path| path.to_string_lossy().contains("created")).collect();
    let text = std::fs::read_to_string(&dumped[0]).unwrap().replace("/created/", "/moved/");
    std::fs::write(&dumped[0], text).unwrap();
    tollgate(&gateway, &format!("sync {}", conf.display())).ok();
    serves("moved");
    let revisions = || gateway.control("GET", "/tyk/configuration/revisions", "").json()["revisions"].as_array().map(Vec::len);
    eventually("all changes are kept", || revisions() == Some(4));
    tollgate(&gateway, "rollback 3").ok();
    assert_eq!(gateway.get("/moved/things/1").status, 404);
    // A deeper one is named, whichever way it comes.
    let place = "$.paths[\"/things/{id}\"].put.requestBody.content[\"application/json\"].schema.properties.a";
    for answer in [
        gateway.control("POST", "/tyk/apis/oas", &of("deeper", 260).to_string()),
        gateway.control("POST", "/tyk/apis/oas", &of("deeper", 1_000).to_string()),
    ] {
        let told = answer.json()["message"].as_str().unwrap_or_default().to_owned();
        assert!(answer.status == 400 && told.contains(place) && told.contains("nested deeper than"), "{answer}");
    }
    assert_eq!(gateway.get("/deeper/things/1").status, 404);
    serves("file");
}

#[test]
fn examples_are_checked_if_the_configuration_says_so() {
    let upstream = Upstream::ok();
    let mut document = document("a", &upstream.url());
    document["components"] = json!({"schemas": {"Thing": {"type": "object", "properties": {
        "n": {"type": "integer", "example": "one"}, "m": {"type": "integer", "default": "two"},
    }}}});
    let places = ["$.components.schemas.Thing.properties.n.example", "$.components.schemas.Thing.properties.m.default"];
    for (settings, errors) in [
        (json!({}), [false, false]),
        (json!({"validate_examples": true}), [true, false]),
        (json!({"validate_schema_defaults": true}), [false, true]),
    ] {
        let gateway = Gateway::start(json!({"oas_config": settings}), []);
        gateway.write_file("a-oas.json", document.to_string());
        let report = gateway.control("GET", "/tyk/reload/?block=true", "").text();
        for (place, is_error) in places.iter().zip(errors) {
            assert_eq!(
                report.contains(&format!("{place}: error: does not fit its schema: value must be an integer")),
                is_error,
                "{settings}: {report}"
            );
        }
        let serves = !errors.contains(&true);
        assert_eq!(gateway.get("/a/things/1").status, if serves { 200 } else { 404 });
        let created = gateway.control("POST", "/tyk/apis/oas", &document.to_string().replace("\"a\"", "\"z\"")).status;
        assert_eq!(created == 400, !serves, "{settings}");
        // The command warns of the others, if asked to.
        let check = |more: &str| {
            let line = format!("check {} --conf {} {more}", gateway.apps().join("a-oas.json").display(), gateway.conf().display());
            tollgate(&gateway, &line).out().to_owned()
        };
        let told = check("--examples");
        for (place, is_error) in places.iter().zip(errors) {
            let level = if is_error { "error" } else { "warning" };
            assert!(told.contains(&format!("{place}: {level}: ")), "{settings}: {told}");
        }
        assert!(!check("").contains("warning: does not fit"));
    }
}
