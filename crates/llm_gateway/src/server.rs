//! The upstream, within this process, of an API in front of models. The data path has checked each request, and treats the server like any other
//! upstream. A core connects to it over a socket pair.

use crate::answer::{AnswerBody, fault};
use crate::asked::{Asked, REQUEST_BYTES_MAX};
use crate::llm_server::LlmServer;
use crate::models;
use crate::report::Report;
use crate::surface::{Surface, form_of};
use http::{Request, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Incoming};
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use tollgate_llm::{ClientApi, Fault, FaultKind};
use tollgate_outbound::{Holder, holding};

/// Names the guard that refuses a request or its answer.
const GUARD_HEADER: &str = "x-tollgate-llm-guard";
/// When a client that has none left should come again.
const RETRY_MS: u64 = 1_000;
const TOO_MUCH: &str = "too many large requests and answers are under way";

/// What a request takes of memory at most, about: it is there as it came, as it goes, and in the one form, where each value takes this.
fn memory_of(body: &[u8]) -> usize {
    const COPIES: usize = 4;
    const VALUE: usize = 96;
    let values = body.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    COPIES * body.len() + VALUE * values
}

impl LlmServer {
    /// Opens a connection to it.
    ///
    /// # Errors
    /// The system has no more sockets.
    pub fn connect(self: &Arc<Self>) -> io::Result<UnixStream> {
        self.client.connect_within("gateway of language models", self, Self::respond)
    }

    async fn respond(self: Arc<Self>, request: Request<Incoming>) -> Response<AnswerBody> {
        let (head, body) = request.into_parts();
        let Some(surface) = Surface::of(&head.method, head.uri.path(), &self.terms.listen_path) else {
            Report::of(&self.terms.calls, &head.headers).ends("invalid", "there is no such path", "");
            let message = format!("there is no {} {} here", head.method, head.uri.path());
            return fault(form_of(&head.headers), &Fault::new(FaultKind::NotFound, message), None);
        };
        let form = surface.form(&head.headers);
        let report = Report::of(&self.terms.calls, &head.headers);
        report.calls(&surface);
        match &surface {
            Surface::Models => return models::list(&self.routes, form),
            Surface::Model(name) => return models::one(&self.routes, name, form),
            _ => {}
        }
        let body = match Limited::new(body, REQUEST_BYTES_MAX).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                report.ends("invalid", "the request is too large", "");
                let message = format!("the request has more than {REQUEST_BYTES_MAX} bytes");
                return fault(form, &Fault::new(FaultKind::TooLarge, message), None);
            }
            Err(_) => {
                report.ends("client_left", "the request was cut", "");
                return fault(form, &Fault::new(FaultKind::InvalidRequest, "the request was cut"), None);
            }
        };
        // Given back when the answer begins: it needs nothing of the request.
        let Some(_share) = self.shares.take(self.holder(&head.headers), memory_of(&body)) else {
            report.ends("overloaded", TOO_MUCH, "");
            return fault(form, &Fault::new(FaultKind::Overloaded, TOO_MUCH), Some(RETRY_MS));
        };
        let holder = self.holder(&head.headers);
        let answer = match Asked::read(surface, form, head.headers, body, report.clone()) {
            Ok(asked) => self.guarded(asked).await,
            Err(why) => {
                report.ends("invalid", "the request cannot be read", "");
                fault(form, &why, None)
            }
        };
        self.held(answer, holder, form)
    }

    /// The answer to a request, both as guards let them pass.
    async fn guarded(self: &Arc<Self>, asked: Asked) -> Response<AnswerBody> {
        let report = asked.report.clone();
        let answer = self.answer_between_guards(asked).await;
        let guard = answer.headers().get(GUARD_HEADER).and_then(|guard| guard.to_str().ok());
        guard.into_iter().for_each(|guard| report.refused_by(guard));
        answer
    }

    async fn answer_between_guards(self: &Arc<Self>, asked: Asked) -> Response<AnswerBody> {
        let (asked, placeholders) = match self.guard_request(asked).await {
            Ok(guarded) => guarded,
            Err(refusal) => return refusal,
        };
        let guards = match self.answer_guards(&asked, &placeholders) {
            Ok(guards) => guards,
            Err(refusal) => return refusal,
        };
        // What was taken out is kept until it is put back.
        let Some(share) = self.shares.take(self.holder(&asked.headers), placeholders.bytes()) else {
            asked.report.ends("overloaded", TOO_MUCH, "");
            return fault(asked.form, &Fault::new(FaultKind::Overloaded, TOO_MUCH), Some(RETRY_MS));
        };
        let answer = self.kept_or_asked(&asked).await;
        let answer = self.guard_answer(guards, answer).await;
        answer.map(|body| holding(body, share).boxed_unsync())
    }

    /// A whole answer that has its share of memory until the client has read it. Streams are not longer than what was sent.
    fn held(&self, answer: Response<AnswerBody>, holder: Holder, form: ClientApi) -> Response<AnswerBody> {
        let bytes = answer.body().size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
        let Some(share) = self.shares.take(holder, bytes) else {
            return fault(form, &Fault::new(FaultKind::Overloaded, TOO_MUCH), Some(RETRY_MS));
        };
        answer.map(|body| holding(body, share).boxed_unsync())
    }
}
