//! Forms with files (`multipart/form-data`) as OpenAI's API takes them for sound and pictures. A form is read strictly and written anew, so that a provider
//! reads the same fields as the gateway did, whatever else was in the bytes.

use crate::form::Unsupported;

/// Most parts of a form: pictures are the most of them, and OpenAI takes sixteen.
const PARTS_MAX: usize = 100;
/// Longest head of a part, and longest value of a field that is read here.
const HEAD_BYTES_MAX: usize = 4 << 10;
const VALUE_BYTES_MAX: usize = 1 << 10;
/// Longest boundary (RFC 2046, section 5.1.1).
const BOUNDARY_BYTES_MAX: usize = 70;
/// Names of fields that a form may have several times end with this.
const LIST: &str = "[]";

/// A form.
#[derive(Debug)]
pub(crate) struct MultipartForm<'a> {
    parts: Vec<FormPart<'a>>,
}

#[derive(Debug)]
struct FormPart<'a> {
    name: &'a str,
    /// As it is written between its quotes.
    file_name: Option<&'a str>,
    content_type: Option<&'a str>,
    content: &'a [u8],
}

impl<'a> MultipartForm<'a> {
    /// Reads a body by its `Content-Type`.
    ///
    /// # Errors
    /// It is no form, or one that others could read otherwise.
    pub(crate) fn read(content_type: &str, body: &'a [u8]) -> Result<Self, Unsupported> {
        let boundary = boundary_of(content_type).ok_or_else(|| refused("", "must be multipart/form-data with a boundary"))?;
        let delimiter = [b"\r\n--", boundary.as_bytes()].concat();
        let broken = || refused("", "the form is broken");
        // The first delimiter has no line before it: what could be there means nothing, and no client writes it.
        let first = delimiter.get(2..).unwrap_or_default();
        let mut rest = body.strip_prefix(first).ok_or_else(broken)?;
        let mut parts: Vec<FormPart> = Vec::new();
        loop {
            if let Some(end) = rest.strip_prefix(b"--") {
                return if matches!(end, b"" | b"\r\n") { Ok(MultipartForm { parts }) } else { Err(broken()) };
            }
            let part = rest.strip_prefix(b"\r\n").ok_or_else(broken)?;
            let end = find(part, &delimiter).ok_or_else(broken)?;
            let (part, behind) = part.split_at_checked(end).ok_or_else(broken)?;
            let part = FormPart::read(part)?;
            if !part.name.ends_with(LIST) && parts.iter().any(|other| other.name == part.name) {
                return Err(refused(part.name, "is there twice"));
            }
            if parts.len() == PARTS_MAX {
                return Err(refused("", "the form has too many parts"));
            }
            parts.push(part);
            rest = behind.get(delimiter.len()..).ok_or_else(broken)?;
        }
    }

