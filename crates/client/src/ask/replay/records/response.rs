//! What is recorded of responses, as the part of a line that a replay takes. Only whole ones are of use: rules about responses read their bodies.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Largest body of a response that is sent along: eight times what the firewall inspects by default.
const RESPONSE_BYTES_MAX: usize = 1 << 20;

/// Header lines and body of a recorded response; `None` if it was not recorded as a whole.
pub(super) fn raw_response(raw: &[u8]) -> Option<Value> {
    let end = raw.windows(4).position(|window| window == b"\r\n\r\n")?;
    let (head, body) = (String::from_utf8_lossy(raw.get(..end)?), raw.get(end + 4..)?);
    let lines: Vec<(&str, &str)> = head.split("\r\n").skip(1).filter_map(|line| line.split_once(':')).collect();
    // Records cut long bodies.
    let length = lines.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"))?.1;
    let is_whole = length.trim().parse() == Ok(body.len());
    let pairs = lines.iter().map(|(name, value)| (*name, value.trim())).filter(|(_, value)| *value != "***");
    is_whole.then(|| response(pairs, body)).flatten()
}

/// The response of an entry; `None` if its body was not recorded.
pub(super) fn har_response(recorded: &Value) -> Option<Value> {
    let content = recorded.get("content")?;
    let text = content.get("text").and_then(Value::as_str);
    let body = match (text, content.get("encoding").and_then(Value::as_str)) {
        (Some(text), Some("base64")) => STANDARD.decode(text).ok()?,
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, _) if content.get("size").and_then(Value::as_i64) == Some(0) => Vec::new(),
        (None, _) => return None,
    };
    let headers = recorded.get("headers").and_then(Value::as_array).into_iter().flatten();
    let pairs = headers.filter_map(|header| Some((header.get("name")?.as_str()?, header.get("value")?.as_str()?)));
    // The text is what remained when its coding was taken off.
    response(pairs.filter(|(name, _)| !name.starts_with(':') && !name.eq_ignore_ascii_case("content-encoding")), &body)
}

/// The part of a line about the response; `None` if it is too large.
fn response<'r>(headers: impl Iterator<Item = (&'r str, &'r str)>, body: &[u8]) -> Option<Value> {
    let pairs: Vec<Value> = headers.map(|(name, value)| json!([name, value])).collect();
    (body.len() <= RESPONSE_BYTES_MAX).then(|| json!({"headers": pairs, "body": STANDARD.encode(body)}))
}
