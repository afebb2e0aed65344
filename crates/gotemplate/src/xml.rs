//! Maps XML to values and back like the `mxj` library of Tyk's body transforms: a member for each element, `-name` for an
//! attribute, `#text` for text next to them, a list for elements with the same name. Texts stay texts. Namespaces are dropped.
//!
//! Entities other than XML's own five and numeric character references are errors, so that a document cannot grow when it is
//! parsed.

use crate::arguments::{Function, FunctionResult, any, bounded, call};
use crate::print;
use crate::value::{MapValue, Value};
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use std::collections::BTreeMap;
use tollgate_text::byte_order_mark;

pub(crate) static FUNCTIONS: &[Function] = &[call("xmlMarshal", 1, 1, |given| marshal(any(given, 0)))];

/// Maximum depth of elements, the same as for JSON. Code that reads values recurses.
const DEPTH_MAX: usize = 128;

/// An open element.
struct Element {
    name: String,
    members: BTreeMap<String, Value>,
    text: Option<String>,
}

impl Value {
    /// An XML document as Tyk's body transforms read it: its root element is the only member.
    ///
    /// # Errors
    /// The syntax error and its byte offset.
    pub fn from_xml(text: &str) -> Result<Self, String> {
        read(byte_order_mark::without_in(text))
    }
}

/// Parses the root element of a document into a map with one member. It ignores everything after it.
///
/// # Errors
/// The syntax error and its place.
fn read(text: &str) -> Result<Value, String> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    let mut pending = String::new();
    loop {
        let at = reader.buffer_position();
        let told = |why: &dyn std::fmt::Display| format!("XML at byte {at}: {why}");
        let event = reader.read_event().map_err(|error| told(&error))?;
        // A reference belongs to the text around it; anything else ends a text.
        match &event {
            Event::Text(text) => {
                pending.push_str(&text.xml10_content());
                continue;
            }
            Event::GeneralRef(reference) => {
                pending.push(character(reference).map_err(|error| told(&error))?);
                continue;
            }
            _ => add_text(open.last_mut(), &std::mem::take(&mut pending)),
        }
        let closed = match event {
            Event::Start(start) if open.len() >= DEPTH_MAX => {
                return Err(told(&format!("element {:?} is nested more than {DEPTH_MAX} deep", local(&start))));
            }
            Event::Start(start) => {
                open.push(element(&start).map_err(|error| told(&error))?);
                None
            }
            Event::Empty(start) => Some(element(&start).map_err(|error| told(&error))?),
            Event::End(_) => open.pop(),
            Event::CData(text) => {
                add_text(open.last_mut(), &text.xml10_content());
                None
            }
            Event::Eof => return Err(told(&"the document ends before its root element does")),
            _ => None,
        };
        let Some(closed) = closed else { continue };
        let (name, value) = closed.value();
        match open.last_mut() {
            Some(parent) => parent.add(name, value),
            None => return Ok(Value::map([(name, value)])),
        }
    }
}

fn local(start: &BytesStart<'_>) -> String {
    start.local_name().as_ref().to_owned()
}

fn element(start: &BytesStart<'_>) -> Result<Element, String> {
    let mut members = BTreeMap::new();
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| error.to_string())?;
        // Line ends stay in an attribute, as in Go.
        let value = unescape(&attribute.value).map_err(|error| error.to_string())?;
        members.insert(format!("-{}", attribute.key.local_name().as_ref()), Value::string(value));
    }
    Ok(Element { name: local(start), members, text: None })
}

/// The value of `&name;` or `&#number;`.
fn character(reference: &quick_xml::events::BytesRef<'_>) -> Result<char, String> {
    if let Some(character) = reference.resolve_char_ref().map_err(|error| error.to_string())? {
        return Ok(character);
    }
    match &**reference {
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "amp" => Ok('&'),
        "apos" => Ok('\''),
        "quot" => Ok('"'),
        name => Err(format!("unknown entity &{name};")),
    }
}

/// A text is the value of an element without attributes and child elements; otherwise it is `#text`. If there are several, the last
/// one wins.
fn add_text(element: Option<&mut Element>, text: &str) {
    let trimmed = text.trim_matches(['\t', '\r', '\u{8}', '\n', ' ']);
    let Some(element) = element.filter(|_| !trimmed.is_empty()) else { return };
    if element.members.is_empty() {
        element.text = Some(trimmed.to_owned());
    } else {
        element.members.insert("#text".to_owned(), Value::string(trimmed));
    }
}

impl Element {
    fn add(&mut self, name: String, value: Value) {
        match self.members.get_mut(&name) {
            Some(Value::List(items)) => std::rc::Rc::make_mut(items).push(value),
            Some(known) => *known = Value::list([known.clone(), value]),
            None => {
                self.members.insert(name, value);
            }
        }
    }

