//! Conditions of objects: what the controller says of them, laid over what is written.

use serde_json::{Map, Value, json};

/// The types that the controller writes. Conditions of other types are left as they are.
const OWN_TYPES: [&str; 10] = [
    "Accepted",
    "Conflicted",
    "InsecureFrontendValidationMode",
    "PartiallyInvalid",
    "Programmed",
    "ResolvedRefs",
    "SupportedVersion",
    AFFECTED_BY[0],
    AFFECTED_BY[1],
    AFFECTED_BY[2],
];
/// Said of routes: which policies of each of our kinds apply to rules of them.
pub(crate) const AFFECTED_BY: [&str; 3] =
    ["tollgate.dev/AuthenticationPolicyAffected", "tollgate.dev/RateLimitPolicyAffected", "tollgate.dev/TrafficPolicyAffected"];
/// The API server takes no longer messages.
const MESSAGE_BYTES_MAX: usize = 1024;

/// One statement about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    pub kind: &'static str,
    pub holds: bool,
    pub reason: &'static str,
    pub message: String,
}

/// Why something is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub reason: &'static str,
    pub message: String,
}

impl Fault {
    pub(crate) fn new(reason: &'static str, message: impl Into<String>) -> Self {
        Fault { reason, message: message.into() }
    }
}

impl Condition {
    pub(crate) fn is(kind: &'static str, reason: &'static str) -> Self {
        Condition { kind, holds: true, reason, message: String::new() }
    }

    pub(crate) fn is_not(kind: &'static str, fault: &Fault) -> Self {
        Condition { kind, holds: false, reason: fault.reason, message: fault.message.clone() }
    }

    /// Holds with a reason of its own, unless there is a fault.
    pub(crate) fn unless(kind: &'static str, reason: &'static str, fault: Option<&Fault>) -> Self {
        fault.map_or_else(|| Condition::is(kind, reason), |fault| Condition::is_not(kind, fault))
    }

    pub(crate) fn with_message(self, message: impl Into<String>) -> Self {
        Condition { message: message.into(), ..self }
    }
}

/// The list of conditions as it is to be written: those of others stay where they are, and a condition whose state does not change keeps the time
/// of its last change.
pub(crate) fn merged(written: Option<&Value>, own: &[Condition], generation: i64, now: &str) -> Value {
    let is_of_type = |condition: &Value, kind: &str| condition.get("type").and_then(Value::as_str) == Some(kind);
    let written = written.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut merged: Vec<Value> = Vec::with_capacity(own.len());
    for old in written {
        let is_own = OWN_TYPES.iter().any(|kind| is_of_type(old, kind));
        match own.iter().find(|condition| is_of_type(old, condition.kind)) {
            Some(condition) => merged.push(written_condition(condition, Some(old), generation, now)),
            None if is_own => {}
            None => merged.push(old.clone()),
        }
    }
    let is_new = |condition: &&Condition| !written.iter().any(|old| is_of_type(old, condition.kind));
    merged.extend(own.iter().filter(is_new).map(|condition| written_condition(condition, None, generation, now)));
    Value::Array(merged)
}

fn written_condition(condition: &Condition, old: Option<&Value>, generation: i64, now: &str) -> Value {
    let status = if condition.holds { "True" } else { "False" };
    let of_old = |name: &str| old.and_then(|old| old.get(name)).and_then(Value::as_str);
    let since = of_old("lastTransitionTime").filter(|_| of_old("status") == Some(status)).unwrap_or(now);
    let mut written = Map::new();
    for (name, value) in [
        ("type", json!(condition.kind)),
        ("status", json!(status)),
        ("reason", json!(condition.reason)),
        ("message", json!(shortened(&condition.message))),
        ("observedGeneration", json!(generation)),
        ("lastTransitionTime", json!(since)),
    ] {
        written.insert(name.to_owned(), value);
    }
    Value::Object(written)
}

fn shortened(message: &str) -> &str {
    message.get(..message.floor_char_boundary(MESSAGE_BYTES_MAX)).unwrap_or_default()
}
