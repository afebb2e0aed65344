//! The body of a relay's stream.

use super::Relay;
use crate::answer::AnswerBody;
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Sleep, sleep_until};

/// Most bytes that are read where the client is: what reads them needs some hundred microseconds.
const BRIEF_BYTES_MAX: usize = 16 << 10;

/// The rest of a relay's stream, for the client. Its core polls it: what takes long is done elsewhere.
struct RelayBody {
    /// `None` while another thread has it, and at the end.
    relay: Option<Box<Relay>>,
    /// What another thread makes of a large piece.
    elsewhere: Option<JoinHandle<(Box<Relay>, Bytes)>>,
    /// Since when the client has waited for the provider, and the timer that looks whether that is too long.
    waits_since: Option<Instant>,
    silence: Option<Pin<Box<Sleep>>>,
}

/// What a provider's stream said, or why it says nothing more.
enum ProviderWord {
    Piece(Bytes),
    End,
    Broken(&'static str),
}

impl Relay {
    /// What the client gets from here on.
    pub(crate) fn into_body(self) -> AnswerBody {
        let body = RelayBody { relay: Some(Box::new(self)), elsewhere: None, waits_since: None, silence: None };
        body.boxed_unsync()
    }

    fn hear(&mut self, said: ProviderWord) {
        match said {
            ProviderWord::Piece(bytes) => self.read(bytes),
            ProviderWord::End => self.end(),
            ProviderWord::Broken(why) => self.broken(why),
        }
    }

    /// What is left when nothing more comes.
    fn rest(&mut self) -> Option<io::Result<Frame<Bytes>>> {
        let rest = self.mask.end();
        match rest.is_empty() {
            false => Some(Ok(Frame::data(rest))),
            true => self.is_cut.then(|| Err(io::Error::other("the provider's stream broke off"))),
        }
    }
}

impl RelayBody {
    /// What the provider says next.
    fn poll_said(&mut self, cx: &mut Context<'_>) -> Poll<ProviderWord> {
        let Some(relay) = &mut self.relay else { return Poll::Ready(ProviderWord::End) };
        if let Poll::Ready(frame) = Pin::new(&mut relay.body).poll_frame(cx) {
            self.waits_since = None;
            return Poll::Ready(match frame {
                Some(Ok(frame)) => ProviderWord::Piece(frame.into_data().unwrap_or_default()),
                Some(Err(_)) => ProviderWord::Broken("the provider's stream broke off"),
                None => ProviderWord::End,
            });
        }
        let due = *self.waits_since.get_or_insert_with(Instant::now) + relay.silence_max;
        // Set for an earlier piece, it may be too early, and is set anew only then.
        let silence = self.silence.get_or_insert_with(|| Box::pin(sleep_until(due)));
        loop {
            ready!(silence.as_mut().poll(cx));
            if due <= Instant::now() {
                return Poll::Ready(ProviderWord::Broken("the provider's stream said nothing for too long"));
            }
            silence.as_mut().reset(due);
        }
    }

    /// What the client gets of what was said; `None` while another thread makes it.
    fn next(&mut self, said: ProviderWord) -> Option<Bytes> {
        let new_bytes = if let ProviderWord::Piece(bytes) = &said { bytes.len() } else { 0 };
        let relay = self.relay.as_mut()?;
        if new_bytes + relay.held_bytes() <= BRIEF_BYTES_MAX {
            relay.hear(said);
            return Some(relay.masked());
        }
        let threads = relay.threads.clone();
        let mut relay = self.relay.take()?;
        self.elsewhere = Some(threads.spawn_blocking(move || {
            relay.hear(said);
            let next = relay.masked();
            (relay, next)
        }));
        None
    }
}

impl Body for RelayBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = &mut *self;
        loop {
            let next = if let Some(elsewhere) = &mut this.elsewhere {
                let made = ready!(Pin::new(elsewhere).poll(cx));
                this.elsewhere = None;
                match made {
                    Ok((relay, next)) => {
                        this.relay = Some(relay);
                        next
                    }
                    Err(error) => return Poll::Ready(Some(Err(io::Error::other(error)))),
                }
            } else {
                let Some(relay) = &mut this.relay else { return Poll::Ready(None) };
                // What came before the first token.
                match relay.masked() {
                    next if !next.is_empty() => next,
                    _ if relay.is_over => {
                        let rest = relay.rest();
                        if !matches!(rest, Some(Ok(_))) {
                            // What it has taken is told before the client learns that it is over.
                            this.relay = None;
                        }
                        return Poll::Ready(rest);
                    }
                    _ => {
                        let said = ready!(this.poll_said(cx));
                        this.next(said).unwrap_or_default()
                    }
                }
            };
            if !next.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(next))));
            }
        }
    }
}
