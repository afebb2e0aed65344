//! Names in camel, snake and kebab case, as the library `xstrings` makes them, and texts broken into lines.

use crate::arguments::{Function, FunctionResult, bounded, call, int, text};
use crate::value::Value;

pub(super) static FUNCTIONS: &[Function] = &[
    call("camelcase", 1, 1, |given| Ok(camel(text(given, 0)?).into())),
    call("snakecase", 1, 1, |given| Ok(joined(text(given, 0)?, '_').into())),
    call("kebabcase", 1, 1, |given| Ok(joined(text(given, 0)?, '-').into())),
    call("wrap", 2, 2, |given| wrapped(text(given, 1)?, int(given, 0)?, "\n", false)),
    call("wrapWith", 3, 3, |given| {
        let separator = text(given, 1)?;
        wrapped(text(given, 2)?, int(given, 0)?, if separator.is_empty() { "\n" } else { separator }, true)
    }),
    call("abbrevboth", 3, 3, abbreviate_both),
];

/// What a word of a name consists of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordKind {
    /// After the last word.
    End,
    Number,
    /// Begins with a capital letter.
    Capital,
    Letters,
    Connector,
    Punctuation,
    Other,
}

fn is_connector(character: char) -> bool {
    matches!(character, '-' | '_') || character.is_whitespace()
}

fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation() && !"$+<=>^`|~".contains(character)
}

/// Whether it is a letter of a script that separates words.
fn is_letter(character: char) -> bool {
    character.is_alphabetic() && !('\u{2e80}'..='\u{d7ff}').contains(&character) && character < '\u{20000}'
}

/// The kind of the first word of a text, and its length in bytes.
fn first_word(text: &str) -> (WordKind, usize) {
    let span = |text: &str, fits: fn(char) -> bool| text.find(|character: char| !fits(character)).unwrap_or(text.len());
    let is_small = |character: char| is_letter(character) && !character.is_uppercase();
    let Some(first) = text.chars().next() else { return (WordKind::End, 0) };
    if is_connector(first) {
        (WordKind::Connector, span(text, is_connector))
    } else if is_punctuation(first) {
        (WordKind::Punctuation, span(text, is_punctuation))
    } else if first.is_uppercase() {
        let capitals = span(text, char::is_uppercase);
        let after = text.get(capitals..).unwrap_or_default();
        if capitals == first.len_utf8() {
            return (WordKind::Capital, capitals + span(after, is_small));
        }
        // The last capital letter of `HTTPStatus` belongs to the next word.
        let last = text.get(..capitals).and_then(|capitals| capitals.chars().next_back()).map_or(0, char::len_utf8);
        (WordKind::Capital, if after.starts_with(is_letter) { capitals - last } else { capitals })
    } else if is_letter(first) {
        (WordKind::Letters, span(text, is_small))
    } else if first.is_numeric() {
        (WordKind::Number, span(text, char::is_numeric))
    } else {
        let is_other = |character: char| {
            !is_connector(character) && !is_letter(character) && !character.is_numeric() && !is_punctuation(character)
        };
        (WordKind::Other, span(text, is_other).max(first.len_utf8()))
    }
}

/// The words of a name, and the name that is made of them.
struct Joiner<'t> {
    word: &'t str,
    kind: WordKind,
    rest: &'t str,
    connector: char,
    out: String,
}

/// The words of a text in lower case, with a connector between them.
fn joined(text: &str, connector: char) -> String {
    let mut joiner = Joiner { word: "", kind: WordKind::End, rest: text, connector, out: String::with_capacity(text.len() + 8) };
    joiner.advance();
    while !joiner.rest.is_empty() {
        let (kind, word) = (joiner.kind, joiner.word);
        if kind != WordKind::Connector {
            joiner.write(kind, word);
        }
        joiner.advance();
        match kind {
            WordKind::Number => joiner.rest_of_word(),
            WordKind::Connector => joiner.write(kind, word),
            WordKind::Punctuation => {}
            _ if joiner.kind != WordKind::Number => joiner.connect(),
            _ if joiner.rest.is_empty() => {}
            _ => joiner.number(),
        }
    }
    joiner.write(joiner.kind, joiner.word);
    joiner.out
}

