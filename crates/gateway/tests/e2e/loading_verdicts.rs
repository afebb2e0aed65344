//! `tollgate check` and the loader say the same of the same files: every definition of the tests, and others that one of them has accepted.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Gateway, api};

const TARGET: &str = "http://127.0.0.1:9";

/// Definitions that the tests have as files, by a name for each.
fn files_of_the_tests() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = [
        "fuzz/corpus/api_definition",
        "crates/model/tests/documents",
        "packaging/debian/examples/apps",
        "deploy/compose/gateway/apps",
    ];
    let mut files = Vec::new();
    for (number, folder) in folders.iter().enumerate() {
        for entry in std::fs::read_dir(root.join(folder)).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            if name.ends_with(".json") {
                files.push((format!("{number}-{name}"), std::fs::read(entry.path()).unwrap()));
            }
        }
    }
    files
}

/// Definitions with an error each; what it is about.
fn broken() -> Vec<(&'static str, Value)> {
    let plain = |id: &str| api(id, &format!("/{id}/"), TARGET);
    let at = |id: &str, path: &str| api(id, path, TARGET).0;
    vec![
        ("unclosed", at("unclosed", "/{id")),
        ("unclosed-within", at("unclosed-within", "/x{id/y")),
        ("unnamed", at("unnamed", "/{}/")),
        ("unopened", at("unopened", "/id}")),
        ("no-pattern", at("no-pattern", "/{id:}/")),
        ("bad-pattern", at("bad-pattern", "/{id:[}/")),
        ("bad-group", at("bad-group", "/{id:a)(b}/")),
        ("host", plain("host").set("domain", "{sub:[}.test").0),
        ("open-host", plain("open-host").set("domain", "{sub.test").0),
        ("black-list", plain("black-list").list("black_list", json!([{"path": "/a("}])).0),
        (
            "rewrite",
            plain("rewrite")
                .list("url_rewrites", json!([{"path": "/", "method": "GET", "match_pattern": "(", "rewrite_to": "/"}]))
                .0,
        ),
        (
            "version",
            plain("version")
                .set("version_data/not_versioned", false)
                .set("definition", json!({"location": "url", "url_versioning_pattern": "("}))
                .0,
        ),
        ("port", plain("port").set("listen_port", 70_000).0),
        ("target", api("target", "/target/", "nowhere").0),
        ("exported", json!({"api_definition": plain("exported").0})),
        ("exported-list", json!({"apis": [{"api_definition": plain("exported-list").0}]})),
        ("configuration", json!({"listen_port": 8080, "secret": "s"})),
        ("protection", plain("protection").set("custom_middleware", json!({"driver": "python", "pre": [{"name": "f"}]})).0),
        ("document", json!({"openapi": "3.0.3", "info": {"title": "x", "version": "1"}, "paths": {}})),
    ]
}

/// The first lines of errors; the rest of a line that is one of several is an excerpt of an expression.
fn errors<'l>(lines: impl Iterator<Item = &'l str>) -> BTreeSet<String> {
    let first = lines.filter_map(|line| line.lines().next());
    first.filter(|line| line.starts_with('/') && line.contains(" error: ")).map(str::to_owned).collect()
}

fn check(arguments: &[&Path]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TYK_") || name.starts_with("TOLLGATE_")) {
        command.env_remove(name);
    }
    let output = command.arg("check").args(arguments).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_check_says_what_the_loader_says() {
    let gateway = Gateway::start(json!({"enable_custom_domains": true}), [api("same", "/same/", TARGET)]);
    let mut files = files_of_the_tests();
    assert!(files.len() > 40, "{}", files.len());
    files.extend(broken().into_iter().map(|(name, value)| (format!("broken-{name}.json"), value.to_string().into_bytes())));
    // Together they have problems that none has alone.
    for (name, id) in [("together-1", "one"), ("together-3", "three")] {
        files.push((format!("{name}.json"), api(id, "/same/", TARGET).0.to_string().into_bytes()));
    }
    files.push(("together-2.json".to_owned(), api("same", "/other/", TARGET).0.to_string().into_bytes()));
    for (name, text) in &files {
        gateway.write_file(name, text);
    }
    let report = gateway.control("GET", "/tyk/reload/?block=true", "").json();
    let problems: Vec<String> = serde_json::from_value(report["problems"].clone()).unwrap();
    let loader = errors(problems.iter().map(String::as_str));

    let (passes, text) = check(&[&gateway.conf(), &gateway.apps()]);
    assert!(!passes);
    assert_eq!(errors(text.lines()), loader);
    let log = gateway.log();
    for together in ["$.proxy.listen_path: warning: /same/ is taken", "$.api_id: warning: the id same is also that"] {
        assert!(text.contains(together), "{together}: {text}");
        assert!(log.contains(together), "{together}: {log}");
    }

    // Each file alone: it is served, or the check refuses it.
    for (name, _) in broken() {
        let file = gateway.apps().join(format!("broken-{name}.json"));
        assert!(loader.iter().any(|line| line.contains(&format!("broken-{name}.json"))), "the loader takes {name}: {loader:#?}");
        // A configuration is one, as long as it is not among definitions.
        assert_eq!(check(&[&gateway.conf(), &file]).0, name == "configuration", "{name}");
    }
}

#[test]
fn a_broken_policy_and_a_bad_hostname_are_errors_of_the_configuration() {
    let gateway = Gateway::start(json!({}), [api("a", "/a/", TARGET)]);
    let policies = gateway.dir().join("policies");
    std::fs::create_dir(&policies).unwrap();
    std::fs::write(policies.join("one.json"), "{").unwrap();
    for (name, conf, part) in [
        ("policies.conf", json!({"policies": {"policy_path": policies}}), "one.json"),
        ("hostname.conf", json!({"hostname": "{sub.test"}), "$.hostname"),
    ] {
        std::fs::write(gateway.dir().join(name), conf.to_string()).unwrap();
        let (passes, text) = check(&[&gateway.dir().join(name)]);
        assert!(!passes && text.contains(part), "{name}: {text}");
    }
}
