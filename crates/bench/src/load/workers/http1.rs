//! A worker's HTTP/1.1 connections, one per server, opened on demand. Behaves like Go's client around an exchange: follows
//! redirects, and resends a request that was lost on an idle connection.

use super::context::ThreadContext;
use crate::load::wire::connection::{ExchangeFailure, Http1Connection, TimedResponse};
use crate::load::wire::fault::{Cause, WireFault};
use crate::load::wire::message::{RequestTemplate, Wire};
use crate::load::wire::stream::dial;
use crate::load::wire::target::ServerTarget;
use crate::load::wire::url::RequestUrl;
use std::rc::Rc;

/// Same limit as Go's client.
const REDIRECTS_MAX: usize = 10;

/// Sends one worker's requests.
pub(crate) struct Http1Sender<'a> {
    context: &'a ThreadContext,
    connections: Vec<Option<Http1Connection>>,
    /// Target of the last redirect to another server.
    elsewhere: Option<Box<Elsewhere>>,
    buffer: Vec<u8>,
    /// Time to connect, if the request opened a connection.
    pub connect_ns: Option<u64>,
}

/// A server that a redirect named.
struct Elsewhere {
    url: RequestUrl,
    target: ServerTarget,
    connection: Option<Http1Connection>,
}

impl<'a> Http1Sender<'a> {
    pub(crate) fn new(context: &'a ThreadContext) -> Self {
        let connections = context.plan.targets.iter().map(|_| None).collect();
        Http1Sender { context, connections, elsewhere: None, buffer: Vec::new(), connect_ns: None }
    }

    /// Sends request `number` and reads the response.
    pub(crate) async fn send(&mut self, number: u64) -> Result<TimedResponse, WireFault> {
        let plan = &self.context.plan;
        self.connect_ns = None;
        let index = (number % plan.requests.len() as u64) as usize;
        // The list is not empty, and each request refers to one of the servers.
        let Some(prepared) = plan.requests.get(index) else { return Err(WireFault::new(Cause::Local, "no request")) };
        let (Some(target), Some(connection)) = (plan.targets.get(prepared.target), self.connections.get_mut(prepared.target))
        else {
            return Err(WireFault::new(Cause::Local, "no server"));
        };
        let request = prepared.wire.bytes(&plan.variables, number, &mut self.buffer);
        let mut attempt = Attempt { context: self.context, target, connection, connect_ns: &mut self.connect_ns };
        let answer = attempt.send(request, prepared.to_head, prepared.idempotent).await?;
        if answer.location.is_none() || !is_redirect(answer.status) {
            return Ok(answer);
        }
        // Rare paths are boxed, here and below: they would enlarge the future of every request, which is moved each time.
        Box::pin(self.follow(&prepared.message, prepared.target, number, answer)).await
    }

    /// Closes connections with an unfinished exchange.
    pub(crate) fn forget(&mut self) {
        for connection in self.connections.iter_mut().chain(self.elsewhere.as_mut().map(|place| &mut place.connection)) {
            if connection.as_ref().is_some_and(|connection| !connection.reusable) {
                *connection = None;
            }
        }
    }

    /// Follows redirects to the end. The whole sequence counts as one request.
    async fn follow(
        &mut self,
        message: &RequestTemplate,
        home: usize,
        number: u64,
        mut answer: TimedResponse,
    ) -> Result<TimedResponse, WireFault> {
        let plan = &self.context.plan;
        let home_url = message.url.clone();
        let mut message = message.clone();
        for _ in 0..REDIRECTS_MAX {
            let Some(location) = answer.location.take().filter(|_| is_redirect(answer.status)) else { return Ok(answer) };
            let url = message.url.join(&location).map_err(|error| WireFault::new(Cause::Protocol, format!("redirect: {error}")))?;
            message = message.redirected(answer.status, url.clone(), &plan.variables, number);
            let wire = Wire::new(&message, plan.keep_alive, plan.connecting.has_proxy() && !url.tls, &plan.variables);
            let (target, connection) = if url.same_server(&home_url) {
                match (plan.targets.get(home), self.connections.get_mut(home)) {
                    (Some(target), Some(connection)) => (target, connection),
                    _ => return Ok(answer),
                }
            } else {
                if !self.elsewhere.as_ref().is_some_and(|place| place.url.same_server(&url)) {
                    let target = plan.connecting.target_later(&url).await.map_err(|error| WireFault::new(Cause::Connect, error))?;
                    self.elsewhere = Some(Box::new(Elsewhere { url, target, connection: None }));
                }
                match self.elsewhere.as_deref_mut() {
                    Some(Elsewhere { target, connection, .. }) => (&*target, connection),
                    None => return Ok(answer),
                }
            };
            let request = wire.bytes(&plan.variables, number, &mut self.buffer);
            let mut attempt = Attempt { context: self.context, target, connection, connect_ns: &mut self.connect_ns };
            let next = attempt.send(request, message.method == "HEAD", message.is_idempotent()).await?;
            answer = TimedResponse {
                sent_bytes: answer.sent_bytes + next.sent_bytes,
                received_bytes: answer.received_bytes + next.received_bytes,
                body_bytes: answer.body_bytes + next.body_bytes,
                written_ns: answer.written_ns,
                ..next
            };
        }
        if answer.location.is_none() || !is_redirect(answer.status) {
            return Ok(answer);
        }
        Err(WireFault::new(Cause::Protocol, format!("redirect: stopped after {REDIRECTS_MAX}")))
    }
}

/// One request to one server, on its kept connection.
struct Attempt<'a> {
    context: &'a ThreadContext,
    target: &'a ServerTarget,
    connection: &'a mut Option<Http1Connection>,
    connect_ns: &'a mut Option<u64>,
}

impl Attempt<'_> {
    async fn send(&mut self, request: &[u8], to_head: bool, idempotent: bool) -> Result<TimedResponse, WireFault> {
        let was_open = self.connection.is_some();
        match self.exchange(request, to_head).await {
            Ok(answer) => Ok(answer),
            // The server may close an idle connection at any time (RFC 9112 §9.3.1).
            Err(failure) if was_open && failure.unanswered && idempotent && failure.fault.cause == Cause::Reset => {
                self.context.recorder.borrow_mut().tally.connections.resent += 1;
                Box::pin(self.exchange(request, to_head)).await.map_err(|failure| failure.fault)
            }
            Err(failure) => Err(failure.fault),
        }
    }

    async fn exchange(&mut self, request: &[u8], to_head: bool) -> Result<TimedResponse, ExchangeFailure> {
        let context = self.context;
        let connection = match self.connection {
            Some(connection) => connection,
            None => {
                let (stream, took) = Box::pin(dial(self.target, context.clock))
                    .await
                    .map_err(|fault| ExchangeFailure { fault, unanswered: true })?;
                *self.connect_ns = Some(self.connect_ns.unwrap_or_default() + took);
                context.recorder.borrow_mut().tally.connections.opened += 1;
                self.connection.insert(Http1Connection::new(stream, Rc::clone(&context.open)))
            }
        };
        let result = connection.exchange(request, to_head, context.plan.noted(), context.clock, &context.scratch).await;
        if !connection.reusable || !context.plan.keep_alive {
            *self.connection = None;
        }
        result
    }
}

fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}
