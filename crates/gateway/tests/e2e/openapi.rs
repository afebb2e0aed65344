//! The description of the control API, held against a running gateway: each example is sent, each answer must be one that is described.

use std::process::Command;

use jsonschema::Validator;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::definition::merge;
use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, Response, Setup, api, request};
use crate::jwt_issuers::python;
use crate::portal::{Caller, portal_conf};
use crate::servers::free_port;

const METHODS: [&str; 5] = ["POST", "GET", "PUT", "PATCH", "DELETE"];

pub(crate) struct Stage {
    pub gateway: Gateway,
    document: Value,
    /// Ids that the gateway has made, by the names of their parameters.
    made: Vec<(&'static str, String)>,
    portal: u16,
    _policies: TempDir,
}

/// One described operation.
pub(crate) struct Operation<'d> {
    pub path: &'d str,
    pub method: &'d str,
    pub described: &'d Value,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        Stage::with(json!({}), &[])
    }

    /// With more settings, and variables of the process.
    fn with(more: Value, variables: &[(&str, &str)]) -> Stage {
        let policies = tempfile::tempdir().expect("a folder");
        let portal = free_port();
        let mut conf = json!({
            "policies": {"policy_source": "file", "policy_path": policies.path()},
            "health_check": {"enable_health_checks": true},
            "enable_analytics": true,
            "enable_config_inspection": true,
            // Nobody answers there.
            "tollgate": {"acme": {
                "issuers": [{"directory": "https://127.0.0.1:1/dir", "agree_to_terms": true}],
                "certificates": [{"names": ["api.example.com"]}],
            }, "portal": portal_conf(portal, free_port())}
        });
        merge(&mut conf, &more);
        let gateway = variables.iter().fold(Setup::new(conf), |setup, (name, value)| setup.env(name, *value)).start();
        let answer = gateway.control("GET", "/tyk/openapi.json", "");
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")), "{answer}");
        Stage { document: answer.json(), gateway, made: Vec::new(), portal, _policies: policies }
    }

    /// Every operation, in an order in which things are made before they are read, and read before they are deleted.
    pub(crate) fn operations(&self) -> Vec<Operation<'_>> {
        let mut all = Vec::new();
        for method in METHODS {
            for (path, item) in self.document["paths"].as_object().unwrap() {
                if let Some(described) = item.get(method.to_lowercase()) {
                    all.push(Operation { path, method, described });
                }
            }
        }
        all
    }

    fn validator(&self, schema: &Value) -> Validator {
        let whole = json!({"allOf": [schema], "components": self.document["components"]});
        jsonschema::draft202012::new(&whole).expect("a schema")
    }

    /// Checks that an answer is one of those that are described, and returns its status.
    fn judge(&self, operation: &Operation<'_>, answer: &Response) -> u16 {
        let named = format!("{} {}", operation.method, operation.path);
        let mut described = &operation.described["responses"][answer.status.to_string()];
        assert!(described.is_object(), "{named}: status {} is not described: {answer}", answer.status);
        if let Some(reference) = described.get("$ref").and_then(Value::as_str) {
            described = self.document.pointer(reference.trim_start_matches('#')).expect("a response");
        }
        let media = answer.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default();
        let schema = &described["content"][media]["schema"];
        assert!(schema.is_object(), "{named}: {media:?} is not described: {answer}");
        let body =
            if ["application/json", "application/octet-stream"].contains(&media) { answer.json() } else { answer.text().into() };
        let faults: Vec<String> =
            self.validator(schema).iter_errors(&body).map(|fault| format!("{}: {fault}", fault.instance_path)).collect();
        assert!(faults.is_empty(), "{named}: {}\n{answer}", faults.join("\n"));
        answer.status
    }

    /// The path of an operation with examples in it, or with ids of what there is.
    pub(crate) fn target(&self, operation: &Operation<'_>) -> String {
        let target = operation.target(None);
        let example = |name: &str| operation.parameters("path").find(|parameter| parameter["name"] == name)?["example"].as_str();
        // Longer examples first: one may be the beginning of another.
        self.made.iter().fold(target, |target, (name, id)| match example(name) {
            Some(example) => target.replacen(&format!("/{example}"), &format!("/{id}"), 1),
            None => target,
        })
    }

    pub(crate) fn document(&self) -> &Value {
        &self.document
    }

    pub(crate) fn send(&self, operation: &Operation<'_>, target: &str, body: &str) -> Response {
        self.gateway.control(operation.method, target, body)
    }
}

