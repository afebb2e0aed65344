//! Host names of APIs: literal names are looked up, patterns with `{name}` are tried one by one.

use crate::base::re2;
use regex::Regex;
use std::collections::HashMap;

/// Host patterns, each with a value.
#[derive(Default)]
pub(super) struct Hosts<T> {
    literal: HashMap<String, T>,
    patterns: Vec<(String, Regex, T)>,
}

impl<T: Default> Hosts<T> {
    /// The value of a pattern, made on first use. `Err` says why the pattern is unusable.
    pub(super) fn entry(&mut self, pattern: &str) -> Result<&mut T, regex::Error> {
        if !pattern.contains('{') {
            return Ok(self.literal.entry(pattern.to_owned()).or_default());
        }
        let index = match self.patterns.iter().position(|(text, _, _)| text == pattern) {
            Some(index) => index,
            None => {
                self.patterns.push((pattern.to_owned(), host_regex(pattern)?, T::default()));
                self.patterns.len() - 1
            }
        };
        // The index was found or pushed above.
        self.patterns.get_mut(index).map(|(_, _, value)| value).ok_or_else(|| regex::Error::Syntax(pattern.to_owned()))
    }

    /// The values of all patterns that `host` (with or without a port) matches.
    pub(super) fn find<'s>(&'s self, host: &'s str) -> impl Iterator<Item = &'s T> {
        let name = without_port(host);
        let literal = [host, name].into_iter().take(if host == name { 1 } else { 2 }).filter_map(|host| self.literal.get(host));
        let fits = move |pattern: &&'s (String, Regex, T)| pattern.1.is_match(if pattern.0.contains(':') { host } else { name });
        literal.chain(self.patterns.iter().filter(fits).map(|(_, _, value)| value))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.literal.is_empty() && self.patterns.is_empty()
    }
}

/// `host` without its port; an IPv6 address keeps its brackets.
pub(super) fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty() => name,
        _ => host,
    }
}

fn host_regex(pattern: &str) -> Result<Regex, regex::Error> {
    re2::compile(&super::template::template_regex(pattern, "[^.]+", true))
}
