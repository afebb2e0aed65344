//! Functions of texts.

use super::{of_input, of_one, text_of};
use crate::arithmetic::{split, whole};
use crate::budget::spend;
use crate::run::JqRun;
use crate::value::{Failure, JqValue};
use jaq_core::ValR;
use jaq_core::native::Fun;

pub(super) fn all() -> Vec<Fun<JqRun>> {
    let of_input = of_input! {
        "utf8bytelength" => |value: JqValue| Ok(JqValue::from(text_of(&value, "utf8bytelength")?.len()));
        "explode" => explode;
        "implode" => implode;
        "ascii_downcase" => |value: JqValue| JqValue::paid(&text_of(&value, "ascii_downcase")?.to_ascii_lowercase());
        "ascii_upcase" => |value: JqValue| JqValue::paid(&text_of(&value, "ascii_upcase")?.to_ascii_uppercase());
        "trim" => |value: JqValue| JqValue::paid(text_of(&value, "trim")?.trim());
        "ltrim" => |value: JqValue| JqValue::paid(text_of(&value, "ltrim")?.trim_start());
        "rtrim" => |value: JqValue| JqValue::paid(text_of(&value, "rtrim")?.trim_end());
    };
    let of_one = of_one! {
        "startswith" => |value: JqValue, part: JqValue| both(&value, &part, "startswith").map(|(text, part)| text.starts_with(part).into());
        "endswith" => |value: JqValue, part: JqValue| both(&value, &part, "endswith").map(|(text, part)| text.ends_with(part).into());
        "ltrimstr" => |value: JqValue, part: JqValue| without(value, &part, |text, part| text.strip_prefix(part));
        "rtrimstr" => |value: JqValue, part: JqValue| without(value, &part, |text, part| text.strip_suffix(part));
        "split" => |value: JqValue, separator: JqValue| {
            let (text, separator) = both(&value, &separator, "split")?;
            split(text, separator)
        };
    };
    of_input.into_iter().chain(of_one).collect()
}

fn both<'v>(value: &'v JqValue, argument: &'v JqValue, function: &str) -> Result<(&'v str, &'v str), Failure> {
    let texts = value.as_str().zip(argument.as_str());
    texts.ok_or_else(|| Failure::str(format_args!("{function}() requires string inputs")))
}

/// What is left of a text; another value, or one that does not fit, stays.
fn without(value: JqValue, part: &JqValue, strip: for<'t> fn(&'t str, &str) -> Option<&'t str>) -> ValR<JqValue> {
    match value.as_str().zip(part.as_str()).and_then(|(text, part)| strip(text, part)) {
        Some(rest) => JqValue::paid(rest),
        None => Ok(value),
    }
}

fn explode(value: JqValue) -> ValR<JqValue> {
    let text = text_of(&value, "explode")?;
    spend(16 * text.len())?;
    Ok(JqValue::array(text.chars().map(|character| JqValue::Int(i64::from(u32::from(character)))).collect()))
}

fn implode(value: JqValue) -> ValR<JqValue> {
    let JqValue::Array(array) = &value else { return Err(Failure::str("implode input must be an array")) };
    spend(4 * array.items.len())?;
    let character = |item: &JqValue| whole(item).and_then(|code| u32::try_from(code).ok()).and_then(char::from_u32);
    let text: Option<String> = array.items.iter().map(character).collect();
    text.map(|text| JqValue::String(text.into())).ok_or_else(|| Failure::str("Unicode codepoint must be numeric and valid"))
}
