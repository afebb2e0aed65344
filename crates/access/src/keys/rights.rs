//! Compiled URLs, endpoints and names of access rights. Keys that may call the same URLs share one list: a hundred thousand keys of a policy take
//! no more memory than the policy. Policies are compiled when they are read. A key's own patterns are compiled on a separate thread when
//! the key is first used; only that first request waits.

use super::policies::Policies;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use tollgate_clock::Pending;
use tollgate_model::session::{AccessRight, AllowedUrl, EndpointLimit, PrimitiveKind};
use tollgate_model::{Level, Problem};
use tollgate_offload::{FairThreads, StartedOnce, ThreadGroup, ThreadPlan};
use tollgate_pattern::{PatternPool, PatternRules, PooledPattern, name_expression, name_pattern};

/// Number of lists from which on unused ones are searched and dropped.
const SWEPT_MIN: usize = 1_024;
/// Most lists in the compile queue. When it is full, a request compiles its list itself.
const WAITING_MAX: usize = 1_024;
const STACK_BYTES: usize = 2 << 20;

/// The pattern lists of all keys.
pub struct RightPatterns {
    rules: PatternRules,
    pool: Arc<PatternPool>,
    lists: Mutex<Lists>,
    /// Lists of the policies in effect, kept so that they are compiled before a key needs them.
    of_policies: Mutex<Vec<Arc<PatternList>>>,
    thread: StartedOnce<CompilingThread>,
}

/// The thread that compiles lists of keys.
struct CompilingThread(FairThreads<()>);

impl ThreadGroup for CompilingThread {
    const NAME: &'static str = "patterns";

    fn start() -> io::Result<Self> {
        let plan = ThreadPlan { name: Self::NAME, threads: 1, waiting_max: WAITING_MAX, stack_bytes: STACK_BYTES };
        FairThreads::start(plan).map(CompilingThread)
    }
}

#[derive(Default)]
struct Lists {
    by_content: HashMap<[u8; 32], Weak<PatternList>>,
    /// Number of lists at which unused ones are dropped.
    sweep_at: usize,
}

/// A list of an access right, with what is told of its unusable entries.
struct WrittenList<'r> {
    list: Arc<PatternList>,
    /// Where an entry stands in the access right.
    place: Box<dyn Fn(usize) -> String + 'r>,
    /// What follows if an entry is no pattern.
    so: &'static str,
}

/// Patterns with methods, as an access right lists them.
#[derive(Debug)]
pub struct PatternList {
    pool: Arc<PatternPool>,
    entries: Box<[UrlRight]>,
    /// Compiled patterns of the entries. `None` for an invalid pattern.
    patterns: OnceLock<Box<[Option<Arc<PooledPattern>>]>>,
}

#[derive(Debug)]
struct UrlRight {
    /// The pattern or name as it is written.
    url: String,
    /// `Err` says why it is no pattern.
    expression: Result<String, String>,
    methods: Box<[String]>,
}

impl PatternList {
    /// Whether an entry has the method and matches one of the path's forms.
    pub fn allows(&self, method: &str, paths: &[&str]) -> bool {
        let entries = self.entries.iter().zip(self.patterns());
        entries
            .filter(|(entry, _)| entry.methods.iter().any(|allowed| allowed == method))
            .any(|(_, pattern)| pattern.as_ref().is_some_and(|pattern| paths.iter().any(|path| pattern.is_match(path))))
    }

    /// Whether an entry has the method.
    pub fn has_method(&self, method: &str) -> bool {
        self.entries.iter().any(|entry| entry.methods.iter().any(|allowed| allowed == method))
    }

    /// Whether the pattern of an entry matches a path.
    pub fn fits(&self, entry: usize, path: &str) -> bool {
        self.patterns().get(entry).and_then(Option::as_ref).is_some_and(|pattern| pattern.is_match(path))
    }

