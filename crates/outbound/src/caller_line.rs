//! What the data path tells a server within this process of a request, in one header line. It replaces what clients send under its name.

use crate::{Holder, append_ip};
use http::HeaderMap;
use std::net::IpAddr;

/// Name of the header.
pub const CALLER_LINE: &str = "X-Tollgate-Caller";

/// Who sends a request, and what was decided about it.
///
/// As a header's value, its members stand in their order with a space between two; an absent one is `-`, and the last may have spaces itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallerLine<'t> {
    /// A digest of the key, empty without one.
    pub key_digest: &'t str,
    /// The address of the client.
    pub address: Option<IpAddr>,
    /// How many loops from API to API have led to the request.
    pub loops: usize,
    /// The host that the client has asked for.
    pub host: Option<&'t str>,
    /// The number under which the server tells what becomes of the request.
    pub call: Option<u64>,
    /// What the kind of server needs beyond that.
    pub rest: Option<&'t str>,
}

impl<'t> CallerLine<'t> {
    /// Appends the whole line with its CRLF. None of the texts has control characters, and the host no spaces.
    pub fn write(&self, out: &mut Vec<u8>) {
        let text = |text: &'t str| if text.is_empty() { "-" } else { text };
        out.extend_from_slice(CALLER_LINE.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(text(self.key_digest).as_bytes());
        out.push(b' ');
        match self.address {
            Some(address) => append_ip(out, address),
            None => out.push(b'-'),
        }
        out.push(b' ');
        out.extend_from_slice(itoa::Buffer::new().format(self.loops).as_bytes());
        out.push(b' ');
        out.extend_from_slice(text(self.host.unwrap_or_default()).as_bytes());
        out.push(b' ');
        match self.call {
            Some(number) => out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
            None => out.push(b'-'),
        }
        out.push(b' ');
        out.extend_from_slice(text(self.rest.unwrap_or_default()).as_bytes());
        out.extend_from_slice(b"\r\n");
    }

    /// What the header lines of a request tell; all absent if they do not tell it.
    pub fn read(headers: &'t HeaderMap) -> Self {
        Self::of(headers.get(CALLER_LINE).and_then(|line| std::str::from_utf8(line.as_bytes()).ok()).unwrap_or_default())
    }

    /// What the value of the line tells.
    pub fn of(line: &'t str) -> Self {
        let mut parts = line.splitn(6, ' ').map(|part| Some(part).filter(|part| *part != "-"));
        let mut next = || parts.next().flatten();
        let (key_digest, address, loops) = (next().unwrap_or_default(), next(), next());
        CallerLine {
            key_digest,
            address: address.and_then(|address| address.parse().ok()),
            loops: loops.and_then(|loops| loops.parse().ok()).unwrap_or_default(),
            host: next(),
            call: next().and_then(|number| number.parse().ok()),
            rest: next(),
        }
    }

    /// Whose share the request takes: `owner` names the caller. Those without a key are told apart by their networks.
    pub fn holder(&self, owner: String) -> Holder {
        Holder::new(owner, !self.key_digest.is_empty(), self.address)
    }
}

#[cfg(test)]
mod tests;