impl Operation<'_> {
    pub(crate) fn parameters(&self, place: &'static str) -> impl Iterator<Item = &Value> {
        self.described["parameters"].as_array().into_iter().flatten().filter(move |parameter| parameter["in"] == place)
    }

    /// The path with `value` or each parameter's example in it, and the query's examples.
    pub(crate) fn target(&self, value: Option<&str>) -> String {
        let mut target = self.path.to_owned();
        for parameter in self.parameters("path") {
            let example = value.or(parameter["example"].as_str()).expect("an example of a path's parameter");
            target = target.replace(&format!("{{{}}}", parameter["name"].as_str().unwrap()), example);
        }
        let query = self
            .parameters("query")
            .filter_map(|parameter| Some(format!("{}={}", parameter["name"].as_str()?, parameter.get("example")?.as_str()?)));
        let query: Vec<String> = query.collect();
        if query.is_empty() { target } else { format!("{target}?{}", query.join("&")) }
    }

    /// Type and example of the request's body.
    fn body(&self) -> Option<(&str, &Value)> {
        let (kind, content) = self.described["requestBody"]["content"].as_object()?.iter().next()?;
        Some((kind, content))
    }

    /// The schema of the request's body.
    pub(crate) fn body_schema(&self) -> Option<&Value> {
        self.body().map(|(_, content)| &content["schema"])
    }

    pub(crate) fn example(&self) -> String {
        match self.body() {
            Some(("application/json", content)) => content["example"].to_string(),
            Some(("application/x-www-form-urlencoded", content)) => {
                let fields = content["example"].as_object().expect("fields").iter();
                let pairs = fields.map(|(name, value)| format!("{name}={}", value.as_str().expect("a text").replace(' ', "+")));
                pairs.collect::<Vec<_>>().join("&")
            }
            Some((_, content)) => content["example"].as_str().expect("a text").to_owned(),
            None => String::new(),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.described["security"] == json!([])
    }
}

/// What the examples speak of: two APIs, a policy, a key, a developer with an application.
pub(crate) fn prepared() -> Stage {
    prepared_with(json!({}), &[])
}

/// The same with more settings, and variables of the process.
pub(crate) fn prepared_with(more: Value, variables: &[(&str, &str)]) -> Stage {
    let mut stage = Stage::with(more, variables);
    for path in ["/tyk/apis", "/tyk/apis/oas", "/tyk/mcps", "/tyk/policies", "/tyk/keys/{id}"] {
        let operations = stage.operations();
        let operation = operations.iter().find(|operation| operation.path == path && operation.method == "POST").unwrap();
        let answer = stage.send(operation, &operation.target(None), &operation.example());
        assert_eq!(answer.status, 200, "{path}: {answer}");
    }
    // The APIs' own examples stay short.
    let accounts = api("accounts", "/accounts/", "http://127.0.0.1:9090/")
        .with_keys()
        .set("use_oauth2", true)
        .set("oauth_meta/allowed_authorize_types", json!(["code"]))
        .set("oauth_meta/allowed_access_types", json!(["authorization_code"]));
    let answer = stage.gateway.control("POST", "/tyk/apis", &accounts.0.to_string());
    assert_eq!(answer.status, 200, "{answer}");
    let gold = json!({"id": "gold", "org_id": "default", "access_rights": {
        "quick": {"api_id": "quick", "versions": ["Default"]}, "accounts": {"api_id": "accounts", "versions": ["Default"]}
    }});
    let answer = stage.gateway.control("PUT", "/tyk/policies/gold", &gold.to_string());
    assert_eq!(answer.status, 200, "{answer}");
    let product = json!({"name": "Shop", "apis": ["quick"], "plans": [{"id": "gold", "name": "Gold", "policy": "gold"}]});
    for (path, document) in [("products", product), ("pages", json!({"title": "Shop"}))] {
        let answer = stage.gateway.control("PUT", &format!("/tyk/portal/{path}/shop"), &document.to_string());
        assert_eq!(answer.status, 200, "{answer}");
    }
    let mut ada = Caller::invited(&stage.gateway, stage.portal, "ada@example.com");
    let grant = ada.granted("gold");
    let parts: Vec<&str> = grant.split('/').collect();
    let team = parts[3].split('-').next().expect("a team");
    stage.made = vec![("application", parts[3].to_owned()), ("grant", parts[5].to_owned()), ("team", team.to_owned())];
    stage
}

#[test]
fn every_example_is_answered_as_described() {
    let stage = prepared();
    let operations = stage.operations();
    assert!(operations.len() > 30, "{}", operations.len());
    for operation in &operations {
        let answer = stage.send(operation, &stage.target(operation), &operation.example());
        assert_eq!(stage.judge(operation, &answer), 200, "{} {}: {answer}", operation.method, operation.path);
    }
}

/// What some editors put before a text.
#[test]
fn every_body_may_begin_with_a_byte_order_mark() {
    let stage = prepared();
    for operation in stage.operations().iter().filter(|operation| operation.body().is_some()) {
        let answer = stage.send(operation, &stage.target(operation), &format!("\u{feff}{}", operation.example()));
        assert_eq!(stage.judge(operation, &answer), 200, "{} {}: {answer}", operation.method, operation.path);
    }
}

