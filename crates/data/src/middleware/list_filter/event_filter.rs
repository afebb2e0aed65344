//! Filters an event stream as it passes. Events are held until they are complete, within a bound; a large one is filtered on another thread, and
//! the upstream waits meanwhile.

use super::CallerView;
use crate::body_pipe::{BodyPipeEnd, body_pipe};
use crate::exchange::Exchange;
use crate::offload::{BodySender, BodyThreads, HERE_BYTES_MAX};
use crate::refusal;
use crate::response_chain::{ResponseAction, ResponseHead};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tollgate_engine::{BodyCut, BodySink};
use tollgate_mcp::{EventReader, Filtered, filtered_event};
use tollgate_offload::StartedOnce;

/// Largest event: a list of ten thousand tools has a third of it.
const EVENT_BYTES_MAX: usize = 8 << 20;

/// What filters the events of one response.
pub(super) struct EventFilter {
    /// Identifier of the API, for the log.
    api: Arc<str>,
    view: CallerView,
    threads: Arc<StartedOnce<BodyThreads>>,
    asker: BodySender,
}

impl EventFilter {
    pub(super) fn new(exchange: &Exchange<'_>, threads: &Arc<StartedOnce<BodyThreads>>, view: CallerView) -> Self {
        let (api, asker) = (exchange.api.id.as_str().into(), exchange.arrival.body_sender());
        EventFilter { api, view, threads: threads.clone(), asker }
    }

    /// Takes the response's body, and gives the client the filtered one.
    pub(super) fn filter(self, head: &mut ResponseHead<'_>) -> ResponseAction {
        if head.is_held || head.body_len() == Some(0) {
            return ResponseAction::Pass;
        }
        if head.header("Content-Encoding").is_some() {
            tracing::warn!(api = &*self.api, "an event stream is compressed, so its lists cannot be filtered");
            return ResponseAction::Refuse(refusal::RESPONSE_NOT_TRANSFORMED);
        }
        head.body_changes();
        let (end, start) = body_pipe();
        head.reply_from(Box::new(start));
        let reader = EventReader::new(EVENT_BYTES_MAX);
        ResponseAction::Detach(Box::new(EventSink { filter: self, reader, end, later: Vec::new(), work: None, is_broken: false }))
    }

    /// The bytes of an event that the client gets; `None` if it must not get any.
    fn filtered(view: &CallerView, event: &[u8]) -> Option<Vec<u8>> {
        match filtered_event(event, view) {
            Filtered::Unchanged => Some(event.to_vec()),
            Filtered::Changed(event) => Some(event),
            Filtered::Ambiguous => None,
        }
    }
}

/// Work on an event: what the client gets, if anything; the outer `None` if no thread had room.
type EventWork = Pin<Box<dyn Future<Output = Option<Option<Vec<u8>>>>>>;

/// Receives the upstream's bytes.
struct EventSink {
    filter: EventFilter,
    reader: EventReader,
    end: BodyPipeEnd,
    /// What has come while another thread works.
    later: Vec<u8>,
    work: Option<EventWork>,
    /// The stream ends: an event is too large, or nobody can filter it.
    is_broken: bool,
}

impl EventSink {
    fn read(&mut self, mut bytes: &[u8]) {
        loop {
            match self.reader.next(&mut bytes) {
                Ok(None) => return,
                Ok(Some(event)) if event.len() <= HERE_BYTES_MAX => match EventFilter::filtered(&self.filter.view, event) {
                    Some(event) => self.end.push(&event),
                    None => return self.break_off("can be read in two ways"),
                },
                Ok(Some(event)) => {
                    let (event, view) = (event.to_vec(), self.filter.view.clone());
                    let Some(threads) = self.filter.threads.get() else { return self.break_off("finds no thread to filter it") };
                    let job = threads.run(self.filter.asker, move || EventFilter::filtered(&view, &event));
                    self.work = Some(Box::pin(job));
                    self.later = bytes.to_vec();
                    return;
                }
                Err(_) => return self.break_off("is too large to be filtered"),
            }
        }
    }

    /// Waits for the other thread, and goes on with what has come meanwhile.
    fn poll_work(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some(work) = &mut self.work {
            let done = ready!(work.as_mut().poll(cx));
            self.work = None;
            match done {
                Some(Some(event)) => self.end.push(&event),
                Some(None) => self.break_off("can be read in two ways"),
                None => self.break_off("finds no thread to filter it"),
            }
            let later = std::mem::take(&mut self.later);
            if !self.is_broken {
                self.read(&later);
            }
        }
        Poll::Ready(())
    }

    /// Passes what is left when the stream has ended.
    fn pass_rest(&mut self) {
        if !self.is_broken
            && let Some(rest) = EventFilter::filtered(&self.filter.view, self.reader.rest())
        {
            self.end.push(&rest);
            self.end.end();
        }
    }

    #[cold]
    fn break_off(&mut self, why: &str) {
        tracing::warn!(api = &*self.filter.api, "an event of an MCP server {why}: the stream is ended");
        self.is_broken = true;
    }
}

impl BodySink for EventSink {
    fn push(&mut self, bytes: &[u8]) {
        match self.work {
            Some(_) => self.later.extend_from_slice(bytes),
            None if self.is_broken => {}
            None => self.read(bytes),
        }
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BodyCut>> {
        ready!(self.poll_work(cx));
        if self.is_broken || self.end.is_client_gone() {
            return Poll::Ready(Err(BodyCut));
        }
        self.end.poll_room(cx).map(Ok)
    }

    fn poll_unwanted(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.end.poll_client_gone(cx)
    }

    fn finish(mut self: Box<Self>) {
        if self.work.is_none() {
            return self.pass_rest();
        }
        tokio::task::spawn_local(async move {
            poll_fn(|cx| self.poll_work(cx)).await;
            self.pass_rest();
        });
    }
}
