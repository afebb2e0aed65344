//! Appends short byte strings.

/// Appends text that is usually empty: the check costs less than copying no bytes.
#[inline(always)]
pub(crate) fn append(part: &[u8], out: &mut Vec<u8>) {
    if !part.is_empty() {
        out.extend_from_slice(part);
    }
}
