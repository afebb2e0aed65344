//! Sections of HAProxy's configuration, with their lines in words.

use crate::files::{ImportFailure, NamedFiles};
use crate::report::Place;

/// Most lines of a file.
const LINES_MAX: usize = 100_000;

/// A line with its words, without comment.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub place: Place,
    pub words: Vec<String>,
}

impl Line {
    pub(super) fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }

    pub(super) fn from(&self, index: usize) -> &[String] {
        self.words.get(index..).unwrap_or_default()
    }
}

/// `frontend`, `backend` and so on, with its lines.
pub(super) struct Section {
    pub head: Line,
    pub lines: Vec<Line>,
}

/// The sections of a file.
pub(super) fn sections(text: &str, files: &NamedFiles) -> Result<Vec<Section>, ImportFailure> {
    let mut sections: Vec<Section> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if number >= LINES_MAX {
            return Err(files.failure(format!("has more than {LINES_MAX} lines")));
        }
        let words = words(line)
            .ok_or_else(|| ImportFailure::new(files.first(), number + 1, "a quotation mark is not closed in its line"))?;
        let Some(first) = words.first() else { continue };
        let is_head = !line.starts_with([' ', '\t'])
            && [
                "global",
                "defaults",
                "frontend",
                "backend",
                "listen",
                "userlist",
                "peers",
                "resolvers",
                "cache",
                "program",
                "mailers",
                "ring",
                "http-errors",
            ]
            .contains(&first.as_str());
        let line = Line { place: Place::new(files.first(), number + 1), words };
        match (is_head, sections.last_mut()) {
            (true, _) => sections.push(Section { head: line, lines: Vec::new() }),
            (false, Some(section)) => section.lines.push(line),
            (false, None) => return Err(ImportFailure::new(files.first(), number + 1, "stands before the first section")),
        }
    }
    Ok(sections)
}

/// Whether the words of a section's first line are those that it has.
pub(super) fn is_head(head: &Line) -> bool {
    let (name, rest) = (head.word(1), head.from(2));
    let is_from = |rest: &[String]| matches!(rest, [from, name] if from == "from" && is_name(name));
    match head.word(0) {
        "global" => head.words.len() == 1,
        "defaults" => name.is_empty() || (is_name(name) && (rest.is_empty() || is_from(rest))),
        "frontend" | "backend" | "listen" => is_name(name) && (rest.is_empty() || is_from(rest)),
        _ => true,
    }
}

/// Words of a line, with quotation marks and backslashes; `None` if a quotation mark is not closed.
fn words(line: &str) -> Option<Vec<String>> {
    let mut list = Vec::new();
    let mut word = String::new();
    let (mut quote, mut is_word) = (None, false);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(letter);
                is_word = true;
            }
            // What it does not escape, it stays before.
            ('\\', None | Some('"')) => {
                is_word = true;
                match letters.clone().next() {
                    Some(next) if " \"#'\\".contains(next) => word.extend(letters.next()),
                    _ => word.push('\\'),
                }
            }
            ('#', None) => break,
            (letter, None) if letter.is_whitespace() => {
                if is_word {
                    list.push(std::mem::take(&mut word));
                    is_word = false;
                }
            }
            (letter, _) => {
                word.push(letter);
                is_word = true;
            }
        }
    }
    if is_word {
        list.push(word);
    }
    quote.is_none().then_some(list)
}

/// Whether a text is a name: of an acl, a section, a server.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
}
