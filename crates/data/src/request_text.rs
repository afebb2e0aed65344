//! Texts with names in braces that stand for parts of the request's URL: locations of redirects, addresses of login pages. Unknown names stay
//! as they are.

use crate::exchange::Exchange;
use tollgate_http::form::encode_form;

/// A text in its parts.
#[derive(Debug)]
pub(crate) struct RequestText(Vec<TextPart>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UrlPart {
    Scheme,
    Host,
    Path,
    /// With its question mark.
    Query,
    Uri,
    EscapedUri,
    EscapedUrl,
}

#[derive(Debug)]
enum TextPart {
    Literal(String),
    Url(UrlPart),
}

const NAMES: [(&str, UrlPart); 7] = [
    ("{scheme}", UrlPart::Scheme),
    ("{host}", UrlPart::Host),
    ("{path}", UrlPart::Path),
    ("{query}", UrlPart::Query),
    ("{uri}", UrlPart::Uri),
    ("{escaped_uri}", UrlPart::EscapedUri),
    ("{escaped_url}", UrlPart::EscapedUrl),
];

impl RequestText {
    pub(crate) fn new(written: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = written;
        while !rest.is_empty() {
            let first =
                NAMES.iter().filter_map(|(name, part)| Some((rest.find(name)?, name.len(), *part))).min_by_key(|found| found.0);
            let (literal, after) = match first {
                Some((at, bytes, part)) => (rest.get(..at).unwrap_or_default(), Some((at + bytes, part))),
                None => (rest, None),
            };
            if !literal.is_empty() {
                parts.push(TextPart::Literal(literal.to_owned()));
            }
            let Some((end, part)) = after else { break };
            parts.push(TextPart::Url(part));
            rest = rest.get(end..).unwrap_or_default();
        }
        RequestText(parts)
    }

    /// The text for a request.
    pub(crate) fn of(&self, exchange: &Exchange<'_>) -> String {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                TextPart::Literal(literal) => text.push_str(literal),
                TextPart::Url(UrlPart::Scheme) => text.push_str(scheme(exchange)),
                TextPart::Url(UrlPart::Host) => text.push_str(host(exchange)),
                TextPart::Url(UrlPart::Path) => text.push_str(&exchange.url.path.raw),
                TextPart::Url(UrlPart::Query) => {
                    text.extend(exchange.url.query.iter().flat_map(|query| ["?", query]));
                }
                TextPart::Url(UrlPart::Uri) => text.push_str(&exchange.uri()),
                TextPart::Url(UrlPart::EscapedUri) => text.push_str(&encode_form(&exchange.uri())),
                TextPart::Url(UrlPart::EscapedUrl) => text.push_str(&encode_form(&url(exchange))),
            }
        }
        text
    }
}

/// The whole URL of a request.
pub(crate) fn url(exchange: &Exchange<'_>) -> String {
    format!("{}://{}{}", scheme(exchange), host(exchange), exchange.uri())
}

/// `https` if the client speaks TLS with the gateway.
pub(crate) fn scheme(exchange: &Exchange<'_>) -> &'static str {
    if exchange.arrival.tls.is_some() { "https" } else { "http" }
}

/// The host as the client wrote it, with its port.
fn host<'e>(exchange: &Exchange<'e>) -> &'e str {
    std::str::from_utf8(exchange.request.authority).unwrap_or_default()
}
