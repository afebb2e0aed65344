//! A client, and the fixed answer to each read. Nothing is parsed: a request that arrives in two pieces is answered twice, and two
//! that arrive together once, so clients must send one request at a time.

use super::link::{LinkEnd, RelayLink};
use mio::net::TcpStream;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

/// One client's connection.
pub(crate) struct Answering {
    client: LinkEnd,
    answer: Arc<[u8]>,
    /// Bytes of the answer that the client has not taken yet. Nothing is read meanwhile.
    owed: usize,
}

impl Answering {
    pub(crate) fn new(client: TcpStream, answer: Arc<[u8]>) -> io::Result<Answering> {
        client.set_nodelay(true)?;
        Ok(Answering { client: LinkEnd::new(client, true), answer, owed: 0 })
    }

    fn answer_all(&mut self, buffer: &mut [u8]) -> io::Result<ControlFlow<()>> {
        while self.client.writable {
            if self.owed == 0 {
                match self.client.read(buffer)? {
                    None => return Ok(ControlFlow::Continue(())),
                    Some([]) => return Ok(ControlFlow::Break(())),
                    Some(_) => self.owed = self.answer.len(),
                }
            }
            let rest = self.answer.get(self.answer.len() - self.owed..).unwrap_or_default();
            self.owed -= self.client.write(rest)?;
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl RelayLink for Answering {
    fn ends(&mut self) -> [Option<&mut LinkEnd>; 2] {
        [Some(&mut self.client), None]
    }

    /// Breaks at the end of the client's stream, or when its connection has failed.
    fn advance(&mut self, buffer: &mut [u8]) -> ControlFlow<()> {
        self.answer_all(buffer).unwrap_or(ControlFlow::Break(()))
    }
}
