//! A stream whose provider speaks its client's API: its bytes pass, and are watched.

use super::EVENT_BYTES_MAX;
use crate::terms::ProviderTerms;
use tollgate_llm::{AnswerContext, AnswerFormat, BoundedStream, ClientApi, OutputBound, ProviderStream, UsageFilter, UsageReader};

/// The last event of OpenAI's streams, and bytes at the end of a stream in which it is.
const DONE: &[u8] = b"[DONE]";
const TAIL: usize = 16;

/// A stream that passes as it is.
pub(super) struct PassedStream {
    pub(super) api: ClientApi,
    pub(super) answer: AnswerContext,
    filter: Option<UsageFilter>,
    pub(super) usage: UsageReader,
    /// Ends an answer that is longer than its budget.
    pub(super) bounded: Option<BoundedStream>,
    /// Reads the beginning, where this API's events can be told apart.
    pub(super) probe: Option<ProviderStream>,
    /// The last bytes, which say whether an event is complete.
    tail: Vec<u8>,
}

impl PassedStream {
    /// A stream of a provider to a client of the same API, up to the bound of its budgets.
    pub(super) fn new(
        provider: &ProviderTerms,
        (api, answer): (ClientApi, AnswerContext),
        bound: Option<OutputBound>,
        hides_usage: bool,
    ) -> Self {
        let provider = &provider.provider;
        let has_reader = api != ClientApi::OpenAiResponses;
        PassedStream {
            api,
            bounded: bound.map(|bound| BoundedStream::new(provider, api, answer.clone(), bound, EVENT_BYTES_MAX)),
            answer,
            filter: hides_usage.then(|| UsageFilter::new(EVENT_BYTES_MAX)),
            usage: UsageReader::new(AnswerFormat::from(api), true),
            probe: has_reader.then(|| provider.stream(EVENT_BYTES_MAX)),
            tail: Vec::new(),
        }
    }

    /// Whether bytes pass as they are.
    pub(super) fn passes(&self, bytes: &[u8]) -> bool {
        let has_usage = self.usage.usage().is_some();
        self.bounded.is_none() && self.filter.as_ref().is_none_or(|filter| filter.passes(bytes, has_usage))
    }

    /// Passes bytes on. False if the answer was ended.
    pub(super) fn pass(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        let mut within = Vec::new();
        let (goes_on, bytes) = match &mut self.bounded {
            Some(bounded) => (bounded.push(bytes, &mut within), within.as_slice()),
            None => (true, bytes),
        };
        match &mut self.filter {
            Some(filter) => filter.push(bytes, self.usage.usage().is_some(), out),
            None => out.extend_from_slice(bytes),
        }
        goes_on
    }

    /// Passes on what is left when the stream has ended.
    pub(super) fn end(&mut self, out: &mut Vec<u8>) {
        let mut rest = Vec::new();
        self.bounded.iter_mut().for_each(|bounded| bounded.end(&mut rest));
        match &mut self.filter {
            Some(filter) => {
                filter.push(&rest, self.usage.usage().is_some(), out);
                filter.end(out);
            }
            None => out.extend_from_slice(&rest),
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        let filter = self.filter.as_ref().map_or(0, UsageFilter::held_bytes);
        let bounded = self.bounded.as_ref().map_or(0, BoundedStream::held_bytes);
        let probe = self.probe.as_ref().map_or(0, ProviderStream::held_bytes);
        filter.max(bounded).max(probe)
    }

    pub(super) fn note_tail(&mut self, bytes: &[u8]) {
        let kept = bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default();
        self.tail.extend_from_slice(kept);
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
    }

    /// Whether the provider has said that the answer is over.
    pub(super) fn has_ended(&self) -> bool {
        self.usage.stop().is_some() || self.tail.windows(DONE.len()).any(|part| part == DONE)
    }

    /// Whether what the client has is whole events.
    pub(super) fn is_between_events(&self) -> bool {
        // The filter holds what is not complete.
        self.filter.is_some() || self.bounded.is_some() || self.tail.is_empty() || self.ends_whole()
    }

    /// Whether the provider's last event is whole.
    pub(super) fn ends_whole(&self) -> bool {
        self.tail.ends_with(b"\n\n") || self.tail.ends_with(b"\r\n\r\n")
    }
}
