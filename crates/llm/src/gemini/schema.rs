//! Schemas in Google's own form, which is OpenAPI's with types in capitals, as JSON Schema.

use crate::form::Unsupported;
use crate::json::{Fields, JsonNode, ObjectOut, object};

/// Members that mean the same in JSON Schema.
const SAME: [&str; 7] = ["format", "title", "description", "default", "pattern", "minimum", "maximum"];
/// The same for numbers without fraction, which Google's API may write as strings.
const COUNTS: [&str; 6] = ["minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength"];

/// The JSON Schema of a schema. Objects have no other members than those that are named, as Google's models write them, and as others want it said.
///
/// # Errors
/// It has a member that JSON Schema does not have.
pub(crate) fn json_schema(schema: Fields) -> Result<String, Unsupported> {
    let mut out = Vec::new();
    object(&mut out, |out| write_schema(out, schema))?;
    Ok(String::from_utf8(out).unwrap_or_default())
}

fn write_schema(out: &mut ObjectOut, mut schema: Fields) -> Result<(), Unsupported> {
    let is_nullable = schema.flag("nullable")?.unwrap_or(false);
    write_type(out, &mut schema, is_nullable)?;
    for name in SAME {
        if let Some(value) = schema.take(name) {
            out.raw(name, value.raw());
        }
    }
    for name in COUNTS {
        let Some(value) = schema.take(name) else { continue };
        let number = value.whole().or_else(|| value.text()?.parse().ok());
        match number {
            Some(number) => out.whole(name, number),
            None => return schema.refuse(name, "must be a number without fraction and sign"),
        }
    }
    if let Some(values) = schema.items("enum")? {
        out.array("enum", |out| {
            values.iter().for_each(|(value, _)| out.raw(value.raw()));
            if is_nullable {
                out.raw("null");
            }
        });
    }
    if let Some(example) = schema.take("example") {
        out.array("examples", |out| out.raw(example.raw()));
    }
    if let Some(items) = schema.object("items")? {
        out.object("items", |out| write_schema(out, items))?;
    }
    let choices = schema.objects("anyOf")?;
    if !choices.is_empty() {
        out.array("anyOf", |out| choices.into_iter().try_for_each(|choice| out.object(|out| write_schema(out, choice))))?;
    }
    let has_properties = write_properties(out, &mut schema)?;
    let required = schema.texts("required")?;
    if !required.is_empty() {
        out.array("required", |out| required.iter().for_each(|name| out.text(name)));
    }
    if let Some(more) = schema.take("additionalProperties") {
        let path = schema.path("additionalProperties");
        match more.flag() {
            Some(allowed) => out.flag("additionalProperties", allowed),
            None => out.object("additionalProperties", |out| write_schema(out, Fields::of_google(more, path)?))?,
        }
    } else if has_properties {
        out.flag("additionalProperties", false);
    }
    schema.done()
}

fn write_type(out: &mut ObjectOut, schema: &mut Fields, is_nullable: bool) -> Result<(), Unsupported> {
    let Some(kind) = schema.text("type")? else { return Ok(()) };
    let kind = kind.to_ascii_lowercase();
    match kind.as_str() {
        "type_unspecified" => {}
        "string" | "number" | "integer" | "boolean" | "array" | "object" | "null" => match is_nullable {
            true => out.array("type", |out| {
                out.text(&kind);
                out.text("null");
            }),
            false => out.text("type", &kind),
        },
        _ => return schema.refuse("type", "is no type of a schema"),
    }
    Ok(())
}

/// Members of an object, in the order that models are to write them.
fn write_properties(out: &mut ObjectOut, schema: &mut Fields) -> Result<bool, Unsupported> {
    let order = schema.texts("propertyOrdering")?;
    let path = schema.path("properties");
    let Some(properties) = schema.take("properties").map(JsonNode::object) else { return Ok(false) };
    let Some(properties) = properties else { return Err(Unsupported::new(path, "must be an object")) };
    let mut members = properties.members();
    if !order.is_empty() {
        let places: std::collections::HashMap<&str, usize> =
            order.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
        members.sort_by_key(|(name, _)| places.get(&**name).copied().unwrap_or(usize::MAX));
    }
    out.object("properties", |out| {
        members.into_iter().try_for_each(|(name, value)| {
            let schema = Fields::of_google(value, format!("{path}.{name}"))?;
            out.object(&name, |out| write_schema(out, schema))
        })
    })?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::json_schema;
    use crate::json::Fields;

    fn converted(schema: &str) -> Result<String, String> {
        let fields = Fields::of_google_body(schema.as_bytes(), 10_000).expect("an object");
        json_schema(fields).map_err(|refused| refused.field)
    }

    #[test]
    fn each_member_has_its_counterpart() {
        let cases = [
            ("{}", "{}"),
            (r#"{"type":"STRING","format":"date-time","nullable":true}"#, r#"{"type":["string","null"],"format":"date-time"}"#),
            (r#"{"type":"STRING","enum":["a","b"],"nullable":true}"#, r#"{"type":["string","null"],"enum":["a","b",null]}"#),
            (
                r#"{"type":"ARRAY","items":{"type":"integer"},"minItems":"1","max_items":5}"#,
                r#"{"type":"array","minItems":1,"maxItems":5,"items":{"type":"integer"}}"#,
            ),
            (
                r#"{"type":"OBJECT","properties":{"min_items":{"type":"NUMBER"},"type":{"anyOf":[{"type":"NULL"},{}]}},"property_ordering":["type"],"required":["type"]}"#,
                r#"{"type":"object","properties":{"type":{"anyOf":[{"type":"null"},{}]},"min_items":{"type":"number"}},"required":["type"],"additionalProperties":false}"#,
            ),
            (
                r#"{"type":"TYPE_UNSPECIFIED","example":1.50,"additionalProperties":{"type":"BOOLEAN"}}"#,
                r#"{"examples":[1.50],"additionalProperties":{"type":"boolean"}}"#,
            ),
        ];
        for (schema, expected) in cases {
            assert_eq!(converted(schema).as_deref(), Ok(expected), "{schema}");
        }
    }

    #[test]
    fn what_is_no_schema_is_named() {
        for (schema, field) in [
            (r#"{"type":"FILE"}"#, "type"),
            (r#"{"properties":{"a":{"items":{"minItems":-1}}}}"#, "properties.a.items.minItems"),
            (r#"{"properties":[]}"#, "properties"),
            (r#"{"anyOf":[{"x":1}]}"#, "anyOf[0].x"),
            (r#"{"maxItems":1,"max_items":2}"#, ""),
        ] {
            if field.is_empty() {
                assert!(Fields::of_google_body(schema.as_bytes(), 10_000).is_err(), "{schema}");
                continue;
            }
            assert_eq!(converted(schema), Err(field.to_owned()), "{schema}");
        }
    }
}
