//! Steps before a connection's first request: the PROXY header of a trusted proxy and the TLS handshake. One time limit covers
//! both. Connections that need neither skip this module.

use crate::addresses::LimitReached;
use crate::core::Core;
use crate::listen::{Content, Listen, TlsConfigSelector};
use crate::peers::CountedConnection;
use crate::proxy_header::{self, Progress};
use crate::serve::serve;
use crate::service::{ClientInfo, ClientTls};
use crate::stream::Stream;
use crate::stream_forward::forward_stream;
use rustls::server::Acceptor;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::LazyConfigAcceptor;

/// First byte of every TLS handshake record.
const HANDSHAKE_RECORD: u8 = 22;
/// Response to plain HTTP on a TLS port.
const PLAIN_HTTP_REPLY: &[u8] =
    b"HTTP/1.0 400 Bad Request\r\nConnection: close\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

/// Performs PROXY header and TLS handshake, then serves the connection.
pub(crate) async fn enter(
    core: Rc<Core>,
    stream: TcpStream,
    peer: SocketAddr,
    listen: Arc<Listen>,
    mut counted: CountedConnection,
) {
    let limit = Duration::from_millis(core.limits.handshake_ms);
    let Some(under_way) = core.handshakes.begin() else {
        return tracing::warn!(%peer, "too many handshakes at once: connection closed");
    };
    let entered = timeout(limit, pass(&core, stream, peer, &listen, &mut counted)).await;
    drop(under_way);
    match entered {
        Ok(Ok((stream, client))) => match listen.content {
            Content::Http => serve(core, stream, client, counted).await,
            Content::Stream => forward_stream(core, stream, client, counted).await,
        },
        Ok(Err(error)) => tracing::debug!(%peer, %error, "connection ended before its first request"),
        Err(_) => tracing::debug!(%peer, "handshake took too long"),
    }
}

async fn pass(
    core: &Core,
    mut stream: TcpStream,
    peer: SocketAddr,
    listen: &Listen,
    counted: &mut CountedConnection,
) -> io::Result<(Stream, ClientInfo)> {
    let announced = if listen.trusts(peer) { read_proxy_header(&mut stream).await? } else { None };
    if let (Some(limit), Some(client)) = (&core.address_limit, announced) {
        counted.seat = limit.seat(client.ip()).map_err(|LimitReached| {
            core.turn_away(&stream);
            io::Error::other("the announced client has as many connections as it may")
        })?;
    }
    let (address, listener) = (announced.unwrap_or(peer), listen.name);
    let Some(terms) = &listen.tls else {
        return Ok((Stream::Tcp(stream), ClientInfo { address, listener, tls: None, http2: false, is_own: false, ticket: 0 }));
    };
    let (stream, tls) = shake_hands(core, stream, terms.as_ref()).await?;
    Ok((stream, ClientInfo { address, listener, tls: Some(tls), http2: false, is_own: false, ticket: 0 }))
}

/// Reads the header and not a byte more. `None` if the proxy speaks for itself.
async fn read_proxy_header(stream: &mut TcpStream) -> io::Result<Option<SocketAddr>> {
    let mut header = Vec::with_capacity(proxy_header::V1_BYTES_MAX);
    loop {
        match proxy_header::parse(&header) {
            Ok(Progress::Complete(client)) => return Ok(client),
            Ok(Progress::Wants(bytes)) => {
                let have = header.len();
                header.resize(have + bytes, 0);
                stream.read_exact(header.get_mut(have..).unwrap_or_default()).await?;
            }
            Err(fault) => return Err(io::Error::new(io::ErrorKind::InvalidData, fault)),
        }
    }
}

async fn shake_hands(core: &Core, mut stream: TcpStream, terms: &dyn TlsConfigSelector) -> io::Result<(Stream, Rc<ClientTls>)> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if first != [HANDSHAKE_RECORD] {
        if first.iter().all(u8::is_ascii_uppercase) {
            answer_plain_http(&mut stream).await;
        }
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the client does not speak TLS"));
    }
    let start = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
    let config = terms.for_client(&start.client_hello());
    // This step computes the signature, so it waits for its turn.
    let rest = {
        let _turn = core.handshakes.turn().await;
        start.into_stream(config)
    };
    let stream = rest.await?;
    let (_, session) = stream.get_ref();
    let tls = ClientTls {
        certificates: session
            .peer_certificates()
            .unwrap_or_default()
            .iter()
            .map(|certificate| certificate.clone().into_owned())
            .collect(),
        server_name: session.server_name().map(str::to_owned),
    };
    Ok((Stream::Tls(Box::new(stream.into())), Rc::new(tls)))
}

/// Answers plain HTTP with plain HTTP. Reads the request first, so that a TCP reset does not destroy the response.
async fn answer_plain_http(stream: &mut TcpStream) {
    let mut sent = [0; 4096];
    let _ = stream.try_read(&mut sent);
    let _ = stream.write_all(PLAIN_HTTP_REPLY).await;
    let _ = stream.shutdown().await;
    let _ = timeout(Duration::from_millis(500), stream.read(&mut sent)).await;
}
