//! Byte stream of a connection: TCP, TLS over TCP, a socket pair within the process, or a pipe within the core.

use crate::pipe::Pipe;
use crate::unsent::unacknowledged;
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::io::{self, IoSlice, Read};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsStream;
use tollgate_http::COPY_BYTES;

pub(crate) enum Stream {
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    Local(UnixStream),
    Pipe(Pipe),
}

impl Stream {
    /// How many bytes to bring to the stream at most: only what it accepts if memory is short.
    #[inline]
    pub(crate) fn wanted(&self) -> usize {
        match self {
            Stream::Pipe(pipe) => pipe.writer.wanted(),
            _ => usize::MAX,
        }
    }

    /// Reads available bytes into `scratch`; 0 bytes means end of stream. tokio clears readiness after a short read, so no second,
    /// empty read follows.
    #[inline]
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, scratch: &mut [u8]) -> Poll<io::Result<usize>> {
        if let Stream::Pipe(pipe) = self {
            return pipe.reader.poll_read(cx, scratch).map(Ok);
        }
        let mut buffer = ReadBuf::new(scratch);
        self.poll_fill(cx, &mut buffer).map_ok(|()| buffer.filled().len())
    }

    /// Same for a task that was just woken. Usually there is something to read, so this tries the socket before it registers for
    /// readiness. The read does not count against tokio's budget, so do not call this twice in one poll.
    #[inline]
    pub(crate) fn poll_read_woken(&mut self, cx: &mut Context<'_>, scratch: &mut [u8]) -> Poll<io::Result<usize>> {
        let Stream::Tcp(stream) = self else { return self.poll_read(cx, scratch) };
        let mut read = 0;
        let asked = stream.try_io(Interest::READABLE, || {
            read = (&*socket2::SockRef::from(&*stream)).read(scratch)?;
            // A short read has emptied the socket. This error makes tokio clear its readiness, as after a short read of its own.
            if (1..scratch.len()).contains(&read) { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
        });
        match asked {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Poll::Ready(Err(error)),
            Err(_) if read == 0 => self.poll_read(cx, scratch),
            _ => Poll::Ready(Ok(read)),
        }
    }

    /// Same with a buffer of tokio's. Not for pipes, which do not support it.
    #[inline]
    pub(crate) fn poll_fill(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
            Stream::Local(stream) => Pin::new(stream).poll_read(cx, buffer),
            Stream::Pipe(_) => Poll::Ready(Err(io::ErrorKind::Unsupported.into())),
        }
    }

    /// Writes as much of `first` and then `second` as the stream accepts now.
    #[inline]
    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>, first: &[u8], second: &[u8]) -> Poll<io::Result<usize>> {
        if second.is_empty() {
            return match self {
                // There is nearly always room, so this tries the socket first. If there is none, tokio finds out too and waits.
                Stream::Tcp(stream) => match rustix::net::send(&*stream, first, SendFlags::NOSIGNAL) {
                    Ok(sent) => Poll::Ready(Ok(sent)),
                    Err(Errno::AGAIN | Errno::INTR) => Pin::new(stream).poll_write(cx, first),
                    Err(error) => Poll::Ready(Err(error.into())),
                },
                Stream::Tls(stream) => poll_encrypt(stream, cx, &[IoSlice::new(first)]),
                Stream::Local(stream) => Pin::new(stream).poll_write(cx, first),
                Stream::Pipe(pipe) => pipe.writer.poll_write(cx, first, &[]),
            };
        }
        match self {
            Stream::Pipe(pipe) => pipe.writer.poll_write(cx, first, second),
            _ => self.poll_write_vectored(cx, &[IoSlice::new(first), IoSlice::new(second)]),
        }
    }

    /// Same with any number of slices. Not for pipes.
    #[inline]
    pub(crate) fn poll_write_vectored(&mut self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match self {
            Stream::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, parts),
            Stream::Tls(stream) => poll_encrypt(stream, cx, parts),
            Stream::Local(stream) => Pin::new(stream).poll_write_vectored(cx, parts),
            Stream::Pipe(_) => Poll::Ready(Err(io::ErrorKind::Unsupported.into())),
        }
    }

    /// Sends bytes that the TLS layer still holds; does nothing for other streams.
    #[inline]
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tcp(_) | Stream::Local(_) | Stream::Pipe(_) => Poll::Ready(Ok(())),
        }
    }

    /// Tells the other side that no more bytes follow.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Local(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Pipe(pipe) => {
                pipe.writer.end();
                Poll::Ready(Ok(()))
            }
        }
    }

    /// Sends a TLS close notification if there is room for it. TCP needs none.
    pub(crate) fn say_goodbye(&mut self, cx: &mut Context<'_>) {
        if let Stream::Tls(stream) = self {
            let _ = Pin::new(stream).poll_shutdown(cx);
        }
    }

    /// Whether writing encrypts.
    #[inline]
    pub(crate) fn is_tls(&self) -> bool {
        matches!(self, Stream::Tls(_))
    }

    /// Whether client and gateway agreed on HTTP/2 in the handshake (ALPN).
    pub(crate) fn speaks_http2(&self) -> bool {
        matches!(self, Stream::Tls(stream) if stream.get_ref().1.alpn_protocol() == Some(b"h2"))
    }

    /// A second handle of the same socket, to be served by another core after this one is dropped. Only for TCP: other streams have
    /// state in this process.
    pub(crate) fn duplicate(&self) -> Option<std::net::TcpStream> {
        match self {
            Stream::Tcp(stream) => socket2::SockRef::from(stream).try_clone().ok().map(Into::into),
            Stream::Tls(_) | Stream::Local(_) | Stream::Pipe(_) => None,
        }
    }

    /// The underlying TCP socket, if there is one.
    fn socket(&self) -> Option<&TcpStream> {
        match self {
            Stream::Tcp(stream) => Some(stream),
            Stream::Tls(stream) => Some(stream.get_ref().0),
            Stream::Local(_) | Stream::Pipe(_) => None,
        }
    }

    /// Bytes written but not acknowledged by the other side, if known.
    pub(crate) fn unacknowledged(&self) -> Option<u64> {
        unacknowledged(self.socket()?)
    }

    /// Makes the coming close a reset, so that the kernel keeps no bytes that the peer does not take.
    pub(crate) fn abort(&self) {
        let Some(socket) = self.socket() else { return };
        let _ = socket2::SockRef::from(socket).set_linger(Some(Duration::ZERO));
    }

    /// Whether an idle connection is unusable: if it has something to read, it is closed, broken, or speaks out of turn. Costs no
    /// system call if nothing has arrived.
    #[inline]
    pub(crate) fn is_stale(&mut self) -> bool {
        if let Stream::Tcp(stream) = self {
            let read = stream.try_read(&mut [0]);
            return !matches!(read, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        }
        let mut cx = Context::from_waker(Waker::noop());
        self.poll_read(&mut cx, &mut [0]).is_ready()
    }
}

/// Encrypts and writes as much of the slices as the connection accepts. TLS copies what it encrypts behind a record's header: in
/// pieces, if these are given to it.
fn poll_encrypt(stream: &mut TlsStream<TcpStream>, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
    let stream = Pin::new(stream);
    if parts.iter().all(|part| part.len() <= COPY_BYTES) {
        return stream.poll_write_vectored(cx, parts);
    }
    let pieces = parts.iter().flat_map(|part| part.chunks(COPY_BYTES));
    stream.poll_write_vectored(cx, &pieces.map(IoSlice::new).collect::<Vec<_>>())
}
