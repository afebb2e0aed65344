//! Hosts and listen paths with `{name}`, as regular expressions.

/// Converts a template with `{name}` and `{name:regex}` to a regular expression anchored at the start.
pub(super) fn template_regex(template: &str, segment: &str, whole: bool) -> String {
    let mut regex = String::from("^");
    let mut rest = template;
    while let Some((literal, after)) = rest.split_once('{') {
        regex.push_str(&regex::escape(literal));
        let end = closing_brace(after);
        let (inside, tail) = after.split_at_checked(end).unwrap_or((after, ""));
        let pattern = inside.split_once(':').map_or(segment, |(_, pattern)| pattern);
        regex.push_str(&format!("(?:{pattern})"));
        rest = tail.strip_prefix('}').unwrap_or(tail);
    }
    regex.push_str(&regex::escape(rest));
    if whole {
        regex.push('$');
    }
    regex
}

/// Position of the closing brace for one opened before `text`; patterns may contain braces themselves.
fn closing_brace(text: &str) -> usize {
    let mut open = 1;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return index;
        }
    }
    text.len()
}
