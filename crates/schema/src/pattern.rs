//! Regular expressions as OpenAPI writes them, in the syntax of ECMA-262, for an engine that runs in linear time. What ECMA writes differently
//! is rewritten; look-around and back-references cannot be matched in linear time and are refused.

use regex_automata::meta::{Config, Regex};

/// Largest compiled size of one pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Compiles a pattern. `Err` says why it cannot be used.
pub fn compile(pattern: &str) -> Result<Regex, String> {
    compile_within(pattern, PATTERN_BYTES_MAX)
}

/// Compiles a pattern that takes at most so many bytes, and no more than any may.
pub(crate) fn compile_within(pattern: &str, bytes_max: usize) -> Result<Regex, String> {
    let bytes_max = bytes_max.min(PATTERN_BYTES_MAX);
    let written = translated(pattern);
    let config = Config::new().nfa_size_limit(Some(bytes_max)).onepass_size_limit(Some(bytes_max));
    Regex::builder().configure(config).build(&written).map_err(|error| match error.syntax_error() {
        None => format!("takes more than {} KiB when compiled", bytes_max >> 10),
        Some(error) => {
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
            format!("not a pattern that can be matched in linear time: {reason}")
        }
    })
}

/// Whether a text is a pattern, whatever time it takes to match.
pub(crate) fn is_pattern(text: &str) -> bool {
    // Look-around and back-references are patterns too.
    regex_syntax::parse(&translated(text)).is_ok() || text.contains("(?=") || text.contains("(?!") || text.contains("(?<")
}

/// The pattern with the escapes and classes that ECMA-262 writes differently.
pub fn translated(pattern: &str) -> String {
    let mut written = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let Some(escaped) = chars.next() else {
                    written.push('\\');
                    continue;
                };
                match escaped {
                    // Perl classes mean ASCII; white space has Unicode's members.
                    'd' => written.push_str("[0-9]"),
                    'D' => written.push_str("[^0-9]"),
                    'w' => written.push_str("[0-9A-Za-z_]"),
                    'W' => written.push_str("[^0-9A-Za-z_]"),
                    'b' if in_class => written.push_str(r"\x08"),
                    'b' => written.push_str(r"(?-u:\b)"),
                    'B' => written.push_str(r"(?-u:\B)"),
                    'c' => match chars.next().filter(char::is_ascii_alphabetic) {
                        Some(letter) => written.push_str(&format!(r"\x{{{:x}}}", u32::from(letter) & 31)),
                        None => written.push_str(r"\\c"),
                    },
                    'u' => {
                        let digits: String = std::iter::from_fn(|| chars.next_if(char::is_ascii_hexdigit)).take(4).collect();
                        if digits.len() == 4 {
                            written.push_str(&format!(r"\x{{{digits}}}"));
                        } else {
                            written.push('u');
                            written.push_str(&digits);
                        }
                    }
                    '0' => written.push_str(r"\x00"),
                    'p' | 'P' => {
                        written.extend(['\\', escaped]);
                        if chars.next_if_eq(&'{').is_some() {
                            written.push('{');
                            written.extend(std::iter::from_fn(|| chars.next_if(|c| *c != '}')));
                        }
                    }
                    // Escapes of characters that need none.
                    '/' | '-' | '_' | '@' | '#' | '%' | '&' | '"' | '\'' | ',' | ':' | ';' | '<' | '=' | '>' | '`' | '~' | '!'
                    | ' ' => {
                        if in_class && escaped == '-' {
                            written.push('\\');
                        }
                        match escaped {
                            '-' if in_class => written.push('-'),
                            '&' | '~' | '#' if in_class => written.extend(['\\', escaped]),
                            other => written.push(other),
                        }
                    }
                    other => written.extend(['\\', other]),
                }
            }
            '[' if in_class => written.push_str(r"\["),
            '[' => {
                in_class = true;
                written.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    written.push('^');
                }
                match chars.peek() {
                    // `[]` matches nothing, `[^]` everything.
                    Some(']') => {
                        chars.next();
                        in_class = false;
                        let negated = written.ends_with('^');
                        written.truncate(written.len() - if negated { 2 } else { 1 });
                        written.push_str(if negated { r"[\s\S]" } else { r"[^\s\S]" });
                    }
                    _ => continue,
                }
            }
            ']' => {
                if in_class {
                    written.push(']')
                } else {
                    written.push_str(r"\]")
                }
                in_class = false;
            }
            // The engine's set operations.
            '&' | '~' if in_class => written.extend(['\\', c]),
            '-' if in_class && chars.peek() == Some(&'-') => written.push_str(r"\-"),
            // A group with a name.
            '(' => {
                written.push('(');
                let rest: String = chars.clone().take(3).collect();
                if rest.starts_with("?<") && !rest.ends_with(['=', '!']) {
                    written.push_str("?P");
                    chars.next();
                }
            }
            // A brace that is no repetition is a character.
            '{' if !in_class && !is_repetition(chars.clone()) => written.push_str(r"\{"),
            '}' if !in_class && !closes_repetition(&written) => written.push_str(r"\}"),
            other => written.push(other),
        }
    }
    written
}

fn is_repetition(rest: impl Iterator<Item = char>) -> bool {
    let inner: String = rest.take_while(|c| *c != '}').take(16).collect();
    let (least, most) = inner.split_once(',').unwrap_or((&inner, ""));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    !least.is_empty() && digits(least) && digits(most)
}

/// Whether a closing brace ends something that began with a brace that was kept.
fn closes_repetition(written: &str) -> bool {
    let Some(open) = written.rfind('{') else { return false };
    let before = written.get(..open).unwrap_or_default();
    let inside = written.get(open + 1..).unwrap_or_default();
    !inside.contains('}') && (!before.ends_with('\\') || before.ends_with("\\p") || before.ends_with("\\P"))
}
