//! Environment variables that override the configuration, in two spellings: Tyk's `TYK_GW_` with the names of its Go fields
//! (`TYK_GW_HTTPSERVEROPTIONS_ENABLESTRICTROUTES`), and `TOLLGATE_` with the names in the file
//! (`TOLLGATE_HTTP_SERVER_OPTIONS_ENABLE_STRICT_ROUTES`), which takes precedence. The settings are found by walking the
//! configuration itself, so a new field has its variables at once.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{GatewayConfig, known};
use crate::json_path::{JsonPath, PathStep};
use crate::problem::{Level, Problem};

/// Tyk's additional variables for two settings.
const SHORT_NAMES: [(&str, &str); 2] = [("TYK_LOGLEVEL", "log_level"), ("TYK_LOGFORMAT", "log_format")];
/// Prefixes of variables that look like ours but are not settings: they are read elsewhere, or Kubernetes sets them for every pod
/// if a service has one of our names.
const NOT_SETTINGS: [&str; 10] = [
    "TYK_GW_OMITCONFIGFILE",
    "TYK_GW_SERVICE_",
    "TYK_GW_PORT",
    "TOLLGATE_SERVICE_",
    "TOLLGATE_PORT",
    "TOLLGATE_SECRET_",
    "TOLLGATE_CONF",
    "TOLLGATE_LOG",
    "TOLLGATE_URL",
    "TOLLGATE_HANDOVER",
];

/// The variable of a setting: Tyk's, if the setting is Tyk's.
pub fn variable_of(path: &JsonPath) -> String {
    match keys(path).next() {
        Some("tollgate") => file_name(path),
        _ => format!("TYK_GW_{}", go_name(path)),
    }
}

/// A value that came from the environment.
pub(super) struct Override {
    pub(super) variable: String,
    pub(super) path: JsonPath,
}

/// Writes the settings among `variables` into `document`. Returns what was written, and what could not be.
pub(super) fn apply(document: &mut Value, variables: &BTreeMap<String, String>) -> (Vec<Override>, Vec<Problem>) {
    let settings = VariableSetting::all();
    let mut overrides = Vec::new();
    let mut problems = Vec::new();
    for (variable, text, name) in ours(variables) {
        let Some(setting) = settings.iter().find(|setting| setting.is_called(&name)) else {
            problems.extend(without_setting(variable, text, &name));
            continue;
        };
        // Deployment templates pass unset variables as empty ones.
        if text.is_empty() && !setting.default.is_string() {
            continue;
        }
        match parse(text, &setting.default) {
            Ok(value) => {
                set(document, &setting.path, value);
                overrides.push(Override { variable: variable.to_owned(), path: setting.path.clone() });
            }
            Err(message) => problems.push(Problem::new(Level::Error, variable, message)),
        }
    }
    (overrides, problems)
}

/// How a variable refers to its setting.
enum SettingName {
    /// Go field names, upper case, joined by `_`.
    Go(String),
    /// Names in the file, upper case, joined by `_`.
    File(String),
}

/// Tollgate's variables in the order in which they are applied.
fn ours(variables: &BTreeMap<String, String>) -> Vec<(&str, &str, SettingName)> {
    let mut short = Vec::new();
    let mut go = Vec::new();
    let mut file = Vec::new();
    for (variable, text) in variables {
        if let Some((_, field)) = SHORT_NAMES.iter().find(|(name, _)| name == variable) {
            short.push((variable.as_str(), text.as_str(), SettingName::File(field.to_uppercase())));
        } else if let Some(name) = variable.strip_prefix("TYK_GW_") {
            go.push((variable, text, SettingName::Go(name.to_uppercase())));
        } else if let Some(name) = variable.strip_prefix("TOLLGATE_") {
            let name = name.to_uppercase().replace("__", "_");
            file.push((variable, text, SettingName::File(name)));
        }
    }
    short.extend(go.into_iter().chain(file).map(|(v, t, n)| (v.as_str(), t.as_str(), n)));
    short
}

/// The problem of a variable that names no setting: one without effect in Tollgate, one of another program, or a typing error.
fn without_setting(variable: &str, text: &str, name: &SettingName) -> Option<Problem> {
    let is_known = known::FIELDS.iter().map(|(path, _)| *path).any(|path| {
        let known = JsonPath::of(path);
        let (written, known) = match name {
            SettingName::Go(written) => (written, go_name(&known)),
            SettingName::File(written) => (written, file_name(&known)),
        };
        written.strip_prefix(&known).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    });
    if is_known {
        let message = "not supported yet";
        return (!text.is_empty()).then(|| Problem::new(Level::Ignored, variable, message));
    }
    let is_other = NOT_SETTINGS.iter().any(|prefix| variable.starts_with(prefix));
    (!is_other).then(|| Problem::new(Level::Warning, variable, "names no setting"))
}

