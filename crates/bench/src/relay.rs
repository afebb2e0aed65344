//! `tollgate-bench relay`: copies bytes between each client and a connection of its own to the upstream, and looks at none. It is the
//! floor that gateways are measured above: no proxy that reads and writes can do with less. So it has no time limits, no pool and no
//! fairness; one thread has one listener and one epoll, and asks of the kernel only what moves bytes.

mod pair;

use crate::listeners::{self, ACCEPT_PAUSE};
use clap::Args;
use mio::event::Event;
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token};
use pair::Pair;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

/// What is moved at once in one direction: the size of the gateway's own buffer, so that both need as many calls for a large body.
const BUFFER_BYTES: usize = 64 * 1024;

/// What one call of epoll can tell. More than this many ready connections are told by the next.
const EVENTS_MAX: usize = 1024;

const LISTENER: Token = Token(usize::MAX);

/// Options of `relay`.
#[derive(Debug, Args)]
pub struct RelayOptions {
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:8001")]
    pub listen: SocketAddr,
    /// Where every connection is copied to
    #[arg(long, value_name = "IP:PORT")]
    pub upstream: SocketAddr,
    /// Threads, each with a listener and connections of its own [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Relays until the process ends.
pub fn run(options: &RelayOptions) -> ExitCode {
    let upstream = options.upstream;
    let outcome = listeners::open(options.listen, options.threads).and_then(|listeners| {
        listeners::serve(
            listeners,
            |address| format!("relay on {address} to {upstream}"),
            move |listener| relay(listener, upstream),
        )
    });
    crate::cli::say(outcome.map(|()| String::new()))
}

/// Relays the connections of one listener with the calling thread.
fn relay(listener: std::net::TcpListener, upstream: SocketAddr) -> io::Result<()> {
    let mut core = Core::new(TcpListener::from_std(listener), upstream)?;
    let mut events = Events::with_capacity(EVENTS_MAX);
    loop {
        core.turn(&mut events)?;
    }
}

/// What one thread has.
struct Core {
    poll: Poll,
    listener: TcpListener,
    upstream: SocketAddr,
    pairs: Vec<Option<Pair>>,
    /// Places in `pairs` that are empty.
    free: Vec<usize>,
    buffer: Vec<u8>,
    /// The listener had connections when it was asked last.
    accepts: bool,
}

impl Core {
    fn new(mut listener: TcpListener, upstream: SocketAddr) -> io::Result<Core> {
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let buffer = vec![0; BUFFER_BYTES];
        Ok(Core { poll, listener, upstream, pairs: Vec::new(), free: Vec::new(), buffer, accepts: false })
    }

    /// Waits for something to do, and does all of it.
    fn turn(&mut self, events: &mut Events) -> io::Result<()> {
        let patience = self.accepts.then_some(ACCEPT_PAUSE);
        match self.poll.poll(events, patience) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            told => told?,
        }
        for event in events.iter() {
            match event.token() {
                LISTENER => self.accepts = true,
                token => self.advance(token.0, event),
            }
        }
        // Last, so that no event of this turn means a connection that has got the place of another.
        if self.accepts {
            self.accept();
        }
        Ok(())
    }

    fn advance(&mut self, number: usize, event: &Event) {
        let place = number / 2;
        let Some(here) = self.pairs.get_mut(place) else { return };
        let Some(pair) = here else { return };
        let end = if number.is_multiple_of(2) { &mut pair.client } else { &mut pair.upstream };
        end.hear(event);
        if pair.advance(&mut self.buffer).is_break() {
            // Closing both takes them out of epoll.
            *here = None;
            self.free.push(place);
        }
    }

    fn accept(&mut self) {
        loop {
            match self.listener.accept() {
                // One that can't be connected or registered is closed; its client sees that.
                Ok((client, _)) => drop(Pair::new(client, self.upstream).and_then(|pair| self.add(pair))),
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                    io::ErrorKind::WouldBlock => {
                        self.accepts = false;
                        return;
                    }
                    _ => return,
                },
            }
        }
    }

    fn add(&mut self, mut pair: Pair) -> io::Result<()> {
        let place = self.free.pop().unwrap_or_else(|| {
            self.pairs.push(None);
            self.pairs.len() - 1
        });
        let both = Interest::READABLE | Interest::WRITABLE;
        let registry = self.poll.registry();
        let registered = registry
            .register(&mut pair.client.stream, Token(place * 2), both)
            .and_then(|()| registry.register(&mut pair.upstream.stream, Token(place * 2 + 1), both));
        match (registered, self.pairs.get_mut(place)) {
            (Ok(()), Some(here)) => *here = Some(pair),
            (registered, _) => {
                self.free.push(place);
                return registered;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
