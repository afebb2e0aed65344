//! What access rights say of URLs, compiled. Keys that may call the same URLs have one list of them: a hundred thousand keys of a policy take
//! no more than the policy. Policies are compiled when they are read, so that no request waits for it.

use super::policies::Policies;
use crate::endpoints::PatternRules;
use crate::pattern::{PatternPool, PooledPattern};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tollgate_model::session::AllowedUrl;
use tollgate_model::{Level, Problem};

/// How many lists there are at least before those that nobody uses are looked for.
const SWEPT_MIN: usize = 1_024;

/// The lists of URLs of all keys, and the patterns in them.
pub struct RightPatterns {
    rules: PatternRules,
    pool: Arc<PatternPool>,
    lists: Mutex<Lists>,
    /// What the policies in effect use, so that it is there when a key comes.
    of_policies: Mutex<PolicyPatterns>,
}

#[derive(Default)]
struct Lists {
    by_content: HashMap<[u8; 32], Weak<UrlList>>,
    /// How many there may be before unused ones are looked for.
    sweep_at: usize,
}

#[derive(Default)]
struct PolicyPatterns {
    lists: Vec<Arc<UrlList>>,
    patterns: Vec<Arc<PooledPattern>>,
}

/// URLs that may be called.
#[derive(Debug)]
pub struct UrlList(Box<[Url]>);

#[derive(Debug)]
struct Url {
    /// `None` for a pattern that is none: it allows nothing.
    pattern: Option<Arc<PooledPattern>>,
    methods: Box<[String]>,
}

impl UrlList {
    /// Whether an entry has the method and fits one of the path's forms.
    pub fn allows(&self, method: &str, paths: &[&str]) -> bool {
        let fits = |url: &Url| {
            let pattern = url.pattern.as_ref();
            url.methods.iter().any(|allowed| allowed == method)
                && pattern.is_some_and(|pattern| paths.iter().any(|path| pattern.is_match(path)))
        };
        self.0.iter().any(fits)
    }
}

impl RightPatterns {
    pub fn new(rules: PatternRules, pool: Arc<PatternPool>) -> Self {
        RightPatterns { rules, pool, lists: Mutex::default(), of_policies: Mutex::default() }
    }

    /// The list of these URLs.
    pub fn list(&self, urls: &[AllowedUrl]) -> Arc<UrlList> {
        let content = digest(urls);
        if let Some(known) = self.lists().by_content.get(&content).and_then(Weak::upgrade) {
            return known;
        }
        let url = |url: &AllowedUrl| Url { pattern: self.url(&url.url).ok(), methods: url.methods.clone().into() };
        let made = Arc::new(UrlList(urls.iter().map(url).collect()));
        let mut lists = self.lists();
        if lists.by_content.len() >= lists.sweep_at.max(SWEPT_MIN) {
            lists.by_content.retain(|_, list| list.strong_count() > 0);
            lists.sweep_at = 2 * lists.by_content.len();
        }
        lists.by_content.insert(content, Arc::downgrade(&made));
        made
    }

    /// The pattern of an endpoint with a limit.
    pub fn endpoint(&self, path: &str) -> Result<Arc<PooledPattern>, String> {
        self.pool.get(&self.rules.expression(path, false))
    }

    /// What a right's URL fits. With prefix matching, a pattern that says nothing fits nothing, as in Tyk.
    fn url(&self, url: &str) -> Result<Arc<PooledPattern>, String> {
        if self.rules.prefix && url.chars().all(|c| matches!(c, '^' | '$')) {
            return Err("says nothing, and allows nothing".to_owned());
        }
        self.pool.get(&self.rules.expression(url, false))
    }

    /// Compiles what policies have, and keeps it for as long as they are in effect.
    pub fn keep(&self, policies: &Policies) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut kept = PolicyPatterns::default();
        for policy in policies.iter() {
            let mut note = |path: String, error: String| {
                let path = format!("$[{:?}].access_rights{path}", policy.id());
                problems.push(Problem::new(Level::Warning, path, error).within(policies.file_of(policy.id())));
            };
            for (api, right) in &policy.access_rights {
                for (index, url) in right.allowed_urls.iter().enumerate() {
                    if let Err(error) = self.url(&url.url) {
                        note(format!("[{api:?}].allowed_urls[{index}].url"), format!("allows nothing: {error}"));
                    }
                }
                kept.lists.push(self.list(&right.allowed_urls));
                for (index, endpoint) in right.endpoints.iter().enumerate() {
                    match self.endpoint(&endpoint.path) {
                        Ok(pattern) => kept.patterns.push(pattern),
                        Err(error) => note(format!("[{api:?}].endpoints[{index}].path"), format!("limits nothing: {error}")),
                    }
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

/// What a list is known by: its texts with their lengths between them.
fn digest(urls: &[AllowedUrl]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    for url in urls {
        add(&url.url);
        add(&url.methods.len().to_string());
        url.methods.iter().for_each(|method| add(method));
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests;
