//! Stored passwords, and the threads that check them: a hash that is slow by design must not block a data thread. The queue is bounded, and
//! a client that sends many passwords waits behind its own.

mod htpasswd;
mod pending_checks;

use crate::secret::random_bytes;
use argon2::Argon2;
use argon2::password_hash::{PasswordHash, PasswordVerifier};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use subtle::ConstantTimeEq;
use tollgate_clock::Pending;
use tollgate_engine::client_network;
use tollgate_model::key::KeyFunction;
use tollgate_model::session::BasicAuthData;
use tollgate_offload::{FairThreads, ThreadGroup, ThreadPlan, half_of_the_cores};

pub use pending_checks::PendingChecks;

/// Checks that wait. At a twentieth of a second each, two threads make the last one within `CHECK_TIME_MAX`.
const WAITING_MAX: usize = 256;
const STACK_BYTES: usize = 2 << 20;
/// How long a request is held for a password check.
pub const CHECK_TIME_MAX: Duration = Duration::from_secs(10);
/// Cost of new hashes, as in Tyk; about 50 ms.
const BCRYPT_COST: u32 = 10;
/// What bcrypt reads of a password; it would not see a difference behind.
const BCRYPT_BYTES_MAX: usize = 72;
/// Highest accepted cost; a higher one would occupy a thread for minutes.
const BCRYPT_COST_MAX: u32 = 16;
/// Hash that a password is compared with when the user does not exist, so that the check takes the same time. Its cost is that of new
/// hashes.
const NOBODY: &str = "$2b$10$abcdefghijklmnopqrstuuGLZAQbmLZlVqWqNZ1zTTLIaZ5qvQ8yG";

/// A password in its stored form.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredPassword {
    text: String,
    kind: HashKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HashKind {
    Bcrypt,
    Argon2,
    /// That of Apache's htpasswd, or the older one of Unix.
    Md5Crypt,
    /// SHA-1 in Base64, perhaps with a salt behind it.
    Sha1,
    /// One of the functions that keys are hashed with. It is fast enough to run on the calling thread.
    Fast(KeyFunction),
    Plain,
}

impl StoredPassword {
    /// The password of a session; `None` when it has none or its hash type is unknown.
    pub fn of(data: &BasicAuthData) -> Option<Self> {
        if data.password.is_empty() {
            return None;
        }
        let kind = match data.hash_type.as_str() {
            "bcrypt" => HashKind::Bcrypt,
            "argon2" | "argon2id" => HashKind::Argon2,
            "" if data.password.starts_with("$argon2") => HashKind::Argon2,
            "" if data.password.starts_with("$2") => HashKind::Bcrypt,
            "" => HashKind::Plain,
            name => HashKind::Fast(KeyFunction::from_name(name)?),
        };
        Some(StoredPassword { text: data.password.clone(), kind })
    }

    /// The password of a line of an htpasswd file, without its user; `None` if it is hashed in a way that is not supported.
    pub fn of_htpasswd(text: &str) -> Option<Self> {
        let (kind, text) = match text.split_once('}') {
            Some(("{SHA" | "{SSHA", digest)) => (HashKind::Sha1, digest),
            Some(("{PLAIN", plain)) => (HashKind::Plain, plain),
            _ if text.starts_with("$2") => (HashKind::Bcrypt, text),
            _ if text.starts_with("$argon2") => (HashKind::Argon2, text),
            _ if text.starts_with("$apr1$") || text.starts_with("$1$") => (HashKind::Md5Crypt, text),
            _ => return None,
        };
        Some(StoredPassword { text: text.to_owned(), kind })
    }

    /// Stand-in for the password of a user who does not exist.
    pub fn nobodys() -> Self {
        StoredPassword { text: NOBODY.to_owned(), kind: HashKind::Bcrypt }
    }

    /// The stored text, which changes with the password.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the hash is slow by design.
    pub fn is_slow(&self) -> bool {
        matches!(self.kind, HashKind::Bcrypt | HashKind::Argon2 | HashKind::Md5Crypt)
    }

