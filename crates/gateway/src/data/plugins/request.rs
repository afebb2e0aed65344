//! The request as a hook sees it.

use crate::base::form::pairs;
use crate::data::exchange::Exchange;
use crate::data::header_names::canonical_name;
use tollgate_plugin::PluginRequest;

/// The request as it is now. The body is there if it has been read.
pub(crate) fn plugin_request(exchange: &Exchange<'_>) -> PluginRequest {
    let request = exchange.request;
    let mut headers = Vec::with_capacity(request.headers.len() + 1);
    exchange.outgoing.edits.each_line(&request.headers, &mut |name, value| {
        if !name.eq_ignore_ascii_case("host") {
            headers.push((canonical_name(name), text(value)));
        }
    });
    PluginRequest {
        method: exchange.method.clone().into_owned(),
        scheme: if exchange.tls.is_some() { "https" } else { "http" },
        url: exchange.uri(),
        request_uri: request.target.to_owned(),
        headers,
        host: text(request.authority),
        params: exchange.query().map(|query| pairs(query).collect()).unwrap_or_default(),
        body: exchange.body_in_coding().to_vec(),
    }
}

/// Bytes as text; others than UTF-8 become replacement characters.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
