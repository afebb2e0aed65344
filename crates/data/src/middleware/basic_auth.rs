//! HTTP Basic authentication (RFC 7617). Reads `use_basic_auth`, `basic_auth` and `auth_configs.basic`; a user is a key with that name and
//! `basic_auth_data`. Without a header, the body may contain user and password: see `body`. The client sees 401 with `WWW-Authenticate`,
//! `Authorization field missing` or `User not authorised`, and 400 for a header that can't be read. Passwords are checked on separate
//! threads while the request is held; for unknown users this takes as long. A correct password is cached for a minute under a keyed digest,
//! a wrong one until others displace it, and requests with the same password share one check. Client addresses are served round-robin; when
//! the queue is full, an address that has sent many passwords sees 503.

mod body;

use super::{Middleware, MiddlewareSource};
use crate::credentials::CredentialPlaces;
use crate::exchange::{Exchange, Step};
use crate::header_change::HeaderChange;
use crate::refusal::{self, Refusal};
use crate::two_generation_cache::TwoGenerationCache;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use body::BodyPatterns;
use std::sync::Arc;
use std::time::Duration;
use tollgate_access::digest::Digest;
use tollgate_access::keys::HeldKey;
use tollgate_access::passwords::{CHECK_TIME_MAX, PasswordWaiter, Passwords, PendingChecks, StoredPassword};
use tollgate_clock::Pending;
use tollgate_model::api::AuthMethod;
use tollgate_model::session::BasicAuthData;

/// Capacity of the cache of correct passwords, in each of its two generations.
const REMEMBERED_MAX: usize = 16_384;
/// Capacity of the cache of wrong passwords, in each of its two generations. Guesses are all different and displace each other; a client
/// that repeats one password does not displace others.
const WRONG_MAX: usize = 4_096;
/// Default time to live of a correct password in the cache, as in Tyk.
const REMEMBERED: Duration = Duration::from_secs(60);
/// `Retry-After` in seconds when the queue is full.
const RETRY_AFTER_S: &[u8] = b"1";

pub(super) struct BasicAuthCheck {
    places: CredentialPlaces,
    org_id: String,
    challenge: String,
    body: Option<BodyPatterns>,
    gives_session: bool,
    passwords: Arc<Passwords>,
    /// Correct passwords, by a digest of the presented credentials.
    right: TwoGenerationCache<VerifiedPassword>,
    /// Wrong passwords. An entry stays valid: the digest includes the stored password.
    wrong: TwoGenerationCache<()>,
    pending: PendingChecks,
    /// Time to live of a correct password; `None` disables the cache.
    remembered: Option<Duration>,
    /// Key of the digests, so that they reveal nothing about passwords.
    secret: [u8; 32],
}

/// A login whose password is to be checked.
struct Login {
    user: String,
    /// The user's key, if there is such a user.
    key: Option<HeldKey>,
    /// Digest of the credentials as they were presented.
    presented: Digest,
    /// Digest of user, stored and presented password.
    digest: Digest,
}

/// A correct password in the cache.
struct VerifiedPassword {
    since: Duration,
    /// Places of the user's key.
    places: Box<[Digest]>,
    /// Stored password that it was compared with.
    stored: BasicAuthData,
}

impl BasicAuthCheck {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        if !definition.uses(AuthMethod::Basic) {
            return None;
        }
        let basic = &definition.basic_auth;
        let random = (tollgate_access::secret::random_bytes(), tollgate_access::secret::random_bytes());
        let (Ok(one), Ok(two), Some(passwords)) = (random.0, random.1, source.context.registry.passwords.get()) else {
            source.context.error("$.use_basic_auth", "the system has no randomness or no threads to give");
            return None;
        };
        let mut secret = [0; 32];
        secret.iter_mut().zip(one.into_iter().chain(two)).for_each(|(to, from)| *to = from);
        let seconds = u64::try_from(basic.cache_ttl).ok().filter(|seconds| *seconds > 0);
        let realm: String = definition.name.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '\\')).collect();
        Some(Box::new(BasicAuthCheck {
            places: CredentialPlaces::new(definition.places(AuthMethod::Basic)),
            org_id: definition.org_id.clone(),
            challenge: format!("Basic realm=\"{realm}\""),
            body: BodyPatterns::compile(source),
            gives_session: definition.takes_session_of(AuthMethod::Basic),
            passwords,
            right: TwoGenerationCache::new(REMEMBERED_MAX),
            wrong: TwoGenerationCache::new(WRONG_MAX),
            pending: PendingChecks::default(),
            remembered: (!basic.disable_caching).then(|| seconds.map_or(REMEMBERED, Duration::from_secs)),
            secret,
        }))
    }

    fn refuse(&self, exchange: &mut Exchange<'_>, refusal: Refusal) -> Step {
        if refusal.status == 401 {
            let challenge = HeaderChange::Set("WWW-Authenticate".into(), self.challenge.as_bytes().to_vec());
            exchange.response.changes.push(challenge);
        }
        if refusal.status == 503 {
            exchange.response.changes.push(HeaderChange::Set("Retry-After".into(), RETRY_AFTER_S.to_vec()));
        }
        Step::Refuse(refusal)
    }

    fn let_in(&self, exchange: &mut Exchange<'_>, key: HeldKey) -> Step {
        if self.gives_session {
            exchange.caller.key = Some(key);
        }
        Step::Next
    }

    /// Starts a check or joins the one in flight, and holds the request.
    fn check(&self, exchange: &mut Exchange<'_>, stored: StoredPassword, password: Vec<u8>, login: Login) -> Step {
        let asker = PasswordWaiter::at(exchange.arrival.client_ip);
        let start = || {
            // A check may have ended since the cache was read.
            if self.wrong.get(&login.digest).is_some() {
                let (completer, answer) = Pending::pair();
                completer.complete(false);
                return Some(answer);
            }
            self.passwords.check(asker, stored, password)
        };
        let Some(answer) = self.pending.join_or(login.digest, start) else {
            return self.refuse(exchange, refusal::AUTH_BUSY);
        };
        Step::ask(self, Pending::clone(&answer), CHECK_TIME_MAX, |this, exchange, is_right| {
            // Until now others could join.
            drop(answer);
            match is_right {
                Some(is_right) => {
                    let name = exchange.arrival.keys.rules.text_of(&login.user, &this.org_id);
                    let now = exchange.known_key(&name, &this.org_id);
                    // The key may have gone meanwhile, or have another password.
                    let is_same = |was: &HeldKey| now.is_some_and(|now| now.session.basic_auth_data == was.session.basic_auth_data);
                    let is_right = is_right && login.key.as_ref().is_some_and(is_same);
                    this.judge(exchange, is_right, login)
                }
                // The deadline has passed, or other requests have displaced the check.
                None => this.refuse(exchange, refusal::AUTH_BUSY),
            }
        })
    }

    /// Admits a login whose password is right.
    fn judge(&self, exchange: &mut Exchange<'_>, is_right: bool, login: Login) -> Step {
        let Some(key) = login.key.filter(|_| is_right) else {
            self.wrong.put(login.digest, Arc::new(()));
            return self.refuse(exchange, refusal::BASIC_REFUSED);
        };
        if self.remembered.is_some() {
            let keys = exchange.arrival.keys;
            let places = keys.places(&keys.rules.text_of(&login.user, &self.org_id), &self.org_id).into();
            let right = VerifiedPassword { since: exchange.arrival.now, places, stored: key.session.basic_auth_data.clone() };
            self.right.put(login.presented, Arc::new(right));
        }
        self.let_in(exchange, key)
    }

    /// Cache key of these texts together.
    fn digest(&self, parts: &[&[u8]]) -> Digest {
        let mut text = Vec::with_capacity(256);
        for part in parts {
            text.extend_from_slice(&(part.len() as u64).to_le_bytes());
            text.extend_from_slice(part);
        }
        blake3::keyed_hash(&self.secret, &text).into()
    }

    /// The cache entry of correct credentials, if it has not expired.
    fn remembered(&self, presented: &Digest, now: Duration) -> Option<Arc<VerifiedPassword>> {
        let time = self.remembered?;
        self.right.get(presented).filter(|right| now.saturating_sub(right.since) < time)
    }
}

