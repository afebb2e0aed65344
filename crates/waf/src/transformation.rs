//! Transformations of values before an operator looks at them. Each reads its input once and makes at most six bytes of each.

mod decode;
mod normalize;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use sha1::{Digest as _, Sha1};
use std::borrow::Cow;

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Transformation {
    Base64Decode,
    Base64DecodeExt,
    Base64Encode,
    CmdLine,
    CompressWhitespace,
    CssDecode,
    EscapeSeqDecode,
    HexDecode,
    HexEncode,
    HtmlEntityDecode,
    JsDecode,
    Length,
    Lowercase,
    NormalizePath,
    NormalizePathWin,
    RemoveComments,
    RemoveCommentsChar,
    RemoveNulls,
    RemoveWhitespace,
    ReplaceComments,
    ReplaceNulls,
    Sha1,
    Trim,
    TrimLeft,
    TrimRight,
    Uppercase,
    UrlDecode,
    UrlDecodeUni,
    Utf8ToUnicode,
}

use Transformation as T;

const NAMED: &[(&str, Transformation)] = &[
    ("base64decode", T::Base64Decode),
    ("base64decodeext", T::Base64DecodeExt),
    ("base64encode", T::Base64Encode),
    ("cmdline", T::CmdLine),
    ("compresswhitespace", T::CompressWhitespace),
    ("cssdecode", T::CssDecode),
    ("escapeseqdecode", T::EscapeSeqDecode),
    ("hexdecode", T::HexDecode),
    ("hexencode", T::HexEncode),
    ("htmlentitydecode", T::HtmlEntityDecode),
    ("jsdecode", T::JsDecode),
    ("length", T::Length),
    ("lowercase", T::Lowercase),
    ("normalisepath", T::NormalizePath),
    ("normalizepath", T::NormalizePath),
    ("normalisepathwin", T::NormalizePathWin),
    ("normalizepathwin", T::NormalizePathWin),
    ("removecomments", T::RemoveComments),
    ("removecommentschar", T::RemoveCommentsChar),
    ("removenulls", T::RemoveNulls),
    ("removewhitespace", T::RemoveWhitespace),
    ("replacecomments", T::ReplaceComments),
    ("replacenulls", T::ReplaceNulls),
    ("sha1", T::Sha1),
    ("trim", T::Trim),
    ("trimleft", T::TrimLeft),
    ("trimright", T::TrimRight),
    ("uppercase", T::Uppercase),
    ("urldecode", T::UrlDecode),
    ("urldecodeuni", T::UrlDecodeUni),
    ("utf8tounicode", T::Utf8ToUnicode),
];

/// Reads what is there, with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent).with_decode_allow_trailing_bits(true),
);

impl Transformation {
    /// By the name after `t:`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        NAMED.iter().find(|(known, _)| *known == name).map(|(_, transformation)| *transformation)
    }

    #[cfg(test)]
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        NAMED.iter().map(|(_, transformation)| *transformation)
    }

    /// Whether a value of a class with an alphabet has only bytes of that alphabet afterwards.
    pub(crate) fn keeps_alphabets(self) -> bool {
        !matches!(self, T::Base64Decode | T::Base64DecodeExt | T::Base64Encode | T::HexDecode | T::HexEncode | T::Sha1)
    }

    /// The value as it is afterwards; borrowed if nothing changes.
    pub(crate) fn apply(self, value: &[u8]) -> Cow<'_, [u8]> {
        let made = match self {
            T::Base64Decode => base64_decode(value, false),
            T::Base64DecodeExt => base64_decode(value, true),
            T::Base64Encode => BASE64.encode(value).into_bytes(),
            T::CmdLine => normalize::cmd_line(value),
            T::CompressWhitespace => normalize::compress_whitespace(value),
            T::CssDecode if !value.contains(&b'\\') => return Cow::Borrowed(value),
            T::CssDecode => decode::css(value),
            T::EscapeSeqDecode if !value.contains(&b'\\') => return Cow::Borrowed(value),
            T::EscapeSeqDecode => decode::escape_sequences(value),
            T::HexDecode => decode::hex(value),
            T::HexEncode => hex_encode(value),
            T::HtmlEntityDecode if !value.contains(&b'&') => return Cow::Borrowed(value),
            T::HtmlEntityDecode => decode::html_entities(value),
            T::JsDecode if !value.contains(&b'\\') => return Cow::Borrowed(value),
            T::JsDecode => decode::js(value),
            T::Length => value.len().to_string().into_bytes(),
            T::Lowercase if !value.iter().any(u8::is_ascii_uppercase) => return Cow::Borrowed(value),
            T::Lowercase => value.to_ascii_lowercase(),
            T::NormalizePath => normalize::path(value),
            T::NormalizePathWin => normalize::path(&value.iter().map(|b| if *b == b'\\' { b'/' } else { *b }).collect::<Vec<_>>()),
            T::RemoveComments => normalize::comments(value, None),
            T::RemoveCommentsChar => normalize::remove_comment_characters(value),
            T::RemoveNulls if !value.contains(&0) => return Cow::Borrowed(value),
            T::RemoveNulls => value.iter().copied().filter(|b| *b != 0).collect(),
            T::RemoveWhitespace => value.iter().copied().filter(|b| !is_space(*b)).collect(),
            T::ReplaceComments => normalize::comments(value, Some(b' ')),
            T::ReplaceNulls => value.iter().map(|b| if *b == 0 { b' ' } else { *b }).collect(),
            T::Sha1 => Sha1::digest(value).to_vec(),
            T::Trim => return Cow::Borrowed(trim_right(trim_left(value))),
            T::TrimLeft => return Cow::Borrowed(trim_left(value)),
            T::TrimRight => return Cow::Borrowed(trim_right(value)),
            T::Uppercase => value.to_ascii_uppercase(),
            T::UrlDecode | T::UrlDecodeUni if !value.iter().any(|b| matches!(b, b'%' | b'+')) => return Cow::Borrowed(value),
            T::UrlDecode => decode::url(value),
            T::UrlDecodeUni => decode::url_with_unicode(value),
            T::Utf8ToUnicode if value.is_ascii() => return Cow::Borrowed(value),
            T::Utf8ToUnicode => decode::utf8_to_unicode(value),
        };
        Cow::Owned(made)
    }
}

/// White space as in C, and a no-break space of one byte.
fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | 0xa0)
}

fn trim_left(value: &[u8]) -> &[u8] {
    let start = value.iter().position(|b| !is_space(*b)).unwrap_or(value.len());
    value.get(start..).unwrap_or_default()
}

fn trim_right(value: &[u8]) -> &[u8] {
    let end = value.iter().rposition(|b| !is_space(*b)).map_or(0, |last| last + 1);
    value.get(..end).unwrap_or_default()
}

fn hex_encode(value: &[u8]) -> Vec<u8> {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).map_or(b'0', |digit| digit as u8);
    value.iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect()
}

/// Decodes up to the first character that is not of the alphabet; `forgiving` leaves those out.
fn base64_decode(value: &[u8], forgiving: bool) -> Vec<u8> {
    let is_of_it = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    let kept: Vec<u8> = match forgiving {
        true => value.iter().copied().filter(is_of_it).collect(),
        false => value.iter().copied().take_while(is_of_it).collect(),
    };
    // A last character by itself has only six bits.
    let whole = if kept.len() % 4 == 1 { kept.len() - 1 } else { kept.len() };
    BASE64.decode(kept.get(..whole).unwrap_or_default()).unwrap_or_default()
}

pub(crate) use decode::url as url_decode;

#[cfg(test)]
mod tests;
