//! Strict HTTP/1.1 reading, shared by the test client and the test upstreams.
//!
//! It accepts only what the standard allows a sender to send: a message that a tolerant client would mend is a failed test.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

use crate::PATIENCE;

/// A byte stream: a socket, or TLS over one.
pub trait Duplex: Read + Write + Send {}
impl<T: Read + Write + Send> Duplex for T {}

/// Why a message could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// The peer closed before the first byte.
    Closed,
    /// The peer closed, or reset, inside the message.
    Cut(String),
    /// The peer broke the grammar.
    Malformed(String),
    /// Nothing came for as long as a test waits.
    Silent,
}

impl fmt::Display for Broken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self:?}")
    }
}

/// First line and header lines, in the order and spelling of the wire.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    pub first: String,
    pub headers: Vec<(String, String)>,
    pub raw: Vec<u8>,
}

impl Head {
    /// The one value of a header; a header that came twice is a failed test.
    pub fn get(&self, name: &str) -> Option<&str> {
        let all = self.all(name);
        assert!(all.len() < 2, "{name} came more than once in {self:?}");
        all.first().copied()
    }

    pub fn all(&self, name: &str) -> Vec<&str> {
        self.headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str()).collect()
    }

    pub fn has(&self, name: &str) -> bool {
        !self.all(name).is_empty()
    }

    /// Header names in the letter case and order of the wire.
    pub fn names(&self) -> Vec<&str> {
        self.headers.iter().map(|(key, _)| key.as_str()).collect()
    }

    fn parse(raw: &[u8]) -> Result<Head, Broken> {
        let text = std::str::from_utf8(raw).map_err(|_| Broken::Malformed("a head that is not text".into()))?;
        let body = text.strip_suffix("\r\n\r\n").ok_or_else(|| Broken::Malformed(format!("head end: {text:?}")))?;
        let mut lines = body.split("\r\n");
        let first = lines.next().unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        for line in lines {
            let (name, value) = line.split_once(':').ok_or_else(|| Broken::Malformed(format!("no colon in {line:?}")))?;
            let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            if name.is_empty() || !name.chars().all(is_token) || value.contains(['\r', '\n', '\0']) {
                return Err(Broken::Malformed(format!("header line {line:?}")));
            }
            headers.push((name.to_owned(), value.trim_matches([' ', '\t']).to_owned()));
        }
        Ok(Head { first, headers, raw: raw.to_vec() })
    }

    fn length(&self) -> Result<Option<usize>, Broken> {
        match self.all("content-length").as_slice() {
            [] => Ok(None),
            [one] if !one.is_empty() && one.bytes().all(|byte| byte.is_ascii_digit()) => {
                one.parse().map(Some).map_err(|_| Broken::Malformed(format!("length {one:?}")))
            }
            other => Err(Broken::Malformed(format!("content-length {other:?}"))),
        }
    }

    fn is_chunked(&self) -> Result<bool, Broken> {
        match self.all("transfer-encoding").as_slice() {
            [] => Ok(false),
            [one] if one.eq_ignore_ascii_case("chunked") => Ok(true),
            other => Err(Broken::Malformed(format!("transfer-encoding {other:?}"))),
        }
    }
}

/// How the end of a body was marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    None,
    Length,
    Chunked,
    UntilClose,
}

/// A body as it was framed, and the trailer lines after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    pub bytes: Vec<u8>,
    pub trailers: Vec<(String, String)>,
    pub framing: Framing,
}

/// A final response, with the interim ones that came before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub version: String,
    pub status: u16,
    pub head: Head,
    pub body: Vec<u8>,
    pub trailers: Vec<(String, String)>,
    pub framing: Framing,
    pub interim: Vec<u16>,
}

impl Response {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: not JSON: {self}"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.get(name)
    }

    /// Whether the sender said that it closes the connection after this message.
    pub fn announces_close(&self) -> bool {
        self.head.all("connection").iter().any(|value| value.to_ascii_lowercase().contains("close"))
    }
}

impl fmt::Display for Response {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", String::from_utf8_lossy(&self.head.raw), self.text())
    }
}

/// One end of a connection, with what was read but not yet used.
pub struct Connection {
    stream: Box<dyn Duplex>,
    /// `None` for bytes in memory.
    socket: Option<TcpStream>,
    ahead: Vec<u8>,
}

impl Connection {
    /// A client's connection to a port of this machine.
    pub fn open(port: u16) -> Connection {
        Connection::over(TcpStream::connect(("127.0.0.1", port)).expect("the gateway listens"))
    }

