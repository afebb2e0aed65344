//! The upstream, within this process, of an API in front of models. The data path has checked each request, and treats the server like any other
//! upstream. A core connects to it over a socket pair.

use crate::answer::{AnswerBody, fault};
use crate::asked::{Asked, REQUEST_BYTES_MAX};
use crate::llm_server::LlmServer;
use crate::models;
use crate::surface::{Surface, form_of};
use http::{Request, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use tollgate_llm::{Fault, FaultKind};

/// Bytes of memory for requests that wait for their answers, of all clients and of each.
pub(crate) const ALL_BYTES_MAX: usize = 1 << 30;
pub(crate) const CLIENT_BYTES_MAX: usize = 256 << 20;
/// When a client that has none left should come again.
const RETRY_MS: u64 = 1_000;

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
            let message = format!("there is no {} {} here", head.method, head.uri.path());
            return fault(form_of(&head.headers), &Fault::new(FaultKind::NotFound, message), None);
        };
        let form = surface.form(&head.headers);
        match &surface {
            Surface::Models => return models::list(&self.routes, form),
            Surface::Model(name) => return models::one(&self.routes, name, form),
            _ => {}
        }
        let body = match Limited::new(body, REQUEST_BYTES_MAX).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                let message = format!("the request has more than {REQUEST_BYTES_MAX} bytes");
                return fault(form, &Fault::new(FaultKind::TooLarge, message), None);
            }
            Err(_) => return fault(form, &Fault::new(FaultKind::InvalidRequest, "the request was cut"), None),
        };
        // Given back when the answer begins: it needs nothing of the request.
        let Some(_share) = self.shares.take(self.holder(&head.headers), memory_of(&body)) else {
            let why = Fault::new(FaultKind::Overloaded, "too many large requests wait for their answers");
            return fault(form, &why, Some(RETRY_MS));
        };
        match Asked::read(surface, form, head.headers, body) {
            Ok(asked) => self.answer(&asked).await,
            Err(why) => fault(form, &why, None),
        }
    }
}
