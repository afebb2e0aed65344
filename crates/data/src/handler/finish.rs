//! The lines that a response gets at last. What each kind of response gets is in one table.

use super::GatewayHandler;
use crate::snapshot::{ApiVersion, NO_QUOTA_LINES};
use std::time::Duration;
use tollgate_clock::MonoTime;
use tollgate_http::{HeaderEdits, Headers, KnownHeader};

/// What has made a response.
#[derive(Clone, Copy)]
pub(super) enum ResponseMaker {
    /// The upstream. Steps may have changed it.
    Upstream,
    /// A cache, or a middleware in the upstream's place.
    Store,
    /// A middleware that answers instead of the upstream.
    Middleware,
    /// The refusal of a middleware.
    Refusal,
    /// A step that replaces the upstream's response.
    Step,
    /// The refusal of such a step.
    StepRefusal,
    /// A fault of the upstream or of the client.
    Fault,
}

/// The lines of a kind of response. Each also gets the request's id and the times, if the configuration asks for them.
struct LastLines {
    /// The caller's limits.
    limits: bool,
    /// When the version expires.
    expiry: bool,
    /// The header changes of the version.
    of_version: bool,
    /// The changes that middlewares want of the upstream's response.
    of_upstream: bool,
}

impl ResponseMaker {
    /// All get the changes that middlewares want of every response, before the headers of a rule for errors.
    #[inline(always)]
    const fn lines(self) -> LastLines {
        let (limits, expiry, of_version, of_upstream) = match self {
            ResponseMaker::Upstream | ResponseMaker::Store => (true, true, true, true),
            ResponseMaker::Step => (true, false, false, true),
            // The limits of a refusal in the chain end with the expiry of its version.
            ResponseMaker::Refusal | ResponseMaker::StepRefusal => (true, false, false, false),
            ResponseMaker::Middleware => (false, false, false, false),
            ResponseMaker::Fault => (false, true, false, false),
        };
        LastLines { limits, expiry, of_version, of_upstream }
    }
}

impl GatewayHandler {
    /// Adds the last lines to a response with the status. `headers` are those of an upstream's response; all others consist of added lines.
    #[inline(always)]
    pub(super) fn finish(
        &self,
        maker: ResponseMaker,
        version: Option<&ApiVersion>,
        began: MonoTime,
        (status, headers): (u16, Option<&Headers<'_>>),
        edits: &mut HeaderEdits,
    ) {
        let lines = maker.lines();
        let wanted = &self.state.response;
        if lines.limits {
            let replaces = lines.of_version && version.is_some_and(|version| version.replaces_rate_limit);
            add_limits(&wanted.limit_lines, replaces, headers, edits);
        }
        if let Some(version) = version.filter(|_| lines.expiry) {
            edits.add_lines(&version.response_lines);
        }
        let of_version = version.filter(|_| lines.of_version).map_or(&[][..], |version| &version.response_changes);
        let of_upstream = if lines.of_upstream { wanted.upstream_changes.as_slice() } else { &[] };
        for change in of_version.iter().chain(&wanted.changes).chain(of_upstream).chain(wanted.changes_by_status(status)) {
            match (maker, headers) {
                (_, Some(headers)) => change.apply(headers, edits),
                (ResponseMaker::Store, None) => change.apply_to_stored(edits),
                (_, None) => change.apply_to_reply(edits),
            }
        }
        if let ResponseMaker::Store = maker {
            wanted.last_lines.iter().for_each(|(name, value)| edits.set_added(name, value));
        }
        self.label(began, headers, edits);
    }

    /// Adds the request's id, and the time that gateway and upstream took so far.
    #[inline]
    pub(super) fn label(&self, began: MonoTime, headers: Option<&Headers<'_>>, edits: &mut HeaderEdits) {
        if let Some(id) = &self.request_id {
            match headers {
                Some(headers) => edits.set(headers, "X-Request-Id", id.as_bytes()),
                None => edits.set_added("X-Request-Id", id.as_bytes()),
            }
        }
        if self.core.shared.settings.answers.server_timing {
            let sent = self.in_flight.as_ref().and_then(|in_flight| in_flight.sent);
            let line = match sent {
                Some(sent) => format!("gw;dur={:.3}, upstream;dur={:.3}", ms(sent.since(began)), ms(sent.elapsed())),
                None => format!("gw;dur={:.3}", ms(began.elapsed())),
            };
            edits.add("Server-Timing", line.as_bytes());
        }
    }
}

/// Adds the lines about limits, in the place of those that the response has.
#[inline]
fn add_limits(lines: &[u8], replaces: bool, headers: Option<&Headers<'_>>, edits: &mut HeaderEdits) {
    if !replaces && lines.is_empty() {
        return;
    }
    match headers {
        Some(headers) => edits.remove_known(headers, KnownHeader::RateLimit),
        None => {
            ["X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"].iter().for_each(|name| edits.remove_added(name))
        }
    }
    if !replaces || (headers.is_none() && !lines.is_empty()) {
        for name in ["ratelimit", "ratelimit-policy"] {
            match headers {
                Some(headers) => edits.remove(headers, name),
                None => edits.remove_added(name),
            }
        }
    }
    edits.add_lines(if lines.is_empty() { NO_QUOTA_LINES } else { lines });
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
