//! Responses of the gateway from the examples of a document, or from its schemas where it has no examples. They are made when the document is
//! loaded; a request only selects one.

mod pattern_text;

use serde_json::{Map, Value, json};

use crate::document::{Document, Operation};
use crate::request::{essence, is_json};

/// Nestings of a made example, the deepest first: a recursive schema ends there, and a schema that would make too many parts is tried with the next.
/// What may be absent is left out below.
const DEPTHS: [usize; 7] = [12, 8, 6, 4, 3, 2, 1];

/// Maximum parts of a made example, counted while it is made: references on each of several levels multiply. About 50 KiB of text.
const PARTS_MAX: usize = 2_000;

/// Maximum bytes of a made example.
const EXAMPLE_BYTES_MAX: usize = 1 << 20;

/// What selects an example, if the request does not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MockSelection {
    /// Status; 0 for 200.
    pub code: u16,
    /// Content type; `application/json` if empty.
    pub content_type: String,
    /// Name of an example; the first one if empty.
    pub example_name: String,
}

/// The responses of one operation.
#[derive(Debug, Default)]
pub struct Mocks {
    responses: Vec<MockedResponse>,
}

#[derive(Debug)]
struct MockedResponse {
    code: String,
    headers: Vec<(String, String)>,
    media: Vec<MockedMedia>,
}

#[derive(Debug)]
struct MockedMedia {
    /// As the document has it: a type or a range, such as `application/*`.
    written: String,
    /// The type of its bodies.
    content_type: String,
    /// The example of the media type itself; takes precedence over named ones.
    own: Option<Vec<u8>>,
    named: Vec<(String, Vec<u8>)>,
    made: Vec<u8>,
}

/// A response to send.
#[derive(Debug, PartialEq, Eq)]
pub struct Mocked<'m> {
    /// Status.
    pub status: u16,
    /// Content type; empty for a response without a body.
    pub content_type: &'m str,
    /// Headers of the response that have an example or a schema.
    pub headers: &'m [(String, String)],
    /// The body.
    pub body: &'m [u8],
}

impl Mocks {
    /// Makes the responses of an operation.
    pub fn new(document: &Document, operation: &Operation) -> Mocks {
        let written = document
            .path_item(&operation.path)
            .and_then(|item| item.get(operation.method.to_lowercase())?.get("responses")?.as_object());
        let mut responses = Vec::new();
        for (code, response) in written.into_iter().flatten() {
            let Some(response) = document.resolve(response) else { continue };
            let members = |name: &str| response.get(name).and_then(Value::as_object).into_iter().flatten();
            let mut headers: Vec<(String, String)> = members("headers")
                .filter_map(|(name, header)| {
                    let header = document.resolve(header)?;
                    let value = header.get("example").cloned().or_else(|| made(document, header.get("schema")?))?;
                    Some((name.clone(), plain(&value)))
                })
                .collect();
            headers.sort();
            let media = members("content").map(|(kind, media)| MockedMedia::new(document, kind, media)).collect();
            responses.push(MockedResponse { code: code.clone(), headers, media });
        }
        Mocks { responses }
    }

    /// The response that a request selects by its headers, or else the configuration. `Err` says what there is not.
    pub fn select(&self, configured: &MockSelection, header: &dyn Fn(&str) -> Option<String>) -> Result<Mocked<'_>, String> {
        let given = |name: &str| header(name).filter(|value| !value.is_empty());
        let code = match given("X-Tyk-Accept-Example-Code") {
            Some(code) => code.parse::<u16>().map_err(|_| format!("given code {code} is not a valid integer value"))?,
            None if configured.code == 0 => 200,
            None => configured.code,
        };
        let name = given("X-Tyk-Accept-Example-Name").unwrap_or_else(|| configured.example_name.clone());
        let default = if configured.content_type.is_empty() { "application/json" } else { &configured.content_type };
        let asked = given("Accept").filter(|accept| accept != "*/*");
        let is_any = asked.is_none() && configured.content_type.is_empty();
        let accepted = asked.unwrap_or_else(|| default.to_owned());
        let written = code.to_string();
        let response = self.responses.iter().find(|response| response.code == written);
        let response = response.ok_or_else(|| format!("there is no example response for the code: {code}"))?;
        if response.media.is_empty() {
            // It has no body.
            return Ok(Mocked { status: code, content_type: "", headers: &response.headers, body: &[] });
        }
        let media = response
            .media(&accepted, default)
            .or(response.media.first().filter(|_| is_any))
            .ok_or_else(|| format!("there is no example response for the content type: {accepted}"))?;
        let body = media.body(&name).ok_or_else(|| format!("there is no example response for the example name: {name}"))?;
        Ok(Mocked { status: code, content_type: &media.content_type, headers: &response.headers, body })
    }
}

