//! Go's `fmt`: `Sprint`, `Sprintln` and `Sprintf` for the values of templates.

use crate::arguments::bounded;
use crate::float;
use crate::value::Value;

/// `{{value}}`: prints no value as such; `%v` of an empty interface is `<nil>`.
pub(crate) fn printed(value: &Value, out: &mut String) {
    match value {
        Value::Missing | Value::Null => out.push_str("<no value>"),
        Value::String(text) => out.push_str(text),
        other => plain(other, out),
    }
}

/// The same in the text of an HTML document, as `html/template` prints it: escaped, and nothing for no value.
pub(crate) fn printed_in_html(value: &Value, is_escaped: bool, out: &mut String) {
    if value.is_nil() {
        return;
    }
    let text = text_of(value);
    if is_escaped {
        return out.push_str(&text);
    }
    for character in text.chars() {
        match character {
            '\0' => out.push('\u{fffd}'),
            '"' => out.push_str("&#34;"),
            '&' => out.push_str("&amp;"),
            '\'' => out.push_str("&#39;"),
            '+' => out.push_str("&#43;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            _ => out.push(character),
        }
    }
}

/// `%v`
pub(crate) fn plain(value: &Value, out: &mut String) {
    match value {
        Value::Missing | Value::Null => out.push_str("<nil>"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Int(number) | Value::Int64(number) => out.push_str(&number.to_string()),
        Value::Native(native) => out.push_str(&native.0.text()),
        Value::Float(number) => float::shortest_into(*number, 'e', out),
        Value::String(text) => out.push_str(text),
        Value::List(items) => group("[", items.iter(), "]", out, plain),
        Value::Map(map) => group("map[", map.entries().iter(), "]", out, |(key, value), out| {
            out.push_str(key);
            out.push(':');
            plain(value, out);
        }),
        Value::Struct(structure) => group("{", structure.fields().iter(), "}", out, |(_, value), out| plain(value, out)),
    }
}

fn group<T>(open: &str, items: impl Iterator<Item = T>, close: &str, out: &mut String, mut write: impl FnMut(T, &mut String)) {
    out.push_str(open);
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(' ');
        }
        write(item, out);
    }
    out.push_str(close);
}

/// The text of one value, as `%v` prints it.
pub(crate) fn text_of(value: &Value) -> String {
    let mut out = String::new();
    plain(value, &mut out);
    out
}

/// `Sprint`: a space between two values if neither is a text.
pub(crate) fn sprint(values: &[Value]) -> String {
    let mut out = String::new();
    let mut after_text = true;
    for (index, value) in values.iter().enumerate() {
        let is_text = matches!(value, Value::String(_));
        if index > 0 && !is_text && !after_text {
            out.push(' ');
        }
        plain(value, &mut out);
        after_text = is_text;
    }
    out
}

/// `Sprintln`: spaces between all values, and a line feed.
pub(crate) fn sprintln(values: &[Value]) -> String {
    let mut out = values.iter().map(text_of).collect::<Vec<_>>().join(" ");
    out.push('\n');
    out
}

/// The flags between `%` and the verb.
#[derive(Clone, Copy, Default)]
struct Flags {
    plus: bool,
    minus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// `Sprintf`. Errors appear in the text, as in Go: `%!d(float64=3)`.
pub(crate) fn sprintf(format: &str, values: &[Value]) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = format;
    let mut values_left = values.iter();
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let mut characters = after.chars();
        let flags = flags(&mut characters, &mut values_left)?;
        match characters.next() {
            None => out.push_str("%!(NOVERB)"),
            Some('%') => out.push('%'),
            Some(verb) => match values_left.next() {
                Some(value) => pad(&formatted(verb, flags, value), verb, flags, value, &mut out)?,
                None => out.push_str(&format!("%!{verb}(MISSING)")),
            },
        }
        rest = characters.as_str();
        bounded(out.len())?;
    }
    out.push_str(rest);
    let extra: Vec<_> = values_left.map(|value| format!("{}={}", value.type_name(), text_of(value))).collect();
    if !extra.is_empty() {
        out.push_str(&format!("%!(EXTRA {})", extra.join(", ").replace("<nil>=<nil>", "<nil>")));
    }
    Ok(out)
}

