//! The formats of texts: `@csv`, `@tsv`, `@html`, `@uri`, `@sh`, `@base64` and `@base32`.

use super::of_input;
use crate::arithmetic::described;
use crate::budget::spend;
use crate::paths::written;
use crate::run::JqRun;
use crate::value::{Failure, JqValue};
use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose::STANDARD};
use data_encoding::BASE32;
use jaq_core::ValR;
use jaq_core::native::Fun;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What `@uri` escapes: all but the unreserved characters of RFC 3986.
const URI: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Reads Base64 with padding and without.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent).with_decode_allow_trailing_bits(true),
);

pub(super) fn all() -> Vec<Fun<JqRun>> {
    of_input! {
        "@csv" => |value| row(value, "csv", ",", |text| format!("\"{}\"", text.replace('"', "\"\"")));
        "@tsv" => |value| row(value, "tsv", "\t", tsv);
        "@html" => |value| made(value, html);
        "@uri" => |value| made(value, |text| utf8_percent_encode(text, URI).to_string());
        "@urid" => |value| made(value, |text| percent_decode_str(text).decode_utf8_lossy().into_owned());
        "@sh" => shell;
        "@base64" => |value| made(value, |text| STANDARD.encode(text));
        "@base64d" => |value: JqValue| decoded(&value, "base64", |text| LENIENT.decode(text).ok());
        "@base32" => |value| made(value, |text| BASE32.encode(text.as_bytes()));
        "@base32d" => |value: JqValue| decoded(&value, "base32", |text| BASE32.decode(text.as_bytes()).ok());
    }
}

/// What a function makes of a value's text.
fn made(value: JqValue, make: impl Fn(&str) -> String) -> ValR<JqValue> {
    let text = if value.as_str().is_some() { value } else { written(&value)? };
    // Before it is made: it is at most six times as long.
    spend(6 * text.weight())?;
    Ok(JqValue::string(&make(text.as_str().unwrap_or_default())))
}

fn decoded(value: &JqValue, name: &str, decode: impl Fn(&str) -> Option<Vec<u8>>) -> ValR<JqValue> {
    let text = if value.as_str().is_some() { value.clone() } else { written(value)? };
    spend(text.weight())?;
    let bytes = text.as_str().and_then(decode);
    let bytes = bytes.ok_or_else(|| Failure::str(format_args!("{} is not valid {name} data", described(value))))?;
    JqValue::paid(&String::from_utf8_lossy(&bytes))
}

fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(character),
        }
    }
    out
}

fn tsv(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

/// A line of a table.
fn row(value: JqValue, name: &str, separator: &str, quoted: impl Fn(&str) -> String) -> ValR<JqValue> {
    let JqValue::Array(array) = &value else {
        return Err(Failure::str(format_args!("{} cannot be {name}-formatted, only an array can be", described(&value))));
    };
    spend(2 * value.weight())?;
    let cell = |item: &JqValue| match item {
        JqValue::Null => Ok(String::new()),
        JqValue::String(text) => Ok(quoted(text)),
        JqValue::Bool(_) | JqValue::Int(_) | JqValue::Float(_) => Ok(item.to_json()),
        _ => Err(Failure::str(format_args!("{} is not valid in a {name} row", described(item)))),
    };
    let cells = array.items.iter().map(cell).collect::<Result<Vec<String>, Failure>>()?;
    JqValue::paid(&cells.join(separator))
}

/// Words of a shell's command line.
fn shell(value: JqValue) -> ValR<JqValue> {
    spend(4 * value.weight())?;
    let word = |item: &JqValue| match item {
        JqValue::String(text) => Ok(format!("'{}'", text.replace('\'', "'\\''"))),
        JqValue::Array(_) | JqValue::Object(_) => {
            Err(Failure::str(format_args!("{} can not be escaped for shell", described(item))))
        }
        _ => Ok(item.to_json()),
    };
    let words = match &value {
        JqValue::Array(array) => array.items.iter().map(word).collect::<Result<Vec<String>, Failure>>()?,
        other => vec![word(other)?],
    };
    JqValue::paid(&words.join(" "))
}
