//! No text of any document reads a file or a variable that documents may not read. Each place for a text in each body that the control API takes
//! gets references to them; what the gateway answers, sends upstream and logs is searched for their content.

use crate::harness::{Response, Upstream, ok, request};
use crate::named_files::CANARY;
use crate::openapi::{Operation, Stage, prepared_with};
use crate::text_places::Texts;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The variable of the process that no document may read.
const VARIABLE: &str = "CANARY_VARIABLE";
/// The content of the file that documents may read.
const OPEN: &str = "0p3n-7f21";

/// Everything that a text can be to name a file or a variable.
fn references(file: &str, variable: &str) -> Vec<String> {
    vec![
        format!("file://{file}"),
        format!("$secret_file.{file} $secret_env.{variable}"),
        file.to_owned(),
        format!("env://{variable}"),
    ]
}

/// A gateway with an API of each kind, whose upstream is ours.
struct WatchedStage {
    stage: Stage,
    upstream: Upstream,
    /// What the upstream got of the contents of files and variables.
    received: Arc<Mutex<BTreeSet<&'static str>>>,
}

impl WatchedStage {
    fn start(files: &Path) -> WatchedStage {
        let conf = json!({"file": {"base_path": files}, "middleware_path": files, "template_path": files, "enable_jsvm": true});
        let stage = prepared_with(conf, &[(VARIABLE, CANARY)]);
        let received = Arc::new(Mutex::new(BTreeSet::new()));
        let noted = received.clone();
        let upstream = Upstream::start(move |seen| {
            let seen = format!("{seen:?}");
            noted.lock().unwrap().extend([CANARY, OPEN].into_iter().filter(|content| seen.contains(content)));
            ok()
        });
        let watched = WatchedStage { stage, upstream, received };
        for operation in watched.stage.operations() {
            if operation.method == "PUT" && ["/tyk/apis/{id}", "/tyk/apis/oas/{id}", "/tyk/mcps/{id}"].contains(&operation.path) {
                let answer =
                    watched.stage.send(&operation, &watched.stage.target(&operation), &watched.example(&operation).to_string());
                assert_eq!(answer.status, 200, "{}: {answer}", operation.path);
            }
        }
        watched
    }

    /// The example of an operation; APIs have our upstream, and send it what they know of the caller.
    fn example(&self, operation: &Operation<'_>) -> Value {
        let example = operation.example().replace("http://127.0.0.1:9090", &self.upstream.url());
        let mut example = serde_json::from_str(&example).unwrap_or_else(|_| json!(example));
        if example["version_data"].is_object() {
            example["version_data"]["versions"]["Default"]["global_headers"] = json!({"X-Meta": "$tyk_meta.Default"});
        }
        example
    }

    /// Whether a content is in an answer, or in what the upstream got.
    fn is_seen(&self, content: &str, answers: &[Response]) -> bool {
        self.received.lock().unwrap().contains(content)
            || answers.iter().any(|answer| format!("{answer} {answer:?}").contains(content))
    }

    /// Sends an operation with a body, then reads what it wrote and calls the APIs.
    fn tried(&self, operation: &Operation<'_>, body: &str) -> (bool, Vec<Response>) {
        let target = self.stage.target(operation);
        let mut answers = vec![self.stage.send(operation, &target, body)];
        let is_taken = answers[0].status == 200;
        // A check stores nothing that could act later.
        if is_taken && !operation.path.starts_with("/tyk/check/") {
            if self.stage.operations().iter().any(|other| other.path == operation.path && other.method == "GET") {
                answers.push(self.stage.gateway.control("GET", &target, ""));
            }
            let key = "Authorization: defaultmykey";
            for call in [
                request("GET", "/quick/", &[key], ""),
                request("GET", "/pets/pets", &[key], ""),
                request(
                    "POST",
                    "/assistant/",
                    &[key, "Content-Type: application/json"],
                    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
                ),
            ] {
                answers.push(self.stage.gateway.send(call));
            }
        }
        (is_taken, answers)
    }

    /// The schema of OpenAPI documents with the settings of an API.
    fn definition_schema(&self) -> Value {
        self.stage.gateway.control("GET", "/tyk/schema?oasVersion=3.0.3", "").json()["schema"].clone()
    }

    fn schema_of(&self, operation: &Operation<'_>, definition: &Value) -> Option<(Value, Value)> {
        let schema = operation.body_schema()?;
        Some(match operation.path {
            "/tyk/apis/oas/{id}" | "/tyk/mcps/{id}" => (definition.clone(), definition.clone()),
            _ => (schema.clone(), self.stage.document().clone()),
        })
    }
}

/// Tries every place for a text in the bodies of operations that `is_walked` picks by their paths; returns how many places there were.
fn walk(watched: &WatchedStage, is_walked: impl Fn(&str) -> bool) -> usize {
    let canary = watched.stage.gateway.dir().join("data/canary.js");
    std::fs::write(&canary, CANARY).unwrap();
    let references = references(&canary.display().to_string(), VARIABLE);
    let definition = watched.definition_schema();
    let (mut places, mut walked) = (0, Vec::new());
    for operation in watched.stage.operations().iter().filter(|operation| is_walked(operation.path)) {
        let Some((schema, root)) = watched.schema_of(operation, &definition) else { continue };
        let texts = Texts::of(&schema, &root);
        let example = watched.example(operation);
        // A document that another operation takes, too, gets one of the references.
        let count = if walked.contains(&schema) { 1 } else { references.len() };
        for field in &texts.found {
            for text in references.iter().take(count) {
                let document = texts.with(&example, field, text);
                let body = document.as_str().map_or_else(|| document.to_string(), str::to_owned);
                let (_, answers) = watched.tried(operation, &body);
                let named = format!("{} {} {field:?} {text}", operation.method, operation.path);
                assert!(!watched.is_seen(CANARY, &answers), "{named}: {answers:?}");
            }
        }
        watched.tried(operation, &example.as_str().map_or_else(|| example.to_string(), str::to_owned));
        places += texts.found.len();
        walked.push(schema.clone());
    }
    let log = watched.stage.gateway.log();
    assert!(!log.contains(CANARY), "{log}");
    places
}

