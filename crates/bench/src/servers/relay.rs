//! `tollgate-bench relay`: copies bytes between each client and its own upstream connection, without parsing them. It is the lower
//! bound for gateways: no proxy that reads and writes can be cheaper. So it has no time limits, no pool and no fairness; each
//! thread has one listener and one epoll instance, and makes only the system calls that move bytes. With a fixed answer instead of
//! an upstream, it is the lower bound for responses that a gateway generates, such as a refusal.

mod answering;
mod link;
mod pair;

use super::listeners;
use crate::exit;
use answering::Answering;
use clap::Args;
use link::{LinkEnd, RelayLink};
use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use pair::Pair;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tollgate_mock_upstream::ACCEPT_PAUSE;

/// Bytes moved at once in one direction: the size of the gateway's own buffer, so that both need the same number of calls for a
/// large body.
const BUFFER_BYTES: usize = 64 * 1024;

/// Maximum events per call of epoll. If more connections are ready, the next call returns them.
const EVENTS_MAX: usize = 1024;

const LISTENER: Token = Token(usize::MAX);

/// Options of `relay`.
#[derive(Debug, Args)]
pub(crate) struct RelayOptions {
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:8001")]
    pub listen: SocketAddr,
    /// Upstream to copy every connection to
    #[arg(long, value_name = "IP:PORT", required_unless_present = "answer")]
    pub upstream: Option<SocketAddr>,
    /// Answer each read with the bytes of this file, instead of copying to an upstream
    #[arg(long, value_name = "FILE", conflicts_with = "upstream")]
    pub answer: Option<PathBuf>,
    /// Threads, each with its own listener and connections [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Relays, or answers, until the process ends.
pub(crate) fn run(options: &RelayOptions) -> ExitCode {
    let outcome = match (options.upstream, &options.answer) {
        (Some(upstream), _) => {
            serve(options, &format!("to {upstream}"), move |listener| turn(listener, |client| Pair::new(client, upstream)))
        }
        (None, Some(file)) => read_answer(file).and_then(|answer| {
            let what = format!("answering with {} bytes", answer.len());
            serve(options, &what, move |listener| turn(listener, |client| Answering::new(client, answer.clone())))
        }),
        // The command line requires one of them.
        (None, None) => Err("neither --upstream nor --answer".to_owned()),
    };
    exit::print(outcome.map(|()| String::new()))
}

fn read_answer(file: &PathBuf) -> Result<Arc<[u8]>, String> {
    let answer = std::fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    if answer.is_empty() { Err(format!("{} is empty", file.display())) } else { Ok(answer.into()) }
}

fn serve(
    options: &RelayOptions,
    what: &str,
    one: impl Fn(std::net::TcpListener) -> io::Result<()> + Clone + Send + 'static,
) -> Result<(), String> {
    let listeners = listeners::open(options.listen, options.threads)?;
    listeners::serve(listeners, |address| format!("relay on {address} {what}"), one)
}

/// Serves the connections of one listener on the calling thread; `link` creates the link of each client.
fn turn<L: RelayLink>(listener: std::net::TcpListener, link: impl Fn(TcpStream) -> io::Result<L>) -> io::Result<()> {
    let mut core = RelayThread::new(TcpListener::from_std(listener), link)?;
    let mut events = Events::with_capacity(EVENTS_MAX);
    loop {
        core.turn(&mut events)?;
    }
}

/// State of one thread.
struct RelayThread<L, F> {
    poll: Poll,
    listener: TcpListener,
    /// Creates the link of a client.
    link: F,
    links: Vec<Option<L>>,
    /// Empty slots in `links`.
    free: Vec<usize>,
    buffer: Vec<u8>,
    /// Whether the listener may have more connections.
    accepts: bool,
}

impl<L: RelayLink, F: Fn(TcpStream) -> io::Result<L>> RelayThread<L, F> {
    fn new(mut listener: TcpListener, link: F) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let buffer = vec![0; BUFFER_BYTES];
        Ok(RelayThread { poll, listener, link, links: Vec::new(), free: Vec::new(), buffer, accepts: false })
    }

    /// Waits for events and processes all of them.
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
        // Last, so that no event of this turn refers to a connection that has reused a slot.
        if self.accepts {
            self.accept();
        }
        Ok(())
    }

    fn advance(&mut self, number: usize, event: &Event) {
        let place = number / 2;
        let Some(here) = self.links.get_mut(place) else { return };
        let Some(link) = here else { return };
        if let Some(end) = link.ends().into_iter().flatten().nth(number % 2) {
            end.hear(event);
        }
        if link.advance(&mut self.buffer).is_break() {
            // Closing its connections removes them from epoll.
            *here = None;
            self.free.push(place);
        }
    }

    fn accept(&mut self) {
        loop {
            match self.listener.accept() {
                // A connection that cannot be set up is closed, which its client notices.
                Ok((client, _)) => drop((self.link)(client).and_then(|link| self.add(link))),
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

    fn add(&mut self, mut link: L) -> io::Result<()> {
        let place = self.free.pop().unwrap_or_else(|| {
            self.links.push(None);
            self.links.len() - 1
        });
        let both = Interest::READABLE | Interest::WRITABLE;
        let registry = self.poll.registry();
        let register = |(end, it): (usize, &mut LinkEnd)| registry.register(&mut it.stream, Token(place * 2 + end), both);
        let registered = link.ends().into_iter().flatten().enumerate().try_for_each(register);
        match (registered, self.links.get_mut(place)) {
            (Ok(()), Some(here)) => *here = Some(link),
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