    /// Whether `password` matches.
    pub fn is(&self, password: &[u8]) -> bool {
        match self.kind {
            HashKind::Bcrypt => {
                bcrypt_cost(&self.text).is_some_and(|cost| cost <= BCRYPT_COST_MAX) && {
                    // Go's bcrypt, which made these hashes, reads 72 bytes; longer passwords are never hashed by it.
                    bcrypt::verify(password, &self.text).unwrap_or(false)
                }
            }
            HashKind::Argon2 => {
                PasswordHash::new(&self.text).is_ok_and(|hash| Argon2::default().verify_password(password, &hash).is_ok())
            }
            HashKind::Fast(function) => {
                std::str::from_utf8(password).is_ok_and(|text| same(function.hash(text).as_bytes(), self.text.as_bytes()))
            }
            HashKind::Md5Crypt => {
                htpasswd::md5_crypt(password, &self.text).is_some_and(|made| same(made.as_bytes(), self.text.as_bytes()))
            }
            HashKind::Sha1 => htpasswd::is_sha1(password, &self.text),
            HashKind::Plain => same(password, self.text.as_bytes()),
        }
    }
}

/// Compares in constant time: the time depends neither on where the texts differ nor on their lengths.
fn same(one: &[u8], other: &[u8]) -> bool {
    blake3::hash(one).as_bytes().ct_eq(blake3::hash(other).as_bytes()).into()
}

/// The cost `10` of `$2b$10$…`.
fn bcrypt_cost(text: &str) -> Option<u32> {
    text.split('$').nth(2)?.parse().ok()
}

/// Replaces a new password by its hash; a hash stays as it is. Slow by design.
pub fn hash(data: &mut BasicAuthData) -> Result<(), String> {
    let is_hashed = !data.hash_type.is_empty() && StoredPassword::of(data).is_some_and(|stored| stored.looks_right());
    if data.password.is_empty() || is_hashed {
        return Ok(());
    }
    if data.password.len() > BCRYPT_BYTES_MAX {
        // Tyk stores such a password as it is. It can't check this hash, and refuses the user.
        let salt = random_bytes().map_err(|error| error.to_string())?;
        data.password = tollgate_admin::users::hash_password(&data.password, salt).map_err(|error| error.to_string())?;
        data.hash_type = "argon2id".to_owned();
    } else {
        data.password = bcrypt::hash(&data.password, BCRYPT_COST).map_err(|error| error.to_string())?;
        data.hash_type = "bcrypt".to_owned();
    }
    Ok(())
}

impl StoredPassword {
    /// Whether the text has the form of its hash type.
    fn looks_right(&self) -> bool {
        match self.kind {
            HashKind::Bcrypt => self.text.starts_with("$2") && self.text.len() == 60,
            HashKind::Argon2 => PasswordHash::new(&self.text).is_ok(),
            HashKind::Fast(function) => {
                self.text.len() == function.hash("").len() && self.text.bytes().all(|b| b.is_ascii_hexdigit())
            }
            HashKind::Md5Crypt | HashKind::Sha1 | HashKind::Plain => false,
        }
    }
}

/// The threads that check passwords.
pub struct Passwords {
    threads: FairThreads<PasswordWaiter>,
    /// Number of checks made.
    checked: Arc<AtomicU64>,
}

/// The client that a check is queued for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PasswordWaiter {
    /// A client address; for IPv6, its network.
    Network(u128),
    /// An OAuth client that logs its users in: API and client id.
    Program(String, String),
}

impl PasswordWaiter {
    /// The client at an address.
    pub fn at(address: IpAddr) -> Self {
        PasswordWaiter::Network(client_network(address))
    }
}

impl ThreadGroup for Passwords {
    const NAME: &'static str = "passwords";

    fn start() -> io::Result<Self> {
        let (name, threads) = (Self::NAME, half_of_the_cores());
        let threads = FairThreads::start(ThreadPlan { name, threads, waiting_max: WAITING_MAX, stack_bytes: STACK_BYTES })?;
        Ok(Passwords { threads, checked: Arc::default() })
    }
}

impl Passwords {
    /// Number of checks made so far.
    pub fn checked(&self) -> u64 {
        self.checked.load(Ordering::Relaxed)
    }

    /// Queues a password check; `None` when the queue is full. The answer may never come: a client with many checks is displaced by others.
    pub fn check(&self, asker: PasswordWaiter, stored: StoredPassword, password: Vec<u8>) -> Option<Pending<bool>> {
        let (completer, answer) = Pending::pair();
        let checked = self.checked.clone();
        let check = move || {
            // The request may have gone meanwhile.
            if completer.is_awaited() {
                checked.fetch_add(1, Ordering::Relaxed);
                completer.complete(stored.is(&password));
            }
        };
        self.threads.put(asker, check).then_some(answer)
    }
}

#[cfg(test)]
mod tests;
