//! Keeps an answer while it passes to its client. One that is cut, broken, too long or not understood is not kept.

use crate::answer::AnswerBody;
use crate::answer_store::AnswerPlace;
use crate::asked::Asked;
use crate::flights::FlightLead;
use crate::kept_answer::{KeptAnswer, KeptContent};
use crate::surface::Surface;
use http::{HeaderName, Response};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use tollgate_llm::{AnswerRecorder, Stop, Usage};

/// What is kept of one answer.
pub(crate) struct Recording {
    source: RecordingSource,
    provider: String,
    model: String,
    /// What the provider told of tokens, also where the client does not see it.
    usage: Arc<OnceLock<Usage>>,
    /// Whether an answer may be kept that met the bound of its length.
    keeps_bounded: bool,
    place: Box<dyn AnswerPlace>,
    /// What comes when it is kept.
    then: Option<Box<dyn FnOnce() + Send>>,
    /// Others wait for the same answer until it is kept or given up.
    _lead: Option<FlightLead>,
}

enum RecordingSource {
    Talk(Box<AnswerRecorder>),
    Body(Vec<u8>, usize),
}

impl Recording {
    /// A recording of the answer to a request.
    pub(crate) fn new(
        asked: &Asked,
        answer: &Response<AnswerBody>,
        bytes_max: usize,
        keeps_bounded: bool,
        place: Box<dyn AnswerPlace>,
        lead: Option<FlightLead>,
    ) -> Option<Self> {
        let source = match &asked.surface {
            Surface::Talk(api) => RecordingSource::Talk(Box::new(AnswerRecorder::new(*api, asked.streams(), bytes_max))),
            Surface::Embeddings(_) => RecordingSource::Body(Vec::new(), bytes_max),
            _ => return None,
        };
        let line = |name: &'static str| -> Option<String> {
            Some(answer.headers().get(HeaderName::from_static(name))?.to_str().ok()?.to_owned())
        };
        // Without them it is no provider's answer.
        let (provider, model) = (line("x-tollgate-llm-provider")?, line("x-tollgate-llm-model")?);
        let usage = asked.usage.clone();
        (answer.status() == 200).then_some(Recording {
            source,
            provider,
            model,
            usage,
            keeps_bounded,
            place,
            then: None,
            _lead: lead,
        })
    }

    /// The same, with what comes when the answer is kept.
    pub(crate) fn and_then(self, then: Option<Box<dyn FnOnce() + Send>>) -> Self {
        Recording { then, ..self }
    }

    /// The answer on its way through the recording.
    pub(crate) fn of(self, answer: Response<AnswerBody>) -> Response<AnswerBody> {
        answer.map(|body| BodyExt::boxed_unsync(RecordedBody { body, recording: Some(Box::new(self)) }))
    }

    fn push(&mut self, bytes: &[u8]) {
        match &mut self.source {
            RecordingSource::Talk(recorder) => recorder.push(bytes),
            RecordingSource::Body(body, bytes_max) => {
                if body.len().saturating_add(bytes.len()) > *bytes_max {
                    (*body, *bytes_max) = (Vec::new(), 0);
                } else {
                    body.extend_from_slice(bytes);
                }
            }
        }
    }

    fn end(self) {
        let Recording { source, provider, model, usage, keeps_bounded, place, then, .. } = self;
        let content = match source {
            RecordingSource::Talk(recorder) => recorder.end().map(|mut reply| {
                if let Some(usage) = usage.get().filter(|_| reply.usage.is_doubtful) {
                    reply.usage = *usage;
                }
                KeptContent::Reply(reply)
            }),
            RecordingSource::Body(body, _) => String::from_utf8(body).ok().filter(|body| !body.is_empty()).map(KeptContent::Body),
        };
        let Some(content) = content else { return };
        if matches!(&content, KeptContent::Reply(reply) if reply.stop == Stop::OutputLimit && !keeps_bounded) {
            return;
        }
        if let Ok(kept) = serde_json::to_vec(&KeptAnswer { provider, model, content }) {
            place.keep(&kept);
            then.into_iter().for_each(|then| then());
        }
    }
}

/// A body that is recorded as it is read.
struct RecordedBody {
    body: AnswerBody,
    recording: Option<Box<Recording>>,
}

impl Body for RecordedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = &mut *self;
        let polled = Pin::new(&mut this.body).poll_frame(task);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let (Some(recording), Some(bytes)) = (&mut this.recording, frame.data_ref()) {
                    recording.push(bytes);
                }
                // Nobody asks a body that has ended.
                if this.body.is_end_stream() {
                    this.recording.take().into_iter().for_each(|recording| recording.end());
                }
            }
            Poll::Ready(Some(Err(_))) => this.recording = None,
            Poll::Ready(None) => this.recording.take().into_iter().for_each(|recording| recording.end()),
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
