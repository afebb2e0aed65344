//! One exchange as the engine does it, without its sockets to clients, its pools and its time limits. Upstreams are asked over real ones.

use super::gateway::{Gateway, now, pass};
use std::future::poll_fn;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tollgate_engine::{
    Address, BodyCoder, CoderStep, DetachedExchange, Ended, Fault, FaultKind, Handler, HoldUntil, KeptBody, NotKept, Outgoing,
    ResponseVerdict, Target, Verdict,
};
use tollgate_http::{
    Body, BodyReader, ClientBody, HeaderEdits, HeaderStorage, KnownHeader, LAST_CHUNK, ReplyBody, Request, RequestHead, Response,
    write_chunk, write_reply, write_reply_head, write_request, write_response, write_rewritten,
};

/// An upstream's response, its body without framing.
struct Answer {
    head: Vec<u8>,
    body: Vec<u8>,
}

/// Sends the request at the start of `bytes` through the gateway. Returns what its client gets, and the length of the request.
pub(super) fn play(gateway: &Gateway, handler: &mut dyn Handler, client_ip: &str, bytes: &[u8]) -> (Vec<u8>, usize) {
    let mut storage = HeaderStorage::new();
    let Ok(parsed) = Request::parse(bytes, &mut storage) else {
        let mut out = Vec::new();
        write_reply(400, &HeaderEdits::default(), b"400 Bad Request", b"", b"", ReplyBody::Whole, &mut out);
        return (out, bytes.len());
    };
    let request = parsed.expect("a whole head");
    let (mut reader, mut body) = (BodyReader::new(request.body), Vec::new());
    let used = reader.decode(&bytes[request.head_len..], &mut body).expect("a well-formed body");
    let mut exchange = Exchange { gateway, handler, out: Vec::new() };
    exchange.play(client_ip, &request, &body);
    (exchange.out, request.head_len + used)
}

struct Exchange<'g> {
    gateway: &'g Gateway,
    handler: &'g mut dyn Handler,
    /// What the client gets.
    out: Vec<u8>,
}

