//! Access to endpoints. Reads `mock_response`, `internal`, `ignored`, `black_list` and `white_list` of `extended_paths`, or the older
//! `paths`. The client sees the mock, or 403 `Requested endpoint is forbidden`. Does not use the store. Runs before authentication, so
//! mocks and ignored endpoints are open to everyone.

use super::Middleware;
use super::cross_origin::preflight_method;
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::middleware::MiddlewareSource;
use crate::middleware::call_rules::is_for_calls;
use crate::refusal;
use std::collections::BTreeMap;
use tollgate_model::api::{AccessEntry, Action};
use tollgate_model::is_framing_header;

#[derive(Default)]
pub(super) struct AccessCheck {
    internal: EndpointList<()>,
    /// Mocks, ignored endpoints, black list and white list: the first match decides.
    rules: EndpointList<Rule>,
    /// Whether there is a white list: an endpoint without a rule is closed then.
    only_listed: bool,
    /// Whether the CORS rules answer preflight requests, whatever their endpoint.
    skips_preflights: bool,
}

/// The rule of an endpoint.
enum Rule {
    Reply(Mock),
    /// The endpoint needs no key.
    Ignore,
    Refuse,
    Allow,
}

/// A reply of the gateway itself.
struct Mock {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl AccessCheck {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let answers_preflights = source.definition.cors().is_some_and(|cors| !cors.options_passthrough);
        let mut access = AccessCheck { skips_preflights: answers_preflights, ..AccessCheck::default() };
        let info = source.info;
        if info.use_extended_paths {
            access.add_extended(source);
        } else {
            access.add_paths(source, "ignored", &info.paths.ignored, || Rule::Ignore);
            access.add_paths(source, "black_list", &info.paths.black_list, || Rule::Refuse);
            access.add_paths(source, "white_list", &info.paths.white_list, || Rule::Allow);
            access.only_listed = !info.paths.white_list.is_empty();
        }
        let unused = access.internal.is_empty() && access.rules.is_empty() && !access.only_listed;
        if unused {
            return None;
        }
        source.patterns.decide_access();
        Some(Box::new(access))
    }

    fn add_paths(&mut self, source: &mut MiddlewareSource<'_, '_>, name: &str, paths: &[String], rule: fn() -> Rule) {
        for (index, path) in paths.iter().enumerate() {
            if let Some(pattern) = source.pattern(name, index, path, false) {
                self.rules.push(pattern, "", rule());
            }
        }
    }

    fn add_extended(&mut self, source: &mut MiddlewareSource<'_, '_>) {
        let paths = &source.info.extended_paths;
        self.internal = source.endpoints("internal", &paths.internal, |_, _, _| Some(()));
        self.rules = source.endpoints("mock_response", &paths.mock_response, |_, _, entry| {
            Some(Rule::Reply(Mock::new(entry.code, &entry.headers, &entry.body)))
        });
        self.add_entries(source, "ignored", &paths.ignored, || Rule::Ignore);
        self.add_entries(source, "black_list", &paths.black_list, || Rule::Refuse);
        self.add_entries(source, "white_list", &paths.white_list, || Rule::Allow);
        self.only_listed = paths.white_list.iter().any(|entry| !entry.disabled && !is_for_calls(entry));
    }

    /// Adds a list of endpoints. An entry with actions by method applies only to these methods, and its `method` is ignored.
    fn add_entries(&mut self, source: &mut MiddlewareSource<'_, '_>, name: &str, entries: &[AccessEntry], rule: fn() -> Rule) {
        for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| !entry.disabled && !is_for_calls(entry)) {
            let Some(pattern) = source.pattern(name, index, &entry.path, entry.ignore_case) else { continue };
            let Some(actions) = &entry.method_actions else {
                self.rules.push(pattern, &entry.method, rule());
                continue;
            };
            for (method, action) in actions.iter().filter(|(method, _)| !method.is_empty()) {
                let rule = match action.action {
                    Action::Reply => Rule::Reply(Mock::new(action.code, &action.headers, &action.data)),
                    Action::NoAction => rule(),
                    Action::Unset => Rule::Refuse,
                };
                self.rules.push(pattern, method, rule);
            }
        }
    }
}

impl Mock {
    fn new(code: u16, headers: &BTreeMap<String, String>, body: &str) -> Self {
        let mut headers: Vec<_> = headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        // The gateway frames its replies itself.
        headers.retain(|(name, _)| !is_framing_header(name));
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) && !body.is_empty() {
            headers.push(("Content-Type".to_owned(), sniffed_type(body).to_owned()));
        }
        Mock { status: if code == 0 { 200 } else { code }, headers, body: body.to_owned() }
    }
}

/// The type that Go's server guesses for a body without one.
fn sniffed_type(body: &str) -> &'static str {
    let start = body.trim_start().get(..14).unwrap_or(body.trim_start()).to_ascii_lowercase();
    if start.starts_with("<?xml") {
        "text/xml; charset=utf-8"
    } else if start.starts_with("<!doctype html") || start.starts_with("<html") {
        "text/html; charset=utf-8"
    } else {
        "text/plain; charset=utf-8"
    }
}

impl Middleware for AccessCheck {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if self.skips_preflights && preflight_method(exchange).is_some() {
            return Step::Next;
        }
        let method = exchange.method.as_ref();
        let is_internal = self.internal.find_access(exchange.hits, method).is_some();
        if is_internal && exchange.decisions.loops == 0 {
            return Step::Refuse(refusal::FORBIDDEN_ENDPOINT);
        }
        match self.rules.find_access(exchange.hits, method) {
            Some(Rule::Reply(mock)) => {
                let outgoing = exchange.begin_reply(mock.status);
                outgoing.body.extend_from_slice(mock.body.as_bytes());
                mock.headers.iter().for_each(|(name, value)| outgoing.edits.add(name, value.as_bytes()));
                Step::Reply
            }
            Some(Rule::Ignore) => {
                exchange.decisions.ignored = true;
                Step::Next
            }
            Some(Rule::Refuse) => Step::Refuse(refusal::FORBIDDEN_ENDPOINT),
            Some(Rule::Allow) => Step::Next,
            // An endpoint that only other APIs may call is open to them even when the white list lacks it.
            None if self.only_listed && !is_internal => Step::Refuse(refusal::FORBIDDEN_ENDPOINT),
            None => Step::Next,
        }
    }
}
