//! Decides which trailer fields may pass. A server may merge trailers into the headers, where they would override every decision
//! that was based on the headers (RFC 9110 §6.5.1).

/// Fields that frame, route, authenticate or control a message, or describe its content (RFC 9110 §6.5.1), and fields in which
/// proxies describe a client. Lower case, sorted.
const FORBIDDEN: [&str; 61] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "age",
    "authorization",
    "b3",
    "baggage",
    "cache-control",
    "cdn-loop",
    "cf-connecting-ip",
    "client-ip",
    "connection",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-length",
    "content-location",
    "content-range",
    "content-type",
    "cookie",
    "date",
    "expect",
    "expires",
    "fastly-client-ip",
    "forwarded",
    "from",
    "front-end-https",
    "host",
    "keep-alive",
    "location",
    "max-forwards",
    "origin",
    "pragma",
    "prefer",
    "range",
    "referer",
    "retry-after",
    "set-cookie",
    "te",
    "trace-id",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "true-client-ip",
    "uber-trace-id",
    "upgrade",
    "user-agent",
    "vary",
    "via",
    "warning",
    "www-authenticate",
    "x-api-key",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-envoy-external-address",
    "x-http-method-override",
    "x-real-ip",
    "x-rewrite-url",
    "x-tyk-api-expires",
];

/// Prefixes of families of such fields.
const FORBIDDEN_FAMILIES: [&str; 10] =
    ["access-control-", "if-", "proxy-", "ratelimit", "sec-", "tyk-", "x-b3-", "x-forwarded", "x-original-", "x-ratelimit-"];

/// Whether a trailer with this name may pass, as far as its name decides. An underscore counts as a dash: servers that turn fields
/// into variables cannot tell them apart.
pub fn may_be_trailer(name: &str) -> bool {
    let mut bytes = [0; LONGEST];
    let name = name.as_bytes();
    // A longer name can only belong to a family.
    let start = name.get(..name.len().min(LONGEST)).unwrap_or_default();
    for (byte, own) in bytes.iter_mut().zip(start) {
        *byte = if *own == b'_' { b'-' } else { own.to_ascii_lowercase() };
    }
    let start = bytes.get(..start.len()).unwrap_or_default();
    let is_forbidden = name.len() <= LONGEST && FORBIDDEN.binary_search_by(|known| known.as_bytes().cmp(start)).is_ok();
    !is_forbidden && !FORBIDDEN_FAMILIES.iter().any(|family| start.starts_with(family.as_bytes()))
}

/// Length of the longest name in the list.
const LONGEST: usize = 24;

/// Appends those lines of a complete trailer section whose names pass, each with its line end.
pub fn append_trailers(lines: &[u8], mut passes: impl FnMut(&str) -> bool, out: &mut Vec<u8>) {
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let name = line.split(|byte| *byte == b':').next().and_then(|name| std::str::from_utf8(name).ok());
        if name.is_some_and(|name| may_be_trailer(name) && passes(name)) {
            out.extend_from_slice(line);
        }
    }
}

#[cfg(test)]
mod tests;
