//! Forwards a connection whose bytes nothing inspects: connects to an upstream that its handler chooses, then copies in both directions.

use crate::core::Core;
use crate::dial::dial;
use crate::fault::{Fault, FaultKind};
use crate::outbox::Outbox;
use crate::peers::CountedConnection;
use crate::pool::PoolSlot;
use crate::service::ClientInfo;
use crate::stream::Stream;
use crate::tunnel::Tunnel;
use crate::turn::Turn;
use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tollgate_clock::MonoTime;

/// How often to ask whether to give up an upstream that is not connected yet.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often the bytes of a connection are reported.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// Serves such a connection to its end. `first` are bytes of the client that were read already. `_counted` counts the connection meanwhile.
pub(crate) async fn forward_stream(
    core: Rc<Core>,
    mut client: Stream,
    info: ClientInfo,
    first: Vec<u8>,
    _counted: CountedConnection,
) {
    core.stats.clients.add(1);
    let Some(mut handler) = core.service.stream(&info) else { return client.abort() };
    let Some(slot) = PoolSlot::take(&core.tunnels_open, core.limits.tunnels_max) else {
        tracing::warn!(peer = %info.address, "too many tunnels are open: connection closed");
        return client.abort();
    };
    let mut failed = None;
    let upstream = loop {
        let Some(target) = handler.next(failed.as_ref(), MonoTime::now()) else { return client.abort() };
        let mut dialing = dial(core.clone(), target, true);
        let mut waited = Duration::ZERO;
        let dialed = loop {
            match timeout(LOOK_EVERY, &mut dialing).await {
                Ok(dialed) => break dialed,
                Err(_) => waited += LOOK_EVERY,
            }
            if handler.gives_up(waited, MonoTime::now()) {
                break Err(Fault::with(FaultKind::ConnectTimeout, "another upstream is tried"));
            }
        };
        match dialed {
            Ok(upstream) => break upstream,
            Err(fault) => failed = Some(fault),
        }
    };
    handler.on_connected(MonoTime::now());
    let mut to_upstream = Outbox::default();
    to_upstream.put(&first);
    let first_bytes = first.len() as u64;
    drop(first);
    let mut tunnel = Tunnel::new(upstream, slot, to_upstream, Outbox::default());
    // The two futures below take turns, so the cells are never in use twice.
    let (moved, has_moved) = (Cell::new((first_bytes, 0)), Cell::new(false));
    let copying = poll_fn(|cx| {
        let mut buffers = core.buffers.borrow_mut();
        let poll = tunnel.poll(cx, &mut client, &mut buffers.scratch, &mut Turn::new(None));
        if tunnel.take_progress() {
            has_moved.set(true);
            let ((up, down), (more_up, more_down)) = (moved.get(), tunnel.take_moved());
            moved.set((up + more_up, down + more_down));
        }
        poll
    });
    let watching = async {
        let mut idle = Duration::ZERO;
        let idle_max = Duration::from_millis(core.limits.tunnel_idle_ms);
        while idle < idle_max {
            sleep(REPORT_EVERY).await;
            idle = if has_moved.take() { Duration::ZERO } else { idle + REPORT_EVERY };
            let (up, down) = moved.take();
            handler.on_bytes(up, down);
        }
    };
    tokio::select! {
        biased;
        () = copying => {}
        () = watching => tracing::debug!(peer = %info.address, "an idle stream is closed"),
    }
    let (up, down) = moved.take();
    handler.on_bytes(up, down);
}
