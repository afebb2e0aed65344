//! What could not be read is never carried over: each value of a whole file of each format is replaced by something that it cannot be.

use super::{assert_valid, write_and_import};
use crate::{Imported, MovedOutcome};

mod files;
mod programs;

/// No word, number, time, address or expression of any format.
const GARBAGE: &str = "!%G";

/// Keys whose values say nothing but what people call a thing: any text is as good as another.
const NAMES: [&str; 13] = [
    "input_query_strings",
    "name",
    "id",
    "desc",
    "tags",
    "$schema",
    "@comment",
    "_comment",
    "instance_name",
    "custom_id",
    "username",
    "realm",
    "_format_version",
];

/// Whether the report says that nothing changes.
fn is_as_before(outcome: &MovedOutcome) -> bool {
    matches!(outcome, MovedOutcome::Carried | MovedOutcome::BuiltIn(_))
}

/// A value that stands in one line.
struct Leaf {
    /// From 0.
    line: usize,
    key: String,
    before: String,
    after: String,
    /// A comment says that every text is right.
    is_any_text: bool,
}

/// The values of a file in which each has a line of its own.
fn leaves(text: &str) -> Vec<Leaf> {
    let mut found = Vec::new();
    let mut key_before = String::new();
    for (line, whole) in text.lines().enumerate() {
        let bare = whole.trim_start().trim_start_matches("- ");
        let (bare, comment) = bare.split_once(" # ").unwrap_or((bare, ""));
        let start = whole.find(bare).unwrap();
        let comma = if bare.ends_with(',') { "," } else { "" };
        let (key, value) = match bare.split_once(": ").or_else(|| bare.split_once(" = ")) {
            Some((key, value)) => (key.trim_matches(['"', ' ']).to_owned(), value),
            None if bare.ends_with(':') => {
                key_before = bare.trim_end_matches(':').trim_matches('"').to_owned();
                continue;
            }
            None => (key_before.clone(), bare),
        };
        if matches!(value.trim_end_matches(','), "" | "{" | "[" | "}" | "]") || value.starts_with("[[") {
            key_before = key;
            continue;
        }
        let before = whole[..start + bare.len() - value.len()].to_owned();
        found.push(Leaf { line, key, before, after: comma.to_owned(), is_any_text: !comment.is_empty() });
    }
    found
}

/// The text with another value.
fn with(text: &str, leaf: &Leaf, value: &str) -> String {
    let lines = text.lines().enumerate().map(|(line, whole)| match line == leaf.line {
        true => format!("{}{value}{}", leaf.before, leaf.after),
        false => whole.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The item is not carried over, or what was written came with it.
fn assert_named(name: &str, text: &str, leaf: &Leaf, shows_garbage: bool) {
    let line = leaf.line + 1;
    let shown = || text.lines().nth(leaf.line).unwrap().to_owned();
    let moved: Imported = match write_and_import(name, text) {
        Ok(moved) => moved,
        Err(why) => return assert!(why.contains(&format!(":{line}: ")), "{name}:{line} {}: {why}", shown()),
    };
    let valid = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| assert_valid(&moved)));
    if let Err(why) = valid {
        let why = why.downcast_ref::<String>().map(|why| why.lines().next().unwrap_or_default().to_owned()).unwrap_or_default();
        panic!("{name}:{line} {}: {why}", shown());
    }
    let written: String = moved.files.iter().map(|file| file.text.as_str()).collect();
    let sessions = format!("{:?}", moved.consumers);
    let is_kept = shows_garbage && (written.contains(GARBAGE) || sessions.contains(GARBAGE));
    let items: Vec<_> = moved.report.items().into_iter().filter(|item| item.line == line).collect();
    let is_carried = |item: &&&crate::ReportedItem| is_as_before(&item.outcome) && item.name.ends_with(&leaf.key);
    if !is_kept {
        assert!(items.iter().find(is_carried).is_none(), "{name}:{line} {}: {items:?}", shown());
        let is_told = items.iter().any(|item| !is_as_before(&item.outcome));
        assert!(is_told, "{name}:{line} {}: nothing is said: {items:?}\n{}", shown(), moved.report.to_text());
    }
}

/// Each value, as a text that is none of those that it can have, as a list and as an object.
fn check(name: &str, text: &str) {
    let moved = write_and_import(name, text).unwrap();
    assert_valid(&moved);
    let wrong: Vec<_> = moved.report.items().into_iter().filter(|item| !is_as_before(&item.outcome)).collect();
    let all = leaves(text);
    assert!(all.len() > 20, "{name} has {} values", all.len());
    let is_toml = name.ends_with(".toml");
    let mut faults = Vec::new();
    for leaf in &all {
        let quoted = format!("\"{GARBAGE}\"");
        let object =
            if is_toml { format!("{{ \"{GARBAGE}\" = \"{GARBAGE}\" }}") } else { format!("{{\"{GARBAGE}\": \"{GARBAGE}\"}}") };
        let mut values = vec![format!("[{object}]"), object];
        if !NAMES.contains(&leaf.key.as_str()) && !leaf.is_any_text {
            values.push(quoted);
        }
        for (index, value) in values.iter().enumerate() {
            let text = with(text, leaf, value);
            let named = std::panic::catch_unwind(|| assert_named(name, &text, leaf, index == 2));
            if let Err(why) = named {
                faults.push(why.downcast_ref::<String>().cloned().unwrap_or_default());
            }
        }
    }
    assert!(faults.is_empty(), "{} of {} ({wrong:?}):\n{}", faults.len(), all.len(), faults.join("\n"));
}
