//! Checks all `$ref` of a document: they lead to a place of the document, and not in a circle. A schema that contains itself is no circle,
//! because there is something between the reference and its target.

use std::collections::HashSet;

use serde_json::Value;
use tollgate_model::{JsonPath, Level, Problem};

use tollgate_schema::DEPTH_MAX;

use crate::places::at_pointer;

/// Maximum problems about references: a document that refers to another file does so everywhere.
const PROBLEMS_MAX: usize = 50;

/// Steps of a path that a problem names if the document is nested too deep.
const STEPS_MAX: usize = 20;

/// Adds the problems of all references.
pub(super) fn check(root: &Value, problems: &mut Vec<Problem>) {
    let mut walk = Walk { root, problems: Vec::new() };
    walk.value(root, &JsonPath::root(), 0);
    let more = walk.problems.len().saturating_sub(PROBLEMS_MAX);
    problems.extend(walk.problems.into_iter().take(PROBLEMS_MAX));
    if more > 0 {
        problems.push(Problem::new(Level::Error, "", format!("and {more} more references that lead nowhere")));
    }
}

struct Walk<'d> {
    root: &'d Value,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value, at: &JsonPath, depth: usize) {
        if depth > DEPTH_MAX {
            // Told once: all of its members are too deep.
            let problem = Problem::new(
                Level::Error,
                at.start(STEPS_MAX).to_string(),
                format!("nested deeper than {DEPTH_MAX} levels below this place"),
            );
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
            return;
        }
        match value {
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(index, item)| self.value(item, &at.index(index), depth + 1));
            }
            Value::Object(members) => {
                if let Some(reference) = members.get("$ref").and_then(Value::as_str)
                    && let Err(message) = follow(self.root, reference)
                {
                    self.problems.push(Problem::new(Level::Error, at.key("$ref").to_string(), message));
                }
                // Data, not parts of the description; `$ref` has no meaning there.
                let is_data = |name: &str| matches!(name, "example" | "default" | "enum" | "const") || name.starts_with("x-");
                for (name, member) in members {
                    let below_names = at.ends_with_any(&["properties", "patternProperties", "schemas", "$defs", "mapping"]);
                    let is_examples = name == "examples" && !below_names;
                    if !below_names && is_data(name) {
                        continue;
                    }
                    match member {
                        // Examples of a media type are objects that may be references; their values are data.
                        Value::Object(examples) if is_examples => {
                            for (example, content) in examples.iter().filter(|(_, content)| content.get("$ref").is_some()) {
                                let at = at.key(name).key(example);
                                let reference = content.get("$ref").and_then(Value::as_str).unwrap_or_default();
                                if let Err(message) = follow(self.root, reference) {
                                    self.problems.push(Problem::new(Level::Error, at.key("$ref").to_string(), message));
                                }
                            }
                        }
                        _ if is_examples => {}
                        _ => self.value(member, &at.key(name), depth + 1),
                    }
                }
            }
            _ => {}
        }
    }
}

/// Follows a reference to a value that is none.
fn follow(root: &Value, reference: &str) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut reference = reference;
    loop {
        if !reference.starts_with('#') {
            return Err(format!("{reference} is outside this document; such references are not followed"));
        }
        // Names of schemas of 3.1 are found when the schema is compiled.
        if !reference.starts_with("#/") && reference != "#" {
            return Ok(());
        }
        if !seen.insert(reference) {
            return Err(format!("{reference} leads to itself"));
        }
        let Some((value, _)) = at_pointer(root, reference) else { return Err(format!("{reference} is not in this document")) };
        match value.get("$ref").and_then(Value::as_str) {
            Some(next) => reference = next,
            None => return Ok(()),
        }
    }
}