    pub fn over(socket: TcpStream) -> Connection {
        let stream = Box::new(socket.try_clone().expect("a second handle"));
        Connection::with(stream, socket)
    }

    /// A connection whose bytes pass through something (TLS) before they reach the socket.
    pub fn with(stream: Box<dyn Duplex>, socket: TcpStream) -> Connection {
        socket.set_nodelay(true).expect("nodelay");
        socket.set_read_timeout(Some(PATIENCE)).expect("read timeout");
        socket.set_write_timeout(Some(PATIENCE)).expect("write timeout");
        Connection { stream, socket: Some(socket), ahead: Vec::new() }
    }

    /// What has been received, and nothing more to come.
    pub fn received(bytes: Vec<u8>) -> Connection {
        Connection { stream: Box::new(io::Cursor::new(Vec::new())), socket: None, ahead: bytes }
    }

    pub fn socket(&self) -> &TcpStream {
        self.socket.as_ref().expect("a connection with a socket")
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.try_send(bytes).expect("the peer still reads");
    }

    /// As `send`, for a peer that may have closed already.
    pub fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.write_all(bytes.as_ref())?;
        self.stream.flush()
    }

    pub fn finish_sending(&self) {
        let _ = self.socket().shutdown(Shutdown::Write);
    }

    /// Closes so that the peer sees a reset and not an orderly end.
    pub fn reset(self) {
        let socket = socket2::SockRef::from(self.socket());
        socket.set_linger(Some(std::time::Duration::ZERO)).expect("linger");
    }

    /// Sends one request and reads its answer.
    pub fn ask(&mut self, request: impl AsRef<[u8]>) -> Response {
        let method = method_of(request.as_ref());
        self.send(request);
        self.try_response(&method).unwrap_or_else(|broken| panic!("no answer: {broken}"))
    }

    /// The answer to a request that was sent before; the method decides whether a body follows.
    pub fn response(&mut self, method: &str) -> Response {
        self.try_response(method).unwrap_or_else(|broken| panic!("no answer: {broken}"))
    }

    pub fn try_response(&mut self, method: &str) -> Result<Response, Broken> {
        let mut interim = Vec::new();
        let begun = Instant::now();
        loop {
            let head = self.head()?;
            let (version, status) = status_line(&head.first)?;
            if begun.elapsed() > PATIENCE {
                return Err(Broken::Silent);
            }
            if (100..200).contains(&status) && status != 101 {
                interim.push(status);
                continue;
            }
            let body = self.response_body(&head, method, status)?;
            return Ok(Response {
                version,
                status,
                head,
                body: body.bytes,
                trailers: body.trailers,
                framing: body.framing,
                interim,
            });
        }
    }

    fn response_body(&mut self, head: &Head, method: &str, status: u16) -> Result<Body, Broken> {
        let (length, chunked) = (head.length()?, head.is_chunked()?);
        if length.is_some() && chunked {
            return Err(Broken::Malformed("both a length and chunks".into()));
        }
        let bare = |framing, bytes| Body { bytes, trailers: Vec::new(), framing };
        if method == "HEAD" || status < 200 || status == 204 || status == 304 {
            return Ok(bare(Framing::None, Vec::new()));
        }
        if chunked {
            return self.chunks();
        }
        match length {
            Some(length) => Ok(bare(Framing::Length, self.exactly(length)?)),
            None => Ok(bare(Framing::UntilClose, self.rest()?)),
        }
    }

    /// The next head, without what follows it.
    pub fn head(&mut self) -> Result<Head, Broken> {
        let mut searched = 0;
        loop {
            if let Some(at) = find(&self.ahead[searched..], b"\r\n\r\n") {
                let raw: Vec<u8> = self.ahead.drain(..searched + at + 4).collect();
                return Head::parse(&raw);
            }
            searched = self.ahead.len().saturating_sub(3);
            if self.fill()? == 0 {
                return Err(match self.ahead.is_empty() {
                    true => Broken::Closed,
                    false => Broken::Cut(format!("in the head {:?}", String::from_utf8_lossy(&self.ahead))),
                });
            }
        }
    }

    /// The body of a request that was read with `head`.
    pub fn request_body(&mut self, head: &Head) -> Result<Body, Broken> {
        let (length, chunked) = (head.length()?, head.is_chunked()?);
        match (length, chunked) {
            (Some(_), true) => Err(Broken::Malformed("both a length and chunks".into())),
            (None, true) => self.chunks(),
            (Some(length), false) => Ok(Body { bytes: self.exactly(length)?, trailers: Vec::new(), framing: Framing::Length }),
            (None, false) => Ok(Body { bytes: Vec::new(), trailers: Vec::new(), framing: Framing::None }),
        }
    }

    pub fn exactly(&mut self, count: usize) -> Result<Vec<u8>, Broken> {
        while self.ahead.len() < count {
            if self.fill()? == 0 {
                return Err(Broken::Cut(format!("{} of {count} bytes", self.ahead.len())));
            }
        }
        Ok(self.ahead.drain(..count).collect())
    }

    fn line(&mut self) -> Result<String, Broken> {
        loop {
            if let Some(at) = find(&self.ahead, b"\r\n") {
                let raw: Vec<u8> = self.ahead.drain(..at + 2).collect();
                return Ok(String::from_utf8_lossy(&raw[..at]).into_owned());
            }
            if self.fill()? == 0 {
                return Err(Broken::Cut("in a line".into()));
            }
        }
    }

    /// One chunk's data; empty for the last one, whose trailer section is left to the caller.
    pub fn chunk(&mut self) -> Result<Vec<u8>, Broken> {
        let line = self.line()?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| Broken::Malformed(format!("chunk size {line:?}")))?;
        if size == 0 {
            return Ok(Vec::new());
        }
        let data = self.exactly(size)?;
        match self.exactly(2)?.as_slice() {
            b"\r\n" => Ok(data),
            other => Err(Broken::Malformed(format!("after a chunk: {other:?}"))),
        }
    }

    fn chunks(&mut self) -> Result<Body, Broken> {
        let mut bytes = Vec::new();
        loop {
            let data = self.chunk()?;
            if data.is_empty() {
                break;
            }
            bytes.extend_from_slice(&data);
        }
        let mut section = b"x\r\n".to_vec();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            section.extend_from_slice(line.as_bytes());
            section.extend_from_slice(b"\r\n");
        }
        section.extend_from_slice(b"\r\n");
        Ok(Body { bytes, trailers: Head::parse(&section)?.headers, framing: Framing::Chunked })
    }

    /// Everything until the peer closes.
    pub fn rest(&mut self) -> Result<Vec<u8>, Broken> {
        while self.fill()? > 0 {}
        Ok(std::mem::take(&mut self.ahead))
    }

    /// Waits until the peer has closed; bytes before that are a failed test.
    pub fn expect_close(&mut self) {
        match self.rest() {
            Ok(rest) => assert!(rest.is_empty(), "bytes before the close: {:?}", String::from_utf8_lossy(&rest)),
            Err(Broken::Cut(_)) => {}
            Err(broken) => panic!("not closed: {broken}"),
        }
    }

    /// Whether the peer has closed by now; bytes that are there are left there.
    pub fn is_closed(&self) -> bool {
        self.socket().set_nonblocking(true).expect("a mode");
        let peeked = self.socket().peek(&mut [0]);
        self.socket().set_nonblocking(false).expect("a mode");
        match peeked {
            Ok(bytes) => bytes == 0,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }

    /// One read of whatever has come; for streams without a message structure.
    pub fn some(&mut self) -> Result<Vec<u8>, Broken> {
        if self.ahead.is_empty() && self.fill()? == 0 {
            return Err(Broken::Closed);
        }
        Ok(std::mem::take(&mut self.ahead))
    }

    fn fill(&mut self) -> Result<usize, Broken> {
        let mut block = [0; 16 * 1024];
        loop {
            match self.stream.read(&mut block) {
                Ok(count) => {
                    self.ahead.extend_from_slice(&block[..count]);
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    return Err(Broken::Silent);
                }
                Err(error) => return Err(Broken::Cut(error.to_string())),
            }
        }
    }
}

fn status_line(line: &str) -> Result<(String, u16), Broken> {
    let malformed = || Broken::Malformed(format!("status line {line:?}"));
    let (version, rest) = line.split_once(' ').ok_or_else(malformed)?;
    let (code, _reason) = rest.split_once(' ').ok_or_else(malformed)?;
    let digits = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_digit());
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") || !digits {
        return Err(malformed());
    }
    Ok((version.to_owned(), code.parse().map_err(|_| malformed())?))
}

fn method_of(request: &[u8]) -> String {
    let word: Vec<u8> = request.iter().copied().take_while(|byte| *byte != b' ').collect();
    String::from_utf8_lossy(&word).into_owned()
}

pub fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}
