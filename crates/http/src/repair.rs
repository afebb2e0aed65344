//! Repairs the head of a response that breaks rules whose breach RFC 9112 allows or requires a gateway to mend: lines that end in a bare LF
//! (§2.2), folded lines (§5.2), and spaces before a colon (§5.1). The result is parsed as strictly as any head. Requests are never repaired.

use crate::{HeaderStorage, Response};

/// What became of a head that is not well-formed.
#[derive(Debug, PartialEq, Eq)]
pub enum RepairedHead {
    /// Its end has not arrived yet.
    Incomplete,
    /// The head in strict form, in place of so many bytes. It says that the connection closes: two readers of what the upstream wrote may not
    /// agree about where its response ends, so the next one must not come over this connection.
    Head(Vec<u8>, usize),
    /// There was nothing to repair.
    Unrepaired,
}

/// Repairs the head at the start of `bytes`.
#[cold]
pub fn repair_head(bytes: &[u8]) -> RepairedHead {
    let mut head: Vec<u8> = Vec::with_capacity(bytes.len().min(4096));
    let mut used = 0;
    let mut lines = 0;
    let mut is_repaired = false;
    for whole in bytes.split_inclusive(|byte| *byte == b'\n') {
        used += whole.len();
        let Some(line) = whole.strip_suffix(b"\n") else {
            // Only the start line can be wrong already.
            return if lines == 0 { unfinished(whole) } else { unfinished(&head) };
        };
        let line = line.strip_suffix(b"\r").unwrap_or_else(|| {
            is_repaired = true;
            line
        });
        match (line, lines) {
            ([], 0) => continue,
            ([], _) if !is_repaired => return RepairedHead::Unrepaired,
            ([], _) => {
                head.extend_from_slice(b"Connection: close\r\n\r\n");
                return RepairedHead::Head(head, used);
            }
            (_, 0) => head.extend_from_slice(line),
            // The first header line cannot continue another one.
            ([b' ' | b'\t', rest @ ..], 2..) => {
                is_repaired = true;
                head.truncate(head.len().saturating_sub(b"\r\n".len()));
                head.push(b' ');
                head.extend_from_slice(rest.trim_ascii_start());
            }
            _ => {
                let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
                let (name, rest) = line.split_at_checked(colon).unwrap_or((line, b""));
                let trimmed = name.trim_ascii_end();
                is_repaired |= trimmed.len() < name.len() && !rest.is_empty();
                head.extend_from_slice(if rest.is_empty() { name } else { trimmed });
                head.extend_from_slice(rest);
            }
        }
        lines += 1;
        head.extend_from_slice(b"\r\n");
    }
    unfinished(&head)
}

/// The rest of a head is waited for only if what has arrived can be the beginning of one.
fn unfinished(begun: &[u8]) -> RepairedHead {
    match Response::parse(begun, false, &mut HeaderStorage::new()) {
        Ok(None) => RepairedHead::Incomplete,
        _ => RepairedHead::Unrepaired,
    }
}

#[cfg(test)]
mod tests;
