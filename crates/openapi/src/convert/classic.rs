//! Writes a classic definition as an OpenAPI document: the table of fields read backwards, targets, authentication, and entries of `extended_paths` as
//! operations.

use serde_json::{Map, Value, json};

use super::{is_zero, members};
use crate::document::METHODS;
use crate::extension::{EXTENSION, FIELDS, FieldForm, JWT_FIELDS, OPERATION_FIELDS, OperationField};
use crate::places::{member, put};

/// A document, and what it could not take.
pub(super) struct Written {
    pub document: Value,
    pub notes: Vec<String>,
}

/// Characters of patterns that no path of a document has.
const OF_PATTERNS: [char; 10] = ['(', ')', '[', ']', '*', '+', '?', '^', '$', '|'];

pub(super) fn write(definition: &Value) -> Result<Written, String> {
    let version = only_version(definition)?;
    let title = member(definition, "name").and_then(Value::as_str).filter(|name| !name.is_empty()).unwrap_or("API");
    let mut writer = OpenApiWriter {
        root: json!({"openapi": "3.0.3", "info": {"title": title, "version": "1.0.0"}, "paths": {}}),
        extension: json!({}),
        notes: Vec::new(),
    };
    writer.fields(definition, version);
    writer.targets(definition, version);
    writer.authentication(definition);
    writer.operations(version);
    if let Some(own) = definition.get("tollgate").filter(|own| !is_zero(own)) {
        put(&mut writer.root, &["x-tollgate"], own.clone());
    }
    let OpenApiWriter { mut root, extension, notes } = writer;
    put(&mut root, &[EXTENSION], extension);
    Ok(Written { document: root, notes })
}

