//! Counts the tokens of a text by its model's own vocabulary: byte-pair encoding, with vocabularies in the form that OpenAI publishes them in.
//!
//! A text is split into words by an expression. A word that the vocabulary has is one token. In others, the two neighbours that make the token of
//! the lowest rank are joined, until no two make one. Work and memory are bounded by the text's length: a word takes a step for each of its bytes,
//! each of which costs a look-up or two and a place in a queue.

mod word;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};
use std::collections::HashMap;
use std::fmt;

/// Words are counted in parts of so many bytes, which bounds the queue. Words of people are shorter.
const WORD_BYTES_MAX: usize = 4 << 10;
/// Most tokens of a vocabulary, and bytes of one.
const TOKENS_MAX: usize = 1 << 20;
const TOKEN_BYTES_MAX: usize = 1 << 10;

/// How texts are split into words before they are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextSplit {
    /// As `cl100k_base`.
    Cl100k,
    /// As `o200k_base`.
    O200k,
}

impl TextSplit {
    /// The models that OpenAI's library encodes so, `*` for any text.
    pub fn models(self) -> &'static [&'static str] {
        match self {
            TextSplit::Cl100k => &["gpt-4", "gpt-4-*", "gpt-3.5*", "text-embedding-3-*", "text-embedding-ada-002"],
            TextSplit::O200k => &["gpt-4o*", "chatgpt-4o*", "gpt-4.1*", "gpt-4.5*", "gpt-5*", "o1*", "o3*", "o4*", "gpt-oss*"],
        }
    }

    /// The expression of words. Runs of white space come after it.
    fn words(self) -> String {
        let ends = "'s|'t|'re|'ve|'m|'ll|'d";
        let rest = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n";
        match self {
            TextSplit::Cl100k => format!(r"(?i:{ends})|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{rest}]*|\s*[\r\n]+"),
            TextSplit::O200k => {
                let (upper, lower) = (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]");
                let before = r"[^\r\n\p{L}\p{N}]?";
                format!(r"{before}{upper}*{lower}+(?i:{ends})?|{before}{upper}+{lower}*(?i:{ends})?|{rest}/]*|\s*[\r\n]+")
            }
        }
    }
}

/// The vocabulary of some models.
pub struct Tokenizer {
    ranks: HashMap<Box<[u8]>, u32>,
    split: Regex,
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Tokenizer({} tokens)", self.ranks.len())
    }
}

impl Tokenizer {
    /// Reads a vocabulary: on each line a token in base64 and its rank.
    ///
    /// # Errors
    /// What is wrong with it, and in which line.
    pub fn read(file: &[u8], split: TextSplit) -> Result<Self, String> {
        let mut ranks = HashMap::new();
        for (number, line) in file.split(|byte| *byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let (token, rank) = token_of(line).ok_or_else(|| format!("line {} is no token in base64 with its rank", number + 1))?;
            if ranks.insert(token.into_boxed_slice(), rank).is_some() {
                return Err(format!("line {} has a token that is there before", number + 1));
            }
            if ranks.len() > TOKENS_MAX {
                return Err(format!("there are more than {TOKENS_MAX} tokens"));
            }
        }
        if (0..=u8::MAX).any(|byte| !ranks.contains_key([byte].as_slice())) {
            return Err("a byte is no token: the vocabulary is not whole".to_owned());
        }
        let split = Regex::new_many(&[split.words().as_str(), r"\s+"]).map_err(|error| error.to_string())?;
        Ok(Tokenizer { ranks, split })
    }

    /// The tokens of a text. Words that mean something to a model, such as `<|endoftext|>`, are text.
    pub fn count(&self, text: &str) -> u64 {
        let (mut rest, mut tokens) = (text, 0);
        while !rest.is_empty() {
            let (word, behind) = rest.split_at_checked(self.first_word(rest)).unwrap_or((rest, ""));
            tokens += word.as_bytes().chunks(WORD_BYTES_MAX).map(|part| self.count_word(part)).sum::<u64>();
            rest = behind;
        }
        tokens
    }

    /// Bytes of the first word, at least one letter.
    fn first_word(&self, text: &str) -> usize {
        let first = text.chars().next().map_or(0, char::len_utf8);
        let Some(found) = self.split.find(Input::new(text).anchored(Anchored::Yes)) else { return first };
        let word = text.get(..found.end()).unwrap_or(text);
        // The last white space before a word belongs to the word.
        let is_run = found.pattern().as_usize() == 1 && found.end() < text.len();
        let last = word.chars().next_back().map_or(0, char::len_utf8);
        if is_run && word.len() > last { word.len() - last } else { word.len().max(first) }
    }

    fn rank(&self, bytes: &[u8]) -> Option<u32> {
        self.ranks.get(bytes).copied()
    }
}

fn token_of(line: &[u8]) -> Option<(Vec<u8>, u32)> {
    let (token, rank) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    let token = STANDARD.decode(token).ok().filter(|token| !token.is_empty() && token.len() <= TOKEN_BYTES_MAX)?;
    Some((token, rank.trim().parse().ok()?))
}

#[cfg(test)]
mod tests;
