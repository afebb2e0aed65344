//! `tollgate migrate`: copies keys, quotas and everything else from one store to the other. Repeating it only copies changes, and
//! the source is not modified.

use crate::cli::{MigrateOptions, StoreName};
use crate::run;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tollgate_access::digest::{self, Digest};
use tollgate_access::keys;
use tollgate_access::oauth;
use tollgate_clock::unix_s;
use tollgate_cluster::redis_settings;
use tollgate_model::config::GatewayConfig;
use tollgate_model::key;
use tollgate_model::session::{Session, StoredSession};
use tollgate_store::{CounterValue, DocumentSpace, Embedded, Redis, RedisSettings, Store, StoreFault, StoreReply};

/// Maximum documents in flight.
const ON_THE_WAY_MAX: usize = 256;
/// How long to wait for Redis.
const START_TIME_MAX: Duration = Duration::from_secs(10);

/// Copies everything and reports the numbers.
pub(crate) fn migrate(options: &MigrateOptions) -> Result<(), Box<dyn Error>> {
    if options.from == options.to {
        return Err("--from and --to name the same store".into());
    }
    let config = run::load_config_file(options.conf.as_deref())?;
    if !config.storage.is_redis() {
        return Err("no Redis is configured: name it in `storage` of the configuration, or in TYK_GW_STORAGE_HOST".into());
    }
    let embedded = Arc::new(Embedded::open(&config.tollgate.data_dir)?);
    let settings = redis_settings(&config.storage)?;
    // Nobody else waits: a server that is slow to answer is not gone.
    let settings = RedisSettings { ping_time_max: settings.answer_time_max, ..settings };
    let redis = Arc::new(Redis::open(settings)?);
    if !redis.wait_until_up(START_TIME_MAX) {
        return Err(redis.trouble().unwrap_or_default().into());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (source, target) = match options.from {
        StoreName::Embedded => (MigrationSource::Embedded(embedded), redis as Arc<dyn Store>),
        StoreName::Redis => (MigrationSource::Redis(redis), embedded as Arc<dyn Store>),
    };
    let mut copy = Copy { source, target, runtime, is_dry: options.dry_run, counts: BTreeMap::new(), left_out: Vec::new() };
    let sessions = copy.sessions(&config)?;
    for kind in DocumentSpace::ALL.into_iter().filter(|kind| *kind != DocumentSpace::Session) {
        copy.documents(kind)?;
    }
    copy.counters(&sessions)?;
    copy.report(options)
}

/// The source store.
enum MigrationSource {
    Embedded(Arc<Embedded>),
    Redis(Arc<Redis>),
}

/// A running copy.
struct Copy {
    source: MigrationSource,
    target: Arc<dyn Store>,
    runtime: Runtime,
    is_dry: bool,
    counts: BTreeMap<&'static str, MigratedCount>,
    /// What could not be copied, and why.
    left_out: Vec<String>,
}

#[derive(Default)]
struct MigratedCount {
    new: u64,
    replaced: u64,
}

/// Names of each session in both stores.
#[derive(Default)]
struct SessionNames {
    by_digest: HashMap<Digest, String>,
    by_name: HashMap<String, Digest>,
}

/// A document of the source.
struct SourceDocument {
    id: String,
    value: Vec<u8>,
    expires_unix_s: Option<u64>,
}

impl Copy {
    /// Copies sessions, which the two stores name and serialise differently.
    fn sessions(&mut self, config: &GatewayConfig) -> Result<SessionNames, Box<dyn Error>> {
        let mut names = SessionNames::default();
        let from_embedded = matches!(self.source, MigrationSource::Embedded(_));
        let hashes = config.hash_keys;
        let mut left_out = Vec::new();
        let mut translate = |document: SourceDocument| {
            let translated = if from_embedded { to_shared(&document) } else { to_own(&document) };
            let Some((digest, name, id, value, ends)) = translated else {
                left_out.push(format!("session {}: can't be read", document.id));
                return None;
            };
            if let Some(other) = names.by_name.insert(name.clone(), digest).filter(|other| *other != digest) {
                // Both have separate entries in the embedded store, but Redis has only one.
                names.by_name.insert(name.clone(), other);
                left_out.push(format!("session {name}: another key has the same hash{}", if hashes { "" } else { " or name" }));
                return None;
            }
            names.by_digest.insert(digest, name);
            Some(SourceDocument { id, value, expires_unix_s: ends })
        };
        self.each(DocumentSpace::Session, &mut translate)?;
        self.left_out.append(&mut left_out);
        Ok(names)
    }

    /// Copies documents. Of the OAuth provider's only the clients: codes and tokens are named differently and expire soon.
    fn documents(&mut self, kind: DocumentSpace) -> Result<(), Box<dyn Error>> {
        self.each(kind, &mut |document| Some(document).filter(|document| is_copied(kind, &document.id)))
    }

    /// Copies the documents of a kind after `translate`.
    fn each(
        &mut self,
        kind: DocumentSpace,
        translate: &mut dyn FnMut(SourceDocument) -> Option<SourceDocument>,
    ) -> Result<(), Box<dyn Error>> {
        let (name, is_dry, target) = (plural(kind), self.is_dry, self.target.clone());
        let bar = bar(name, self.source.count(&self.runtime, kind)?);
        let mut count = MigratedCount::default();
        let mut on_the_way: VecDeque<StoreReply<bool>> = VecDeque::new();
        let mut fault = None;
        let runtime = &self.runtime;
        let mut settle = |existed: StoreReply<bool>| match runtime.block_on(existed) {
            Ok(true) => count.replaced += 1,
            Ok(false) => count.new += 1,
            Err(trouble) => fault = Some(trouble),
        };
        self.source.each(runtime, kind, &mut |document| {
            bar.inc(1);
            let Some(SourceDocument { id, value, expires_unix_s }) = translate(document) else { return };
            let existed = if is_dry { exists(target.read(kind, id)) } else { target.write(kind, id, value, expires_unix_s) };
            on_the_way.push_back(existed);
            if on_the_way.len() >= ON_THE_WAY_MAX
                && let Some(first) = on_the_way.pop_front()
            {
                settle(first);
            }
        })?;
        on_the_way.into_iter().for_each(&mut settle);
        bar.finish_and_clear();
        if let Some(fault) = fault {
            return Err(fault.into());
        }
        self.counts.insert(name, count);
        Ok(())
    }

    fn counters(&mut self, names: &SessionNames) -> Result<(), Box<dyn Error>> {
        let from_embedded = matches!(self.source, MigrationSource::Embedded(_));
        let store: Arc<dyn Store> = match &self.source {
            MigrationSource::Embedded(store) => store.clone(),
            MigrationSource::Redis(store) => store.clone(),
        };
        let mut counters = Vec::new();
        store.for_each_counter(&mut |counter| counters.push(counter))?;
        let bar = bar("quotas", counters.len() as u64);
        let mut count = MigratedCount::default();
        for some in counters.chunks(ON_THE_WAY_MAX) {
            let mut translated = Vec::new();
            for counter in some {
                let name = if from_embedded { names.shared_quota(&counter.name) } else { names.own_quota(&counter.name) };
                match name {
                    Some(name) => translated.push(CounterValue { name, ..counter.clone() }),
                    None => self.left_out.push(format!("quota {}: there is no such key", counter.name)),
                }
            }
            let known: Vec<String> = translated.iter().map(|counter| counter.name.clone()).collect();
            let new = translated.len() as u64;
            let known = self.runtime.block_on(self.target.counters(known))?.len() as u64;
            if !self.is_dry {
                self.runtime.block_on(self.target.write_counters(translated))?;
            }
            count.replaced += known;
            count.new += new - known;
            bar.inc(some.len() as u64);
        }
        bar.finish_and_clear();
        self.counts.insert("quotas", count);
        Ok(())
    }

    fn report(self, options: &MigrateOptions) -> Result<(), Box<dyn Error>> {
        let done = if self.is_dry { "would copy" } else { "copied" };
        say!("tollgate: {done} from {} to {}", options.from, options.to);
        for (name, MigratedCount { new, replaced }) in self.counts.iter().filter(|(_, count)| count.new + count.replaced > 0) {
            say!("  {name}: {} ({new} new, {replaced} there already)", new + replaced);
        }
        for what in &self.left_out {
            eprintln!("tollgate: left out: {what}");
        }
        match self.left_out.len() {
            0 => Ok(()),
            1 => Err("1 thing was left out".into()),
            count => Err(format!("{count} things were left out").into()),
        }
    }
}

impl MigrationSource {
    fn count(&self, runtime: &Runtime, kind: DocumentSpace) -> Result<u64, StoreFault> {
        match self {
            MigrationSource::Embedded(store) => {
                let mut count = 0;
                store.for_each(kind, &mut |_, _| count += 1)?;
                Ok(count)
            }
            MigrationSource::Redis(store) => Ok(runtime.block_on(store.ids(kind))?.len() as u64),
        }
    }

    fn each(&self, runtime: &Runtime, kind: DocumentSpace, see: &mut dyn FnMut(SourceDocument)) -> Result<(), StoreFault> {
        match self {
            MigrationSource::Embedded(store) => store.for_each(kind, &mut |id, value| {
                see(SourceDocument { id: id.to_owned(), value: value.to_vec(), expires_unix_s: None });
            }),
            MigrationSource::Redis(store) => {
                for id in runtime.block_on(store.ids(kind))?.into_iter().filter(|id| is_copied(kind, id)) {
                    let Some((value, life)) = runtime.block_on(store.document(kind, &id))? else { continue };
                    let expires_unix_s = life.map(|life| unix_s() + life.as_secs() + 1);
                    see(SourceDocument { id, value, expires_unix_s });
                }
                Ok(())
            }
        }
    }
}

impl SessionNames {
    /// The name of `quota-<digest>-<scope>` in a shared store.
    fn shared_quota(&self, name: &str) -> Option<String> {
        let Some((digest, scope)) = name.strip_prefix("quota-").and_then(|rest| rest.split_once('-')) else {
            return Some(name.to_owned());
        };
        let shown = self.by_digest.get(&digest::parse_digest(digest)?)?;
        Some(keys::shared_quota_name(shown, scope))
    }

    /// The name of `quota-<name>` or `quota-<scope>-<name>` in the embedded store.
    fn own_quota(&self, name: &str) -> Option<String> {
        let Some(rest) = name.strip_prefix("quota-") else { return Some(name.to_owned()) };
        let splits = std::iter::once(("", rest)).chain(rest.match_indices('-').map(|(at, _)| {
            let (scope, shown) = rest.split_at(at);
            (scope, shown.get(1..).unwrap_or_default())
        }));
        let mut known = splits.filter_map(|(scope, shown)| Some((scope, self.by_name.get(shown)?)));
        known.next().map(|(scope, digest)| keys::own_quota_name(digest, scope))
    }
}

/// Digest, name, id, document and expiry time.
type Translated = (Digest, String, String, Vec<u8>, Option<u64>);

/// A session of the embedded store in the form of a shared store.
fn to_shared(document: &SourceDocument) -> Option<Translated> {
    let digest = digest::parse_digest(&document.id)?;
    let stored = StoredSession::parse(&document.value)?;
    let written = StoredSession::outline(&document.value).and_then(|(_, kept_until)| kept_until);
    let ends = written.or_else(|| keys::forgotten_at(&stored.session));
    Some((digest, stored.shown.clone(), stored.shown, stored.session.to_json().to_string().into_bytes(), ends))
}

/// A session of a shared store in the form of the embedded store. Of a hashed key only the hash is known, so it is stored under the
/// hash.
fn to_own(document: &SourceDocument) -> Option<Translated> {
    let (session, _) = Session::parse(&document.value).ok()?;
    let digest = key::digest(&document.id);
    let ends = document.expires_unix_s.or_else(|| keys::forgotten_at(&session));
    let stored = StoredSession { shown: document.id.clone(), session };
    Some((digest, document.id.clone(), digest::hex(&digest), stored.to_bytes_until(ends), ends))
}

/// Whether there is a document.
fn exists(document: StoreReply<Option<Vec<u8>>>) -> StoreReply<bool> {
    Box::pin(async move { Ok(document.await?.is_some()) })
}

/// Whether a document is copied. Lists and sets have names with the same prefix, but are not documents.
fn is_copied(kind: DocumentSpace, id: &str) -> bool {
    kind != DocumentSpace::OAuth || oauth::is_client(id)
}

fn bar(name: &'static str, length: u64) -> ProgressBar {
    // Shown only on a terminal.
    let style = ProgressStyle::with_template("{msg:>14} [{bar:40}] {pos}/{len} {eta}");
    let bar = ProgressBar::new(length).with_message(name);
    style.map(|style| bar.clone().with_style(style)).unwrap_or(bar)
}

fn plural(kind: DocumentSpace) -> &'static str {
    match kind {
        DocumentSpace::Session => "keys",
        DocumentSpace::OrgSession => "organisations",
        DocumentSpace::Policy => "policies",
        DocumentSpace::Api => "definitions",
        DocumentSpace::Certificate => "certificates",
        DocumentSpace::OAuth => "OAuth clients",
        DocumentSpace::Console => "documents of the console",
        DocumentSpace::Acme => "documents of issued certificates",
        DocumentSpace::Portal => "documents of the portal",
    }
}

#[cfg(test)]
mod tests;