impl Exchange<'_> {
    fn play(&mut self, client_ip: &str, request: &Request<'_>, body: &[u8]) {
        let mut outgoing = Outgoing::default();
        let mut verdict = self.handler.on_request(request, now(), &mut outgoing);
        loop {
            match verdict {
                Verdict::Hold(until) => {
                    let kept = self.hold(until, body);
                    outgoing = Outgoing::default();
                    verdict = self.handler.on_resume(request, kept, now(), &mut outgoing);
                }
                Verdict::Reply => return self.reply(request, outgoing),
                Verdict::Forward(forward) => {
                    let too_large = forward.body_bytes_max.is_some_and(|max| body.len() as u64 > max);
                    if too_large {
                        return self.fail(request, &Fault::new(FaultKind::BodyTooLarge));
                    }
                    return self.forward(request, client_ip, body, forward.is_conditional, outgoing);
                }
            }
        }
    }

    /// Waits for what a request is held for. Time passes only where it is held for a time.
    fn hold(&self, until: HoldUntil, body: &[u8]) -> Option<Result<Vec<u8>, NotKept>> {
        match until {
            HoldUntil::Time(time) => {
                pass(time);
                None
            }
            HoldUntil::Done(work, time_max) => {
                let _ = self.gateway.runtime.block_on(async { tokio::time::timeout(time_max, work).await });
                None
            }
            HoldUntil::Body(bytes_max) if body.len() > bytes_max => Some(Err(NotKept::TooLarge)),
            HoldUntil::Body(_) => Some(Ok(body.to_vec())),
        }
    }

    fn forward(&mut self, request: &Request<'_>, client_ip: &str, body: &[u8], is_conditional: bool, mut outgoing: Outgoing) {
        let body = match outgoing.replaces_body {
            true => std::mem::take(&mut outgoing.body),
            false => body.to_vec(),
        };
        if outgoing.replaces_body {
            outgoing.edits.remove_known(&request.headers, KnownHeader::ContentLength);
            outgoing.edits.remove_known(&request.headers, KnownHeader::TransferEncoding);
            if !body.is_empty() || request.body != Body::None || request.headers.has(KnownHeader::ContentLength) {
                outgoing.edits.add("Content-Length", body.len().to_string().as_bytes());
            }
        }
        let is_chunked = !outgoing.replaces_body && request.body == Body::Chunked;
        let mut conditions = is_conditional;
        loop {
            let head = RequestHead {
                method: outgoing.method.as_deref().unwrap_or(request.method.as_bytes()),
                target: &outgoing.target,
                host: &outgoing.host,
                forwarded_for: (!outgoing.keep_forwarded_for).then_some(client_ip.as_bytes()),
                upgrade: false,
                replaces_body: outgoing.replaces_body,
            };
            let mut sent = Vec::new();
            write_request(request, &head, &outgoing.edits, &mut sent);
            framed(&body, is_chunked, &mut sent);
            let is_head = head.method == b"HEAD";
            match self.ask(&sent, is_head) {
                Err(fault) => return self.fail(request, &fault),
                Ok(answer) => match self.respond(request, is_head, &answer) {
                    Responded::Sent => return,
                    Responded::AskAgain if conditions => {
                        conditions = false;
                        ["If-None-Match", "If-Modified-Since"]
                            .iter()
                            .for_each(|name| outgoing.edits.remove(&request.headers, name));
                    }
                    Responded::AskAgain => return self.fail(request, &Fault::new(FaultKind::UpstreamClosed)),
                },
            }
        }
    }

    /// Sends a request to the handler's upstream.
    fn ask(&self, bytes: &[u8], is_head: bool) -> Result<Answer, Fault> {
        let target = self.handler.target().ok_or_else(|| Fault::new(FaultKind::Connect))?;
        self.gateway.runtime.block_on(ask(&target, bytes, is_head))
    }

    fn respond(&mut self, request: &Request<'_>, is_head: bool, answer: &Answer) -> Responded {
        let mut storage = HeaderStorage::new();
        let parsed = Response::parse(&answer.head, is_head, &mut storage);
        let response = parsed.expect("a well-formed response").expect("a whole head");
        let mut outgoing = Outgoing::default();
        let mut verdict = self.handler.on_response(&response, &mut outgoing);
        loop {
            match verdict {
                ResponseVerdict::Keep(bytes_max) => {
                    outgoing.edits.clear();
                    let kept = match answer.body.len() > bytes_max {
                        true => KeptBody::Part(&answer.body[..bytes_max]),
                        false => KeptBody::Whole(&answer.body),
                    };
                    verdict = self.handler.on_response_body(&response, kept, &mut outgoing);
                }
                ResponseVerdict::Await => {
                    let (work, time_max) = outgoing.work.take().expect("work to wait for");
                    let _ = self.gateway.runtime.block_on(async { tokio::time::timeout(time_max, work).await });
                    outgoing.edits.clear();
                    verdict = self.handler.on_response_body(&response, KeptBody::Whole(&answer.body), &mut outgoing);
                }
                ResponseVerdict::Pass | ResponseVerdict::Watch => {
                    if verdict == ResponseVerdict::Watch {
                        self.handler.on_response_bytes(&answer.body, true);
                    }
                    match outgoing.status {
                        status if status != 0 && verdict == ResponseVerdict::Watch => {
                            self.pass(request, is_head, &response.with_status(status), &mut outgoing, &answer.body);
                        }
                        _ => self.pass(request, is_head, &response, &mut outgoing, &answer.body),
                    }
                    break;
                }
                ResponseVerdict::Rewrite => {
                    let status = if outgoing.status == 0 { response.status } else { outgoing.status };
                    if let Some(coder) = outgoing.coder.take() {
                        outgoing.edits.add_lines(b"Transfer-Encoding: chunked\r\n");
                        write_rewritten(&response, status, &outgoing.edits, b"", b"", None, &mut self.out);
                        framed(&coded(coder, &outgoing.body), true, &mut self.out);
                        break;
                    }
                    let bytes = (!matches!(status, 204 | 304)).then_some(outgoing.body.len());
                    write_rewritten(&response, status, &outgoing.edits, b"", b"", bytes, &mut self.out);
                    if request.method != "HEAD" && bytes.is_some() {
                        self.out.extend_from_slice(&outgoing.body);
                    }
                    break;
                }
                ResponseVerdict::Reply | ResponseVerdict::Detach => {
                    if let Some(mut sink) = outgoing.sink.take() {
                        sink.push(&answer.body);
                        sink.finish();
                    }
                    self.reply(request, outgoing);
                    return Responded::Sent;
                }
                ResponseVerdict::Again => return Responded::AskAgain,
            }
        }
        self.handler.on_end(Ended::default());
        Responded::Sent
    }

    /// Passes a response on as it is, but for its head.
    fn pass(
        &mut self,
        request: &Request<'_>,
        is_upstream_to_head: bool,
        response: &Response<'_>,
        outgoing: &mut Outgoing,
        body: &[u8],
    ) {
        if let Some(coder) = outgoing.coder.take() {
            write_response(response, &outgoing.edits, b"", b"", ClientBody::Chunked, &mut self.out);
            return framed(&coded(coder, body), true, &mut self.out);
        }
        let is_to_head = request.method == "HEAD";
        let (framing, is_chunked) = match response.body {
            Body::UntilClose if !is_to_head => (ClientBody::Chunked, true),
            _ if is_upstream_to_head && !is_to_head => (ClientBody::Empty, false),
            framed => (ClientBody::AsIs, framed == Body::Chunked),
        };
        write_response(response, &outgoing.edits, b"", b"", framing, &mut self.out);
        if !is_to_head && response.body != Body::None {
            framed(body, is_chunked, &mut self.out);
        }
    }

    fn reply(&mut self, request: &Request<'_>, mut outgoing: Outgoing) {
        let is_to_head = request.method == "HEAD";
        let connection: &[u8] = if outgoing.close { b"Connection: close\r\n" } else { b"" };
        let sourced = outgoing.sourced.take();
        let coder = outgoing.coder.take();
        let Some(mut sourced) = sourced else {
            if let Some(coder) = coder {
                outgoing.edits.add_lines(b"Transfer-Encoding: chunked\r\n");
                write_reply_head(outgoing.status, &outgoing.edits, b"", connection, &mut self.out);
                framed(&coded(coder, &outgoing.body), true, &mut self.out);
                return self.handler.on_end(Ended::default());
            }
            let shown = match is_to_head {
                false => ReplyBody::Whole,
                true if outgoing.lacks_length => ReplyBody::Nothing,
                true => ReplyBody::Length,
            };
            write_reply(outgoing.status, &outgoing.edits, &outgoing.body, b"", connection, shown, &mut self.out);
            return self.handler.on_end(Ended::default());
        };
        let is_chunked = (sourced.len.is_none() || coder.is_some()) && !is_to_head;
        if is_chunked {
            outgoing.edits.add_lines(b"Transfer-Encoding: chunked\r\n");
        }
        write_reply_head(outgoing.status, &outgoing.edits, b"", connection, &mut self.out);
        if !is_to_head {
            let (body, is_whole) = self.gateway.runtime.block_on(async {
                let mut body = Vec::new();
                loop {
                    match poll_fn(|cx| sourced.source.poll_next(cx)).await {
                        Ok(Some(piece)) => body.extend_from_slice(&piece),
                        Ok(None) => return (body, true),
                        Err(_) => return (body, false),
                    }
                }
            });
            let body = coder.map_or_else(|| body.clone(), |coder| coded(coder, &body));
            match is_whole {
                true => framed(&body, is_chunked, &mut self.out),
                // The connection ends inside the body.
                false => framed_part(&body, is_chunked, &mut self.out),
            }
        }
        self.handler.on_end(Ended::default());
        if let Some(detached) = sourced.detached {
            self.run_detached(detached);
        }
    }

    /// An exchange without a client.
    fn run_detached(&self, mut detached: DetachedExchange) {
        let mut storage = HeaderStorage::new();
        let parsed = Request::parse(&detached.head, &mut storage);
        let request = parsed.expect("a well-formed request").expect("a whole head");
        let mut exchange = Exchange { gateway: self.gateway, handler: detached.handler.as_mut(), out: Vec::new() };
        let is_head = request.method == "HEAD";
        match exchange.ask(&detached.head, is_head) {
            Ok(answer) => drop(exchange.respond(&request, is_head, &answer)),
            Err(fault) => exchange.fail(&request, &fault),
        }
    }

    fn fail(&mut self, request: &Request<'_>, fault: &Fault) {
        let mut outgoing = Outgoing::default();
        self.handler.on_fault(fault, &mut outgoing);
        self.reply(request, outgoing);
    }
}

