//! Which endpoints are open. Reads `mock_response`, `internal`, `ignored`, `black_list` and `white_list` of `extended_paths`, or the
//! older `paths`. The client sees the mock, or 403 `Requested endpoint is forbidden`. Asks nothing of the store. Runs before
//! authentication, so mocks and ignored endpoints are open to everyone.

use super::Middleware;
use crate::compile::Source;
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::refusal;
use std::collections::BTreeMap;
use tollgate_model::api::{AccessEntry, Action};

#[derive(Default)]
pub struct Access {
    mocks: EndpointList<Mock>,
    internal: EndpointList<()>,
    ignored: EndpointList<()>,
    black: EndpointList<()>,
    white: EndpointList<()>,
}

/// An answer of the gateway itself.
struct Mock {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Access {
    pub fn compile(source: &mut Source<'_, '_>) -> Option<Box<dyn Middleware>> {
        let mut access = Access::default();
        let info = source.info;
        if info.use_extended_paths {
            access.add_extended(source);
        } else {
            let lists = [
                ("ignored", &info.paths.ignored, &mut access.ignored),
                ("black_list", &info.paths.black_list, &mut access.black),
                ("white_list", &info.paths.white_list, &mut access.white),
            ];
            for (name, paths, list) in lists {
                for (index, path) in paths.iter().enumerate() {
                    if let Some(pattern) = source.pattern(name, index, path, false) {
                        list.push(pattern, "", ());
                    }
                }
            }
        }
        let lists = [&access.internal, &access.ignored, &access.black, &access.white];
        let unused = access.mocks.is_empty() && lists.iter().all(|list| list.is_empty());
        if unused { None } else { Some(Box::new(access)) }
    }

    fn add_extended(&mut self, source: &mut Source<'_, '_>) {
        let paths = &source.info.extended_paths;
        self.mocks = source.endpoints("mock_response", &paths.mock_response, |_, _, entry| {
            Some(Mock::new(entry.code, &entry.headers, &entry.body))
        });
        self.internal = source.endpoints("internal", &paths.internal, |_, _, _| Some(()));
        self.ignored = access_list(source, "ignored", &paths.ignored, &mut self.mocks);
        self.black = access_list(source, "black_list", &paths.black_list, &mut self.mocks);
        self.white = access_list(source, "white_list", &paths.white_list, &mut self.mocks);
    }
}

/// A list of endpoints; entries that answer by themselves become mocks.
fn access_list(
    source: &mut Source<'_, '_>,
    name: &str,
    entries: &[AccessEntry],
    mocks: &mut EndpointList<Mock>,
) -> EndpointList<()> {
    let mut list = EndpointList::default();
    for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| !entry.disabled) {
        let Some(pattern) = source.pattern(name, index, &entry.path, entry.ignore_case) else { continue };
        for (method, action) in entry.method_actions.iter().filter(|(_, action)| action.action == Action::Reply) {
            mocks.push(pattern, method, Mock::new(action.code, &action.headers, &action.data));
        }
        list.push(pattern, &entry.method, ());
    }
    list
}

impl Mock {
    fn new(code: u16, headers: &BTreeMap<String, String>, body: &str) -> Self {
        let mut headers: Vec<_> = headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        // The gateway frames its answers itself.
        headers.retain(|(name, _)| super::header_change::can_change(name));
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) && !body.is_empty() {
            headers.push(("Content-Type".to_owned(), sniffed_type(body).to_owned()));
        }
        Mock { status: if code == 0 { 200 } else { code }, headers, body: body.to_owned() }
    }
}

/// What Go's server guesses for a body without a type.
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

impl Middleware for Access {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let method = exchange.method.as_ref();
        if let Some(mock) = self.mocks.find_access(exchange.hits, method) {
            let outgoing = &mut exchange.outgoing;
            outgoing.status = mock.status;
            outgoing.body.extend_from_slice(mock.body.as_bytes());
            mock.headers.iter().for_each(|(name, value)| outgoing.edits.add(name, value.as_bytes()));
            return Step::Reply;
        }
        if !exchange.looped && self.internal.find_access(exchange.hits, method).is_some() {
            return Step::Refuse(refusal::FORBIDDEN_ENDPOINT);
        }
        if self.ignored.find_access(exchange.hits, method).is_some() {
            exchange.ignored = true;
            return Step::Next;
        }
        let closed = self.black.find_access(exchange.hits, method).is_some()
            || (!self.white.is_empty() && self.white.find_access(exchange.hits, method).is_none());
        if closed { Step::Refuse(refusal::FORBIDDEN_ENDPOINT) } else { Step::Next }
    }
}
