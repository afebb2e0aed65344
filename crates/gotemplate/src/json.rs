//! JSON as Go's `encoding/json` writes it.

use crate::float;
use crate::value::Value;

/// Which characters of a text are escaped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// Also `<`, `>` and `&`.
    Html,
    Plain,
}

/// On one line.
pub(crate) fn write(value: &Value, escape: Escape, out: &mut String) {
    value_into(value, escape, None, 0, out);
}

/// On several lines, each level indented by two spaces.
pub(crate) fn write_pretty(value: &Value, out: &mut String) {
    value_into(value, Escape::Html, Some("  "), 0, out);
}

fn value_into(value: &Value, escape: Escape, indent: Option<&str>, level: usize, out: &mut String) {
    match value {
        Value::Missing | Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Int(number) | Value::Int64(number) => out.push_str(&number.to_string()),
        Value::Native(native) => match native.0.json_text() {
            Some(text) => string_into(&text, escape, out),
            None => out.push_str(&native.0.integer().unwrap_or_default().to_string()),
        },
        Value::Float(number) => out.push_str(&number_text(*number)),
        Value::String(text) => string_into(text, escape, out),
        Value::List(items) => {
            let write = |item: &Value, out: &mut String| value_into(item, escape, indent, level + 1, out);
            group_into(('[', ']'), items.iter(), indent, level, out, write);
        }
        Value::Map(map) => {
            let write = |(key, item): &(std::rc::Rc<str>, Value), out: &mut String| {
                string_into(key, escape, out);
                out.push_str(if indent.is_some() { ": " } else { ":" });
                value_into(item, escape, indent, level + 1, out);
            };
            group_into(('{', '}'), map.entries().iter(), indent, level, out, write);
        }
        Value::Struct(structure) => {
            let write = |(key, item): &(&'static str, Value), out: &mut String| {
                string_into(key, escape, out);
                out.push_str(if indent.is_some() { ": " } else { ":" });
                value_into(item, escape, indent, level + 1, out);
            };
            group_into(('{', '}'), structure.fields().iter(), indent, level, out, write);
        }
    }
}

fn group_into<T>(
    (open, close): (char, char),
    items: impl ExactSizeIterator<Item = T>,
    indent: Option<&str>,
    level: usize,
    out: &mut String,
    write: impl Fn(T, &mut String),
) {
    let new_line = |level: usize, out: &mut String| {
        if let Some(indent) = indent {
            out.push('\n');
            (0..level).for_each(|_| out.push_str(indent));
        }
    };
    out.push(open);
    let is_empty = items.len() == 0;
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(',');
        }
        new_line(level + 1, out);
        write(item, out);
    }
    if !is_empty {
        new_line(level, out);
    }
    out.push(close);
}

/// As in ECMAScript: with an exponent below 1e-6 and from 1e21. The exponent has no leading zero.
fn number_text(number: f64) -> String {
    if number == 0.0 {
        return if number.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    let size = number.abs();
    if (1e-6..1e21).contains(&size) {
        return format!("{number}");
    }
    let text = float::exponential(number, None, 'e');
    match text.split_once("e-0") {
        Some((mantissa, digit)) => format!("{mantissa}e-{digit}"),
        None => text,
    }
}

fn string_into(text: &str, escape: Escape, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' if escape == Escape::Html => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ if character < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
}
