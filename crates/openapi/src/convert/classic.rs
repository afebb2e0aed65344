//! Writes a classic definition as an OpenAPI document: the table of fields read backwards, targets, and what the neighbouring files write.

use serde_json::{Value, json};

use super::{is_zero, members};
use crate::extension::{EXTENSION, FIELDS, FieldForm};
use crate::mcp_mark;
use crate::places::{member, put};

/// A document, what it could not take, and what is worth knowing.
pub(super) struct WrittenDefinition {
    pub document: Value,
    pub losses: Vec<String>,
    pub notes: Vec<String>,
}

pub(super) fn write(definition: &Value) -> Result<WrittenDefinition, String> {
    let (version_name, version) = only_version(definition)?;
    let title = member(definition, "name").and_then(Value::as_str).filter(|name| !name.is_empty()).unwrap_or("API");
    let mut writer = OpenApiWriter {
        root: json!({"openapi": "3.0.3", "info": {"title": title, "version": "1.0.0"}, "paths": {}}),
        extension: json!({}),
        losses: Vec::new(),
        notes: Vec::new(),
    };
    writer.fields(definition, version);
    writer.targets(definition, version);
    writer.sections(definition);
    writer.authentication(definition);
    if let Some(own) = definition.get("tollgate").filter(|own| !is_zero(own)) {
        let mut own = own.clone();
        if let Value::Object(members) = &mut own
            && definition.get("enable_jwt") == Some(&json!(true))
        {
            // The scheme of the tokens says it.
            members.remove("jwt");
        }
        put(&mut writer.root, &["x-tollgate"], own);
    }
    let is_mcp = definition.get("application_protocol") == Some(&json!("mcp"));
    if is_mcp {
        mcp_mark::add(&mut writer.root);
    }
    writer.endpoints(version_name, version, is_mcp);
    let OpenApiWriter { mut root, extension, losses, notes } = writer;
    put(&mut root, &[EXTENSION], extension);
    Ok(WrittenDefinition { document: root, losses, notes })
}

/// The version that the document is for, with its name.
fn only_version(definition: &Value) -> Result<(&str, &Value), String> {
    static EMPTY: Value = Value::Null;
    let versions: Vec<(&String, &Value)> = members(member(definition, "version_data.versions")).collect();
    match versions.as_slice() {
        [] => Ok(("", &EMPTY)),
        [(name, only)] => Ok((name, only)),
        several => match several.iter().find(|(name, _)| name.as_str() == "Default") {
            Some((name, default)) if member(definition, "version_data.not_versioned") == Some(&json!(true)) => Ok((name, default)),
            _ => {
                let names: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).collect();
                Err(format!(
                    "$.version_data.versions: has {} versions ({}): in OpenAPI each is a document of its own, so convert a definition for each",
                    names.len(),
                    names.join(", ")
                ))
            }
        },
    }
}

/// The document so far.
pub(super) struct OpenApiWriter {
    pub root: Value,
    pub extension: Value,
    pub losses: Vec<String>,
    pub notes: Vec<String>,
}

impl OpenApiWriter {
    /// Sets a field of Tyk's extension.
    pub(super) fn set(&mut self, dotted: &str, value: Value) {
        put(&mut self.extension, &dotted.split('.').collect::<Vec<_>>(), value);
    }

    fn fields(&mut self, definition: &Value, version: &Value) {
        let of = |classic: &str| match classic.strip_prefix("version.") {
            Some(rest) => member(version, rest),
            None => member(definition, classic),
        };
        let is_switch = |field: &crate::extension::Field| field.2 == FieldForm::Not;
        for field in FIELDS.iter().filter(|field| !is_switch(field)) {
            let written = of(field.1).filter(|value| !is_zero(value)).and_then(|value| field.2.to_extension(value));
            if let Some(value) = written {
                self.set(field.0, value);
            }
        }
        // A missing section is off; a missing classic switch is on.
        for field in FIELDS.iter().filter(|field| is_switch(field)) {
            let section = field.0.rsplit_once('.').map_or("", |(section, _)| section);
            let is_needed = ["server.authentication", "middleware.global.trafficLogs"].contains(&section);
            if is_needed || of(field.1).is_some() || member(&self.extension, section).is_some() {
                let is_off = of(field.1).and_then(Value::as_bool).unwrap_or_default();
                self.set(field.0, json!(!is_off));
            }
        }
        self.set("info.state.active", of("active").cloned().unwrap_or(json!(true)));
        if let Some(target) = member(version, "override_target").filter(|target| !is_zero(target)) {
            self.set("upstream.url", target.clone());
        }
    }

    /// A target that is listed several times has that weight.
    fn targets(&mut self, definition: &Value, version: &Value) {
        let has_own = member(version, "override_target").is_some_and(|target| !is_zero(target));
        let list = member(definition, "proxy.target_list").and_then(Value::as_array).filter(|_| !has_own);
        let mut weights: Vec<(&str, u64)> = Vec::new();
        for url in list.into_iter().flatten().filter_map(Value::as_str) {
            match weights.iter_mut().find(|(known, _)| *known == url) {
                Some((_, weight)) => *weight += 1,
                None => weights.push((url, 1)),
            }
        }
        if !weights.is_empty() {
            let targets: Vec<Value> = weights.iter().map(|(url, weight)| json!({"url": url, "weight": weight})).collect();
            self.set("upstream.loadBalancing.targets", targets.into());
        }
    }
}
