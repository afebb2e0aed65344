//! What a response is filed under. A key is a digest of everything that distinguishes requests, each part with its length before it, so that
//! no two lists of parts are one text. Whatever is not in the key must not change the response, or one client's answer becomes another's.

/// The digest that a response is filed under.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CacheKey([u8; 32]);

impl CacheKey {
    /// The digest.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first bytes as a number. The digest is even, so that this is a hash.
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

/// Takes the first bytes of a [`CacheKey`] for its hash. Clients can't choose keys that collide: the digest is keyed with the cache's secret.
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

/// Digests parts one by one.
pub(crate) struct KeyHasher(blake3::Hasher);

impl KeyHasher {
    /// `kind` keeps keys for one purpose apart from those for another.
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

    /// An absent part differs from an empty one.
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

/// What distinguishes the requests to one API.
#[derive(Clone, Copy, Debug)]
pub struct KeyParts<'a> {
    /// The host that the client asked for, where the API's answers depend on it; `None` where they don't, so that a Host that a client makes up
    /// fills nothing. In lower case.
    pub host: Option<&'a [u8]>,
    /// Path and query exactly as they are sent to the upstream: no decoding, no sorting, no folding of letter case or slashes. Two spellings
    /// that the upstream takes for one are two entries, which costs memory; the reverse would give a foreign answer.
    pub target: &'a [u8],
    /// Who asks, where each caller has answers of its own.
    pub caller: Option<&'a [u8]>,
    /// Values of headers that the API's configuration adds to the key, in the configuration's order.
    pub headers: &'a [Option<&'a [u8]>],
}

impl KeyParts<'_> {
    /// The key of requests that are answered from GET. Requests with other methods are not in the cache.
    pub(crate) fn key(&self, secret: &[u8; 32], api: &str) -> CacheKey {
        let mut hasher = KeyHasher::keyed(secret, "response");
        hasher.add(api.as_bytes());
        hasher.add_optional(self.host);
        hasher.add(self.target);
        hasher.add_optional(self.caller);
        hasher.add(&(self.headers.len() as u64).to_le_bytes());
        for value in self.headers {
            hasher.add_optional(*value);
        }
        hasher.finish()
    }
}

#[cfg(test)]
mod tests;
