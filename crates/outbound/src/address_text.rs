//! Addresses as text.

use std::io::Write;
use std::net::IpAddr;

/// Writes an address. The standard formatter takes 1,300 instructions for IPv4, 2 % of a request.
pub fn append_ip(out: &mut Vec<u8>, address: IpAddr) {
    let IpAddr::V4(address) = address else {
        // Writing to memory cannot fail.
        let _ = write!(out, "{address}");
        return;
    };
    for (place, octet) in address.octets().into_iter().enumerate() {
        if place > 0 {
            out.push(b'.');
        }
        out.extend_from_slice(itoa::Buffer::new().format(octet).as_bytes());
    }
}
