//! Endpoint patterns of one version: all lists' patterns in one automaton, so that a request's path is looked at once however many
//! entries there are.

use crate::re2;
use regex_automata::meta::Regex;
use regex_automata::{Input, PatternSet};
use std::collections::HashMap;
use tollgate_model::config::GatewayConfig;

/// Bytes that one version's automaton may take. Tyk's definitions stay far below; a pattern bomb does not.
const AUTOMATON_BYTES_MAX: usize = 64 * 1024 * 1024;

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
    regexes: Vec<String>,
    known: HashMap<String, usize>,
}

/// The automaton of one version.
#[derive(Debug)]
pub struct EndpointMatcher {
    regex: Option<Regex>,
    count: usize,
}

/// Which patterns a path fits.
#[derive(Debug)]
pub struct Hits(PatternSet);

impl Default for Hits {
    fn default() -> Self {
        Hits(PatternSet::new(0))
    }
}

impl Hits {
    #[inline]
    fn contains(&self, pattern: usize) -> bool {
        regex_automata::PatternID::new(pattern).is_ok_and(|id| self.0.contains(id))
    }
}

/// One list of `extended_paths`: values by pattern and method.
#[derive(Debug)]
pub struct EndpointList<T> {
    entries: Vec<Entry<T>>,
}

#[derive(Debug)]
struct Entry<T> {
    pattern: usize,
    method: String,
    value: T,
}

impl PatternBuilder {
    /// No patterns yet.
    pub fn new(rules: PatternRules) -> Self {
        PatternBuilder { rules, regexes: Vec::new(), known: HashMap::new() }
    }

    /// Adds a pattern and gives its number. An error tells why it is no regular expression.
    pub fn add(&mut self, pattern: &str, ignore_case: bool) -> Result<usize, String> {
        let regex = self.rules.regex(pattern, ignore_case);
        if let Some(known) = self.known.get(&regex) {
            return Ok(*known);
        }
        Regex::new(&regex).map_err(|error| match error.syntax_error() {
            Some(syntax) => format!("not a valid pattern: {syntax}"),
            None => format!("not a valid pattern: {error}"),
        })?;
        self.regexes.push(regex.clone());
        self.known.insert(regex, self.regexes.len() - 1);
        Ok(self.regexes.len() - 1)
    }

    /// The automaton over all patterns.
    pub fn build(self) -> Result<EndpointMatcher, String> {
        let count = self.regexes.len();
        if count == 0 {
            return Ok(EndpointMatcher { regex: None, count });
        }
        let config = Regex::config().match_kind(regex_automata::MatchKind::All).nfa_size_limit(Some(AUTOMATON_BYTES_MAX));
        let built = Regex::builder().configure(config).build_many(&self.regexes);
        Ok(EndpointMatcher { regex: Some(built.map_err(|error| error.to_string())?), count })
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

    /// `{name}` is a segment, `/*/` one segment and `/*` everything after; the rest is a regular expression.
    pub fn regex(&self, pattern: &str, ignore_case: bool) -> String {
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

impl EndpointMatcher {
    /// There is no pattern at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Finds all patterns that fit any of the forms of a path.
    pub fn find<'p>(&self, paths: impl Iterator<Item = &'p str>, hits: &mut Hits) {
        if hits.0.capacity() != self.count {
            hits.0 = PatternSet::new(self.count);
        } else {
            hits.0.clear();
        }
        let Some(regex) = &self.regex else { return };
        for path in paths {
            regex.which_overlapping_matches(&Input::new(path), &mut hits.0);
        }
    }
}

impl<T> Default for EndpointList<T> {
    fn default() -> Self {
        EndpointList { entries: Vec::new() }
    }
}

impl<T> EndpointList<T> {
    /// Appends an entry; earlier ones win.
    pub fn push(&mut self, pattern: usize, method: &str, value: T) {
        self.entries.push(Entry { pattern, method: method.to_owned(), value });
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
    pub fn find(&self, hits: &Hits, method: &str) -> Option<&T> {
        self.entries.iter().find(|entry| entry.method == method && hits.contains(entry.pattern)).map(|entry| &entry.value)
    }

    /// The first entry for a path with this method or for any method.
    pub fn find_access(&self, hits: &Hits, method: &str) -> Option<&T> {
        let fits = |entry: &&Entry<T>| (entry.method.is_empty() || entry.method == method) && hits.contains(entry.pattern);
        self.entries.iter().find(fits).map(|entry| &entry.value)
    }
}

#[cfg(test)]
mod tests;
