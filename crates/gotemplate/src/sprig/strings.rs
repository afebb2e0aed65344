//! Functions on texts: trimming, cutting, case, joining.

use crate::arguments::{ANY, Function, FunctionResult, any, bounded, call, int, text};
use crate::print;
use crate::value::Value;

pub(super) static FUNCTIONS: &[Function] = &[
    call("trim", 1, 1, |given| Ok(text(given, 0)?.trim().into())),
    call("upper", 1, 1, |given| Ok(text(given, 0)?.to_uppercase().into())),
    call("lower", 1, 1, |given| Ok(text(given, 0)?.to_lowercase().into())),
    call("title", 1, 1, |given| Ok(by_word(text(given, 0)?, true).into())),
    call("untitle", 1, 1, |given| Ok(by_word(text(given, 0)?, false).into())),
    call("swapcase", 1, 1, |given| Ok(swapped(text(given, 0)?).into())),
    call("nospace", 1, 1, |given| {
        Ok(text(given, 0)?.chars().filter(|character| !character.is_whitespace()).collect::<String>().into())
    }),
    call("initials", 1, 1, |given| {
        Ok(text(given, 0)?.split_whitespace().filter_map(|word| word.chars().next()).collect::<String>().into())
    }),
    call("repeat", 2, 2, repeat),
    call("substr", 3, 3, substring),
    call("trunc", 2, 2, truncate),
    call("abbrev", 2, 2, abbreviate),
    call("trimAll", 2, 2, trim_all),
    call("trimall", 2, 2, trim_all),
    call("trimSuffix", 2, 2, |given| Ok(text(given, 1)?.strip_suffix(text(given, 0)?).unwrap_or(text(given, 1)?).into())),
    call("trimPrefix", 2, 2, |given| Ok(text(given, 1)?.strip_prefix(text(given, 0)?).unwrap_or(text(given, 1)?).into())),
    call("contains", 2, 2, |given| Ok(text(given, 1)?.contains(text(given, 0)?).into())),
    call("hasPrefix", 2, 2, |given| Ok(text(given, 1)?.starts_with(text(given, 0)?).into())),
    call("hasSuffix", 2, 2, |given| Ok(text(given, 1)?.ends_with(text(given, 0)?).into())),
    call("replace", 3, 3, replace),
    call("quote", 0, ANY, |given| Ok(each(given, |value| print::quoted(&print::text_of(value)).unwrap_or_default()).into())),
    call("squote", 0, ANY, |given| Ok(each(given, |value| format!("'{}'", print::text_of(value))).into())),
    call("cat", 0, ANY, |given| Ok(each(given, print::text_of).into())),
    call("indent", 2, 2, |given| Ok(indented(given)?.into())),
    call("nindent", 2, 2, |given| Ok(format!("\n{}", indented(given)?).into())),
    call("plural", 3, 3, |given| Ok(if int(given, 2)? == 1 { text(given, 0)? } else { text(given, 1)? }.into())),
    call("toString", 1, 1, |given| Ok(print::text_of(any(given, 0)).into())),
    call("split", 2, 2, |given| Ok(numbered(text(given, 1)?.split(text(given, 0)?)))),
    call("splitn", 3, 3, |given| {
        let parts = usize::try_from(int(given, 1)?).map_err(|_| "a number of parts below zero is not supported".to_owned())?;
        Ok(numbered(text(given, 2)?.splitn(parts, text(given, 0)?)))
    }),
    call("splitList", 2, 2, |given| Ok(Value::list(pieces(text(given, 1)?, text(given, 0)?)))),
    call("toStrings", 1, 1, |given| Ok(Value::list(texts(any(given, 0)).into_iter().map(Value::from)))),
    call("join", 2, 2, |given| {
        let joined = texts(any(given, 1)).join(text(given, 0)?);
        bounded(joined.len())?;
        Ok(joined.into())
    }),
    call("sortAlpha", 1, 1, |given| {
        let mut sorted = texts(any(given, 0));
        sorted.sort_unstable();
        Ok(Value::list(sorted.into_iter().map(Value::from)))
    }),
    call("typeOf", 1, 1, |given| Ok(any(given, 0).type_name().into())),
    call("typeIs", 2, 2, |given| Ok((any(given, 1).type_name() == text(given, 0)?).into())),
    call("typeIsLike", 2, 2, |given| Ok((any(given, 1).type_name() == text(given, 0)?).into())),
    call("kindOf", 1, 1, |given| Ok(kind(any(given, 0)).into())),
    call("kindIs", 2, 2, |given| Ok((kind(any(given, 1)) == text(given, 0)?).into())),
    call("fail", 1, 1, |given| Err(text(given, 0)?.to_owned())),
    call("hello", 0, 0, |_| Ok("Hello!".into())),
];

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Missing | Value::Null => "invalid",
        Value::List(_) => "slice",
        Value::Map(_) => "map",
        Value::Struct(_) => "struct",
        Value::Native(native) => native.0.kind(),
        other => other.type_name(),
    }
}

