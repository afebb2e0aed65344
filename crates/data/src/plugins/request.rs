//! The request as a hook sees it.

use crate::exchange::{Exchange, Redirect};
use crate::header_names::canonical_name;
use crate::upstream::{Upstream, write_target};
use tollgate_http::form::pairs;
use tollgate_plugin::PluginRequest;

/// Headers that are those of one connection. Go's proxy removes them before a response comes.
const HOP_HEADERS: [&str; 8] =
    ["Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailers", "Transfer-Encoding", "Upgrade"];

/// The request as it is now. The body is there if it has been read.
pub fn plugin_request(exchange: &Exchange<'_>) -> PluginRequest {
    let request = exchange.request;
    PluginRequest {
        method: exchange.method.clone().into_owned(),
        scheme: if exchange.arrival.tls.is_some() { "https" } else { "http" },
        url: exchange.uri(),
        absolute_url: None,
        request_uri: request.target.to_owned(),
        headers: plugin_headers(exchange),
        host: text(request.authority),
        params: exchange.query().map(|query| pairs(query).collect()).unwrap_or_default(),
        body: exchange.body_in_coding().to_vec(),
    }
}

/// Whether Go does not show a header of this canonical name.
pub(super) fn is_hidden(name: &str) -> bool {
    matches!(name, "Transfer-Encoding" | "Trailer")
}

/// The header lines as they are now, without `Host`.
pub fn plugin_headers(exchange: &Exchange<'_>) -> Vec<(String, String)> {
    let headers = &exchange.request.headers;
    let mut lines = Vec::with_capacity(headers.len() + 1);
    exchange.outgoing.edits.each_line(headers, &mut |name, value| {
        let name = canonical_name(name);
        if name != "Host" && !is_hidden(&name) {
            lines.push((name, text(value)));
        }
    });
    lines
}

/// The request as hooks of its response see it: as it went to the upstream, with the URL there.
pub(super) fn sent_request(exchange: &Exchange<'_>, upstream: &Upstream) -> PluginRequest {
    let mut request = plugin_request(exchange);
    request.headers.retain(|(name, _)| !HOP_HEADERS.contains(&name.as_str()));
    let mut target = Vec::new();
    write_target(exchange.api, &exchange.url, &upstream.path, &upstream.query, &mut target);
    let url = format!("{}://{}{}", scheme_of(upstream), upstream.host, text(&target));
    request.params = url.split_once('?').map(|(_, query)| pairs(query).collect()).unwrap_or_default();
    request.absolute_url = Some(url);
    request
}

/// The URL that a rewrite has made, if it leads to another server or API.
pub(super) fn rewritten_url(exchange: &Exchange<'_>) -> Option<String> {
    Some(match exchange.decisions.redirected.as_ref()? {
        Redirect::Upstream(upstream) => format!("{}://{}{}", scheme_of(upstream), upstream.host, exchange.uri()),
        Redirect::Loop(api) => format!("tyk://{api}{}", exchange.uri()),
    })
}

fn scheme_of(upstream: &Upstream) -> &'static str {
    if upstream.target.tls.is_some() { "https" } else { "http" }
}

/// Bytes as text; others than UTF-8 become replacement characters.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
