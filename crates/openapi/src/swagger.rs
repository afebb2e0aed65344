//! Swagger 2.0 as OpenAPI 3.0.3, for imports. What has no counterpart is named.

use serde_json::{Map, Value, json};

use crate::places::put;

/// Members of a parameter that belong to its schema.
const OF_SCHEMA: [&str; 17] = [
    "type",
    "format",
    "items",
    "default",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "enum",
    "multipleOf",
    "x-nullable",
];
/// The methods of a path.
const METHODS: [&str; 7] = ["get", "put", "post", "delete", "options", "head", "patch"];

/// A converted document, and what it lost.
#[derive(Debug)]
pub struct ConvertedSwagger {
    /// The OpenAPI document.
    pub document: Value,
    /// JSON path and reason of what has no counterpart.
    pub notes: Vec<String>,
}

/// Whether a document is Swagger 2.0.
pub fn is_swagger(document: &Value) -> bool {
    document.get("swagger").is_some_and(|version| version == "2.0" || *version == json!(2.0))
}

/// Converts a document.
pub fn convert_swagger(swagger: &Value) -> ConvertedSwagger {
    let mut converter = Converter { swagger, notes: Vec::new() };
    let document = converter.document();
    ConvertedSwagger { document: renamed(document), notes: converter.notes }
}

struct Converter<'s> {
    swagger: &'s Value,
    notes: Vec<String>,
}

