//! Parses the PROXY protocol header, versions 1 and 2: what a load balancer announces about a connection. Strict and without I/O;
//! the caller decides which peers to trust.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// Longest version 1 header, including the line end.
pub(crate) const V1_BYTES_MAX: usize = 107;
/// Maximum bytes after the fixed part of version 2: two IPv6 addresses and room for the extensions that proxies send, which are
/// ignored.
const V2_BYTES_MAX: usize = 4096;
/// Length of the shortest header, `PROXY UNKNOWN` with its line end: this much can be read before anything is known.
const SHORTEST: usize = 15;
const V1_START: &[u8] = b"PROXY ";
const V2_START: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// Length of the fixed part of version 2.
const V2_FIXED: usize = 16;

/// Parsing progress of a header.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The header continues with at least this many more bytes.
    Wants(usize),
    /// The header is complete. `None`: the proxy speaks for itself, or does not know the client.
    Complete(Option<SocketAddr>),
}

/// Parses the bytes of a header received so far; `bytes` contains nothing beyond it.
pub(crate) fn parse(bytes: &[u8]) -> Result<Progress, &'static str> {
    let begins = |start: &[u8]| bytes.iter().zip(start).all(|(byte, wanted)| byte == wanted);
    if !begins(V1_START) && !begins(V2_START) {
        return Err("a trusted proxy did not begin with a PROXY header");
    }
    if bytes.len() < SHORTEST {
        return Ok(Progress::Wants(SHORTEST - bytes.len()));
    }
    if begins(V2_START) { version_2(bytes) } else { version_1(bytes) }
}

fn version_1(bytes: &[u8]) -> Result<Progress, &'static str> {
    let Some(line) = bytes.strip_suffix(b"\r\n") else {
        return match bytes.len() {
            V1_BYTES_MAX.. => Err("the PROXY line is too long"),
            _ if bytes.contains(&b'\n') => Err("the PROXY line does not end in CRLF"),
            _ => Ok(Progress::Wants(1)),
        };
    };
    let text = std::str::from_utf8(line).map_err(|_| "the PROXY line is not text")?;
    let mut words = text.split(' ').skip(1);
    let client = match words.next() {
        // The specification says to ignore the rest.
        Some("UNKNOWN") => return Ok(Progress::Complete(None)),
        Some("TCP4") => endpoint::<Ipv4Addr>(&mut words),
        Some("TCP6") => endpoint::<Ipv6Addr>(&mut words),
        _ => None,
    };
    match (client, words.next()) {
        (Some(client), None) => Ok(Progress::Complete(Some(client))),
        _ => Err("the PROXY line is malformed"),
    }
}

/// Parses source address, destination address, source port and destination port; returns the source.
fn endpoint<'t, A: FromStr + Into<IpAddr>>(words: &mut impl Iterator<Item = &'t str>) -> Option<SocketAddr> {
    let source: A = words.next()?.parse().ok()?;
    let _destination: A = words.next()?.parse().ok()?;
    let port = port(words.next()?)?;
    self::port(words.next()?)?;
    Some(SocketAddr::new(source.into(), port))
}

fn port(text: &str) -> Option<u16> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

fn version_2(bytes: &[u8]) -> Result<Progress, &'static str> {
    if bytes.len() < V2_FIXED {
        return Ok(Progress::Wants(V2_FIXED - bytes.len()));
    }
    let Some((&[version, family, high, low], body)) = bytes.get(V2_START.len()..).and_then(<[u8]>::split_first_chunk) else {
        return Err("the PROXY header is malformed");
    };
    let length = usize::from(u16::from_be_bytes([high, low]));
    if length > V2_BYTES_MAX {
        return Err("the PROXY header is too long");
    }
    if body.len() < length {
        return Ok(Progress::Wants(length - body.len()));
    }
    match (version, family) {
        // LOCAL: the proxy's own connection, such as a health check.
        (0x20, _) => Ok(Progress::Complete(None)),
        // PROXY for a connection without an address, or from a Unix socket.
        (0x21, 0x00 | 0x31 | 0x32) => Ok(Progress::Complete(None)),
        (0x21, 0x11) => {
            let (source, rest) = body.split_first_chunk::<4>().ok_or("the PROXY header is cut short")?;
            let port = source_port(rest, 4)?;
            Ok(Progress::Complete(Some(SocketAddr::new(Ipv4Addr::from(*source).into(), port))))
        }
        (0x21, 0x21) => {
            let (source, rest) = body.split_first_chunk::<16>().ok_or("the PROXY header is cut short")?;
            let port = source_port(rest, 16)?;
            Ok(Progress::Complete(Some(SocketAddr::new(Ipv6Addr::from(*source).into(), port))))
        }
        (0x20..=0x2f, _) => Err("the PROXY header asks for something unknown"),
        _ => Err("the PROXY header has an unknown version"),
    }
}

/// The source port: the two ports follow the destination address.
fn source_port(rest: &[u8], address_bytes: usize) -> Result<u16, &'static str> {
    match rest.get(address_bytes..address_bytes + 4) {
        Some(&[high, low, _, _]) => Ok(u16::from_be_bytes([high, low])),
        _ => Err("the PROXY header is cut short"),
    }
}

#[cfg(test)]
mod tests;
