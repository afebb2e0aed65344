//! A name server of a few lines: it answers A and AAAA questions from a function, over UDP on a port of this machine.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Addresses for a name, and for how many seconds they hold; no addresses means that the name does not exist.
pub(crate) struct Answer {
    pub addresses: Vec<IpAddr>,
    pub ttl_s: u32,
}

/// Priority, weight, port and host of an SRV record.
pub(crate) type ServiceRecord = (u16, u16, u16, String);

pub(crate) struct NameServer {
    pub address: SocketAddr,
    asked: Arc<AtomicUsize>,
}

impl NameServer {
    /// `answer` gets the name in lower case, without its last dot.
    pub(crate) fn start(answer: impl Fn(&str) -> Answer + Send + 'static) -> NameServer {
        NameServer::dropping(&[], answer)
    }

    /// The same, which does not answer questions of these kinds: 1 is A, 28 is AAAA.
    pub(crate) fn dropping(kinds: &'static [u16], answer: impl Fn(&str) -> Answer + Send + 'static) -> NameServer {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let address = socket.local_addr().expect("an address");
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = asked.clone();
        thread::spawn(move || {
            let mut packet = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut packet) {
                counter.fetch_add(1, Ordering::SeqCst);
                if let Some(reply) = reply(&packet[..length], kinds, &answer) {
                    let _ = socket.send_to(&reply, from);
                }
            }
        });
        NameServer { address, asked }
    }

    /// One that answers questions for SRV records, with priority, weight, port and host. No records means that the name does not exist; `None`,
    /// that the server fails.
    pub(crate) fn of_services(answer: impl Fn(&str) -> Option<Vec<ServiceRecord>> + Send + 'static) -> NameServer {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let address = socket.local_addr().expect("an address");
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = asked.clone();
        thread::spawn(move || {
            let mut packet = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut packet) {
                counter.fetch_add(1, Ordering::SeqCst);
                if let Some(reply) = service_reply(&packet[..length], &answer) {
                    let _ = socket.send_to(&reply, from);
                }
            }
        });
        NameServer { address, asked }
    }

    /// How many questions have come.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// The name of a question, and where it ends in the packet.
fn asked_name(packet: &[u8]) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut at = 12;
    loop {
        let length = usize::from(*packet.get(at)?);
        at += 1;
        if length == 0 {
            return Some((name, at));
        }
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(&String::from_utf8_lossy(packet.get(at..at + length)?).to_lowercase());
        at += length;
    }
}

fn service_reply(packet: &[u8], answer: &dyn Fn(&str) -> Option<Vec<ServiceRecord>>) -> Option<Vec<u8>> {
    let (name, at) = asked_name(packet)?;
    let kind = u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]);
    let found = answer(&name);
    let code = match &found {
        None => 0x82,
        Some(records) if records.is_empty() => 0x83,
        Some(_) => 0x80,
    };
    let records = found.filter(|_| kind == 33).unwrap_or_default();
    let mut out = packet.get(..2)?.to_vec();
    out.extend_from_slice(&[0x81, code, 0, 1, 0, u8::try_from(records.len()).ok()?, 0, 0, 0, 0]);
    out.extend_from_slice(packet.get(12..at + 4)?);
    for (priority, weight, port, host) in records {
        let mut data = Vec::new();
        [priority, weight, port].iter().for_each(|number| data.extend_from_slice(&number.to_be_bytes()));
        for label in host.split('.') {
            data.push(u8::try_from(label.len()).ok()?);
            data.extend_from_slice(label.as_bytes());
        }
        data.push(0);
        // One second: tests change the answer.
        out.extend_from_slice(&[0xc0, 12, 0, 33, 0, 1, 0, 0, 0, 1]);
        out.extend_from_slice(&u16::try_from(data.len()).ok()?.to_be_bytes());
        out.extend_from_slice(&data);
    }
    Some(out)
}

fn reply(packet: &[u8], dropped: &[u16], answer: &dyn Fn(&str) -> Answer) -> Option<Vec<u8>> {
    let (name, at) = asked_name(packet)?;
    let kind = u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]);
    if dropped.contains(&kind) {
        return None;
    }
    let question = packet.get(12..at + 4)?;
    let found = answer(&name);
    let exists = !found.addresses.is_empty();
    let of_kind = |address: &&IpAddr| matches!((kind, address), (1, IpAddr::V4(_)) | (28, IpAddr::V6(_)));
    let matching: Vec<&IpAddr> = found.addresses.iter().filter(of_kind).collect();

    let mut out = packet.get(..2)?.to_vec();
    out.extend_from_slice(if exists { &[0x81, 0x80] } else { &[0x81, 0x83] });
    let is_empty = matching.is_empty();
    out.extend_from_slice(&[0, 1, 0, u8::try_from(matching.len()).ok()?, 0, u8::from(is_empty), 0, 0]);
    out.extend_from_slice(question);
    for address in matching {
        out.extend_from_slice(&[0xc0, 12]);
        out.extend_from_slice(&kind.to_be_bytes());
        out.extend_from_slice(&[0, 1]);
        out.extend_from_slice(&found.ttl_s.to_be_bytes());
        match address {
            IpAddr::V4(v4) => {
                out.extend_from_slice(&[0, 4]);
                out.extend_from_slice(&v4.octets());
            }
            IpAddr::V6(v6) => {
                out.extend_from_slice(&[0, 16]);
                out.extend_from_slice(&v6.octets());
            }
        }
    }
    if is_empty {
        // The start of authority says how long "nothing" holds; resolvers do not remember it without one.
        out.extend_from_slice(&[0xc0, 12, 0, 6, 0, 1]);
        out.extend_from_slice(&found.ttl_s.to_be_bytes());
        out.extend_from_slice(&[0, 22, 0, 0]);
        for value in [1, 60, 60, 60, found.ttl_s] {
            out.extend_from_slice(&value.to_be_bytes());
        }
    }
    Some(out)
}
