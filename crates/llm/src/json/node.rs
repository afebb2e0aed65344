//! Values in the text that they were read from.

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use tollgate_text::byte_order_mark;

/// Deepest nesting: schemas of tools have a dozen levels, and what is forwarded must be readable for others, who stop at about 128.
const DEPTH_MAX: usize = 100;
/// Most values in one document: each takes up to 40 bytes while the list that holds it is read.
const VALUES_MAX: usize = 1 << 20;

/// A value, not read yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonNode<'a>(&'a RawValue);

/// The members of an object, in their order.
#[derive(Debug)]
pub(crate) struct JsonObject<'a>(Vec<(Cow<'a, str>, JsonNode<'a>)>);

impl<'a> JsonNode<'a> {
    /// Reads a document of at most so many bytes.
    ///
    /// # Errors
    /// It is too large, no JSON, too deep, or has too many values.
    pub(crate) fn read(bytes: &'a [u8], bytes_max: usize) -> Result<Self, &'static str> {
        if bytes.len() > bytes_max {
            return Err("the document is too large");
        }
        let text = std::str::from_utf8(byte_order_mark::without(bytes)).map_err(|_| "the document is not UTF-8")?;
        let raw = serde_json::from_str(text).map_err(|_| "the document is not valid JSON")?;
        check_size(bytes, VALUES_MAX)?;
        Ok(JsonNode(raw))
    }

    /// Reads a document whose many values are numbers in small arrays, of which one at a time is looked at.
    ///
    /// # Errors
    /// It is too large, no JSON, or too deep.
    pub(crate) fn read_lazily(bytes: &'a [u8], bytes_max: usize) -> Result<Self, &'static str> {
        if bytes.len() > bytes_max {
            return Err("the document is too large");
        }
        check_size(bytes, usize::MAX)?;
        serde_json::from_slice(byte_order_mark::without(bytes)).map(JsonNode).map_err(|_| "the document is not valid JSON")
    }

    /// The text of the value.
    pub(crate) fn raw(self) -> &'a str {
        self.0.get()
    }

    /// Whether it is `null`.
    pub(crate) fn is_null(self) -> bool {
        self.raw() == "null"
    }

    /// Whether it is an object.
    pub(crate) fn is_object(self) -> bool {
        self.raw().starts_with('{')
    }

    /// Whether it is a string.
    pub(crate) fn is_text(self) -> bool {
        self.raw().starts_with('"')
    }

    /// A string; `None` for another type, and for one with half a surrogate pair.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        serde_json::from_str::<JsonText<'a>>(self.raw()).ok().map(|text| text.0)
    }

    /// A string, where halves of surrogate pairs are replaced.
    pub(crate) fn lossy_text(self) -> Option<Cow<'a, str>> {
        self.text().or_else(|| {
            let bytes = serde_json::from_str::<RawText>(self.raw()).ok()?;
            Some(Cow::Owned(String::from_utf8_lossy(&bytes.0).into_owned()))
        })
    }

    /// The bytes of a string, in which half of a surrogate pair is three bytes that are no UTF-8; none of another type.
    pub(crate) fn text_bytes(self) -> Vec<u8> {
        serde_json::from_str::<RawText>(self.raw()).map(|text| text.0).unwrap_or_default()
    }

    /// A number without fraction; also one that is written with a fraction of zero.
    pub(crate) fn integer(self) -> Option<i64> {
        let number = self.raw().parse::<i64>().ok();
        number.or_else(|| self.number().filter(|number| number.fract() == 0.0 && number.abs() < 9e15).map(|number| number as i64))
    }

    /// A number without fraction and sign.
    pub(crate) fn whole(self) -> Option<u64> {
        self.integer().and_then(|number| u64::try_from(number).ok())
    }

    /// A number.
    pub(crate) fn number(self) -> Option<f64> {
        serde_json::from_str::<f64>(self.raw()).ok()
    }

    /// `true` or `false`.
    pub(crate) fn flag(self) -> Option<bool> {
        serde_json::from_str(self.raw()).ok()
    }

    /// The members of an object.
    pub(crate) fn object(self) -> Option<JsonObject<'a>> {
        serde_json::from_str(self.raw()).ok()
    }

    /// The items of an array.
    pub(crate) fn items(self) -> Option<Vec<JsonNode<'a>>> {
        let items: Vec<&'a RawValue> = serde_json::from_str(self.raw()).ok()?;
        Some(items.into_iter().map(JsonNode).collect())
    }
}

