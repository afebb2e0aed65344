//! `/config` and `/env`: the configuration of this gateway, as Tyk shows it, one setting with its variable or all of them. Secrets are hidden,
//! also those that Tyk shows: what may be one is hidden by the name of its setting, by its form, or because a reference stood in its place.

use super::Control;
use super::answer::{ControlAnswer, json, ok};
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use tollgate_admin::MASK;
use tollgate_admin::mask::mask;
use tollgate_model::JsonPath;
use tollgate_model::config::{GatewayConfig, ReferredTexts, variable_of};
use utoipa::{IntoParams, ToSchema};

/// Tyk's word in place of a secret.
const HIDDEN: &str = "*REDACTED*";
/// Stands in for the value of an empty setting, to learn whether a value would be hidden. It refers to nothing and names nobody.
const SAMPLE: &str = "sample";
/// Settings that Tyk hides as a whole.
const HIDDEN_MAPS: [&str; 2] = ["/secrets", "/monitor/configuration/header_map"];
/// Members with texts that open something: header lines, addresses that only their owners know, and those of a dashboard.
const HIDDEN_MEMBERS: [&str; 3] = ["header_map", "target_path", "policy_connection_string"];

/// The configuration as it is shown. It is made once: the configuration holds while the process lives.
pub struct Inspection {
    document: Value,
    settings: Vec<Setting>,
}

/// A setting.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Setting {
    /// Its place in the file.
    config_field: String,
    /// The variable that sets it.
    env: String,
    /// Its value as a text.
    value: String,
    /// Whether its value is a secret, which is not shown.
    obfuscated: bool,
}

/// A setting, or all of them.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum Variables {
    /// `VARIABLE=value` of every setting.
    All(Vec<String>),
    /// The setting of the variable.
    One(#[schema(inline)] Setting),
}

/// There is no such setting.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SettingMissing {
    error: &'static str,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FieldQuery {
    /// A setting by its place in the file, such as `http_server_options.enable_strict_routes`; without it, the whole configuration is meant.
    #[serde(default)]
    #[param(example = "listen_port")]
    field: String,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct EnvQuery {
    /// A variable; without it, all are meant.
    #[serde(default)]
    #[param(example = "TYK_GW_LISTENPORT")]
    env: String,
}

impl Inspection {
    /// What is shown, if that is switched on.
    pub fn of(config: &GatewayConfig) -> Option<Self> {
        config.enable_config_inspection.then(|| {
            let written = json(config);
            let document = hidden(written.clone(), &config.referred);
            let sampled = hidden(with_samples(written), &config.referred);
            let mut settings = Vec::new();
            collect(&document, &sampled, &JsonPath::root(), "", &mut settings);
            Inspection { document, settings }
        })
    }
}

/// The document without its secrets.
fn hidden(mut document: Value, referred: &ReferredTexts) -> Value {
    mask(&mut document, &());
    hide_more(&mut document, false, referred);
    for map in HIDDEN_MAPS {
        if let Some(map) = document.pointer_mut(map) {
            *map = Value::Null;
        }
    }
    document
}

/// Hides what the names of members in definitions do not tell.
fn hide_more(value: &mut Value, is_secret: bool, referred: &ReferredTexts) {
    match value {
        Value::String(text) => {
            // Whatever has an `@` may be an address with somebody's password.
            let is_secret = is_secret || text == MASK || text.contains(['@']) || text.contains("PRIVATE KEY");
            if !text.is_empty() && (is_secret || referred.0.contains(text)) {
                HIDDEN.clone_into(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| hide_more(item, is_secret, referred)),
        Value::Object(members) => {
            for (name, member) in members {
                hide_more(member, is_secret || HIDDEN_MEMBERS.contains(&name.as_str()), referred);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The document with a text wherever one is empty.
fn with_samples(document: Value) -> Value {
    match document {
        Value::String(text) if text.is_empty() => SAMPLE.into(),
        Value::Array(items) => items.into_iter().map(with_samples).collect(),
        Value::Object(members) => members.into_iter().map(|(name, member)| (name, with_samples(member))).collect(),
        other => other,
    }
}

/// Adds the settings below a place. As in Tyk, an object is none, and neither is a map that is hidden as a whole. `sampled` is the same place of a document without empty texts.
fn collect(value: &Value, sampled: &Value, path: &JsonPath, field: &str, settings: &mut Vec<Setting>) {
    if HIDDEN_MAPS.contains(&format!("/{}", field.replace('.', "/")).as_str()) {
        return;
    }
    if let Value::Object(members) = value {
        for (name, member) in members {
            let field = if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
            collect(member, sampled.get(name).unwrap_or(&Value::Null), &path.key(name), &field, settings);
        }
        return;
    }
    let obfuscated = sampled.to_string().contains(HIDDEN);
    settings.push(Setting { config_field: field.to_owned(), env: variable_of(path), value: go_value(value), obfuscated });
}

/// A value as Go prints it.
fn go_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "<nil>".to_owned(),
        Value::Array(items) => format!("[{}]", items.iter().map(go_value).collect::<Vec<_>>().join(" ")),
        other => other.to_string(),
    }
}

/// The configuration
///
/// It is shown if `enable_config_inspection` is set, without its secrets. Settings of Tyk's that have no effect here are not among them.
#[utoipa::path(
    get, path = "/config", tag = "Configuration", operation_id = "getConfig",
    security(("secret" = ["admin", "scope:closed"])),
    params(FieldQuery),
    responses(
        (status = 200, body = Object, description = "The whole configuration, or the setting with `config_field`, `env`, `value` and `obfuscated`."),
        (status = 404, content((SettingMissing = "application/json"), (String = "text/plain")), description = "There is no such setting, or `enable_config_inspection` is not set."),
    )
)]
pub(super) async fn config(State(control): State<Arc<Control>>, Query(FieldQuery { field }): Query<FieldQuery>) -> Response {
    let Some(inspection) = &control.inspection else { return switched_off() };
    if field.is_empty() {
        return ok(&inspection.document).into_response();
    }
    match inspection.settings.iter().find(|setting| setting.config_field == field) {
        Some(setting) => ok(setting).into_response(),
        None => missing("field not found"),
    }
}

/// The variables of the configuration
///
/// They are shown if `enable_config_inspection` is set, without secrets.
#[utoipa::path(
    get, path = "/env", tag = "Configuration", operation_id = "getEnv",
    security(("secret" = ["admin", "scope:closed"])),
    params(EnvQuery),
    responses(
        (status = 200, body = Variables, description = "All variables with their values, or the setting of one."),
        (status = 404, content((SettingMissing = "application/json"), (String = "text/plain")), description = "There is no such variable, or `enable_config_inspection` is not set."),
    )
)]
pub(super) async fn env(State(control): State<Arc<Control>>, Query(EnvQuery { env }): Query<EnvQuery>) -> Response {
    let Some(inspection) = &control.inspection else { return switched_off() };
    if env.is_empty() {
        let line = |Setting { env, value, .. }: &Setting| format!("{env}={}", if value.is_empty() { "''" } else { value });
        return ok(Variables::All(inspection.settings.iter().map(line).collect())).into_response();
    }
    match inspection.settings.iter().find(|setting| setting.env == env) {
        Some(setting) => ok(Variables::One(setting.clone())).into_response(),
        None => missing("environment variable not found"),
    }
}

fn missing(error: &'static str) -> Response {
    ControlAnswer::new(StatusCode::NOT_FOUND, json(SettingMissing { error })).into_response()
}

/// As for any path that does not exist.
fn switched_off() -> Response {
    (StatusCode::NOT_FOUND, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], "404 page not found\n").into_response()
}
