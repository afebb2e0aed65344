//! HTTP/2: several workers share a connection, each with one stream at a time. Based on the `h2` crate; response bytes are counted
//! without framing.

use super::context::ThreadContext;
use crate::load::pace::clock::RunClock;
use crate::load::plan::{LoadPlan, PreparedRequest};
use crate::load::wire::connection::TimedResponse;
use crate::load::wire::fault::{Cause, WireFault};
use crate::load::wire::message::RequestTemplate;
use crate::load::wire::stream::dial;
use crate::load::wire::target::ServerTarget;
use bytes::Bytes;
use h2::Reason;
use h2::client::{Builder, SendRequest};
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use std::cell::Cell;
use std::rc::Rc;

/// Receive windows, large enough that the load generator never delays a response.
const STREAM_WINDOW_BYTES: u32 = 1 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 1 << 24;
const REDIRECTS_MAX: usize = 10;

/// A failed stream, and whether the server reported that it did not process the request.
struct StreamFailure {
    fault: WireFault,
    refused: bool,
}

impl From<WireFault> for StreamFailure {
    fn from(fault: WireFault) -> Self {
        StreamFailure { fault, refused: false }
    }
}

/// Sends one worker's requests.
pub(crate) struct Http2Sender<'a> {
    context: &'a ThreadContext,
    own: usize,
    /// Prepared requests without variables.
    ready: Vec<Option<(Request<()>, Bytes)>>,
    /// Time to connect, if the request opened a connection.
    pub connect_ns: Option<u64>,
}

impl<'a> Http2Sender<'a> {
    pub(crate) fn new(context: &'a ThreadContext, own: usize) -> Self {
        let plan = &context.plan;
        let ready =
            |prepared: &PreparedRequest| prepared.message.is_fixed().then(|| request(&prepared.message, plan, 0).ok()).flatten();
        Http2Sender { context, own, ready: plan.requests.iter().map(ready).collect(), connect_ns: None }
    }

    /// Sends request `number` and reads the response.
    pub(crate) async fn send(&mut self, number: u64) -> Result<TimedResponse, WireFault> {
        let plan = &self.context.plan;
        self.connect_ns = None;
        let index = (number % plan.requests.len() as u64) as usize;
        // The list is not empty.
        let Some(prepared) = plan.requests.get(index) else { return Err(WireFault::new(Cause::Local, "no request")) };
        let (head, body) = match self.ready.get(index).and_then(Option::as_ref) {
            Some((head, body)) => (head.clone(), body.clone()),
            None => request(&prepared.message, plan, number)?,
        };
        let mut answer = self.attempt(prepared, head, body).await?;
        let mut message = None;
        for _ in 0..REDIRECTS_MAX {
            let Some(location) = answer.location.take() else { return Ok(answer) };
            let from: &RequestTemplate = message.as_ref().unwrap_or(&prepared.message);
            let url = from.url.join(&location).map_err(|error| WireFault::new(Cause::Protocol, format!("redirect: {error}")))?;
            if !url.same_server(&prepared.message.url) {
                return Ok(answer);
            }
            let next = from.redirected(answer.status, url, &plan.variables, number);
            let (head, body) = request(&next, plan, number)?;
            message = Some(next);
            let later = self.attempt(prepared, head, body).await?;
            let (sent_bytes, body_bytes) = (answer.sent_bytes + later.sent_bytes, answer.body_bytes + later.body_bytes);
            answer = TimedResponse { sent_bytes, body_bytes, received_bytes: body_bytes, written_ns: answer.written_ns, ..later };
        }
        Err(WireFault::new(Cause::Protocol, format!("redirect: stopped after {REDIRECTS_MAX}")))
    }

    /// Sends the request, and retries once if the server refused it unprocessed (RFC 9113 §8.7).
    async fn attempt(&mut self, prepared: &PreparedRequest, head: Request<()>, body: Bytes) -> Result<TimedResponse, WireFault> {
        match self.exchange(prepared, head.clone(), body.clone()).await {
            Ok(answer) => Ok(answer),
            Err(failure) if failure.refused && prepared.idempotent => {
                self.context.recorder.borrow_mut().tally.connections.resent += 1;
                self.exchange(prepared, head, body).await.map_err(|failure| failure.fault)
            }
            Err(failure) => Err(failure.fault),
        }
    }

