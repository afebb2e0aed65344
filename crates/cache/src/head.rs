//! The head of a stored response: whether it may be stored (RFC 9111 §3), how long it is fresh (§4.2), its age, and how a 304 updates it
//! (§3.2, §4.3.4).

use crate::directives::ResponseDirectives;
use crate::lines::{HeaderLines, LineBlock};
use crate::syntax::{delta_seconds, format_date, http_date, list};
use crate::validators::EntityTag;
use crate::vary::Vary;

/// Why a response is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names and `as_str` are the documentation
pub enum NotStored {
    Method,
    RequestNoStore,
    NoStore,
    Private,
    Authorization,
    SetCookie,
    VaryAll,
    Status,
    NoFreshness,
    Useless,
    Purged,
    Incomplete,
    TooLarge,
    NoMemory,
    Overridden,
}

impl NotStored {
    /// The reason's name in `Cache-Status` and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            NotStored::Method => "method",
            NotStored::RequestNoStore => "request-no-store",
            NotStored::NoStore => "no-store",
            NotStored::Private => "private",
            NotStored::Authorization => "authorization",
            NotStored::SetCookie => "set-cookie",
            NotStored::VaryAll => "vary",
            NotStored::Status => "status",
            NotStored::NoFreshness => "no-freshness",
            NotStored::Useless => "expired",
            NotStored::Purged => "purged",
            NotStored::Incomplete => "incomplete",
            NotStored::TooLarge => "too-large",
            NotStored::NoMemory => "no-memory",
            NotStored::Overridden => "overridden",
        }
    }
}

/// Largest total of header lines of one stored response, in bytes; the same limit as for a head on the wire.
const LINES_BYTES_MAX: usize = 64 * 1024;
/// A heuristic lifetime is the time since the last change divided by this (RFC 9111 §4.2.2 names a tenth) ...
const HEURISTIC_PART: u64 = 10;
/// ... and at most this long: it is a guess, and an operator should not have to wait longer for its end.
const HEURISTIC_S_MAX: u64 = 24 * 60 * 60;

/// Request data that decides whether its response may be stored.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestTerms {
    pub is_authorised: bool,
    pub has_cookie: bool,
    pub no_store: bool,
    /// When the request was sent, in Unix milliseconds.
    pub sent_ms: u64,
}

/// Header lines of a response, and their meaning for a cache.
#[derive(Clone, Debug)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// Header lines for clients, without hop-by-hop lines, and without Content-Length and Age, which each answer writes anew.
    pub lines: LineBlock,
    /// Those of the lines that no later change may replace.
    pub(crate) last_lines: LineBlock,
    pub(crate) tag: Option<EntityTag>,
    pub(crate) last_modified: Option<u64>,
    /// Unix seconds of the Date line, or of the arrival.
    pub(crate) date: u64,
    /// When the response arrived, in Unix milliseconds.
    received_ms: u64,
    /// `corrected_initial_age` of RFC 9111 §4.2.3.
    initial_age_s: u64,
    pub(crate) lifetime_s: u64,
    pub(crate) stale_while_revalidate_s: u64,
    pub(crate) stale_if_error_s: u64,
    /// `no-cache`: each use needs the upstream's confirmation.
    pub(crate) must_validate: bool,
    /// Whether stale use is forbidden: `must-revalidate`, `proxy-revalidate` and `s-maxage` (RFC 9111 §4.2.4).
    pub(crate) never_stale: bool,
    pub(crate) vary: Vary,
}

/// Lines of a response that decide about storing and freshness.
#[derive(Default)]
struct ResponseFields {
    directives: ResponseDirectives,
    targeted: Vec<u8>,
    has_cache_control: bool,
    pragma_no_cache: bool,
    has_set_cookie: bool,
    date: Option<u64>,
    expires: Option<Expires>,
    age: Option<u64>,
    last_modified: Option<u64>,
    tag: Option<EntityTag>,
}

/// An Expires field; an invalid one is in the past (RFC 9111 §5.3).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expires {
    At(u64),
    Past,
}