/// Changes the first letter of each word to upper or lower case.
fn by_word(text: &str, upper: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for character in text.chars() {
        match (inside, upper) {
            (true, _) => out.push(character),
            (false, true) => out.extend(character.to_uppercase()),
            (false, false) => out.extend(character.to_lowercase()),
        }
        inside =
            if upper { character.is_alphanumeric() || character == '_' || character == '\'' } else { !character.is_whitespace() };
    }
    out
}

/// Changes upper case to lower case, and lower case to upper case, or to title case at the start of a word.
fn swapped(text: &str) -> String {
    let swap = |character: char| {
        if character.is_uppercase() { character.to_lowercase().next() } else { character.to_uppercase().next() }
            .unwrap_or(character)
    };
    text.chars().map(swap).collect()
}

fn repeat(given: &[Value]) -> FunctionResult {
    let count = usize::try_from(int(given, 0)?).map_err(|_| "strings: negative Repeat count".to_owned())?;
    let text = text(given, 1)?;
    bounded(text.len().saturating_mul(count))?;
    Ok(text.repeat(count).into())
}

/// The bytes between two positions, without characters that are cut.
fn cut(text: &str, start: usize, end: usize) -> String {
    String::from_utf8_lossy(text.as_bytes().get(start..end).unwrap_or_default()).into_owned()
}

fn substring(given: &[Value]) -> FunctionResult {
    let (start, end, text) = (int(given, 0)?, int(given, 1)?, text(given, 2)?);
    let at = |number: i64| usize::try_from(number).ok().filter(|at| *at <= text.len());
    let end_at = at(end);
    let range = match (at(start), end_at) {
        _ if start < 0 => end_at.map(|end| (0, end)),
        (Some(start), None) => Some((start, text.len())),
        (Some(start), Some(end)) if start <= end => Some((start, end)),
        _ => None,
    };
    let (start, end) = range.ok_or("slice bounds out of range")?;
    Ok(cut(text, start, end).into())
}

fn truncate(given: &[Value]) -> FunctionResult {
    let (count, text) = (int(given, 0)?, text(given, 1)?);
    let size = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    if size >= text.len() {
        return Ok(text.into());
    }
    Ok(if count < 0 { cut(text, text.len() - size, text.len()) } else { cut(text, 0, size) }.into())
}

/// At most this many bytes; if something is cut, the last three are dots.
fn abbreviate(given: &[Value]) -> FunctionResult {
    let (width, text) = (int(given, 0)?, text(given, 1)?);
    let Ok(width) = usize::try_from(width) else { return Ok(text.into()) };
    if width < 4 || text.len() <= width {
        return Ok(text.into());
    }
    Ok(format!("{}...", cut(text, 0, width - 3)).into())
}

fn trim_all(given: &[Value]) -> FunctionResult {
    let set = text(given, 0)?;
    Ok(text(given, 1)?.trim_matches(|character| set.contains(character)).into())
}

fn replace(given: &[Value]) -> FunctionResult {
    let (old, new, source) = (text(given, 0)?, text(given, 1)?, text(given, 2)?);
    bounded(source.len().saturating_add((source.matches(old).count()).saturating_mul(new.len())))?;
    Ok(source.replace(old, new).into())
}

/// Joins all values that are not nil with spaces.
fn each(given: &[Value], write: fn(&Value) -> String) -> String {
    let written: Vec<_> = given.iter().filter(|value| !value.is_nil()).map(write).collect();
    written.join(" ")
}

fn indented(given: &[Value]) -> Result<String, String> {
    let spaces = usize::try_from(int(given, 0)?).map_err(|_| "strings: negative Repeat count".to_owned())?;
    let text = text(given, 1)?;
    let lines = text.matches('\n').count() + 1;
    bounded(text.len().saturating_add(lines.saturating_mul(spaces)))?;
    let pad = " ".repeat(spaces);
    Ok(format!("{pad}{}", text.replace('\n', &format!("\n{pad}"))))
}

/// The parts as members `_0`, `_1` and so on.
fn numbered<'t>(parts: impl Iterator<Item = &'t str>) -> Value {
    Value::map(parts.enumerate().map(|(index, part)| (format!("_{index}"), Value::string(part))))
}

/// Like `strings.Split`: without a separator, the characters.
fn pieces(text: &str, separator: &str) -> Vec<Value> {
    if separator.is_empty() {
        return text.chars().map(|character| Value::from(character.to_string())).collect();
    }
    text.split(separator).map(Value::string).collect()
}

/// A list as texts, without nil; any other value as the only text.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::List(items) => items.iter().filter(|item| !item.is_nil()).map(print::text_of).collect(),
        Value::Missing | Value::Null => Vec::new(),
        other => vec![print::text_of(other)],
    }
}
