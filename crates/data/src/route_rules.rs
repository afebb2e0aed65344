//! An API that requests reach by rules (`tollgate.route`), as far as the routers need it. What its rules do is in its versions, one for each.

use crate::exchange::Exchange;
use crate::header_change::HeaderChange;
use crate::route::{FoundRule, RoutedRequest, RuleConditions, RulePath};
use regex::Regex;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::{Arc, LazyLock};
use tollgate_http::path::{Path, encode, raw_offset};
use tollgate_model::api::{HeaderModifier, PathRewrite, RouteRewrite};

/// How requests reach an API.
pub struct CompiledRoute {
    /// Decides between matches that are otherwise equal.
    pub precedence: String,
    pub attached: Vec<RouteAttached>,
    /// In order of precedence.
    pub matches: Vec<CompiledMatch>,
}

/// A listener that requests come from.
pub struct RouteAttached {
    /// Its name; empty for the gateway's own port.
    pub listener: String,
    /// Hosts there, in normal form, `*.` before some; empty for all.
    pub hosts: Vec<String>,
}

/// What a request of a rule is like.
pub struct CompiledMatch {
    /// Index of the rule.
    pub rule: usize,
    /// Hosts of the rule, in normal form; empty for those of the attachment.
    pub hosts: Arc<[String]>,
    pub path: RulePath,
    pub conditions: Arc<RuleConditions>,
}

/// The place of a match among others for the same host; the first one that a request fits counts.
pub type MatchOrder = (PathClass, Reverse<usize>, Reverse<bool>, Reverse<usize>, Reverse<usize>);

/// Kinds of paths in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathClass {
    Exact,
    Prefix,
    Pattern,
    /// Every path.
    Any,
}

impl CompiledMatch {
    /// Its place among others.
    pub fn order(&self) -> MatchOrder {
        let (class, bytes) = match &self.path {
            RulePath::Exact(path) => (PathClass::Exact, path.len()),
            RulePath::Prefix(prefix) if prefix.is_empty() => (PathClass::Any, 0),
            RulePath::Prefix(prefix) => (PathClass::Prefix, prefix.len()),
            RulePath::Start(start) => (PathClass::Prefix, start.len()),
            RulePath::Pattern(pattern) => (PathClass::Pattern, pattern.as_str().len()),
        };
        let RuleConditions { method, headers, query } = &*self.conditions;
        (class, Reverse(bytes), Reverse(method.is_some()), Reverse(headers.len()), Reverse(query.len()))
    }
}

impl CompiledRoute {
    /// The rule that a request belongs to, wherever it comes from.
    pub fn find(&self, path: &str, request: &RoutedRequest<'_>) -> Option<FoundRule> {
        let found = self.matches.iter().find_map(|matched| {
            let prefix_bytes = matched.path.matches(path, request)?;
            matched.conditions.hold(request).then_some(FoundRule { rule: matched.rule, prefix_bytes })
        });
        found.filter(|_| !request.is_too_costly())
    }
}

/// The changes that a rule or backend wants.
pub fn header_changes(written: &HeaderModifier) -> Vec<HeaderChange> {
    let set = written.set.iter().map(|header| HeaderChange::Set(header.name.as_str().into(), header.value.clone().into_bytes()));
    let add = written.add.iter().map(|header| HeaderChange::Add(header.name.as_str().into(), header.value.clone().into_bytes()));
    let remove = written.remove.iter().map(|name| HeaderChange::Remove(name.as_str().into()));
    set.chain(add).chain(remove).collect()
}

/// Other host and path for the request to a backend.
#[derive(Debug, Default)]
pub struct RuleRewrite {
    pub host: Option<Box<str>>,
    pub path: Option<RulePathRewrite>,
}

/// A group that a new path takes over: `$1`, whatever follows it.
#[allow(clippy::unwrap_used, reason = "a constant")]
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\$([0-9])").unwrap());

/// Another path.
#[derive(Debug)]
pub enum RulePathRewrite {
    /// In place of the whole path.
    Full(String),
    /// In place of the prefix that matched; without a slash at its end.
    Prefix(String),
    /// In place of the whole path, if the expression fits a part of it.
    Replace(Regex, String),
}

impl RulePathRewrite {
    /// `Err` says why the expression is none.
    pub fn new(written: &PathRewrite) -> Result<Self, String> {
        if let Some(replace) = &written.replace {
            let template = REFERENCE.replace_all(&replace.path, "$${${1}}").into_owned();
            return Ok(RulePathRewrite::Replace(tollgate_re2::compile(&replace.regex)?, template));
        }
        // What no URL may have in it is escaped.
        let escaped = |path: &str| if path.is_ascii() { path.to_owned() } else { encode(path) };
        Ok(match (&written.full, &written.prefix) {
            (Some(full), _) => RulePathRewrite::Full(if full.is_empty() { "/".to_owned() } else { escaped(full) }),
            (None, prefix) => RulePathRewrite::Prefix(escaped(prefix.as_deref().unwrap_or_default().trim_end_matches('/'))),
        })
    }

    /// The path that a request gets, and the length of the prefix that the rewrite has put there.
    pub fn path(&self, path: &Path<'_>, prefix_bytes: usize) -> (String, usize) {
        match self {
            RulePathRewrite::Full(full) => (full.clone(), full.len()),
            RulePathRewrite::Prefix(prefix) => {
                let rest = path.raw.get(raw_offset(&path.raw, prefix_bytes)..).unwrap_or_default();
                let joined = format!("{prefix}{rest}");
                (if joined.is_empty() { "/".to_owned() } else { joined }, prefix.len())
            }
            RulePathRewrite::Replace(expression, template) => match expression.captures(&path.decoded) {
                None => (path.raw.clone().into_owned(), prefix_bytes),
                Some(groups) => {
                    let mut replaced = String::new();
                    groups.expand(template, &mut replaced);
                    // What a group takes over is decoded.
                    let replaced = encode(&replaced);
                    let bytes = replaced.len();
                    (if replaced.starts_with('/') { replaced } else { format!("/{replaced}") }, bytes)
                }
            },
        }
    }
}

impl RuleRewrite {
    /// `Err` says why an expression of it is none.
    pub fn new(written: &RouteRewrite) -> Result<Self, String> {
        let host = Some(written.host.as_str()).filter(|host| !host.is_empty()).map(Box::from);
        Ok(RuleRewrite { host, path: written.path.as_ref().map(RulePathRewrite::new).transpose()? })
    }

    /// Changes a request on its way to a backend.
    pub fn apply(&self, exchange: &mut Exchange<'_>) {
        if let Some(host) = &self.host {
            exchange.outgoing.host.clear();
            exchange.outgoing.host.extend_from_slice(host.as_bytes());
        }
        let Some(rewrite) = &self.path else { return };
        let (path, prefix_bytes) = rewrite.path(&exchange.url.path, exchange.decisions.prefix_bytes);
        if let Some(path) = Path::new(Cow::Owned(path)) {
            exchange.url.path = path;
            exchange.url.listen_bytes = 0;
            exchange.decisions.prefix_bytes = prefix_bytes;
        }
    }
}
