//! A client's connection from its first request on: HTTP/2 if that was agreed on or the client begins with its preface, else HTTP/1.1.

use crate::connection::{Connection, Http2Start};
use crate::core::Core;
use crate::http2_clients;
use crate::peers::CountedConnection;
use crate::service::ClientInfo;
use crate::stream::Stream;
use std::rc::Rc;

pub(crate) async fn serve(core: Rc<Core>, stream: Stream, client: ClientInfo, counted: CountedConnection) {
    let (stream, bytes, client, counted) = if stream.speaks_http2() {
        core.stats.clients.add(1);
        (stream, Vec::new(), client, counted)
    } else {
        let Some(start) = Connection::new(core.clone(), stream, client, counted).await else { return };
        let Http2Start { stream, bytes, client, counted } = *start;
        (stream, bytes, client, counted)
    };
    // In a task of its own, so that connections of HTTP/1.1 have no room for what HTTP/2 needs.
    tokio::task::spawn_local(http2_clients::serve(core, stream, bytes, client, counted));
}