/// What became of a response.
enum Responded {
    Sent,
    /// The request is to be sent again, without its conditions.
    AskAgain,
}

/// A body as a coder makes it, of slices like the engine's.
fn coded(mut coder: Box<dyn BodyCoder>, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    body.chunks(coder.slice_bytes()).for_each(|slice| coder.code(slice, CoderStep::More, &mut out).expect("it goes on"));
    coder.code(&[], CoderStep::End, &mut out).expect("it ends");
    out
}

/// A body with its framing.
fn framed(body: &[u8], is_chunked: bool, out: &mut Vec<u8>) {
    framed_part(body, is_chunked, out);
    if is_chunked {
        out.extend_from_slice(LAST_CHUNK);
    }
}

/// A part of a body with its framing.
fn framed_part(body: &[u8], is_chunked: bool, out: &mut Vec<u8>) {
    match is_chunked {
        true if body.is_empty() => {}
        true => write_chunk(body, out),
        false => out.extend_from_slice(body),
    }
}

async fn ask(target: &Target, bytes: &[u8], is_head: bool) -> Result<Answer, Fault> {
    let refused = |error| Fault::with(FaultKind::Connect, error);
    match &target.address {
        Address::Socket(address) => talk(TcpStream::connect(address).await.map_err(refused)?, bytes, is_head).await,
        Address::Name { host, port } => {
            talk(TcpStream::connect((host.as_str(), *port)).await.map_err(refused)?, bytes, is_head).await
        }
        Address::Local(connect) => {
            let stream = connect().map_err(refused)?;
            stream.set_nonblocking(true).map_err(refused)?;
            talk(UnixStream::from_std(stream).map_err(refused)?, bytes, is_head).await
        }
    }
}

