//! Operators: what a rule asks of a value. Expressions and word lists are automata, whose time is linear in the value.

use crate::budget::{InspectionBudget, TooMuchWork};
use crate::expression::expression;
use crate::text::{MacroText, TextVariables};
use crate::value_class::{ClassSet, ValueClass};
use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};
use ipnet::IpNet;
use regex::bytes::Regex;
use std::net::IpAddr;

/// libinjection reads each byte several times.
const INJECTION_WEIGHT: u64 = 8;
/// Most bytes of a value that libinjection reads. It judges by the first tokens.
const INJECTION_BYTES_MAX: usize = 16 << 10;

#[derive(Debug)]
pub(crate) enum RuleOperator {
    Always,
    BeginsWith(MacroText),
    Contains(MacroText),
    ContainsWord(MacroText),
    DetectSqli,
    DetectXss,
    EndsWith(MacroText),
    /// Compares numbers; a text counts as the number that it begins with.
    Number(Comparison, MacroText),
    IpMatch(Vec<IpNet>),
    Never,
    /// The second is for which classes of values no word fits.
    Phrases(AhoCorasick, ClassSet),
    Regex(Box<Regex>),
    Streq(MacroText),
    /// Matches if a byte is not among these.
    ByteRange(Box<[bool; 256]>),
    /// Matches if an escape of a URL is not valid.
    UrlEncoding,
    /// Matches if the bytes are not UTF-8.
    Utf8Encoding,
    Within(MacroText),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Comparison {
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
}

/// Texts of a match: the whole and the groups of an expression, the word of a list.
pub(crate) type Captures = Vec<Vec<u8>>;

impl RuleOperator {
    /// `name` is without `@`. `words` gives the lines of a file by its name.
    pub(crate) fn compile(name: &str, argument: &str, words: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let text = || MacroText::read(argument);
        Ok(match name.to_ascii_lowercase().as_str() {
            "beginswith" => RuleOperator::BeginsWith(text()?),
            "contains" | "strmatch" => RuleOperator::Contains(text()?),
            "containsword" => RuleOperator::ContainsWord(text()?),
            "detectsqli" => RuleOperator::DetectSqli,
            "detectxss" => RuleOperator::DetectXss,
            "endswith" => RuleOperator::EndsWith(text()?),
            "eq" => RuleOperator::Number(Comparison::Eq, text()?),
            "ge" => RuleOperator::Number(Comparison::Ge, text()?),
            "gt" => RuleOperator::Number(Comparison::Gt, text()?),
            "le" => RuleOperator::Number(Comparison::Le, text()?),
            "lt" => RuleOperator::Number(Comparison::Lt, text()?),
            "ipmatch" => RuleOperator::IpMatch(networks(argument.split(','))?),
            "ipmatchfromfile" | "ipmatchf" => RuleOperator::IpMatch(networks(file(argument, words)?.lines())?),
            "nomatch" => RuleOperator::Never,
            "pm" => phrases(argument.split_whitespace())?,
            "pmfromfile" | "pmf" => phrases(lines(&file(argument, words)?))?,
            "rx" => RuleOperator::Regex(Box::new(expression(argument, false)?)),
            "streq" => RuleOperator::Streq(text()?),
            "unconditionalmatch" => RuleOperator::Always,
            "validatebyterange" => RuleOperator::ByteRange(byte_range(argument)?),
            "validateurlencoding" => RuleOperator::UrlEncoding,
            "validateutf8encoding" => RuleOperator::Utf8Encoding,
            "within" => RuleOperator::Within(text()?),
            _ => return Err(format!("the operator @{name} is not supported")),
        })
    }

    /// Whether no value with the alphabet of this class fits.
    pub(crate) fn never_fits(&self, class: ValueClass) -> bool {
        match self {
            RuleOperator::Never | RuleOperator::UrlEncoding | RuleOperator::Utf8Encoding => true,
            RuleOperator::Phrases(_, beyond) => beyond.has(class),
            RuleOperator::Regex(expression) => class.is_beyond(expression.as_str()),
            RuleOperator::ByteRange(allowed) => (0..=u8::MAX).zip(allowed.iter()).all(|(byte, is)| *is || !class.has(byte)),
            // One number or word is no injection; two dashes may be a part of one.
            RuleOperator::DetectSqli | RuleOperator::DetectXss => class != ValueClass::Plain,
            _ => false,
        }
    }

