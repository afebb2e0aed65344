//! An exchange without a client: a connection over a pipe whose other end sends one request and throws the response away. What becomes of that
//! is for its handler to decide.

use super::Connection;
use crate::core::Core;
use crate::pipe::Pipe;
use crate::pool::PoolSlot;
use crate::service::DetachedExchange;
use crate::stream::Stream;
use std::net::SocketAddr;
use std::rc::Rc;

/// Exchanges without a client that one core has at one time. Each one holds a connection to an upstream; one that finds no place is not made.
const DETACHED_MAX: usize = 64;

/// Starts it, if there is a place for it. `client` is whose request it goes back to.
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
            // Its end of the pipe stays open until the response is complete: one that closes is a client that leaves.
            while !std::future::poll_fn(|cx| reader.poll_take(cx)).await.is_empty() {}
        }
    });
}
