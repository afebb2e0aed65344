//! The definitions of the policies in a cluster, made of the types that read them.

use super::{AuthenticationSettings, RateLimitSettings, TrafficSettings};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// Where the definitions are: as manifests, and in the chart.
const PLACES: [&str; 2] = ["deploy/kubernetes/policies.yaml", "deploy/helm/tollgate/files/policies.yaml"];

const HEAD: &str = "# Made of the types in crates/kubernetes/src/objects/attached: TOLLGATE_WRITE=1 cargo test -p tollgate-kubernetes definitions\n";

fn manifest() -> String {
    let mut text = HEAD.to_owned();
    for definition in definitions() {
        text.push_str("---\n");
        write_yaml(&mut text, &definition, 0);
    }
    text
}

#[test]
fn the_definitions_are_those_of_the_types() {
    let text = manifest();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    for place in PLACES {
        let file = root.join(place);
        if std::env::var_os("TOLLGATE_WRITE").is_some() {
            std::fs::write(&file, &text).unwrap();
        }
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(written == text, "{place} is not what the types say: {HEAD}");
    }
}

#[test]
fn the_definitions_can_be_read_as_what_they_are() {
    let text = manifest();
    let read: Vec<Value> = text.split("---\n").skip(1).map(|one| tollgate_text::yaml::read(one).unwrap()).collect();
    assert_eq!(read, definitions());
}

#[test]
fn schemas_are_structural() {
    for definition in definitions() {
        check_structure(
            definition["metadata"]["name"].as_str().unwrap(),
            &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"],
        );
    }
}

/// Each schema has one type, and no word that the API server does not take.
fn check_structure(place: &str, schema: &Value) {
    let members = schema.as_object().unwrap();
    assert!(members["type"].is_string(), "{place}: {schema}");
    assert!(members["type"] != "array" || members.contains_key("items"), "{place}");
    for (name, value) in members {
        match name.as_str() {
            "properties" => {
                value.as_object().unwrap().iter().for_each(|(name, inner)| check_structure(&format!("{place}.{name}"), inner))
            }
            "items" | "additionalProperties" => check_structure(&format!("{place}[]"), value),
            "type" | "description" | "enum" | "minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems"
            | "minProperties" | "maxProperties" | "pattern" | "required" | "format" | "default" => {}
            name => assert!(name.starts_with("x-kubernetes-"), "{place}: {name}"),
        }
    }
}

fn definitions() -> [Value; 3] {
    [
        definition::<AuthenticationSettings>("AuthenticationPolicy", "authenticationpolicies", "authp"),
        definition::<RateLimitSettings>("RateLimitPolicy", "ratelimitpolicies", "rlp"),
        definition::<TrafficSettings>("TrafficPolicy", "trafficpolicies", "trafficp"),
    ]
}

fn definition<S: JsonSchema>(kind: &str, plural: &str, short: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut spec = SchemaGenerator::new(settings).into_root_schema_for::<S>().to_value();
    make_structural(&mut spec);
    let members = spec.as_object_mut().unwrap();
    let mut properties = Map::from_iter([("targetRefs".to_owned(), targets())]);
    properties.extend(members["properties"].as_object().unwrap().clone());
    members.insert("properties".to_owned(), Value::Object(properties));
    let required = members.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    members.insert("required".to_owned(), [vec![json!("targetRefs")], required].concat().into());
    let description = members["description"].clone();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{plural}.tollgate.dev"),
            "labels": {"gateway.networking.k8s.io/policy": "Inherited"},
        },
        "spec": {
            "group": "tollgate.dev",
            "names": {
                "kind": kind,
                "listKind": format!("{kind}List"),
                "plural": plural,
                "singular": kind.to_ascii_lowercase(),
                "shortNames": [short],
                "categories": ["gateway-api"],
            },
            "scope": "Namespaced",
            "versions": [{
                "name": "v1alpha1",
                "served": true,
                "storage": true,
                "additionalPrinterColumns": [
                    {"name": "Targets", "type": "string", "jsonPath": ".spec.targetRefs[*].name"},
                    {"name": "Accepted", "type": "string", "jsonPath": ".status.ancestors[*].conditions[?(@.type==\"Accepted\")].status"},
                    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                ],
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "description": description,
                    "properties": {
                        "apiVersion": {"type": "string"},
                        "kind": {"type": "string"},
                        "metadata": {"type": "object"},
                        "spec": spec,
                        "status": status(),
                    },
                    "required": ["spec"],
                }},
            }],
        },
    })
}

