//! What counts as a difference between two answers to one request.

use super::echo::{EchoedRequest, REQUEST_HEADER};
use super::sender::{BothAnswers, GatewayAnswer};
use http::HeaderMap;
use serde_json::Value;
use std::collections::BTreeSet;

/// Headers of responses that differ between any two servers: time, name, and how the body is framed.
const RESPONSE_HEADERS: [&str; 8] =
    ["connection", "content-length", "date", "keep-alive", "server", "transfer-encoding", "via", "x-request-id"];
/// The same of requests to upstreams.
const UPSTREAM_HEADERS: [&str; 6] = ["connection", "content-length", "keep-alive", "te", "transfer-encoding", "via"];
/// Pages of routers in Go.
const ROUTER_PAGES: [&[u8]; 2] = [b"404 page not found", b"405 method not allowed"];
/// Letters of a value that are shown.
const SHOWN_MAX: usize = 120;

/// The ports of both sides, which gateways write into locations and headers.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProofSides {
    pub old: u16,
    pub new: u16,
}

/// Something that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProofDifference {
    /// What: `status`, `header Location`, `body`, `upstream path` and so on.
    pub aspect: String,
    pub old: String,
    pub new: String,
}

/// What is compared.
pub(super) struct Aspects {
    ignored: BTreeSet<String>,
    sides: ProofSides,
}

impl Aspects {
    pub(super) fn new(ignored: &[String], sides: ProofSides) -> Self {
        Aspects { ignored: ignored.iter().map(|name| name.to_lowercase()).collect(), sides }
    }

    /// What was not compared, in sentences.
    pub(super) fn notes(&self, sees_upstreams: bool) -> Vec<String> {
        let mut notes = vec![format!("not compared: the headers {}", RESPONSE_HEADERS.join(", "))];
        if sees_upstreams {
            notes.push(format!("not compared of what upstreams got: the headers {}", UPSTREAM_HEADERS.join(", ")));
        } else {
            notes.push("not compared: what upstreams got (--upstream plays them)".to_owned());
        }
        if !self.ignored.is_empty() {
            let names: Vec<&str> = self.ignored.iter().map(String::as_str).collect();
            notes.push(format!("not compared, as told: {}", names.join(", ")));
        }
        notes.push("not compared: the pages of HTML, those of routers in Go and the empty bodies with which the old gateway itself refuses".to_owned());
        notes
    }

    /// The differences. Where the statuses differ, the rest differs as well, and says nothing more.
    pub(super) fn compare(&self, method: &str, answers: &BothAnswers) -> Vec<ProofDifference> {
        let (old, new) = match (&answers.old, &answers.new) {
            (Ok(old), Ok(new)) => (old, new),
            (Err(_), Err(_)) => return Vec::new(),
            (old, new) => {
                let words = |answer: &Result<GatewayAnswer, String>| match answer {
                    Ok(answer) => answer.status.to_string(),
                    Err(why) => format!("no answer: {why}"),
                };
                return vec![difference("status", words(old), words(new))];
            }
        };
        if old.status != new.status {
            return vec![difference("status", old.status.to_string(), new.status.to_string())];
        }
        let mut list = Vec::new();
        self.compare_upstream(old.upstream.as_ref(), new.upstream.as_ref(), &mut list);
        let is_own_page = is_own_page(old);
        let always: &[&str] = &RESPONSE_HEADERS;
        self.compare_headers("header", &old.headers, &new.headers, always, is_own_page, &mut list);
        if method != "HEAD" && !is_own_page && !is_same_body(&old.body, &new.body) {
            list.push(difference("body", shown_body(&old.body), shown_body(&new.body)));
        }
        list
    }

    fn compare_upstream(&self, old: Option<&EchoedRequest>, new: Option<&EchoedRequest>, list: &mut Vec<ProofDifference>) {
        let (old, new) = match (old, new) {
            (Some(old), Some(new)) => (old, new),
            (None, None) => return,
            (old, _) => {
                let words = |got: bool| if got { "an upstream got it" } else { "no upstream got it" }.to_owned();
                list.push(difference("upstream", words(old.is_some()), words(old.is_none())));
                return;
            }
        };
        let pairs = [
            ("upstream method", old.method.clone(), new.method.clone()),
            ("upstream path", old.target.clone(), new.target.clone()),
            ("upstream body", format!("{} bytes", old.body_bytes), format!("{} bytes", new.body_bytes)),
        ];
        list.extend(pairs.into_iter().filter(|(_, old, new)| old != new).map(|(aspect, old, new)| difference(aspect, old, new)));
        self.compare_headers("upstream header", &old.headers, &new.headers, &UPSTREAM_HEADERS, false, list);
    }

    fn compare_headers(
        &self,
        what: &str,
        old: &HeaderMap,
        new: &HeaderMap,
        always: &[&str],
        is_own_page: bool,
        list: &mut Vec<ProofDifference>,
    ) {
        let names: BTreeSet<&str> = old.keys().chain(new.keys()).map(http::HeaderName::as_str).collect();
        for name in names {
            let is_of_page = is_own_page && matches!(name, "content-type" | "cache-control" | "content-encoding" | "vary");
            if always.contains(&name) || self.ignored.contains(name) || name == REQUEST_HEADER || is_of_page {
                continue;
            }
            let (old, new) = (values(old, name, self.sides.old), values(new, name, self.sides.new));
            if old != new {
                list.push(difference(&format!("{what} {name}"), old, new));
            }
        }
    }
}

fn difference(aspect: &str, old: String, new: String) -> ProofDifference {
    let short = |text: String| match text.char_indices().nth(SHOWN_MAX) {
        Some((at, _)) => format!("{}...", text.split_at(at).0),
        None => text,
    };
    ProofDifference { aspect: aspect.to_owned(), old: short(old), new: short(new) }
}

/// All lines of a header as one, without the gateway's own port: requests name hosts without one.
fn values(headers: &HeaderMap, name: &str, port: u16) -> String {
    let lines: Vec<String> = headers
        .get_all(name)
        .iter()
        .map(|value| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            if value == port.to_string() { "its port".to_owned() } else { value.replace(&format!(":{port}"), "") }
        })
        .collect();
    if lines.is_empty() { "absent".to_owned() } else { lines.join(", ") }
}

/// Whether the gateway has refused by itself, with a page that nobody configured.
fn is_own_page(answer: &GatewayAnswer) -> bool {
    let is_html = answer.headers.get(http::header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    let is_of_router = ROUTER_PAGES.contains(&answer.body.trim_ascii_end());
    answer.upstream.is_none() && answer.status >= 300 && (is_html || is_of_router || answer.body.is_empty())
}

/// Documents in JSON are the same in any order of their members.
fn is_same_body(old: &[u8], new: &[u8]) -> bool {
    if old == new {
        return true;
    }
    let json = |body: &[u8]| serde_json::from_slice::<Value>(body).ok();
    json(old).is_some_and(|old| json(new).is_some_and(|new| old == new))
}

fn shown_body(body: &[u8]) -> String {
    match body.len() {
        0 => "empty".to_owned(),
        bytes => format!("{bytes} bytes: {}", String::from_utf8_lossy(body.get(..SHOWN_MAX.min(bytes)).unwrap_or_default())),
    }
}
