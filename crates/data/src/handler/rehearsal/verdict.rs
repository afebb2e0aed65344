//! What would become of a rehearsed request, in a form that can be compared.

use crate::handler::GatewayHandler;
use crate::handler::in_flight::{Chosen, InFlight};
use crate::header_change::HeaderChange;
use crate::refusal::Refusal;
use crate::snapshot::Upstreams;
use std::fmt::Write;
use tollgate_engine::{Outgoing, Verdict};
use tollgate_http::Request;

/// What would become of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RehearsedVerdict {
    /// Id of the API that decides; empty if no API is for the request.
    pub api: String,
    /// Name of its version; empty if it has only one.
    pub version: String,
    pub decision: RehearsedDecision,
    /// The key under which a cache would look for a response.
    pub cache_key: Option<String>,
    /// Header lines for the upstream.
    pub request_lines: String,
    /// Header changes to the response.
    pub response_lines: String,
    /// Causes of refusals that only dry run prevents.
    pub would_refuse: Vec<String>,
    /// Rules of the web application firewall that match, between commas.
    pub waf_rules: String,
    /// The same of those about the recorded response.
    pub waf_response_rules: String,
    /// Middlewares that decide by a body or a response that is not known.
    pub unread: Vec<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RehearsedDecision {
    Forward {
        method: String,
        /// Scheme and authority; of several targets, their rules.
        target: String,
        /// Path and query.
        path: String,
    },
    Refuse {
        status: u16,
        cause: &'static str,
        message: String,
    },
    /// The gateway answers itself.
    Reply {
        status: u16,
        by: &'static str,
        /// Digest of header lines and body.
        digest: u64,
    },
    /// It depends on what is not known here.
    Undecided {
        by: &'static str,
    },
}

/// What the chain has come to.
#[derive(Default)]
pub(super) struct VerdictParts {
    pub refused: Option<(&'static str, Refusal)>,
    pub replied: &'static str,
    pub undecided: Option<&'static str>,
    pub unread: Vec<&'static str>,
    pub cache_key: Option<String>,
    pub waf_rules: String,
    pub waf_response_rules: String,
}

impl RehearsedVerdict {
    pub(super) fn undecided(by: &'static str) -> Self {
        RehearsedVerdict {
            api: String::new(),
            version: String::new(),
            decision: RehearsedDecision::Undecided { by },
            cache_key: None,
            request_lines: String::new(),
            response_lines: String::new(),
            would_refuse: Vec::new(),
            waf_rules: String::new(),
            waf_response_rules: String::new(),
            unread: Vec::new(),
        }
    }
}

impl VerdictParts {
    pub(super) fn verdict(
        self,
        verdict: &Verdict,
        handler: &GatewayHandler,
        request: &Request<'_>,
        outgoing: &Outgoing,
    ) -> RehearsedVerdict {
        let snapshot = handler.core.snapshot();
        let reached = snapshot.apis.get(handler.place.api);
        let version = reached.and_then(|api| handler.place.version(api));
        let mut made = RehearsedVerdict {
            api: reached.map(|api| api.id.clone()).unwrap_or_default(),
            version: version.map(|version| version.terms.name.clone()).unwrap_or_default(),
            cache_key: self.cache_key,
            would_refuse: handler.state.response.changes.iter().filter_map(dry_run_cause).collect(),
            waf_rules: self.waf_rules,
            waf_response_rules: self.waf_response_rules,
            unread: self.unread,
            ..RehearsedVerdict::undecided("")
        };
        if let Some(by) = self.undecided {
            made.decision = RehearsedDecision::Undecided { by };
            return made;
        }
        // The upstream may be the one that tells of it.
        if let (Verdict::Forward(_) | Verdict::Reply, Some((_, refusal))) = (verdict, self.refused) {
            let message = refusal.message.text().to_owned();
            made.decision = RehearsedDecision::Refuse { status: outgoing.status, cause: refusal.cause, message };
            return made;
        }
        made.decision = match verdict {
            Verdict::Hold(_) => RehearsedDecision::Undecided { by: "batch" },
            Verdict::Forward(_) => {
                made.request_lines = request_lines(handler, request, outgoing);
                made.response_lines = response_lines(handler, version.map_or(&[][..], |version| &version.response_changes));
                forwarded(handler, request, outgoing)
            }
            Verdict::Reply if reached.is_some() && self.replied.is_empty() && outgoing.status >= 400 => {
                let cause = handler.cause.unwrap_or("version_missing");
                RehearsedDecision::Refuse { status: outgoing.status, cause, message: String::new() }
            }
            Verdict::Reply => RehearsedDecision::Reply {
                status: outgoing.status,
                by: if self.replied.is_empty() { "gateway" } else { self.replied },
                digest: reply_digest(request, outgoing),
            },
        };
        made
    }
}

/// The cause that a line about dry run names.
fn dry_run_cause(change: &HeaderChange) -> Option<String> {
    match change {
        HeaderChange::Add(name, value) if name.as_ref() == DRY_RUN => Some(String::from_utf8_lossy(value).into_owned()),
        _ => None,
    }
}

const DRY_RUN: &str = "Tollgate-Dry-Run";

fn forwarded(handler: &GatewayHandler, request: &Request<'_>, outgoing: &Outgoing) -> RehearsedDecision {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    RehearsedDecision::Forward {
        method: outgoing.method.as_deref().map_or_else(|| request.method.to_owned(), text),
        target: target(handler),
        path: text(&outgoing.target),
    }
}