    async fn exchange(
        &mut self,
        prepared: &PreparedRequest,
        head: Request<()>,
        body: Bytes,
    ) -> Result<TimedResponse, StreamFailure> {
        let clock = self.context.clock;
        let mut sender = self.connection(prepared.target).await?;
        let (response, mut stream) = sender.send_request(head, body.is_empty()).map_err(failure)?;
        let noted = self.context.plan.noted();
        let events = noted.events.then(Box::default);
        let mut answer = TimedResponse { sent_bytes: body.len() as u64, events, ..TimedResponse::default() };
        if !body.is_empty() {
            stream.send_data(body, true).map_err(failure)?;
        }
        answer.written_ns = clock.now_ns();
        let response = response.await.map_err(failure)?;
        answer.first_ns = clock.now_ns();
        answer.status = response.status().as_u16();
        if noted.location && matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
            let location = response.headers().get("location");
            answer.location = location.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        }
        let mut content = response.into_body();
        while let Some(data) = content.data().await {
            let data = data.map_err(failure)?;
            answer.body_bytes += data.len() as u64;
            if let Some(events) = &mut answer.events {
                events.push(&data, clock.now_ns());
            }
            content.flow_control().release_capacity(data.len()).map_err(failure)?;
        }
        answer.received_bytes = answer.body_bytes;
        answer.done_ns = clock.now_ns();
        Ok(answer)
    }

    /// A connection with room for a stream.
    async fn connection(&mut self, target: usize) -> Result<SendRequest<Bytes>, WireFault> {
        let context = self.context;
        let (plan, group) = (&context.plan, self.own / context.plan.streams);
        let shared = context.http2.get(target).and_then(|groups| groups.get(group));
        let (Some(shared), Some(target)) = (shared, plan.targets.get(target)) else {
            return Err(WireFault::new(Cause::Local, "no server"));
        };
        loop {
            let open = shared.sender.borrow().clone();
            if let Some((number, sender)) = open {
                // Fails if the connection is closed or closing.
                match sender.ready().await {
                    Ok(sender) => return Ok(sender),
                    Err(_) => drop(shared.sender.borrow_mut().take_if(|(current, _)| *current == number)),
                }
            }
            let _opening = shared.opening.lock().await;
            if shared.sender.borrow().is_some() {
                continue;
            }
            let (sender, took) = open_connection(target, context.clock, Rc::clone(&context.open)).await?;
            self.connect_ns = Some(took);
            let opened = &mut context.recorder.borrow_mut().tally.connections.opened;
            *opened += 1;
            *shared.sender.borrow_mut() = Some((*opened, sender));
        }
    }
}

async fn open_connection(
    target: &ServerTarget,
    clock: RunClock,
    open: Rc<Cell<u64>>,
) -> Result<(SendRequest<Bytes>, u64), WireFault> {
    let begun = clock.now_ns();
    let (stream, _) = dial(target, clock).await?;
    if !stream.speaks_http2() {
        return Err(WireFault::new(Cause::Tls, format!("{} does not speak HTTP/2", target.label)));
    }
    let mut builder = Builder::new();
    builder.initial_window_size(STREAM_WINDOW_BYTES).initial_connection_window_size(CONNECTION_WINDOW_BYTES).enable_push(false);
    let (sender, connection) = builder.handshake(stream).await.map_err(|error| failure(error).fault)?;
    open.set(open.get() + 1);
    tokio::task::spawn_local(async move {
        // Its streams learn of the error themselves.
        let _ = connection.await;
        open.set(open.get() - 1);
    });
    Ok((sender, clock.now_ns() - begun))
}

fn failure(error: h2::Error) -> StreamFailure {
    let refused = error.is_go_away() && error.is_remote() || error.reason() == Some(Reason::REFUSED_STREAM);
    let fault = match error.get_io() {
        Some(io) => WireFault::broken(io),
        None if error.is_remote() => WireFault::new(Cause::Reset, format!("HTTP/2: {error}")),
        None => WireFault::new(Cause::Protocol, format!("HTTP/2: {error}")),
    };
    StreamFailure { fault, refused }
}

/// `message` rendered for request `number`.
fn request(message: &RequestTemplate, plan: &LoadPlan, number: u64) -> Result<(Request<()>, Bytes), WireFault> {
    let wrong = |error: &dyn std::fmt::Display| WireFault::new(Cause::Local, format!("request: {error}"));
    let variables = &plan.variables;
    let scheme = if message.url.tls { "https" } else { "http" };
    let uri = Uri::builder()
        .scheme(scheme)
        .authority(message.authority.rendered(variables, number))
        .path_and_query(message.path.rendered(variables, number))
        .build()
        .map_err(|error| wrong(&error))?;
    let mut request = Request::new(());
    *request.method_mut() = Method::from_bytes(message.method.as_bytes()).map_err(|error| wrong(&error))?;
    *request.uri_mut() = uri;
    for (name, value) in &message.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| wrong(&error))?;
        let value = HeaderValue::from_bytes(&value.rendered(variables, number)).map_err(|error| wrong(&error))?;
        request.headers_mut().append(name, value);
    }
    let body = Bytes::from(message.body.rendered(variables, number));
    if message.has_body {
        request.headers_mut().insert(http::header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    }
    Ok((request, body))
}