impl ResponseFields {
    fn read(lines: &dyn HeaderLines) -> Self {
        let mut fields = ResponseFields::default();
        lines.each(&mut |name, value| match name.to_ascii_lowercase().as_str() {
            "cache-control" => {
                fields.has_cache_control = true;
                fields.directives.add_line(value);
            }
            "cdn-cache-control" => {
                if !fields.targeted.is_empty() {
                    fields.targeted.extend_from_slice(b",");
                }
                fields.targeted.extend_from_slice(value);
            }
            "pragma" => fields.pragma_no_cache |= value.eq_ignore_ascii_case(b"no-cache"),
            "set-cookie" | "set-cookie2" => fields.has_set_cookie = true,
            "date" => fields.date = fields.date.or(http_date(value)),
            "expires" => {
                let read = http_date(value).map_or(Expires::Past, Expires::At);
                // Two different values count as past.
                fields.expires = Some(match fields.expires {
                    Some(before) if before != read => Expires::Past,
                    _ => read,
                });
            }
            // The first of several values counts; an invalid one is ignored (RFC 9111 §5.1).
            "age" => {
                let first = value.split(|&byte| byte == b',').next().unwrap_or_default();
                fields.age = fields.age.or(delta_seconds(crate::syntax::trim(first)));
            }
            "last-modified" => fields.last_modified = http_date(value),
            "etag" => fields.tag = EntityTag::parse(value),
            _ => {}
        });
        if let Some(targeted) = ResponseDirectives::targeted(&fields.targeted) {
            // RFC 9213 §2.2: it replaces Cache-Control and Expires together.
            fields.directives = targeted;
            fields.expires = None;
            fields.has_cache_control = true;
        } else if fields.pragma_no_cache && !fields.has_cache_control {
            fields.directives.no_cache = true;
        }
        fields
    }

    /// Explicit lifetime for a shared cache, in the precedence of RFC 9111 §4.2.1.
    fn explicit_lifetime(&self, date: u64) -> Option<u64> {
        let directives = &self.directives;
        let expires = self.expires.map(|expires| match expires {
            Expires::At(time) => time.saturating_sub(date),
            Expires::Past => 0,
        });
        directives.s_maxage.strict().or(directives.max_age.strict()).or(expires)
    }
}

impl Head {
    /// Reads the head of a response to GET that arrived at `now_ms`.
    ///
    /// # Errors
    /// The first reason, in the order of RFC 9111 §3, why the response must not be stored or is not worth storing.
    pub(crate) fn read(status: u16, lines: &dyn HeaderLines, asked: RequestTerms, now_ms: u64) -> Result<Self, NotStored> {
        let fields = ResponseFields::read(lines);
        let vary = vary_of(lines);
        may_store(status, &fields, &vary, asked)?;
        let received_s = now_ms / 1000;
        let date = fields.date.unwrap_or(received_s);
        let explicit = fields.explicit_lifetime(date);
        let lifetime_s = match explicit {
            Some(seconds) => seconds,
            None if is_heuristic(status) || (fields.directives.public && is_understood(status)) => {
                heuristic_lifetime(&fields, date, asked)
            }
            None => return Err(NotStored::NoFreshness),
        };
        let mut head = Head {
            status,
            lines: stored_lines(lines, date, fields.date.is_none())?,
            last_lines: LineBlock::default(),
            tag: fields.tag,
            last_modified: fields.last_modified,
            date,
            received_ms: now_ms,
            initial_age_s: initial_age(date, fields.age, asked.sent_ms, now_ms),
            lifetime_s,
            stale_while_revalidate_s: fields.directives.stale_while_revalidate.strict().unwrap_or(0),
            stale_if_error_s: fields.directives.stale_if_error.strict().unwrap_or(0),
            must_validate: fields.directives.no_cache,
            never_stale: fields.directives.must_revalidate
                || fields.directives.proxy_revalidate
                || fields.directives.s_maxage.strict().is_some(),
            vary,
        };
        if head.never_stale || head.must_validate {
            (head.stale_while_revalidate_s, head.stale_if_error_s) = (0, 0);
        }
        let can_be_used = !head.must_validate && head.freshness(now_ms).is_fresh();
        let can_be_validated = head.tag.is_some() || head.last_modified.is_some();
        let can_be_stale = head.stale_while_revalidate_s > 0 || head.stale_if_error_s > 0;
        if !can_be_used && !can_be_validated && !can_be_stale {
            return Err(NotStored::Useless);
        }
        head.lines.shrink();
        Ok(head)
    }

    /// Makes a head with a given lifetime: it is fresh until `lifetime_s` after `now_ms`, whatever its lines say.
    pub(crate) fn with_lifetime(status: u16, lines: &dyn HeaderLines, lifetime_s: u64, now_ms: u64) -> Result<Self, NotStored> {
        let fields = ResponseFields::read(lines);
        let date = fields.date.unwrap_or(now_ms / 1000);
        Ok(Head {
            status,
            lines: stored_lines(lines, date, false)?,
            last_lines: LineBlock::default(),
            tag: fields.tag,
            last_modified: fields.last_modified,
            date,
            received_ms: now_ms,
            initial_age_s: 0,
            lifetime_s,
            stale_while_revalidate_s: 0,
            stale_if_error_s: 0,
            must_validate: false,
            never_stale: true,
            vary: Vary::Nothing,
        })
    }