#[test]
fn no_text_of_a_definition_reads_a_file_or_a_variable_of_the_gateway() {
    let files = tempfile::tempdir().unwrap();
    let places = walk(&WatchedStage::start(files.path()), |path| path.starts_with("/tyk/apis") && !path.contains("/oas"));
    assert!(places > 1_000, "{places}");
}

#[test]
fn no_text_of_an_openapi_definition_reads_a_file_or_a_variable_of_the_gateway() {
    let files = tempfile::tempdir().unwrap();
    let watched = WatchedStage::start(files.path());
    let places = walk(&watched, |path| path.starts_with("/tyk/apis/oas"));
    assert!(places > 300, "{places}");

    // What documents may read is seen, so that the rest would be.
    std::fs::write(files.path().join("open"), OPEN).unwrap();
    let operations = watched.stage.operations();
    let update = operations.iter().find(|operation| operation.method == "PUT" && operation.path == "/tyk/apis/oas/{id}").unwrap();
    let definition = watched.definition_schema();
    let texts = Texts::of(&definition, &definition);
    let is_seen = |field: &Vec<String>| {
        let document = texts.with(&watched.example(update), field, "file://open");
        let (_, answers) = watched.tried(update, &document.to_string());
        watched.is_seen(OPEN, &answers)
    };
    assert!(texts.found.iter().filter(|field| field.last().is_some_and(|name| name == "value")).any(is_seen));
}

#[test]
fn no_text_of_an_mcp_definition_reads_a_file_or_a_variable_of_the_gateway() {
    let files = tempfile::tempdir().unwrap();
    let places = walk(&WatchedStage::start(files.path()), |path| path.starts_with("/tyk/mcps"));
    assert!(places > 300, "{places}");
}

#[test]
fn no_text_of_any_other_document_reads_a_file_or_a_variable_of_the_gateway() {
    let files = tempfile::tempdir().unwrap();
    let is_other = |path: &str| !path.starts_with("/tyk/apis") && !path.starts_with("/tyk/mcps");
    let places = walk(&WatchedStage::start(files.path()), is_other);
    assert!(places > 500, "{places}");
}

/// An OpenAPI document with a member of each kind that can name something.
fn full_document(version: &str, upstream: &str) -> Value {
    let mut document: Value = serde_json::from_str(include_str!("full_openapi.json")).unwrap();
    document["openapi"] = json!(version);
    document["x-tyk-api-gateway"]["upstream"]["url"] = json!(upstream);
    document
}

/// The pointers of all values, those of objects apart.
fn pointers(value: &Value, at: &str, texts: &mut Vec<String>, objects: &mut Vec<String>) {
    let below = |name: &str| format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::String(_) => texts.push(at.to_owned()),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| pointers(item, &below(&index.to_string()), texts, objects))
        }
        Value::Object(members) => {
            objects.push(at.to_owned());
            members.iter().for_each(|(name, member)| pointers(member, &below(name), texts, objects));
        }
        _ => {}
    }
}

#[test]
fn no_part_of_an_openapi_document_reads_a_file_or_a_variable_of_the_gateway() {
    let files = tempfile::tempdir().unwrap();
    let watched = WatchedStage::start(files.path());
    let canary = watched.stage.gateway.dir().join("data/canary.js");
    std::fs::write(&canary, format!("\"{CANARY}\"")).unwrap();
    let operations = watched.stage.operations();
    let put = operations.iter().find(|operation| operation.method == "PUT" && operation.path == "/tyk/apis/oas/{id}").unwrap();
    let mut taken = 0;
    for version in ["3.0.3", "3.1.0"] {
        let document = full_document(version, &watched.upstream.url());
        let (is_taken, answers) = watched.tried(put, &document.to_string());
        assert!(is_taken, "{answers:?}");
        let (mut texts, mut objects) = (Vec::new(), Vec::new());
        pointers(&document, "", &mut texts, &mut objects);
        let at_texts = texts.iter().map(|at| (at, "")).chain(objects.iter().flat_map(|at| [(at, "$ref"), (at, "$id")]));
        for (at, member) in at_texts {
            for text in references(&canary.display().to_string(), VARIABLE) {
                let mut changed = document.clone();
                let place = changed.pointer_mut(at).unwrap();
                match member {
                    "" => *place = json!(text),
                    member => place[member] = json!(text),
                }
                let (is_taken, answers) = watched.tried(put, &changed.to_string());
                taken += usize::from(is_taken);
                assert!(!watched.is_seen(CANARY, &answers), "{version} {at} {member} {text}: {answers:?}");
            }
        }
    }
    assert!(taken > 100, "{taken}");
    let log = watched.stage.gateway.log();
    assert!(!log.contains(CANARY), "{log}");
}
