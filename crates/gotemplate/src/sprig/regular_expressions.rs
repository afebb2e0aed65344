//! Regular expressions, in Go's syntax.

use crate::arguments::{Function, FunctionBody, FunctionResult, bounded, call, int, text};
use crate::pattern::{GroupSpans, PatternSearch};
use crate::value::Value;

const fn search(
    name: &'static str,
    arguments: usize,
    body: fn(&[Value], Result<&mut PatternSearch<'_>, String>) -> FunctionResult,
) -> Function {
    Function { name, least: arguments, most: arguments, body: FunctionBody::Search(body) }
}

pub(super) static FUNCTIONS: &[Function] = &[
    // As in sprig, an expression that is none matches nothing.
    search("regexMatch", 2, |given, search| search.map_or_else(|_| Ok(false.into()), |search| matches(given, search))),
    search("mustRegexMatch", 2, |given, search| matches(given, search?)),
    search("regexFind", 2, find),
    search("mustRegexFind", 2, find),
    search("regexFindAll", 3, find_all),
    search("mustRegexFindAll", 3, find_all),
    search("regexReplaceAll", 3, replace_all),
    search("mustRegexReplaceAll", 3, replace_all),
    search("regexReplaceAllLiteral", 3, replace_all_by_text),
    search("mustRegexReplaceAllLiteral", 3, replace_all_by_text),
    search("regexSplit", 3, split),
    search("mustRegexSplit", 3, split),
    call("regexQuoteMeta", 1, 1, |given| {
        let text = text(given, 0)?;
        bounded(text.len().saturating_mul(2))?;
        let quoted = text.chars().flat_map(|character| {
            let escape = r"\.+*?()|[]{}^$".contains(character).then_some('\\');
            escape.into_iter().chain([character])
        });
        Ok(quoted.collect::<String>().into())
    }),
];

fn matches(given: &[Value], search: &mut PatternSearch<'_>) -> FunctionResult {
    Ok(search.is_match(text(given, 1)?)?.into())
}

fn find(given: &[Value], search: Result<&mut PatternSearch<'_>, String>) -> FunctionResult {
    let text = text(given, 1)?;
    let found = search?.find(text, 0)?;
    Ok(found.and_then(|(start, end)| text.get(start..end)).unwrap_or_default().into())
}

/// A number of matches; any below zero are all.
fn count(given: &[Value], at: usize) -> Result<usize, String> {
    Ok(usize::try_from(int(given, at)?).unwrap_or(usize::MAX))
}

fn find_all(given: &[Value], search: Result<&mut PatternSearch<'_>, String>) -> FunctionResult {
    let text = text(given, 1)?;
    let found = search?.find_all(text, count(given, 2)?)?;
    Ok(Value::list(found.into_iter().map(|(start, end)| Value::string(text.get(start..end).unwrap_or_default()))))
}

fn split(given: &[Value], search: Result<&mut PatternSearch<'_>, String>) -> FunctionResult {
    let (text, most) = (text(given, 1)?, count(given, 2)?);
    let pattern_is_empty = self::text(given, 0)?.is_empty();
    if most == 0 {
        return Ok(Value::list([]));
    }
    if text.is_empty() && !pattern_is_empty {
        return Ok(Value::list(["".into()]));
    }
    let mut parts = Vec::new();
    let (mut start, mut end) = (0, 0);
    for (from, to) in search?.find_all(text, most)? {
        if parts.len() + 1 >= most {
            break;
        }
        end = from;
        // Nothing stands before an empty match at the start.
        if to != 0 {
            parts.push(Value::string(text.get(start..end).unwrap_or_default()));
        }
        start = to;
    }
    if end != text.len() {
        parts.push(Value::string(text.get(start..).unwrap_or_default()));
    }
    Ok(Value::list(parts))
}

fn replace_all_by_text(given: &[Value], search: Result<&mut PatternSearch<'_>, String>) -> FunctionResult {
    let replacement = text(given, 2)?;
    replaced(text(given, 1)?, search?, |_, _, out| {
        out.push_str(replacement);
        Ok(())
    })
}

fn replace_all(given: &[Value], search: Result<&mut PatternSearch<'_>, String>) -> FunctionResult {
    let (text, replacement) = (text(given, 1)?, text(given, 2)?);
    let search = search?;
    let parts = parts(replacement, search);
    if let [ReplacementPart::Text(only)] = parts.as_slice() {
        return replaced(text, search, |_, _, out| {
            out.push_str(only);
            Ok(())
        });
    }
    replaced(text, search, |search, span, out| {
        let groups: GroupSpans = search.groups(text, span)?;
        for part in &parts {
            let written = match part {
                ReplacementPart::Text(text) => text,
                ReplacementPart::Group(group) => {
                    let span = groups.get(*group).copied().flatten();
                    span.and_then(|(start, end)| text.get(start..end)).unwrap_or_default()
                }
            };
            out.push_str(written);
        }
        Ok(())
    })
}

fn replaced(
    text: &str,
    search: &mut PatternSearch<'_>,
    mut write: impl FnMut(&mut PatternSearch<'_>, (usize, usize), &mut String) -> Result<(), String>,
) -> FunctionResult {
    let mut out = String::new();
    let mut at = 0;
    for (start, end) in search.find_all(text, usize::MAX)? {
        out.push_str(text.get(at..start).unwrap_or_default());
        write(search, (start, end), &mut out)?;
        bounded(out.len())?;
        at = end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    bounded(out.len())?;
    Ok(out.into())
}

/// A part of the text that takes the place of a match.
enum ReplacementPart<'t> {
    Text(&'t str),
    Group(usize),
}

/// Reads `$1`, `$name`, `${name}` and `$$`. A group that does not exist is empty; a dollar sign before anything else stays.
fn parts<'t>(replacement: &'t str, search: &PatternSearch<'_>) -> Vec<ReplacementPart<'t>> {
    let mut parts = Vec::new();
    let mut rest = replacement;
    while let Some((before, after)) = rest.split_once('$') {
        parts.push(ReplacementPart::Text(before));
        if let Some(after) = after.strip_prefix('$') {
            parts.push(ReplacementPart::Text("$"));
            rest = after;
            continue;
        }
        match name(after) {
            Some((name, after)) => {
                parts.extend(group(name, search).map(ReplacementPart::Group));
                rest = after;
            }
            None => {
                parts.push(ReplacementPart::Text("$"));
                rest = after;
            }
        }
    }
    if !rest.is_empty() || parts.is_empty() {
        parts.push(ReplacementPart::Text(rest));
    }
    parts
}

/// The name of a group after a dollar sign, and the text after it.
fn name(text: &str) -> Option<(&str, &str)> {
    let (is_braced, text) = text.strip_prefix('{').map_or((false, text), |text| (true, text));
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end).filter(|(name, _)| !name.is_empty())?;
    if is_braced { Some((name, rest.strip_prefix('}')?)) } else { Some((name, rest)) }
}

/// The number of a group. A number may not begin with 0.
fn group(name: &str, search: &PatternSearch<'_>) -> Option<usize> {
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
    if is_number { name.parse().ok() } else { search.group_named(name) }
}