    /// Age and freshness of the response at `now_ms`.
    pub fn freshness(&self, now_ms: u64) -> Freshness {
        let resident_s = now_ms.saturating_sub(self.received_ms) / 1000;
        Freshness { age_s: self.initial_age_s.saturating_add(resident_s), lifetime_s: self.lifetime_s }
    }

    /// Lines of a conditional request for this response (RFC 9111 §4.3.1). Empty when the response can't be validated.
    pub fn conditions(&self) -> Vec<(&'static str, Vec<u8>)> {
        let mut conditions = Vec::new();
        if let Some(tag) = &self.tag {
            conditions.push(("If-None-Match", tag.to_bytes()));
        }
        if let Some(value) = self.lines.get("last-modified").filter(|_| self.last_modified.is_some()) {
            conditions.push(("If-Modified-Since", value.to_vec()));
        }
        conditions
    }

    /// The head after a 304 with these lines (RFC 9111 §3.2, §4.3.4). `None` when the 304 concerns another version: then it must not update
    /// anything stored.
    pub(crate) fn freshened(&self, lines: &dyn HeaderLines, asked: RequestTerms, now_ms: u64) -> Option<Result<Self, NotStored>> {
        let update = ResponseFields::read(lines);
        let is_same = match (&self.tag, &update.tag) {
            (Some(ours), Some(theirs)) if theirs.is_strong() => ours.matches_strongly(theirs),
            (Some(ours), Some(theirs)) => ours.matches_weakly(theirs),
            (None, Some(_)) => false,
            (_, None) => update.last_modified.is_none() || update.last_modified == self.last_modified,
        };
        is_same.then(|| Head::read(self.status, &merge(&self.lines, lines), asked, now_ms))
    }
}

/// Age and lifetime of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// `current_age` of RFC 9111 §4.2.3.
    pub age_s: u64,
    /// `freshness_lifetime` of RFC 9111 §4.2.1.
    pub lifetime_s: u64,
}

impl Freshness {
    /// Whether it may be used without asking the upstream.
    pub fn is_fresh(&self) -> bool {
        self.lifetime_s > self.age_s
    }

    /// How long it has been stale, in seconds.
    pub fn stale_s(&self) -> u64 {
        self.age_s.saturating_sub(self.lifetime_s)
    }

    /// Remaining freshness in seconds; negative when it is stale.
    pub fn ttl_s(&self) -> i64 {
        let seconds = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        seconds(self.lifetime_s).saturating_sub(seconds(self.age_s))
    }
}

/// Checks RFC 9111 §3, and our own rule for cookies.
fn may_store(status: u16, fields: &ResponseFields, vary: &Vary, asked: RequestTerms) -> Result<(), NotStored> {
    let directives = &fields.directives;
    if asked.no_store {
        return Err(NotStored::RequestNoStore);
    }
    if !is_storable(status) || (directives.must_understand && !is_understood(status)) {
        return Err(NotStored::Status);
    }
    // §5.2.2.3: with `must-understand`, `no-store` is meant for caches that don't know the status.
    if directives.no_store && !directives.must_understand {
        return Err(NotStored::NoStore);
    }
    if directives.private {
        return Err(NotStored::Private);
    }
    let is_for_all = directives.public || directives.must_revalidate || directives.s_maxage.strict().is_some();
    if asked.is_authorised && !is_for_all {
        return Err(NotStored::Authorization);
    }
    // The RFC leaves this to the upstream's directives (§7.3). Sending one client's cookie to all is the worst error of a cache, and we
    // know no upstream that intends it.
    if fields.has_set_cookie {
        return Err(NotStored::SetCookie);
    }
    match vary {
        Vary::Everything => Err(NotStored::VaryAll),
        Vary::Nothing | Vary::By(_) => Ok(()),
    }
}

/// Whether a response with this status may be stored if it says for how long. RFC 9111 §3 allows it for each final status but 206 and 304, which
/// are parts of another response. 401, 407, 421, 428, 429, 431 and 511 belong to one client (RFC 6585 forbids to store the last four); 412, 416
/// and 425 to one request.
fn is_storable(status: u16) -> bool {
    (200..=599).contains(&status) && !matches!(status, 206 | 304 | 401 | 407 | 412 | 416 | 421 | 425 | 428 | 429 | 431 | 511)
}

