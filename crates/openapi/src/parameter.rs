//! Parameters of an operation: where a request has them, how they are written (styles and explode), and what their schemas accept.

use std::borrow::Cow;

use serde_json::{Map, Value};
use tollgate_model::JsonPath;

use crate::document::Document;
use crate::request_parts::{RequestMismatch, WrittenParameters};
use tollgate_schema::{Budget, JsonTree, SchemaCompiler, SchemaId, SchemaSide, Schemas, Shape};

/// Maximum members of a decoded object or list: a head of 64 KiB has no more.
const ITEMS_MAX: usize = 65_536;

/// Where a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParameterPlace {
    Path,
    Query,
    Header,
    Cookie,
}

/// How a parameter with several values is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Simple,
    Label,
    Matrix,
    Form,
    Spaces,
    Pipes,
    DeepObject,
}

/// One parameter of an operation.
#[derive(Debug)]
pub(crate) struct Parameter {
    name: String,
    location: ParameterPlace,
    required: bool,
    allows_empty: bool,
    style: Style,
    explode: bool,
    /// Its value is a JSON document.
    is_json: bool,
    schema: Option<SchemaId>,
}

impl Parameter {
    /// Compiles a parameter; `None` for one that restricts nothing.
    pub(crate) fn new<'d>(
        written: &'d Value,
        at: &JsonPath,
        document: &'d Document,
        compiler: &mut SchemaCompiler<'d>,
    ) -> Option<Self> {
        let written = document.resolve(written)?;
        let text = |name: &str| written.get(name).and_then(Value::as_str).unwrap_or_default();
        let flag = |name: &str| written.get(name).and_then(Value::as_bool);
        let name = text("name").to_owned();
        let location = match text("in") {
            "path" => ParameterPlace::Path,
            "query" => ParameterPlace::Query,
            // The specification ignores them as parameters.
            "header" if ["accept", "content-type", "authorization"].iter().any(|own| name.eq_ignore_ascii_case(own)) => {
                return None;
            }
            "header" => ParameterPlace::Header,
            "cookie" => ParameterPlace::Cookie,
            _ => return None,
        };
        let style = match (text("style"), location) {
            ("label", _) => Style::Label,
            ("matrix", _) => Style::Matrix,
            ("spaceDelimited", _) => Style::Spaces,
            ("pipeDelimited", _) => Style::Pipes,
            ("deepObject", _) => Style::DeepObject,
            ("simple", _) | (_, ParameterPlace::Path | ParameterPlace::Header) => Style::Simple,
            (_, ParameterPlace::Query | ParameterPlace::Cookie) => Style::Form,
        };
        let content = written.get("content").and_then(Value::as_object).and_then(|content| content.iter().next());
        let schema = match content {
            Some((kind, media)) => {
                media.get("schema").map(|schema| compiler.schema(schema, &at.key("content").key(kind).key("schema")))
            }
            None => written.get("schema").map(|schema| compiler.schema(schema, &at.key("schema"))),
        };
        Some(Parameter {
            required: flag("required") == Some(true) || location == ParameterPlace::Path,
            allows_empty: flag("allowEmptyValue") == Some(true),
            explode: flag("explode").unwrap_or(style == Style::Form),
            is_json: content.is_some(),
            name,
            location,
            style,
            schema,
        })
    }

    /// Name and place, by which an operation's parameter replaces one of its path.
    pub(crate) fn identity(written: &Value) -> Option<(&str, &str)> {
        Some((written.get("name")?.as_str()?, written.get("in")?.as_str()?))
    }

    pub(crate) fn check(&self, request: &WrittenParameters<'_>, schemas: &Schemas) -> Result<(), RequestMismatch> {
        if self.is_fitting_text(request, schemas) {
            return Ok(());
        }
        let value = self.value(request, schemas).map_err(|reason| self.mismatch(reason))?;
        match value {
            None if self.required => Err(self.mismatch("value is required but missing".to_owned())),
            None => Ok(()),
            Some(Value::Null) if !self.allows_empty => Err(self.mismatch("empty value is not allowed".to_owned())),
            Some(Value::Null) => Ok(()),
            Some(Value::String(text)) if text.is_empty() && self.allows_empty => Ok(()),
            Some(value) => match self.schema {
                Some(schema) => schemas
                    .check(schema, &JsonTree::of(&value), SchemaSide::Request, Budget::brief())
                    .map_err(|mismatch| self.mismatch(mismatch.to_string())),
                None => Ok(()),
            },
        }
    }

    fn mismatch(&self, reason: String) -> RequestMismatch {
        let place = match self.location {
            ParameterPlace::Path => "path",
            ParameterPlace::Query => "query",
            ParameterPlace::Header => "header",
            ParameterPlace::Cookie => "cookie",
        };
        RequestMismatch::new(format!("parameter {:?} in {place} has an error: {reason}", self.name))
    }

    /// Whether it is a string that fits as it is written. What does not is checked again for the reason.
    fn is_fitting_text(&self, request: &WrittenParameters<'_>, schemas: &Schemas) -> bool {
        let is_plain = !self.is_json && matches!(self.style, Style::Simple | Style::Form);
        let Some(schema) = self.schema.filter(|schema| is_plain && schemas.is_text(*schema)) else { return false };
        self.text(request).is_some_and(|text| !text.is_empty() && schemas.fits_text(schema, &text, SchemaSide::Request))
    }

    /// The value; `None` if the request has none, null if it is empty.
    fn value(&self, request: &WrittenParameters<'_>, schemas: &Schemas) -> Result<Option<Value>, String> {
        let Some(schema) = self.schema else { return Ok(self.text(request).map(|text| Value::String(text.into_owned()))) };
        if self.is_json {
            let texts = self.texts(request);
            let Some(text) = texts.first() else { return Ok(None) };
            return serde_json::from_str(text).map(Some).map_err(|_| format!("error unmarshaling parameter {:?}", self.name));
        }
        match schemas.shape(schema) {
            Shape::Single => self.single(request, schemas, schema),
            Shape::List => self.list(request, schemas, schema),
            Shape::Object => self.object(request, schemas, schema),
        }
    }

    fn single(&self, request: &WrittenParameters<'_>, schemas: &Schemas, schema: SchemaId) -> Result<Option<Value>, String> {
        let Some(first) = self.text(request) else { return Ok(None) };
        let text = self.without_prefix(&first)?;
        decode(schemas, schema, text).map(Some)
    }

    fn list(&self, request: &WrittenParameters<'_>, schemas: &Schemas, schema: SchemaId) -> Result<Option<Value>, String> {
        let texts = self.texts(request);
        let Some(first) = texts.first() else { return Ok(None) };
        let written: Vec<&str> = match self.location {
            ParameterPlace::Query | ParameterPlace::Cookie
                if self.explode && self.style == Style::Form && self.location == ParameterPlace::Query =>
            {
                texts.iter().map(|text| &**text).collect()
            }
            _ => self
                .without_prefix(first)?
                .split(self.between())
                .map(|item| if self.location == ParameterPlace::Header { item.trim() } else { item })
                .collect(),
        };
        let items = schemas.items(schema);
        let mut values = Vec::with_capacity(written.len().min(ITEMS_MAX));
        for (index, text) in written.into_iter().enumerate().take(ITEMS_MAX) {
            let text = if self.style == Style::Matrix && self.explode {
                text.strip_prefix(&format!("{}=", self.name)).unwrap_or(text)
            } else {
                text
            };
            let value = match items {
                Some(items) => decode(schemas, items, text).map_err(|reason| format!("path {index}: {reason}"))?,
                None => Value::String(text.to_owned()),
            };
            values.push(value);
        }
        match values.as_slice() {
            [Value::Null] => Ok(Some(Value::Null)),
            [Value::String(only)] if only.is_empty() => Ok(Some(Value::Null)),
            _ => Ok(Some(Value::Array(values))),
        }
    }

    fn object(&self, request: &WrittenParameters<'_>, schemas: &Schemas, schema: SchemaId) -> Result<Option<Value>, String> {
        let pairs: Vec<(String, String)> = match (self.location, self.style) {
            (ParameterPlace::Query, Style::DeepObject) => return self.deep_object(request, schemas, schema),
            (ParameterPlace::Query, Style::Form) if self.explode => {
                let own = request.query.iter().filter(|(name, _)| schemas.property(schema, name).is_some());
                own.map(|(name, value)| (name.clone().into_owned(), value.clone().into_owned())).collect()
            }
            _ => {
                let texts = self.texts(request);
                let Some(first) = texts.first() else { return Ok(None) };
                self.pairs(self.without_prefix(first)?)?
            }
        };
        if pairs.is_empty() {
            return Ok(None);
        }
        let mut members = Map::new();
        for (name, text) in pairs.into_iter().take(ITEMS_MAX) {
            let value = property(schemas, schema, &name, &text)?;
            members.insert(name, value);
        }
        Ok(Some(Value::Object(members)))
    }

    /// `name[a]=1&name[b][c]=2`.
    fn deep_object(&self, request: &WrittenParameters<'_>, schemas: &Schemas, schema: SchemaId) -> Result<Option<Value>, String> {
        let mut value = Value::Object(Map::new());
        let mut found = false;
        for (name, text) in &request.query {
            let Some(rest) = name.strip_prefix(&self.name).filter(|rest| rest.starts_with('[')) else { continue };
            let steps: Vec<&str> = rest.trim_start_matches('[').trim_end_matches(']').split("][").collect();
            if steps.len() > 8 {
                return Err(format!("path {}: nested too deep", steps.join(".")));
            }
            found = true;
            insert_deep(&mut value, schemas, schema, &steps, text)
                .map_err(|reason| format!("path {}: {reason}", steps.join(".")))?;
        }
        Ok(found.then_some(value))
    }

    /// `a,1,b,2` or `a=1,b=2`.
    fn pairs(&self, text: &str) -> Result<Vec<(String, String)>, String> {
        let parts: Vec<&str> = text.split(self.between()).collect();
        if self.explode {
            let split = |part: &&str| part.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.to_owned()));
            return parts
                .iter()
                .map(split)
                .collect::<Option<Vec<_>>>()
                .ok_or_else(|| "a value must be a list of name=value pairs".to_owned());
        }
        let mut pairs = Vec::new();
        let mut rest = parts.iter();
        while let Some(name) = rest.next() {
            let value = rest.next().ok_or("a value must be a list of names and values")?;
            pairs.push((name.trim().to_owned(), (*value).to_owned()));
        }
        Ok(pairs)
    }

    /// What stands between the items of a list or the members of an object.
    fn between(&self) -> &'static str {
        match self.style {
            Style::Spaces => " ",
            Style::Pipes => "|",
            Style::Label if self.explode => ".",
            Style::Matrix if self.explode => ";",
            _ => ",",
        }
    }

    fn without_prefix<'t>(&self, text: &'t str) -> Result<&'t str, String> {
        let prefix = match self.style {
            Style::Label => ".".to_owned(),
            Style::Matrix if self.explode => ";".to_owned(),
            Style::Matrix => format!(";{}=", self.name),
            _ => return Ok(text),
        };
        let rest = text.strip_prefix(&prefix).ok_or_else(|| format!("value {text}: a value must be prefixed with {prefix:?}"))?;
        // A single value in the style `matrix` has its name, whatever `explode` is.
        Ok(if self.style == Style::Matrix && !rest.contains(';') {
            rest.strip_prefix(&format!("{}=", self.name)).unwrap_or(rest)
        } else {
            rest
        })
    }

    /// The first text of the parameter that is not empty; the first one if all are.
    fn text<'w>(&self, request: &'w WrittenParameters<'_>) -> Option<Cow<'w, str>> {
        if self.location == ParameterPlace::Header {
            return (request.header)(&self.name);
        }
        let mut texts = self.texts(request).into_iter();
        let first = texts.next()?;
        if first.is_empty() { texts.find(|text| !text.is_empty()).or(Some(first)) } else { Some(first) }
    }

    /// The texts of the parameter, as the request has them.
    fn texts<'w>(&self, request: &'w WrittenParameters<'_>) -> Vec<Cow<'w, str>> {
        match self.location {
            ParameterPlace::Path => {
                let own = request.path.iter().filter(|(name, _)| *name == self.name);
                own.map(|(_, value)| Cow::Borrowed(*value)).collect()
            }
            ParameterPlace::Query => {
                let own = request.query.iter().filter(|(name, _)| *name == self.name);
                own.map(|(_, value)| Cow::Borrowed(&**value)).collect()
            }
            ParameterPlace::Header => (request.header)(&self.name).into_iter().collect(),
            ParameterPlace::Cookie => {
                let line = (request.header)("cookie").unwrap_or_default();
                let pairs = line.split(';').filter_map(|pair| pair.split_once('='));
                pairs
                    .filter(|(name, _)| name.trim() == self.name)
                    .map(|(_, value)| Cow::Owned(value.trim().trim_matches('"').to_owned()))
                    .collect()
            }
        }
    }
}

