//! The gateway's answer to a set of changes: made, or refused with the problems of each document.

use super::{CommandFailure, accepted};
use serde_json::Value;

/// The answer to a change, or why it was not made.
pub(super) fn made((status, answer): (u16, Value)) -> Result<Value, CommandFailure> {
    let message = || answer.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
    match (status, answer.get("problems").and_then(Value::as_array)) {
        (412, _) => Err(CommandFailure::Conflict(message())),
        (400, Some(problems)) => {
            let lines = problems.iter().map(located).chain([message()]);
            Err(CommandFailure::Refused(lines.collect::<Vec<_>>().join("\n")))
        }
        _ => accepted((status, answer)),
    }
}

/// A problem with its place.
pub(super) fn located(problem: &Value) -> String {
    let text = |name: &str| problem.get(name).and_then(Value::as_str).unwrap_or_default();
    let places = [text("source"), text("path")].into_iter().filter(|place| !place.is_empty() && *place != "$");
    places.chain([text("message")]).collect::<Vec<_>>().join(": ")
}
