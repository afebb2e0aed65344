//! `location`: its precedence, and what answers there.

mod answer;
mod headers;

use super::condition::{self, Condition};
use super::directive::Directive;
use super::scope::Scope;
use super::value::Surroundings;
use super::{Shared, report_known};
use crate::files::NamedFiles;
use crate::pattern::searched;
use crate::plan::{Plan, PlannedMatch, PlannedPath, PlannedRoute};
use crate::report::{ImportReport, Place};
use answer::Answer;

/// Which locations come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LocationKind {
    /// What holds before locations are searched.
    Before,
    Exact,
    /// `^~`.
    FirmPrefix,
    Pattern,
    Prefix,
    /// The rest of the server.
    Rest,
    /// `@name`: reached from within.
    Named,
}

/// A route of a server, for each kind of socket.
#[derive(Clone, Debug)]
pub(super) struct LocationRoute {
    pub kind: LocationKind,
    pub order: usize,
    /// Hosts of a condition; empty for the server's.
    pub hosts: Vec<String>,
    is_tls: Option<bool>,
    name: String,
    place: Place,
    matches: Vec<PlannedMatch>,
    /// Length of a prefix, by which longer ones come first.
    length: usize,
    scope: Scope,
    answer: Answer,
}

impl LocationRoute {
    pub(super) fn is_for(&self, is_tls: bool) -> bool {
        self.is_tls.is_none_or(|only| only == is_tls)
    }

    /// The route at sockets of one kind. `reports` says whether its directives are reported.
    pub(super) fn planned(&self, around: Surroundings, reports: bool, report: &mut ImportReport) -> PlannedRoute {
        let mut route = PlannedRoute {
            name: self.name.clone(),
            place: self.place.clone(),
            matches: self.matches.clone(),
            ..PlannedRoute::default()
        };
        let mut unheard = ImportReport::default();
        let report = if reports { report } else { &mut unheard };
        self.answer.apply(&self.scope, around, &mut route, report);
        route
    }
}

/// What is read of a server's locations.
struct LocationReader<'l> {
    shared: &'l Shared,
    files: &'l mut NamedFiles,
    plan: &'l mut Plan,
    report: &'l mut ImportReport,
    /// Name of the server.
    server: String,
    /// `location @name`, which others name.
    named: Vec<(String, &'l Directive)>,
    /// Exact and other locations, which `auth_request` names.
    all: Vec<&'l Directive>,
    routes: Vec<LocationRoute>,
    /// Why the whole server refuses: a protected location that cannot be told apart.
    closed: Vec<String>,
}

pub(super) fn of_server(
    server: &Directive,
    rest: &[&Directive],
    scope: &Scope,
    shared: &Shared,
    files: &mut NamedFiles,
    plan: &mut Plan,
    report: &mut ImportReport,
) -> Vec<LocationRoute> {
    let name = server.inner().iter().find(|directive| directive.name == "server_name").map_or("", |directive| directive.word(0));
    let server_name = if name.is_empty() || name == "_" { "server".to_owned() } else { name.to_owned() };
    let all: Vec<&Directive> = rest.iter().copied().filter(|directive| directive.name == "location").collect();
    let named =
        all.iter().filter(|location| location.word(0).starts_with('@')).map(|location| (location.word(0).to_owned(), *location));
    let mut reader = LocationReader {
        shared,
        files,
        plan,
        report,
        server: server_name,
        named: named.collect(),
        all: all.clone(),
        routes: Vec::new(),
        closed: Vec::new(),
    };
    reader.level(LocationKind::Rest, &server.place, Vec::new(), 0, "", rest, scope.clone());
    let closed = std::mem::take(&mut reader.closed);
    let mut routes = std::mem::take(&mut reader.routes);
    routes.extend(slash_redirects(&routes));
    routes.sort_by_key(|route| (route.kind, std::cmp::Reverse(route.length)));
    for (order, route) in routes.iter_mut().enumerate() {
        route.order = order;
        route.scope.closed.extend(closed.iter().cloned());
    }
    routes
}

