//! A client and its upstream: what epoll said of each, and the bytes between them. epoll tells a change once (mio asks for edges), so
//! what it said is remembered until a call comes back short. A short call is as good as `EAGAIN`, which then needs no call of its own.

use mio::event::Event;
use mio::net::TcpStream;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::ops::ControlFlow;

/// Two connections whose bytes are exchanged.
pub struct Pair {
    pub client: End,
    pub upstream: End,
    up: Lane,
    down: Lane,
}

/// One of the two.
pub struct End {
    pub stream: TcpStream,
    readable: bool,
    writable: bool,
    /// Nothing comes after what is there: a short read does not mean that epoll will tell more.
    last: bool,
}

/// One direction.
#[derive(Default)]
struct Lane {
    /// Read and not yet taken by the receiver. Never more than one buffer, as nothing is read meanwhile.
    held: Vec<u8>,
    ended: bool,
}

impl Pair {
    /// A client's connection and one to the upstream that is under way.
    pub fn new(client: TcpStream, upstream: SocketAddr) -> io::Result<Pair> {
        let upstream = TcpStream::connect(upstream)?;
        // Without it a small message may wait for the peer's delayed acknowledgement.
        client.set_nodelay(true)?;
        upstream.set_nodelay(true)?;
        let end = |stream, writable| End { stream, readable: false, writable, last: false };
        // The upstream can be written to when it is connected; epoll says so.
        Ok(Pair { client: end(client, true), upstream: end(upstream, false), up: Lane::default(), down: Lane::default() })
    }

    /// Moves what can be moved. Breaks when both directions have ended, or one failed.
    pub fn advance(&mut self, buffer: &mut [u8]) -> ControlFlow<()> {
        let moved = self
            .up
            .advance(&mut self.client, &mut self.upstream, buffer)
            .and_then(|()| self.down.advance(&mut self.upstream, &mut self.client, buffer));
        if moved.is_err() || self.up.ended && self.down.ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl End {
    /// Remembers what epoll says. An error is found by the call that it makes fail.
    pub fn hear(&mut self, event: &Event) {
        self.readable |= event.is_readable() || event.is_error();
        self.writable |= event.is_writable() || event.is_error();
        self.last |= event.is_read_closed();
    }
}

impl Lane {
    fn advance(&mut self, from: &mut End, to: &mut End, buffer: &mut [u8]) -> io::Result<()> {
        while to.writable && !self.ended {
            if !self.held.is_empty() {
                let taken = write(to, &self.held)?;
                self.held.drain(..taken);
                continue;
            }
            if !from.readable {
                return Ok(());
            }
            match from.stream.read(buffer) {
                Ok(0) => {
                    self.ended = true;
                    // The receiver may have closed it already.
                    let _ = to.stream.shutdown(Shutdown::Write);
                }
                Ok(read) => {
                    from.readable = read == buffer.len() || from.last;
                    let bytes = buffer.get(..read).unwrap_or_default();
                    let taken = write(to, bytes)?;
                    self.held.extend_from_slice(bytes.get(taken..).unwrap_or_default());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => from.readable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// How much is taken. Less than everything means that epoll will tell when there is room.
fn write(to: &mut End, bytes: &[u8]) -> io::Result<usize> {
    match to.stream.write(bytes) {
        Ok(taken) => {
            to.writable = taken == bytes.len();
            Ok(taken)
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            to.writable = false;
            Ok(0)
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
        Err(error) => Err(error),
    }
}