async fn talk(mut stream: impl AsyncRead + AsyncWrite + Unpin, bytes: &[u8], is_head: bool) -> Result<Answer, Fault> {
    let gone = |error| Fault::with(FaultKind::UpstreamClosed, error);
    stream.write_all(bytes).await.map_err(gone)?;
    let mut received = Vec::new();
    loop {
        let is_open = tokio::time::timeout(Duration::from_secs(20), stream.read_buf(&mut received)).await;
        let is_open = is_open.map_err(|_| Fault::new(FaultKind::UpstreamTimeout))?.map_err(gone)? > 0;
        if let Some(answer) = whole(&mut received, is_head, is_open)? {
            return Ok(answer);
        }
        if !is_open {
            return Err(Fault::new(FaultKind::UpstreamClosed));
        }
    }
}

/// The final response, once all of it is there. Interim responses are dropped.
fn whole(received: &mut Vec<u8>, is_head: bool, is_open: bool) -> Result<Option<Answer>, Fault> {
    loop {
        let mut storage = HeaderStorage::new();
        let parsed =
            Response::parse(received, is_head, &mut storage).map_err(|why| Fault::new(FaultKind::UpstreamMalformed(why)))?;
        let Some(response) = parsed else { return Ok(None) };
        let (status, framing, head_len) = (response.status, response.body, response.head_len);
        if status < 200 {
            received.drain(..head_len);
            continue;
        }
        let (mut reader, mut body) = (BodyReader::new(framing), Vec::new());
        let malformed = |why| Fault::new(FaultKind::UpstreamMalformed(why));
        reader.decode(&received[head_len..], &mut body).map_err(malformed)?;
        let is_whole = reader.is_done() || (framing == Body::UntilClose && !is_open);
        return Ok(is_whole.then(|| Answer { head: received[..head_len].to_vec(), body }));
    }
}
