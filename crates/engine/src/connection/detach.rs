//! Reads a response's body without its client: a separate task reads it into a sink at the upstream's pace. The client gets a reply.

use super::Connection;
use crate::core::Core;
use crate::fault::{Fault, FaultKind};
use crate::pool::PooledConnection;
use crate::service::{BodySink, Outgoing};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::timeout;
use tollgate_http::BodyReader;

/// A body that is read from an upstream.
struct DetachedBody {
    upstream: PooledConnection,
    reader: BodyReader,
    sink: Box<dyn BodySink>,
    /// Whether the connection can be used again after it.
    keep_alive: bool,
}

impl Connection {
    /// Sends the reply to the client and the response's body, of which `bytes` have arrived, to the sink.
    #[cold]
    pub(super) fn detach_response(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        outgoing: &mut Outgoing,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let exchange = &mut self.exchange;
        let parts = (exchange.upstream.connection.take(), exchange.response.body.take(), outgoing.sink.take());
        let (Some(upstream), Some(reader), Some(sink)) = parts else { return Err(Fault::new(FaultKind::UpstreamClosed)) };
        let is_event_stream = outgoing.sourced.as_ref().is_some_and(|sourced| sourced.is_event_stream);
        let stall = Duration::from_millis(self.core.limits.silence_ms(is_event_stream));
        let keep_alive = exchange.upstream.keep_alive && exchange.request.body.is_done() && exchange.upstream.outbox.is_empty();
        let mut body = DetachedBody { upstream, reader, sink, keep_alive };
        // If the body is malformed, the sink is dropped, which truncates the reply.
        if let Ok(is_whole) = body.take(bytes) {
            exchange.times.at_once = is_whole;
            if is_whole {
                body.end(&self.core);
            } else {
                tokio::task::spawn_local(body.receive(stall, self.core.clone()));
            }
        }
        self.reply(cx, outgoing, out);
        Ok(())
    }
}

impl DetachedBody {
    /// Passes the next bytes to the sink. Returns `true` when the body is complete.
    fn take(&mut self, bytes: &[u8]) -> Result<bool, ()> {
        let mut decoded = Vec::new();
        let (used, content) = match self.reader {
            BodyReader::Chunked(_) => (self.reader.decode(bytes, &mut decoded).map_err(|_| ())?, decoded.as_slice()),
            _ => {
                let used = self.reader.feed(bytes).map_err(|_| ())?;
                (used, bytes.get(..used).unwrap_or_default())
            }
        };
        self.sink.push(content);
        // Bytes after the response were not requested.
        self.keep_alive &= used == bytes.len();
        Ok(self.reader.is_done())
    }

    /// Reads the body to its end. After an error the sink is dropped.
    async fn receive(mut self, stall: Duration, core: Rc<Core>) {
        loop {
            // The client that the sink waits for has time limits of its own.
            if std::future::poll_fn(|cx| self.sink.poll_ready(cx)).await.is_err() {
                return;
            }
            match timeout(stall, std::future::poll_fn(|cx| self.poll_read(cx, &core))).await {
                Ok(Ok(true)) => return self.end(&core),
                Ok(Ok(false)) => {}
                Ok(Err(())) | Err(_) => return,
            }
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, core: &Core) -> Poll<Result<bool, ()>> {
        if self.sink.poll_unwanted(cx).is_ready() {
            return Poll::Ready(Err(()));
        }
        let mut buffers = core.buffers.borrow_mut();
        let read = ready!(self.upstream.stream.poll_read(cx, &mut buffers.scratch));
        let Ok(read) = read else { return Poll::Ready(Err(())) };
        if read == 0 {
            self.keep_alive = false;
            return Poll::Ready(if matches!(self.reader, BodyReader::UntilClose) { Ok(true) } else { Err(()) });
        }
        Poll::Ready(self.take(buffers.scratch.get(..read).unwrap_or_default()))
    }

    fn end(self, core: &Core) {
        if self.keep_alive {
            core.pool.borrow_mut().put(self.upstream, core.deadlines.now_ms(), &core.limits);
        }
        self.sink.finish();
    }
}
