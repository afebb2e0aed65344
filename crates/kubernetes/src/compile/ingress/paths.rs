//! Paths of Ingresses as matches of rules.

use regex::Regex;
use serde_json::{Value, json};

/// Characters with a meaning in expressions.
const SPECIAL: &[char] = &['\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$'];

/// The `path` of a match. In a host with expressions, all paths are some: they fit what begins so, in any letter case.
///
/// # Errors
/// Why it can't be matched.
pub(super) fn matched(path: &str, path_type: &str, host_is_regex: bool) -> Result<Value, String> {
    let path = if path.is_empty() { "/" } else { path };
    if !path.starts_with('/') || path.bytes().any(|byte| byte <= 0x20 || byte == 0x7f) {
        return Err(format!("{path:?} is no path"));
    }
    if host_is_regex {
        let expression = format!("(?i:{path})(?s:.*)");
        Regex::new(path)
            .map_err(|error| format!("{path:?} is no expression that is supported: {}", last_line(&error.to_string())))?;
        return Ok(json!({"regex": expression}));
    }
    Ok(match path_type {
        "Exact" => json!({"exact": path}),
        _ if path == "/" => json!({"prefix": "/"}),
        "Prefix" => json!({"prefix": path.trim_end_matches('/')}),
        "ImplementationSpecific" | "" => json!({"starts_with": path}),
        other => return Err(format!("the path type {other} is unknown")),
    })
}

/// What replaces a path by `rewrite-target`.
pub(super) fn rewrite(path: &str, target: &str) -> Value {
    let path = if path.is_empty() { "/" } else { path };
    json!({"replace": {"regex": format!("(?i){path}"), "path": target}})
}

/// The match of what an expression that can't be used may have been meant for: its beginning, as far as it has one meaning.
pub(super) fn literal_start(path: &str) -> Value {
    let literal = path.split(SPECIAL).next().unwrap_or_default();
    // What a sign behind it repeats may be missing.
    let literal = literal.get(..literal.rfind('/').map_or(0, |slash| slash + 1)).unwrap_or_default();
    if literal.len() > 1 { json!({"starts_with": literal}) } else { json!({"prefix": "/"}) }
}

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or_default()
}
