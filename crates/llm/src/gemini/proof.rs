//! Proofs of thoughts, which clients of this API carry as bytes in base64 and may write in either of its alphabets. Those of other providers are
//! texts that must come back letter by letter, so they are packed.

use data_encoding::{BASE64, BASE64_NOPAD};

/// What stands before the proof of another provider, and before a whole thought that only another provider reads.
const SIGNATURE: &[u8] = b"tollgate:signature:";
const REDACTED: &[u8] = b"tollgate:redacted:";

/// A proof by who made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// Google.
    Own(String),
    /// Another provider: the proof of a thought in words.
    Signature(String),
    /// Another provider: a thought without words.
    Redacted(String),
}

impl Proof {
    /// Reads what a client or a provider says; `None` if it is no base64.
    pub(super) fn read(text: &str) -> Option<Self> {
        let bytes = bytes_of(text)?;
        let packed = |before: &[u8]| String::from_utf8(bytes.strip_prefix(before)?.to_vec()).ok();
        let proof = packed(SIGNATURE).map(Proof::Signature).or_else(|| packed(REDACTED).map(Proof::Redacted));
        Some(proof.unwrap_or_else(|| Proof::Own(BASE64.encode(&bytes))))
    }

    /// As clients get it.
    pub(super) fn write(&self) -> String {
        match self {
            Proof::Own(text) => text.clone(),
            Proof::Signature(text) => BASE64.encode(&[SIGNATURE, text.as_bytes()].concat()),
            Proof::Redacted(text) => BASE64.encode(&[REDACTED, text.as_bytes()].concat()),
        }
    }
}

/// The bytes that a text in base64 means, in either alphabet, with or without padding.
pub(super) fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let plain: Vec<u8> = text
        .trim_end_matches('=')
        .bytes()
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => byte,
        })
        .collect();
    BASE64_NOPAD.decode(&plain).ok()
}

#[cfg(test)]
mod tests {
    use super::Proof;

    #[test]
    fn a_proof_comes_back_as_it_was_in_either_alphabet() {
        for proof in [
            Proof::Signature("a+b/c==?>~\u{fc}".to_owned()),
            Proof::Redacted("x".to_owned()),
            Proof::Own("+/+/".to_owned()),
            Proof::Signature(String::new()),
        ] {
            let written = proof.write();
            let other = written.replace('+', "-").replace('/', "_");
            for text in [written.as_str(), &other, other.trim_end_matches('=')] {
                assert_eq!(Proof::read(text), Some(proof.clone()), "{text}");
            }
        }
        assert_eq!(Proof::read("no base64"), None);
    }
}