/// A text as the value that a schema expects; null for an empty one, except where a text is expected.
fn decode(schemas: &Schemas, schema: SchemaId, text: &str) -> Result<Value, String> {
    if text.is_empty() && !schemas.accepts_text(schema) {
        return Ok(Value::Null);
    }
    schemas.decode(schema, text)
}

fn property(schemas: &Schemas, schema: SchemaId, name: &str, text: &str) -> Result<Value, String> {
    match schemas.property(schema, name) {
        Some(property) => schemas.decode(property, text).map_err(|reason| format!("path {name}: {reason}")),
        None => Ok(Value::String(text.to_owned())),
    }
}

fn insert_deep(value: &mut Value, schemas: &Schemas, schema: SchemaId, steps: &[&str], text: &str) -> Result<(), String> {
    let Some((first, rest)) = steps.split_first() else { return Ok(()) };
    let below = schemas.property(schema, first).or_else(|| schemas.items(schema));
    let leaf = || below.map_or_else(|| Ok(Value::String(text.to_owned())), |below| schemas.decode(below, text));
    if schemas.shape(schema) == Shape::List {
        if value.is_object() {
            *value = Value::Array(Vec::new());
        }
        let (Value::Array(items), Ok(index)) = (value, first.parse::<usize>()) else {
            return Err("array items must be set with indexes".to_owned());
        };
        if index != items.len() || index >= ITEMS_MAX {
            return Err("array items must be set with indexes in order".to_owned());
        }
        items.push(if rest.is_empty() { leaf()? } else { Value::Object(Map::new()) });
        return Ok(());
    }
    let Value::Object(members) = value else { return Err("path is not convertible to primitive".to_owned()) };
    if rest.is_empty() {
        let is_list = below.is_some_and(|below| schemas.shape(below) == Shape::List);
        match (is_list, below) {
            (true, Some(below)) => {
                let item = match schemas.items(below) {
                    Some(items) => schemas.decode(items, text)?,
                    None => Value::String(text.to_owned()),
                };
                if let Value::Array(items) = members.entry(*first).or_insert_with(|| Value::Array(Vec::new())) {
                    items.push(item);
                }
            }
            _ => drop(members.insert((*first).to_owned(), leaf()?)),
        }
        return Ok(());
    }
    let inner = members.entry(*first).or_insert_with(|| Value::Object(Map::new()));
    match below {
        Some(below) => insert_deep(inner, schemas, below, rest, text),
        None => Ok(()),
    }
}