impl<'l> LocationReader<'l> {
    /// A server or a location: what answers there, its conditions, and the locations within.
    #[allow(clippy::too_many_arguments, reason = "a level has these parts")]
    fn level(
        &mut self,
        kind: LocationKind,
        place: &Place,
        matches: Vec<PlannedMatch>,
        length: usize,
        uri: &str,
        directives: &[&'l Directive],
        mut scope: Scope,
    ) {
        let mut answer = Answer::new(kind, uri);
        let mut conditions = Vec::new();
        for directive in directives {
            match directive.name.as_str() {
                "location" => {}
                "if" => conditions.push(*directive),
                "proxy_pass" | "grpc_pass" | "return" | "rewrite" | "try_files" => {
                    self.answer(&mut answer, directive, &mut scope, kind)
                }
                "limit_except" => self.limit_except(directive, &mut scope),
                name @ ("root" | "alias" | "index") if serves_no_files(directives) => {
                    let how = "has no effect: every request that comes here is answered in another way";
                    self.report.built_in(&directive.place, name, how);
                }
                "error_page" | "root" | "alias" | "index" => {
                    report_known(directive, self.report);
                }
                _ => scope.take(directive, self.shared, self.files, self.plan, self.report),
            }
        }
        answer.resolve(&scope, self.shared, &self.all, self.report);
        let base = LocationRoute {
            kind,
            order: 0,
            hosts: Vec::new(),
            is_tls: None,
            name: format!("{} {}", self.server, if uri.is_empty() { "rest" } else { uri }),
            place: place.clone(),
            matches,
            length,
            scope: scope.clone(),
            answer,
        };
        let mut base = base;
        for condition in conditions {
            self.condition(condition, &mut base);
        }
        for directive in directives.iter().filter(|directive| directive.name == "location") {
            // The server's own answer comes first.
            if kind == LocationKind::Rest && base.answer.is_final() {
                self.report.approximated(&directive.place, "location", "the server answers before it comes to locations");
                continue;
            }
            self.location(directive, &base.scope);
        }
        self.routes.push(base);
    }

    fn location(&mut self, directive: &'l Directive, outer: &Scope) {
        let (kind, uri) = match (directive.word(0), directive.word(1)) {
            ("=", uri) => (LocationKind::Exact, uri),
            ("^~", uri) => (LocationKind::FirmPrefix, uri),
            ("~" | "~*", uri) => (LocationKind::Pattern, uri),
            (name, _) if name.starts_with('@') => (LocationKind::Named, name),
            (uri, _) => (LocationKind::Prefix, uri),
        };
        let mut scope = outer.within(directive.inner());
        let inner: Vec<&Directive> = directive.inner().iter().collect();
        let path = match kind {
            LocationKind::Exact => Ok(PlannedPath::Exact(uri.to_owned())),
            LocationKind::Pattern => searched(uri, directive.word(0) == "~*").map(PlannedPath::Pattern),
            _ => Ok(PlannedPath::Begins(uri.to_owned())),
        };
        let path = path.and_then(|path| match &path {
            PlannedPath::Exact(uri) | PlannedPath::Begins(uri) if !is_path(uri) && kind != LocationKind::Named => {
                Err(format!("{uri} is no path without spaces"))
            }
            _ => Ok(path),
        });
        match path {
            Ok(path) => {
                self.report.carried(&directive.place, "location");
                let matches = vec![PlannedMatch { path, ..PlannedMatch::default() }];
                if inner.iter().any(|directive| directive.name == "internal") && kind != LocationKind::Named {
                    // Clients get 404; who names it from within has read it.
                    scope = Scope { closed: Vec::new(), ..Scope::default() };
                    let answer = Answer::status(404);
                    let name = format!("{} {uri}", self.server);
                    let place = directive.place.clone();
                    let route = LocationRoute {
                        kind,
                        order: 0,
                        hosts: Vec::new(),
                        is_tls: None,
                        name,
                        place,
                        matches,
                        length: uri.len(),
                        scope,
                        answer,
                    };
                    self.routes.push(route);
                    return;
                }
                let length = if kind == LocationKind::Pattern { 0 } else { uri.len() };
                self.level(kind, &directive.place, matches, length, uri, &inner, scope);
            }
            Err(why) => {
                let protects = ["allow", "deny", "auth_basic", "auth_request", "limit_req", "return", "internal", "auth_jwt"];
                let is_guard = inner.iter().any(|directive| protects.contains(&directive.name.as_str()));
                if is_guard {
                    self.report.unprotected(&directive.place, "location", why.clone());
                    self.closed.push(format!("a location with protection at line {}: {why}", directive.place.line));
                } else {
                    self.report.not_carried(&directive.place, "location", why);
                }
            }
        }
    }

    fn answer(&mut self, answer: &mut Answer, directive: &'l Directive, scope: &mut Scope, kind: LocationKind) {
        match directive.name.as_str() {
            "proxy_pass" | "grpc_pass" => answer.pass(directive),
            "return" => answer.set_return(directive),
            "rewrite" => answer.rewrite(directive, kind),
            _ => {
                let last = directive.words.last().map_or("", String::as_str);
                match self.named.iter().find(|(name, _)| name == last).map(|(_, location)| *location) {
                    Some(location) => {
                        self.report.approximated(
                            &directive.place,
                            "try_files",
                            "files are not looked up: all requests go on as if there were none",
                        );
                        *scope = scope.within(location.inner());
                        for inner in location.inner() {
                            match inner.name.as_str() {
                                "proxy_pass" | "return" | "rewrite" => self.answer(answer, inner, scope, kind),
                                _ => scope.take(inner, self.shared, self.files, self.plan, self.report),
                            }
                        }
                    }
                    None => self.report.other_work(&directive.place, "try_files", "files that nginx itself serves"),
                }
            }
        }
    }

    /// Methods that need more than the others: routes know methods, lists of addresses do not.
    fn limit_except(&mut self, directive: &Directive, scope: &mut Scope) {
        scope.close(&directive.place, "limit_except", "only some methods are protected", self.report);
    }

    fn condition(&mut self, directive: &'l Directive, base: &mut LocationRoute) {
        let place = &directive.place;
        let inner: Vec<&Directive> = directive.inner().iter().collect();
        // A redirect keeps somebody from the upstream, too.
        let refuses = inner.iter().any(|inner| matches!(inner.name.as_str(), "deny" | "return"));
        let condition = match condition::of(directive) {
            Ok(condition) => condition,
            Err(why) if refuses => return base.scope.close(place, "if", &why, self.report),
            Err(why) => {
                inner.iter().for_each(|inner| {
                    self.report.not_carried(&inner.place, inner.name.clone(), "its condition is not carried over")
                });
                return self.report.not_carried(place, "if", why);
            }
        };
        let answers = inner.iter().any(|inner| matches!(inner.name.as_str(), "return" | "proxy_pass" | "rewrite"));
        if !answers {
            inner.iter().for_each(|inner| {
                self.report.not_carried(&inner.place, inner.name.clone(), "only other answers depend on conditions")
            });
            return self.report.not_carried(place, "if", "a condition changes who answers, and no single setting");
        }
        self.report.carried(place, "if");
        let mut scope = base.scope.within(directive.inner());
        let mut answer = Answer::new(base.kind, &base.answer.uri);
        for inner in &inner {
            match inner.name.as_str() {
                "return" | "proxy_pass" | "rewrite" => self.answer(&mut answer, inner, &mut scope, base.kind),
                "break" => self.report.carried(&inner.place, "break"),
                _ => scope.take(inner, self.shared, self.files, self.plan, self.report),
            }
        }
        answer.resolve(&scope, self.shared, &self.all, self.report);
        let Condition { hosts, is_tls, matches, all_but_methods } = condition;
        if !all_but_methods.is_empty() {
            // The other way round: what answers here answers all methods but these.
            let only: Vec<PlannedMatch> =
                all_but_methods.iter().map(|method| PlannedMatch { method: method.clone(), ..PlannedMatch::default() }).collect();
            let rest = LocationRoute { answer, scope, name: format!("{} other methods", base.name), ..base.clone() };
            base.matches = joined(&base.matches, &only);
            self.routes.push(rest);
            return;
        }
        let is_whole_server = base.kind == LocationKind::Rest;
        let anything = PlannedMatch { path: PlannedPath::Pattern(".*".to_owned()), ..PlannedMatch::default() };
        let here = if is_whole_server { vec![anything] } else { base.matches.clone() };
        self.routes.push(LocationRoute {
            kind: if is_whole_server { LocationKind::Before } else { base.kind },
            order: 0,
            hosts,
            is_tls,
            name: format!("{} if", base.name),
            place: place.clone(),
            matches: if matches.is_empty() { here } else { joined(&here, &matches) },
            length: base.length + 1,
            scope,
            answer,
        });
    }
}

/// Whether all requests of a level are answered without a file: by what it says itself, or by its locations, if one of them is for all paths.
fn serves_no_files(directives: &[&Directive]) -> bool {
    let has = |names: &[&str]| directives.iter().any(|directive| names.contains(&directive.name.as_str()));
    let mut locations = directives.iter().filter(|directive| directive.name == "location");
    let catches_all =
        locations.clone().any(|location| location.words.last().is_some_and(|uri| uri == "/") && location.word(0) != "=");
    let answers = has(&["proxy_pass", "grpc_pass", "return"]) && !has(&["try_files"]);
    (answers || catches_all) && locations.all(|location| serves_no_files(&location.inner().iter().collect::<Vec<_>>()))
}

/// nginx redirects `/a` to a location `/a/` that goes to an upstream.
fn slash_redirects(routes: &[LocationRoute]) -> Vec<LocationRoute> {
    let is_prefix = |route: &&LocationRoute| matches!(route.kind, LocationKind::Prefix | LocationKind::FirmPrefix);
    let exact = |path: &str| {
        routes.iter().flat_map(|route| &route.matches).any(|matched| matched.path == PlannedPath::Exact(path.to_owned()))
    };
    routes
        .iter()
        .filter(is_prefix)
        .filter(|route| route.answer.is_upstream())
        .filter_map(|route| {
            let bare = route.answer.uri.strip_suffix('/').filter(|bare| !bare.is_empty() && !exact(bare))?;
            Some(LocationRoute {
                kind: LocationKind::Exact,
                name: format!("{} without slash", route.name),
                matches: vec![PlannedMatch { path: PlannedPath::Exact(bare.to_owned()), ..PlannedMatch::default() }],
                scope: Scope {
                    response_headers: route.scope.response_headers.clone(),
                    expiry: route.scope.expiry.clone(),
                    variables: route.scope.variables.clone(),
                    ..Scope::default()
                },
                answer: Answer::redirect(&route.answer.uri),
                ..route.clone()
            })
        })
        .collect()
}

/// What fits one of both lists.
fn joined(these: &[PlannedMatch], those: &[PlannedMatch]) -> Vec<PlannedMatch> {
    let any = [PlannedMatch::default()];
    let these = if these.is_empty() { any.as_slice() } else { these };
    let mut list = Vec::new();
    for this in these {
        for that in those {
            let mut both = this.clone();
            if that.path != PlannedPath::Any {
                both.path = that.path.clone();
            }
            if !this.method.is_empty() && !that.method.is_empty() && this.method != that.method {
                continue;
            }
            if !that.method.is_empty() {
                both.method = that.method.clone();
            }
            both.headers.extend(that.headers.iter().cloned());
            both.query.extend(that.query.iter().cloned());
            list.push(both);
        }
    }
    list
}

fn is_path(uri: &str) -> bool {
    uri.starts_with('/') && uri.bytes().all(|byte| byte > 0x20 && byte != 0x7f)
}
