//! Cache keys. A key is a digest of everything that distinguishes requests, each part preceded by its length, so that two different lists
//! of parts never give the same text. Whatever is not in the key must not affect the response, or one client gets another's answer.

use crate::lines::HeaderLines;

/// The digest that a response is stored under.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CacheKey([u8; 32]);

impl CacheKey {
    /// The bytes of the digest.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first eight bytes as a number; a good hash, because digests are evenly distributed.
    pub(crate) fn hash64(&self) -> u64 {
        let (first, _) = self.0.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
        u64::from_le_bytes(*first)
    }
}

impl std::fmt::Debug for CacheKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Key({:016x})", self.hash64())
    }
}

impl std::hash::Hash for CacheKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash64());
    }
}

/// Uses the first bytes of a [`CacheKey`] as its hash. Clients can't choose colliding keys: the digest is keyed with the cache's secret.
#[derive(Clone, Default)]
pub(crate) struct KeyBuildHasher;

impl std::hash::BuildHasher for KeyBuildHasher {
    type Hasher = FirstBytes;

    fn build_hasher(&self) -> FirstBytes {
        FirstBytes(0)
    }
}

pub(crate) struct FirstBytes(u64);

impl std::hash::Hasher for FirstBytes {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Digests a list of parts.
pub(crate) struct KeyHasher(blake3::Hasher);

impl KeyHasher {
    /// `kind` separates keys for different purposes.
    pub(crate) fn new(kind: &str) -> Self {
        let mut hasher = KeyHasher(blake3::Hasher::new());
        hasher.add(kind.as_bytes());
        hasher
    }

    pub(crate) fn keyed(secret: &[u8; 32], kind: &str) -> Self {
        let mut hasher = KeyHasher(blake3::Hasher::new_keyed(secret));
        hasher.add(kind.as_bytes());
        hasher
    }

    pub(crate) fn add(&mut self, part: &[u8]) {
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    /// Adds a part that may be absent; absent differs from empty.
    pub(crate) fn add_optional(&mut self, part: Option<&[u8]>) {
        match part {
            Some(part) => {
                self.0.update(&[1]);
                self.add(part);
            }
            None => {
                self.0.update(&[0]);
            }
        }
    }

    pub(crate) fn finish(self) -> CacheKey {
        CacheKey(*self.0.finalize().as_bytes())
    }
}

/// The values of these headers among the lines of a request, for its key. Servers may read `X_Tenant` as `X-Tenant`, or not: such lines count,
/// and differ from those with the name itself.
pub fn header_values(names: &[String], lines: &dyn HeaderLines) -> Vec<Option<Vec<u8>>> {
    let mut values: Vec<Option<Vec<u8>>> = vec![None; names.len()];
    lines.each(&mut |name, value| {
        let named = names.iter().zip(&mut values).find(|(known, _)| is_same_name(known, name));
        if let Some((known, lines)) = named {
            let lines = lines.get_or_insert_default();
            if !known.eq_ignore_ascii_case(name) {
                // No value contains it.
                lines.push(0);
                lines.extend(name.bytes().map(|byte| byte.to_ascii_lowercase()));
                lines.push(0);
            }
            lines.extend_from_slice(value);
            // No value contains a line break.
            lines.push(b'\n');
        }
    });
    values
}

/// Whether servers may treat two names as equal.
pub fn is_same_name(one: &str, other: &str) -> bool {
    let normal = |byte: u8| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
    one.len() == other.len() && one.bytes().map(normal).eq(other.bytes().map(normal))
}

/// The parts that distinguish requests to one API.
#[derive(Clone, Copy, Debug)]
pub struct KeyParts<'a> {
    /// The configuration that shapes responses. Responses of another configuration are not used. Purges by URL ignore it.
    pub origin: &'a [u8],
    /// Host of the request in lower case, if the API's answers depend on it; otherwise `None`, so that invented Host values do not fill the
    /// cache.
    pub host: Option<&'a [u8]>,
    /// Path and query exactly as sent to the upstream: not decoded, sorted, or folded in letter case or slashes. Two spellings of one
    /// resource give two entries, which costs memory; merging two resources would give a wrong answer.
    pub target: &'a [u8],
    /// The caller, if each caller has its own answers.
    pub caller: Option<&'a [u8]>,
    /// Values of headers that the API's configuration adds to the key, in the configuration's order.
    pub headers: &'a [Option<&'a [u8]>],
}

impl KeyParts<'_> {
    /// The key of requests that GET responses can answer. Other methods are not cached.
    pub(crate) fn key(&self, secret: &[u8; 32], api: &str) -> CacheKey {
        let mut hasher = KeyHasher::keyed(secret, "response");
        hasher.add(api.as_bytes());
        hasher.add(self.origin);
        hasher.add_optional(self.host);
        hasher.add(self.target);
        hasher.add_optional(self.caller);
        hasher.add(&(self.headers.len() as u64).to_le_bytes());
        // Most are absent, so those that are present say which they are.
        for (index, value) in (0_u64..).zip(self.headers).filter_map(|(index, value)| Some((index, (*value)?))) {
            hasher.0.update(&index.to_le_bytes());
            hasher.add(value);
        }
        hasher.finish()
    }
}

#[cfg(test)]
mod tests;
