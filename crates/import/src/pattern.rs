//! Regular expressions of other gateways, which search a path, as ours, which fit the whole of it.

/// The text as an expression that fits itself.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if r"\.+*?()|[]{}^$".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// An expression that is searched for in a path, for the whole path. The error says what ours cannot express.
pub(crate) fn searched(expression: &str, ignores_case: bool) -> Result<String, String> {
    let flags = if ignores_case { "(?i)" } else { "" };
    if let Some((before, what_follows)) = without_lookahead(expression) {
        let whole = match before.strip_prefix('^') {
            Some(before) => format!("{flags}{before}{what_follows}"),
            None => format!("{flags}.*(?:{before}){what_follows}"),
        };
        return compiled(expression, unescaped_slashes(&whole));
    }
    let whole = match (expression.strip_prefix('^'), ends_with_anchor(expression)) {
        (Some(rest), true) if !expression.contains('|') => format!("{flags}{}", rest.get(..rest.len() - 1).unwrap_or_default()),
        (Some(rest), false) if !expression.contains('|') => format!("{flags}{rest}.*"),
        _ => format!("{flags}.*(?:{expression}).*"),
    };
    compiled(expression, unescaped_slashes(&whole))
}

fn compiled(expression: &str, whole: String) -> Result<String, String> {
    tollgate_re2::compile(&whole).map(|_| whole).map_err(|error| format!("the expression {expression} has no counterpart: {error}"))
}

/// An expression that ends with `(?!text)`, as its beginning and what may follow it: a part of the text, and then something else.
fn without_lookahead(expression: &str) -> Option<(&str, String)> {
    let expression = expression.strip_suffix(".*").unwrap_or(expression);
    let (before, text) = expression.strip_suffix(')')?.split_once("(?!")?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_/".contains(letter);
    // An alternative outside would be all of the beginning.
    if text.is_empty() || !text.chars().all(is_plain) || before.contains(['|']) {
        return None;
    }
    let others: Vec<String> =
        text.char_indices().map(|(at, letter)| format!("{}(?:[^{letter}].*)?", text.split_at(at).0)).collect();
    Some((before, format!("(?:{})", others.join("|"))))
}

/// An expression that fits the beginning of a path.
pub(crate) fn beginning(expression: &str) -> Result<String, String> {
    let anchored = if expression.starts_with('^') { expression.to_owned() } else { format!("^(?:{expression})") };
    searched(&anchored, false)
}

/// The rewrite of a path: a pattern for the path with its query, and the path that takes its place. Of `to`, a query replaces the request's.
pub(crate) fn rewrite(expression: &str, to: &str) -> Result<(String, String), String> {
    let (begin, rest) = match expression.strip_prefix('^') {
        Some(rest) => ("^", rest),
        None => ("^[^?]*?", expression),
    };
    let (core, tail) = if ends_with_anchor(rest) { (rest.get(..rest.len() - 1).unwrap_or_default(), "") } else { (rest, "[^?]*") };
    let core = unescaped_slashes(core);
    let alternatives = if core.contains('|') { format!("(?:{core})") } else { core };
    // What fits anything must leave the query to the group behind it.
    let alternatives = alternatives.replace(".*", "[^?]*").replace(".+", "[^?]+");
    let pattern = format!("{begin}{alternatives}{tail}(\\?.*)?$");
    let groups =
        tollgate_re2::compile(&pattern).map_err(|error| format!("the expression {expression} has no counterpart: {error}"))?;
    let last = groups.captures_len() - 1;
    let to = match to.strip_suffix('?') {
        Some(bare) => bare.to_owned(),
        None if to.contains('?') => to.to_owned(),
        None => format!("{to}${last}"),
    };
    Ok((pattern, to))
}

fn ends_with_anchor(expression: &str) -> bool {
    let Some(rest) = expression.strip_suffix('$') else { return false };
    rest.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 0
}

/// PCRE lets `/` be escaped, which means nothing; named groups have one form in all.
fn unescaped_slashes(expression: &str) -> String {
    expression.replace("\\/", "/").replace("\\-", "-").replace("(?<", "(?P<").replace("(?P<=", "(?<=").replace("(?P<!", "(?<!")
}
