//! Makes an API of an OpenAPI document: adds `x-tyk-api-gateway` with settings from the document and from the importer's choices. The same
//! choices change an API that exists.

use serde_json::{Value, json};

use crate::document::METHODS;
use crate::extension::EXTENSION;
use crate::places::{at_pointer, member, put};

/// What an importer decides; `None` leaves the document's own setting or the default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportOptions {
    /// URL of the upstream; by default the first server of the document.
    pub upstream_url: Option<String>,
    /// Listen path; `/` by default.
    pub listen_path: Option<String>,
    /// Host of the API.
    pub custom_domain: Option<String>,
    /// Id of the API.
    pub api_id: Option<String>,
    /// Whether callers must authenticate by the schemes of the document's `security`.
    pub authentication: Option<bool>,
    /// Whether only the operations of the document are open.
    pub allow_list: Option<bool>,
    /// Whether requests must fit the document.
    pub validate_request: Option<bool>,
    /// Whether the gateway answers with the document's examples.
    pub mock_response: Option<bool>,
    /// `legacy` or `compliant`.
    pub security_processing_mode: Option<String>,
}

impl ImportOptions {
    /// Whether nothing was decided.
    pub fn is_empty(&self) -> bool {
        *self == ImportOptions::default()
    }
}

/// Adds settings to a document. A new API gets defaults too. `Err` says what is missing.
pub fn apply(root: &mut Value, options: &ImportOptions, is_new: bool) -> Result<(), String> {
    let mut extension = root.get(EXTENSION).cloned().unwrap_or_else(|| json!({}));
    if is_new {
        put(&mut extension, &["info", "state"], json!({"active": true, "internal": false}));
        put(&mut extension, &["server", "listenPath", "strip"], json!(true));
        for section in ["contextVariables", "trafficLogs"] {
            if member(&extension, &format!("middleware.global.{section}")).is_none() {
                put(&mut extension, &["middleware", "global", section, "enabled"], json!(true));
            }
        }
    }
    let is_empty = |extension: &Value, dotted: &str| member(extension, dotted).and_then(Value::as_str).is_none_or(str::is_empty);
    if is_empty(&extension, "info.name") {
        put(&mut extension, &["info", "name"], member(root, "info.title").cloned().unwrap_or_else(|| json!("")));
    }
    if let Some(id) = &options.api_id {
        put(&mut extension, &["info", "id"], json!(id));
    }
    match &options.listen_path {
        Some(path) => put(&mut extension, &["server", "listenPath", "value"], json!(path)),
        None if is_empty(&extension, "server.listenPath.value") => {
            put(&mut extension, &["server", "listenPath", "value"], json!("/"))
        }
        None => {}
    }
    if let Some(domain) = &options.custom_domain {
        put(&mut extension, &["server", "customDomain", "name"], json!(domain));
        put(&mut extension, &["server", "customDomain", "enabled"], json!(true));
    }
    if options.upstream_url.is_some() || is_empty(&extension, "upstream.url") {
        put(&mut extension, &["upstream", "url"], json!(upstream(root, options)?));
    }
    if let Some(mode) = &options.security_processing_mode {
        put(&mut extension, &["server", "authentication", "securityProcessingMode"], json!(mode));
    }
    if let Some(on) = options.authentication {
        authentication(root, &mut extension, on)?;
    }
    operations(root, &mut extension, options);
    if let Value::Object(members) = root {
        members.insert(EXTENSION.to_owned(), extension);
    }
    Ok(())
}

/// The upstream's URL: the importer's, or the document's first server with the defaults of its variables.
fn upstream(root: &Value, options: &ImportOptions) -> Result<String, String> {
    let is_url = |url: &str| url.split_once("://").is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.is_empty());
    if let Some(url) = &options.upstream_url {
        return if is_url(url) { Ok(url.clone()) } else { Err(format!("the upstream must be an absolute URL, not {url:?}")) };
    }
    let server = root.get("servers").and_then(|servers| servers.get(0));
    let Some(url) = server.and_then(|server| server.get("url")?.as_str()) else {
        return Err("the document has no servers: give the upstream's URL".to_owned());
    };
    let mut url = url.to_owned();
    for (name, variable) in server.and_then(|server| server.get("variables")?.as_object()).into_iter().flatten() {
        let default = variable.get("default").and_then(Value::as_str).filter(|default| !default.is_empty());
        match default {
            Some(default) => url = url.replace(&format!("{{{name}}}"), default),
            None => return Err(format!("the server's variable {name} has no default")),
        }
    }
    if is_url(&url) && !url.contains('{') { Ok(url) } else { Err(format!("$.servers[0].url must be an absolute URL, not {url:?}")) }
}

