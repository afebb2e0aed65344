//! The generated document against the hand-written one that it replaces: nothing may be lost but what stands here with its reason.

use super::super::described;
use serde_json::Value;
use serde_json::{Map, json};
use std::collections::BTreeSet;

/// Ends of differences that are meant, with their reasons.
const DIFFERENCES: &[(&str, &str)] = &[
    (r#"type {"string"} is now {"null", "string"}"#, "null is \"not set\" everywhere in a document, also in lists"),
    (r#"type {"number"} is now {"null", "number"}"#, "as before"),
    (r#"type {"object"} is now {"null", "object"}"#, "as before"),
    (
        r#"words {"\"access\"", "\"quota\"", "\"rate_limit\""} are now {"\"access\"", "\"quota\"", "\"rate_limit\"", "null"}"#,
        "as before",
    ),
    (r#"required ["per","rate"] is now []"#, "each of them is 0 when it is not written"),
    (
        r#"words {"\"allow\"", "\"deny\"", "\"local\"", "null"} are now {"\"\"", "\"allow\"", "\"deny\"", "\"local\""}"#,
        "the empty word is taken; null is a type of its own",
    ),
    (
        r#"words {"\"allow\"", "\"deny\"", "\"local\""} are now {"\"\"", "\"allow\"", "\"deny\"", "\"local\""}"#,
        "the empty word is taken",
    ),
    (r#"ExtraNames: type {"null"} is now {"array", "null"}"#, "its type says what Go's does; it is always null"),
    (r#"average_upstream_latency: type {"number"} is now {"integer"}"#, "it has always been whole"),
    ("additionalProperties true is now false", "`Changed` never has other members"),
    (r#"status: words {"\"fail\"", "\"pass\"", "\"warn\""} are now {"\"fail\"", "\"pass\""}"#, "nothing says `warn`"),
    ("components: OAuthTokens is gone", "the list stands where it is used"),
    (r#"get /tyk/openapi.json 200: required ["info","openapi","paths"] is now []"#, "OpenAPI says what an OpenAPI document has"),
    (r#"get /tyk/schema 200.schema: required ["$schema","properties","type"] is now []"#, "JSON Schema says what a schema has"),
    (
        r#"get /tyk/usage 200.rows[]: required ["errors","hits","success","value"] is now ["errors","hits","max_ms","mean_ms","p50_ms","p90_ms","p99_ms","request_bytes","response_bytes","success","upstream_mean_ms","value"]"#,
        "every row has all of them",
    ),
];

fn today() -> Value {
    serde_json::from_str(include_str!("../../openapi.json")).unwrap()
}

fn resolve<'v>(whole: &'v Value, value: &'v Value) -> &'v Value {
    match value.get("$ref").and_then(Value::as_str) {
        Some(reference) => {
            resolve(whole, whole.pointer(reference.trim_start_matches('#')).unwrap_or_else(|| panic!("{reference}")))
        }
        None => value,
    }
}

/// The choices of a schema, itself if it has none.
fn choices<'v>(whole: &'v Value, schema: &'v Value) -> Vec<&'v Value> {
    let schema = resolve(whole, schema);
    for choice in ["oneOf", "anyOf"] {
        if let Some(Value::Array(all)) = schema.get(choice) {
            return all.iter().flat_map(|choice| choices(whole, choice)).collect();
        }
    }
    vec![schema]
}

fn kinds(schemas: &[&Value]) -> BTreeSet<String> {
    let mut kinds = BTreeSet::new();
    for schema in schemas {
        match schema.get("type") {
            Some(Value::String(kind)) => drop(kinds.insert(kind.clone())),
            Some(Value::Array(all)) => kinds.extend(all.iter().map(|kind| kind.as_str().unwrap().to_owned())),
            _ => {
                let words = schema.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
                let words = words.iter().chain(schema.get("const"));
                kinds.extend(words.map(|word| if word.is_null() { "null" } else { "string" }.to_owned()));
            }
        }
    }
    kinds
}

fn words(schemas: &[&Value]) -> BTreeSet<String> {
    let words = schemas.iter().flat_map(|schema| schema.get("enum").and_then(Value::as_array).into_iter().flatten());
    let constants = schemas.iter().filter_map(|schema| schema.get("const"));
    words.chain(constants).map(ToString::to_string).collect()
}

struct Comparison {
    today: Value,
    now: Value,
    differences: Vec<String>,
}

impl Comparison {
    fn differ(&mut self, path: &str, what: impl std::fmt::Display) {
        self.differences.push(format!("{path}: {what}"));
    }

    fn schema(&mut self, path: &str, today: &Value, now: &Value, depth: usize) {
        let (whole_today, whole_now) = (self.today.clone(), self.now.clone());
        let (today, now) = (choices(&whole_today, today), choices(&whole_now, now));
        if kinds(&today) != kinds(&now) {
            self.differ(path, format!("type {:?} is now {:?}", kinds(&today), kinds(&now)));
        }
        if words(&today) != words(&now) {
            self.differ(path, format!("words {:?} are now {:?}", words(&today), words(&now)));
        }
        let member = |schemas: &[&Value], name: &str| schemas.iter().find_map(|schema| schema.get(name).cloned());
        for name in ["format", "minLength", "default"] {
            if member(&today, name).is_some() && member(&today, name) != member(&now, name) {
                self.differ(path, format!("{name} {:?} is now {:?}", member(&today, name), member(&now, name)));
            }
        }
        for (name, otherwise) in [("additionalProperties", json!(true)), ("required", json!([]))] {
            let sorted = |value: Value| match value {
                Value::Array(items) => Value::Array({
                    let mut items = items;
                    items.sort_by_key(ToString::to_string);
                    items
                }),
                Value::Object(_) => json!("schema"),
                value => value,
            };
            let [today, now] = [member(&today, name), member(&now, name)].map(|value| sorted(value.unwrap_or(otherwise.clone())));
            if today != now {
                self.differ(path, format!("{name} {today} is now {now}"));
            }
        }
        let properties = |schemas: &[&Value]| -> Map<String, Value> {
            schemas
                .iter()
                .filter_map(|schema| schema.get("properties")?.as_object())
                .flatten()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect()
        };
        let new = properties(&now);
        for (name, schema) in properties(&today) {
            match new.get(&name) {
                Some(now) if depth < 8 => self.schema(&format!("{path}.{name}"), &schema, now, depth + 1),
                Some(_) => {}
                None => self.differ(path, format!("{name} is gone")),
            }
        }
        for name in ["items", "additionalProperties"] {
            if let (Some(today @ Value::Object(_)), Some(now @ Value::Object(_))) = (member(&today, name), member(&now, name)) {
                self.schema(&format!("{path}[]"), &today, &now, depth + 1);
            }
        }
    }

    fn content(&mut self, path: &str, today: &Value, now: &Value) {
        let (whole_today, whole_now) = (self.today.clone(), self.now.clone());
        let (today, now) = (resolve(&whole_today, today), resolve(&whole_now, now));
        let media = |content: &Value| -> BTreeSet<String> {
            content["content"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
        };
        if media(today) != media(now) {
            self.differ(path, format!("{:?} is now {:?}", media(today), media(now)));
        }
        for media in media(today) {
            let (today, now) = (&today["content"][&media], &now["content"][&media]);
            if today["example"] != now["example"] {
                self.differ(path, format!("example {} is now {}", today["example"], now["example"]));
            }
            self.schema(path, &today["schema"], &now["schema"], 0);
        }
    }
}

#[test]
fn nothing_of_the_hand_written_document_is_lost() {
    let mut comparison = Comparison { today: today(), now: described(), differences: Vec::new() };
    let (today, now) = (comparison.today.clone(), comparison.now.clone());
    for member in ["openapi", "security", "tags", "servers"] {
        if today[member] != now[member] {
            comparison.differ(member, format!("{} is now {}", today[member], now[member]));
        }
    }
    let operations = |document: &Value| -> BTreeSet<(String, String)> {
        document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, item)| item.as_object().unwrap().keys().map(|method| (path.clone(), method.clone())))
            .collect()
    };
    assert_eq!(operations(&today), operations(&now));
    for (path, method) in operations(&today) {
        let (today, now) = (&today["paths"][&path][&method], &now["paths"][&path][&method]);
        let path = format!("{method} {path}");
        for member in ["operationId", "tags", "security"] {
            if today[member] != now[member] {
                comparison.differ(&path, format!("{member} {} is now {}", today[member], now[member]));
            }
        }
        if !now["summary"].is_string() {
            comparison.differ(&path, "no summary");
        }
        let named = |operation: &Value| -> Map<String, Value> {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            parameters.map(|parameter| (format!("{}:{}", parameter["name"], parameter["in"]), parameter.clone())).collect()
        };
        let (old, new) = (named(today), named(now));
        if old.keys().collect::<BTreeSet<_>>() != new.keys().collect::<BTreeSet<_>>() {
            comparison.differ(&path, format!("parameters {:?} are now {:?}", old.keys(), new.keys()));
        }
        for (name, parameter) in &old {
            let Some(now) = new.get(name) else { continue };
            for member in ["description", "example"] {
                if parameter[member] != now[member] {
                    comparison.differ(&format!("{path} {name}"), format!("{member} {} is now {}", parameter[member], now[member]));
                }
            }
            if parameter["required"] == json!(true) && now["required"] != json!(true)
                || parameter["required"] != json!(true) && now["required"] == json!(true)
            {
                comparison.differ(&format!("{path} {name}"), "required differs");
            }
            comparison.schema(&format!("{path} {name}"), &parameter["schema"], &now["schema"], 0);
        }
        if today.get("requestBody").is_some() != now.get("requestBody").is_some()
            || today["requestBody"]["required"] != now["requestBody"]["required"]
        {
            comparison.differ(&path, "the body differs");
        }
        comparison.content(&format!("{path} body"), &today["requestBody"], &now["requestBody"]);
        let statuses =
            |operation: &Value| -> BTreeSet<String> { operation["responses"].as_object().unwrap().keys().cloned().collect() };
        if statuses(today) != statuses(now) {
            comparison.differ(&path, format!("{:?} is now {:?}", statuses(today), statuses(now)));
        }
        for status in statuses(today) {
            comparison.content(&format!("{path} {status}"), &today["responses"][&status], &now["responses"][&status]);
        }
    }
    for (name, schema) in today["components"]["schemas"].as_object().unwrap() {
        match now["components"]["schemas"].get(name) {
            Some(now) => comparison.schema(&format!("#{name}"), schema, now, 0),
            None => comparison.differ("components", format!("{name} is gone")),
        }
    }
    let is_meant = |difference: &String| DIFFERENCES.iter().any(|(end, _)| difference.ends_with(end));
    let new: Vec<&String> = comparison.differences.iter().filter(|difference| !is_meant(difference)).collect();
    assert!(new.is_empty(), "{new:#?}");
    for (end, _) in DIFFERENCES {
        assert!(comparison.differences.iter().any(|difference| difference.ends_with(end)), "no longer: {end}");
    }
}