/// User and password in a header's value.
fn credentials(value: &str) -> Result<(String, Vec<u8>), Refusal> {
    let (scheme, encoded) = value.trim().split_once(' ').ok_or(refusal::BASIC_FORMAT)?;
    if !scheme.eq_ignore_ascii_case("basic") || encoded.trim().contains(' ') {
        return Err(refusal::BASIC_FORMAT);
    }
    let decoded = STANDARD.decode(encoded.trim()).map_err(|_| refusal::BASIC_ENCODING)?;
    let colon = decoded.iter().position(|byte| *byte == b':').ok_or(refusal::BASIC_VALUES)?;
    let (user, password) = decoded.split_at_checked(colon).ok_or(refusal::BASIC_VALUES)?;
    let user = String::from_utf8_lossy(user).into_owned();
    Ok((user, password.get(1..).unwrap_or_default().to_vec()))
}

impl Middleware for BasicAuthCheck {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.decisions.ignored {
            return Step::Next;
        }
        let value = self.places.find(exchange);
        let header = value.as_ref().map(|value| self.digest(&[value.as_bytes()]));
        if let Some(right) = header.as_ref().and_then(|header| self.remembered(header, exchange.arrival.now))
            && let Some(key) =
                exchange.arrival.keys.find_in(&right.places).filter(|key| key.session.basic_auth_data == right.stored)
        {
            drop(value);
            return self.let_in(exchange, key);
        }
        let in_header = value.ok_or(refusal::BASIC_MISSING).and_then(|value| credentials(&value));
        let (user, password, presented) = match (in_header, &self.body) {
            (Ok((user, password)), _) => (user, password, header.unwrap_or_default()),
            (Err(refusal), None) => return self.refuse(exchange, refusal),
            (Err(_), Some(patterns)) => match patterns.find(exchange) {
                Ok((user, password)) => {
                    let presented = self.digest(&[user.as_bytes(), &password]);
                    (user, password, presented)
                }
                Err(step) => return step,
            },
        };
        let key = match exchange.key_or_ask(&exchange.arrival.keys.rules.text_of(&user, &self.org_id), &self.org_id) {
            Ok(key) => key,
            Err(step) => return step,
        };
        let found = key.and_then(|key| Some((StoredPassword::of(&key.session.basic_auth_data)?, key)));
        let stored = found.as_ref().map_or_else(StoredPassword::nobodys, |(stored, _)| stored.clone());
        let digest = self.digest(&[user.as_bytes(), stored.text().as_bytes(), &password]);
        let key = found.map(|(_, key)| key);
        let remembered = self.remembered(&presented, exchange.arrival.now);
        let key = match (key, remembered) {
            // Reached when the credentials were in the body, or the key had to be looked up.
            (Some(key), Some(right)) if key.session.basic_auth_data == right.stored => return self.let_in(exchange, key),
            (key, _) => key,
        };
        if self.wrong.get(&digest).is_some() {
            return self.refuse(exchange, refusal::BASIC_REFUSED);
        }
        let login = Login { user, key, presented, digest };
        match stored.is_slow() {
            true => self.check(exchange, stored, password, login),
            false => self.judge(exchange, stored.is(&password), login),
        }
    }
}

#[cfg(test)]
mod tests;
