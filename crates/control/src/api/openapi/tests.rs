use super::described;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Each operation with its path and method.
fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, item)| item.as_object().unwrap().iter().map(move |(method, own)| (path, method, own)));
    operations.map(|(path, method, own)| (format!("{method} {path}"), own)).collect()
}

fn references<'v>(value: &'v Value, found: &mut BTreeSet<&'v str>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

/// How many handlers the files of a folder, and of those in it, describe.
fn described_handlers(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let in_file = |file: &Path| fs::read_to_string(file).unwrap().matches("\n#[utoipa::path(").count();
    entries.map(|path| if path.is_dir() { described_handlers(&path) } else { in_file(&path) }).sum()
}

#[test]
fn every_described_handler_is_served_and_every_route_is_described() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let described_handlers = described_handlers(&source.join("api"));
    assert_eq!(described_handlers, operations(&described()).len(), "a handler is not in `endpoints`, or a path twice");
    // These have configurable names, are only for scrapers and the data plane, or are described although they are open to everybody.
    let own = [
        "/.well-known/acme-challenge/{token}",
        "/discovery/{scheme}/{api}/{endpoint}",
        "/metrics",
        "/oauth/{api}/{endpoint}",
        "/{hello}",
        "/{ready}",
        "/live",
        "/tyk/operators/providers",
    ];
    let router = fs::read_to_string(source.join("api.rs")).unwrap();
    let routes = router.split(".route(").skip(1).filter_map(|rest| rest.split('"').nth(1));
    let undescribed: Vec<&str> = routes.filter(|path| !own.contains(path)).collect();
    assert!(undescribed.is_empty(), "these have no description; use `.routes(routes!(...))`: {undescribed:?}");
}

#[test]
fn every_operation_has_a_name_a_summary_a_tag_and_examples() {
    let document = described();
    let tags: BTreeSet<&str> = document["tags"].as_array().unwrap().iter().filter_map(|tag| tag["name"].as_str()).collect();
    let mut names = BTreeSet::new();
    for (operation, own) in operations(&document) {
        assert!(names.insert(own["operationId"].as_str().unwrap()), "{operation}: {} is taken", own["operationId"]);
        assert!(own["summary"].as_str().is_some_and(|text| !text.ends_with('.')), "{operation}: {}", own["summary"]);
        assert!(own["tags"].as_array().unwrap().iter().all(|tag| tags.contains(tag.as_str().unwrap())), "{operation}");
        for parameter in own["parameters"].as_array().into_iter().flatten() {
            let has_example = parameter.get("example").is_some() || parameter["required"] == false;
            assert!(has_example && parameter["description"].is_string(), "{operation}: {parameter}");
        }
        for (kind, content) in own["requestBody"]["content"].as_object().into_iter().flatten() {
            assert!(content.get("example").is_some(), "{operation}: {kind}");
        }
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_schema_is_used() {
    let document = described();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    for reference in &found {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some_and(Value::is_object), "{reference}");
    }
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(found.contains(format!("#/components/schemas/{name}").as_str()), "{name}");
    }
}

#[test]
fn the_document_is_of_this_version() {
    let document = described();
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(document["openapi"], "3.1.0");
}
