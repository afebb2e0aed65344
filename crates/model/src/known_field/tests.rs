//! Checks that every typed field of a document has an effect, or is in a table of fields without one. The tables report fields
//! without effect, which are not typed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::api::ApiDefinition;
use crate::config::GatewayConfig;
use crate::policy::Policy;
use crate::problem::{Level, Problem};
use crate::schema::schema_of;
use crate::session::Session;

mod pages;

/// JSON names with a different Rust name.
const RENAMED: [(&str, &str); 5] = [
    ("virtual", "virtual_endpoints"),
    ("CORS", "cors"),
    ("_id", "database_id"),
    ("cacheTimeout", "cache_timeout_camel"),
    ("match", "matcher"),
];

/// Fields whose names several objects share, so that a name after a dot does not identify the object. Each was checked by hand.
const SHARED: &str = include_str!("shared.txt");

/// Fields without effect that checks of their own report, with a value that triggers the report.
const REPORTED: [(&str, &str); 5] = [
    ("definition.response_processors", r#"[{"name": "goplugin_res_hook"}]"#),
    ("configuration.policies.policy_source", r#""service""#),
    ("configuration.dns_cache.enabled", "true"),
    ("configuration.http_server_options.ssl_insecure_skip_verify", "true"),
    ("configuration.drl_threshold", "7"),
];

/// Fields without effect that are not reported, each with a reason.
const SILENT: [&str; 18] = [
    // For people only.
    "definition.tollgate.route.affected_by",
    "definition.slug",
    // Tyk ignores it too.
    "definition.definition.base_id",
    "definition.version_data.versions.*.extended_paths.transform_headers.act_on",
    // The report of a field in `REPORTED` covers these.
    "configuration.dns_cache",
    "configuration.dns_cache.check_interval",
    "configuration.dns_cache.multiple_ips_handle_strategy",
    "configuration.dns_cache.ttl",
    "configuration.policies.policy_connection_string",
    // Policies may always choose their identifiers.
    "configuration.policies.allow_explicit_policy_id",
    // One connection carries everything.
    "configuration.storage.optimisation_max_active",
    "configuration.storage.optimisation_max_idle",
    // Their behaviour is always enabled.
    "configuration.http_server_options.flush_interval",
    "configuration.http_server_options.skip_target_path_escaping",
    // Kept for other readers of the session.
    "session.allowance",
    "session.last_check",
    // There is one version; another one is refused.
    "definition.json_rpc_version",
    // For scripts.
    "definition.custom_middleware.pre.require_session",
];

#[test]
fn every_typed_field_is_read_somewhere() {
    let mut objects = Objects::default();
    objects.add::<ApiDefinition>("definition");
    objects.add::<Session>("session");
    objects.add::<Policy>("policy");
    objects.add::<GatewayConfig>("configuration");
    let fields: Vec<(&str, &str)> =
        objects.0.iter().flat_map(|(names, path)| names.iter().map(|name| (path.as_str(), name.as_str()))).collect();
    assert!(fields.len() > 300, "{}", fields.len());

    let read = names_read();
    let listed: BTreeSet<&str> = SHARED.lines().collect();
    let does_nothing: Vec<&str> = REPORTED.iter().map(|(field, _)| *field).chain(SILENT).collect();
    let mut unread = Vec::new();
    let mut shared = BTreeSet::new();
    for (owner, name) in &fields {
        let rust = RENAMED.iter().find(|(json, _)| json == name).map_or(*name, |(_, rust)| rust);
        let is_shared = fields.iter().filter(|(_, other)| other == name).count() > 1;
        if is_shared {
            shared.insert(format!("{owner}.{name}"));
        } else if !read.contains(rust) && !does_nothing.contains(&format!("{owner}.{name}").as_str()) {
            unread.push(format!("{owner}.{name}"));
        }
    }
    assert!(unread.is_empty(), "nothing reads these fields: make them act, or move them to a table of known fields:\n{unread:#?}");
    let new: Vec<_> = shared.iter().filter(|field| !listed.contains(field.as_str())).collect();
    assert!(new.is_empty(), "make sure that these fields are read, then add them to shared.txt: {new:#?}");
    let gone: Vec<_> = listed.iter().filter(|field| !shared.contains(**field)).collect();
    assert!(gone.is_empty(), "take these lines out of shared.txt: {gone:#?}");
}

#[test]
fn a_field_that_does_nothing_is_reported() {
    for (field, value) in REPORTED {
        let (document, path) = field.split_once('.').unwrap();
        let value: Value = serde_json::from_str(value).unwrap();
        let written = path.rsplit('.').fold(value, |value, name| json!({ name: value }));
        let problems = match document {
            "definition" => {
                let mut whole = json!({
                    "api_id": "1",
                    "version_data": {"not_versioned": true, "versions": {"Default": {}}},
                    "proxy": {"listen_path": "/a/", "target_url": "http://upstream/"}
                });
                merge(&mut whole, &written);
                ApiDefinition::parse(whole.to_string().as_bytes(), None).unwrap().1
            }
            "session" => Session::from_value(&written).unwrap().1,
            "policy" => Policy::from_value(&written, None).unwrap().1,
            _ => {
                let file = tempfile::NamedTempFile::with_suffix(".json").unwrap();
                fs::write(file.path(), written.to_string()).unwrap();
                GatewayConfig::load(Some(file.path()), std::iter::empty()).unwrap().1
            }
        };
        let place = format!("$.{}", path.trim_end_matches(".enabled"));
        let says = |problem: &Problem| problem.level == Level::Ignored && problem.path.starts_with(&place);
        assert!(problems.iter().any(says), "{field}: {problems:?}");
    }
}

fn merge(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            over.iter().for_each(|(name, value)| merge(base.entry(name.clone()).or_insert(Value::Null), value));
        }
        (base, over) => *base = over.clone(),
    }
}