/// The version that the document is for.
fn only_version(definition: &Value) -> Result<&Value, String> {
    static EMPTY: Value = Value::Null;
    let versions: Vec<(&String, &Value)> = members(member(definition, "version_data.versions")).collect();
    match versions.as_slice() {
        [] => Ok(&EMPTY),
        [(_, only)] => Ok(only),
        several => match several.iter().find(|(name, _)| name.as_str() == "Default") {
            Some((_, default)) if member(definition, "version_data.not_versioned") == Some(&json!(true)) => Ok(default),
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

struct OpenApiWriter {
    root: Value,
    extension: Value,
    notes: Vec<String>,
}

impl OpenApiWriter {
    fn set(&mut self, dotted: &str, value: Value) {
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

    fn authentication(&mut self, definition: &Value) {
        let is_on = |name: &str| definition.get(name) == Some(&json!(true));
        if is_on("use_keyless") {
            return;
        }
        let others =
            ["enable_jwt", "use_basic_auth", "use_oauth2", "use_openid", "enable_signature_checking", "custom_plugin_auth_enabled"];
        let config = |name: &str| {
            let own = definition.get("auth_configs").and_then(|configs| configs.get(name));
            own.or_else(|| definition.get("auth")).cloned().unwrap_or(json!({}))
        };
        let mut requirement = Map::new();
        if is_on("use_standard_auth") || !others.iter().any(|name| is_on(name)) {
            let config = config("authToken");
            let text = |name: &str| config.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
            let header = text("auth_header_name").unwrap_or_else(|| "Authorization".to_owned());
            let mut settings = sources(&config, &header);
            put(&mut settings, &["enabled"], json!(true));
            if config.get("use_certificate") == Some(&json!(true)) {
                put(&mut settings, &["enableClientCertificate"], json!(true));
            }
            self.scheme("authToken", json!({"type": "apiKey", "in": "header", "name": header}), settings, &mut requirement);
            if config.get("disable_header") == Some(&json!(true)) {
                self.notes
                    .push("$.auth_configs.authToken.disable_header: has no counterpart: the scheme names a header".to_owned());
            }
            if config.get("validate_signature") == Some(&json!(true)) {
                self.notes
                    .push("$.auth_configs.authToken.signature: was not converted: add signatureValidation by hand".to_owned());
            }
        }
        if is_on("enable_jwt") {
            let mut settings = sources(&config("jwt"), "Authorization");
            for (name, classic) in JWT_FIELDS {
                if let Some(value) = definition.get(classic).filter(|value| !is_zero(value)) {
                    put(&mut settings, &[name], value.clone());
                }
            }
            put(&mut settings, &["enabled"], json!(true));
            self.scheme("jwtAuth", json!({"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}), settings, &mut requirement);
        }
        if is_on("use_basic_auth") {
            let mut settings = sources(&config("basic"), "Authorization");
            put(&mut settings, &["enabled"], json!(true));
            for (name, classic) in [("disableCaching", "basic_auth.disable_caching"), ("cacheTTL", "basic_auth.cache_ttl")] {
                if let Some(value) = member(definition, classic).filter(|value| !is_zero(value)) {
                    put(&mut settings, &[name], value.clone());
                }
            }
            self.scheme("basicAuth", json!({"type": "http", "scheme": "basic"}), settings, &mut requirement);
        }
        if is_on("enable_signature_checking") {
            let mut settings = sources(&config("hmac"), "Authorization");
            put(&mut settings, &["enabled"], json!(true));
            for (name, classic) in
                [("allowedAlgorithms", "hmac_allowed_algorithms"), ("allowedClockSkew", "hmac_allowed_clock_skew")]
            {
                if let Some(value) = definition.get(classic).filter(|value| !is_zero(value)) {
                    put(&mut settings, &[name], value.clone());
                }
            }
            self.set("server.authentication.hmac", settings);
        }
        if !requirement.is_empty() {
            put(&mut self.root, &["security"], json!([requirement]));
        }
    }

    fn scheme(&mut self, name: &str, scheme: Value, settings: Value, requirement: &mut Map<String, Value>) {
        put(&mut self.root, &["components", "securitySchemes", name], scheme);
        put(&mut self.extension, &["server", "authentication", "securitySchemes", name], settings);
        requirement.insert(name.to_owned(), json!([]));
    }

    fn operations(&mut self, version: &Value) {
        if member(version, "use_extended_paths") == Some(&json!(false)) {
            return;
        }
        for (list, entries) in members(member(version, "extended_paths")).filter(|(_, entries)| !is_zero(entries)) {
            let Some(field) = OPERATION_FIELDS.iter().find(|field| field.list == list) else {
                self.notes.push(format!("$.version_data..extended_paths.{list}: has no counterpart"));
                continue;
            };
            for (index, entry) in entries.as_array().into_iter().flatten().enumerate() {
                if let Err(why) = self.entry(field, entry) {
                    self.notes.push(format!("$.version_data..extended_paths.{list}[{index}]: {why}"));
                }
            }
        }
    }

    fn entry(&mut self, field: &OperationField, entry: &Value) -> Result<(), String> {
        let path = entry.get("path").and_then(Value::as_str).unwrap_or_default();
        if !path.starts_with('/') || path.contains(OF_PATTERNS) {
            return Err(format!("{path:?} is a pattern, and a document has paths"));
        }
        for method in methods(entry)? {
            let id = self.operation(path, &method);
            let at = ["middleware", "operations", id.as_str(), field.name];
            let mut settings = json!({});
            for own in field.members {
                let keys: Vec<&str> = own.0.split('.').collect();
                match (member(entry, own.1), own.2) {
                    (None, FieldForm::Not) => put(&mut settings, &keys, json!(true)),
                    (Some(value), form) => put(&mut settings, &keys, form.to_extension(value).unwrap_or_default()),
                    (None, _) => {}
                }
            }
            if let Some(template) = entry.get("template_data") {
                let source = template.get("template_source").cloned().unwrap_or_default();
                let name = if template.get("template_mode") == Some(&json!("file")) { "path" } else { "body" };
                put(&mut settings, &[name], source);
            }
            put(&mut self.extension, &at, settings);
        }
        if entry.get("triggers").is_some_and(|triggers| !is_zero(triggers)) {
            return Err("its triggers were not converted".to_owned());
        }
        if field.list == "virtual" {
            return Err("its function was not converted".to_owned());
        }
        Ok(())
    }

    /// The id of the operation of a path and method; makes it if there is none.
    fn operation(&mut self, path: &str, method: &str) -> String {
        let method = method.to_ascii_lowercase();
        let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let id = std::iter::once(method.as_str()).chain(words).collect::<Vec<_>>().join("-");
        let known = self.root.get("paths").and_then(|paths| paths.get(path)?.get(&method)?.get("operationId")?.as_str());
        if let Some(known) = known {
            return known.to_owned();
        }
        let is_taken = |id: &str, root: &Value| {
            let items = members(root.get("paths")).flat_map(|(_, item)| members(Some(item)));
            items.into_iter().any(|(_, operation)| operation.get("operationId").and_then(Value::as_str) == Some(id))
        };
        let mut own = id.clone();
        let mut number = 2;
        while is_taken(&own, &self.root) {
            own = format!("{id}-{number}");
            number += 1;
        }
        let names = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        let parameters: Vec<Value> =
            names.map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}})).collect();
        let mut operation = json!({"operationId": own, "responses": {"200": {"description": "As before."}}});
        if !parameters.is_empty() {
            put(&mut operation, &["parameters"], parameters.into());
        }
        put(&mut self.root, &["paths", path, &method], operation);
        own
    }
}

/// The methods of an entry. One with several actions is only converted if they let requests pass.
fn methods(entry: &Value) -> Result<Vec<String>, String> {
    let actions: Vec<(&String, &Value)> = members(entry.get("method_actions")).collect();
    if let Some((method, _)) = actions.iter().find(|(_, action)| action.get("action").and_then(Value::as_str) == Some("reply")) {
        return Err(format!("its reply to {method} was not converted: use mockResponse"));
    }
    let named: Vec<String> = actions.iter().map(|(method, _)| (*method).clone()).collect();
    match entry.get("method").and_then(Value::as_str).filter(|method| !method.is_empty()) {
        _ if !named.is_empty() => Ok(named),
        Some(method) => Ok(vec![method.to_owned()]),
        // Any method.
        None => Ok(METHODS.iter().map(|method| method.to_ascii_uppercase()).collect()),
    }
}

/// Where credentials are, as in the extension.
fn sources(config: &Value, header: &str) -> Value {
    let is_on = |name: &str| config.get(name) == Some(&json!(true));
    let text = |name: &str| config.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let named = text("auth_header_name").unwrap_or(header);
    let mut made = json!({"header": {"enabled": !is_on("disable_header"), "name": named}});
    if is_on("use_param") {
        put(&mut made, &["query"], json!({"enabled": true, "name": text("param_name").unwrap_or(named)}));
    }
    if is_on("use_cookie") {
        put(&mut made, &["cookie"], json!({"enabled": true, "name": text("cookie_name").unwrap_or(named)}));
    }
    made
}
