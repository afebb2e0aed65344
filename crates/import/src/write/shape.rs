//! The shape of a body as a filter in jq. It fails where the other gateway fails: for bodies that are no object, or no list.

use super::put;
use crate::plan::{BodyEdit, BodyShape};
use serde_json::{Map, Value};

/// Keeps what a tree of names leads to. What is `true` in the tree stays as it is.
const KEEP: &str = "def keep($tree): with_entries(. as $member | $tree[$member.key] as $below | if $below == true then . \
                    elif ($below | type) == \"object\" and ($member.value | type) == \"object\" \
                    then (.value |= keep($below)) | select(.value != {}) else empty end);";

pub(super) fn filter(shape: &BodyShape) -> String {
    let mut steps = vec![".body".to_owned(), kind(shape).to_owned()];
    if !shape.target.is_empty() {
        steps.push(format!("(try .{} catch null)", path(&shape.target)));
        steps.push("if type == \"object\" then . else {} end".to_owned());
    }
    if !shape.allowed.is_empty() {
        let mut tree = Value::Object(Map::new());
        shape.allowed.iter().for_each(|name| put(&mut tree, name, Value::Bool(true)));
        steps.push(format!("{KEEP} keep({tree})"));
    }
    // With members to keep, those to remove do not count.
    for name in shape.denied.iter().filter(|_| shape.allowed.is_empty()) {
        steps.push(removed(&parts(name)));
    }
    for (from, to) in &shape.renamed {
        let (from, to) = (Value::from(from.as_str()), Value::from(to.split('.').next().unwrap_or_default()));
        steps.push(format!("if has({from}) then .[{to}] = .[{from}] | del(.[{from}]) else . end"));
    }
    steps.extend(shape.edits.iter().map(edit));
    if !shape.group.is_empty() {
        steps.push(format!("{{{}: .}}", Value::from(shape.group.as_str())));
    }
    if !shape.added.is_empty() {
        let added: Map<String, Value> = shape.added.iter().cloned().collect();
        steps.push(format!(". + {}", Value::Object(added)));
    }
    if shape.is_bare {
        steps.push(".collection // []".to_owned());
    }
    format!("{{body: ({})}}", steps.join(" | "))
}

/// What becomes of a body before anything else.
fn kind(shape: &BodyShape) -> &'static str {
    match (shape.is_any, shape.is_list) {
        (true, _) => "if type == \"object\" then . elif type == \"array\" then {collection: .} else {content: .} end",
        (false, true) => "if type == \"array\" then {collection: .} else error(\"is no list\") end",
        (false, false) => "if type == \"object\" then . else error(\"is no object\") end",
    }
}

/// A change of members. What is not there, or is of another kind, stays.
fn edit(edit: &BodyEdit) -> String {
    match edit {
        BodyEdit::Remove(name) => removed(&parts(name)),
        BodyEdit::Move { from, to } => {
            let (from, to) = (parts(from), parts(to));
            let Some((last, parents)) = from.split_last() else { return ".".to_owned() };
            let (place, last) = (each(parents), Value::from(*last));
            match to.get(parents.len()..).filter(|rest| !rest.is_empty()) {
                Some(rest) => format!(
                    "({place} | select(type == \"object\" and has({last}))) |= (.[{last}] as $moved | del(.[{last}]) | setpath({}; $moved))",
                    Value::from(rest)
                ),
                None => format!(
                    "[{place} | objects | select(has({last})) | .[{last}]] as $moved | del({place} | objects | .[{last}]) | \
                     reduce $moved[] as $one (.; setpath({}; $one))",
                    Value::from(to)
                ),
            }
        }
        BodyEdit::Append { from, to } => {
            let (from, to) = (Value::from(parts(from)), Value::from(parts(to)));
            format!(
                "[try getpath({to}) catch null, try getpath({from}) catch null] as $lists | if all($lists[]; type == \"array\") \
                 then setpath({to}; $lists | add) | delpaths([{from}]) else . end"
            )
        }
    }
}

fn removed(parts: &[&str]) -> String {
    match parts.split_last() {
        Some((last, parents)) if *last != "*" => format!("del({} | objects | .[{}])", each(parents), Value::from(*last)),
        _ => format!("del({})", each(parts)),
    }
}

fn parts(name: &str) -> Vec<&str> {
    name.split('.').collect()
}

/// All places that a path leads to.
fn each(parts: &[&str]) -> String {
    let steps = parts.iter().map(|part| if *part == "*" { "[]?".to_owned() } else { format!("[{}]?", Value::from(*part)) });
    format!(".{}", steps.collect::<String>())
}

fn path(name: &str) -> String {
    name.split('.').map(|part| format!("[{}]", Value::from(part))).collect()
}
