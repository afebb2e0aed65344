//! What access rights say of URLs, compiled. Keys that may call the same URLs have one list of them: a hundred thousand keys of a policy take
//! no more than the policy. Policies are compiled when they are read. What a key has for itself is compiled by a thread of its own when the
//! key is first used; its first request is held meanwhile, and no other.

use super::policies::Policies;
use crate::base::pattern::PatternRules;
use crate::base::pattern::{PatternPool, PooledPattern};
use std::collections::HashMap;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use tollgate_engine::{Completer, Pending};
use tollgate_model::session::{AllowedUrl, EndpointLimit};
use tollgate_model::{Level, Problem};

/// How many lists there are at least before those that nobody uses are looked for.
const SWEPT_MIN: usize = 1_024;
/// Lists that wait to be compiled. Who comes with one more compiles it himself.
const WAITING_MAX: usize = 1_024;

/// The lists of patterns of all keys.
pub(crate) struct RightPatterns {
    rules: PatternRules,
    pool: Arc<PatternPool>,
    lists: Mutex<Lists>,
    /// What the policies in effect use, so that it is there when a key comes.
    of_policies: Mutex<Vec<Arc<PatternList>>>,
    /// Where lists are compiled; `None` when there is no thread for it.
    thread: OnceLock<Option<SyncSender<Unprepared>>>,
}

/// A list to be compiled, and who waits for it.
type Unprepared = (Arc<PatternList>, Completer<()>);

#[derive(Default)]
struct Lists {
    by_content: HashMap<[u8; 32], Weak<PatternList>>,
    /// How many there may be before unused ones are looked for.
    sweep_at: usize,
}

/// Patterns with methods, as an access right lists them.
#[derive(Debug)]
pub(crate) struct PatternList {
    pool: Arc<PatternPool>,
    entries: Box<[UrlRight]>,
    /// The patterns of the entries. `None` for one that can't be used: it fits nothing.
    patterns: OnceLock<Box<[Option<Arc<PooledPattern>>]>>,
}

#[derive(Debug)]
struct UrlRight {
    /// `None` when what is written says nothing.
    expression: Option<String>,
    methods: Box<[String]>,
}

impl PatternList {
    /// Whether an entry has the method and fits one of the path's forms.
    pub(crate) fn allows(&self, method: &str, paths: &[&str]) -> bool {
        let entries = self.entries.iter().zip(self.patterns());
        entries
            .filter(|(entry, _)| entry.methods.iter().any(|allowed| allowed == method))
            .any(|(_, pattern)| pattern.as_ref().is_some_and(|pattern| paths.iter().any(|path| pattern.is_match(path))))
    }

    /// Whether the pattern of an entry is found in a path.
    pub(crate) fn fits(&self, entry: usize, path: &str) -> bool {
        self.patterns().get(entry).and_then(Option::as_ref).is_some_and(|pattern| pattern.is_match(path))
    }

    /// Nothing is left to compile.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.patterns.get().is_some()
    }

    fn patterns(&self) -> &[Option<Arc<PooledPattern>>] {
        self.patterns.get_or_init(|| {
            let compile = |entry: &UrlRight| self.pool.get(entry.expression.as_ref()?).ok();
            self.entries.iter().map(compile).collect()
        })
    }

    /// Makes the list ready if that takes no time: all of its patterns are known, or are templates.
    fn get_ready(&self) {
        let quick = |entry: &UrlRight| match &entry.expression {
            None => Some(None),
            Some(expression) => self.pool.get_quickly(expression).map(Some),
        };
        if let Some(patterns) = self.entries.iter().map(quick).collect() {
            let _ = self.patterns.set(patterns);
        }
    }
}

impl RightPatterns {
    pub(crate) fn new(rules: PatternRules, pool: Arc<PatternPool>) -> Self {
        RightPatterns { rules, pool, lists: Mutex::default(), of_policies: Mutex::default(), thread: OnceLock::new() }
    }