fn object(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The members with these names, or those that begin with `x-`.
fn kept(value: &Value, names: &[&str]) -> Map<String, Value> {
    let members = object(Some(value)).filter(|(name, _)| names.contains(&name.as_str()) || name.starts_with("x-"));
    members.map(|(name, value)| (name.clone(), value.clone())).collect()
}

impl<'s> Converter<'s> {
    fn document(&mut self) -> Value {
        let swagger = self.swagger;
        let mut made = Map::new();
        made.insert("openapi".to_owned(), "3.0.3".into());
        made.extend(kept(swagger, &["info", "tags", "externalDocs", "security"]));
        made.insert("servers".to_owned(), self.servers());
        let mut paths = Map::new();
        for (path, item) in object(swagger.get("paths")) {
            paths.insert(path.clone(), self.path_item(path, item));
        }
        made.insert("paths".to_owned(), paths.into());
        let components = self.components();
        if !components.is_empty() {
            made.insert("components".to_owned(), components.into());
        }
        made.into()
    }

    fn servers(&self) -> Value {
        let (host, base) = (text(self.swagger, "host"), text(self.swagger, "basePath"));
        if host.is_empty() {
            return if base.is_empty() { json!([]) } else { json!([{"url": base}]) };
        }
        let schemes: Vec<&str> = list(self.swagger.get("schemes")).filter_map(Value::as_str).collect();
        let schemes = if schemes.is_empty() { vec!["https"] } else { schemes };
        schemes.iter().map(|scheme| json!({"url": format!("{scheme}://{host}{}", base.trim_end_matches('/'))})).collect()
    }

    fn path_item(&mut self, path: &str, item: &Value) -> Value {
        let mut made = kept(item, &["$ref"]);
        let shared: Vec<&Value> = list(item.get("parameters")).collect();
        for method in METHODS {
            if let Some(operation) = item.get(method) {
                made.insert(method.to_owned(), self.operation(&format!("$.paths[{path:?}].{method}"), operation, &shared));
            }
        }
        made.into()
    }

    fn operation(&mut self, place: &str, operation: &Value, shared: &[&Value]) -> Value {
        let names = ["tags", "summary", "description", "externalDocs", "operationId", "deprecated", "security"];
        let mut made = kept(operation, &names);
        let consumes = self.media_types(operation, "consumes");
        let produces = self.media_types(operation, "produces");
        let own: Vec<&Value> = list(operation.get("parameters")).collect();
        let name_of = |converter: &Self, parameter: &Value| {
            let parameter = converter.resolved(parameter);
            (text(parameter, "name").to_owned(), text(parameter, "in").to_owned())
        };
        // Those of the operation replace those of its path.
        let inherited = shared.iter().filter(|parameter| own.iter().all(|other| name_of(self, other) != name_of(self, parameter)));
        let all: Vec<&Value> = inherited.copied().chain(own.iter().copied()).collect();
        let (mut parameters, mut fields) = (Vec::new(), Vec::new());
        for parameter in all {
            let resolved = self.resolved(parameter);
            match text(resolved, "in") {
                "body" => {
                    made.insert("requestBody".to_owned(), body(resolved, &consumes));
                }
                "formData" => fields.push(resolved.clone()),
                _ if parameter.get("$ref").is_some() => parameters.push(parameter.clone()),
                _ => parameters.push(self.parameter(place, resolved)),
            }
        }
        if !parameters.is_empty() {
            made.insert("parameters".to_owned(), parameters.into());
        }
        if !fields.is_empty() {
            made.insert("requestBody".to_owned(), form(&fields, &consumes));
        }
        let mut responses = Map::new();
        for (status, response) in object(operation.get("responses")) {
            responses.insert(status.clone(), response_of(response, &produces));
        }
        made.insert("responses".to_owned(), responses.into());
        if operation.get("schemes").is_some() {
            self.notes.push(format!("{place}.schemes: an operation has no schemes of its own any more"));
        }
        made.into()
    }

    /// The media types of an operation, or those of the document.
    fn media_types(&self, operation: &Value, name: &str) -> Vec<String> {
        let own = operation.get(name).or_else(|| self.swagger.get(name));
        let types: Vec<String> = list(own).filter_map(Value::as_str).map(str::to_owned).collect();
        if types.is_empty() { vec!["application/json".to_owned()] } else { types }
    }

    /// A parameter, or the one that it refers to.
    fn resolved<'p>(&self, parameter: &'p Value) -> &'p Value
    where
        's: 'p,
    {
        let name = text(parameter, "$ref").strip_prefix("#/parameters/").unwrap_or_default();
        self.swagger.get("parameters").and_then(|parameters| parameters.get(name)).unwrap_or(parameter)
    }

    fn parameter(&mut self, place: &str, parameter: &Value) -> Value {
        let mut made = kept(parameter, &["name", "in", "description", "required", "allowEmptyValue"]);
        made.retain(|name, _| name != "x-nullable");
        made.insert("schema".to_owned(), schema_of(parameter));
        if text(parameter, "type") == "array" {
            let is_in_query = text(parameter, "in") == "query";
            let (style, explode) = match (text(parameter, "collectionFormat"), is_in_query) {
                ("multi", _) => ("form", true),
                ("ssv", true) => ("spaceDelimited", false),
                ("pipes", true) => ("pipeDelimited", false),
                ("" | "csv", true) => ("form", false),
                ("" | "csv", false) => ("simple", false),
                (other, _) => {
                    let name = text(parameter, "name");
                    self.notes.push(format!(
                        "{place}: parameter {name}: collectionFormat {other} has no counterpart; commas separate its values now"
                    ));
                    (if is_in_query { "form" } else { "simple" }, false)
                }
            };
            made.insert("style".to_owned(), style.into());
            made.insert("explode".to_owned(), explode.into());
        }
        made.into()
    }

    fn components(&mut self) -> Map<String, Value> {
        let mut made = Map::new();
        let produces = self.media_types(&Value::Null, "produces");
        let schemas: Map<String, Value> =
            object(self.swagger.get("definitions")).map(|(name, schema)| (name.clone(), schema.clone())).collect();
        let mut parameters = Map::new();
        for (name, parameter) in object(self.swagger.get("parameters")) {
            // Bodies and fields of forms are written where they are used.
            if !matches!(text(parameter, "in"), "body" | "formData") {
                parameters.insert(name.clone(), self.parameter(&format!("$.parameters.{name}"), parameter));
            }
        }
        let responses: Map<String, Value> = object(self.swagger.get("responses"))
            .map(|(name, response)| (name.clone(), response_of(response, &produces)))
            .collect();
        let schemes: Map<String, Value> =
            object(self.swagger.get("securityDefinitions")).map(|(name, scheme)| (name.clone(), security_scheme(scheme))).collect();
        let parts = [("schemas", schemas), ("parameters", parameters), ("responses", responses), ("securitySchemes", schemes)];
        made.extend(parts.into_iter().filter(|(_, part)| !part.is_empty()).map(|(name, part)| (name.to_owned(), part.into())));
        made
    }
}

/// The schema that a parameter, a header or a field of a form has in its own members.
fn schema_of(parameter: &Value) -> Value {
    let members = object(Some(parameter)).filter(|(name, _)| OF_SCHEMA.contains(&name.as_str()));
    Value::Object(members.map(|(name, value)| (name.clone(), value.clone())).collect())
}

fn body(parameter: &Value, consumes: &[String]) -> Value {
    let mut made = kept(parameter, &["description", "required"]);
    let schema = parameter.get("schema").cloned().unwrap_or_else(|| json!({}));
    let content: Map<String, Value> = consumes.iter().map(|kind| (kind.clone(), json!({"schema": schema}))).collect();
    made.insert("content".to_owned(), content.into());
    made.into()
}

