//! HTTP/2 connections of one core to upstreams; each carries many exchanges at once. To a `Connection`, every exchange appears to
//! have its own upstream connection: one end of a pipe.

use super::driver::{ConnectionEnd, Driver};
use super::link::Http2Link;
use super::stream_count::{StreamCount, UpstreamState};
use super::{STREAM_WINDOW, upstream_stream};
use crate::buffer_account::BufferAccount;
use crate::core::Core;
use crate::limits::Limits;
use crate::pipe::Pipe;
use crate::pool::PoolSlot;
use crate::shared_upstreams::SharedUpstream;
use crate::stream::Stream;
use crate::target::Target;
use std::cell::Cell;
use std::rc::Rc;
use tollgate_http2::{Http2Connection, Http2Settings, Http2Side};

/// Maximum streams on one connection to an upstream, if it allows as many; beyond that, another connection is opened.
const STREAMS_MAX: usize = 100;
/// Window of a connection: the sum of its streams' windows. The streams belong to different clients, and a slow one must not block
/// the others.
const CONNECTION_WINDOW: u32 = STREAM_WINDOW * STREAMS_MAX as u32;
/// Window of one stream while the core buffers too much for slow readers.
const NARROW_WINDOW: u32 = 16 * 1024;
struct UpstreamConnection {
    link: Rc<Http2Link>,
    state: Rc<UpstreamState>,
    valid_until_ms: u64,
}

/// Starts HTTP/2 on a new connection and opens a stream.
pub(crate) fn begin(core: &Rc<Core>, target: &Target, stream: Stream, slot: PoolSlot, valid_until_ms: u64) -> Stream {
    let settings = Http2Settings {
        stream_window: STREAM_WINDOW,
        connection_window: CONNECTION_WINDOW,
        streams_max: 0,
        header_list_bytes_max: u32::try_from(core.limits.head_bytes_max).unwrap_or(u32::MAX),
        connect_protocol: false,
    };
    let protocol = Http2Connection::new(Http2Side::Client, &settings);
    let link = Http2Link::new(core, protocol, &BufferAccount::of_stream(&core.buffered));
    let now_ms = core.deadlines.now_ms();
    let state = Rc::new(UpstreamState {
        streams: Cell::new(0),
        closed: Cell::new(false),
        heard_ms: Cell::new(now_ms),
        idle_since_ms: Cell::new(now_ms),
    });
    let (closing, driver) = (state.clone(), Driver::new(link.clone(), stream, Vec::new()));
    tokio::task::spawn_local(async move {
        drive(driver).await;
        closing.closed.set(true);
        drop(slot);
    });
    let shared = UpstreamConnection { link, state, valid_until_ms };
    let stream = shared.open(target);
    core.shared_upstreams.add(target, Box::new(shared));
    stream
}

/// Runs a connection. Adjusts the streams' window to what the core buffers; checked whenever the upstream sends something.
async fn drive(mut driver: Driver) {
    let link = driver.link().clone();
    let mut is_narrow = false;
    let end = std::future::poll_fn(|cx| {
        if is_narrow != link.core.buffered.is_full() {
            let window = if is_narrow { STREAM_WINDOW } else { NARROW_WINDOW };
            // Has no effect until the upstream has acknowledged the previous settings.
            is_narrow ^= link.driven(|protocol| protocol.set_stream_window(window));
        }
        // Servers open no streams.
        driver.poll(cx, &mut |_| {})
    })
    .await;
    match (driver.error(), end) {
        (Some(error), _) => tracing::debug!(%error, "HTTP/2 connection to an upstream ended"),
        (None, ConnectionEnd::Gone(error)) => tracing::debug!(%error, "HTTP/2 connection to an upstream ended"),
        (None, ConnectionEnd::Over) => {}
    }
}

impl SharedUpstream for UpstreamConnection {
    fn has_room(&self, now_ms: u64) -> bool {
        let (is_open, most) = self.link.driven(|protocol| (protocol.can_ever_open(), protocol.peer_streams_max() as usize));
        let most = most.min(STREAMS_MAX);
        is_open && !self.state.closed.get() && now_ms < self.valid_until_ms && self.state.streams.get() < most
    }

    fn is_worth_keeping(&self, now_ms: u64, limits: &Limits) -> bool {
        let is_idle = self.state.streams.get() == 0;
        let idle_ms = now_ms.saturating_sub(self.state.idle_since_ms.get());
        !self.state.closed.get() && now_ms < self.valid_until_ms && !(is_idle && idle_ms >= limits.upstream_idle_ms)
    }

    fn open(&self, target: &Target) -> Stream {
        let core = &self.link.core;
        let account = BufferAccount::of_stream(&core.buffered);
        let (near, far) = Pipe::counted(&account, &BufferAccount::of_stream(&core.buffered));
        self.state.streams.set(self.state.streams.get() + 1);
        let counted = StreamCount { core: core.clone(), state: self.state.clone(), since_ms: core.deadlines.now_ms(), account };
        let scheme = if target.tls.is_some() { "https" } else { "http" };
        tokio::task::spawn_local(upstream_stream::serve(far, self.link.clone(), scheme, counted));
        Stream::Pipe(near)
    }
}

impl Drop for UpstreamConnection {
    /// Lets the connection end: no one opens streams on it any more.
    fn drop(&mut self) {
        self.link.with(|protocol| protocol.leave_now());
    }
}