/// Enables the schemes that the document requires.
fn authentication(root: &Value, extension: &mut Value, on: bool) -> Result<(), String> {
    let required: Vec<&String> = root
        .get("security")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .flat_map(|r| r.keys())
        .collect();
    if required.is_empty() {
        return Err("the document has no security: nothing says how callers authenticate".to_owned());
    }
    put(extension, &["server", "authentication", "enabled"], json!(on));
    let mut methods = Vec::new();
    for name in required {
        let scheme = member(root, "components.securitySchemes").and_then(|schemes| schemes.get(name));
        let scheme = scheme.and_then(|scheme| match scheme.get("$ref").and_then(Value::as_str) {
            Some(reference) => at_pointer(root, reference).map(|(scheme, _)| scheme),
            None => Some(scheme),
        });
        let is = |member: &str, text: &str| {
            scheme.and_then(|scheme| scheme.get(member)?.as_str()).is_some_and(|written| written.eq_ignore_ascii_case(text))
        };
        let key = ["server", "authentication", "securitySchemes", name.as_str()];
        let existing = member(extension, "server.authentication.securitySchemes").and_then(|schemes| schemes.get(name)).cloned();
        let mut settings = existing.unwrap_or_else(|| json!({}));
        let method = match () {
            () if is("type", "apiKey") => "auth_token",
            () if is("type", "http") && is("scheme", "basic") => "basic_auth_user",
            () if is("type", "http") && is("scheme", "bearer") && is("bearerFormat", "JWT") => "jwt_claim",
            () if is("type", "oauth2") => "oauth_key",
            () => return Err(format!("no authentication method checks the security scheme {name}")),
        };
        put(&mut settings, &["enabled"], json!(on));
        if method != "auth_token" && settings.get("header").is_none() {
            put(&mut settings, &["header"], json!({"enabled": true, "name": "Authorization"}));
        }
        put(extension, &key, settings);
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    // Of several methods, one provides the session.
    let order = ["auth_token", "jwt_claim", "oauth_key", "basic_auth_user"];
    let base = order.into_iter().find(|method| methods.contains(method)).filter(|_| methods.len() > 1);
    if let Some(base) = base {
        put(extension, &["server", "authentication", "baseIdentityProvider"], json!(base));
    }
    Ok(())
}

/// Gives every operation an id, and sets its middleware.
fn operations(root: &mut Value, extension: &mut Value, options: &ImportOptions) {
    let mut settings = member(extension, "middleware.operations").cloned().unwrap_or_else(|| json!({}));
    let mut ids = Vec::new();
    let document = root.clone();
    let Some(Value::Object(paths)) = root.get_mut("paths") else { return };
    for (path, item) in paths.iter_mut() {
        let has_parameters = item.get("parameters").and_then(Value::as_array).is_some_and(|parameters| !parameters.is_empty());
        let Value::Object(item) = item else { continue };
        for method in METHODS {
            let Some(Value::Object(operation)) = item.get_mut(method) else { continue };
            let id = match operation.get("operationId").and_then(Value::as_str).filter(|id| !id.is_empty()) {
                Some(id) => id.to_owned(),
                None => {
                    let id = format!("{}{}", path.trim_start_matches('/'), method.to_uppercase());
                    operation.insert("operationId".to_owned(), json!(id));
                    id
                }
            };
            let operation = Value::Object(operation.clone());
            if let Some(on) = options.allow_list {
                put(&mut settings, &[&id, "allow", "enabled"], json!(on));
                if on && settings.pointer(&format!("/{}/block", id.replace('~', "~0").replace('/', "~1"))).is_some() {
                    put(&mut settings, &[&id, "block", "enabled"], json!(false));
                }
            }
            if let Some(on) = options.validate_request
                && (has_parameters || is_validated(&document, &operation))
            {
                put(&mut settings, &[&id, "validateRequest"], json!({"enabled": on, "errorResponseCode": 422}));
            }
            if let Some(on) = options.mock_response
                && has_example(&document, &operation)
            {
                put(&mut settings, &[&id, "mockResponse"], json!({"enabled": on, "fromOASExamples": {"enabled": on}}));
                if let Some(code) = success(&operation) {
                    put(&mut settings, &[&id, "mockResponse", "fromOASExamples", "code"], json!(code));
                }
            }
            ids.push(id);
        }
    }
    if let Value::Object(settings) = &mut settings {
        settings.retain(|id, _| ids.contains(id));
        if !settings.is_empty() || member(extension, "middleware.operations").is_some() {
            put(extension, &["middleware", "operations"], Value::Object(settings.clone()));
        }
    }
}

/// Whether there is something to validate: a parameter, or a body.
fn is_validated(root: &Value, operation: &Value) -> bool {
    let has_parameters = operation.get("parameters").and_then(Value::as_array).is_some_and(|parameters| !parameters.is_empty());
    let body = operation.get("requestBody").and_then(|body| followed(root, body));
    has_parameters || body.and_then(|body| body.get("content")?.as_object()).is_some_and(|content| !content.is_empty())
}

/// The status of the first successful response, if it must be named: without one, mocks are those of 200.
fn success(operation: &Value) -> Option<u16> {
    let codes = operation.get("responses").and_then(Value::as_object)?.keys();
    let codes: Vec<u16> = codes.filter_map(|code| code.parse().ok()).filter(|code| (200..300).contains(code)).collect();
    if codes.contains(&200) { None } else { codes.into_iter().min() }
}

/// Whether a response has an example or a schema to make one from.
fn has_example(root: &Value, operation: &Value) -> bool {
    let responses = operation.get("responses").and_then(Value::as_object).into_iter().flat_map(|responses| responses.values());
    let mut media =
        responses.filter_map(|response| followed(root, response)?.get("content")?.as_object()).flat_map(|content| content.values());
    media.any(|media| ["example", "schema", "examples"].iter().any(|name| media.get(*name).is_some()))
}

fn followed<'v>(root: &'v Value, value: &'v Value) -> Option<&'v Value> {
    match value.get("$ref").and_then(Value::as_str) {
        Some(reference) => at_pointer(root, reference).map(|(value, _)| value),
        None => Some(value),
    }
}

#[cfg(test)]
mod tests;
