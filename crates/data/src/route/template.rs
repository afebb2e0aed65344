//! Hosts and listen paths with `{name}`, as regular expressions.

use regex::Regex;

/// What a template is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RouteTemplateKind {
    /// The start of a path.
    ListenPath,
    /// A whole host, which comes in lower case; a pattern's own expression may have been written for upper case.
    Host,
}

/// Compiles a template with `{name}` and `{name:regex}`. `Err` says what is wrong with it, and where.
pub(super) fn compile_template(template: &str, kind: RouteTemplateKind) -> Result<Regex, String> {
    let (start, segment, end) = match kind {
        RouteTemplateKind::ListenPath => ("^", "[^/]+", ""),
        RouteTemplateKind::Host => ("(?i)^", "[^.]+", "$"),
    };
    let mut regex = start.to_owned();
    let mut rest = template;
    while let Some((literal, braced)) = rest.find(['{', '}']).and_then(|at| rest.split_at_checked(at)) {
        regex.push_str(&regex::escape(literal));
        let (name, tail) = braced_name(braced)?;
        let (name, pattern) = name.split_once(':').unwrap_or((name, segment));
        if name.is_empty() {
            return Err(format!("has braces without a name, at {braced:?}"));
        }
        if pattern.is_empty() {
            return Err(format!("has no pattern after the colon, at {braced:?}"));
        }
        // Checked by itself: it could end the group that it is put into.
        tollgate_re2::compile(pattern).map_err(|error| format!("has an invalid pattern, at {braced:?}: {error}"))?;
        regex.push_str(&format!("(?:{pattern})"));
        rest = tail;
    }
    regex.push_str(&regex::escape(rest));
    regex.push_str(end);
    tollgate_re2::compile(&regex)
}

/// What is in the first braces of a text that starts with one, and the text after them. Patterns may have braces themselves.
fn braced_name(text: &str) -> Result<(&str, &str), String> {
    let mut open = 0;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' if open == 0 => return Err(format!("has a brace that closes none, at {text:?}")),
            b'}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Ok((text.get(1..index).unwrap_or_default(), text.get(index + 1..).unwrap_or_default()));
        }
    }
    Err(format!("has a brace that is not closed, at {text:?}"))
}
