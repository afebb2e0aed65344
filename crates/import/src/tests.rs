use super::{ForeignFormat, Imported, MovedOutcome, import};
use serde_json::Value;
use std::fs;
use std::path::Path;

mod apisix;
mod faults;
mod hostile;
mod kong;
mod krakend;
mod nginx;
mod others;

/// Imports a text from a file of that name.
fn imported(name: &str, text: &str) -> Imported {
    let directory = tempfile::tempdir().unwrap();
    imported_in(directory.path(), name, text)
}

fn imported_in(directory: &Path, name: &str, text: &str) -> Imported {
    let file = directory.join(name);
    fs::write(&file, text).unwrap();
    import(&file, None).unwrap()
}

/// The same, or why it cannot be read.
fn write_and_import(name: &str, text: &str) -> Result<Imported, String> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(name);
    fs::write(&file, text).unwrap();
    import(&file, None).map_err(|why| why.to_string())
}

/// The definition of that name, else the first whose name begins so.
fn api(imported: &Imported, name: &str) -> Value {
    let found =
        imported.files.iter().filter(|file| file.path.starts_with("apis/")).map(|file| serde_json::from_str(&file.text).unwrap());
    let all: Vec<Value> = found.collect();
    let names: Vec<String> = all.iter().map(|api| api["name"].to_string()).collect();
    let exact = all.iter().find(|api| api["name"] == name);
    let found = exact.or_else(|| all.iter().find(|api| api["name"].as_str().unwrap().starts_with(name)));
    found.unwrap_or_else(|| panic!("{name} is none of {names:?}")).clone()
}

fn version(api: &Value) -> &Value {
    &api["version_data"]["versions"]["Default"]
}

fn rule(api: &Value) -> &Value {
    &api["tollgate"]["route"]["rules"][0]
}

/// What became of the items of that name, in short.
fn outcomes(imported: &Imported, name: &str) -> Vec<&'static str> {
    let items = imported.report.items();
    let short = |outcome: &MovedOutcome| match outcome {
        MovedOutcome::Carried => "carried",
        MovedOutcome::BuiltIn(_) => "built in",
        MovedOutcome::Approximated(_) => "approximated",
        MovedOutcome::NotCarried(_) => "not",
        MovedOutcome::OtherWork(_) => "other work",
    };
    items.iter().filter(|item| item.name == name).map(|item| short(&item.outcome)).collect()
}

/// All definitions are valid for the model.
fn assert_valid(imported: &Imported) {
    for file in imported.files.iter().filter(|file| file.path.starts_with("apis/")) {
        let parsed = tollgate_model::api::ApiDefinition::parse(file.text.as_bytes(), None);
        let (_, problems) = parsed.unwrap_or_else(|problems| panic!("{}: {problems:?}\n{}", file.path, file.text));
        assert!(problems.is_empty(), "{}: {problems:?}\n{}", file.path, file.text);
    }
}

#[test]
fn formats_are_recognised_by_their_content() {
    let texts = [
        ("a", "server { listen 80; location / { proxy_pass http://a; } }", ForeignFormat::Nginx),
        ("a", "server {\n  listen 80;\n}\n", ForeignFormat::Nginx),
        ("a.yaml", "_format_version: '3.0'\nservices: []\n", ForeignFormat::Kong),
        ("a.yaml", "services:\n- name: a\n  url: http://a\n  routes:\n  - paths: [/]\n", ForeignFormat::Kong),
        ("a.yaml", "routes:\n- uri: /a\n  upstream:\n    nodes: {'a:1': 1}\n", ForeignFormat::Apisix),
        ("a.json", "{\"version\": 3, \"endpoints\": [{\"endpoint\": \"/a\", \"backend\": []}]}", ForeignFormat::Krakend),
        ("a.cfg", "frontend f\n  bind :80\n  default_backend b\nbackend b\n  server s a:1\n", ForeignFormat::Haproxy),
        ("Caddyfile", "example.com {\n  reverse_proxy a:1\n}\n", ForeignFormat::Caddy),
        ("a.yml", "http:\n  routers:\n    a: {rule: \"Host(`a`)\", service: b}\n", ForeignFormat::Traefik),
        ("a.toml", "[http.routers.a]\nrule = \"Host(`a`)\"\n", ForeignFormat::Traefik),
    ];
    for (name, text, format) in texts {
        assert_eq!(ForeignFormat::of(Path::new(name), text), Some(format), "{text}");
    }
    assert_eq!(ForeignFormat::of(Path::new("a"), "a poem\nof two lines"), None);
}
