//! The upstream, within this process, of an API in front of models. The data path has checked each request, and treats the server like any other
//! upstream. A core connects to it over a socket pair.

use crate::answer::{AnswerBody, fault};
use crate::asked::{Asked, REQUEST_BYTES_MAX};
use crate::caller::CallFacts;
use crate::llm_server::LlmServer;
use crate::models;
use crate::report::Report;
use crate::surface::{Called, Surface, form_of_unknown};
use crate::upload::TOO_MUCH;
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Incoming};
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use tollgate_llm::{ClientApi, Fault, FaultKind};
use tollgate_outbound::{ClientCore, Holder, holding};

/// Names the guard that refuses a request or its answer.
const GUARD_HEADER: &str = "x-tollgate-llm-guard";
/// When a client that has none left should come again.
const RETRY_MS: u64 = 1_000;

impl LlmServer {
    /// Opens a connection to it.
    ///
    /// # Errors
    /// The system has no more sockets.
    pub fn connect(self: &Arc<Self>) -> io::Result<UnixStream> {
        // A core calls this.
        let core = ClientCore::current();
        let respond = move |server: Arc<Self>, request| server.respond(request, core.clone());
        self.client.connect_within("gateway of language models", self, respond)
    }

    async fn respond(self: Arc<Self>, request: Request<Incoming>, core: Option<ClientCore>) -> Response<AnswerBody> {
        let (head, body) = request.into_parts();
        let facts = CallFacts::read(&head.headers);
        let report = Report::of(&self.terms.calls, facts.call);
        let listen_path = &self.terms.listen_path;
        let Called { surface, path } = match Called::of(&head.method, &head.uri, &head.headers, listen_path) {
            Ok(called) => called,
            Err(why) => {
                report.ends("invalid", "there is no such path", "");
                return fault(form_of_unknown(&head.uri, &head.headers, listen_path), &why, None);
            }
        };
        let form = surface.form();
        report.calls(&surface);
        match &surface {
            Surface::Models(_) => return models::list(&self.routes, form),
            Surface::Model(name, _) => return models::one(&self.routes, name, form),
            _ => {}
        }
        let holder = self.holder(&head.headers);
        // The share is given back when the answer begins: it needs nothing of the request.
        let (body, _share) = match self.received(&surface, &holder, body).await {
            Ok(received) => received,
            Err(why) => {
                let outcome = if why.kind == FaultKind::Overloaded { "overloaded" } else { "invalid" };
                report.ends(outcome, &why.message, "");
                return fault(form, &why, (why.kind == FaultKind::Overloaded).then_some(RETRY_MS));
            }
        };
        let body = match path {
            Some(path) => {
                let made = path.into_body(&body, REQUEST_BYTES_MAX).map(Bytes::from).map_err(|refused| refused.fault());
                drop(body);
                made
            }
            None => Ok(body),
        };
        let read = body.and_then(|body| Asked::read(surface, form, head.headers, body, (facts, report.clone(), core)));
        let answer = match read {
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
        let (mut asked, placeholders) = match self.guard_request(asked).await {
            Ok(guarded) => guarded,
            Err(refusal) => return refusal,
        };
        let guards = match self.answer_guards(&asked, &placeholders) {
            Ok(guards) => guards,
            Err(refused) => return refused.response(asked.form),
        };
        // What was taken out is kept until it is put back.
        let Some(share) = self.shares.take(self.holder(&asked.headers), placeholders.bytes()) else {
            asked.report.ends("overloaded", TOO_MUCH, "");
            return fault(asked.form, &Fault::new(FaultKind::Overloaded, TOO_MUCH), Some(RETRY_MS));
        };
        if guards.is_some() || self.cache.is_some() {
            // What is done with the answer may take long.
            asked.core = None;
        }
        let answer = self.kept_or_asked(&asked).await;
        let answer = self.guard_answer(guards, answer).await;
        if asked.core.is_some() && asked.streams() && answer.body().size_hint().exact().is_none() {
            return self.terms.offers.offered(answer);
        }
        match asked.streams() && !placeholders.is_empty() {
            true => answer.map(|body| holding(body, share).boxed_unsync()),
            false => answer,
        }
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