    /// Whether an entry's expression matches a name. An entry that is no expression is the name itself.
    pub fn has_name(&self, name: &str) -> bool {
        let mut entries = self.entries.iter().zip(self.patterns());
        entries.any(|(entry, pattern)| pattern.as_ref().map_or_else(|| entry.url == name, |pattern| pattern.is_match(name)))
    }

    /// The first entry that is a name, or whose pattern matches it, of those that `counts` holds for.
    pub fn place_of(&self, name: &str, counts: impl Fn(usize) -> bool) -> Option<usize> {
        let is_meant = |entry: &UrlRight, pattern: &Option<Arc<PooledPattern>>| {
            entry.url == name || pattern.as_ref().is_some_and(|pattern| pattern.is_match(name))
        };
        let entries = self.entries.iter().zip(self.patterns()).enumerate();
        entries.filter(|(place, _)| counts(*place)).find(|(_, (entry, pattern))| is_meant(entry, pattern)).map(|(place, _)| place)
    }

    /// The URLs as the right lists them.
    pub fn allowed_urls(&self) -> Vec<AllowedUrl> {
        let url =
            |entry: &UrlRight| AllowedUrl { url: entry.url.clone(), methods: entry.methods.to_vec(), ..AllowedUrl::default() };
        self.entries.iter().map(url).collect()
    }

    /// Whether the list is compiled.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.patterns.get().is_some()
    }

    fn patterns(&self) -> &[Option<Arc<PooledPattern>>] {
        self.patterns.get_or_init(|| {
            let compile = |entry: &UrlRight| self.pool.get(entry.expression.as_ref().ok()?).ok();
            self.entries.iter().map(compile).collect()
        })
    }

    /// Compiles the list now if that is quick: all of its patterns are in the pool or are templates.
    fn get_ready(&self) {
        let quick = |entry: &UrlRight| match &entry.expression {
            Err(_) => Some(None),
            Ok(expression) => self.pool.get_quickly(expression).map(Some),
        };
        if let Some(patterns) = self.entries.iter().map(quick).collect() {
            let _ = self.patterns.set(patterns);
        }
    }
}

impl RightPatterns {
    pub fn new(rules: PatternRules, pool: Arc<PatternPool>) -> Self {
        RightPatterns { rules, pool, lists: Mutex::default(), of_policies: Mutex::default(), thread: StartedOnce::default() }
    }

    /// The shared list of these URLs.
    pub fn urls(&self, urls: &[AllowedUrl]) -> Arc<PatternList> {
        // With prefix matching, an empty pattern matches nothing, as in Tyk.
        let says_nothing = |url: &str| self.rules.prefix && url.chars().all(|c| matches!(c, '^' | '$'));
        let expression = |url: &str| match says_nothing(url) {
            true => Err("it says nothing".to_owned()),
            false => self.rules.expression(url, false),
        };
        self.list(
            urls.iter()
                .map(|url| UrlRight { url: url.url.clone(), expression: expression(&url.url), methods: url.methods.clone().into() })
                .collect(),
        )
    }

    /// The shared list of these endpoints' patterns; the endpoints have limits for each method.
    pub fn endpoints(&self, endpoints: &[EndpointLimit]) -> Arc<PatternList> {
        let expression = |endpoint: &EndpointLimit| self.rules.expression(&endpoint.path, false);
        let entry = |endpoint| UrlRight { url: String::new(), expression: expression(endpoint), methods: [].into() };
        self.list(endpoints.iter().map(entry).collect())
    }

    /// The shared list of these names, each a regular expression for a whole name; see [`PatternList::has_name`].
    pub fn names(&self, names: &[String]) -> Arc<PatternList> {
        self.named(names.iter().map(String::as_str), name_expression)
    }