impl MockedResponse {
    /// The media type of an `Accept` header; the default type is preferred where ranges match several.
    fn media(&self, accepted: &str, default: &str) -> Option<&MockedMedia> {
        let named = |name: &str| self.media.iter().find(|media| media.written.eq_ignore_ascii_case(name));
        let of_type = |name: &str| self.media.iter().find(|media| essence(&media.written).eq_ignore_ascii_case(name));
        named(accepted).or_else(|| {
            accepted.split(',').map(essence).find_map(|range| match range.strip_suffix("/*") {
                // Then the ranges of the document.
                None => of_type(range).or_else(|| of_type(&format!("{}/*", range.split('/').next()?))).or_else(|| of_type("*/*")),
                Some("*") => named(default).or(self.media.first()),
                Some(start) => {
                    let own = self.media.iter().find(|media| media.written.split('/').next() == Some(start));
                    own.or_else(|| of_type("*/*").filter(|media| media.content_type.split('/').next() == Some(start)))
                }
            })
        })
    }
}

impl MockedMedia {
    fn new(document: &Document, written: &str, media: &Value) -> Self {
        let own = media.get("example").filter(|example| !example.is_null());
        let examples = media.get("examples").and_then(Value::as_object).into_iter().flatten();
        let mut named: Vec<(&String, &Value)> =
            examples.filter_map(|(name, example)| Some((name, document.resolve(example)?.get("value")?))).collect();
        named.sort_by_key(|(name, _)| *name);
        let first = own.or_else(|| named.first().map(|(_, value)| *value));
        let made = match (first, media.get("schema")) {
            (None, Some(schema)) => made(document, schema).unwrap_or_default(),
            _ => Value::Null,
        };
        let content_type = concrete(written, first.unwrap_or(&made));
        let text = |value: &Value| body(&content_type, value);
        MockedMedia {
            own: own.map(text),
            named: named.into_iter().map(|(name, value)| (name.clone(), text(value))).collect(),
            made: text(&made),
            written: written.to_owned(),
            content_type,
        }
    }

    fn body(&self, name: &str) -> Option<&[u8]> {
        let own = self.own.as_deref();
        own.or_else(|| match self.named.first() {
            None => Some(&self.made),
            Some((_, first)) if name.is_empty() => Some(first),
            Some(_) => self.named.iter().find(|(known, _)| known == name).map(|(_, body)| body.as_slice()),
        })
    }
}

/// The content type of an example: that of the document or, for a range, one of it.
fn concrete(written: &str, example: &Value) -> String {
    const TEXT: &str = "text/plain; charset=utf-8";
    let chosen = match essence(written).to_ascii_lowercase().as_str() {
        "*/*" | "*" if example.is_string() => TEXT,
        "*/*" | "*" | "application/*" => "application/json",
        "text/*" => TEXT,
        range if range.ends_with("/*") => "application/octet-stream",
        _ => written,
    };
    chosen.to_owned()
}