fn flags<'v>(characters: &mut std::str::Chars<'_>, values: &mut impl Iterator<Item = &'v Value>) -> Result<Flags, String> {
    let mut flags = Flags::default();
    loop {
        let ahead = characters.clone().next();
        match ahead {
            Some('+') => flags.plus = true,
            Some('-') => flags.minus = true,
            Some('#') => flags.sharp = true,
            Some(' ') => flags.space = true,
            Some('0') => flags.zero = true,
            _ => break,
        }
        characters.next();
    }
    flags.width = size(characters, values)?;
    if characters.clone().next() == Some('.') {
        characters.next();
        flags.precision = Some(size(characters, values)?.unwrap_or(0));
    }
    if characters.clone().next() == Some('[') {
        return Err("argument indexes such as %[1]d are not supported".to_owned());
    }
    Ok(flags)
}

/// A number in the format, or the next value for `*`.
fn size<'v>(characters: &mut std::str::Chars<'_>, values: &mut impl Iterator<Item = &'v Value>) -> Result<Option<usize>, String> {
    if characters.clone().next() == Some('*') {
        characters.next();
        let number = values.next().and_then(Value::integer).ok_or("* in a format needs an int")?;
        let size = usize::try_from(number).map_err(|_| "a width below zero is not supported".to_owned())?;
        bounded(size)?;
        return Ok(Some(size));
    }
    let digits = characters.clone().take_while(char::is_ascii_digit).count();
    if digits == 0 {
        return Ok(None);
    }
    let text: String = characters.by_ref().take(digits).collect();
    let size = text.parse().map_err(|_| "a width or precision is too large".to_owned())?;
    bounded(size)?;
    Ok(Some(size))
}

/// Formats one value with one verb, without padding.
fn formatted(verb: char, flags: Flags, value: &Value) -> String {
    let written = match value {
        Value::List(items) if verb != 'v' && verb != 'T' => {
            let mut out = String::new();
            group("[", items.iter(), "]", &mut out, |item, out| out.push_str(&element(verb, flags, item)));
            Some(out)
        }
        Value::Map(map) if verb != 'v' && verb != 'T' => {
            let mut out = String::new();
            group("map[", map.entries().iter(), "]", &mut out, |(key, item), out| {
                out.push_str(&formatted(verb, flags, &Value::String(key.clone())));
                out.push(':');
                out.push_str(&element(verb, flags, item));
            });
            Some(out)
        }
        _ => scalar(verb, flags, value),
    };
    written.unwrap_or_else(|| match value {
        Value::Missing | Value::Null => format!("%!{verb}(<nil>)"),
        _ => format!("%!{verb}({}={})", value.type_name(), text_of(value)),
    })
}

/// An element of a list or map: an empty one is not an error of the verb.
fn element(verb: char, flags: Flags, value: &Value) -> String {
    if value.is_nil() { "<nil>".to_owned() } else { formatted(verb, flags, value) }
}

fn scalar(verb: char, flags: Flags, value: &Value) -> Option<String> {
    match (verb, value) {
        ('T', _) => Some(value.type_name().to_owned()),
        ('v', Value::Int(number) | Value::Int64(number)) => integer('d', flags, *number),
        ('v', Value::Float(number)) => decimal('g', flags, *number),
        ('v', Value::String(text)) if flags.sharp => quoted(text),
        ('v', _) => Some(text_of(value)),
        ('t', Value::Bool(truth)) => Some(truth.to_string()),
        ('s' | 'q' | 'x' | 'X', Value::Native(native)) => string(verb, flags, &native.0.text()),
        (_, Value::Int(_) | Value::Int64(_) | Value::Native(_)) => value.integer().and_then(|number| integer(verb, flags, number)),
        (_, Value::Float(number)) => decimal(verb, flags, *number),
        (_, Value::String(text)) => string(verb, flags, text),
        _ => None,
    }
}

