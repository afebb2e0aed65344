//! Regular expressions, in linear time: look-around and back-references are errors. Patterns that a filter writes out are checked when it is
//! compiled.

use super::{of_two, text_of};
use crate::budget::spend;
use crate::run::JqRun;
use crate::value::{Failure, JqValue};
use jaq_core::ValR;
use jaq_core::native::Fun;
use regex::{Captures, Regex, RegexBuilder};
use std::cell::RefCell;
use std::collections::HashMap;

/// Bytes of one compiled expression, as for other patterns of definitions.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Expressions that each thread keeps compiled. All go when one more comes: filters have few patterns, unless these come from bodies.
const KEPT_MAX: usize = 64;

/// What compiling an expression costs beside its length.
const COMPILING: usize = 16 << 10;

thread_local! {
    static KEPT: RefCell<HashMap<(String, String), (Regex, bool)>> = RefCell::new(HashMap::new());
}

pub(super) fn all() -> Vec<Fun<JqRun>> {
    of_two! {
        "_test" => test;
        "_match" => matches;
        "_pieces" => pieces;
    }
}

/// Whether a pattern can be compiled.
pub(crate) fn check(pattern: &str) -> Result<(), String> {
    built(pattern, "").map(drop)
}

fn built(pattern: &str, flags: &str) -> Result<(Regex, bool), String> {
    let mut builder = RegexBuilder::new(pattern);
    builder.size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX);
    let mut is_global = false;
    for flag in flags.chars() {
        match flag {
            'g' => is_global = true,
            'i' => drop(builder.case_insensitive(true)),
            'x' => drop(builder.ignore_whitespace(true)),
            // Without effect on what matches here: single line mode, empty matches, longest match.
            's' | 'n' | 'l' => {}
            'p' => drop(builder.dot_matches_new_line(true)),
            _ => return Err(format!("{flags} is not a valid modifier string")),
        }
    }
    let built = builder.build().map_err(|error| format!("{pattern} (at offset 0) is not a valid regex: {}", brief(&error)))?;
    Ok((built, is_global))
}

/// The last line says what is wrong.
fn brief(error: &regex::Error) -> String {
    let text = error.to_string();
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// Calls a function with an expression, and whether all matches are wanted.
fn with_pattern<T>(
    value: &JqValue,
    pattern: &JqValue,
    flags: &JqValue,
    call: impl FnOnce(&str, &Regex, bool) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let text = value.as_str().ok_or_else(|| not_text(value, "matched"))?;
    let written = pattern.as_str().ok_or_else(|| not_text(pattern, "matched"))?;
    let flags = if *flags == JqValue::Null { "" } else { flags.as_str().ok_or_else(|| not_text(flags, "used as flags"))? };
    spend(4 * text.len())?;
    let key = (written.to_owned(), flags.to_owned());
    let kept = KEPT.with_borrow(|kept| kept.get(&key).cloned());
    let (expression, is_global) = match kept {
        Some(kept) => kept,
        None => {
            spend(COMPILING + 16 * written.len())?;
            let built = built(written, flags).map_err(Failure::str)?;
            KEPT.with_borrow_mut(|kept| {
                if kept.len() >= KEPT_MAX {
                    kept.clear();
                }
                kept.insert(key, built.clone());
            });
            built
        }
    };
    call(text, &expression, is_global)
}

fn not_text(value: &JqValue, what: &str) -> Failure {
    Failure::str(format_args!("{} cannot be {what}, as it is not a string", crate::arithmetic::described(value)))
}

fn test(value: JqValue, pattern: JqValue, flags: JqValue) -> ValR<JqValue> {
    with_pattern(&value, &pattern, &flags, |text, expression, _| Ok(expression.is_match(text).into()))
}

/// The first match, or all. Offsets and lengths are in characters.
fn matches(value: JqValue, pattern: JqValue, flags: JqValue) -> ValR<JqValue> {
    with_pattern(&value, &pattern, &flags, |text, expression, is_global| {
        let mut found = Vec::new();
        let mut passed = (0, 0);
        for captures in expression.captures_iter(text).take(if is_global { usize::MAX } else { 1 }) {
            let start = captures.get(0).map_or(0, |whole| whole.start());
            passed = (start, passed.1 + characters(text, passed.0, start));
            found.push(match_of(text, expression, &captures, passed)?);
        }
        Ok(JqValue::array(found))
    })
}

fn characters(text: &str, from: usize, to: usize) -> usize {
    text.get(from..to).map_or(0, |part| part.chars().count())
}

/// What `match` has for one match that starts at so many bytes and characters.
fn match_of(text: &str, expression: &Regex, captures: &Captures<'_>, start: (usize, usize)) -> ValR<JqValue> {
    let part = |index: usize| -> Result<Vec<(&'static str, JqValue)>, Failure> {
        let Some(part) = captures.get(index) else {
            return Ok(vec![("offset", JqValue::Int(-1)), ("length", JqValue::Int(0)), ("string", JqValue::Null)]);
        };
        let offset = start.1 + characters(text, start.0, part.start());
        let length = JqValue::from(part.as_str().chars().count());
        Ok(vec![("offset", offset.into()), ("length", length), ("string", JqValue::paid(part.as_str())?)])
    };
    let mut parts = Vec::new();
    for (index, name) in expression.capture_names().enumerate().skip(1) {
        let mut members = part(index)?;
        members.push(("name", name.map_or(JqValue::Null, JqValue::string)));
        parts.push(JqValue::object(members));
    }
    let mut whole = part(0)?;
    whole.push(("captures", JqValue::array(parts)));
    Ok(JqValue::object(whole))
}

/// Texts between matches, and for each match an object of its named captures.
fn pieces(value: JqValue, pattern: JqValue, flags: JqValue) -> ValR<JqValue> {
    text_of(&value, "sub")?;
    with_pattern(&value, &pattern, &flags, |text, expression, is_global| {
        let mut pieces = Vec::new();
        let mut end = 0;
        for captures in expression.captures_iter(text).take(if is_global { usize::MAX } else { 1 }) {
            let Some(whole) = captures.get(0) else { continue };
            pieces.push(JqValue::paid(text.get(end..whole.start()).unwrap_or_default())?);
            end = whole.end();
            let named = expression.capture_names().enumerate().filter_map(|(index, name)| Some((name?, index)));
            let value = |index: usize| captures.get(index).map_or(Ok(JqValue::Null), |part| JqValue::paid(part.as_str()));
            let members = named.map(|(name, index)| Ok((name, value(index)?))).collect::<Result<Vec<_>, Failure>>()?;
            pieces.push(JqValue::object(members));
        }
        pieces.push(JqValue::paid(text.get(end..).unwrap_or_default())?);
        Ok(JqValue::array(pieces))
    })
}