/// Status codes whose requirements on a cache we meet.
fn is_understood(status: u16) -> bool {
    matches!(status, 200 | 203 | 204 | 300..=303 | 307 | 308 | 400 | 403..=406 | 410 | 414 | 451 | 500..=504)
}

/// Status codes that may be stored without explicit freshness (RFC 9110 §15.1), among those that are understood.
fn is_heuristic(status: u16) -> bool {
    matches!(status, 200 | 203 | 204 | 300 | 301 | 308 | 404 | 405 | 410 | 414 | 501)
}

/// Heuristic lifetime (RFC 9111 §4.2.2). No guess for requests with cookies or a user: a guess must not spread their answers.
fn heuristic_lifetime(fields: &ResponseFields, date: u64, asked: RequestTerms) -> u64 {
    match fields.last_modified {
        Some(modified) if !asked.has_cookie && !asked.is_authorised => {
            (date.saturating_sub(modified) / HEURISTIC_PART).min(HEURISTIC_S_MAX)
        }
        _ => 0,
    }
}

/// `corrected_initial_age` (RFC 9111 §4.2.3).
fn initial_age(date: u64, age: Option<u64>, sent_ms: u64, received_ms: u64) -> u64 {
    let apparent_age = (received_ms / 1000).saturating_sub(date);
    let delay = received_ms.saturating_sub(sent_ms) / 1000;
    apparent_age.max(age.unwrap_or(0).saturating_add(delay))
}

fn vary_of(lines: &dyn HeaderLines) -> Vary {
    let mut values: Vec<Vec<u8>> = Vec::new();
    lines.each(&mut |name, value| {
        if name.eq_ignore_ascii_case("vary") {
            values.push(value.to_vec());
        }
    });
    Vary::read(values.iter().map(Vec::as_slice))
}

/// Whether a line is not stored, because it is hop-by-hop (RFC 9111 §3.1) or is written anew for each client.
fn is_dropped(name: &str) -> bool {
    const DROPPED: [&str; 12] = [
        "connection",
        "keep-alive",
        "proxy-connection",
        "proxy-authenticate",
        "proxy-authentication-info",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "content-length",
        "age",
    ];
    DROPPED.iter().any(|dropped| dropped.eq_ignore_ascii_case(name))
}

/// Names in Connection lines, which make these lines hop-by-hop.
fn named_by_connection(lines: &dyn HeaderLines) -> Vec<Vec<u8>> {
    let mut named = Vec::new();
    lines.each(&mut |name, value| {
        if name.eq_ignore_ascii_case("connection") {
            named.extend(list(value).map(<[u8]>::to_vec));
        }
    });
    named
}

/// The lines to store, with a Date (RFC 9110 §6.6.1).
fn stored_lines(lines: &dyn HeaderLines, date: u64, lacks_date: bool) -> Result<LineBlock, NotStored> {
    let named = named_by_connection(lines);
    let mut block = LineBlock::default();
    lines.each(&mut |name, value| {
        if !is_dropped(name)
            && !named.iter().any(|named| named.eq_ignore_ascii_case(name.as_bytes()))
            && block.as_bytes().len() <= LINES_BYTES_MAX
        {
            block.push(name, value);
        }
    });
    if lacks_date {
        block.push("Date", format_date(date).as_bytes());
    }
    if block.as_bytes().len() > LINES_BYTES_MAX { Err(NotStored::TooLarge) } else { Ok(block) }
}

/// The stored lines, with lines of a 304 replacing those with the same names (RFC 9111 §3.2). Lines that describe the stored bytes stay,
/// because a 304 does not change the bytes.
fn merge(stored: &LineBlock, update: &dyn HeaderLines) -> LineBlock {
    let stays = |name: &str| {
        ["content-encoding", "content-type", "content-length", "content-range"].iter().any(|own| own.eq_ignore_ascii_case(name))
    };
    let named = named_by_connection(update);
    let mut fresh = LineBlock::default();
    update.each(&mut |name, value| {
        // Age is not stored, but the freshened response's age starts with it.
        let is_named = named.iter().any(|named| named.eq_ignore_ascii_case(name.as_bytes()));
        if !stays(name) && !is_named && (!is_dropped(name) || name.eq_ignore_ascii_case("age")) {
            fresh.push(name, value);
        }
    });
    let mut merged = LineBlock::default();
    for (name, value) in stored.iter() {
        // A 304 without a date is dated now; the old date would make it old.
        if fresh.get(name).is_none() && !name.eq_ignore_ascii_case("date") {
            merged.push(name, value);
        }
    }
    for (name, value) in fresh.iter() {
        merged.push(name, value);
    }
    merged
}
