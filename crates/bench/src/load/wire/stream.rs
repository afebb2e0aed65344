//! The byte stream of one connection, plain or TLS.

use super::fault::{Cause, WireFault};
use super::target::ServerTarget;
use crate::load::pace::clock::RunClock;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// Maximum head of a response to CONNECT; a longer one is not from a proxy.
const CONNECT_ANSWER_BYTES_MAX: usize = 16 * 1024;

/// An open connection.
pub(crate) enum ClientStream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// Opens a connection to `target`; also returns the time it took in nanoseconds.
pub(crate) async fn dial(target: &ServerTarget, clock: RunClock) -> Result<(ClientStream, u64), WireFault> {
    let begun = clock.now_ns();
    let mut tcp =
        TcpStream::connect(target.address).await.map_err(|error| WireFault::connect(&target.address.to_string(), &error))?;
    // A small request must not wait for the acknowledgement of the previous one.
    tcp.set_nodelay(true).map_err(|error| WireFault::broken(&error))?;
    if let Some(request) = &target.tunnel {
        open_tunnel(&mut tcp, request).await?;
    }
    let stream = match &target.tls {
        None => ClientStream::Plain(tcp),
        Some(tls) => {
            let session = tls.connector.connect(tls.name.clone(), tcp).await;
            ClientStream::Tls(Box::new(
                session.map_err(|error| WireFault::new(Cause::Tls, format!("TLS with {}: {error}", target.label)))?,
            ))
        }
    };
    Ok((stream, clock.now_ns() - begun))
}

/// Requests a tunnel to the server from the proxy (RFC 9110 §9.3.6).
async fn open_tunnel(tcp: &mut TcpStream, request: &[u8]) -> Result<(), WireFault> {
    tcp.write_all(request).await.map_err(|error| WireFault::broken(&error))?;
    let mut answer = Vec::new();
    // Byte by byte, because the bytes after the head belong to TLS.
    while !answer.ends_with(b"\r\n\r\n") {
        let byte = tcp.read_u8().await.map_err(|error| WireFault::connect("through the proxy", &error))?;
        answer.push(byte);
        if answer.len() > CONNECT_ANSWER_BYTES_MAX {
            return Err(WireFault::new(Cause::Protocol, "the proxy's answer to CONNECT has no end"));
        }
    }
    let line = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
    if line.split(|byte| *byte == b' ').nth(1) == Some(b"200") {
        return Ok(());
    }
    Err(WireFault::new(Cause::Connect, format!("the proxy refused CONNECT: {}", String::from_utf8_lossy(line))))
}

impl ClientStream {
    /// Whether the server agreed to use HTTP/2. True without TLS, where nothing is negotiated.
    pub(crate) fn speaks_http2(&self) -> bool {
        match self {
            ClientStream::Plain(_) => true,
            ClientStream::Tls(stream) => stream.get_ref().1.alpn_protocol() == Some(b"h2"),
        }
    }
}

impl AsyncRead for ClientStream {
    #[inline]
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            ClientStream::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for ClientStream {
    #[inline]
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            ClientStream::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            ClientStream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            ClientStream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
