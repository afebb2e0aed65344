//! HTTP Basic authentication by a list of users (RFC 7617). Reads `tollgate.user_passwords`; whoever is one may go on, with whatever else identifies
//! callers. The client sees 401 with `WWW-Authenticate`, and 503 when too many passwords wait. Passwords are checked on separate threads while the
//! request is held; a correct one is cached under a keyed digest. Does not use the store.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_change::HeaderChange;
use crate::header_names::HeaderNames;
use crate::refusal::{self, Refusal};
use crate::two_generation_cache::TwoGenerationCache;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_access::digest::Digest;
use tollgate_access::passwords::{CHECK_TIME_MAX, PasswordWaiter, Passwords, StoredPassword};
use tollgate_http::KnownHeader;

/// Capacity of the cache of correct passwords, in each of its two generations. It lives as long as the list.
const REMEMBERED_MAX: usize = 4_096;

pub(super) struct BasicUsers {
    users: HashMap<String, StoredPassword>,
    challenge: String,
    passwords: Arc<Passwords>,
    right: TwoGenerationCache<()>,
    /// Key of the digests, so that they reveal nothing about passwords.
    secret: [u8; 32],
}

impl BasicUsers {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let written = &definition.tollgate.user_passwords;
        if written.is_empty() {
            return None;
        }
        let random = (tollgate_access::secret::random_bytes(), tollgate_access::secret::random_bytes());
        let (Ok(one), Ok(two), Some(passwords)) = (random.0, random.1, source.context.registry.passwords.get()) else {
            source.context.error("$.tollgate.user_passwords", "the system has no randomness or no threads to give");
            return None;
        };
        let mut secret = [0; 32];
        secret.iter_mut().zip(one.into_iter().chain(two)).for_each(|(to, from)| *to = from);
        let mut users = HashMap::new();
        for (index, line) in written.iter().enumerate() {
            let Some((user, hash)) = line.split_once(':') else { continue };
            match StoredPassword::of_htpasswd(hash) {
                Some(stored) => {
                    users.entry(user.to_owned()).or_insert(stored);
                }
                None => source.context.warning(
                    format!("$.tollgate.user_passwords[{index}]"),
                    format!("{user:?} cannot log in: the hash must be of bcrypt, argon2, apr1 or SHA"),
                ),
            }
        }
        let realm: String = definition.name.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '\\')).collect();
        Some(Box::new(BasicUsers {
            users,
            challenge: format!("Basic realm=\"{realm}\""),
            passwords,
            right: TwoGenerationCache::new(REMEMBERED_MAX),
            secret,
        }))
    }

    fn refuse(&self, exchange: &mut Exchange<'_>, refusal: Refusal) -> Step {
        if refusal.status == 401 {
            let challenge = HeaderChange::Set("WWW-Authenticate".into(), self.challenge.as_bytes().to_vec());
            exchange.response.changes.push(challenge);
        }
        Step::Refuse(refusal)
    }
}

/// User and password in a header's value.
fn credentials(value: &[u8]) -> Option<(String, Vec<u8>)> {
    let value = std::str::from_utf8(value).ok()?;
    let (scheme, encoded) = value.trim().split_once(' ')?;
    let decoded = STANDARD.decode(encoded.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    let (user, password) = decoded.split_at_checked(colon)?;
    Some((String::from_utf8(user.to_vec()).ok()?, password.get(1..)?.to_vec()))
}

impl Middleware for BasicUsers {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add("authorization");
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(value) = exchange.received().known(KnownHeader::Authorization) else {
            return self.refuse(exchange, refusal::BASIC_MISSING);
        };
        let digest: Digest = blake3::keyed_hash(&self.secret, value).into();
        if self.right.get(&digest).is_some() {
            return Step::Next;
        }
        let Some((user, password)) = credentials(value) else { return self.refuse(exchange, refusal::BASIC_REFUSED) };
        let known = self.users.get(&user);
        let (is_known, stored) = (known.is_some(), known.cloned().unwrap_or_else(StoredPassword::nobodys));
        let asker = PasswordWaiter::at(exchange.arrival.client_ip);
        let Some(answer) = self.passwords.check(asker, stored, password) else {
            return self.refuse(exchange, refusal::AUTH_BUSY);
        };
        Step::ask(self, answer, CHECK_TIME_MAX, move |this, exchange, is_right| match is_right {
            Some(true) if is_known => {
                this.right.put(digest, Arc::new(()));
                Step::Next
            }
            Some(_) => this.refuse(exchange, refusal::BASIC_REFUSED),
            None => this.refuse(exchange, refusal::AUTH_BUSY),
        })
    }
}
