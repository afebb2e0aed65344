//! An exchange without a client: a connection over a pipe whose other end sends one request and discards the response. Its handler uses the
//! response.

use super::Connection;
use crate::core::Core;
use crate::pipe::Pipe;
use crate::pool::PoolSlot;
use crate::service::DetachedExchange;
use crate::stream::Stream;
use std::net::SocketAddr;
use std::rc::Rc;

/// Maximum exchanges without a client per core, because each one holds an upstream connection. Further ones are not started.
const DETACHED_MAX: usize = 64;

/// Starts an exchange, unless the core has its maximum of them. `client` is the client whose request caused it.
pub(super) fn start(core: &Rc<Core>, client: SocketAddr, exchange: DetachedExchange) {
    let Some(slot) = PoolSlot::take(&core.detached_open, DETACHED_MAX) else { return };
    let (near, far) = Pipe::new();
    let DetachedExchange { head, handler } = exchange;
    let connection = Connection::with_handler(core.clone(), Stream::Pipe(far), client, handler);
    tokio::task::spawn_local(async move {
        connection.await;
        drop(slot);
    });
    tokio::task::spawn_local(async move {
        let Pipe { mut reader, mut writer } = near;
        if writer.write_all(&head).await.is_ok() {
            // This end stays open until the response is complete; closing it earlier would look like a client that leaves.
            while !std::future::poll_fn(|cx| reader.poll_take(cx)).await.is_empty() {}
        }
    });
}
