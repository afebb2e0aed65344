//! How many tokens a text has at least, whatever its model's vocabulary. It never says more than there are, so it says less than there are: prose
//! has about 1.3 tokens a word.
//!
//! Vocabularies have no tokens of several words, because texts are split at spaces before they are encoded; a few that were made for research or for
//! code alone are different. The longest tokens are runs of spaces or of equal signs, of 128 bytes. Both holds for all tokens of gpt2, p50k_base,
//! cl100k_base and o200k_base.

/// Bytes of the longest token.
pub const TOKEN_BYTES_MAX: u64 = 128;

/// Reads a text piece by piece.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TokenFloor {
    /// Whether the word that may go on in the next piece is counted.
    is_in_word: bool,
}

impl TokenFloor {
    /// Tokens that begin in the next piece of the text: one for each word that has a letter, one for 128 bytes, and one at least if the piece is not
    /// empty, because providers send whole tokens.
    pub(crate) fn push(&mut self, piece: &str) -> u64 {
        let mut words = 0;
        for letter in piece.chars() {
            if letter.is_ascii_whitespace() {
                self.is_in_word = false;
            } else if !self.is_in_word && letter.is_alphabetic() {
                self.is_in_word = true;
                words += 1;
            }
        }
        let bytes = piece.len() as u64;
        words.max(bytes / TOKEN_BYTES_MAX).max(bytes.min(1))
    }
}

#[cfg(test)]
mod tests;
