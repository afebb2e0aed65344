//! The parts of a `multipart/form-data` body.

/// Maximum parts of a body.
const PARTS_MAX: usize = 10_000;

/// One part.
pub(crate) struct Part<'b> {
    pub(crate) name: String,
    pub(crate) content_type: String,
    pub(crate) content: &'b [u8],
}

/// Splits a body at the boundary that its content type names.
pub(crate) fn parts<'b>(content_type: &str, body: &'b [u8]) -> Result<Vec<Part<'b>>, String> {
    let boundary = parameter(content_type, "boundary")
        .filter(|boundary| !boundary.is_empty())
        .ok_or("no multipart boundary param in Content-Type")?;
    let delimiter = format!("--{boundary}");
    let mut parts = Vec::new();
    let mut rest = after(body, delimiter.as_bytes()).ok_or("multipart: NextPart: EOF")?;
    let next = format!("\r\n{delimiter}");
    while !rest.starts_with(b"--") {
        let start = rest.strip_prefix(b"\r\n").ok_or("multipart: malformed boundary")?;
        let end = find(start, next.as_bytes()).ok_or("multipart: NextPart: EOF")?;
        let (part, following) = start.split_at_checked(end).ok_or("multipart: NextPart: EOF")?;
        parts.push(one(part)?);
        if parts.len() > PARTS_MAX {
            return Err(format!("multipart: more than {PARTS_MAX} parts"));
        }
        rest = following.get(next.len()..).unwrap_or_default();
    }
    Ok(parts)
}

fn one(part: &[u8]) -> Result<Part<'_>, String> {
    let end = find(part, b"\r\n\r\n").ok_or("multipart: a part has no header")?;
    let head = String::from_utf8_lossy(part.get(..end).unwrap_or_default()).into_owned();
    let content = part.get(end + 4..).unwrap_or_default();
    let header = |name: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(':'));
        lines.filter(|(key, _)| key.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned()).next()
    };
    let disposition = header("content-disposition").unwrap_or_default();
    let name = parameter(&disposition, "name").ok_or("multipart: a part has no name")?;
    Ok(Part { name, content_type: header("content-type").unwrap_or_default(), content })
}

/// A parameter of a header value.
fn parameter(value: &str, name: &str) -> Option<String> {
    value
        .split(';')
        .skip(1)
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(key, _)| key.trim().eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim().trim_matches('"').to_owned())
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    // Bodies are bounded, and delimiters begin with a line end, which is rare enough.
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn after<'b>(body: &'b [u8], delimiter: &[u8]) -> Option<&'b [u8]> {
    body.get(find(body, delimiter)? + delimiter.len()..)
}