    /// The text of a field.
    ///
    /// # Errors
    /// It is a file, no text, or too long.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, Unsupported> {
        let Some(part) = self.parts.iter().find(|part| part.name == name) else { return Ok(None) };
        let fits = part.file_name.is_none() && part.content.len() <= VALUE_BYTES_MAX;
        let text = std::str::from_utf8(part.content).ok().filter(|_| fits);
        text.map(Some).ok_or_else(|| refused(name, "must be a short text"))
    }

    /// Writes the form with another value of a field, and with a boundary that is in none of its parts: its `Content-Type`, and its body.
    pub(crate) fn write(&self, changed: (&str, &str), boundary: &str) -> (String, Vec<u8>) {
        let size: usize = self.parts.iter().map(|part| part.content.len() + 256).sum();
        let mut body = Vec::with_capacity(size);
        for part in &self.parts {
            body.extend_from_slice(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", part.name).as_bytes());
            if let Some(file_name) = part.file_name {
                body.extend_from_slice(format!("; filename=\"{file_name}\"").as_bytes());
            }
            if let Some(content_type) = part.content_type {
                body.extend_from_slice(format!("\r\nContent-Type: {content_type}").as_bytes());
            }
            body.extend_from_slice(b"\r\n\r\n");
            body.extend_from_slice(if part.name == changed.0 { changed.1.as_bytes() } else { part.content });
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        (format!("multipart/form-data; boundary={boundary}"), body)
    }
}

impl<'a> FormPart<'a> {
    fn read(part: &'a [u8]) -> Result<Self, Unsupported> {
        let broken = |why: &str| refused("", format!("the head of a part of the form {why}"));
        // A part without header lines has no name.
        let end = find(part.get(..part.len().min(HEAD_BYTES_MAX)).unwrap_or_default(), b"\r\n\r\n");
        let (head, content) = end.and_then(|end| part.split_at_checked(end)).ok_or_else(|| broken("has no end"))?;
        let head = std::str::from_utf8(head).map_err(|_| broken("is not UTF-8"))?;
        let mut read = FormPart { name: "", file_name: None, content_type: None, content: content.get(4..).unwrap_or_default() };
        for line in head.split("\r\n") {
            if line.chars().any(|letter| letter.is_control() && letter != '\t') {
                return Err(broken("has control characters"));
            }
            let (name, value) = line.split_once(':').ok_or_else(|| broken("has a line that is no header"))?;
            let value = value.trim_matches([' ', '\t']);
            if name.eq_ignore_ascii_case("content-disposition") {
                if !read.name.is_empty() {
                    return Err(broken("has two names"));
                }
                (read.name, read.file_name) = disposition(value).ok_or_else(|| broken("has no name that all read alike"))?;
            } else if name.eq_ignore_ascii_case("content-type") {
                read.content_type = Some(value).filter(|value| !value.is_empty());
            } else if name.eq_ignore_ascii_case("content-transfer-encoding") && !is_plain(value) {
                return Err(broken("has an encoding"));
            }
        }
        if read.name.is_empty() { Err(broken("has no name")) } else { Ok(read) }
    }
}

fn is_plain(encoding: &str) -> bool {
    ["binary", "8bit", "7bit"].iter().any(|plain| encoding.eq_ignore_ascii_case(plain))
}

/// Name and file name of `form-data; name="..."; filename="..."`. Other parameters, and names in another notation, could hide a second name.
fn disposition(value: &str) -> Option<(&str, Option<&str>)> {
    let kind = value.get(..9).filter(|kind| kind.eq_ignore_ascii_case("form-data"))?;
    let mut rest = value.get(kind.len()..)?.trim_start();
    let (mut name, mut file_name) = (None, None);
    while let Some(parameter) = rest.strip_prefix(';') {
        let (key, behind) = parameter.split_once('=')?;
        let (text, behind) = quoted(behind)?;
        let place = match key.trim().to_ascii_lowercase().as_str() {
            "name" => &mut name,
            "filename" => &mut file_name,
            // Some clients say it again in another notation.
            "filename*" => {
                rest = behind.trim_start();
                continue;
            }
            _ => return None,
        };
        if place.replace(text).is_some() {
            return None;
        }
        rest = behind.trim_start();
    }
    let name = name.filter(|name| !name.is_empty() && !name.contains('\\') && rest.is_empty())?;
    Some((name, file_name))
}

/// The text between quotes, with its escapes, and what is behind them; or a word.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let Some(inner) = text.strip_prefix('"') else {
        let end = text.find([';', ' ']).unwrap_or(text.len());
        let (word, behind) = text.split_at_checked(end)?;
        return (!word.is_empty() && !word.contains('"')).then_some((word, behind));
    };
    let mut is_escaped = false;
    let end = inner.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })?;
    Some((inner.get(..end)?, inner.get(end + 1..)?))
}

fn boundary_of(content_type: &str) -> Option<String> {
    let (kind, parameters) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let mut boundaries = parameters.split(';').filter_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then(|| value.trim().trim_matches('"').to_owned())
    });
    let boundary = boundaries.next().filter(|boundary| !boundary.is_empty() && boundary.len() <= BOUNDARY_BYTES_MAX)?;
    (boundaries.next().is_none() && boundary.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"')).then_some(boundary)
}

/// Where a text begins in another. Each byte is looked at about once, as texts that begin alike are rare in what is not made to.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let (first, _) = wanted.split_first()?;
    let mut at = 0;
    loop {
        let rest = bytes.get(at..)?;
        let next = at + rest.iter().position(|byte| byte == first)?;
        if bytes.get(next..)?.starts_with(wanted) {
            return Some(next);
        }
        at = next + 1;
    }
}

fn refused(field: &str, why: impl Into<String>) -> Unsupported {
    Unsupported::new(field, why)
}

#[cfg(test)]
mod tests;
