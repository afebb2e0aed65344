//! APIs that transform bodies.

use crate::{Definition, Upstream, api};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub fn template(text: &str) -> Value {
    json!({"input_type": "json", "template_mode": "blob", "template_source": STANDARD.encode(text)})
}

pub fn entry(method: &str, template_data: Value) -> Value {
    json!([{"path": "/t", "method": method, "template_data": template_data}])
}

pub fn request_transform(upstream: &Upstream, text: &str) -> Definition {
    api("a", "/a/", &upstream.url()).list("transform", entry("POST", template(text)))
}

pub fn response_transform(upstream: &Upstream, text: &str) -> Definition {
    api("a", "/a/", &upstream.url()).list("transform_response", entry("GET", template(text)))
}

/// A message with this body in one of the framings that there are.
pub fn framed(start: &str, framing: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = start.as_bytes().to_vec();
    match framing {
        "length" => {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
            bytes.extend_from_slice(body);
        }
        "chunked" => {
            bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n");
            for (index, piece) in body.chunks(7).enumerate() {
                let extension = if index == 0 { ";e=1" } else { "" };
                bytes.extend_from_slice(format!("{:x}{extension}\r\n", piece.len()).as_bytes());
                bytes.extend_from_slice(piece);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(b"0\r\nX-Sum: 1\r\n\r\n");
        }
        _ => {
            bytes.extend_from_slice(b"Connection: close\r\n\r\n");
            bytes.extend_from_slice(body);
        }
    }
    bytes
}