impl<'a> JsonObject<'a> {
    /// A member that is not `null`.
    pub(crate) fn get(&self, name: &str) -> Option<JsonNode<'a>> {
        self.0.iter().rfind(|(member, _)| member == name).map(|(_, node)| *node).filter(|node| !node.is_null())
    }

    /// A member that is a string.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.lossy_text()
    }

    /// A member that is an object.
    pub(crate) fn object(&self, name: &str) -> Option<JsonObject<'a>> {
        self.get(name)?.object()
    }

    /// The items of a member that is an array; empty if there is none.
    pub(crate) fn items(&self, name: &str) -> Vec<JsonNode<'a>> {
        self.get(name).and_then(JsonNode::items).unwrap_or_default()
    }

    /// All members.
    pub(crate) fn members(self) -> Vec<(Cow<'a, str>, JsonNode<'a>)> {
        self.0
    }
}

/// Refuses what is nested too deep or has too many values. The text is JSON, so brackets outside of strings fit together.
fn check_size(bytes: &[u8], values_max: usize) -> Result<(), &'static str> {
    let (mut depth, mut values, mut in_string, mut is_escaped) = (0_usize, 1_usize, false, false);
    for byte in bytes {
        if in_string {
            if is_escaped {
                is_escaped = false;
            } else if *byte == b'\\' {
                is_escaped = true;
            } else if *byte == b'"' {
                in_string = false;
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                values += 1;
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => {}
        }
        if depth > DEPTH_MAX {
            return Err("the document is nested too deep");
        }
        if values > values_max {
            return Err("the document has too many values");
        }
    }
    Ok(())
}

/// A text of bytes as [`JsonNode::text_bytes`] has them, and the first half of a pair that may be behind it. Halves that are next to each other are
/// one letter, others are replaced.
pub(crate) fn split_half(bytes: &[u8]) -> (String, Option<[u8; 3]>) {
    let mut text = String::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        match rest {
            [0xed, a @ 0xa0..=0xaf, b, 0xed, c @ 0xb0..=0xbf, d, behind @ ..] => {
                let unit = |high: u8, low: u8| (u32::from(high & 0x1f) << 6) | u32::from(low & 0x3f);
                let letter = 0x10000 + (((unit(*a, *b) & 0x3ff) << 10) | (unit(*c, *d) & 0x3ff));
                text.push(char::from_u32(letter).unwrap_or(char::REPLACEMENT_CHARACTER));
                rest = behind;
            }
            [0xed, a @ 0xa0..=0xaf, b] => return (text, Some([0xed, *a, *b])),
            [0xed, 0xa0..=0xbf, _, behind @ ..] => {
                text.push(char::REPLACEMENT_CHARACTER);
                rest = behind;
            }
            _ => {
                let end = rest.iter().skip(1).position(|byte| *byte == 0xed).map_or(rest.len(), |at| at + 1);
                let (plain, behind) = rest.split_at_checked(end).unwrap_or((rest, b""));
                text.push_str(&String::from_utf8_lossy(plain));
                rest = behind;
            }
        }
    }
    (text, None)
}

/// A string that borrows where it has no escapes.
#[derive(Deserialize)]
struct JsonText<'a>(#[serde(borrow)] Cow<'a, str>);

/// The bytes of a string: half of a surrogate pair is three bytes that are no UTF-8.
struct RawText(Vec<u8>);

impl<'de> Deserialize<'de> for RawText {
    fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = RawText;
            fn expecting(&self, what: &mut std::fmt::Formatter) -> std::fmt::Result {
                what.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<RawText, E> {
                Ok(RawText(bytes.to_vec()))
            }
        }
        source.deserialize_bytes(Reader)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for JsonObject<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Vec<(Cow<'de, str>, JsonNode<'de>)>;
            fn expecting(&self, what: &mut std::fmt::Formatter) -> std::fmt::Result {
                what.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<JsonText<'de>, &'de RawValue>()? {
                    members.push((name.0, JsonNode(value)));
                }
                Ok(members)
            }
        }
        source.deserialize_map(Reader).map(JsonObject)
    }
}

/// Whether a text is one JSON object.
pub(crate) fn is_object_text(text: &str) -> bool {
    text.trim_ascii_start().starts_with('{')
        && serde_json::from_str::<IgnoredAny>(text).is_ok()
        && check_size(text.as_bytes(), VALUES_MAX).is_ok()
}