fn targets() -> Value {
    let text =
        |description: &str, max: u32| json!({"type": "string", "description": description, "minLength": 1, "maxLength": max});
    json!({
        "type": "array",
        "description": "What it is attached to, in its own namespace. The most specific policy applies as a whole: of a rule, of the route, of the listener, of the Gateway.",
        "minItems": 1,
        "maxItems": 16,
        "items": {
            "type": "object",
            "properties": {
                "group": text("gateway.networking.k8s.io", 253),
                "kind": text("Gateway, HTTPRoute or GRPCRoute", 63),
                "name": text("Its name", 253),
                "sectionName": text("A listener of the Gateway, or a named rule of the route", 253),
            },
            "required": ["group", "kind", "name"],
        },
        "x-kubernetes-validations": [
            {
                "rule": "self.all(t, t.group == 'gateway.networking.k8s.io' && t.kind in ['Gateway', 'HTTPRoute', 'GRPCRoute'])",
                "message": "a policy is attached to a Gateway, HTTPRoute or GRPCRoute of gateway.networking.k8s.io",
            },
            {
                "rule": "self.all(t, self.exists_one(u, t.kind == u.kind && t.name == u.name && (has(t.sectionName) ? t.sectionName : '') == (has(u.sectionName) ? u.sectionName : '')))",
                "message": "each target is named once",
            },
        ],
    })
}

fn status() -> Value {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "properties": {"ancestors": {
            "type": "array",
            "maxItems": 16,
            "items": {
                "type": "object",
                "properties": {
                    "ancestorRef": {
                        "type": "object",
                        "properties": {"group": text, "kind": text, "namespace": text, "name": text, "sectionName": text, "port": {"type": "integer"}},
                        "required": ["name"],
                    },
                    "controllerName": text,
                    "conditions": {
                        "type": "array",
                        "maxItems": 8,
                        "items": {
                            "type": "object",
                            "properties": {
                                "type": text,
                                "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
                                "observedGeneration": {"type": "integer", "format": "int64"},
                                "lastTransitionTime": {"type": "string", "format": "date-time"},
                                "reason": text,
                                "message": text,
                            },
                            "required": ["type", "status", "lastTransitionTime", "reason", "message"],
                        },
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["type"],
                    },
                },
                "required": ["ancestorRef", "controllerName"],
            },
            "x-kubernetes-list-type": "atomic",
        }},
    })
}

/// A schema as the API server takes them: one type, no null, no defaults, no references.
fn make_structural(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else { return };
    for name in ["$schema", "title", "default"] {
        members.remove(name);
    }
    if members.get("format").and_then(Value::as_str).is_some_and(|format| format.starts_with("uint")) {
        members.remove("format");
    }
    if let Some(Value::Array(types)) = members.get("type") {
        let only = types.iter().find(|kind| *kind != "null").cloned().unwrap();
        members.insert("type".to_owned(), only);
    }
    for choice in ["anyOf", "oneOf"] {
        let Some(Value::Array(choices)) = members.remove(choice) else { continue };
        let mut values = Vec::new();
        for choice in choices.into_iter().filter(|choice| choice["type"] != "null") {
            let Value::Object(choice) = choice else { continue };
            values.extend(choice.get("const").cloned());
            values.extend(choice.get("enum").and_then(Value::as_array).into_iter().flatten().cloned());
            for (name, value) in choice {
                let is_of_one = matches!(name.as_str(), "const" | "enum");
                if !is_of_one && !(name == "description" && (members.contains_key("description") || !values.is_empty())) {
                    members.insert(name, value);
                }
            }
        }
        if !values.is_empty() {
            members.insert("enum".to_owned(), values.into());
        }
    }
    if let Some(Value::Array(values)) = members.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    for name in ["properties"] {
        for inner in members.get_mut(name).and_then(Value::as_object_mut).into_iter().flat_map(|inner| inner.values_mut()) {
            make_structural(inner);
        }
    }
    for name in ["items", "additionalProperties"] {
        members.get_mut(name).into_iter().for_each(make_structural);
    }
    if members.contains_key("anyOf") {
        make_structural(schema);
    }
}

/// Writes a document in YAML; texts in JSON's quotes where they would be read as something else.
fn write_yaml(out: &mut String, value: &Value, depth: usize) {
    let indentation = "  ".repeat(depth);
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                write!(out, "{indentation}{}:", scalar(&json!(name))).unwrap();
                write_nested(out, value, depth + 1);
            }
        }
        Value::Array(entries) => {
            for entry in entries {
                let mut inner = String::new();
                match entry {
                    Value::Object(_) => write_yaml(&mut inner, entry, depth + 1),
                    _ => inner = format!("{indentation}  {}\n", scalar(entry)),
                }
                write!(out, "{indentation}- {}", inner.trim_start()).unwrap();
            }
        }
        _ => writeln!(out, "{indentation}{}", scalar(value)).unwrap(),
    }
}

fn write_nested(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            out.push('\n');
            write_yaml(out, value, depth);
        }
        Value::Array(entries) if !entries.is_empty() => {
            out.push('\n');
            write_yaml(out, value, depth);
        }
        _ => writeln!(out, " {}", scalar(value)).unwrap(),
    }
}

fn scalar(value: &Value) -> String {
    let is_plain = |text: &str| {
        let is_word = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
            && text.starts_with(|c: char| c.is_ascii_alphabetic());
        is_word && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&text.to_ascii_lowercase().as_str())
    };
    match value.as_str() {
        Some(text) if is_plain(text) => text.to_owned(),
        _ => value.to_string(),
    }
}
