//! The parts of a request that matter to the cache: method, directives, conditions and range, read in one pass over the header lines.

use crate::directives::RequestDirectives;
use crate::key::KeyParts;
use crate::lines::HeaderLines;
use crate::validators::{ClientHas, IfRange};

/// A request that may be answered from the cache.
#[derive(Clone, Copy)]
pub struct CacheRequest<'a> {
    /// Method as sent to the upstream.
    pub method: &'a str,
    /// Parts that distinguish it from other requests to the API.
    pub parts: KeyParts<'a>,
    /// Header lines as sent to the upstream.
    pub lines: &'a dyn HeaderLines,
    /// Whether the upstream identifies the caller by something other than an `Authorization` line: RFC 9111 §3.5 applies then.
    pub is_authorised: bool,
    /// Whether the request has a body.
    pub has_body: bool,
}

/// Lines of the client's request that are not sent to the upstream with a [`Fill`](crate::Fill): the cache evaluates them itself, and needs the
/// complete response.
pub const ANSWERED_HERE: [&str; 4] = ["If-None-Match", "If-Modified-Since", "If-Range", "Range"];

/// How the cache handles a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodClass {
    /// `GET`: looked up and stored.
    Get,
    /// `HEAD`: answered from stored GET responses.
    Head,
    /// `OPTIONS` and `TRACE`: safe, and not cached.
    OtherSafe,
    /// Every other method: may change the resource, so success invalidates stored responses (RFC 9111 §4.4).
    Unsafe,
}

impl MethodClass {
    /// Methods are case-sensitive.
    pub fn read(method: &str) -> Self {
        match method {
            "GET" => MethodClass::Get,
            "HEAD" => MethodClass::Head,
            "OPTIONS" | "TRACE" => MethodClass::OtherSafe,
            _ => MethodClass::Unsafe,
        }
    }
}

/// The header fields of a request that matter to the cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestFacts {
    pub directives: RequestDirectives,
    pub client_has: ClientHas,
    /// Value of the Range field; several lines are invalid.
    pub range: Option<Vec<u8>>,
    pub if_range: Option<IfRange>,
    /// Whether there is If-Match or If-Unmodified-Since: conditions that only the upstream can evaluate (RFC 9111 §4.3.2).
    pub has_upstream_condition: bool,
    pub has_authorization: bool,
    pub has_cookie: bool,
}

impl RequestFacts {
    pub(crate) fn read(lines: &dyn HeaderLines) -> Self {
        let mut facts = RequestFacts::default();
        let mut has_cache_control = false;
        let mut pragma_no_cache = false;
        lines.each(&mut |name, value| {
            // Most lines do not matter to the cache, and their length shows it.
            match name.len() {
                5 if name.eq_ignore_ascii_case("range") => {
                    let joined = facts.range.get_or_insert_default();
                    if !joined.is_empty() {
                        joined.extend_from_slice(b",");
                    }
                    joined.extend_from_slice(value);
                }
                6 if name.eq_ignore_ascii_case("cookie") => facts.has_cookie = true,
                6 if name.eq_ignore_ascii_case("pragma") => pragma_no_cache |= value.eq_ignore_ascii_case(b"no-cache"),
                8 if name.eq_ignore_ascii_case("if-match") => facts.has_upstream_condition = true,
                8 if name.eq_ignore_ascii_case("if-range") => facts.if_range = Some(IfRange::parse(value)),
                13 if name.eq_ignore_ascii_case("cache-control") => {
                    has_cache_control = true;
                    facts.directives.add_line(value);
                }
                13 if name.eq_ignore_ascii_case("if-none-match") => facts.client_has.add_none_match(value),
                13 if name.eq_ignore_ascii_case("authorization") => facts.has_authorization = true,
                17 if name.eq_ignore_ascii_case("if-modified-since") => facts.client_has.add_modified_since(value),
                19 if name.eq_ignore_ascii_case("if-unmodified-since") => facts.has_upstream_condition = true,
                _ => {}
            }
        });
        // RFC 9111 §5.4: Pragma counts only when Cache-Control is absent.
        if pragma_no_cache && !has_cache_control {
            facts.directives.no_cache = true;
        }
        facts
    }
}
