//! Accepts server names with a port, which some clients send (`localhost:8443`), although a server name is only a host (RFC 6066
//! §3) and rustls rejects them. Before rustls reads such a name, its length is cut to the host: the colon becomes the type of a
//! second name, which rustls does not know and ignores. The handshake still covers the bytes that the client sent: the transcript's
//! hash restores the length. On any mismatch, the handshake fails.

use rustls::crypto::CryptoProvider;
use rustls::crypto::hash::{Context, Hash, HashAlgorithm, Output};
use rustls::{CipherSuiteCommon, SupportedCipherSuite, Tls12CipherSuite, Tls13CipherSuite};
use std::cell::Cell;

/// Length of a TLS record header.
pub(crate) const RECORD_HEADER_BYTES: usize = 5;
/// Message type of a ClientHello, its first byte (RFC 8446 §4).
const CLIENT_HELLO: u8 = 1;
/// Length of the version and random bytes of a ClientHello.
const HELLO_FIXED_BYTES: usize = 2 + 32;
/// Type of the extension, and of its only kind of name (RFC 6066 §3).
const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;

/// The changed length in a ClientHello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CutName {
    /// Its offset in the message, excluding the record header.
    at: usize,
    sent: [u8; 2],
    cut: [u8; 2],
}

impl CutName {
    /// Cuts the port off the server name of a ClientHello that is one whole record; `None` if there is no port.
    pub(crate) fn cut(record: &mut [u8]) -> Option<Self> {
        let message = record.get_mut(RECORD_HEADER_BYTES..)?;
        let (at, sent, host_bytes) = name_with_port(message)?;
        let cut = u16::try_from(host_bytes).ok()?.to_be_bytes();
        message.get_mut(at..at + 2)?.copy_from_slice(&cut);
        Some(CutName { at, sent, cut })
    }

    /// Runs `work`, during which the message is hashed as the client sent it.
    pub(crate) fn restored_in<T>(name: Option<Self>, work: impl FnOnce() -> T) -> T {
        CUT.set(name);
        let done = work();
        CUT.set(None);
        done
    }

    /// The parts of a ClientHello, or of its start, as the client sent them; `None` for any other message.
    fn restore<'m>(&'m self, message: &'m [u8]) -> Option<[&'m [u8]; 3]> {
        let (before, rest) = message.split_at_checked(self.at)?;
        let after = rest.strip_prefix(&self.cut)?;
        (message.first() == Some(&CLIENT_HELLO)).then_some([before, &self.sent, after])
    }
}

/// Offset of the name's length, that length, and the length of the host in the name.
fn name_with_port(message: &[u8]) -> Option<(usize, [u8; 2], usize)> {
    let mut hello = LengthReader { bytes: message, at: 1 };
    let length = hello.length(3)?;
    if message.first() != Some(&CLIENT_HELLO) || length != message.len() - hello.at {
        return None;
    }
    hello.skip(HELLO_FIXED_BYTES)?;
    for length_bytes in [1, 2, 1] {
        // Session id, cipher suites, compression methods.
        let length = hello.length(length_bytes)?;
        hello.skip(length)?;
    }
    hello.length(2)?;
    loop {
        let (kind, length) = (hello.length(2)?, hello.length(2)?);
        if kind != usize::from(SERVER_NAME) {
            hello.skip(length)?;
            continue;
        }
        let (list, kind, at, name) = (hello.length(2)?, hello.length(1)?, hello.at, hello.length(2)?);
        let is_only_name = kind == usize::from(HOST_NAME) && list == 3 + name && length == 2 + list;
        let text = message.get(hello.at..hello.at + name).filter(|_| is_only_name)?;
        let colon = text.iter().position(|byte| *byte == b':').filter(|colon| *colon > 0)?;
        let port = text.get(colon + 1..).filter(|port| (1..=5).contains(&port.len()) && port.iter().all(u8::is_ascii_digit));
        return port.and_then(|_| Some((at, *message.get(at..)?.first_chunk()?, colon)));
    }
}

/// Reads consecutive length-prefixed fields.
struct LengthReader<'m> {
    bytes: &'m [u8],
    at: usize,
}

impl LengthReader<'_> {
    fn length(&mut self, bytes: usize) -> Option<usize> {
        let digits = self.bytes.get(self.at..self.at + bytes)?;
        self.at += bytes;
        Some(digits.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.at += bytes;
        (self.at <= self.bytes.len()).then_some(())
    }
}

thread_local! {
    /// Set while rustls processes the ClientHello, which happens in one call: a hash does not know its connection.
    static CUT: Cell<Option<CutName>> = const { Cell::new(None) };
}

/// The same algorithms, but with server names that include a port accepted by [`crate::TlsConfigSelector`] made with them. The result is
/// never freed: call this only for what lives as long as the process.
pub fn accepting_ports(provider: CryptoProvider) -> CryptoProvider {
    let cipher_suites = provider.cipher_suites.iter().map(|suite| match suite {
        SupportedCipherSuite::Tls12(suite) => SupportedCipherSuite::Tls12(Box::leak(Box::new(Tls12CipherSuite {
            common: common(&suite.common),
            prf_provider: suite.prf_provider,
            kx: suite.kx,
            sign: suite.sign,
            aead_alg: suite.aead_alg,
        }))),
        SupportedCipherSuite::Tls13(suite) => SupportedCipherSuite::Tls13(Box::leak(Box::new(Tls13CipherSuite {
            common: common(&suite.common),
            hkdf_provider: suite.hkdf_provider,
            aead_alg: suite.aead_alg,
            quic: suite.quic,
        }))),
    });
    CryptoProvider { cipher_suites: cipher_suites.collect(), ..provider }
}

fn common(own: &CipherSuiteCommon) -> CipherSuiteCommon {
    CipherSuiteCommon {
        suite: own.suite,
        hash_provider: Box::leak(Box::new(Transcript(own.hash_provider))),
        confidentiality_limit: own.confidentiality_limit,
    }
}

/// A hash that processes a ClientHello as the client sent it.
struct Transcript(&'static dyn Hash);

impl Hash for Transcript {
    fn start(&self) -> Box<dyn Context> {
        Box::new(Running(self.0.start()))
    }

    fn hash(&self, bytes: &[u8]) -> Output {
        self.0.hash(bytes)
    }

    fn output_len(&self) -> usize {
        self.0.output_len()
    }

    fn algorithm(&self) -> HashAlgorithm {
        self.0.algorithm()
    }

    fn fips(&self) -> bool {
        self.0.fips()
    }
}

struct Running(Box<dyn Context>);

impl Context for Running {
    fn fork_finish(&self) -> Output {
        self.0.fork_finish()
    }

    fn fork(&self) -> Box<dyn Context> {
        Box::new(Running(self.0.fork()))
    }

    fn finish(self: Box<Self>) -> Output {
        self.0.finish()
    }

    fn update(&mut self, bytes: &[u8]) {
        let cut = CUT.get();
        match cut.as_ref().and_then(|cut| cut.restore(bytes)) {
            Some(parts) => parts.iter().for_each(|part| self.0.update(part)),
            None => self.0.update(bytes),
        }
    }
}

#[cfg(test)]
mod tests;