/// The objects of documents: the names of their fields, and the first path of each. Two objects with the same names have the same
/// type.
#[derive(Default)]
struct Objects(BTreeMap<BTreeSet<String>, String>);

impl Objects {
    fn add<T: JsonSchema>(&mut self, document: &str) {
        self.add_below(&schema_of::<T>(), document);
    }

    fn add_below(&mut self, schema: &Value, path: &str) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            self.0.entry(properties.keys().cloned().collect()).or_insert_with(|| path.to_owned());
            for (name, schema) in properties {
                self.add_below(schema, &format!("{path}.{name}"));
            }
        }
        for (member, suffix) in [("items", ""), ("additionalProperties", ".*")] {
            if let Some(schema) = schema.get(member) {
                self.add_below(schema, &format!("{path}{suffix}"));
            }
        }
    }
}

/// Names after a dot in code with effects: the gateway's, and this crate's except for validation and tables.
fn names_read() -> BTreeSet<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for directory in [
        "access/src",
        "acme/src",
        "client/src",
        "cluster/src",
        "control/src",
        "data/src",
        "gateway/src",
        "limit/src",
        "llm_gateway/src",
        "mcp/src",
        "mcp_federation/src",
        "model/src",
        "observe/src",
        "outbound/src",
        "pattern/src",
        "portal/src",
        "store/src",
        "tls/src",
    ] {
        rust_files(&crates.join(directory), &mut files);
    }
    assert!(files.len() > 200, "{}", files.len());
    let mut names = BTreeSet::new();
    for text in files.iter().map(|file| fs::read_to_string(file).unwrap()) {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            let behind = line.split('.').skip(1);
            names.extend(
                behind.filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()).map(str::to_owned),
            );
        }
    }
    names
}

fn rust_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if ["tests", "validate", "known", "known_field"].contains(&stem) {
            continue;
        }
        match path.is_dir() {
            true => rust_files(&path, files),
            false if path.extension().is_some_and(|extension| extension == "rs") => files.push(path),
            false => {}
        }
    }
}

/// A document with every object that a type may have; everything else is not set.
fn skeleton(schema: &Value) -> Value {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        return Value::Object(properties.iter().map(|(name, schema)| (name.clone(), skeleton(schema))).collect());
    }
    let below = |keyword: &str| schema.get(keyword).map(skeleton).filter(|below| !below.is_null());
    let alternatives = ["anyOf", "oneOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array()).flatten();
    let items = || below("items").map(|item| json!([item]));
    let named = || below("additionalProperties").map(|member| json!({"any": member}));
    items().or_else(named).or_else(|| alternatives.map(skeleton).find(|below| !below.is_null())).unwrap_or_default()
}

/// The JSON pointers of all objects whose members have a type; those of maps have free names.
fn objects(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if !members.contains_key("any") {
                found.push(at.to_owned());
            }
            members.iter().for_each(|(name, member)| objects(member, &format!("{at}/{name}"), found));
        }
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| objects(item, &format!("{at}/{index}"), found)),
        _ => {}
    }
}

fn unnamed_surprises<T: JsonSchema + serde::de::DeserializeOwned>() -> (usize, Vec<String>) {
    let whole = skeleton(&schema_of::<T>());
    let mut pointers = Vec::new();
    objects(&whole, "", &mut pointers);
    let count = pointers.len();
    let is_unnamed = |pointer: &String| {
        // With an unknown member, these rules are refused as a whole, with an error.
        if pointer.ends_with("/on_store_failure") {
            return false;
        }
        let mut document = whole.clone();
        document.pointer_mut(pointer).unwrap()["surprise"] = json!(1);
        let steps = pointer.matches('/').count() + 1;
        let unknown = crate::decode::decode::<T>(&document).unknown;
        !unknown.iter().any(|(path, value)| path.0.len() == steps && path.to_string().ends_with(".surprise") && *value == json!(1))
    };
    pointers.retain(is_unnamed);
    (count, pointers)
}

#[test]
fn an_unknown_member_of_any_object_of_any_document_is_named() {
    for (name, least, (count, unnamed)) in [
        ("definition", 100, unnamed_surprises::<ApiDefinition>()),
        ("session", 10, unnamed_surprises::<Session>()),
        ("policy", 5, unnamed_surprises::<Policy>()),
        ("configuration", 50, unnamed_surprises::<GatewayConfig>()),
    ] {
        assert!(count >= least, "{name}: {count} objects");
        assert_eq!(unnamed, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_misspelt_setting_of_authentication_makes_a_definition_unusable() {
    for path in [
        "auth_configs.jwt.surprise",
        "auth_configs.authToken.signature.surprise",
        "auth.surprise",
        "basic_auth.surprise",
        "openid_options.surprise",
        "external_oauth.surprise",
        "scopes.jwt.surprise",
        "tollgate.scope_chek",
        "tollgate.deprecation.surprise",
        "tollgate.jwt.allowed_issuer",
        "tollgate.scope_check.surprise",
        "tollgate.protected_resource.surprise",
        "tollgate.forward_auth.surprise",
    ] {
        let written = path.rsplit('.').fold(json!(1), |value, name| json!({ name: value }));
        let mut whole = json!({
            "api_id": "1",
            "version_data": {"not_versioned": true, "versions": {"Default": {}}},
            "proxy": {"listen_path": "/a/", "target_url": "http://upstream/"}
        });
        merge(&mut whole, &written);
        let problems = ApiDefinition::parse(whole.to_string().as_bytes(), None).unwrap_err();
        let place = format!("$.{path}");
        assert!(problems.iter().any(|problem| problem.path == place && problem.message == "unknown field"), "{path}: {problems:?}");
    }
}
