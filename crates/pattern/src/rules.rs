//! Conversion of definitions' patterns to regular expressions.

use tollgate_model::config::GatewayConfig;

/// Rules for patterns, from the gateway's and the version's settings.
#[derive(Clone, Copy, Debug)]
pub struct PatternRules {
    /// Whether a pattern must match from the start of a path.
    pub prefix: bool,
    /// Whether a pattern must match to the end of a path.
    pub suffix: bool,
    /// Whether letter case makes no difference.
    pub ignore_case: bool,
}

impl PatternRules {
    /// The rules of a configuration.
    pub fn new(config: &GatewayConfig) -> Self {
        let options = &config.http_server_options;
        PatternRules {
            prefix: options.enable_path_prefix_matching,
            suffix: options.enable_path_suffix_matching,
            ignore_case: config.ignore_endpoint_case,
        }
    }

    /// The rules for access rights of keys, which are always case-sensitive.
    pub fn of_keys(config: &GatewayConfig) -> Self {
        PatternRules { ignore_case: false, ..PatternRules::new(config) }
    }

    /// Converts a pattern to the engine's syntax: `{name}` is a segment, `/*/` one segment, and `/*` everything after; the rest is a
    /// regular expression. `Err` says why it is none.
    pub fn expression(&self, pattern: &str, ignore_case: bool) -> Result<String, String> {
        let mut regex = String::new();
        if self.ignore_case || ignore_case {
            regex.push_str("(?i)");
        }
        if self.prefix && pattern.starts_with('/') {
            regex.push('^');
        }
        let count = |brace| pattern.matches(brace).count();
        // As in Tyk, a pattern with an unpaired brace has no names.
        let (unnamed, mut rest) = if count('{') == count('}') { ("", pattern) } else { (pattern, "") };
        let mut named = unnamed.to_owned();
        while let Some((before, after)) = rest.split_once('{') {
            named.push_str(before);
            match after.split_once('}').filter(|(inside, _)| !inside.is_empty() && !is_repetition(&named, inside)) {
                Some((_, tail)) => {
                    named.push_str(SEGMENT);
                    rest = tail;
                }
                None => {
                    named.push('{');
                    rest = after;
                }
            }
        }
        named.push_str(rest);
        regex.push_str(&named.replace("/*/", "/[^/]+/").replace("/*", "/.*"));
        if self.suffix && !regex.ends_with('$') {
            regex.push('$');
        }
        tollgate_re2::translate(&regex).map_err(|error| format!("not a valid pattern: {error}"))
    }
}

/// Converts a regular expression for a whole name, in Go's syntax, to the engine's. `Err` says why it is none.
pub fn name_expression(name: &str) -> Result<String, String> {
    let translated = tollgate_re2::translate(&format!("{}$", from_start(name)));
    translated.map_err(|error| format!("not a valid regular expression: {error}"))
}

/// The same for a pattern as endpoints have them, with `{name}` and `/*`.
pub fn name_pattern(name: &str) -> Result<String, String> {
    PatternRules { prefix: false, suffix: true, ignore_case: false }.expression(&from_start(name), false)
}

/// An expression that matches from the start of a text. A plain text needs no group, and is then compared without an engine.
fn from_start(name: &str) -> String {
    let is_plain = !name.contains(|c| r"\.+*?()|[]{}^$".contains(c));
    if is_plain { format!("^{name}") } else { format!("^(?:{name})") }
}

/// What a name stands for.
const SEGMENT: &str = "([^/]+)";

/// Whether braces are a repetition such as `{2,3}`: only numbers in them, and something to repeat before them. A slash is not repeated:
/// `/{1}` is a name, as all braces are in Tyk.
fn is_repetition(before: &str, inside: &str) -> bool {
    let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if least.is_empty() || !is_number(least) || !is_number(most) {
        return false;
    }
    let mut chars = before.chars().rev();
    let Some(last) = chars.next() else { return false };
    let is_escaped = chars.take_while(|c| *c == '\\').count() % 2 == 1;
    last != '/'
        && (is_escaped || !matches!(last, '^' | '(' | '|' | '*' | '+' | '?' | '{' | '}' | '['))
        && !before.ends_with(SEGMENT)
}
