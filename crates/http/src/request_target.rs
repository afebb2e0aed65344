//! Scans the target of a request in one pass: where it ends, where its path ends, and whether the path is in normal form.

use crate::scan::{HIGHEST, ONES, before_first, controls, equal, first_place, padded_word};

/// Facts about a target, without its text.
pub(crate) struct RequestTarget {
    /// The position of the space that ends it, or of an invalid byte.
    pub end: usize,
    /// Where its path ends.
    pub path_end: usize,
    /// The path has no escape, and no slash is followed by a slash or a dot.
    pub path_is_plain: bool,
    pub has_fragment: bool,
    pub is_ascii: bool,
}

impl RequestTarget {
    /// Scans the target that starts at `start`; `None` if its end has not arrived yet.
    #[inline(always)]
    pub(crate) fn read(bytes: &[u8], start: usize) -> Option<RequestTarget> {
        let (mut fragments, mut high_bits, mut oddities, mut slash_before) = (0, 0, 0, 0);
        let mut path_end = None;
        let mut at = start;
        loop {
            let word = padded_word(bytes, at)?;
            let ends = controls(word, b' ' + 1);
            let inside = before_first(ends);
            fragments |= equal(word, b'#') & inside;
            high_bits |= word & HIGHEST & inside;
            if path_end.is_none() {
                let queries = equal(word, b'?') & inside;
                let path = inside & before_first(queries);
                let slashes = equal(word, b'/');
                // A dot differs from a slash only in the lowest bit. A slash that is marked by mistake is a dot after one, which is
                // unusual in any case.
                let dots_and_slashes = equal(word | ONES, b'/');
                oddities |= (equal(word, b'%') | (slashes << 8 | slash_before) & dots_and_slashes) & path;
                slash_before = slashes >> 56;
                path_end = first_place(queries).map(|place| at + place);
            }
            if let Some(place) = first_place(ends) {
                let end = at + place;
                let path_end = path_end.unwrap_or(end);
                let (path_is_plain, has_fragment, is_ascii) = (oddities == 0, fragments != 0, high_bits == 0);
                return Some(RequestTarget { end, path_end, path_is_plain, has_fragment, is_ascii });
            }
            at += size_of::<u64>();
        }
    }
}

#[cfg(test)]
mod tests;
