//! Splits the text of a template into tokens. It trims the text between actions for `{{-` and `-}}`, and drops comments.

use crate::ParseError;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lexeme {
    Text(String),
    /// `{{`
    Open,
    /// `}}`
    Close,
    /// White space between two words of an action.
    Space,
    /// A keyword, the name of a function, `true`, `false` or `nil`.
    Word(String),
    /// `.Name`
    Field(String),
    Dot,
    /// `$` or `$name`
    Variable(String),
    Number(String),
    /// A quoted text or a character constant, without its quotes and escapes.
    String(String),
    Character(char),
    Pipe,
    LeftParenthesis,
    RightParenthesis,
    Declare,
    Assign,
    Comma,
}

/// A token and the line where it starts.
#[derive(Clone, Debug)]
pub(crate) struct PlacedToken {
    pub token: Lexeme,
    pub line: usize,
}

struct Lexer<'t> {
    rest: &'t str,
    line: usize,
    tokens: Vec<PlacedToken>,
}

pub(crate) fn tokens(text: &str) -> Result<Vec<PlacedToken>, ParseError> {
    let mut lexer = Lexer { rest: text, line: 1, tokens: Vec::new() };
    let mut trim = false;
    while let Some((before, after)) = lexer.rest.split_once("{{") {
        let trims = after.starts_with('-') && after[1..].starts_with(is_space);
        lexer.text(before, trim, trims);
        lexer.advance(before.len() + 2 + usize::from(trims) * 2);
        trim = match lexer.comment()? {
            Some(trim) => trim,
            None => lexer.action()?,
        };
    }
    let rest = lexer.rest;
    lexer.text(rest, trim, false);
    Ok(lexer.tokens)
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

impl<'t> Lexer<'t> {
    fn text(&mut self, text: &str, trim_start: bool, trim_end: bool) {
        let mut kept = text;
        if trim_start {
            kept = kept.trim_start_matches(is_space);
        }
        if trim_end {
            kept = kept.trim_end_matches(is_space);
        }
        if !kept.is_empty() {
            self.push(Lexeme::Text(kept.to_owned()));
        }
    }

    fn push(&mut self, token: Lexeme) {
        self.tokens.push(PlacedToken { token, line: self.line });
    }

    /// Takes bytes off the rest. They end at a character boundary.
    fn advance(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError { line: self.line, message: message.into() }
    }

    /// Skips `/* ... */}}` and returns whether the text after it is trimmed; `None` if there is no comment.
    fn comment(&mut self) -> Result<Option<bool>, ParseError> {
        if !self.rest.starts_with("/*") {
            return Ok(None);
        }
        let end = self.rest.find("*/").ok_or_else(|| self.error("unclosed comment"))?;
        self.advance(end + 2);
        if self.rest.starts_with("}}") {
            self.advance(2);
            return Ok(Some(false));
        }
        if self.rest.starts_with(is_space) && self.rest[1..].starts_with("-}}") {
            self.advance(4);
            return Ok(Some(true));
        }
        Err(self.error("comment ends before closing delimiter"))
    }

    /// Takes an action up to its `}}` and returns whether the text after it is trimmed.
    fn action(&mut self) -> Result<bool, ParseError> {
        self.push(Lexeme::Open);
        loop {
            let Some(first) = self.rest.chars().next() else { return Err(self.error("unclosed action")) };
            if self.rest.starts_with("}}") {
                self.push(Lexeme::Close);
                self.advance(2);
                return Ok(false);
            }
            if is_space(first) {
                if self.spaces() {
                    return Ok(true);
                }
                continue;
            }
            self.word(first)?;
        }
    }

    /// Takes white space; before `-}}` it ends the action.
    fn spaces(&mut self) -> bool {
        let blanks = self.rest.len() - self.rest.trim_start_matches(is_space).len();
        self.advance(blanks);
        if self.rest.starts_with("-}}") {
            self.push(Lexeme::Close);
            self.advance(3);
            return true;
        }
        self.push(Lexeme::Space);
        false
    }

    fn word(&mut self, first: char) -> Result<(), ParseError> {
        let single = match first {
            '|' => Some(Lexeme::Pipe),
            '(' => Some(Lexeme::LeftParenthesis),
            ')' => Some(Lexeme::RightParenthesis),
            ',' => Some(Lexeme::Comma),
            '=' => Some(Lexeme::Assign),
            _ => None,
        };
        if let Some(token) = single {
            self.push(token);
            self.advance(1);
            return Ok(());
        }
        let second = self.rest[first.len_utf8()..].chars().next();
        match first {
            ':' if second == Some('=') => {
                self.push(Lexeme::Declare);
                self.advance(2);
                Ok(())
            }
            '"' | '\'' => self.quoted(first),
            '`' => self.raw(),
            '$' => {
                self.advance(1);
                let name = self.name();
                self.push(Lexeme::Variable(format!("${name}")));
                self.ends_well()
            }
            '.' if second.is_none_or(|second| !second.is_ascii_digit()) => {
                self.advance(1);
                let name = self.name();
                self.push(if name.is_empty() { Lexeme::Dot } else { Lexeme::Field(name.to_owned()) });
                self.ends_well()
            }
            '+' | '-' | '.' | '0'..='9' => self.number(),
            _ if is_word(first) => {
                let name = self.name();
                self.push(Lexeme::Word(name.to_owned()));
                self.ends_well()
            }
            _ => Err(self.error(format!("unexpected {first:?} in action"))),
        }
    }

    fn name(&mut self) -> &'t str {
        let length = self.rest.len() - self.rest.trim_start_matches(is_word).len();
        self.advance(length)
    }

    /// Whether white space or a symbol follows, as it must after names and numbers.
    fn ends_well(&self) -> Result<(), ParseError> {
        let Some(next) = self.rest.chars().next() else { return Ok(()) };
        if is_space(next) || matches!(next, '.' | ',' | '|' | ':' | '=' | ')' | '(' | '}') {
            return Ok(());
        }
        Err(self.error(format!("bad character {next:?}")))
    }

    fn number(&mut self) -> Result<(), ParseError> {
        let mut previous = ' ';
        let length = self.rest.find(|character: char| {
            let signed = matches!(character, '+' | '-') && (previous == ' ' || matches!(previous, 'e' | 'E' | 'p' | 'P'));
            previous = character;
            !(signed || character == '.' || is_word(character))
        });
        let text = self.advance(length.unwrap_or(self.rest.len()));
        self.push(Lexeme::Number(text.to_owned()));
        Ok(())
    }

    fn raw(&mut self) -> Result<(), ParseError> {
        let Some(end) = self.rest.get(1..).and_then(|inner| inner.find('`')) else {
            return Err(self.error("unterminated raw quoted string"));
        };
        let text = self.rest[1..=end].replace('\r', "");
        self.push(Lexeme::String(text));
        self.advance(end + 2);
        Ok(())
    }

    /// A text in double quotes, or a character in single ones, with Go's escapes.
    fn quoted(&mut self, quote: char) -> Result<(), ParseError> {
        let kind = if quote == '"' { "quoted string" } else { "character constant" };
        let mut bytes = Vec::new();
        let mut characters = self.rest.char_indices().skip(1);
        let end = loop {
            match characters.next() {
                None | Some((_, '\n')) => return Err(self.error(format!("unterminated {kind}"))),
                Some((at, character)) if character == quote => break at + 1,
                Some((_, '\\')) => {
                    escape(&mut characters, quote, &mut bytes).ok_or_else(|| self.error(format!("invalid escape in {kind}")))?
                }
                Some((_, character)) => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        };
        let text = String::from_utf8(bytes).map_err(|_| self.error(format!("a {kind} that is not UTF-8")))?;
        let mut single = text.chars();
        match (quote, single.next(), single.next()) {
            ('\'', Some(character), None) => self.push(Lexeme::Character(character)),
            ('\'', ..) => return Err(self.error("malformed character constant")),
            _ => self.push(Lexeme::String(text)),
        }
        self.advance(end);
        Ok(())
    }
}

/// What follows a backslash.
fn escape(characters: &mut impl Iterator<Item = (usize, char)>, quote: char, bytes: &mut Vec<u8>) -> Option<()> {
    let kind = characters.next().map(|(_, character)| character)?;
    let mut number = |digits: usize, radix: u32, text: String| {
        let text: String = text.chars().chain(characters.by_ref().take(digits).map(|(_, digit)| digit)).collect();
        u32::from_str_radix(&text, radix).ok()
    };
    let character = match kind {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' => '\\',
        'u' => char::from_u32(number(4, 16, String::new())?)?,
        'U' => char::from_u32(number(8, 16, String::new())?)?,
        'x' => {
            bytes.push(u8::try_from(number(2, 16, String::new())?).ok()?);
            return Some(());
        }
        '0'..='7' => {
            bytes.push(u8::try_from(number(2, 8, kind.to_string())?).ok()?);
            return Some(());
        }
        _ if kind == quote => kind,
        _ => return None,
    };
    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Some(())
}
