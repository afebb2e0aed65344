//! Receivers for the telemetry of gateways, which discard it: StatsD over UDP, and a collector that speaks OTLP over HTTP.

use crate::probe::HOST;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum size of a request; no batch of spans is larger.
const REQUEST_BYTES_MAX: usize = 64 << 20;
const READ_BYTES: usize = 64 * 1024;
const HEADERS_MAX: usize = 64;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n";

/// Ports that receive telemetry and discard it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SinkPorts {
    pub statsd: u16,
    /// Port for OTLP over HTTP.
    pub collector: u16,
}

/// The sinks of a scenario.
pub(crate) struct Sinks {
    pub ports: SinkPorts,
    /// Batches that the collector has received.
    batches: Arc<AtomicU64>,
    /// Never read: the kernel drops what does not fit its buffer.
    _statsd: UdpSocket,
}

impl Sinks {
    pub(crate) fn open() -> io::Result<Sinks> {
        let statsd = UdpSocket::bind((HOST, 0))?;
        let collector = TcpListener::bind((HOST, 0))?;
        let ports = SinkPorts { statsd: statsd.local_addr()?.port(), collector: collector.local_addr()?.port() };
        let batches = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&batches);
        std::thread::spawn(move || {
            for stream in collector.incoming().flatten() {
                let counter = Arc::clone(&counter);
                // If a connection fails, the gateway opens another.
                std::thread::spawn(move || drop(collect(stream, &counter)));
            }
        });
        Ok(Sinks { ports, batches, _statsd: statsd })
    }

    /// Batches since the last call.
    pub(crate) fn take_batches(&self) -> u64 {
        self.batches.swap(0, Ordering::Relaxed)
    }
}

/// Answers the requests of one connection.
fn collect(mut stream: TcpStream, counter: &AtomicU64) -> io::Result<()> {
    let mut bytes = Vec::new();
    let mut piece = vec![0; READ_BYTES];
    while bytes.len() < REQUEST_BYTES_MAX {
        let read = stream.read(&mut piece)?;
        if read == 0 {
            break;
        }
        bytes.extend_from_slice(piece.get(..read).unwrap_or_default());
        while let Some(length) = request_bytes(&bytes).filter(|length| *length <= bytes.len()) {
            bytes.drain(..length);
            counter.fetch_add(1, Ordering::Relaxed);
            stream.write_all(ANSWER)?;
        }
    }
    Ok(())
}

/// The length of the first request; `None` until its head is complete.
fn request_bytes(bytes: &[u8]) -> Option<usize> {
    let mut lines = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut lines);
    let httparse::Status::Complete(head_bytes) = request.parse(bytes).ok()? else { return None };
    let length = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let body_bytes = length.and_then(|header| std::str::from_utf8(header.value).ok()?.trim().parse::<usize>().ok()).unwrap_or(0);
    head_bytes.checked_add(body_bytes)
}

#[cfg(test)]
mod tests;
