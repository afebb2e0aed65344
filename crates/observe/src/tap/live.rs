//! Requests as they come in, as lines of JSON in a bounded buffer: for a replay that decides about them a second time, with complete heads, which
//! stay in the process; or for a sample that leaves it, with the headers that were asked for and without credentials.

use super::entry::key_id;
use super::lock;
use crate::facts::Secrets;
use crate::record::{RequestRecord, Text};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tollgate_admin::secret_name;

/// Bytes that wait for the replay: some ten thousand requests, a second's worth.
const BYTES_MAX: usize = 16 << 20;

/// The buffer of one replay.
#[derive(Default)]
pub struct LiveRequests {
    state: Mutex<LiveBuffer>,
    is_ended: AtomicBool,
    every: AtomicU32,
    seen: AtomicU32,
    missed: AtomicU64,
    /// What a sample has of each request; `None` for everything.
    sample: Option<SampleRules>,
}

/// What a sample that leaves the process has.
struct SampleRules {
    /// Names of headers.
    headers: Vec<String>,
    /// Whether keys are shown as hashes already.
    hash_keys: bool,
}

#[derive(Default)]
struct LiveBuffer {
    lines: Vec<u8>,
    until: Option<Instant>,
}

impl LiveRequests {
    /// For a sample with these headers.
    pub fn sample(headers: Vec<String>, hash_keys: bool) -> Self {
        LiveRequests { sample: Some(SampleRules { headers, hash_keys }), ..LiveRequests::default() }
    }

    /// Whether it is for a sample.
    pub(super) fn is_sample(&self) -> bool {
        self.sample.is_some()
    }

    /// Takes one of `every` requests from now on, for some time.
    pub fn begin(&self, time: Duration, every: u32) {
        self.every.store(every.max(1), Ordering::Relaxed);
        lock(&self.state).until = Instant::now().checked_add(time);
    }

    /// Takes no more requests.
    pub fn end(&self) {
        self.is_ended.store(true, Ordering::Relaxed);
    }

    fn takes(&self) -> bool {
        !self.is_ended.load(Ordering::Relaxed) && lock(&self.state).until.is_some_and(|until| Instant::now() < until)
    }

    /// Whether requests are taken, or wait to be decided about.
    pub fn is_on(&self) -> bool {
        let state = lock(&self.state);
        !self.is_ended.load(Ordering::Relaxed)
            && (!state.lines.is_empty() || state.until.is_some_and(|until| Instant::now() < until))
    }

    /// Requests that did not fit.
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    /// The requests that wait.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut lock(&self.state).lines)
    }

    /// Adds a request. `secrets` are the places of credentials, if an API is for it.
    pub(super) fn see(&self, record: &RequestRecord, api: &str, secrets: Option<&Secrets>, unix_ns: u64) {
        let is_chosen = self.seen.fetch_add(1, Ordering::Relaxed).is_multiple_of(self.every.load(Ordering::Relaxed).max(1));
        if !is_chosen || !self.takes() {
            return;
        }
        let mut lines = record.bytes(Text::LiveHead).split(|byte| *byte == b'\n');
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let path = text(lines.next().unwrap_or_default());
        let path = if self.sample.is_some() { secret_name::masked_path(&path, |name| is_parameter(secrets, name)) } else { path };
        let pairs = lines.filter(|line| !line.is_empty()).filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((text(line.get(..colon)?), text(line.get(colon + 1..)?)))
        });
        let pairs = pairs.filter(|(name, _)| self.sample.as_ref().is_none_or(|rules| rules.takes(name, secrets)));
        let mut request = json!({
            "time_ms": unix_ns / 1_000_000,
            "method": record.text(Text::Method),
            "host": record.text(Text::Authority),
            "path": path,
            "headers": pairs.collect::<Vec<_>>(),
            "client_ip": record.client_ip,
            "status": record.status,
            "cause": record.cause.unwrap_or_default(),
            "api_id": api,
        });
        if let Value::Object(members) = &mut request {
            let shown = |key: &str| match &self.sample {
                Some(rules) => key_id(key, rules.hash_keys).into_owned(),
                None => key.to_owned(),
            };
            members.extend(record.key.iter().map(|key| ("key".to_owned(), shown(&key.shown).into())));
            let length = u64::try_from(record.content_length).ok();
            members.extend(length.map(|bytes| ("content_length".to_owned(), bytes.into())));
        }
        let line = request.to_string();
        let mut state = lock(&self.state);
        if state.lines.len() + line.len() > BYTES_MAX {
            self.missed.fetch_add(1, Ordering::Relaxed);
            return;
        }
        state.lines.extend_from_slice(line.as_bytes());
        state.lines.push(b'\n');
    }
}

impl SampleRules {
    /// Whether the sample has a header: it was asked for, and carries no credentials.
    fn takes(&self, name: &str, secrets: Option<&Secrets>) -> bool {
        let is_place = secrets.is_some_and(|secrets| secrets.headers.iter().any(|own| secret_name::names_header(name, own)));
        !is_place && !secret_name::is_secret(name) && self.headers.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

/// Whether a parameter of the query carries credentials.
fn is_parameter(secrets: Option<&Secrets>, name: &str) -> bool {
    secrets.is_some_and(|secrets| secrets.parameters.iter().any(|own| secret_name::names_parameter(name, own)))
}
