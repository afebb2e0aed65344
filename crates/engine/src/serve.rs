//! Serves a client connection from its first request on: HTTP/2 if ALPN selected it or the client sends its preface, otherwise
//! HTTP/1.1.

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
    // In a separate task, so that HTTP/1.1 connections need no memory for HTTP/2.
    tokio::task::spawn_local(http2_clients::serve(core, stream, bytes, client, counted));
}