fn integer(verb: char, flags: Flags, number: i64) -> Option<String> {
    let magnitude = number.unsigned_abs();
    let (prefix, digits) = match verb {
        'd' => ("", magnitude.to_string()),
        'b' => ("0b", format!("{magnitude:b}")),
        'o' => ("0", format!("{magnitude:o}")),
        'O' => ("0o", format!("{magnitude:o}")),
        'x' => ("0x", format!("{magnitude:x}")),
        'X' => ("0X", format!("{magnitude:X}")),
        'c' => return Some(character(number).to_string()),
        'q' => return Some(format!("'{}'", character(number).escape_default())),
        'U' => return Some(format!("U+{magnitude:04X}")),
        _ => return None,
    };
    let prefix = if flags.sharp || verb == 'O' { prefix } else { "" };
    let least = flags.precision.unwrap_or(0);
    Some(signed(number < 0, flags, &format!("{prefix}{digits:0>least$}")))
}

fn character(number: i64) -> char {
    u32::try_from(number).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn decimal(verb: char, flags: Flags, number: f64) -> Option<String> {
    let size = number.abs();
    let precision = flags.precision.unwrap_or(6);
    let text = match verb {
        'e' | 'E' => float::exponential(size, Some(precision), verb),
        'f' | 'F' => float::special(size).map_or_else(|| format!("{size:.precision$}"), str::to_owned),
        'g' | 'G' => {
            let letter = if verb == 'g' { 'e' } else { 'E' };
            flags.precision.map_or_else(|| float::shortest(size, letter), |precision| float::general(size, precision, letter))
        }
        _ => return None,
    };
    let bare = text.strip_prefix('+').unwrap_or(&text);
    if text.starts_with('+') && !number.is_sign_negative() {
        return Some(text);
    }
    Some(signed(number.is_sign_negative() && !number.is_nan(), flags, bare))
}

fn signed(is_negative: bool, flags: Flags, text: &str) -> String {
    match (is_negative, flags.plus, flags.space) {
        (true, ..) => format!("-{text}"),
        (false, true, _) => format!("+{text}"),
        (false, false, true) => format!(" {text}"),
        _ => text.to_owned(),
    }
}

fn string(verb: char, flags: Flags, text: &str) -> Option<String> {
    let cut: String = match flags.precision {
        Some(precision) if verb != 'x' && verb != 'X' => text.chars().take(precision).collect(),
        _ => text.to_owned(),
    };
    let hexadecimal = |digits: fn(u8) -> String| {
        let length = flags.precision.unwrap_or(usize::MAX);
        let pairs: Vec<_> = cut.bytes().take(length).map(digits).collect();
        pairs.join(if flags.space { " " } else { "" })
    };
    match verb {
        's' => Some(cut),
        'q' => quoted(&cut),
        'x' => Some(hexadecimal(|byte| format!("{byte:02x}"))),
        'X' => Some(hexadecimal(|byte| format!("{byte:02X}"))),
        _ => None,
    }
}

/// A text in double quotes with Go's escapes.
pub(crate) fn quoted(text: &str) -> Option<String> {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            _ if character < ' ' || character == '\u{7f}' => out.push_str(&format!("\\x{:02x}", u32::from(character))),
            _ if character.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
    Some(out)
}

/// Pads to the width: with zeros after the sign of a number, otherwise with spaces.
fn pad(text: &str, verb: char, flags: Flags, value: &Value, out: &mut String) -> Result<(), String> {
    let missing = flags.width.unwrap_or(0).saturating_sub(text.chars().count());
    bounded(out.len().saturating_add(missing))?;
    let is_number = match value {
        Value::Int(_) | Value::Int64(_) | Value::Float(_) => true,
        Value::Native(_) => matches!(verb, 'd' | 'b' | 'o' | 'O'),
        _ => false,
    };
    let numeric = is_number && !matches!(verb, 'c' | 'q' | 'T' | 'U') && !text.starts_with("%!");
    if flags.minus {
        out.push_str(text);
        out.extend(std::iter::repeat_n(' ', missing));
    } else if flags.zero
        && (numeric || matches!(value, Value::String(_)))
        && !(flags.precision.is_some() && matches!(value, Value::Int(_) | Value::Int64(_)))
    {
        let (sign, digits) = text.split_at(usize::from(numeric && text.starts_with(['-', '+', ' '])));
        out.push_str(sign);
        out.extend(std::iter::repeat_n('0', missing));
        out.push_str(digits);
    } else {
        out.extend(std::iter::repeat_n(' ', missing));
        out.push_str(text);
    }
    Ok(())
}
