//! Bodies between HTTP/2 and HTTP/1.1, in both directions and for both sides. Flow control goes through: a window opens again when
//! the other side has taken the bytes, and nothing is read that can't be sent on.

use super::head::{read_trailers, write_trailers};
use crate::pipe::{PipeReader, PipeWriter};
use bytes::Bytes;
use h2::{RecvStream, SendStream};
use std::io::Write;
use std::task::Poll;
use std::time::Duration;
use tokio::time::timeout;
use tollgate_http::{Body, BodyReader};

/// One read of a pipe.
const READ_BYTES: usize = 16 * 1024;

/// Why a body did not get through.
pub enum Cut {
    /// The HTTP/2 side reset the stream or is gone.
    Http2,
    /// The pipe's other end is gone, or what came out of it was no body.
    Pipe,
}

/// From a stream into a pipe, as `framing` says. Trailers go where there are chunks; elsewhere HTTP/1.1 has no place for them.
pub async fn receive(body: &mut RecvStream, chunked: bool, pipe: &mut PipeWriter) -> Result<(), Cut> {
    let mut out = Vec::new();
    while let Some(data) = body.data().await {
        let data = data.map_err(|_| Cut::Http2)?;
        if chunked && !data.is_empty() {
            out.clear();
            let _ = write!(out, "{:x}\r\n", data.len());
            pipe.write_all(&out).await.map_err(|_| Cut::Pipe)?;
        }
        pipe.write_all(&data).await.map_err(|_| Cut::Pipe)?;
        if chunked && !data.is_empty() {
            pipe.write_all(b"\r\n").await.map_err(|_| Cut::Pipe)?;
        }
        body.flow_control().release_capacity(data.len()).map_err(|_| Cut::Http2)?;
    }
    let trailers = body.trailers().await.map_err(|_| Cut::Http2)?;
    if chunked {
        out.clear();
        out.extend_from_slice(b"0\r\n");
        trailers.iter().for_each(|trailers| write_trailers(trailers, &mut out));
        out.extend_from_slice(b"\r\n");
        pipe.write_all(&out).await.map_err(|_| Cut::Pipe)?;
    }
    Ok(())
}

/// From a pipe into a stream. `ahead` is what was read with the head. A receiver that takes nothing for `patience` is given up.
pub async fn send(
    stream: &mut SendStream<Bytes>,
    body: Body,
    ahead: &[u8],
    pipe: &mut PipeReader,
    patience: Duration,
) -> Result<(), Cut> {
    let mut reader = BodyReader::new(body);
    let (mut content, mut trailers) = (Vec::new(), Vec::new());
    let mut scratch = Vec::new();
    let mut input = ahead;
    loop {
        reader.decode_with_trailers(input, &mut content, &mut trailers).map_err(|_| Cut::Pipe)?;
        let done = reader.is_done();
        let ends = done && trailers.is_empty();
        send_data(stream, std::mem::take(&mut content), ends, pipe, patience).await?;
        if done {
            if !trailers.is_empty() {
                stream.send_trailers(read_trailers(&trailers)).map_err(|_| Cut::Http2)?;
            }
            return Ok(());
        }
        scratch.resize(READ_BYTES, 0);
        let read = read_or_reset(stream, pipe, &mut scratch).await?;
        if read == 0 {
            // A body that ends with its connection ends well only if it was ended, not dropped.
            if matches!(reader, BodyReader::UntilClose) && pipe.has_ended() {
                return stream.send_data(Bytes::new(), true).map_err(|_| Cut::Http2);
            }
            return Err(Cut::Pipe);
        }
        input = scratch.get(..read).unwrap_or_default();
    }
}

/// Sends as the receiver's window allows, for as long as there is a writer. An empty piece is sent only to end the stream.
async fn send_data(
    stream: &mut SendStream<Bytes>,
    data: Vec<u8>,
    ends: bool,
    pipe: &mut PipeReader,
    patience: Duration,
) -> Result<(), Cut> {
    let mut data = Bytes::from(data);
    while !data.is_empty() {
        stream.reserve_capacity(data.len());
        let room = stream.capacity();
        if room == 0 {
            let room = std::future::poll_fn(|cx| {
                if pipe.poll_gone(cx).is_ready() {
                    return Poll::Ready(Err(Cut::Pipe));
                }
                stream.poll_capacity(cx).map(|room| room.and_then(Result::ok).ok_or(Cut::Http2))
            });
            timeout(patience, room).await.map_err(|_| Cut::Http2)??;
            continue;
        }
        let piece = data.split_to(room.min(data.len()));
        let last = ends && data.is_empty();
        stream.send_data(piece, last).map_err(|_| Cut::Http2)?;
        if last {
            return Ok(());
        }
    }
    if ends { stream.send_data(Bytes::new(), true).map_err(|_| Cut::Http2) } else { Ok(()) }
}

/// Reads from the pipe, unless the stream is reset first.
async fn read_or_reset(stream: &mut SendStream<Bytes>, pipe: &mut PipeReader, scratch: &mut [u8]) -> Result<usize, Cut> {
    std::future::poll_fn(|cx| {
        if let Poll::Ready(read) = pipe.poll_read(cx, scratch) {
            return Poll::Ready(Ok(read));
        }
        stream.poll_reset(cx).map(|_| Err(Cut::Http2))
    })
    .await
}
