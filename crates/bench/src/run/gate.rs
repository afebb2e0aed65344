//! The check before any measurement: the statuses of a burst of requests must be exactly those that the policy implies, and the
//! checks of the case must pass.

use super::testbed::ServedCase;
use crate::load::result::LoadResult;
use crate::probe;
use crate::scenario::{Case, CheckSpec, StatusCount};
use std::collections::BTreeMap;

/// The error in the statuses of a gateway that was just started, if there is one.
pub(crate) fn judge_burst(case: &Case, result: &LoadResult) -> Result<(), String> {
    if result.requests.failed > 0 {
        let sent = result.requests.failed + result.requests.completed;
        return Err(format!("{} of {sent} requests failed: {}", result.requests.failed, causes(result)));
    }
    judge(case, &result.status, |counted, expected| counted == expected)
}

/// Same for a measurement, in which a limited status may occur less often, because it may have been used up before.
pub(crate) fn judge_round(case: &Case, status: &BTreeMap<u16, u64>) -> Result<(), String> {
    judge(case, status, |counted, expected| counted <= expected)
}

fn judge(case: &Case, status: &BTreeMap<u16, u64>, agrees: impl Fn(u64, u64) -> bool) -> Result<(), String> {
    let total: u64 = status.values().sum();
    let counted = |expected: &str| -> u64 {
        let codes: Vec<u16> = expected.split('|').filter_map(|code| code.parse().ok()).collect();
        status.iter().filter(|(code, _)| codes.contains(code)).map(|(_, count)| count).sum()
    };
    let accounted: u64 = case.expect.keys().map(|expected| counted(expected)).sum();
    let exact = case.expect.iter().all(|(expected, count)| match count {
        StatusCount::Exactly(number) => agrees(counted(expected), *number),
        StatusCount::All | StatusCount::Rest => true,
    });
    if exact && accounted == total && total > 0 {
        return Ok(());
    }
    Err(format!("expected {}, got {}", said(case), counts(status)))
}

/// Runs the checks of a case.
pub(crate) fn check(case: &Case, place: &ServedCase) -> Result<(), String> {
    case.check.iter().try_for_each(|check| one(case, check, place))
}

fn one(case: &Case, check: &CheckSpec, place: &ServedCase) -> Result<(), String> {
    let path = check.path.as_ref().map_or_else(|| place.path.clone(), |path| place.path_of(case, path));
    let headers: Vec<_> = check.headers.as_ref().unwrap_or(&case.request.headers).clone().into_iter().collect();
    // A check with the method of the case's request has its body, too.
    let body = if check.method == case.request.method { case.request.json.as_bytes() } else { b"" };
    let answer = probe::send(place.listener(), &check.method, &path, &headers, body)?;
    let wrong = |what: String| Err(format!("{} {path}: {what}", check.method));
    if !check.status.is_met_by(answer.status) {
        return wrong(format!("expected {}, got {}", check.status, answer.status));
    }
    for (name, value) in &check.has_headers {
        let has = answer.headers.iter().any(|(given, held)| given.eq_ignore_ascii_case(name) && (value == "*" || held == value));
        if !has {
            return wrong(format!("the answer has no header {name}: {value}"));
        }
    }
    match &check.body_contains {
        Some(wanted) if !answer.body.contains(wanted) => wrong(format!("the answer's body has no {wanted:?}")),
        _ => Ok(()),
    }
}

/// `200 once and else 429`.
pub(crate) fn said(case: &Case) -> String {
    let mut parts: Vec<String> = case
        .expect
        .iter()
        .map(|(status, count)| match count {
            StatusCount::All => format!("all {status}"),
            StatusCount::Rest => format!("the rest {status}"),
            StatusCount::Exactly(number) => format!("{number} x {status}"),
        })
        .collect();
    parts.sort_by_key(|part| part.starts_with("the rest"));
    parts.join(", ")
}

/// `1 x 200, 1999 x 429`.
pub(crate) fn counts(status: &BTreeMap<u16, u64>) -> String {
    if status.is_empty() {
        return "no answer".to_owned();
    }
    status.iter().map(|(code, count)| format!("{count} x {code}")).collect::<Vec<_>>().join(", ")
}

/// The messages of failed requests, the most frequent first.
pub(crate) fn causes(result: &LoadResult) -> String {
    let mut messages: Vec<_> = result.error_messages.iter().collect();
    messages.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    messages.iter().take(3).map(|(message, count)| format!("{count} x {message}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