impl Joiner<'_> {
    fn advance(&mut self) {
        let (kind, length) = first_word(self.rest);
        self.kind = kind;
        (self.word, self.rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
    }

    fn write(&mut self, kind: WordKind, word: &str) {
        if !matches!(kind, WordKind::Capital | WordKind::Connector) {
            return self.out.push_str(word);
        }
        let connector = self.connector;
        self.out.extend(word.chars().map(|character| match character {
            _ if is_connector(character) => connector,
            _ => single(character, character.to_lowercase()),
        }));
    }

    fn connect(&mut self) {
        if !matches!(self.kind, WordKind::End | WordKind::Connector | WordKind::Punctuation) {
            self.out.push(self.connector);
        }
    }

    /// Small letters and digits after a number belong to it: `20x`.
    fn rest_of_word(&mut self) {
        while matches!(self.kind, WordKind::Letters | WordKind::Number) {
            self.write(self.kind, self.word);
            self.advance();
        }
        self.connect();
    }

    /// A number after a word: a part of that word, unless small letters follow it.
    fn number(&mut self) {
        let number = self.word;
        self.advance();
        if self.kind == WordKind::Letters {
            self.out.push(self.connector);
            self.out.push_str(number);
            self.rest_of_word();
        } else {
            self.out.push_str(number);
            self.connect();
        }
    }
}

/// The other case of a character, if that is one character.
fn single(character: char, mut other: impl ExactSizeIterator<Item = char>) -> char {
    if other.len() == 1 { other.next().unwrap_or(character) } else { character }
}

/// Each word begins with a capital letter, and connectors within the name are left out.
fn camel(text: &str) -> String {
    let name = text.trim_start_matches(is_connector);
    let leading = text.len() - name.len();
    let mut out = String::with_capacity(text.len());
    out.push_str(text.get(..leading).unwrap_or_default());
    let mut characters = name.chars();
    let Some(first) = characters.next() else {
        // The library writes the last of connectors alone twice.
        out.extend(text.chars().next_back());
        return out;
    };
    // A word that begins with two capital letters is one of capital letters.
    let mut is_capital = first.is_uppercase();
    let mut last = single(first, first.to_uppercase());
    for mut next in characters {
        match (is_connector(last), is_connector(next)) {
            (true, true) => out.push(last),
            (true, false) => {
                is_capital = next.is_uppercase();
                next = single(next, next.to_uppercase());
            }
            (false, _) => {
                if is_capital && next.is_uppercase() {
                    next = single(next, next.to_lowercase());
                } else {
                    is_capital = false;
                }
                out.push(last);
            }
        }
        last = next;
    }
    out.push(last);
    out
}

/// Breaks a text at spaces into lines of so many bytes. A longer word is broken as well, or sticks out.
fn wrapped(text: &str, width: i64, separator: &str, breaks_words: bool) -> FunctionResult {
    let width = usize::try_from(width).unwrap_or(0).max(1);
    bounded(text.len().saturating_add((text.len() / width + 1).saturating_mul(separator.len())))?;
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(text.len());
    let mut rest = bytes;
    while rest.len() > width {
        if let Some(after) = rest.strip_prefix(b" ") {
            rest = after;
            continue;
        }
        let is_space = |byte: &u8| *byte == b' ';
        let space = rest.iter().take(width + 1).rposition(is_space);
        let word = || rest.iter().skip(width).position(is_space).map(|at| at + width);
        let (end, next) = match space {
            Some(at) => (at, at + 1),
            None if breaks_words => (width, width),
            None => match word() {
                Some(at) => (at, at + 1),
                None => break,
            },
        };
        out.extend_from_slice(rest.get(..end).unwrap_or_default());
        out.extend_from_slice(separator.as_bytes());
        rest = rest.get(next..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    Ok(String::from_utf8_lossy(&out).into_owned().into())
}

/// A piece of a text of at most so many bytes, with dots where something is cut.
fn abbreviate_both(given: &[Value]) -> FunctionResult {
    let (left, width, text) = (int(given, 0)?, int(given, 1)?, text(given, 2)?);
    if width < 4 || left > 0 && width < 7 {
        return Ok(text.into());
    }
    let width = usize::try_from(width).unwrap_or(usize::MAX);
    if text.len() <= width {
        return Ok(text.into());
    }
    let piece = |from: usize, to: usize| String::from_utf8_lossy(text.as_bytes().get(from..to).unwrap_or_default()).into_owned();
    let kept = width - 3;
    let left = usize::try_from(left).unwrap_or(0).min(text.len() - kept);
    if left <= 4 {
        return Ok(format!("{}...", piece(0, kept)).into());
    }
    if left + kept >= text.len() {
        return Ok(format!("...{}", piece(text.len() - kept, text.len())).into());
    }
    Ok(format!("...{}...", piece(left, left + kept - 3)).into())
}
