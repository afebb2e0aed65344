//! Messages as tests write them.

/// The lines of a request for a websocket.
pub const UPGRADE: [&str; 4] = [
    "Connection: keep-alive, Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

/// The gateway's error document for a client that did not ask for XML.
pub fn error_json(message: &str) -> String {
    format!("{{\n    \"error\": \"{message}\"\n}}")
}

/// A plain GET with a Host line, as the shortest well-formed request.
pub fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
}

/// A request with extra header lines (each without its line end) and a body framed by its length when there is one.
pub fn request(method: &str, target: &str, lines: &[&str], body: &str) -> String {
    let mut text = format!("{method} {target} HTTP/1.1\r\nHost: gateway.test\r\n");
    for line in lines {
        text.push_str(line);
        text.push_str("\r\n");
    }
    if !body.is_empty() {
        text.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    text.push_str("\r\n");
    text.push_str(body);
    text
}

/// An upstream's answer with a length.
pub fn reply(status: &str, lines: &[&str], body: &str) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status}\r\n");
    for line in lines {
        text.push_str(line);
        text.push_str("\r\n");
    }
    text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    text.into_bytes()
}

/// The answer of an upstream whose answer does not matter.
pub fn ok() -> Vec<u8> {
    reply("200 OK", &["Content-Type: text/plain"], "ok")
}