/// An example as a body: JSON, except for texts of other types.
fn body(content_type: &str, example: &Value) -> Vec<u8> {
    match example {
        Value::String(text) if !is_json(essence(content_type)) => text.clone().into_bytes(),
        other => {
            let text = other.to_string().into_bytes();
            if text.len() > EXAMPLE_BYTES_MAX { b"null".to_vec() } else { text }
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// An example of a schema. `None` if none can be made within the limits.
fn made(document: &Document, schema: &Value) -> Option<Value> {
    DEPTHS.iter().find_map(|depth_max| {
        let mut maker = ExampleMaker { document, depth_max: *depth_max, parts_left: PARTS_MAX, is_full: false };
        let made = maker.made(schema, 0);
        (!maker.is_full).then_some(made)
    })?
}

/// What makes one example.
struct ExampleMaker<'d> {
    document: &'d Document,
    depth_max: usize,
    parts_left: usize,
    /// There was no room for a part.
    is_full: bool,
}

/// The parts of a value: its values, and a share of their texts.
fn parts(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(parts).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(parts).sum::<usize>(),
        value => 1 + value.as_str().map_or(0, |text| text.len() / 64),
    }
}

impl ExampleMaker<'_> {
    /// Takes room for some parts; false if there is none.
    fn spend(&mut self, parts: usize) -> bool {
        self.is_full |= parts > self.parts_left;
        self.parts_left = self.parts_left.saturating_sub(parts);
        !self.is_full
    }

    /// A value that the document has. One that is an example as a whole is as large as its author made it.
    fn copied(&mut self, value: &Value) -> Option<Value> {
        let is_whole = self.parts_left + 1 == PARTS_MAX;
        (is_whole || self.spend(parts(value))).then(|| value.clone())
    }

    /// An example of a schema: its own, else one that fits it. `None` where that would be nested too deep: a part that may be absent is left out there, and what
    /// needs the part can't be made either.
    fn made(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        let document = self.document;
        let schema = document.resolve(schema).filter(|_| depth < self.depth_max && self.spend(1))?;
        if let Some(own) = schema.get("example").or_else(|| schema.get("examples").and_then(|examples| examples.get(0))) {
            return self.copied(own);
        }
        for keyword in ["const", "default"] {
            if let Some(value) = schema.get(keyword) {
                return self.copied(value);
            }
        }
        if let Some(first) = schema.get("enum").and_then(|values| values.get(0)) {
            return self.copied(first);
        }
        let kinds = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
            other => other.and_then(Value::as_str),
        };
        let combined = |keyword: &str| schema.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut members = Map::new();
        for part in combined("allOf") {
            match self.made(part, depth + 1)? {
                Value::Object(part) => members.extend(part),
                Value::Null => {}
                other if kinds.is_none() => return Some(other),
                _ => {}
            }
        }
        if let Some(first) = combined("oneOf").first().or_else(|| combined("anyOf").first()) {
            match self.made(first, depth + 1)? {
                Value::Object(part) => members.extend(part),
                other if kinds.is_none() => return Some(other),
                _ => {}
            }
        }
        let is_object = kinds == Some("object") || schema.get("properties").is_some() || !members.is_empty();
        Some(match kinds {
            Some("array") => {
                let is_bounded = schema.get("maxItems").and_then(Value::as_u64) == Some(0);
                let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or_default();
                match schema.get("items").filter(|_| !is_bounded).map(|items| self.made(items, depth + 1)) {
                    Some(None) if least > 0 => return None,
                    None | Some(None | Some(Value::Null)) => json!([]),
                    Some(Some(item)) => {
                        let count = least.clamp(1, 16) as usize;
                        if !self.spend((count - 1).saturating_mul(parts(&item))) {
                            return None;
                        }
                        Value::Array(vec![item; count])
                    }
                }
            }
            Some("string") => {
                let text = text(schema);
                if !self.spend(text.len() / 64) {
                    return None;
                }
                json!(text)
            }
            Some("integer" | "number") => number(schema, kinds == Some("integer")),
            Some("boolean") => json!(true),
            _ if is_object => {
                let required: Vec<&str> =
                    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
                for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                    if document.resolve(property).is_some_and(|property| property.get("writeOnly") == Some(&json!(true))) {
                        continue;
                    }
                    let is_required = required.contains(&name.as_str());
                    match self.made(property, depth + 1) {
                        None if is_required => return None,
                        None => {}
                        Some(Value::Null) if !is_required => {}
                        Some(value) => drop(members.insert(name.clone(), value)),
                    }
                }
                Value::Object(members)
            }
            _ => Value::Null,
        })
    }
}

fn text(schema: &Value) -> String {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let text = match format {
        "date" => "2024-01-01",
        "date-time" => "2024-01-01T00:00:00Z",
        "uuid" => "00000000-0000-4000-8000-000000000000",
        "email" => "user@example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "hostname" => "example.com",
        "uri" => "https://example.com/",
        "byte" => "c3RyaW5n",
        _ => "string",
    };
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64).map(|bound| bound.min(4096) as usize);
    let pattern = schema.get("pattern").and_then(Value::as_str);
    if let Some(fitting) = pattern.and_then(pattern_text::fitting) {
        return fitting;
    }
    let mut text = text.to_owned();
    if format.is_empty() {
        let least = bound("minLength").unwrap_or_default();
        text.extend(std::iter::repeat_n('x', least.saturating_sub(text.len())));
        text.truncate(bound("maxLength").unwrap_or(usize::MAX));
    }
    text
}

fn number(schema: &Value, whole: bool) -> Value {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    let excludes = |name: &str| schema.get(name) == Some(&json!(true));
    let step = bound("multipleOf").filter(|step| *step > 0.0).unwrap_or(1.0);
    let least = bound("minimum").map(|least| if excludes("exclusiveMinimum") { least + step } else { least });
    let least = least.or_else(|| bound("exclusiveMinimum").map(|least| least + step));
    let most = bound("maximum").map(|most| if excludes("exclusiveMaximum") { most - step } else { most });
    let most = most.or_else(|| bound("exclusiveMaximum").map(|most| most - step));
    let value = match (least, most) {
        (Some(least), _) if least > 0.0 => (least / step).ceil() * step,
        (_, Some(most)) if most < 0.0 => (most / step).floor() * step,
        _ => 0.0,
    };
    if whole || value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
}

#[cfg(test)]
mod tests;
