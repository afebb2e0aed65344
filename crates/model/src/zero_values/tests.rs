use super::*;
use std::path::Path;

fn read(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents").join(name);
    serde_json::from_slice(&std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"))).unwrap()
}

/// The differences of two values.
fn differences(path: &str, ours: &Value, tyk: &Value, found: &mut Vec<String>) {
    match (ours, tyk) {
        (Value::Object(ours), Value::Object(tyk)) => {
            for name in tyk.keys().filter(|name| !ours.contains_key(*name)) {
                found.push(format!("{path}.{name} is missing"));
            }
            for (name, own) in ours {
                match tyk.get(name) {
                    Some(other) => differences(&format!("{path}.{name}"), own, other, found),
                    None => found.push(format!("{path}.{name} is not in Tyk's")),
                }
            }
        }
        (Value::Array(ours), Value::Array(tyk)) if ours.len() == tyk.len() => {
            for (index, (own, other)) in ours.iter().zip(tyk).enumerate() {
                differences(&format!("{path}[{index}]"), own, other, found);
            }
        }
        (ours, tyk) if ours == tyk => {}
        (ours, tyk) => found.push(format!("{path} is {ours}, in Tyk's {tyk}")),
    }
}

/// Compares a displayed document with Tyk 5.14's output.
fn check(kind: DocumentKind, written: &str, shown: &str, expected: &[&str]) {
    assert_eq!(differences_of(kind, written, shown), expected, "{written}");
}

fn differences_of(kind: DocumentKind, written: &str, shown: &str) -> Vec<String> {
    let mut found = Vec::new();
    differences("$", &kind.with_zeros(&read(written)), &read(shown), &mut found);
    found
}

#[test]
fn definitions_are_shown_as_tyk_shows_them() {
    check(DocumentKind::Api, "tyk/versions.json", "tyk/versions.shown.json", &[]);
    // Existing fields stay, even if Tyk does not know them or omits them.
    let paths = |version: &str, names: &[&str]| -> Vec<String> {
        let place = |name: &&str| format!("$.version_data.versions.{version}.extended_paths.{name} is not in Tyk's");
        names.iter().map(place).collect()
    };
    let created = "$.created_by is not in Tyk's".to_owned();
    for (name, version, names, more) in [
        ("keyless", "Default", &["black_list", "ignored", "white_list"][..], None),
        ("orders", "v2", &["black_list[0].method_actions"], None),
        ("dashboard-export", "Default", &["transform", "virtual"], Some(created)),
    ] {
        let mut expected: Vec<String> = paths(version, names).into_iter().chain(more).collect();
        let mut found = differences_of(DocumentKind::Api, &format!("{name}.json"), &format!("tyk/{name}.shown.json"));
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_policy_is_shown_as_tyk_shows_it() {
    check(DocumentKind::Policy, "tyk/policy.json", "tyk/policy.shown.json", &[]);
}

#[test]
fn what_was_written_stays() {
    let written = serde_json::json!({
        "API_ID": "a", "mine": {"x": [1]}, "version_data": {"versions": {"v": {"mine": 2, "extended_paths": null}}}, "tags": [], "auth": null,
    });
    let shown = DocumentKind::Api.with_zeros(&written);
    assert_eq!((&shown["API_ID"], &shown["mine"], &shown["tags"]), (&written["API_ID"], &written["mine"], &written["tags"]));
    assert!(shown.get("api_id").is_none(), "a name in other letter case is the same");
    assert_eq!(shown["version_data"]["versions"]["v"]["mine"], 2);
    assert_eq!(shown["version_data"]["versions"]["v"]["extended_paths"]["rate_limit"], Value::Null);
    assert_eq!(shown["auth"]["use_param"], false);
    assert_eq!(DocumentKind::Api.with_zeros(&shown), shown);
}
