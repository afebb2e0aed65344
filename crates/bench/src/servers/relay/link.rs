//! A client's connections and the readiness that epoll reported for each. epoll reports a change once (mio is edge-triggered), so
//! readiness is remembered until a call returns short. A short call means the same as `EAGAIN` and saves the extra call.

use mio::event::Event;
use mio::net::TcpStream;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;

/// The connections that serve one client.
pub(crate) trait RelayLink {
    /// Its connections.
    fn ends(&mut self) -> [Option<&mut LinkEnd>; 2];

    /// Moves as many bytes as possible. Breaks when nothing is left to do.
    fn advance(&mut self, buffer: &mut [u8]) -> ControlFlow<()>;
}

/// One connection.
pub(crate) struct LinkEnd {
    pub stream: TcpStream,
    readable: bool,
    pub writable: bool,
    /// Whether the peer has closed its side: a short read does not mean that epoll will report more.
    last: bool,
}

impl LinkEnd {
    /// A connection that is writable at once, or once epoll reports it.
    pub(crate) fn new(stream: TcpStream, writable: bool) -> LinkEnd {
        LinkEnd { stream, readable: false, writable, last: false }
    }

    /// Remembers what epoll reports. The next call that fails finds an error.
    pub(crate) fn hear(&mut self, event: &Event) {
        self.readable |= event.is_readable() || event.is_error();
        self.writable |= event.is_writable() || event.is_error();
        self.last |= event.is_read_closed();
    }

    /// Reads available bytes; empty at the end of the stream, `None` if epoll will report more.
    pub(crate) fn read<'b>(&mut self, buffer: &'b mut [u8]) -> io::Result<Option<&'b [u8]>> {
        while self.readable {
            match self.stream.read(buffer) {
                Ok(read) => {
                    self.readable = read == buffer.len() || self.last;
                    return Ok(Some(buffer.get(..read).unwrap_or_default()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.readable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Writes bytes and returns how many were accepted. If not all, epoll will report when there is room.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.stream.write(bytes) {
            Ok(taken) => {
                self.writable = taken == bytes.len();
                Ok(taken)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.writable = false;
                Ok(0)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            Err(error) => Err(error),
        }
    }
}
