//! Tyk's fields that have no effect in Tollgate, as tables next to the documents. No field is ignored silently: it is reported if
//! it is set, unless another report covers it.

use serde_json::Value;

use crate::json_path::JsonPath;
use crate::problem::Findings;

/// When to report a field of such a table.
#[derive(Clone, Copy)]
pub(crate) enum ReportWhen {
    /// If its value is not the zero of its type.
    Set,
    /// If this member of it is not zero.
    Member(&'static str),
    /// Never: it has no effect by itself, or its parent is reported.
    Never,
    /// Always, as an error: what its author wants instead may protect somebody.
    Refuse,
}

/// Path (dotted, `*` for any key, `**` at its end for all below, without list positions) and when to report.
pub(crate) type KnownField = (&'static str, ReportWhen);

/// Reports the fields that decoding did not know.
pub(crate) fn judge(unknown: &[(JsonPath, Value)], table: &[KnownField], findings: &mut Findings) {
    for (path, value) in unknown {
        let Some((_, report)) = table.iter().find(|(known, _)| path.matches(known)) else {
            findings.ignored(path, "unknown field");
            continue;
        };
        let is_set = match report {
            ReportWhen::Set => is_set(value),
            ReportWhen::Member(name) => value.get(name).is_some_and(is_set),
            ReportWhen::Never => false,
            ReportWhen::Refuse => {
                findings.error(path, "unknown field");
                false
            }
        };
        if is_set {
            findings.ignored(path, "not supported yet");
        }
    }
}

/// Whether a value is not zero: true, a nonzero number, a text, or a container with such a value.
pub(crate) fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        // A non-empty list counts, even if its items are zero.
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => members.values().any(is_set),
    }
}

#[cfg(test)]
mod tests;
