//! How a value is written in `x-tyk-api-gateway` and in a classic definition.

use serde_json::{Map, Value, json};
use tollgate_model::span;

/// The relation of two ways to write a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The same value.
    Same,
    /// The classic field disables what the extension enables. A missing section disables.
    Not,
    /// `10s` in the extension, a number of seconds in classic definitions.
    Seconds,
    /// `1.2` in the extension, the number of the TLS version in classic definitions.
    Tls,
    /// A list of objects with two members in the extension, a map from the first to the second in classic definitions.
    Map(&'static str, &'static str),
    /// The same, with a list as second member and a text with commas as value of the map.
    JoinedMap(&'static str, &'static str),
}

const TLS_VERSIONS: [(&str, u64); 4] = [("1.0", 769), ("1.1", 770), ("1.2", 771), ("1.3", 772)];

impl Form {
    /// The value for a classic definition, `None` to leave it out. `Err` says what the value must be.
    pub(crate) fn to_classic(self, value: Option<&Value>) -> Result<Option<Value>, &'static str> {
        let Some(value) = value.filter(|value| !value.is_null()) else {
            return Ok((self == Form::Not).then_some(Value::Bool(true)));
        };
        let classic = match self {
            Form::Same => value.clone(),
            Form::Not => Value::Bool(!value.as_bool().ok_or("must be true or false")?),
            Form::Seconds => match value {
                Value::String(text) if text.is_empty() => return Ok(None),
                Value::String(text) => {
                    number(span::parse_span(text).ok_or("must be a span of time such as 10s or 1m30s")?.as_secs_f64())
                }
                Value::Number(_) => value.clone(),
                _ => return Err("must be a span of time such as 10s or 1m30s"),
            },
            Form::Tls => match value.as_str().ok_or("must be a TLS version such as \"1.2\"")? {
                "" => return Ok(None),
                text => {
                    let found = TLS_VERSIONS.iter().find(|(name, _)| *name == text);
                    json!(found.ok_or("must be one of \"1.0\", \"1.1\", \"1.2\", \"1.3\"")?.1)
                }
            },
            Form::Map(name, member) => map_of(value, name, |item| item.get(member).cloned().or(Some(json!(""))))?,
            Form::JoinedMap(name, member) => map_of(value, name, |item| {
                let texts = item.get(member).and_then(Value::as_array)?;
                let texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
                Some(json!(texts.join(",")))
            })?,
        };
        Ok(Some(classic))
    }

    /// The value for the extension, `None` if it cannot be written there.
    pub(crate) fn to_extension(self, value: &Value) -> Option<Value> {
        Some(match self {
            Form::Same => value.clone(),
            Form::Not => Value::Bool(!value.as_bool()?),
            Form::Seconds => json!(text_of_seconds(value.as_f64()?)),
            Form::Tls => {
                let number = value.as_u64()?;
                json!(TLS_VERSIONS.iter().find(|(_, version)| *version == number)?.0)
            }
            Form::Map(name, member) => list_of(value, |key, value| json!({name: key, member: value}))?,
            Form::JoinedMap(name, member) => list_of(value, |key, value| {
                let texts: Vec<&str> = value.as_str().unwrap_or_default().split(',').map(str::trim).collect();
                json!({name: key, member: texts})
            })?,
        })
    }
}

fn map_of(value: &Value, name: &str, member: impl Fn(&Value) -> Option<Value>) -> Result<Value, &'static str> {
    const EXPECTED: &str = "must be a list of objects with a name and a value each";
    let mut map = Map::new();
    for item in value.as_array().ok_or(EXPECTED)? {
        let key = item.get(name).and_then(Value::as_str).ok_or(EXPECTED)?;
        map.insert(key.to_owned(), member(item).ok_or(EXPECTED)?);
    }
    Ok(Value::Object(map))
}

fn list_of(value: &Value, item: impl Fn(&str, &Value) -> Value) -> Option<Value> {
    Some(Value::Array(value.as_object()?.iter().map(|(key, value)| item(key, value)).collect()))
}

/// Whole numbers without a fraction: fields of classic definitions that count whole seconds take no other.
fn number(seconds: f64) -> Value {
    if seconds.fract() == 0.0 { json!(seconds as u64) } else { json!(seconds) }
}

/// `90` as `90s`, `0.5` as `500ms`.
fn text_of_seconds(seconds: f64) -> String {
    let ms = (seconds * 1000.0).round();
    if ms % 1000.0 == 0.0 { format!("{}s", (ms / 1000.0) as i64) } else { format!("{}ms", ms as i64) }
}
