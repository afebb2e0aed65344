//! Lines of a Caddyfile with their blocks, and snippets in the places that import them.

use crate::files::{ImportFailure, NamedFiles};
use crate::report::Place;
use std::collections::BTreeMap;

/// Deepest nesting of blocks, and of snippets in snippets.
const DEPTH_MAX: usize = 16;
/// Most lines, those of snippets counted in each place.
const LINES_MAX: usize = 100_000;

/// A line, and the block that it opens.
#[derive(Clone, Debug)]
pub(super) struct CaddyLine {
    pub place: Place,
    pub words: Vec<String>,
    pub block: Option<Vec<CaddyLine>>,
}

impl CaddyLine {
    pub(super) fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }

    pub(super) fn from(&self, index: usize) -> &[String] {
        self.words.get(index..).unwrap_or_default()
    }

    pub(super) fn inner(&self) -> &[CaddyLine] {
        self.block.as_deref().unwrap_or_default()
    }
}

/// All lines of the outermost level, without snippets.
pub(super) fn read(text: &str, files: &NamedFiles) -> Result<Vec<CaddyLine>, ImportFailure> {
    let mut reader = CaddyReader { files, lines: text.lines().enumerate(), snippets: BTreeMap::new(), left: LINES_MAX };
    let raw = reader.block(0)?;
    let mut rest = Vec::new();
    for line in raw {
        let name = line.words.first().and_then(|word| word.strip_prefix('(')?.strip_suffix(')')).map(str::to_owned);
        match name {
            Some(name) => {
                reader.snippets.insert(name, line.block.unwrap_or_default());
            }
            None => rest.push(line),
        }
    }
    reader.expanded(&rest, 0)
}

struct CaddyReader<'f, I> {
    files: &'f NamedFiles,
    lines: I,
    snippets: BTreeMap<String, Vec<CaddyLine>>,
    left: usize,
}

impl<'t, I: Iterator<Item = (usize, &'t str)>> CaddyReader<'_, I> {
    fn block(&mut self, depth: usize) -> Result<Vec<CaddyLine>, ImportFailure> {
        let mut list = Vec::new();
        while let Some((index, line)) = self.lines.next() {
            let number = index + 1;
            let failure = |why: &str| ImportFailure::new(self.files.first(), number, why);
            if depth > DEPTH_MAX {
                return Err(failure(&format!("is nested deeper than {DEPTH_MAX} levels")));
            }
            let mut words = words(line).map_err(failure)?;
            if words.is_empty() {
                continue;
            }
            if words == ["}"] {
                return if depth > 0 { Ok(list) } else { Err(failure("} closes nothing")) };
            }
            let opens = words.last().is_some_and(|word| word == "{");
            if opens {
                words.pop();
            }
            let block = if opens { Some(self.block(depth + 1)?) } else { None };
            list.push(CaddyLine { place: Place::new(self.files.first(), number), words, block });
        }
        if depth > 0 { Err(self.files.failure("ends within a block: } is missing")) } else { Ok(list) }
    }

    /// The lines with snippets in the places of `import`. What is imported from files stays as it is.
    fn expanded(&mut self, lines: &[CaddyLine], depth: usize) -> Result<Vec<CaddyLine>, ImportFailure> {
        let mut list = Vec::new();
        for line in lines {
            self.left = self.left.checked_sub(1).ok_or_else(|| {
                ImportFailure::new(
                    self.files.first(),
                    line.place.line,
                    format!("has more than {LINES_MAX} lines with its snippets"),
                )
            })?;
            let snippet = (line.word(0) == "import").then(|| self.snippets.get(line.word(1)).cloned()).flatten();
            if let Some(snippet) = snippet {
                if depth > DEPTH_MAX {
                    return Err(ImportFailure::new(self.files.first(), line.place.line, "imports itself"));
                }
                let snippet: Vec<CaddyLine> = snippet.iter().map(|inner| with_arguments(inner, line.from(2))).collect();
                list.extend(self.expanded(&snippet, depth + 1)?);
                continue;
            }
            let block = match &line.block {
                Some(inner) => Some(self.expanded(inner, depth)?),
                None => None,
            };
            list.push(CaddyLine { block, ..line.clone() });
        }
        Ok(list)
    }
}

/// A line of a snippet with what it is imported with.
fn with_arguments(line: &CaddyLine, arguments: &[String]) -> CaddyLine {
    let filled = |word: &String| {
        let mut word = word.clone();
        for (index, argument) in arguments.iter().enumerate() {
            word = word.replace(&format!("{{args[{index}]}}"), argument).replace(&format!("{{args.{index}}}"), argument);
        }
        word
    };
    CaddyLine {
        place: line.place.clone(),
        words: line.words.iter().map(filled).collect(),
        block: line.block.as_ref().map(|block| block.iter().map(|inner| with_arguments(inner, arguments)).collect()),
    }
}

/// The words of a line: what is in quotation marks is one.
fn words(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut letters = line.chars().peekable();
    while let Some(first) = letters.next() {
        match first {
            letter if letter.is_whitespace() => {}
            '#' => break,
            '"' | '`' => {
                let mut word = String::new();
                loop {
                    match letters.next() {
                        None => return Err("a quotation mark is not closed in its line"),
                        Some('\\') if first == '"' && letters.peek() == Some(&'"') => word.extend(letters.next()),
                        Some(letter) if letter == first => break,
                        Some(letter) => word.push(letter),
                    }
                }
                words.push(word);
            }
            first => {
                let mut word = String::from(first);
                while let Some(letter) = letters.next_if(|letter| !letter.is_whitespace()) {
                    word.push(letter);
                }
                if word.starts_with("<<") {
                    return Err("texts of several lines are not read");
                }
                words.push(word);
            }
        }
    }
    Ok(words)
}

/// `10MB`, `10MiB`, `512`.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = text.get(digits.len()..).unwrap_or_default().to_ascii_lowercase();
    let factor = match unit.as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "kib" => 1 << 10,
        "mb" => 1_000_000,
        "mib" => 1 << 20,
        "gb" => 1_000_000_000,
        "gib" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}
