//! Routing of a request to an API. Every API has two prefixes, its listen path and `/<api_id>/`; the first match in the order of
//! registration wins. A radix tree over the bytes of the path finds all matching prefixes in one walk, so the cost does not grow with the
//! number of APIs. A listen path with `{name}` is in the tree node where its literal part ends. Rules of routes are in the same trees, with
//! what else they ask of a request.

use super::conditions::{RoutedRequest, RuleConditions, RulePath};
use super::host::{Hosts, normal_host};
use super::template::{RouteTemplateKind, compile_template};
use regex::{Regex, RegexSet};
use std::sync::Arc;

/// The router of one snapshot.
#[derive(Default)]
pub struct Router {
    by_host: Hosts<Tree>,
    any_host: Tree,
    /// Host that all requests must have, if there is one.
    only_host: Option<Hosts<()>>,
}

/// Result of routing a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Index of the API in the snapshot.
    pub api: usize,
    /// Length of the listen path within the decoded path, in bytes; 0 on the `/<api_id>/` route.
    pub listen_bytes: usize,
    /// The rule, if the API is a route.
    pub rule: Option<FoundRule>,
}

impl Found {
    /// In place of an API: the developer portal, which the snapshot does not have.
    pub const PORTAL: usize = usize::MAX;
}

/// The rule of a route that a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundRule {
    /// Index of the rule.
    pub rule: usize,
    /// Length of the prefix that matched within the decoded path, without a slash at its end.
    pub prefix_bytes: usize,
}

/// Why a request reaches no API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrouted {
    /// None matches it.
    Nowhere,
    /// Its host belongs to another listener than the one that the client connected to (RFC 9110 §15.5.20).
    Misdirected,
}

#[derive(Default)]
struct Tree {
    root: RouteNode,
    /// Rules whose path is a regular expression, in order of precedence.
    patterns: Vec<Route>,
    /// The same expressions as one, if there are many.
    set: Option<RegexSet>,
}

#[derive(Default)]
struct RouteNode {
    /// The bytes on the edge to this node.
    label: Vec<u8>,
    routes: Vec<Route>,
    children: Vec<RouteNode>,
}

struct Route {
    rank: usize,
    api: usize,
    /// Whether the prefix is a listen path, not an id.
    listens: bool,
    /// Whether the prefix must end at a segment's end (strict routes).
    strict: bool,
    /// Whether it is no prefix, but the whole path.
    whole: bool,
    template: Option<Regex>,
    rule: Option<RuleEntry>,
}

/// What makes a route one of a rule.
struct RuleEntry {
    rule: usize,
    conditions: Arc<RuleConditions>,
}

/// Collects routes in order of precedence.
#[derive(Default)]
pub struct RouterBuilder {
    router: Router,
    rank: usize,
    strict: bool,
}

impl RouterBuilder {
    /// `strict`: a listen path without trailing slash matches whole segments only. `only_host`: all other hosts are rejected.
    pub fn new(strict: bool, only_host: Option<&str>) -> Result<Self, String> {
        let mut router = Router::default();
        if let Some(host) = only_host.filter(|host| !host.is_empty()) {
            let mut hosts = Hosts::default();
            hosts.entry(host)?;
            router.only_host = Some(hosts);
        }
        Ok(RouterBuilder { router, rank: 0, strict })
    }

    /// Adds a whole host, for all paths; earlier ones take precedence.
    pub fn add_host(&mut self, host: &str, api: usize) {
        let route = Route { rank: self.rank, api, listens: true, strict: false, whole: false, template: None, rule: None };
        self.rank += 1;
        self.router.by_host.wildcard_entry(host).root.insert(b"", route);
        if let Some(only) = &mut self.router.only_host {
            only.wildcard_entry(host);
        }
    }

    /// Adds an API's listen path; earlier paths take precedence.
    pub fn add_listen_path(&mut self, host: Option<&str>, listen_path: &str, api: usize) -> Result<(), String> {
        let template = listen_path_template(listen_path)?;
        let literal = listen_path.split('{').next().unwrap_or_default();
        let strict = self.strict && template.is_none() && !listen_path.ends_with('/');
        let route = Route { rank: self.rank, api, listens: true, strict, whole: false, template, rule: None };
        self.insert(host, literal, route)
    }

    /// Adds an API's `/<api_id>/`.
    pub fn add_id(&mut self, host: Option<&str>, api_id: &str, api: usize) -> Result<(), String> {
        let route = Route { rank: self.rank, api, listens: false, strict: false, whole: false, template: None, rule: None };
        self.insert(host, &format!("/{api_id}/"), route)
    }

