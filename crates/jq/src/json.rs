//! JSON documents to values and back. Documents for clients and upstreams are written as Go writes them: members sorted, `<`, `>` and `&`
//! escaped.

use crate::value::JqValue;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use std::fmt::{self, Write};
use std::rc::Rc;
use tollgate_text::byte_order_mark;

/// Largest document that is read: at most 16 units of weight a byte, so that every document that is read can be a value.
const DOCUMENT_BYTES_MAX: usize = 16 << 20;

/// Characters of a value in an error.
const ERROR_CHARS: usize = 200;

impl JqValue {
    /// The first document of some bytes, as Go's decoder reads it; `None` if there is none. Arrays and objects may be nested 127 times.
    ///
    /// # Errors
    /// Why the bytes are no JSON.
    pub fn read(bytes: &[u8]) -> Result<Option<JqValue>, serde_json::Error> {
        if bytes.len() > DOCUMENT_BYTES_MAX {
            return Err(serde_json::Error::custom("the document is larger than 16 MiB"));
        }
        let bytes = byte_order_mark::without(bytes);
        if bytes.trim_ascii().is_empty() {
            return Ok(None);
        }
        ValueReader.deserialize(&mut serde_json::Deserializer::from_slice(bytes)).map(Some)
    }

    /// The document that Go's `json.Marshal` makes of it. `None` if it is longer than `bytes_max`.
    pub fn write(&self, bytes_max: usize) -> Option<Vec<u8>> {
        let mut out =
            Out { text: String::with_capacity(self.weight().min(bytes_max).min(1 << 20)), bytes_max, style: JsonStyle::Go };
        write(self, &mut out).ok()?;
        Some(out.text.into_bytes())
    }

    /// The document that jq makes of it.
    pub(crate) fn to_json(&self) -> String {
        self.shown(usize::MAX)
    }

    /// The same, or its first bytes.
    pub(crate) fn shown(&self, bytes_max: usize) -> String {
        let mut out = Out { text: String::new(), bytes_max, style: JsonStyle::Jq };
        // What is longer is cut.
        let _ = write(self, &mut out);
        out.text
    }
}

impl fmt::Display for JqValue {
    /// For errors.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JqValue::String(text) => text.chars().take(ERROR_CHARS).try_for_each(|character| formatter.write_char(character)),
            _ => formatter.write_str(&self.shown(ERROR_CHARS)),
        }
    }
}

struct ValueReader;

impl<'de> DeserializeSeed<'de> for ValueReader {
    type Value = JqValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<JqValue, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueReader {
    type Value = JqValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<JqValue, E> {
        Ok(JqValue::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<JqValue, E> {
        Ok(JqValue::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<JqValue, E> {
        Ok(JqValue::Int(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<JqValue, E> {
        Ok(i64::try_from(number).map_or(JqValue::Float(number as f64), JqValue::Int))
    }

    fn visit_f64<E>(self, number: f64) -> Result<JqValue, E> {
        Ok(JqValue::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<JqValue, E> {
        Ok(JqValue::string(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<JqValue, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(ValueReader)? {
            items.push(item);
        }
        Ok(JqValue::array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<JqValue, A::Error> {
        let mut members = crate::value::JqMembers::default();
        while let Some(name) = access.next_key_seed(NameReader)? {
            members.insert(name, access.next_value_seed(ValueReader)?);
        }
        Ok(JqValue::from_members(members))
    }
}

/// The name of a member.
struct NameReader;

impl<'de> DeserializeSeed<'de> for NameReader {
    type Value = Rc<str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Rc<str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for NameReader {
    type Value = Rc<str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a member's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Rc<str>, E> {
        Ok(name.into())
    }
}

/// How a document is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JsonStyle {
    Go,
    Jq,
}

/// A document as it is written, up to a number of bytes.
struct Out {
    text: String,
    bytes_max: usize,
    style: JsonStyle,
}

impl Write for Out {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let room = self.bytes_max - self.text.len();
        if piece.len() <= room {
            self.text.push_str(piece);
            return Ok(());
        }
        let end = (0..=room).rev().find(|end| piece.is_char_boundary(*end)).unwrap_or(0);
        self.text.push_str(piece.get(..end).unwrap_or_default());
        Err(fmt::Error)
    }
}

fn write(value: &JqValue, out: &mut Out) -> fmt::Result {
    match value {
        JqValue::Null => out.write_str("null"),
        JqValue::Bool(truth) => out.write_str(if *truth { "true" } else { "false" }),
        JqValue::Int(number) => write!(out, "{number}"),
        JqValue::Float(number) => write_number(*number, out),
        JqValue::String(text) => write_text(text, out),
        JqValue::Array(array) => {
            out.write_str("[")?;
            for (index, item) in array.items.iter().enumerate() {
                out.write_str(if index > 0 { "," } else { "" })?;
                write(item, out)?;
            }
            out.write_str("]")
        }
        JqValue::Object(object) => {
            let mut members: Vec<(&Rc<str>, &JqValue)> = object.members.iter().collect();
            if out.style == JsonStyle::Go {
                members.sort_unstable_by_key(|(name, _)| *name);
            }
            out.write_str("{")?;
            for (index, (name, item)) in members.into_iter().enumerate() {
                out.write_str(if index > 0 { "," } else { "" })?;
                write_text(name, out)?;
                out.write_str(":")?;
                write(item, out)?;
            }
            out.write_str("}")
        }
    }
}

/// The shortest digits; an exponent from 1e17 in jq and from 1e21 in Go, and below 1e-5. JSON has no infinities.
fn write_number(number: f64, out: &mut Out) -> fmt::Result {
    if number.is_nan() {
        return out.write_str("null");
    }
    let number = number.clamp(f64::MIN, f64::MAX);
    let size = number.abs();
    let (from, below) = if out.style == JsonStyle::Go { (1e-6, 1e21) } else { (1e-5, 1e17) };
    if number == 0.0 || (from..below).contains(&size) {
        return write!(out, "{number}");
    }
    // Two digits of an exponent at least in jq, and one in Go; always with a sign.
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    let width = if out.style == JsonStyle::Go { 1 } else { 2 };
    write!(out, "{digits}e{sign}{exponent:0>width$}")
}

fn write_text(text: &str, out: &mut Out) -> fmt::Result {
    out.write_str("\"")?;
    let mut start = 0;
    for (at, character) in text.char_indices() {
        let escape = match character {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' if out.style == JsonStyle::Go => "",
            '\0'..='\u{1f}' | '\u{7f}' if character != '\u{7f}' || out.style == JsonStyle::Jq => "",
            _ => continue,
        };
        out.write_str(text.get(start..at).unwrap_or_default())?;
        start = at + character.len_utf8();
        match escape {
            "" => write!(out, "\\u{:04x}", u32::from(character))?,
            escape => out.write_str(escape)?,
        }
    }
    out.write_str(text.get(start..).unwrap_or_default())?;
    out.write_str("\"")
}
