//! Lines of SecLang as directives and their arguments. Knows no directive by name.

use tollgate_text::byte_order_mark;

/// One directive as it is written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Directive {
    /// Where it begins, from 1.
    pub(crate) line: usize,
    pub(crate) name: String,
    pub(crate) arguments: Vec<String>,
}

/// The directives of a text. A line that ends with a backslash goes on in the next one; lines that begin with `#` are comments.
pub(crate) fn directives(text: &str) -> Vec<Directive> {
    let mut made = Vec::new();
    let mut joined = String::new();
    let mut begins = 0;
    for (index, line) in byte_order_mark::without_in(text).lines().enumerate() {
        let line = line.trim();
        if joined.is_empty() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            begins = index + 1;
        }
        match line.strip_suffix('\\') {
            Some(part) => joined.push_str(part),
            None => {
                joined.push_str(line);
                made.extend(directive(&joined, begins));
                joined.clear();
            }
        }
    }
    made.extend(directive(&joined, begins));
    made
}

fn directive(joined: &str, line: usize) -> Option<Directive> {
    let joined = joined.trim();
    let (name, rest) = joined.split_once(char::is_whitespace).unwrap_or((joined, ""));
    (!name.is_empty()).then(|| Directive { line, name: name.to_owned(), arguments: words(rest) })
}

/// Words between spaces; one in quotes may contain spaces, and its quotes are escaped by a backslash. All other backslashes remain.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut chars = text.chars().peekable();
    loop {
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        let Some(first) = chars.next() else { return words };
        let mut word = String::new();
        let quote = matches!(first, '"' | '\'').then_some(first);
        if quote.is_none() {
            word.push(first);
        }
        while let Some(c) = chars.next() {
            match quote {
                Some(quote) if c == quote => break,
                Some(quote) if c == '\\' && chars.peek() == Some(&quote) => word.extend(chars.next()),
                None if c.is_whitespace() => break,
                _ => word.push(c),
            }
        }
        words.push(word);
    }
}

/// Actions of a rule: `name` or `name:value`, between commas; a value in single quotes may contain commas.
pub(crate) fn actions(text: &str) -> Vec<(String, String)> {
    let mut made = Vec::new();
    let mut action = String::new();
    let mut in_quotes = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if in_quotes && chars.peek() == Some(&'\'') => {
                // Marked, so that it is no quote below.
                chars.next();
                action.push('\u{0}');
            }
            '\'' => {
                in_quotes = !in_quotes;
                action.push(c);
            }
            ',' if !in_quotes => made.extend(named(&std::mem::take(&mut action))),
            _ => action.push(c),
        }
    }
    made.extend(named(&action));
    made
}

fn named(action: &str) -> Option<(String, String)> {
    let action = action.trim();
    if action.is_empty() {
        return None;
    }
    let (name, value) = action.split_once(':').unwrap_or((action, ""));
    let value = value.trim();
    let value = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')).unwrap_or(value);
    Some((name.trim().to_ascii_lowercase(), value.replace('\u{0}', "'")))
}

#[cfg(test)]
mod tests;