    /// Adds a path of an API outside of its listen path. Only this path; nothing below it.
    pub fn add_path(&mut self, host: Option<&str>, path: &str, api: usize) -> Result<(), String> {
        let route = Route { rank: self.rank, api, listens: false, strict: false, whole: true, template: None, rule: None };
        self.insert(host, path, route)
    }

    /// Adds a match of a rule. `host` may begin with `*.` or `?.`.
    pub fn add_rule(&mut self, host: Option<&str>, path: &RulePath, conditions: &Arc<RuleConditions>, (api, rule): (usize, usize)) {
        let rank = self.rank;
        self.rank += 1;
        let entry = RuleEntry { rule, conditions: conditions.clone() };
        let mut route = Route { rank, api, listens: true, strict: false, whole: false, template: None, rule: Some(entry) };
        let tree = match host {
            Some(host) => self.router.by_host.wildcard_entry(host),
            None => &mut self.router.any_host,
        };
        match path {
            RulePath::Exact(path) => {
                route.whole = true;
                tree.root.insert(path.as_bytes(), route);
            }
            RulePath::Prefix(prefix) => {
                // A prefix ends where a segment does; the empty one is that of every path.
                route.strict = true;
                tree.root.insert(prefix.as_bytes(), route);
            }
            RulePath::Start(start) => tree.root.insert(start.as_bytes(), route),
            RulePath::Pattern(pattern) => {
                route.template = Some(pattern.clone());
                tree.patterns.push(route);
            }
        }
    }

    fn insert(&mut self, host: Option<&str>, prefix: &str, route: Route) -> Result<(), String> {
        self.rank += 1;
        let tree = match host {
            Some(host) => self.router.by_host.entry(host)?,
            None => &mut self.router.any_host,
        };
        tree.root.insert(prefix.as_bytes(), route);
        Ok(())
    }

    /// The finished router.
    pub fn build(mut self) -> Router {
        self.router.by_host.values_mut().chain([&mut self.router.any_host]).for_each(Tree::join_patterns);
        self.router
    }
}

impl Router {
    /// Whether routing depends on the host.
    #[inline]
    pub fn tells_hosts_apart(&self) -> bool {
        self.only_host.is_some() || !self.by_host.is_empty()
    }

    /// The API for a host and a decoded path, and for what else `request` says to rules. APIs with their own host take precedence.
    #[inline]
    pub fn find(&self, host: &str, path: &str, request: &RoutedRequest<'_>) -> Option<Found> {
        if !self.tells_hosts_apart() {
            return self.any_host.find(path, request).map(|(_, found)| found);
        }
        let host = &*normal_host(host);
        if let Some(only) = &self.only_host
            && only.find(host).next().is_none()
        {
            return None;
        }
        if !self.by_host.is_empty() {
            let candidates = self.by_host.find(host).filter_map(|tree| tree.find(path, request));
            if let Some((_, found)) = candidates.min_by_key(|(rank, _)| *rank) {
                return Some(found);
            }
        }
        self.any_host.find(path, request).map(|(_, found)| found)
    }
}

/// From so many expressions on, one look at the path for all of them is cheaper than one for each.
const JOINED_PATTERNS_MIN: usize = 8;

impl Tree {
    /// Makes one of many expressions; if that would be too large, they stay as they are.
    fn join_patterns(&mut self) {
        if self.patterns.len() >= JOINED_PATTERNS_MIN {
            let expressions = self.patterns.iter().filter_map(|route| route.template.as_ref()).map(Regex::as_str);
            self.set = RegexSet::new(expressions).ok();
        }
    }

    /// The matching route that was registered first, with its rank.
    #[inline]
    fn find(&self, path: &str, request: &RoutedRequest<'_>) -> Option<(usize, Found)> {
        let best = self.find_prefix(path, request);
        // After the tree, which often spares them.
        let is_spared = |route: &Route| best.is_some_and(|(rank, _)| rank < route.rank);
        if self.patterns.first().is_none_or(is_spared) {
            return best;
        }
        let found = |route: &Route| route.found(path, 0, request).map(|found| (route.rank, found));
        let of_patterns = match &self.set {
            Some(set) if request.may_look_at(path.len()) => {
                let fitting = set.matches(path).into_iter().filter_map(|index| self.patterns.get(index));
                fitting.take_while(|route| !is_spared(route)).find_map(found)
            }
            Some(_) => None,
            None => {
                let tried = self.patterns.iter().take_while(|route| !is_spared(route) && request.may_look_at(path.len()));
                tried.into_iter().find_map(found)
            }
        };
        of_patterns.or(best)
    }

