//! The translation. What only the crates understand (`[a&&b]`, `\<`, verbose mode) means what it means in Go. What means the same stays as it is
//! written: the gateway compares many patterns by their text.

/// Most repetitions that Go allows, also of repetitions within each other.
const REPETITIONS_MAX: u32 = 1000;

struct Translator<'p> {
    rest: &'p str,
    out: String,
    /// For each open group, the most repetitions within it so far.
    repeated: Vec<u32>,
    /// Bytes behind the last `:]`. No name of a class ends there, so none is looked for.
    behind_names: usize,
}

/// The expression in the syntax of the `regex` crates. `Err` says in Go's words why it is none.
pub fn translate(pattern: &str) -> Result<String, String> {
    let behind_names = pattern.rsplit(":]").next().map_or(0, str::len);
    let out = String::with_capacity(pattern.len() + 16);
    let mut translator = Translator { rest: pattern, out, repeated: Vec::new(), behind_names };
    let done = translator.sequence();
    done.map(|()| translator.out).map_err(|why| format!("error parsing regexp: {why}"))
}

impl Translator<'_> {
    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let first = characters.next()?;
        self.rest = characters.as_str();
        Some(first)
    }

    fn take(&mut self, text: &str) -> bool {
        let after = self.rest.strip_prefix(text);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn sequence(&mut self) -> Result<(), String> {
        // Whether an operator can follow, and whether one was just there.
        let (mut has_operand, mut is_repeated) = (false, false);
        // Repetitions within what was just read, and within the whole group.
        let (mut inner, mut most) = (1, 1);
        while let Some(character) = self.next() {
            let operator = match character {
                '*' | '+' | '?' => Some(character.to_string()),
                '{' => self.counts()?.map(|(operator, count)| {
                    inner *= count.max(1);
                    operator
                }),
                _ => None,
            };
            if let Some(operator) = operator {
                if !has_operand || is_repeated {
                    let what =
                        if is_repeated { "invalid nested repetition operator" } else { "missing argument to repetition operator" };
                    return Err(format!("{what}: `{operator}`"));
                }
                if inner > REPETITIONS_MAX {
                    return Err(format!("invalid repeat count: `{operator}`"));
                }
                most = most.max(inner);
                self.out.push_str(&operator);
                if self.take("?") {
                    self.out.push('?');
                }
                is_repeated = true;
                continue;
            }
            (is_repeated, inner) = (false, 1);
            has_operand = !matches!(character, '|' | '(');
            match character {
                '[' => self.class()?,
                '\\' if self.take("Q") => {
                    let (literal, rest) = self.rest.split_once("\\E").unwrap_or((self.rest, ""));
                    self.rest = rest;
                    literal.chars().for_each(|character| self.literal(character));
                }
                '\\' => {
                    self.escape()?;
                }
                '(' => {
                    self.out.push('(');
                    if self.group()? {
                        self.repeated.push(std::mem::replace(&mut most, 1));
                    }
                }
                ')' => {
                    let outer = self.repeated.pop().ok_or_else(|| "unexpected )".to_owned())?;
                    inner = most;
                    most = outer.max(inner);
                    self.out.push(')');
                }
                '|' | '^' | '$' | '.' => self.out.push(character),
                _ => self.literal(character),
            }
        }
        if self.repeated.is_empty() { Ok(()) } else { Err("missing closing )".to_owned()) }
    }

    /// `{2}`, `{2,}` or `{2,5}`, after the brace; anything else is no operator.
    fn counts(&mut self) -> Result<Option<(String, u32)>, String> {
        let end = self.rest.find(|letter: char| !letter.is_ascii_digit() && letter != ',');
        let Some((inside, rest)) = end.and_then(|end| self.rest.split_at_checked(end)) else { return Ok(None) };
        let Some(rest) = rest.strip_prefix('}') else { return Ok(None) };
        let (least, most) = inside.split_once(',').map_or((inside, None), |(least, most)| (least, Some(most)));
        let is_count = |text: &str| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'))
        };
        if !is_count(least) || !most.is_none_or(|most| most.is_empty() || is_count(most)) {
            return Ok(None);
        }
        let operator = format!("{{{inside}}}");
        let fitting = |text: &str| text.parse::<u32>().ok().filter(|count| *count <= REPETITIONS_MAX);
        let last = most.filter(|most| !most.is_empty()).unwrap_or(least);
        let (Some(least), Some(most)) = (fitting(least), fitting(last)) else {
            return Err(format!("invalid repeat count: `{operator}`"));
        };
        if most < least {
            return Err(format!("invalid repeat count: `{operator}`"));
        }
        self.rest = rest;
        Ok(Some((operator, most)))
    }

    /// What follows the parenthesis of a group: `?:`, `?i:`, `?P<name>`. Returns whether a group is open: `(?i)` is none.
    fn group(&mut self) -> Result<bool, String> {
        if !self.rest.starts_with('?') {
            return Ok(true);
        }
        let end = self.rest.find([':', ')', '>']).ok_or("missing closing )")?;
        let head = self.rest.get(..=end).unwrap_or_default();
        let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let name = head.strip_prefix("?P<").or_else(|| head.strip_prefix("?<")).and_then(|name| name.strip_suffix('>'));
        let flags = head.strip_prefix('?').and_then(|head| head.strip_suffix([':', ')']));
        let is_flags = flags.is_some_and(|flags| {
            let parts = flags.split_once('-').map_or((flags, None), |(on, off)| (on, Some(off)));
            let known = |part: &str| part.bytes().all(|byte| b"imsU".contains(&byte));
            known(parts.0) && parts.1.is_none_or(|off| !off.is_empty() && known(off)) && head != "?)"
        });
        // The crates do not allow a name to begin with a digit.
        if let Some(name) = name.filter(|name| is_name(name)) {
            if name.starts_with(|letter: char| letter.is_ascii_digit()) {
                return Err(format!("a group's name that begins with a digit is not supported: `{name}`"));
            }
        } else if !is_flags {
            return Err(format!("invalid or unsupported Perl syntax: `({head}`"));
        }
        self.out.push_str(head);
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        Ok(!head.ends_with(')'))
    }

    /// An escape outside of a class, after its backslash.
    fn escape(&mut self) -> Result<(), String> {
        let letter = self.next().ok_or("trailing backslash at end of expression: ``")?;
        match letter {
            'b' => self.out.push_str(r"(?-u:\b)"),
            'B' => self.out.push_str(r"(?-u:\B)"),
            'A' | 'z' => self.out.extend(['\\', letter]),
            _ if self.named_class(letter)? => {}
            _ => {
                let character = self.character(letter)?;
                self.literal(character);
            }
        }
        Ok(())
    }

    /// A class of a letter after a backslash, if it is one. Classes can be nested, so this works within brackets as well.
    fn named_class(&mut self, letter: char) -> Result<bool, String> {
        self.out.push_str(match letter {
            'd' => "[0-9]",
            'D' => "[^0-9]",
            'w' => "[0-9A-Za-z_]",
            'W' => "[^0-9A-Za-z_]",
            // Without the vertical tab.
            's' => r"[\t\n\x0C\r\x20]",
            'S' => r"[^\t\n\x0C\r\x20]",
            'p' | 'P' => {
                let property = self.property(letter == 'P')?;
                self.out.push_str(&property);
                return Ok(true);
            }
            _ => return Ok(false),
        });
        Ok(true)
    }

    /// A character outside of a class that stands for itself.
    fn literal(&mut self, character: char) {
        if matches!(character, '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$') {
            self.out.push('\\');
        }
        self.out.push(character);
    }

    /// `\pN`, `\p{Greek}` or `\p{^Greek}`, after the letter.
    fn property(&mut self, mut is_negated: bool) -> Result<String, String> {
        let name = if self.take("{") {
            let (name, rest) = self.rest.split_once('}').ok_or("invalid character class range: `\\p{`")?;
            self.rest = rest;
            is_negated ^= name.starts_with('^');
            name.strip_prefix('^').unwrap_or(name).to_owned()
        } else {
            self.next().ok_or("invalid character class range: `\\p`")?.to_string()
        };
        if !name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_') {
            return Err(format!("invalid character class range: `\\p{{{name}}}`"));
        }
        Ok(format!("\\{}{{{name}}}", if is_negated { 'P' } else { 'p' }))
    }

    /// The character of an escape that stands for one.
    fn character(&mut self, letter: char) -> Result<char, String> {
        let invalid = || format!("invalid escape sequence: `\\{letter}`");
        let code = match letter {
            'a' => 7,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            'x' => {
                let digits = if self.take("{") {
                    let (digits, rest) = self.rest.split_once('}').ok_or_else(invalid)?;
                    self.rest = rest;
                    digits
                } else {
                    let (digits, rest) = self.rest.split_at_checked(2).ok_or_else(invalid)?;
                    self.rest = rest;
                    digits
                };
                let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                u32::from_str_radix(digits, 16).ok().filter(|_| is_hex).ok_or_else(invalid)?
            }
            '0'..='7' => {
                let is_octal = |byte: &u8| (b'0'..=b'7').contains(byte);
                let more = self.rest.bytes().take(2).take_while(is_octal).count();
                // A single digit would be a reference to a group.
                if letter != '0' && more == 0 {
                    return Err(invalid());
                }
                let (digits, rest) = self.rest.split_at_checked(more).unwrap_or(("", self.rest));
                self.rest = rest;
                u32::from_str_radix(&format!("{letter}{digits}"), 8).map_err(|_| invalid())?
            }
            _ if letter.is_ascii() && !letter.is_ascii_alphanumeric() => u32::from(letter),
            _ => return Err(invalid()),
        };
        char::from_u32(code).ok_or_else(invalid)
    }

    /// A class, after its bracket.
    fn class(&mut self) -> Result<(), String> {
        let missing = || "missing closing ]".to_owned();
        self.out.push('[');
        if self.take("^") {
            self.out.push('^');
        }
        let mut is_first = true;
        loop {
            if !is_first && self.take("]") {
                self.out.push(']');
                return Ok(());
            }
            is_first = false;
            if let Some(name) = self.posix()? {
                self.out.push_str(&format!("[:{name}:]"));
                continue;
            }
            let character = self.next().ok_or_else(missing)?;
            if let Some(letter) = self.rest.chars().next().filter(|_| character == '\\') {
                let before = self.rest;
                self.next();
                if self.named_class(letter)? {
                    continue;
                }
                self.rest = before;
            }
            let low = self.member(character)?;
            let is_range = self.rest.starts_with('-') && !self.rest.starts_with("-]") && self.rest.len() > 1;
            self.class_literal(low);
            if is_range {
                self.take("-");
                let high = self.next().ok_or_else(missing)?;
                let high = self.member(high)?;
                if high < low {
                    return Err(format!("invalid character class range: `{low}-{high}`"));
                }
                self.out.push('-');
                self.class_literal(high);
            }
        }
    }

    /// A character of a class that stands for itself. In the crates' classes, brackets nest, and `&&`, `--` and `~~` are operators.
    fn class_literal(&mut self, character: char) {
        if matches!(character, '\\' | '[' | ']' | '^' | '-' | '&' | '~') {
            self.out.push('\\');
        }
        self.out.push(character);
    }

    /// A single character of a class, of which the first was taken.
    fn member(&mut self, first: char) -> Result<char, String> {
        if first != '\\' {
            return Ok(first);
        }
        let letter = self.next().ok_or("missing closing ]")?;
        self.character(letter)
    }

    /// The name in `[:alpha:]`, if one comes next.
    fn posix(&mut self) -> Result<Option<&'static str>, String> {
        const NAMES: [&str; 28] = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
            "xdigit", "^alnum", "^alpha", "^ascii", "^blank", "^cntrl", "^digit", "^graph", "^lower", "^print", "^punct", "^space",
            "^upper", "^word", "^xdigit",
        ];
        if self.rest.len() <= self.behind_names {
            return Ok(None);
        }
        let Some((name, rest)) = self.rest.strip_prefix("[:").and_then(|inside| inside.split_once(":]")) else { return Ok(None) };
        let known = NAMES.into_iter().find(|known| *known == name);
        self.rest = rest;
        known.map(Some).ok_or_else(|| format!("invalid character class range: `[:{name}:]`"))
    }
}
