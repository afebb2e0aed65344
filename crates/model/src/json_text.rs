//! JSON texts for the path of requests.

/// Appends a text as a JSON string. Most texts need no escapes, which this detects faster than an encoder that checks byte by byte.
pub fn append_json_text(out: &mut Vec<u8>, text: &str) {
    let is_plain = |plain, byte| plain & (byte >= 0x20) & (byte != b'"') & (byte != b'\\');
    if !text.bytes().fold(true, is_plain) {
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(out, text);
        return;
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

#[cfg(test)]
mod tests;