    #[inline]
    fn find_prefix(&self, path: &str, request: &RoutedRequest<'_>) -> Option<(usize, Found)> {
        let mut best: Option<(usize, Found)> = None;
        let mut node = &self.root;
        let mut depth = 0;
        loop {
            for route in &node.routes {
                if best.is_none_or(|(rank, _)| route.rank < rank)
                    && let Some(found) = route.found(path, depth, request)
                {
                    best = Some((route.rank, found));
                }
            }
            let rest = path.as_bytes().get(depth..).unwrap_or_default();
            let Some(first) = rest.first() else { return best };
            let Some(child) = node.child(*first) else { return best };
            if !rest.starts_with(&child.label) {
                return best;
            }
            depth += child.label.len();
            node = child;
        }
    }
}

impl Route {
    /// Where a request leads, if this route matches it.
    #[inline]
    fn found(&self, path: &str, depth: usize, request: &RoutedRequest<'_>) -> Option<Found> {
        let bytes = self.matches(path, depth)?;
        match &self.rule {
            None => Some(Found { api: self.api, listen_bytes: bytes, rule: None }),
            Some(entry) => entry.conditions.hold(request).then_some(Found {
                api: self.api,
                listen_bytes: 0,
                rule: Some(FoundRule { rule: entry.rule, prefix_bytes: self.prefix_bytes(path, bytes) }),
            }),
        }
    }

    /// Length of what a rule's prefix matched. The slash at its end belongs to the rest.
    #[inline]
    fn prefix_bytes(&self, path: &str, bytes: usize) -> usize {
        let is_prefix = !self.whole && self.template.is_none();
        let ends_with_slash = is_prefix && bytes > 0 && path.as_bytes().get(bytes - 1) == Some(&b'/');
        if ends_with_slash { bytes - 1 } else { bytes }
    }

    /// Length of the listen path if this route matches `path`, whose first `depth` bytes are the route's literal part.
    #[inline]
    fn matches(&self, path: &str, depth: usize) -> Option<usize> {
        let next = path.as_bytes().get(depth);
        if (self.strict && !matches!(next, None | Some(b'/'))) || (self.whole && next.is_some()) {
            return None;
        }
        match &self.template {
            // A rule's expression is for the whole path.
            Some(template) if self.rule.is_some() => template.is_match(path).then_some(path.len()),
            Some(template) => template.find(path).map(|found| found.end()),
            None => Some(if self.listens { depth } else { 0 }),
        }
    }
}

impl RouteNode {
    #[inline]
    fn child(&self, first: u8) -> Option<&RouteNode> {
        let index = self.children.binary_search_by_key(&Some(&first), |child| child.label.first()).ok()?;
        self.children.get(index)
    }

    fn insert(&mut self, key: &[u8], route: Route) {
        let Some(first) = key.first() else {
            self.routes.push(route);
            return;
        };
        match self.children.binary_search_by_key(&Some(first), |child| child.label.first()) {
            Err(place) => {
                self.children.insert(place, RouteNode { label: key.to_vec(), routes: vec![route], children: Vec::new() });
            }
            Ok(index) => {
                let Some(child) = self.children.get_mut(index) else { return };
                let shared = child.label.iter().zip(key).take_while(|(a, b)| a == b).count();
                if shared < child.label.len() {
                    child.split(shared);
                }
                child.insert(key.get(shared..).unwrap_or_default(), route);
            }
        }
    }

    /// Splits the edge to this node after `bytes`.
    fn split(&mut self, bytes: usize) {
        let tail = self.label.split_off(bytes);
        let lower =
            RouteNode { label: tail, routes: std::mem::take(&mut self.routes), children: std::mem::take(&mut self.children) };
        self.children.push(lower);
    }
}

/// Whether a listen path is usable; `Err` says why not.
pub fn check_listen_path(listen_path: &str) -> Result<(), String> {
    listen_path_template(listen_path).map(|_| ())
}

fn listen_path_template(listen_path: &str) -> Result<Option<Regex>, String> {
    let template = |path: &str| compile_template(path, RouteTemplateKind::ListenPath);
    Some(listen_path).filter(|path| path.contains(['{', '}'])).map(template).transpose()
}

/// The length that orders listen paths. As in Tyk, a segment that is a `{name}` counts as empty; one that has more than that counts in full.
pub fn listen_path_weight(listen_path: &str) -> usize {
    let is_name = |segment: &str| segment.len() > 2 && segment.starts_with('{') && segment.ends_with('}');
    let names = listen_path.split('/').filter(|segment| is_name(segment)).map(str::len);
    listen_path.len() - names.sum::<usize>()
}

#[cfg(test)]
mod tests;
