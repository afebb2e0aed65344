//! Steps before a connection's first request: the PROXY header of a trusted proxy and the TLS handshake. One time limit covers
//! both. Connections that need neither skip this module.

use crate::addresses::LimitReached;
use crate::core::Core;
use crate::listen::{Content, Listen, TlsChoice, TlsConfigSelector};
use crate::peers::CountedConnection;
use crate::proxy_header::{self, Progress};
use crate::serve::serve;
use crate::service::{ClientInfo, ClientTls};
use crate::stream::Stream;
use crate::stream_forward::forward_stream;
use rustls::server::{Accepted, Acceptor};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::StartHandshake;

/// First byte of every TLS handshake record.
const HANDSHAKE_RECORD: u8 = 22;
/// Longest ClientHello with the records around it. Those of browsers have some 2 KiB.
const HELLO_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a ClientHello that are read at once.
const HELLO_PIECE_BYTES: usize = 4096;
/// Response to plain HTTP on a TLS port.
const PLAIN_HTTP_REPLY: &[u8] =
    b"HTTP/1.0 400 Bad Request\r\nConnection: close\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

/// A connection that is ready for its first request.
struct Entered {
    stream: Stream,
    client: ClientInfo,
    content: Content,
    /// Bytes of the client that were read and are for the upstream.
    first: Vec<u8>,
}

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
        Ok(Ok(Entered { stream, client, content, first })) => match content {
            Content::Http => serve(core, stream, client, counted).await,
            Content::Stream => forward_stream(core, stream, client, first, counted).await,
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
) -> io::Result<Entered> {
    let announced = if listen.trusts(peer) { read_proxy_header(&mut stream).await? } else { None };
    if let (Some(limit), Some(client)) = (&core.address_limit, announced) {
        counted.seat = limit.seat(client.ip()).map_err(|LimitReached| {
            core.turn_away(&stream, &core.stats.clients_refused);
            io::Error::other("the announced client has as many connections as it may")
        })?;
    }
    let (address, listener) = (announced.unwrap_or(peer), listen.name);
    let Some(terms) = &listen.tls else {
        let client = ClientInfo { address, listener, tls: None, http2: false, is_own: false, ticket: 0 };
        return Ok(Entered { stream: Stream::Tcp(stream), client, content: listen.content, first: Vec::new() });
    };
    let Handshake { stream, tls, content, first } = shake_hands(core, stream, terms.as_ref()).await?;
    let client = ClientInfo { address, listener, tls: Some(Rc::new(tls)), http2: false, is_own: false, ticket: 0 };
    Ok(Entered { stream, client, content, first })
}

/// What a TLS client has come to.
struct Handshake {
    stream: Stream,
    tls: ClientTls,
    content: Content,
    first: Vec<u8>,
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

async fn shake_hands(core: &Core, mut stream: TcpStream, terms: &dyn TlsConfigSelector) -> io::Result<Handshake> {
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
    let (accepted, first) = read_hello(&mut stream).await?;
    let (config, content) = loop {
        let choice = terms.for_client(&accepted.client_hello());
        match choice {
            TlsChoice::End(config, content) => break (config, content),
            TlsChoice::Pass => {
                let server_name = accepted.client_hello().server_name().map(str::to_owned);
                let tls = ClientTls { certificates: Vec::new(), server_name };
                return Ok(Handshake { stream: Stream::Tcp(stream), tls, content: Content::Stream, first });
            }
            TlsChoice::Refuse => {
                return Err(io::Error::new(io::ErrorKind::ConnectionRefused, "nobody answers for the client's host"));
            }
            TlsChoice::Wait(wait) => wait.await,
        }
    };
    drop(first);
    // This step computes the signature, so it waits for its turn.
    let rest = {
        let _turn = core.handshakes.turn().await;
        StartHandshake::from_parts(accepted, stream).into_stream(config)
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
    Ok(Handshake { stream: Stream::Tls(Box::new(stream.into())), tls, content, first: Vec::new() })
}

/// Reads until the ClientHello is complete. Returns it with all bytes that were read.
async fn read_hello(stream: &mut TcpStream) -> io::Result<(Accepted, Vec<u8>)> {
    let (mut acceptor, mut bytes) = (Acceptor::default(), Vec::new());
    loop {
        let before = bytes.len();
        bytes.resize(before + HELLO_PIECE_BYTES, 0);
        let read = stream.read(bytes.get_mut(before..).unwrap_or_default()).await?;
        bytes.truncate(before + read);
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut piece = bytes.get(before..).unwrap_or_default();
        while !piece.is_empty() {
            acceptor.read_tls(&mut piece)?;
        }
        match acceptor.accept() {
            Ok(Some(accepted)) => return Ok((accepted, bytes)),
            Ok(None) if bytes.len() < HELLO_BYTES_MAX => {}
            Ok(None) => return Err(io::Error::new(io::ErrorKind::InvalidData, "the ClientHello is too long")),
            Err((error, mut alert)) => {
                let mut told = Vec::new();
                alert.write_all(&mut told)?;
                let _ = stream.write_all(&told).await;
                return Err(io::Error::new(io::ErrorKind::InvalidData, error));
            }
        }
    }
}

/// Answers plain HTTP with plain HTTP. Reads the request first, so that a TCP reset does not destroy the response.
async fn answer_plain_http(stream: &mut TcpStream) {
    let mut sent = [0; 4096];
    let _ = stream.try_read(&mut sent);
    let _ = stream.write_all(PLAIN_HTTP_REPLY).await;
    let _ = stream.shutdown().await;
    let _ = timeout(Duration::from_millis(500), stream.read(&mut sent)).await;
}
