//! A client connection and its upstream connection, between which bytes are copied.

use super::link::{LinkEnd, RelayLink};
use mio::net::TcpStream;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::ops::ControlFlow;

/// Two connections whose bytes are exchanged.
pub(crate) struct Pair {
    client: LinkEnd,
    upstream: LinkEnd,
    up: CopyLane,
    down: CopyLane,
}

/// One direction.
#[derive(Default)]
struct CopyLane {
    /// Bytes read but not yet accepted by the receiver. At most one buffer, because nothing is read meanwhile.
    held: Vec<u8>,
    ended: bool,
}

impl Pair {
    /// A client's connection, with an upstream connection being opened.
    pub(crate) fn new(client: TcpStream, upstream: SocketAddr) -> io::Result<Pair> {
        let upstream = TcpStream::connect(upstream)?;
        // Otherwise a small message may wait for the peer's delayed acknowledgement.
        client.set_nodelay(true)?;
        upstream.set_nodelay(true)?;
        // The upstream is writable once it is connected, which epoll reports.
        Ok(Pair {
            client: LinkEnd::new(client, true),
            upstream: LinkEnd::new(upstream, false),
            up: CopyLane::default(),
            down: CopyLane::default(),
        })
    }
}

impl RelayLink for Pair {
    fn ends(&mut self) -> [Option<&mut LinkEnd>; 2] {
        [Some(&mut self.client), Some(&mut self.upstream)]
    }

    /// Breaks when both directions have ended, or one failed.
    fn advance(&mut self, buffer: &mut [u8]) -> ControlFlow<()> {
        let moved = self
            .up
            .advance(&mut self.client, &mut self.upstream, buffer)
            .and_then(|()| self.down.advance(&mut self.upstream, &mut self.client, buffer));
        if moved.is_err() || self.up.ended && self.down.ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl CopyLane {
    fn advance(&mut self, from: &mut LinkEnd, to: &mut LinkEnd, buffer: &mut [u8]) -> io::Result<()> {
        while to.writable && !self.ended {
            if !self.held.is_empty() {
                let taken = to.write(&self.held)?;
                self.held.drain(..taken);
                continue;
            }
            match from.read(buffer)? {
                None => return Ok(()),
                Some([]) => {
                    self.ended = true;
                    // The receiver may have closed it already.
                    let _ = to.stream.shutdown(Shutdown::Write);
                }
                Some(bytes) => {
                    let taken = to.write(bytes)?;
                    self.held.extend_from_slice(bytes.get(taken..).unwrap_or_default());
                }
            }
        }
        Ok(())
    }
}