#[test]
fn every_example_of_a_body_fits_its_own_description() {
    let stage = Stage::new();
    for operation in stage.operations() {
        let Some((_, content)) = operation.body() else { continue };
        let faults: Vec<String> =
            stage.validator(&content["schema"]).iter_errors(&content["example"]).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{} {}: {faults:?}", operation.method, operation.path);
    }
}

#[test]
fn what_is_wrong_is_answered_as_described() {
    let stage = prepared();
    for operation in stage.operations() {
        let denied = stage.gateway.send(request(operation.method, &operation.target(None), &["Connection: close"], ""));
        let status = stage.judge(&operation, &denied);
        assert_eq!(status == 403, !operation.is_open(), "{} {}", operation.method, operation.path);
        if operation.body().is_some() {
            for body in ["", "{", "[]", "7", "null", "\"text\"", "\u{0}", "{\"api_id\":{}}", "{\"id\":[]}", "{\"rate\":\"x\"}"] {
                stage.judge(&operation, &stage.send(&operation, &operation.target(None), body));
            }
        }
        if operation.parameters("path").next().is_some() {
            for value in ["no-such-thing", "%20", "%2F", "%00", "..%2f..%2fetc", "%F0%9F%8E%AB", "x,y", &"x".repeat(5000)] {
                stage.judge(&operation, &stage.send(&operation, &operation.target(Some(value)), &operation.example()));
            }
        }
    }
}

#[test]
fn a_method_that_is_not_described_is_not_served() {
    let stage = Stage::new();
    for (path, item) in stage.document["paths"].as_object().unwrap() {
        for method in METHODS {
            if item.get(method.to_lowercase()).is_none() {
                let filled = ["{id}", "{hash}", "{client}", "{token}", "{application}", "{grant}"]
                    .iter()
                    .fold(path.clone(), |path, name| path.replace(name, "x"));
                let answer = stage.gateway.control(method, &filled, "");
                assert_eq!(answer.status, 405, "{method} {path}: {answer}");
            }
        }
    }
}

#[test]
fn another_validator_of_openapi_finds_nothing_wrong() {
    let stage = Stage::new();
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), stage.document.to_string()).expect("a written file");
    let script = format!(
        r#"
import json
from openapi_spec_validator import OpenAPIV31SpecValidator
document = json.load(open({:?}))
print(json.dumps([f"{{list(fault.absolute_path)}}: {{fault.message}}" for fault in OpenAPIV31SpecValidator(document).iter_errors()]))
"#,
        file.path()
    );
    let Some(faults) = python(&script) else { return };
    assert_eq!(faults, json!([]));
}

fn printed(document: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_tollgate")).args(["schema", document]).output().expect("tollgate runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn the_command_prints_the_description_that_is_served() {
    assert_eq!(printed("control-api"), Stage::new().document);
}

#[test]
fn printed_schemas_are_as_lenient_as_the_gateway_and_know_wrong_types() {
    let right =
        json!({"access_rights": {"a": {"versions": null, "limit": null}}, "rate": null, "tags": [null], "of_a_later_version": {}});
    for (document, whole, wrong) in [
        ("key", right.clone(), json!({"rate": "x"})),
        ("key", json!({"dry_run": ["quota"], "on_store_failure": {"quota": "deny"}}), json!({"on_store_failure": "never"})),
        ("policy", right, json!({"access_rights": {"a": {"limit": {"quota_max": "many"}}}})),
        ("policy", json!({"_id": {"$oid": "1"}, "limits": [{"rate": 1e3, "per": 1.0}]}), json!({"limits": {}})),
        ("config", json!({"storage": null, "tollgate": {"shared_store": {"on_failure": ""}}}), json!({"listen_port": 70000})),
        ("config", json!({"unknown": 1, "hash_key_function": "murmur64"}), json!({"hash_key_function": "md5"})),
        (
            "api",
            json!({"proxy": {"listen_path": "/a/", "target_url": "http://a/"}, "definition": {"location": "anywhere"}}),
            json!({"proxy": {"listen_path": "", "target_url": "http://a/"}}),
        ),
        (
            "api",
            json!({"proxy": {"listen_path": "/a/", "target_url": "http://a/"},
                "version_data": {"versions": {"v": {"global_enforce_timeout": "10s", "extended_paths": {"white_list": null}}}}}),
            json!({"name": "without a proxy"}),
        ),
    ] {
        let schema = jsonschema::draft202012::new(&printed(document)).expect("a schema");
        let faults: Vec<String> = schema.iter_errors(&whole).map(|fault| format!("{}: {fault}", fault.instance_path)).collect();
        assert!(faults.is_empty(), "{document} {whole}: {faults:#?}");
        assert!(!schema.is_valid(&wrong), "{document} {wrong}");
    }
}

#[test]
fn the_description_itself_needs_the_secret() {
    let stage = Stage::new();
    let wrong = format!("x-tyk-authorization: {SECRET}x");
    assert_eq!(stage.gateway.send(request("GET", "/tyk/openapi.json", &[&wrong], "")).status, 403);
}
