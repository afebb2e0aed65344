//! HTTP/2 frame by frame, for clients that do what no library would.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use super::PATIENCE;

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;

/// One frame of either side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub content: Vec<u8>,
}

/// A frame's bytes.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), content].concat()
}

/// One entry of a SETTINGS frame.
pub(crate) fn setting(name: u16, value: u32) -> Vec<u8> {
    [name.to_be_bytes().as_slice(), &value.to_be_bytes()].concat()
}

/// A header line in a block, without compression (RFC 7541 §6.2.2).
pub(crate) fn line(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| {
        assert!(text.len() < 127, "longer than one byte of length says");
        [&[text.len() as u8], text.as_bytes()].concat()
    };
    [vec![0], text(name), text(value)].concat()
}

/// The header block of a request for a path, with more lines behind.
pub(crate) fn block(method: &str, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let pseudo = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "gateway.test")];
    pseudo.iter().chain(more).flat_map(|(name, value)| line(name, value)).collect()
}

/// A whole request without a body.
pub(crate) fn get(stream: u32, path: &str) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, block("GET", path, &[]))
}

/// A client's connection.
pub(crate) struct Frames(pub TcpStream);

impl Frames {
    fn connect(port: u16) -> Frames {
        let socket = TcpStream::connect(("127.0.0.1", port)).expect("the gateway listens");
        socket.set_nodelay(true).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.set_write_timeout(Some(PATIENCE)).unwrap();
        Frames(socket)
    }

    /// Sends the preface and nothing else.
    pub(crate) fn preface(port: u16) -> Frames {
        let mut frames = Frames::connect(port);
        frames.send(PREFACE);
        frames
    }

    /// Begins as a client should.
    pub(crate) fn open(port: u16) -> Frames {
        let mut frames = Frames::connect(port);
        frames.send([PREFACE, &frame(SETTINGS, 0, 0, b"")].concat());
        frames
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.0.write_all(bytes.as_ref());
    }

    /// The next frame; `None` when the gateway has closed the connection.
    pub(crate) fn next(&mut self) -> Option<Frame> {
        let mut header = [0; 9];
        self.fill(&mut header)?;
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
        let mut content = vec![0; length];
        self.fill(&mut content)?;
        let stream = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
        Some(Frame { kind: header[3], flags: header[4], stream, content })
    }

    fn fill(&mut self, room: &mut [u8]) -> Option<()> {
        match self.0.read_exact(room) {
            Ok(()) => Some(()),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                panic!("the gateway says nothing and does not close")
            }
            Err(_) => None,
        }
    }

    /// Reads up to the first frame of this kind on this stream; `None` when the gateway closes before it.
    pub(crate) fn until(&mut self, kind: u8, stream: u32) -> Option<Frame> {
        loop {
            let frame = self.next()?;
            if frame.kind == kind && frame.stream == stream && (kind != SETTINGS || frame.flags & ACK == 0) {
                return Some(frame);
            }
        }
    }

    /// Reads until the gateway closes the connection; what it said on the way.
    pub(crate) fn rest(&mut self) -> Vec<Frame> {
        std::iter::from_fn(|| self.next()).collect()
    }
}
