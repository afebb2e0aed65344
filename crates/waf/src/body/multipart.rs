//! Forms in parts (RFC 7578): fields are parameters, files are known by their names. What is not exactly as the format has it is a fault, because
//! servers disagree about what it means.

use super::BodyFault;
use crate::budget::InspectionBudget;
use crate::parameters::split_once;
use crate::source::ValueSource;
use crate::values::ValueStore;

/// Longest delimiter that the format allows (RFC 2046 §5.1.1).
const BOUNDARY_BYTES_MAX: usize = 70;

fn unreadable(why: &str) -> BodyFault {
    BodyFault::Unreadable(format!("not multipart: {why}"))
}

pub(super) fn fill(
    body: &[u8],
    content_type: &[u8],
    values: &mut ValueStore,
    budget: &mut InspectionBudget,
) -> Result<(), BodyFault> {
    let boundary = parameter(content_type, b"boundary").filter(|boundary| !boundary.is_empty());
    let boundary = boundary.ok_or_else(|| unreadable("no boundary"))?;
    if boundary.len() > BOUNDARY_BYTES_MAX {
        return Err(unreadable("the boundary is too long"));
    }
    let first = [b"--", boundary.as_slice()].concat();
    let mut rest = body.strip_prefix(first.as_slice()).ok_or_else(|| unreadable("the body does not begin with the boundary"))?;
    let delimiter = [b"\r\n--", boundary.as_slice()].concat();
    let (mut files, mut has_part) = (0, false);
    loop {
        if let Some(epilogue) = rest.strip_prefix(b"--") {
            let is_clean = epilogue.trim_ascii().is_empty() && has_part;
            values.set(ValueSource::FilesCombinedSize, files.to_string().as_bytes());
            return if is_clean { Ok(()) } else { Err(unreadable("something is behind the last boundary, or nothing before it")) };
        }
        let part = rest.strip_prefix(b"\r\n").ok_or_else(|| unreadable("a boundary does not end its line"))?;
        let end = memchr::memmem::find(part, &delimiter).ok_or_else(|| unreadable("the last boundary is missing"))?;
        files += fill_part(part.get(..end).unwrap_or_default(), values, budget)?;
        has_part = true;
        rest = part.get(end + delimiter.len()..).unwrap_or_default();
    }
}

/// Fills the values of one part; how many bytes of files it has.
fn fill_part(part: &[u8], values: &mut ValueStore, budget: &mut InspectionBudget) -> Result<usize, BodyFault> {
    let end = match part.starts_with(b"\r\n") {
        true => 0,
        false => memchr::memmem::find(part, b"\r\n\r\n").ok_or_else(|| unreadable("the headers of a part do not end"))? + 2,
    };
    let (head, content) = (part.get(..end).unwrap_or_default(), part.get(end + 2..).unwrap_or_default());
    let mut lines = Vec::new();
    for line in head.split(|b| *b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).filter(|line| !line.is_empty()) {
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            return Err(unreadable("a header of a part is folded"));
        }
        split_once(line, b':').ok_or_else(|| unreadable("a header of a part has no colon"))?;
        lines.push(line);
    }
    let disposition = lines.iter().find_map(|line| split_once(line, b':').filter(|(name, _)| is_disposition(name)));
    let disposition = disposition.map(|(_, value)| value).ok_or_else(|| unreadable("a part has no Content-Disposition"))?;
    let name = parameter(disposition, b"name").ok_or_else(|| unreadable("a part has no name"))?;
    for line in lines {
        values.add(ValueSource::MultipartPartHeaders, &name, line, budget)?;
    }
    let file = parameter(disposition, b"filename").or_else(|| parameter(disposition, b"filename*"));
    match file {
        Some(file) => {
            values.add(ValueSource::Files, &name, &file, budget)?;
            Ok(content.len())
        }
        None => {
            values.add(ValueSource::ArgsPost, &name, content, budget)?;
            Ok(0)
        }
    }
}

fn is_disposition(name: &[u8]) -> bool {
    name.trim_ascii().eq_ignore_ascii_case(b"content-disposition")
}

/// A parameter of a header, without its quotes.
fn parameter(header: &[u8], wanted: &[u8]) -> Option<Vec<u8>> {
    let mut rest = split_once(header, b';')?.1;
    loop {
        rest = rest.trim_ascii_start();
        let (name, behind) = split_once(rest, b'=')?;
        // A parameter without a value.
        if let Some((_, next)) = split_once(name, b';') {
            rest = rest.get(rest.len() - behind.len() - 1 - next.len()..)?;
            continue;
        }
        let (value, after) = value_of(behind)?;
        if name.trim_ascii().eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = split_once(after, b';')?.1;
    }
}

/// A token, or a text in quotes; and what is behind it.
fn value_of(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let Some(quoted) = text.strip_prefix(b"\"") else {
        let end = memchr::memchr(b';', text).unwrap_or(text.len());
        return Some((text.get(..end)?.trim_ascii_end().to_vec(), text.get(end..)?));
    };
    let mut value = Vec::new();
    let mut bytes = quoted.iter().enumerate();
    while let Some((index, b)) = bytes.next() {
        match b {
            b'"' => return Some((value, quoted.get(index + 1..)?)),
            // Browsers escape only quotes; paths of Windows have backslashes.
            b'\\' if quoted.get(index + 1) == Some(&b'"') => value.extend(bytes.next().map(|(_, escaped)| *escaped)),
            other => value.push(*other),
        }
    }
    None
}

#[cfg(test)]
mod tests;