    /// The shared list of names with limits, each a name or a pattern as endpoints have them; see [`PatternList::place_of`].
    pub fn limited_names<'n>(&self, names: impl Iterator<Item = &'n str>) -> Arc<PatternList> {
        self.named(names, name_pattern)
    }

    fn named<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
        expression: impl Fn(&str) -> Result<String, String>,
    ) -> Arc<PatternList> {
        self.list(names.map(|name| UrlRight { url: name.to_owned(), expression: expression(name), methods: [].into() }).collect())
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

    /// Compiles lists on the compile thread.
    pub fn prepare(&self, lists: Vec<Arc<PatternList>>) -> Pending<()> {
        let (completer, done) = Pending::pair();
        if let Some(thread) = self.thread.get() {
            // If the queue is full, the completer is dropped: the request continues and compiles the lists itself.
            thread.0.put((), move || {
                lists.iter().for_each(|list| {
                    list.patterns();
                });
                completer.complete(());
            });
        }
        done
    }

    /// Compiles the patterns of policies, and keeps them while the policies are in effect. Reports patterns that have no effect.
    pub fn keep(&self, policies: &Policies) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut kept = Vec::new();
        for policy in policies.iter() {
            for (api, right) in &policy.access_rights {
                for written in self.written_lists(right) {
                    let list = &written.list;
                    let unusable =
                        list.entries.iter().zip(list.patterns()).enumerate().filter(|(_, (_, pattern))| pattern.is_none());
                    for (index, (entry, _)) in unusable {
                        let why = match &entry.expression {
                            Err(why) => why.clone(),
                            Ok(expression) => self.pool.get(expression).err().unwrap_or_default(),
                        };
                        let place = (written.place)(index);
                        let path = format!("$[{:?}].access_rights[{api:?}].{place}", policy.id());
                        let problem = Problem::new(Level::Warning, path, format!("{}: {why}", written.so));
                        problems.push(problem.within(policies.file_of(policy.id())));
                    }
                    kept.push(written.list);
                }
            }
        }
        *self.of_policies.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        problems
    }

    /// All lists of an access right that say something.
    fn written_lists<'r>(&self, right: &'r AccessRight) -> Vec<WrittenList<'r>> {
        let mut lists: Vec<WrittenList<'r>> = Vec::new();
        let mut add = |list, so, place: Box<dyn Fn(usize) -> String + 'r>| lists.push(WrittenList { list, place, so });
        let (allows, limits, text) = ("allows nothing", "limits nothing", "is compared as text");
        add(self.urls(&right.allowed_urls), allows, Box::new(|index| format!("allowed_urls[{index}].url")));
        add(self.endpoints(&right.endpoints), limits, Box::new(|index| format!("endpoints[{index}].path")));
        if !right.has_mcp_fields() {
            return lists;
        }
        let methods = right.json_rpc_methods.iter().map(|limit| limit.name.as_str());
        add(self.limited_names(methods), text, Box::new(|index| format!("json_rpc_methods[{index}].name")));
        let kinds =
            PrimitiveKind::ALL.map(|kind| (format!("mcp_access_rights.{}", kind.plural()), right.mcp_access_rights.of(kind)));
        let of_methods = ("json_rpc_methods_access_rights".to_owned(), &right.json_rpc_methods_access_rights);
        for (field, rules) in [of_methods].into_iter().chain(kinds) {
            for (list, name) in [(&rules.allowed, "allowed"), (&rules.blocked, "blocked")] {
                let field = field.clone();
                add(self.names(list), text, Box::new(move |index| format!("{field}.{name}[{index}]")));
            }
        }
        for kind in PrimitiveKind::ALL {
            let names = right.primitive_limits(kind).map(|(_, limit)| limit.name.as_str());
            let place = move |index| right.primitive_limits(kind).nth(index).map_or(0, |(place, _)| place);
            add(self.limited_names(names), text, Box::new(move |index| format!("mcp_primitives[{}].name", place(index))));
        }
        lists
    }

    fn lists(&self) -> std::sync::MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The identity of a list: a digest of its texts, each with its length.
fn digest(entries: &[UrlRight]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    for entry in entries {
        add(&entry.url);
        add(if entry.expression.is_ok() { "1" } else { "0" });
        add(entry.expression.as_deref().unwrap_or_default());
        add(&entry.methods.len().to_string());
        entry.methods.iter().for_each(|method| add(method));
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests;
