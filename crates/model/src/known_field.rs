//! Fields that Tyk has and Tollgate does not act on, as tables beside the documents they belong to. A field is never
//! dropped in silence: it is reported when it is set, unless another report covers it already.

use serde_json::Value;

use crate::json_path::JsonPath;
use crate::problem::Findings;

/// When a field of such a table is reported.
#[derive(Clone, Copy)]
pub(crate) enum Report {
    /// When it has any other value than the zero of its type.
    Set,
    /// When this member of it has.
    Member(&'static str),
    /// Never: it has no effect of its own, or what it belongs to is reported.
    Never,
}

/// Path (dotted, `*` for any key, list positions left out) and when to report.
pub(crate) type KnownField = (&'static str, Report);

/// Judges the fields that decoding did not know.
pub(crate) fn judge(unknown: &[(JsonPath, Value)], table: &[KnownField], findings: &mut Findings) {
    for (path, value) in unknown {
        let Some((_, report)) = table.iter().find(|(known, _)| path.matches(known)) else {
            findings.ignored(path, "unknown field, ignored");
            continue;
        };
        let is_set = match report {
            Report::Set => is_set(value),
            Report::Member(name) => value.get(name).is_some_and(is_set),
            Report::Never => false,
        };
        if is_set {
            findings.ignored(path, "not supported yet, ignored");
        }
    }
}

/// Whether a value says anything: true, a number other than zero, a text, or something inside that does.
pub(crate) fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        // A list of anything is something, even when its items are zero.
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => members.values().any(is_set),
    }
}

#[cfg(test)]
mod tests;
