//! `if`: conditions that a route can have.

use super::directive::Directive;
use crate::pattern::searched;
use crate::plan::{PlannedMatch, PlannedPath, PlannedValue};

/// What a condition asks of a request, beside what its level asks.
#[derive(Clone, Debug, Default)]
pub(super) struct Condition {
    pub hosts: Vec<String>,
    /// The scheme is the secure one, or is not.
    pub is_tls: Option<bool>,
    /// Any of these.
    pub matches: Vec<PlannedMatch>,
    /// The condition holds for all methods but these.
    pub all_but_methods: Vec<String>,
}

/// The condition of an `if`; the error says why it is none of ours.
pub(super) fn of(directive: &Directive) -> Result<Condition, String> {
    let text = directive.words.join(" ");
    let text = text.trim().trim_start_matches('(').trim_end_matches(')').trim();
    let mut words = text.splitn(3, ' ');
    let (name, operator, value) =
        (words.next().unwrap_or_default(), words.next().unwrap_or_default(), words.next().unwrap_or_default().trim());
    let value = value.trim_matches(['"', '\'']);
    let none = || Err(format!("the condition ({text}) has no counterpart"));
    let mut condition = Condition::default();
    match (name, operator) {
        ("$scheme", "=" | "!=") => condition.is_tls = Some((value == "https") == (operator == "=")),
        ("$https", "=" | "!=") => condition.is_tls = Some((value == "on") == (operator == "=")),
        ("$host" | "$http_host", "=") => condition.hosts = vec![value.to_lowercase()],
        ("$request_method", "=") => condition.matches = methods(value).ok_or_else(|| text.to_owned())?,
        ("$request_method", "~" | "~*") => match methods(value) {
            Some(matches) => condition.matches = matches,
            None => return none(),
        },
        ("$request_method", "!~" | "!~*" | "!=") => match methods(value) {
            Some(matches) => condition.all_but_methods = matches.into_iter().map(|matched| matched.method).collect(),
            None => return none(),
        },
        ("$uri" | "$request_uri", "~" | "~*") => {
            let path = PlannedPath::Pattern(searched(value, operator == "~*")?);
            condition.matches = vec![PlannedMatch { path, ..PlannedMatch::default() }];
        }
        (name, "=" | "~" | "~*") => {
            let Some(header) = name.strip_prefix("$http_").filter(|_| !value.contains('$') || operator != "=") else {
                return none();
            };
            let is_pattern = operator != "=";
            let value = if is_pattern { searched(value, operator == "~*")? } else { value.to_owned() };
            let header = PlannedValue { name: header.replace('_', "-"), value, is_pattern };
            condition.matches = vec![PlannedMatch { headers: vec![header], ..PlannedMatch::default() }];
        }
        (name, "") if name.starts_with("$arg_") => {
            let query =
                PlannedValue { name: name.trim_start_matches("$arg_").to_owned(), value: ".+".to_owned(), is_pattern: true };
            condition.matches = vec![PlannedMatch { query: vec![query], ..PlannedMatch::default() }];
        }
        (name, "") if name.starts_with("$http_") => {
            let header = PlannedValue {
                name: name.trim_start_matches("$http_").replace('_', "-"),
                value: ".+".to_owned(),
                is_pattern: true,
            };
            condition.matches = vec![PlannedMatch { headers: vec![header], ..PlannedMatch::default() }];
        }
        _ => return none(),
    }
    Ok(condition)
}

/// `GET`, or `^(GET|HEAD)$`.
fn methods(text: &str) -> Option<Vec<PlannedMatch>> {
    let list = text.trim_start_matches('^').trim_end_matches('$').trim_start_matches('(').trim_end_matches(')');
    let names: Vec<&str> = list.split('|').map(str::trim).collect();
    let is_method = |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase());
    names
        .iter()
        .all(is_method)
        .then(|| names.iter().map(|name| PlannedMatch { method: (*name).to_owned(), ..PlannedMatch::default() }).collect())
}
