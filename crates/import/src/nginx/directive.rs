//! The directives of nginx's files: words, blocks, and what `include` names.

use crate::files::{ImportFailure, NamedFiles};
use crate::report::{ImportReport, Place};
use std::path::{Path, PathBuf};

/// Deepest nesting of blocks and of files.
const DEPTH_MAX: usize = 32;
/// Most directives of all files.
const DIRECTIVES_MAX: usize = 200_000;

/// A directive with its words; `block` is `None` if it ends with a semicolon.
#[derive(Clone, Debug)]
pub(super) struct Directive {
    pub name: String,
    pub words: Vec<String>,
    pub block: Option<Vec<Directive>>,
    pub place: Place,
    /// Its number among all directives.
    pub number: usize,
}

impl Directive {
    /// A word; empty if there is none.
    pub(super) fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }

    pub(super) fn inner(&self) -> &[Directive] {
        self.block.as_deref().unwrap_or_default()
    }
}

enum Token {
    Word(String),
    End,
    Open,
    Close,
}

/// Reads the first file and all that it includes.
pub(super) fn read(text: String, files: &mut NamedFiles, report: &mut ImportReport) -> Result<Vec<Directive>, ImportFailure> {
    let first = files.first().to_owned();
    let mut reader = Reader { files, report, count: 0 };
    reader.file(&first, &text, &mut vec![first.clone()], 0)
}

struct Reader<'r> {
    files: &'r mut NamedFiles,
    report: &'r mut ImportReport,
    count: usize,
}

impl Reader<'_> {
    fn file(&mut self, path: &Path, text: &str, open: &mut Vec<PathBuf>, depth: usize) -> Result<Vec<Directive>, ImportFailure> {
        let mut lexer = Lexer { path, letters: text.chars().peekable(), line: 1 };
        let directives = self.block(&mut lexer, open, depth)?;
        match lexer.next()? {
            None => Ok(directives),
            Some(_) => Err(lexer.failure("} closes nothing")),
        }
    }

    /// The directives until a `}` that is left to the caller, or the end.
    fn block(&mut self, lexer: &mut Lexer<'_>, open: &mut Vec<PathBuf>, depth: usize) -> Result<Vec<Directive>, ImportFailure> {
        if depth > DEPTH_MAX {
            return Err(lexer.failure(format!("is nested deeper than {DEPTH_MAX} levels")));
        }
        let mut list = Vec::new();
        loop {
            lexer.skip();
            if lexer.letters.peek().is_none_or(|letter| *letter == '}') {
                return Ok(list);
            }
            let place = Place::new(lexer.path, lexer.line);
            let mut words = Vec::new();
            let block = loop {
                match lexer.next()? {
                    Some(Token::Word(word)) => words.push(word),
                    Some(Token::End) => break None,
                    Some(Token::Open) if words.first().is_some_and(|name| name.ends_with("_by_lua_block")) => {
                        lexer.skip_code()?;
                        break Some(Vec::new());
                    }
                    Some(Token::Open) => {
                        let inner = self.block(lexer, open, depth + 1)?;
                        match lexer.next()? {
                            Some(Token::Close) => break Some(inner),
                            _ => return Err(ImportFailure::new(lexer.path, place.line, "has no } to its {")),
                        }
                    }
                    Some(Token::Close) => return Err(lexer.failure("} stands where ; is missing")),
                    None => return Err(lexer.failure("ends within a directive: ; or } is missing")),
                }
            };
            if words.is_empty() {
                return Err(ImportFailure::new(
                    lexer.path,
                    place.line,
                    "a semicolon or a block stands where a directive is missing",
                ));
            }
            self.count += 1;
            if self.count > DIRECTIVES_MAX {
                return Err(lexer.failure(format!("has more than {DIRECTIVES_MAX} directives")));
            }
            let name = words.remove(0);
            let directive = Directive { name, words, block, place, number: self.count };
            if directive.name == "include" && directive.block.is_none() {
                self.include(&directive, &mut list, open, depth)?;
            } else {
                list.push(directive);
            }
        }
    }

    fn include(
        &mut self,
        directive: &Directive,
        list: &mut Vec<Directive>,
        open: &mut Vec<PathBuf>,
        depth: usize,
    ) -> Result<(), ImportFailure> {
        let name = directive.word(0);
        if name.ends_with("mime.types") {
            self.report.other_work(&directive.place, "include", "types of files that nginx itself serves");
            return Ok(());
        }
        let has_wildcard = name.contains(['*', '?', '[']);
        let paths = if has_wildcard {
            match self.files.matching(name) {
                Ok((paths, outside)) => {
                    for path in outside {
                        let why = format!("{}: a symbolic link leads out of the directory; name the file itself", path.display());
                        self.report.unprotected(&directive.place, "include", why);
                    }
                    paths
                }
                Err(why) => {
                    self.report.unprotected(&directive.place, "include", why);
                    return Ok(());
                }
            }
        } else {
            vec![self.files.path(name)]
        };
        for path in &paths {
            if open.contains(path) {
                return Err(ImportFailure::new(
                    Path::new(&directive.place.file),
                    directive.place.line,
                    format!("{name} includes itself"),
                ));
            }
            if open.len() > DEPTH_MAX {
                return Err(ImportFailure::new(
                    Path::new(&directive.place.file),
                    directive.place.line,
                    "files are included too deep",
                ));
            }
            match self.files.read(path) {
                Ok(text) => {
                    open.push(path.clone());
                    let inner = self.file(path, &text, open, depth + 1)?;
                    open.pop();
                    list.extend(inner);
                }
                // What is not there may have protected something.
                Err(why) => self.report.unprotected(&directive.place, "include", format!("{} {why}", path.display())),
            }
        }
        let why_nothing = "no file matches";
        match paths.is_empty() {
            true => self.report.approximated(&directive.place, "include", why_nothing),
            false => self.report.carried(&directive.place, "include"),
        }
        Ok(())
    }
}