/// Where the request goes. Which of several targets gets it says nothing about the configuration, but their rules do.
fn target(handler: &GatewayHandler) -> String {
    let Some(in_flight) = &handler.in_flight else { return "control API".to_owned() };
    let version = in_flight.version();
    match (&in_flight.chosen, version.map(|version| &version.upstreams)) {
        (Chosen::Control, _) => return "OAuth 2.0 server".to_owned(),
        (Chosen::Listed(_), Some(Upstreams::Many { list, .. })) => {
            return list.iter().map(|upstream| upstream.host.as_str()).collect::<Vec<_>>().join(", ");
        }
        (Chosen::Balanced(_), _) => return rules_of(in_flight),
        _ => {}
    }
    in_flight.upstream().map_or_else(String::new, |upstream| {
        let scheme = if upstream.target.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", upstream.host)
    })
}

fn rules_of(in_flight: &InFlight) -> String {
    let Some(api) = in_flight.api() else { return String::new() };
    let places = ["/proxy/target_url", "/proxy/target_list", "/tollgate/upstream", "/proxy/service_discovery"];
    let written: Vec<String> = places.iter().filter_map(|place| api.raw.pointer(place)).map(ToString::to_string).collect();
    let digest = blake3::hash(written.join(" ").as_bytes()).to_hex();
    format!("targets by rules {}", digest.get(..8).unwrap_or_default())
}

fn request_lines(handler: &GatewayHandler, request: &Request<'_>, outgoing: &Outgoing) -> String {
    let mut lines = String::new();
    let is_one = !matches!(
        handler.in_flight.as_ref().map(|in_flight| (&in_flight.chosen, in_flight.version().map(|version| &version.upstreams))),
        Some((Chosen::Balanced(_), _) | (Chosen::Listed(_), Some(Upstreams::Many { .. })))
    );
    if is_one {
        let _ = writeln!(lines, "Host: {}", String::from_utf8_lossy(&outgoing.host));
    }
    outgoing.edits.each_line(&request.headers, &mut |name, value| {
        let _ = writeln!(lines, "{name}: {}", String::from_utf8_lossy(value));
    });
    if outgoing.keep_forwarded_for {
        lines.push_str("X-Forwarded-For stays\n");
    }
    lines
}

fn response_lines(handler: &GatewayHandler, of_version: &[HeaderChange]) -> String {
    let mut lines = String::new();
    let wanted = &handler.state.response;
    let of_all = of_version.iter().chain(wanted.all_changes()).map(|change| (&[][..], change));
    let by_status = wanted.all_status_changes().map(|change| (&*change.statuses, &change.change));
    for (statuses, change) in of_all.chain(by_status).filter(|(_, change)| change.name() != DRY_RUN) {
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        if !statuses.is_empty() {
            let _ = write!(lines, "with {statuses:?} ");
        }
        let _ = match change {
            HeaderChange::Remove(name) => writeln!(lines, "remove {name}"),
            HeaderChange::Set(name, value) => writeln!(lines, "set {name}: {}", text(value)),
            HeaderChange::Add(name, value) => writeln!(lines, "add {name}: {}", text(value)),
        };
    }
    lines
}

fn reply_digest(request: &Request<'_>, outgoing: &Outgoing) -> u64 {
    let mut hasher = blake3::Hasher::new();
    outgoing.edits.each_line(&request.headers, &mut |name, value| {
        let name = name.to_ascii_lowercase();
        if !name.starts_with("ratelimit") && !name.starts_with("x-ratelimit") {
            hasher.update(name.as_bytes()).update(value);
        }
    });
    hasher.update(&outgoing.body);
    hasher.finalize().as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}
