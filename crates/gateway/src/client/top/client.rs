//! The control API client of `top`: one request per connection.

use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

const TIME_MAX: Duration = Duration::from_secs(10);
/// Maximum bytes of an answer; a thousand APIs take about one MB.
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The address of the control API.
pub struct Client {
    authority: String,
    secret: String,
}

impl Client {
    pub fn new(url: &str, secret: String) -> Result<Self, String> {
        let rest = url.strip_prefix("http://").ok_or_else(|| format!("{url}: must begin with http://"))?;
        let authority = rest.trim_end_matches('/');
        if authority.is_empty() || authority.contains(['/', '?', '#', '@']) {
            return Err(format!("{url}: must be http://host:port and nothing more"));
        }
        if secret.bytes().any(|byte| byte < 0x20) {
            return Err("the secret holds control characters".to_owned());
        }
        let authority = if authority.contains("]:") || (!authority.contains('[') && authority.contains(':')) {
            authority.to_owned()
        } else {
            format!("{authority}:80")
        };
        Ok(Client { authority, secret })
    }

    /// The JSON of an endpoint; `None` if it does not exist.
    pub fn get(&self, path: &str) -> Result<Option<Value>, String> {
        let (status, body) = self.ask(path).map_err(|error| format!("http://{}: {error}", self.authority))?;
        match status {
            200 => {
                serde_json::from_slice(&body).map(Some).map_err(|error| format!("{path}: not the answer of a control API: {error}"))
            }
            404 => Ok(None),
            401 | 403 => Err("the control API refuses the secret; give it with --secret or TYK_GW_SECRET".to_owned()),
            other => Err(format!("{path}: the control API answers {other}")),
        }
    }

    fn ask(&self, path: &str) -> std::io::Result<(u16, Vec<u8>)> {
        let mut last = std::io::Error::other("the name has no address");
        for address in self.authority.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, TIME_MAX) {
                Ok(stream) => return self.ask_on(stream, path),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn ask_on(&self, mut stream: TcpStream, path: &str) -> std::io::Result<(u16, Vec<u8>)> {
        stream.set_read_timeout(Some(TIME_MAX))?;
        stream.set_write_timeout(Some(TIME_MAX))?;
        let Client { authority, secret } = self;
        // HTTP/1.0: the answer ends with the connection and has no chunks.
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {authority}\r\nx-tyk-authorization: {secret}\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        let status = answer.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        match (status, end) {
            (Some(status), Some(end)) if answer.starts_with(b"HTTP/1.") => Ok((status, answer.split_off(end + 4))),
            _ => Err(std::io::Error::other("what answers does not speak HTTP")),
        }
    }
}
