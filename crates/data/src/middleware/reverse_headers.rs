//! The upstream's URL in response headers, such as `Location`, becomes the gateway's. Reads `header_transform` in `response_processors`. The
//! client sees URLs that it can use. Makes no calls.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::response_chain::{ResponseAction, ResponseHead, ResponseStep};
use std::sync::Arc;
use tollgate_http::is_value;
use tollgate_model::api::{ProcessorAction, ReverseHeaderOptions as WrittenRule};
use tollgate_model::is_framing_header;

pub(super) struct ReverseHeaders {
    rules: Arc<[ReverseRule]>,
}

/// One entry of the list.
#[derive(Debug)]
struct ReverseRule {
    headers: Vec<String>,
    /// Scheme and host of the upstream, and what takes their place.
    scheme: (String, String),
    host: (String, String),
    /// The path of the upstream's URL; empty for none.
    path: String,
    listen_path: String,
    strips: bool,
}

/// The rules for one response.
struct ReverseStep {
    rules: Arc<[ReverseRule]>,
    /// The path of the request as the upstream sees it.
    path: String,
}

impl ReverseHeaders {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let proxy = &definition.proxy;
        let actions = definition.response_processors.iter().filter_map(|processor| processor.action());
        let rules: Vec<ReverseRule> = actions
            .filter_map(|action| match action {
                ProcessorAction::Reverse(rule) => {
                    ReverseRule::new(&rule, &proxy.target_url, &proxy.listen_path, proxy.strip_listen_path)
                }
                ProcessorAction::Inject(_) => None,
            })
            .collect();
        (!rules.is_empty()).then(|| Box::new(ReverseHeaders { rules: rules.into() }) as Box<dyn Middleware>)
    }
}

impl ReverseRule {
    fn new(written: &WrittenRule, target_url: &str, listen_path: &str, strips: bool) -> Option<Self> {
        let (scheme, host, path) = parts(target_url)?;
        let (own_scheme, own_host, _) = parts(&written.target_host)?;
        let headers: Vec<String> = written.headers.iter().filter(|name| !is_framing_header(name)).cloned().collect();
        (!headers.is_empty()).then(|| ReverseRule {
            headers,
            scheme: (scheme.to_owned(), own_scheme.to_owned()),
            host: (host.to_owned(), own_host.to_owned()),
            // A path that is only a slash says nothing, and stands everywhere in a URL.
            path: path.trim_end_matches('/').to_owned(),
            listen_path: listen_path.to_owned(),
            strips,
        })
    }

    /// The value of a header for the client.
    fn reversed(&self, value: &str, path: &str) -> String {
        // With what follows it, so that `http` is not found in `https`.
        let [scheme, own_scheme] = [&self.scheme.0, &self.scheme.1].map(|scheme| format!("{scheme}://"));
        let value = value.replace(&scheme, &own_scheme).replace(&self.host.0, &self.host.1);
        let listen_path = self.listen_path.trim_end_matches('/');
        match (self.strips, self.path.is_empty()) {
            (true, false) => value.replace(&self.path, listen_path),
            (true, true) if !path.is_empty() && path != "/" => value.replace(path, &format!("{listen_path}{path}")),
            (false, false) => value.replace(&self.path, ""),
            (true | false, true) => value,
        }
    }
}

/// Scheme, host and path of a URL.
fn parts(url: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let (host, path) = rest.split_at_checked(rest.find(['/', '?', '#']).unwrap_or(rest.len()))?;
    let path = path.split(['?', '#']).next().unwrap_or_default();
    (!scheme.is_empty() && !host.is_empty()).then_some((scheme, host, path))
}

impl Middleware for ReverseHeaders {
    fn is_for_responses(&self) -> bool {
        true
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let path = exchange.api.stripped(&exchange.url).to_owned();
        let path = if path.starts_with('/') { path } else { format!("/{path}") };
        exchange.response.chain.push(ReverseStep { rules: self.rules.clone(), path });
        Step::Next
    }
}

impl ResponseStep for ReverseStep {
    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction {
        for rule in self.rules.iter() {
            for name in &rule.headers {
                let value = head.header(name).and_then(|value| std::str::from_utf8(value).ok()).filter(|value| !value.is_empty());
                let Some(reversed) = value.map(|value| rule.reversed(value, &self.path)) else { continue };
                if is_value(reversed.as_bytes()) {
                    head.set_header(name, reversed.as_bytes());
                }
            }
        }
        ResponseAction::Pass
    }
}

#[cfg(test)]
mod tests;
