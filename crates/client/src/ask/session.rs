//! The options for the rights and limits of a key or a policy, and how they change its document.

use super::span::{seconds, whole_seconds};
use super::{CommandFailure, Gateway, segment};
use clap::Args;
use serde_json::{Map, Value, json};

/// Limits and rights.
#[derive(Debug, Default, Args)]
pub(super) struct SessionGrants {
    /// Id of an API that may be called; repeat for several
    #[arg(long = "api", value_name = "ID")]
    apis: Vec<String>,
    /// Requests in --per
    #[arg(long, value_name = "N", value_parser = positive)]
    rate: Option<f64>,
    /// Period of --rate: seconds, or 1m, 1h [default: 60]
    #[arg(long, value_name = "TIME", value_parser = seconds, requires = "rate")]
    per: Option<f64>,
    /// Requests in --quota-renews
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    quota: Option<i64>,
    /// Period of --quota, which starts with the first request: seconds, or 24h, 30d [default: 30d]
    #[arg(long, value_name = "TIME", value_parser = whole_seconds, requires = "quota")]
    quota_renews: Option<i64>,
    /// The organisation [default: that of the API or policy, else default]
    #[arg(long, value_name = "ID")]
    org: Option<String>,
    /// A tag for analytics records; repeat for several
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// A value for $tyk_meta.NAME; repeat for several
    #[arg(long = "meta", value_name = "NAME=VALUE", value_parser = name_and_value)]
    meta: Vec<(String, String)>,
}

const PER_S: f64 = 60.0;
const QUOTA_RENEWS_S: i64 = 30 * 86_400;

impl SessionGrants {
    /// Whether an API is named.
    pub(super) fn name_apis(&self) -> bool {
        !self.apis.is_empty()
    }

    /// Applies the options to a session or a policy. For a new one, the first API determines the organisation.
    pub(super) fn apply(&self, document: &mut Map<String, Value>, gateway: &Gateway) -> Result<(), CommandFailure> {
        for id in &self.apis {
            let api = api(id, gateway)?;
            if let Some(org) = api.get("org_id").and_then(Value::as_str).filter(|org| !org.is_empty()) {
                document.entry("org_id").or_insert_with(|| org.into());
            }
            let right = json!({ "api_id": id, "api_name": api.get("name").unwrap_or(&Value::Null), "versions": versions(&api) });
            insert_below(document, "access_rights", id, right);
        }
        if let Some(rate) = self.rate {
            document.insert("rate".to_owned(), number(rate));
            document.insert("per".to_owned(), number(self.per.unwrap_or(PER_S)));
        }
        if let Some(quota) = self.quota {
            document.insert("quota_max".to_owned(), quota.into());
            document.insert("quota_renewal_rate".to_owned(), self.quota_renews.unwrap_or(QUOTA_RENEWS_S).into());
        }
        if let Some(org) = &self.org {
            document.insert("org_id".to_owned(), org.as_str().into());
        }
        if !self.tags.is_empty() {
            document.insert("tags".to_owned(), json!(self.tags));
        }
        for (name, value) in &self.meta {
            insert_below(document, "meta_data", name, value.as_str().into());
        }
        Ok(())
    }
}

/// Sets a member of the object with a name, and creates the object if it is missing.
fn insert_below(document: &mut Map<String, Value>, name: &str, key: &str, value: Value) {
    match document.get_mut(name) {
        Some(Value::Object(members)) => drop(members.insert(key.to_owned(), value)),
        _ => drop(document.insert(name.to_owned(), json!({ key: value }))),
    }
}

/// The definition of an API; if it does not exist, the failure names the existing ones.
fn api(id: &str, gateway: &Gateway) -> Result<Value, CommandFailure> {
    if let Some(api) = gateway.find(&format!("/tyk/apis/{}", segment(id)))? {
        return Ok(api);
    }
    let all = gateway.get("/tyk/apis")?;
    let ids: Vec<&str> = all.as_array().into_iter().flatten().filter_map(|api| api.get("api_id")?.as_str()).take(20).collect();
    let hint = if ids.is_empty() { "there is none yet".to_owned() } else { format!("there are: {}", ids.join(", ")) };
    Err(CommandFailure::Refused(format!("there is no API with the id {id} ({hint})")))
}

/// The names of an API's versions, as rights list them.
fn versions(api: &Value) -> Vec<String> {
    let data = api.get("version_data");
    let is_versioned = data.and_then(|data| data.get("not_versioned")).and_then(Value::as_bool) == Some(false);
    let names = data.and_then(|data| data.get("versions")?.as_object()).into_iter().flatten().map(|(name, _)| name.clone());
    let mut names: Vec<String> = if is_versioned { names.collect() } else { Vec::new() };
    if names.is_empty() {
        names.push("Default".to_owned());
    }
    names
}

/// A whole number without `.0`.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}

fn positive(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite() && *number > 0.0)
        .ok_or_else(|| "must be a number above 0".to_owned())
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("must be NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// A number of a document, formatted for people.
pub(super) fn shown(document: &Value, name: &str) -> String {
    match document.get(name) {
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        _ => String::new(),
    }
}

/// `100 in 60 s`, or a dash.
pub(super) fn rate(document: &Value) -> String {
    let at = |name: &str| document.get(name).and_then(Value::as_f64).unwrap_or_default();
    if at("rate") > 0.0 && at("per") > 0.0 { format!("{} in {} s", number(at("rate")), number(at("per"))) } else { "-".to_owned() }
}

/// `1000 in 30 d`, or a dash.
pub(super) fn quota(document: &Value) -> String {
    let at = |name: &str| document.get(name).and_then(Value::as_i64).unwrap_or_default();
    match (at("quota_max"), u64::try_from(at("quota_renewal_rate"))) {
        (max, Ok(seconds)) if max > 0 && seconds > 0 => format!("{max} in {}", super::span::span(seconds)),
        (max, _) if max > 0 => format!("{max}"),
        _ => "-".to_owned(),
    }
}

/// The ids of the permitted APIs.
pub(super) fn apis(document: &Value) -> String {
    let rights = document.get("access_rights").and_then(Value::as_object);
    let ids: Vec<&str> = rights.into_iter().flatten().map(|(id, _)| id.as_str()).collect();
    if ids.is_empty() { "-".to_owned() } else { ids.join(", ") }
}

#[cfg(test)]
mod tests;