struct Lexer<'t> {
    path: &'t Path,
    letters: std::iter::Peekable<std::str::Chars<'t>>,
    line: usize,
}

impl Lexer<'_> {
    fn failure(&self, why: impl Into<String>) -> ImportFailure {
        ImportFailure::new(self.path, self.line, why)
    }

    fn letter(&mut self) -> Option<char> {
        let letter = self.letters.next();
        if letter == Some('\n') {
            self.line += 1;
        }
        letter
    }

    /// Skips spaces and comments.
    fn skip(&mut self) {
        while let Some(letter) = self.letters.peek() {
            match letter {
                '#' => while self.letter().is_some_and(|letter| letter != '\n') {},
                letter if letter.is_whitespace() || *letter == '\u{feff}' => {
                    self.letter();
                }
                _ => return,
            }
        }
    }

    fn next(&mut self) -> Result<Option<Token>, ImportFailure> {
        self.skip();
        let Some(first) = self.letter() else { return Ok(None) };
        match first {
            ';' => return Ok(Some(Token::End)),
            '{' => return Ok(Some(Token::Open)),
            '}' => return Ok(Some(Token::Close)),
            '"' | '\'' => return self.quoted(first).map(|word| Some(Token::Word(word))),
            _ => {}
        }
        let mut word = String::from(first);
        let mut is_escaped = first == '\\';
        while let Some(letter) = self.letters.peek().copied() {
            // `${name}` belongs to the word.
            let is_variable = letter == '{' && word.ends_with('$');
            if !is_escaped && (letter.is_whitespace() || letter == ';' || (letter == '{' && !is_variable)) {
                break;
            }
            if is_variable {
                while let Some(letter) = self.letter() {
                    word.push(letter);
                    if letter == '}' {
                        break;
                    }
                }
                continue;
            }
            is_escaped = !is_escaped && letter == '\\';
            word.push(letter);
            self.letter();
        }
        Ok(Some(Token::Word(word)))
    }

    fn quoted(&mut self, quote: char) -> Result<String, ImportFailure> {
        let begin = self.line;
        let mut word = String::new();
        while let Some(letter) = self.letter() {
            if letter == quote {
                return Ok(word);
            }
            if letter == '\\' {
                match self.letters.peek() {
                    Some(next) if *next == quote || *next == '\\' => {
                        let next = self.letter().unwrap_or_default();
                        if next == '\\' {
                            word.push('\\');
                        }
                        word.push(next);
                        continue;
                    }
                    _ => {}
                }
            }
            word.push(letter);
        }
        Err(ImportFailure::new(self.path, begin, "a quotation mark is not closed"))
    }

    /// Skips a program in another language, whose braces are balanced.
    fn skip_code(&mut self) -> Result<(), ImportFailure> {
        let begin = self.line;
        let mut depth = 1_usize;
        while let Some(letter) = self.letter() {
            match letter {
                '{' => depth += 1,
                '}' => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        Err(ImportFailure::new(self.path, begin, "has no } to its {"))
    }
}