/// A position in the configuration, and its default value, which determines the type.
struct VariableSetting {
    path: JsonPath,
    default: Value,
}

impl VariableSetting {
    fn all() -> Vec<VariableSetting> {
        let mut settings = Vec::new();
        if let Ok(Value::Object(members)) = serde_json::to_value(GatewayConfig::default()) {
            VariableSetting::below(&JsonPath::root(), members, &mut settings);
        }
        settings
    }

    fn below(path: &JsonPath, members: Map<String, Value>, settings: &mut Vec<VariableSetting>) {
        for (key, value) in members {
            let path = path.key(&key);
            match value {
                Value::Object(members) if !members.is_empty() => VariableSetting::below(&path, members, settings),
                // Free-form JSON cannot be set by variables.
                Value::Null => {}
                default => settings.push(VariableSetting { path, default }),
            }
        }
    }

    fn is_called(&self, name: &SettingName) -> bool {
        match name {
            SettingName::Go(name) => go_name(&self.path) == *name,
            // Tollgate's own settings may omit the name of their group.
            SettingName::File(name) => {
                let own = file_name(&self.path);
                own == *name || own.strip_prefix("TOLLGATE_") == Some(name)
            }
        }
    }
}

fn go_name(path: &JsonPath) -> String {
    let mut names = Vec::new();
    for (depth, key) in keys(path).enumerate() {
        let here = JsonPath(path.0.iter().take(depth + 1).cloned().collect());
        let special = known::GO_NAMES.iter().find(|(path, _)| here.matches(path));
        names.push(match special {
            Some((_, name)) => (*name).to_owned(),
            None => key.replace('_', "").to_uppercase(),
        });
    }
    names.join("_")
}

fn file_name(path: &JsonPath) -> String {
    keys(path).collect::<Vec<_>>().join("_").to_uppercase()
}

fn keys(path: &JsonPath) -> impl Iterator<Item = &str> {
    path.0.iter().filter_map(|step| match step {
        PathStep::Key(key) => Some(key.as_str()),
        PathStep::Index(_) => None,
    })
}

/// Parses the value of a variable into the type of `default`. Lists are separated by commas, maps are `key:value` pairs separated
/// by commas; both may be JSON instead.
fn parse(text: &str, default: &Value) -> Result<Value, &'static str> {
    match default {
        Value::Bool(_) => parse_bool(text).map(Value::Bool).ok_or("must be true or false"),
        Value::Number(_) => parse_number(text).ok_or("must be a number"),
        Value::Array(_) if text.trim_start().starts_with('[') => {
            serde_json::from_str(text).map_err(|_| "must be a comma separated list or a JSON list")
        }
        Value::Array(_) => Ok(items(text).collect()),
        Value::Object(_) if text.trim_start().starts_with('{') => {
            serde_json::from_str(text).map_err(|_| "must be key:value pairs or a JSON object")
        }
        Value::Object(_) => items(text)
            .map(|pair| pair.split_once(':'))
            .map(|pair| pair.map(|(key, value)| (key.to_owned(), json!(value))))
            .collect::<Option<Map<_, _>>>()
            .map(Value::Object)
            .ok_or("must be comma separated key:value pairs"),
        Value::String(_) | Value::Null => Ok(json!(text)),
    }
}

fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|item| !item.is_empty())
}

/// The spellings that Go accepts.
pub(super) fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

fn parse_number(text: &str) -> Option<Value> {
    match serde_json::from_str(text.trim()) {
        Ok(Value::Number(number)) => Some(Value::Number(number)),
        _ => None,
    }
}

/// Puts a value into the document; keys match in any letter case.
fn set(document: &mut Value, path: &JsonPath, value: Value) {
    let mut place = document;
    for key in keys(path) {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        let Value::Object(members) = place else { return };
        let spelling = members.keys().find(|k| k.as_str() == key);
        let spelling = spelling.or_else(|| members.keys().find(|k| k.eq_ignore_ascii_case(key)));
        let spelling = spelling.map_or(key, String::as_str).to_owned();
        place = members.entry(spelling).or_insert(Value::Null);
    }
    *place = value;
}

#[cfg(test)]
mod tests;