fn form(fields: &[Value], consumes: &[String]) -> Value {
    let is_form = |kind: &&String| ["multipart/form-data", "application/x-www-form-urlencoded"].contains(&kind.as_str());
    let has_file = fields.iter().any(|field| text(field, "type") == "file");
    let named: Vec<&str> = consumes.iter().filter(is_form).map(String::as_str).collect();
    let kinds = match named.is_empty() {
        false => named,
        true if has_file => vec!["multipart/form-data"],
        true => vec!["application/x-www-form-urlencoded"],
    };
    let mut properties = Map::new();
    for field in fields {
        let mut schema = schema_of(field);
        if let Some(description) = field.get("description") {
            put(&mut schema, &["description"], description.clone());
        }
        properties.insert(text(field, "name").to_owned(), schema);
    }
    let required: Vec<&str> =
        fields.iter().filter(|field| field.get("required") == Some(&Value::Bool(true))).map(|field| text(field, "name")).collect();
    let mut schema = json!({"type": "object", "properties": properties});
    let is_required = !required.is_empty();
    if is_required {
        put(&mut schema, &["required"], json!(required));
    }
    let content: Map<String, Value> = kinds.iter().map(|kind| ((*kind).to_owned(), json!({"schema": schema}))).collect();
    json!({"required": is_required, "content": content})
}

fn response_of(response: &Value, produces: &[String]) -> Value {
    if response.get("$ref").is_some() {
        return response.clone();
    }
    let mut made = kept(response, &["description"]);
    made.entry("description").or_insert_with(|| "".into());
    let headers = object(response.get("headers")).map(|(name, header)| {
        let mut made = kept(header, &["description"]);
        made.retain(|name, _| name != "x-nullable");
        made.insert("schema".to_owned(), schema_of(header));
        (name.clone(), Value::Object(made))
    });
    let headers: Map<String, Value> = headers.collect();
    if !headers.is_empty() {
        made.insert("headers".to_owned(), headers.into());
    }
    let mut content = Map::new();
    if let Some(schema) = response.get("schema") {
        content.extend(produces.iter().map(|kind| (kind.clone(), json!({"schema": schema}))));
    }
    for (kind, example) in object(response.get("examples")) {
        let place = content.entry(kind.clone()).or_insert_with(|| json!({}));
        put(place, &["example"], example.clone());
    }
    if !content.is_empty() {
        made.insert("content".to_owned(), content.into());
    }
    made.into()
}

fn security_scheme(scheme: &Value) -> Value {
    let mut made = kept(scheme, &["description"]);
    match text(scheme, "type") {
        "basic" => {
            made.insert("type".to_owned(), "http".into());
            made.insert("scheme".to_owned(), "basic".into());
        }
        "oauth2" => {
            let flow = match text(scheme, "flow") {
                "application" => "clientCredentials",
                "accessCode" => "authorizationCode",
                other => other,
            };
            let mut told = kept(scheme, &["authorizationUrl", "tokenUrl", "scopes"]);
            told.entry("scopes").or_insert_with(|| json!({}));
            made.insert("type".to_owned(), "oauth2".into());
            made.insert("flows".to_owned(), json!({flow: told}));
        }
        _ => made.extend(kept(scheme, &["type", "name", "in"])),
    }
    made.into()
}

/// The document with references to the new places, and schemas in the words of OpenAPI 3.0.
fn renamed(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(renamed).collect(),
        Value::Object(members) => {
            let mut made = Map::new();
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("$ref", Value::String(target)) => {
                        made.insert(name, new_place(&target).into());
                    }
                    ("x-nullable", value) => {
                        made.insert("nullable".to_owned(), value);
                    }
                    ("discriminator", Value::String(property)) => {
                        made.insert(name, json!({"propertyName": property}));
                    }
                    ("type", Value::String(kind)) if kind == "file" => {
                        made.insert(name, "string".into());
                        made.insert("format".to_owned(), "binary".into());
                    }
                    // These have names of the author's own, which mean nothing.
                    ("properties" | "schemas", Value::Object(named)) => {
                        let named: Map<String, Value> = named.into_iter().map(|(own, value)| (own, renamed(value))).collect();
                        made.insert(name, named.into());
                    }
                    // Values of the author's own are not schemas.
                    ("example" | "default" | "enum", value) => {
                        made.insert(name, value);
                    }
                    (_, value) => {
                        made.insert(name, renamed(value));
                    }
                }
            }
            made.into()
        }
        other => other,
    }
}

fn new_place(target: &str) -> String {
    for (old, new) in [("#/definitions/", "schemas"), ("#/parameters/", "parameters"), ("#/responses/", "responses")] {
        if let Some(rest) = target.strip_prefix(old) {
            return format!("#/components/{new}/{rest}");
        }
    }
    target.to_owned()
}

#[cfg(test)]
mod tests;
