//! Rules: what answers, refuses or changes requests.

use super::answer::{DENY, REDIRECT, RETURN, answer_of, words_left};
use super::condition::{self, Conditions, Fit};
use super::{Line, backend};
use crate::plan::{PlannedAction, PlannedMatch, PlannedRedirect, PlannedRoute};
use crate::report::ImportReport;

/// A rule that answers, refuses or changes.
pub(super) fn rule(
    line: &Line,
    conditions: &Conditions,
    base: &mut PlannedRoute,
    early: &mut Vec<PlannedRoute>,
    report: &mut ImportReport,
) {
    let place = &line.place;
    let (kind, action) = match line.word(0) {
        "redirect" => ("redirect", "redirect"),
        kind => (kind, line.word(1)),
    };
    let title = format!("{kind} {action}");
    let first_if = line.words.iter().position(|word| word == "if" || word == "unless");
    let condition = first_if.map(|at| line.from(at));
    let words: Vec<&str> = line.words.iter().take(first_if.unwrap_or(line.words.len())).map(String::as_str).collect();
    let answers = |action: PlannedAction,
                   early: &mut Vec<PlannedRoute>,
                   report: &mut ImportReport,
                   refuses: bool,
                   base: &mut PlannedRoute| {
        match condition.map_or(Ok(vec![Fit::default()]), |condition| conditions.of(condition)) {
            Ok(fits) if fits.iter().all(|fit| fit.addresses.is_empty()) => {
                report.carried(place, title.clone());
                for fit in fits {
                    early.push(PlannedRoute {
                        name: title.clone(),
                        place: place.clone(),
                        action: action.clone(),
                        matches: vec![PlannedMatch { ..fit.matched }],
                        hosts: fit.hosts,
                        ..PlannedRoute::default()
                    });
                }
            }
            Ok(_) | Err(_) if refuses => match condition.and_then(|condition| conditions.addresses(condition)) {
                Some((true, list)) => {
                    base.blocked_ips.extend(list);
                    report.carried(place, title.clone());
                }
                Some((false, list)) => {
                    base.admit_only(list);
                    report.carried(place, title.clone());
                }
                None => {
                    report.closes(place, &title, "its condition has no counterpart", &mut base.closed);
                }
            },
            Err(why) if why == condition::ALWAYS_TLS => report.approximated(place, title.clone(), "requests with TLS are served"),
            Ok(_) | Err(_) => {
                // Its requests would reach a backend.
                report.closes(place, &title, "its condition has no counterpart", &mut base.closed);
            }
        }
    };
    match (kind, action) {
        ("redirect", _) | ("http-request", "redirect") => {
            let at = |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1)).copied();
            let wrong = words_left(&words, if kind == "redirect" { 1 } else { 2 }, REDIRECT);
            let status = at("code").map_or(Ok(302), str::parse);
            let (Ok(status @ (301 | 302 | 303 | 307 | 308)), None) = (status, &wrong) else {
                let why = wrong.unwrap_or_else(|| format!("{} is no status of a redirect", at("code").unwrap_or_default()));
                return report.closes(place, &title, &why, &mut base.closed);
            };
            let mut to = PlannedRedirect { status, ..PlannedRedirect::default() };
            match (at("scheme"), at("location"), at("prefix")) {
                (Some(scheme), ..) => to.scheme = scheme.to_owned(),
                (_, Some(location), _) if !location.contains(['%', '{']) => to.location = Some(location.to_owned()),
                (_, _, Some(prefix)) if !prefix.contains(['%', '{']) => to.location = Some(format!("{prefix}{{uri}}")),
                _ => return report.not_carried(place, title, "locations have no variables"),
            }
            answers(PlannedAction::Redirect(to), early, report, false, base);
        }
        ("http-request", "deny" | "tarpit" | "silent-drop" | "return") | ("block", _) => {
            let known = if action == "return" { RETURN } else { DENY };
            match (words_left(&words, if kind == "block" { 1 } else { 2 }, known), answer_of(action, &words)) {
                (None, Ok(answer)) => answers(answer, early, report, action != "return", base),
                (Some(why), _) | (_, Err(why)) => report.closes(place, &title, &why, &mut base.closed),
            }
        }
        ("http-request" | "http-response", "set-header" | "add-header" | "del-header" | "replace-header") => {
            backend::header(line, base, report);
        }
        ("http-request", "set-path" | "replace-path") => backend::path(line, base, report),
        (
            "http-request",
            "track-sc0" | "track-sc1" | "set-var" | "capture" | "set-log-level" | "add-acl" | "cache-use" | "set-src",
        )
        | ("http-response", _) => {
            report.not_carried(place, title, "has no counterpart");
        }
        ("tcp-request", _) => report.not_carried(place, title, "limits of connections: `tollgate.limits`"),
        _ => {
            report.unprotected(place, title.clone(), "has no counterpart, and may protect");
            base.closed.push(format!("{title} at line {}: has no counterpart", place.line));
        }
    }
}
