//! Endpoints of one version: compiles their patterns, finds the patterns that match a path, and looks up their entries in the lists of
//! `extended_paths`.

// The fuzz target includes this file by its path, so its modules need explicit paths.
#[path = "endpoints/matcher.rs"]
mod matcher;

pub use matcher::EndpointMatcher;

use std::collections::HashMap;
use std::sync::Arc;
use tollgate_pattern::{PatternPool, PatternRules, PooledPattern};

/// Collects patterns; equal patterns are matched once.
#[derive(Debug)]
pub struct PatternBuilder {
    rules: PatternRules,
    pool: Arc<PatternPool>,
    patterns: Vec<Arc<PooledPattern>>,
    known: HashMap<String, u32>,
    /// Whether a list decides about access; it is also matched against the path with the listen path.
    decides_access: bool,
}

/// The patterns that a path matches.
#[derive(Debug, Default)]
pub struct Hits {
    /// Those that match the path after the listen path, in ascending order.
    patterns: Vec<u32>,
    /// Those that match the path with the listen path; empty if no list decides about access.
    of_whole_path: Vec<u32>,
    /// Those that match the method of a call and what it is for; empty for requests that are no calls.
    of_call: [Vec<u32>; 2],
    /// Patterns that may match.
    candidates: Vec<u32>,
    /// Literal texts found in the path.
    texts: Vec<u32>,
}

/// One list of `extended_paths`: values by pattern and method.
#[derive(Debug)]
pub struct EndpointList<T> {
    entries: Vec<MatchedEndpoint<T>>,
    /// Patterns with the indexes of their entries, in ascending order.
    by_pattern: Vec<(u32, u32)>,
}

#[derive(Debug)]
struct MatchedEndpoint<T> {
    method: String,
    value: T,
}

impl Hits {
    /// The numbers of the patterns that match the path after the listen path, in ascending order.
    pub fn patterns(&self) -> &[u32] {
        &self.patterns
    }

    /// Forgets the call of another request.
    pub fn forget_call(&mut self) {
        self.of_call.iter_mut().for_each(Vec::clear);
    }

    /// The numbers of those that match the path with the listen path, in ascending order.
    pub fn of_whole_path(&self) -> &[u32] {
        &self.of_whole_path
    }
}

impl PatternBuilder {
    pub fn new(rules: PatternRules, pool: Arc<PatternPool>) -> Self {
        PatternBuilder { rules, pool, patterns: Vec::new(), known: HashMap::new(), decides_access: false }
    }

    /// Adds a pattern and returns its number. `Err` says why it is unusable.
    pub fn add(&mut self, pattern: &str, ignore_case: bool) -> Result<u32, String> {
        let expression = self.rules.expression(pattern, ignore_case)?;
        if let Some(known) = self.known.get(&expression) {
            return Ok(*known);
        }
        let number = u32::try_from(self.patterns.len()).map_err(|_| "one pattern too many".to_owned())?;
        self.patterns.push(self.pool.get(&expression)?);
        self.known.insert(expression, number);
        Ok(number)
    }

    /// Some of the patterns decide about access: all forms of a path are matched.
    pub fn decide_access(&mut self) {
        self.decides_access = true;
    }

    /// Builds the matcher of all patterns.
    pub fn build(self) -> Result<EndpointMatcher, String> {
        EndpointMatcher::new(self.patterns, self.decides_access, &self.pool)
    }
}

impl<T> Default for EndpointList<T> {
    fn default() -> Self {
        EndpointList { entries: Vec::new(), by_pattern: Vec::new() }
    }
}

impl<T> EndpointList<T> {
    /// Appends an entry; earlier entries win.
    pub fn push(&mut self, pattern: u32, method: &str, value: T) {
        let place = (pattern, u32::try_from(self.entries.len()).unwrap_or(u32::MAX));
        self.by_pattern.insert(self.by_pattern.partition_point(|other| *other < place), place);
        self.entries.push(MatchedEndpoint { method: method.to_owned(), value });
    }

    /// All entries' values, in order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|entry| &entry.value)
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The first entry for a path with exactly this method. Of a call, the entry for what it is for, else for its method, comes before that
    /// for its path.
    #[inline]
    pub fn find(&self, hits: &Hits, method: &str) -> Option<&T> {
        self.narrowest(hits, |entry| entry.method == method)
    }

    /// The first entry for a path with this method or for any method.
    #[inline]
    pub fn find_for_any(&self, hits: &Hits, method: &str) -> Option<&T> {
        self.narrowest(hits, |entry| entry.method.is_empty() || entry.method == method)
    }

    /// The entries for a path, for the method of a call, and for what it is for, each with exactly this method.
    pub fn find_each(&self, hits: &Hits, method: &str) -> [Option<&T>; 3] {
        let [of_method, of_primitive] = &hits.of_call;
        [&hits.patterns, of_method, of_primitive].map(|patterns| self.first(patterns, |entry| entry.method == method))
    }

    #[inline]
    fn narrowest(&self, hits: &Hits, fits: impl Fn(&MatchedEndpoint<T>) -> bool) -> Option<&T> {
        if self.entries.is_empty() {
            return None;
        }
        let of_call = || hits.of_call.iter().rev().find_map(|patterns| self.first(patterns, &fits));
        of_call().or_else(|| self.first(&hits.patterns, &fits))
    }

    /// The same for lists that decide about access, whose patterns may also match the path with the listen path.
    #[inline]
    pub fn find_access(&self, hits: &Hits, method: &str) -> Option<&T> {
        let patterns = hits.patterns().iter().chain(hits.of_whole_path());
        self.first(patterns, |entry| entry.method.is_empty() || entry.method == method)
    }

    fn first<'h>(&self, patterns: impl IntoIterator<Item = &'h u32>, fits: impl Fn(&MatchedEndpoint<T>) -> bool) -> Option<&T> {
        if self.entries.is_empty() {
            return None;
        }
        let of_pattern = |pattern: &u32| {
            let from = self.by_pattern.partition_point(|(other, _)| other < pattern);
            let places = self.by_pattern.get(from..).unwrap_or_default();
            let mut places = places.iter().take_while(|(other, _)| other == pattern).map(|(_, place)| *place);
            places.find(|place| self.entries.get(*place as usize).is_some_and(&fits))
        };
        let first = patterns.into_iter().filter_map(of_pattern).min()?;
        self.entries.get(first as usize).map(|entry| &entry.value)
    }
}

#[cfg(test)]
#[path = "endpoints/tests.rs"]
mod tests;