    fn value(self) -> (String, Value) {
        let value = match self.text {
            Some(text) => Value::from(text),
            None if self.members.is_empty() => Value::from(""),
            None => Value::map(self.members),
        };
        (self.name, value)
    }
}

/// Tyk's `xmlMarshal`: writes a map as a document whose root is its only member or `doc`, and any other value as Go's
/// `encoding/xml` does.
fn marshal(value: &Value) -> FunctionResult {
    let mut out = String::new();
    match value {
        Value::Map(map) => {
            let entries = map.entries();
            match entries.as_slice() {
                [(name, value)] if !is_mixed_list(value) => write(name, value, &mut out)?,
                _ => write("doc", &Value::Map(map.clone()), &mut out)?,
            }
        }
        other => plain(other, &mut out)?,
    }
    bounded(out.len())?;
    Ok(out.into())
}

/// A list with an item that is not a map needs its own root.
fn is_mixed_list(value: &Value) -> bool {
    matches!(value, Value::List(items) if items.iter().any(|item| !matches!(item, Value::Map(_))))
}

fn write(name: &str, value: &Value, out: &mut String) -> Result<(), String> {
    match value {
        Value::Map(map) => return write_map(name, map, out),
        Value::List(items) if !items.is_empty() => return items.iter().try_for_each(|item| write(name, item, out)),
        _ => {}
    }
    let text = match value {
        Value::List(_) | Value::Missing | Value::Null => String::new(),
        Value::String(text) => escaped(text),
        other => print::text_of(other),
    };
    if text.is_empty() {
        out.push_str(&format!("<{name}/>"));
    } else {
        out.push_str(&format!("<{name}>{text}</{name}>"));
    }
    Ok(())
}

fn write_map(name: &str, map: &MapValue, out: &mut String) -> Result<(), String> {
    let entries = map.entries();
    let is_attribute = |key: &str| key.len() > 1 && key.starts_with('-');
    let (attributes, members): (Vec<_>, Vec<_>) = entries.iter().partition(|(key, _)| is_attribute(key));
    out.push_str(&format!("<{name}"));
    for (key, value) in attributes {
        let text = match value {
            Value::String(text) => escaped(text),
            Value::Bool(_) | Value::Int(_) | Value::Int64(_) | Value::Float(_) | Value::Native(_) => print::text_of(value),
            other => return Err(format!("invalid attribute value for: {key}:<{}>", other.type_name())),
        };
        out.push_str(&format!(" {}=\"{text}\"", key.trim_start_matches('-')));
    }
    match members.as_slice() {
        [] => {
            out.push_str("/>");
            return Ok(());
        }
        [(key, Value::String(text))] if &**key == "#text" => out.push_str(&format!(">{}", escaped(text))),
        [(key, text)] if &**key == "#text" => out.push_str(&format!(">{}", print::text_of(text))),
        _ if members.iter().any(|(key, _)| &**key == "#text") => {
            return Err("invalid attribute key label: #text - due to attributes not being prefixed".to_owned());
        }
        _ => {
            out.push('>');
            members.iter().try_for_each(|(key, value)| write(key, value, out))?;
        }
    }
    out.push_str(&format!("</{name}>"));
    Ok(())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\'', "&apos;").replace('"', "&quot;")
}

/// Writes a value that is not a map as an element named after its type, and a list as its items, one per line.
fn plain(value: &Value, out: &mut String) -> Result<(), String> {
    match value {
        Value::Missing | Value::Null => {}
        Value::Map(_) | Value::Struct(_) => return Err(format!("xml: unsupported type: {}", value.type_name())),
        Value::List(items) => {
            for item in items.iter().filter(|item| !item.is_nil()) {
                if !out.is_empty() {
                    out.push('\n');
                }
                plain(item, out)?;
            }
        }
        Value::String(text) => {
            let mut inner = String::new();
            for character in text.chars() {
                match character {
                    '"' => inner.push_str("&#34;"),
                    '\'' => inner.push_str("&#39;"),
                    '&' => inner.push_str("&amp;"),
                    '<' => inner.push_str("&lt;"),
                    '>' => inner.push_str("&gt;"),
                    '\t' => inner.push_str("&#x9;"),
                    '\n' => inner.push_str("&#xA;"),
                    '\r' => inner.push_str("&#xD;"),
                    _ => inner.push(character),
                }
            }
            out.push_str(&format!("<string>{inner}</string>"));
        }
        other => {
            let name = other.type_name();
            out.push_str(&format!("<{name}>{}</{name}>", print::text_of(other)));
        }
    }
    Ok(())
}