    /// Whether the value fits; with what was found, if `captures` are wanted.
    pub(crate) fn fits(
        &self,
        value: &[u8],
        captures: bool,
        variables: &dyn TextVariables,
        budget: &mut InspectionBudget,
    ) -> Result<Option<Captures>, TooMuchWork> {
        let weight = if matches!(self, RuleOperator::DetectSqli | RuleOperator::DetectXss) { INJECTION_WEIGHT } else { 1 };
        budget.look(value.len(), weight)?;
        let expanded = |text: &MacroText| text.expand(variables).into_owned();
        let fits = match self {
            RuleOperator::Always => true,
            RuleOperator::Never => false,
            RuleOperator::BeginsWith(text) => value.starts_with(&expanded(text)),
            RuleOperator::EndsWith(text) => value.ends_with(&expanded(text)),
            RuleOperator::Contains(text) => memchr::memmem::find(value, &expanded(text)).is_some(),
            RuleOperator::ContainsWord(text) => contains_word(value, &expanded(text)),
            RuleOperator::Streq(text) => value == expanded(text),
            RuleOperator::Within(text) => memchr::memmem::find(&expanded(text), value).is_some(),
            RuleOperator::Number(comparison, text) => comparison.holds(number(value), number(&expanded(text))),
            RuleOperator::IpMatch(networks) => {
                let address = std::str::from_utf8(value).ok().and_then(|text| text.parse::<IpAddr>().ok());
                address.is_some_and(|address| networks.iter().any(|network| network.contains(&address.to_canonical())))
            }
            RuleOperator::Phrases(words, _) => match words.find(value) {
                Some(found) => return Ok(Some(vec![value.get(found.range()).unwrap_or_default().to_vec()])),
                None => false,
            },
            RuleOperator::Regex(expression) => {
                if captures && expression.is_match(value) {
                    return Ok(expression.captures(value).map(|found| groups(&found)));
                }
                !captures && expression.is_match(value)
            }
            RuleOperator::ByteRange(allowed) => value.iter().any(|b| !allowed.get(usize::from(*b)).is_some_and(|is| *is)),
            RuleOperator::UrlEncoding => has_broken_escape(value),
            RuleOperator::Utf8Encoding => std::str::from_utf8(value).is_err(),
            RuleOperator::DetectSqli => {
                let found = libinjectionrs::detect_sqli(start_of(value));
                let is_injection = found.is_injection();
                let fingerprint = found.fingerprint.map(|fingerprint| fingerprint.to_string().into_bytes());
                return Ok(is_injection.then(|| fingerprint.into_iter().collect()));
            }
            RuleOperator::DetectXss => libinjectionrs::detect_xss(start_of(value)).is_injection(),
        };
        Ok(fits.then(|| vec![value.to_vec()]))
    }
}

fn start_of(value: &[u8]) -> &[u8] {
    value.get(..INJECTION_BYTES_MAX).unwrap_or(value)
}

/// `TX:0` to `TX:9`.
fn groups(found: &regex::bytes::Captures<'_>) -> Captures {
    found.iter().take(10).map(|group| group.map_or_else(Vec::new, |group| group.as_bytes().to_vec())).collect()
}

impl Comparison {
    fn holds(self, value: i64, with: i64) -> bool {
        match self {
            Comparison::Eq => value == with,
            Comparison::Ge => value >= with,
            Comparison::Gt => value > with,
            Comparison::Le => value <= with,
            Comparison::Lt => value < with,
        }
    }
}

/// The number that a text begins with; 0 without one.
pub(crate) fn number(text: &[u8]) -> i64 {
    let text = text.trim_ascii_start();
    let (is_negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    };
    let digits = digits.iter().take_while(|b| b.is_ascii_digit());
    let size = digits.fold(0_i64, |sum, b| sum.saturating_mul(10).saturating_add(i64::from(b - b'0')));
    if is_negative { -size } else { size }
}

fn contains_word(value: &[u8], word: &[u8]) -> bool {
    let is_part = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    memchr::memmem::find_iter(value, word).any(|start| {
        let before = start.checked_sub(1).and_then(|before| value.get(before));
        !is_part(before) && !is_part(value.get(start + word.len()))
    })
}

fn has_broken_escape(value: &[u8]) -> bool {
    memchr::memchr_iter(b'%', value).any(|percent| {
        let digits = value.get(percent + 1..percent + 3).unwrap_or_default();
        digits.len() < 2 || !digits.iter().all(u8::is_ascii_hexdigit)
    })
}

fn file(name: &str, words: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    words(name.trim()).ok_or_else(|| format!("there is no file {name:?} beside the rules"))
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn phrases<'w>(words: impl Iterator<Item = &'w str>) -> Result<RuleOperator, String> {
    let words: Vec<&str> = words.collect();
    let beyond = ClassSet::of(|class| !words.iter().any(|word| word.bytes().all(|byte| class.has(byte))));
    let built = AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .match_kind(MatchKind::Standard)
        .build(words);
    built.map(|words| RuleOperator::Phrases(words, beyond)).map_err(|error| error.to_string())
}

fn networks<'n>(written: impl Iterator<Item = &'n str>) -> Result<Vec<IpNet>, String> {
    let read = |text: &str| match text.parse::<IpAddr>() {
        Ok(address) => Ok(IpNet::from(address)),
        Err(_) => text.parse::<IpNet>().map_err(|_| format!("{text:?} is not an address or a network")),
    };
    written.map(str::trim).filter(|text| !text.is_empty() && !text.starts_with('#')).map(read).collect()
}

fn byte_range(written: &str) -> Result<Box<[bool; 256]>, String> {
    let mut allowed = Box::new([false; 256]);
    for part in written.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let byte = |text: &str| text.trim().parse::<u8>().map_err(|_| format!("{part:?} is not a range of bytes"));
        let (from, to) = (byte(from)?, byte(to)?);
        allowed.iter_mut().zip(0..=u8::MAX).filter(|(_, b)| (from..=to).contains(b)).for_each(|(is, _)| *is = true);
    }
    Ok(allowed)
}

#[cfg(test)]
mod tests;
