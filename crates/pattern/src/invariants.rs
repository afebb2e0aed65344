//! Invariants of patterns: what Tyk's rules say of a pattern of texts, names and stars, read from the pattern itself and matched by trying
//! everything. Regular expressions are left out. The fuzzer calls it, and so do the tests, with the same corpus.

use crate::{Pattern, PatternRules};

/// Longest pattern and path; what is tried grows with both.
const CHARS_MAX: usize = 48;

#[derive(Debug, PartialEq)]
enum Token {
    Text(char),
    /// A name, or `*` between slashes: at least one character, and no slash.
    Segment,
    /// `*` at the end of a path or behind a slash: anything, without line ends.
    Anything,
}

/// The first line selects the rules by letters. The second is a pattern, and the third a path, in which a tab stands for a line end.
pub(super) fn rules(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut lines = text.lines();
    let (Some(letters), Some(pattern), Some(path)) = (lines.next(), lines.next(), lines.next()) else { return };
    if pattern.chars().count() > CHARS_MAX || path.chars().count() > CHARS_MAX {
        return;
    }
    let rules = PatternRules { prefix: letters.contains('p'), suffix: letters.contains('s'), ignore_case: letters.contains('i') };
    let path = path.replace('\t', "\n");
    // Letters outside ASCII have more than two cases.
    if rules.ignore_case && !(pattern.is_ascii() && path.is_ascii()) {
        return;
    }
    let Some(tokens) = tokens(pattern) else { return };
    let path_chars: Vec<char> = path.chars().collect();
    let starts = if rules.prefix && pattern.starts_with('/') { 0..=0 } else { 0..=path_chars.len() };
    let expect = starts.into_iter().any(|start| matches(&tokens, path_chars.get(start..).unwrap_or_default(), &rules));
    let found = Pattern::compile(&rules.expression(pattern, false).unwrap()).unwrap().is_match(&path);
    assert_eq!(found, expect, "{pattern:?} {path:?} {rules:?} {tokens:?}");
}

/// What a pattern consists of; `None` if it is a regular expression beyond that, or has a repetition.
fn tokens(pattern: &str) -> Option<Vec<Token>> {
    let chars: Vec<char> = pattern.chars().collect();
    let has_names = chars.iter().filter(|c| **c == '{').count() == chars.iter().filter(|c| **c == '}').count();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        let name_end = || chars.iter().skip(at).position(|c| *c == '}').map(|length| at + length).filter(|end| *end > at + 1);
        match c {
            '.' | '+' | '?' | '(' | ')' | '|' | '[' | ']' | '^' | '$' | '\\' => return None,
            '{' => {
                let inside: String = chars.iter().skip(at + 1).take_while(|c| **c != '}').collect();
                let is_number = !inside.is_empty() && inside.chars().all(|c| c.is_ascii_digit() || c == ',');
                // A repetition of what is before it, or a name behind a slash.
                if is_number && !(has_names && (at == 0 || chars.get(at - 1) == Some(&'/'))) {
                    return None;
                }
                match name_end().filter(|_| has_names) {
                    Some(end) => {
                        tokens.push(Token::Segment);
                        at = end;
                    }
                    None => tokens.push(Token::Text('{')),
                }
            }
            '*' => {
                let follows_slash = at.checked_sub(1).and_then(|before| chars.get(before)) == Some(&'/');
                // The slash behind a star is used up: what follows it is no star between slashes.
                let is_used = at >= 2 && chars.get(at - 2) == Some(&'*') && tokens.get(tokens.len() - 2) == Some(&Token::Segment);
                let is_between = chars.get(at + 1) == Some(&'/') && !is_used;
                if !follows_slash || tokens.last() != Some(&Token::Text('/')) {
                    return None;
                }
                tokens.push(if is_between { Token::Segment } else { Token::Anything });
            }
            c => tokens.push(Token::Text(*c)),
        }
        at += 1;
    }
    Some(tokens)
}

fn matches(tokens: &[Token], path: &[char], rules: &PatternRules) -> bool {
    // Which ends of the path, counted from its start, the tokens so far can reach.
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for token in tokens {
        let mut next = vec![false; path.len() + 1];
        for from in (0..=path.len()).filter(|from| reached[*from]) {
            let fits = |c: &char, text: &char| c == text || rules.ignore_case && c.eq_ignore_ascii_case(text);
            match token {
                Token::Text(text) => {
                    if path.get(from).is_some_and(|c| fits(c, text)) {
                        next[from + 1] = true;
                    }
                }
                Token::Segment => {
                    let length = path[from..].iter().take_while(|c| **c != '/').count();
                    next[from + 1..=from + length].fill(true);
                }
                Token::Anything => {
                    let length = path[from..].iter().take_while(|c| **c != '\n').count();
                    next[from..=from + length].fill(true);
                }
            }
        }
        reached = next;
    }
    if rules.suffix { reached[path.len()] } else { reached.contains(&true) }
}
