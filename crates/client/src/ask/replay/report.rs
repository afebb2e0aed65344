//! The report of a replay as text.

use serde_json::Value;
use tollgate_model::calendar;

/// Groups that are shown; the others are summed up.
const GROUPS_SHOWN: usize = 50;
/// Examples of a group that are shown.
const EXAMPLES_SHOWN: usize = 3;

/// `has_other`: the configuration in service was compared with another one, not only with the records.
pub(in crate::ask) fn replay_text(answer: &Value, has_other: bool) -> String {
    let number = |name: &str| answer.get(name).and_then(Value::as_u64).unwrap_or_default();
    let mut lines = Vec::new();
    if has_other {
        groups(answer, "groups", &mut lines);
        if number("left_out") > 0 {
            lines.push(format!("and {} requests in further groups", number("left_out")));
        }
    }
    let undecided = answer.get("undecided").and_then(Value::as_object).into_iter().flatten();
    for (by, requests) in undecided {
        lines.push(format!("undecided: {requests} depend on {}", what_decides(by)));
    }
    if number("unlike_recorded") > 0 {
        lines.push(format!(
            "{} would be answered otherwise than recorded, by the configuration in service:",
            number("unlike_recorded")
        ));
        groups(answer, "unlike_groups", &mut lines);
    }
    for why in answer.get("unreadable_because").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        lines.push(format!("unreadable: {why}"));
    }
    if number("missed") > 0 {
        lines.push(format!("{} live requests came faster than they could be decided", number("missed")));
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    let undecided = number("requests") - number("same") - number("different");
    lines.push(match has_other {
        true => format!(
            "{} requests: {} same, {} different, {undecided} undecided",
            number("requests"),
            number("same"),
            number("different")
        ),
        false => {
            format!("{} requests: {} otherwise than recorded, {undecided} undecided", number("requests"), number("unlike_recorded"))
        }
    });
    lines.join("\n")
}

/// What a decision depends on, in words.
fn what_decides(by: &str) -> String {
    match by {
        "unknown key" => "a key that the gateway does not have".to_owned(),
        "batch" => "the requests of a batch".to_owned(),
        middleware => format!("the answer of another server or a wait ({middleware})"),
    }
}

fn groups(answer: &Value, name: &str, lines: &mut Vec<String>) {
    let groups = answer.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = |group: &Value, name: &str| group.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |group: &Value, name: &str| group.get(name).and_then(Value::as_u64).unwrap_or_default();
    for group in groups.iter().take(GROUPS_SHOWN) {
        let api = Some(text(group, "api_id"))
            .filter(|api| !api.is_empty())
            .map_or_else(|| "no API".to_owned(), |api| format!("api {api}"));
        let cause =
            Some(text(group, "cause")).filter(|cause| !cause.is_empty()).map(|cause| format!("{}: ", cause.replace('_', " ")));
        let keys = match number(group, "keys") {
            0 => String::new(),
            1 => ", 1 key".to_owned(),
            keys => format!(", {keys} keys"),
        };
        let requests = match number(group, "requests") {
            1 => "1 request".to_owned(),
            requests => format!("{requests} requests"),
        };
        lines.push(format!(
            "{api}: {}{} -> {} ({requests}{keys})",
            cause.unwrap_or_default(),
            text(group, "from"),
            text(group, "to")
        ));
        for example in group.get("examples").and_then(Value::as_array).into_iter().flatten().take(EXAMPLES_SHOWN) {
            let time = number(example, "time_ms") / 1_000;
            let time = if time == 0 { String::new() } else { format!("  {}", calendar::rfc3339(time)) };
            let key =
                Some(text(example, "key")).filter(|key| !key.is_empty()).map(|key| format!("  key {key}")).unwrap_or_default();
            lines.push(format!("    {} {}{}{time}{key}", text(example, "method"), text(example, "host"), text(example, "path")));
            if text(group, "from") != text(example, "old") || text(group, "to") != text(example, "new") {
                lines.push(format!("      - {}", text(example, "old")));
                lines.push(format!("      + {}", text(example, "new")));
            }
        }
    }
    if groups.len() > GROUPS_SHOWN {
        lines.push(format!("and {} more groups", groups.len() - GROUPS_SHOWN));
    }
}
