//! What a client is served with, and its connections: what epoll said of each. epoll tells a change once (mio asks for edges), so what it
//! said is remembered until a call comes back short. A short call is as good as `EAGAIN`, which then needs no call of its own.

use mio::event::Event;
use mio::net::TcpStream;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;

/// What one client is served with.
pub(crate) trait RelayLink {
    /// Its connections.
    fn ends(&mut self) -> [Option<&mut LinkEnd>; 2];

    /// Moves what can be moved. Breaks when nothing is left to do.
    fn advance(&mut self, buffer: &mut [u8]) -> ControlFlow<()>;
}

/// One connection.
pub(crate) struct LinkEnd {
    pub stream: TcpStream,
    readable: bool,
    pub writable: bool,
    /// Nothing comes after what is there: a short read does not mean that epoll will tell more.
    last: bool,
}

impl LinkEnd {
    /// One that can be written to at once, or when epoll says so.
    pub(crate) fn new(stream: TcpStream, writable: bool) -> LinkEnd {
        LinkEnd { stream, readable: false, writable, last: false }
    }

    /// Remembers what epoll says. An error is found by the call that it makes fail.
    pub(crate) fn hear(&mut self, event: &Event) {
        self.readable |= event.is_readable() || event.is_error();
        self.writable |= event.is_writable() || event.is_error();
        self.last |= event.is_read_closed();
    }

    /// What is there; no bytes at the end of the stream, `None` when epoll will tell of more.
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

    /// How much is taken. Less than everything means that epoll will tell when there is room.
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
