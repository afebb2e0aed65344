//! Endpoints of one version: how their patterns are read, which of them a path fits, and what the lists of `extended_paths` have for these.

// The fuzz target includes this file by its path, so its modules have theirs.
#[path = "endpoints/matcher.rs"]
mod matcher;

pub use matcher::EndpointMatcher;

use crate::base::pattern::{PatternPool, PooledPattern};
use crate::base::re2;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_model::config::GatewayConfig;

/// How patterns are read; the gateway's and the version's settings.
#[derive(Clone, Copy, Debug)]
pub struct PatternRules {
    pub prefix: bool,
    pub suffix: bool,
    pub ignore_case: bool,
}

/// Collects patterns; equal ones are matched once.
#[derive(Debug)]
pub struct PatternBuilder {
    rules: PatternRules,
    pool: Arc<PatternPool>,
    patterns: Vec<Arc<PooledPattern>>,
    known: HashMap<String, u32>,
}

/// Which patterns a path fits.
#[derive(Debug, Default)]
pub struct Hits {
    /// In ascending order.
    patterns: Vec<u32>,
    /// Patterns that may fit.
    candidates: Vec<u32>,
    /// Texts that were found.
    texts: Vec<u32>,
}

/// One list of `extended_paths`: values by pattern and method.
#[derive(Debug)]
pub struct EndpointList<T> {
    entries: Vec<Entry<T>>,
    /// Patterns with the places of their entries, in ascending order.
    by_pattern: Vec<(u32, u32)>,
}

#[derive(Debug)]
struct Entry<T> {
    method: String,
    value: T,
}

impl Hits {
    /// The numbers of the patterns, in ascending order.
    pub fn patterns(&self) -> &[u32] {
        &self.patterns
    }
}

impl PatternBuilder {
    /// No patterns yet.
    pub fn new(rules: PatternRules, pool: Arc<PatternPool>) -> Self {
        PatternBuilder { rules, pool, patterns: Vec::new(), known: HashMap::new() }
    }

    /// Adds a pattern and gives its number. An error tells why it can't be used.
    pub fn add(&mut self, pattern: &str, ignore_case: bool) -> Result<u32, String> {
        let expression = self.rules.expression(pattern, ignore_case);
        if let Some(known) = self.known.get(&expression) {
            return Ok(*known);
        }
        let number = u32::try_from(self.patterns.len()).map_err(|_| "one pattern too many".to_owned())?;
        self.patterns.push(self.pool.get(&expression)?);
        self.known.insert(expression, number);
        Ok(number)
    }

    /// The matcher of all patterns.
    pub fn build(self) -> Result<EndpointMatcher, String> {
        EndpointMatcher::new(self.patterns, &self.pool)
    }
}

impl PatternRules {
    /// The rules of a configuration.
    pub fn new(config: &GatewayConfig) -> Self {
        let options = &config.http_server_options;
        PatternRules {
            prefix: options.enable_path_prefix_matching,
            suffix: options.enable_path_suffix_matching,
            ignore_case: config.ignore_endpoint_case,
        }
    }

    /// The rules for access rights of keys, which know no letter case but the written one.
    pub fn of_keys(config: &GatewayConfig) -> Self {
        PatternRules { ignore_case: false, ..PatternRules::new(config) }
    }

    /// A pattern in the engine's syntax: `{name}` is a segment, `/*/` one segment and `/*` everything after; the rest is a regular
    /// expression.
    pub fn expression(&self, pattern: &str, ignore_case: bool) -> String {
        let mut regex = String::new();
        if self.ignore_case || ignore_case {
            regex.push_str("(?i)");
        }
        if self.prefix && pattern.starts_with('/') {
            regex.push('^');
        }
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once('{') {
            // A quantifier such as `{2,3}` is not a name.
            let Some((name, tail)) = after.split_once('}').filter(|(name, _)| is_name(name)) else {
                regex.push_str(before);
                regex.push('{');
                rest = after;
                continue;
            };
            let _ = name;
            regex.push_str(before);
            regex.push_str("([^/]+)");
            rest = tail;
        }
        regex.push_str(rest);
        let mut regex = regex.replace("/*/", "/[^/]+/").replace("/*", "/.*");
        if self.suffix && !regex.ends_with('$') {
            regex.push('$');
        }
        re2::ascii(&regex).into_owned()
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
}

impl<T> Default for EndpointList<T> {
    fn default() -> Self {
        EndpointList { entries: Vec::new(), by_pattern: Vec::new() }
    }
}

impl<T> EndpointList<T> {
    /// Appends an entry; earlier ones win.
    pub fn push(&mut self, pattern: u32, method: &str, value: T) {
        let place = (pattern, u32::try_from(self.entries.len()).unwrap_or(u32::MAX));
        self.by_pattern.insert(self.by_pattern.partition_point(|other| *other < place), place);
        self.entries.push(Entry { method: method.to_owned(), value });
    }

    /// All entries' values, in order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|entry| &entry.value)
    }

    /// No entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The first entry for a path with exactly this method.
    #[inline]
    pub fn find(&self, hits: &Hits, method: &str) -> Option<&T> {
        self.first(hits, |entry| entry.method == method)
    }

    /// The first entry for a path with this method or for any method.
    #[inline]
    pub fn find_access(&self, hits: &Hits, method: &str) -> Option<&T> {
        self.first(hits, |entry| entry.method.is_empty() || entry.method == method)
    }

    fn first(&self, hits: &Hits, fits: impl Fn(&Entry<T>) -> bool) -> Option<&T> {
        if self.entries.is_empty() {
            return None;
        }
        let of_pattern = |pattern: &u32| {
            let from = self.by_pattern.partition_point(|(other, _)| other < pattern);
            let places = self.by_pattern.get(from..).unwrap_or_default();
            let mut places = places.iter().take_while(|(other, _)| other == pattern).map(|(_, place)| *place);
            places.find(|place| self.entries.get(*place as usize).is_some_and(&fits))
        };
        let first = hits.patterns().iter().filter_map(of_pattern).min()?;
        self.entries.get(first as usize).map(|entry| &entry.value)
    }
}

#[cfg(test)]
#[path = "endpoints/tests.rs"]
mod tests;
