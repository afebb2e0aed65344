//! Names and values in queries and forms.

use crate::transformation::url_decode;

/// Parameters of a form or query: `name=value` between ampersands, with the escapes of URLs.
pub(crate) fn parameters(text: &[u8]) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> + '_ {
    text.split(|b| *b == b'&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = split_once(pair, b'=').unwrap_or((pair, b""));
        (url_decode(name), url_decode(value))
    })
}

pub(crate) fn split_once(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let index = memchr::memchr(at, text)?;
    Some((text.get(..index)?, text.get(index + 1..)?))
}
