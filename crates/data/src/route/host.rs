//! Host names of APIs: literal names are looked up, patterns with `{name}` are tried one by one. Letter case and a final dot are no part of a
//! name (RFC 9110 §4.2.3, RFC 1034 §3.1): a spelling that missed the API would reach another one, with other authentication.

use super::template::{RouteTemplateKind, compile_template};
use regex::Regex;
use std::borrow::Cow;
use std::collections::HashMap;

/// The longest host name (RFC 1035 §2.3.4).
const HOST_BYTES_MAX: usize = 253;

/// Host patterns, each with a value.
#[derive(Default)]
pub(crate) struct Hosts<T> {
    literal: HashMap<String, T>,
    /// By what follows `*.`.
    wildcards: HashMap<String, T>,
    /// By what follows `?.`, which stands for one label.
    one_label: HashMap<String, T>,
    patterns: Vec<HostPattern<T>>,
}

struct HostPattern<T> {
    text: String,
    regex: Regex,
    /// Whether it is about the host with its port.
    has_port: bool,
    value: T,
}

impl<T: Default> Hosts<T> {
    /// The value of a host or, with `*.` before it, of all below it, with `?.` of those with one label more; made on first use.
    pub(crate) fn wildcard_entry(&mut self, host: &str) -> &mut T {
        let host = normal_host(host);
        match (host.strip_prefix("*."), host.strip_prefix("?.")) {
            (Some(below), _) => self.wildcards.entry(below.to_owned()).or_default(),
            (None, Some(parent)) => self.one_label.entry(parent.to_owned()).or_default(),
            (None, None) => self.literal.entry(host.into_owned()).or_default(),
        }
    }

    /// The value of a pattern, made on first use. `Err` says why the pattern is unusable.
    pub(super) fn entry(&mut self, pattern: &str) -> Result<&mut T, String> {
        let pattern = &*normal_domain(pattern);
        if !pattern.contains(['{', '}']) {
            return Ok(self.literal.entry(pattern.to_owned()).or_default());
        }
        let index = match self.patterns.iter().position(|known| known.text == pattern) {
            Some(index) => index,
            None => {
                let (regex, has_port) =
                    (host_regex(pattern)?, outside_braces(pattern).any(|(c, is_outside)| is_outside && c == ':'));
                self.patterns.push(HostPattern { text: pattern.to_owned(), regex, has_port, value: T::default() });
                self.patterns.len() - 1
            }
        };
        // The index was found or pushed above.
        self.patterns.get_mut(index).map(|known| &mut known.value).ok_or_else(|| pattern.to_owned())
    }

    /// The values of all patterns that `host` (with or without a port, in normal form) matches: its own first, then that of its parent with one
    /// label, then those of the hosts that it is below, the longest first.
    pub(crate) fn find<'s>(&'s self, host: &'s str) -> impl Iterator<Item = &'s T> {
        let name = without_port(host);
        let literal = [host, name].into_iter().take(if host == name { 1 } else { 2 }).filter_map(|host| self.literal.get(host));
        let fits = move |pattern: &&'s HostPattern<T>| pattern.regex.is_match(if pattern.has_port { host } else { name });
        // Nothing longer is a host, and each of its dots costs a look-up.
        let has_wildcards = !self.wildcards.is_empty() && name.len() <= HOST_BYTES_MAX;
        let dots = if has_wildcards { name } else { "" }.match_indices('.');
        let wildcards = dots.filter_map(move |(dot, _)| self.wildcards.get(name.get(dot + 1..)?));
        let one_label = if self.one_label.is_empty() { None } else { name.split_once('.') };
        let one_label = one_label.filter(|(label, _)| !label.is_empty()).and_then(|(_, parent)| self.one_label.get(parent));
        literal.chain(one_label).chain(wildcards).chain(self.patterns.iter().filter(fits).map(|pattern| &pattern.value))
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let named = self.literal.values_mut().chain(self.wildcards.values_mut()).chain(self.one_label.values_mut());
        named.chain(self.patterns.iter_mut().map(|pattern| &mut pattern.value))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.literal.is_empty() && self.wildcards.is_empty() && self.one_label.is_empty() && self.patterns.is_empty()
    }
}

/// `host` without its port; an IPv6 address keeps its brackets.
pub(super) fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty() => name,
        _ => host,
    }
}

/// A request's host, with or without a port, in normal form: lower case, without the final dot of an absolute name.
#[inline]
pub(crate) fn normal_host(host: &str) -> Cow<'_, str> {
    let is_normal = !host.bytes().any(|byte| byte.is_ascii_uppercase()) && !without_port(host).ends_with('.');
    if is_normal { Cow::Borrowed(host) } else { Cow::Owned(normal(host)) }
}

#[cold]
fn normal(host: &str) -> String {
    let name = without_port(host);
    let port = host.get(name.len()..).unwrap_or_default();
    format!("{}{port}", name.strip_suffix('.').unwrap_or(name)).to_ascii_lowercase()
}

/// The host of a definition in normal form. The regular expressions of a pattern stay as they are: `\S` is not `\s`.
pub fn normal_domain(domain: &str) -> Cow<'_, str> {
    if !domain.contains('{') {
        return normal_host(domain);
    }
    let lower: String = outside_braces(domain).map(|(c, is_outside)| if is_outside { c.to_ascii_lowercase() } else { c }).collect();
    Cow::Owned(lower.strip_suffix('.').map_or_else(|| lower.clone(), str::to_owned))
}

/// The characters of a pattern, and whether each is outside its expressions in braces.
fn outside_braces(pattern: &str) -> impl Iterator<Item = (char, bool)> {
    let mut open = 0usize;
    pattern.chars().map(move |c| {
        match c {
            '{' => open += 1,
            '}' => open = open.saturating_sub(1),
            _ => {}
        }
        (c, open == 0)
    })
}

/// Whether a host is usable; `Err` says why not.
pub fn check_host(host: &str) -> Result<(), String> {
    if host.contains(['{', '}']) { host_regex(host).map(|_| ()) } else { Ok(()) }
}

fn host_regex(pattern: &str) -> Result<Regex, String> {
    compile_template(pattern, RouteTemplateKind::Host)
}