    /// The list of these URLs.
    pub(crate) fn urls(&self, urls: &[AllowedUrl]) -> Arc<PatternList> {
        // With prefix matching, a pattern that says nothing fits nothing, as in Tyk.
        let says_nothing = |url: &str| self.rules.prefix && url.chars().all(|c| matches!(c, '^' | '$'));
        let expression = |url: &str| (!says_nothing(url)).then(|| self.rules.expression(url, false));
        self.list(
            urls.iter().map(|url| UrlRight { expression: expression(&url.url), methods: url.methods.clone().into() }).collect(),
        )
    }

    /// The list of the patterns of these endpoints, which have limits for each method.
    pub(crate) fn endpoints(&self, endpoints: &[EndpointLimit]) -> Arc<PatternList> {
        let expression = |endpoint: &EndpointLimit| Some(self.rules.expression(&endpoint.path, false));
        self.list(endpoints.iter().map(|endpoint| UrlRight { expression: expression(endpoint), methods: [].into() }).collect())
    }

    fn list(&self, entries: Box<[UrlRight]>) -> Arc<PatternList> {
        let content = digest(&entries);
        if let Some(known) = self.lists().by_content.get(&content).and_then(Weak::upgrade) {
            return known;
        }
        let made = Arc::new(PatternList { pool: self.pool.clone(), entries, patterns: OnceLock::new() });
        made.get_ready();
        let mut lists = self.lists();
        if lists.by_content.len() >= lists.sweep_at.max(SWEPT_MIN) {
            lists.by_content.retain(|_, list| list.strong_count() > 0);
            lists.sweep_at = 2 * lists.by_content.len();
        }
        lists.by_content.insert(content, Arc::downgrade(&made));
        made
    }

    /// Compiles a list elsewhere.
    pub(crate) fn prepare(&self, list: &Arc<PatternList>) -> Pending<()> {
        let (completer, done) = Pending::pair();
        if let Some(thread) = self.thread.get_or_init(compiling_thread) {
            // Without a place the completer is dropped: the request goes on, and compiles the list itself.
            let _ = thread.try_send((list.clone(), completer));
        }
        done
    }

    /// Compiles what policies have, and keeps it for as long as they are in effect. Says which patterns have no effect.
    pub(crate) fn keep(&self, policies: &Policies) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut kept = Vec::new();
        for policy in policies.iter() {
            for (api, right) in &policy.access_rights {
                let urls = (self.urls(&right.allowed_urls), "allowed_urls", "url", "allows");
                let endpoints = (self.endpoints(&right.endpoints), "endpoints", "path", "limits");
                for (list, name, field, does) in [urls, endpoints] {
                    let unusable =
                        list.entries.iter().zip(list.patterns()).enumerate().filter(|(_, (_, pattern))| pattern.is_none());
                    for (index, (entry, _)) in unusable {
                        let why = match &entry.expression {
                            None => "it says nothing".to_owned(),
                            Some(expression) => self.pool.get(expression).err().unwrap_or_default(),
                        };
                        let path = format!("$[{:?}].access_rights[{api:?}].{name}[{index}].{field}", policy.id());
                        let problem = Problem::new(Level::Warning, path, format!("{does} nothing: {why}"));
                        problems.push(problem.within(policies.file_of(policy.id())));
                    }
                    kept.push(list);
                }
            }
        }
        *self.of_policies.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        problems
    }

    fn lists(&self) -> std::sync::MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the thread, which ends when nobody can send any more.
fn compiling_thread() -> Option<SyncSender<Unprepared>> {
    let (sender, receiver) = sync_channel::<Unprepared>(WAITING_MAX);
    let compile = move || {
        for (list, completer) in receiver {
            list.patterns();
            completer.complete(());
        }
    };
    let started = std::thread::Builder::new().name("patterns".to_owned()).spawn(compile);
    started.inspect_err(|error| tracing::warn!(%error, "there is no thread to compile patterns of keys")).ok().map(|_| sender)
}

/// What a list is known by: its texts with their lengths between them.
fn digest(entries: &[UrlRight]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    for entry in entries {
        add(if entry.expression.is_some() { "1" } else { "0" });
        add(entry.expression.as_deref().unwrap_or_default());
        add(&entry.methods.len().to_string());
        entry.methods.iter().for_each(|method| add(method));
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests;
