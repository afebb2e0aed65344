//! What a rule of a route does with its requests: changes of headers, redirects, answers, other hosts and paths. Reads `tollgate.route.rules`. The
//! client sees redirects and the statuses of answers. Does not use the store.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_change::HeaderChange;
use crate::header_names::HeaderNames;
use crate::refusal::{Refusal, RefusalText};
use crate::request_text::{RequestText, scheme};
use crate::route_rules::{RulePathRewrite, RuleRewrite, header_changes};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tollgate_model::api::{RouteAnswer, RouteRedirect};

pub(super) struct RouteFilters {
    request: Vec<HeaderChange>,
    /// The header with the client's certificate.
    certificate_header: Option<String>,
    answer: Option<Refusal>,
    redirect: Option<RuleRedirect>,
    rewrite: Option<RuleRewrite>,
}

/// Where clients are sent.
struct RuleRedirect {
    /// `None` for the request's.
    scheme: Option<&'static str>,
    host: Option<String>,
    port: Option<u16>,
    path: Option<RulePathRewrite>,
    /// The whole location, in place of the others.
    location: Option<RequestText>,
    status: u16,
}

impl RouteFilters {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let (index, rule) = source.rule?;
        let redirect = rule.redirect.as_ref().map(RuleRedirect::new).transpose();
        let rewrite = rule.rewrite.as_ref().map(RuleRewrite::new).transpose();
        let mut report = |member: &str, error: String| {
            source.context.error(
                format!("$.tollgate.route.rules[{index}].{member}.path.replace.regex"),
                format!("not a valid pattern: {error}"),
            );
        };
        let filters = RouteFilters {
            request: header_changes(&rule.request_headers),
            certificate_header: Some(rule.client_certificate_header.clone()).filter(|name| !name.is_empty()),
            answer: rule.answer.as_ref().map(answer),
            redirect: redirect.map_err(|error| report("redirect", error)).ok()?,
            rewrite: rewrite.map_err(|error| report("rewrite", error)).ok()?,
        };
        let acts = !filters.request.is_empty()
            || filters.certificate_header.is_some()
            || filters.answer.is_some()
            || filters.redirect.is_some()
            || filters.rewrite.is_some();
        acts.then(|| Box::new(filters) as Box<dyn Middleware>)
    }
}

/// The refusal that a rule answers with.
fn answer(written: &RouteAnswer) -> Refusal {
    RefusalText::new(written.status, "route_answer", written.message.clone()).into()
}

impl Middleware for RouteFilters {
    fn header_names(&self, names: &mut HeaderNames) {
        self.request.iter().map(HeaderChange::name).chain(self.certificate_header.as_deref()).for_each(|name| names.add(name));
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if let Some(answer) = &self.answer {
            return Step::Refuse(answer.clone());
        }
        if let Some(redirect) = &self.redirect {
            let location = redirect.location(exchange);
            exchange.begin_reply(redirect.status).edits.add("Location", location.as_bytes());
            return Step::Reply;
        }
        for change in &self.request {
            change.apply(&exchange.request.headers, &mut exchange.outgoing.edits);
        }
        if let Some(name) = &self.certificate_header {
            let edits = &mut exchange.outgoing.edits;
            edits.remove(&exchange.request.headers, name);
            if let Some(certificate) = exchange.arrival.tls.and_then(|tls| tls.certificate.as_ref()) {
                edits.add(name, escaped_pem(certificate.der()).as_bytes());
            }
        }
        if let Some(rewrite) = &self.rewrite {
            rewrite.apply(exchange);
        }
        Step::Next
    }
}

impl RuleRedirect {
    fn new(written: &RouteRedirect) -> Result<Self, String> {
        let scheme = match written.scheme.as_str() {
            "http" => Some("http"),
            "https" => Some("https"),
            _ => None,
        };
        Ok(RuleRedirect {
            scheme,
            host: Some(written.host.clone()).filter(|host| !host.is_empty()),
            port: Some(written.port).filter(|port| *port != 0),
            path: written.path.as_ref().map(RulePathRewrite::new).transpose()?,
            location: Some(written.location.as_str()).filter(|location| !location.is_empty()).map(RequestText::new),
            status: written.status,
        })
    }

    fn location(&self, exchange: &Exchange<'_>) -> String {
        if let Some(location) = &self.location {
            return location.of(exchange);
        }
        let authority = std::str::from_utf8(exchange.request.authority).unwrap_or_default();
        let (own_host, own_port) = split_port(authority);
        let scheme = self.scheme.unwrap_or_else(|| scheme(exchange));
        let host = self.host.as_deref().unwrap_or(own_host);
        // A scheme brings its port; without one, the port is that of the listener.
        let port = match (self.port, self.scheme) {
            (Some(port), _) => Some(port),
            (None, Some(_)) => None,
            (None, None) => exchange.arrival.listener_port.or(own_port),
        };
        let usual = if scheme == "https" { 443 } else { 80 };
        let port = port.filter(|port| *port != usual).map_or_else(String::new, |port| format!(":{port}"));
        let url = &exchange.url;
        let path = match &self.path {
            None => url.path.raw.to_string(),
            Some(path) => path.path(&url.path, exchange.decisions.prefix_bytes).0,
        };
        let query = url.query.as_deref().map_or_else(String::new, |query| format!("?{query}"));
        format!("{scheme}://{host}{port}{path}{query}")
    }
}

/// A certificate in PEM, in one line: what no URL may have in it is escaped.
fn escaped_pem(der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let mut escaped = String::with_capacity(text.len() + text.len() / 16 + 96);
    escaped.push_str("-----BEGIN%20CERTIFICATE-----%0A");
    for (index, letter) in text.chars().enumerate() {
        // RFC 7468 §2: lines of 64 characters.
        if index > 0 && index % 64 == 0 {
            escaped.push_str("%0A");
        }
        match letter {
            '+' => escaped.push_str("%2B"),
            '/' => escaped.push_str("%2F"),
            '=' => escaped.push_str("%3D"),
            letter => escaped.push(letter),
        }
    }
    escaped.push_str("%0A-----END%20CERTIFICATE-----%0A");
    escaped
}

/// A host and its port, if it has one.
fn split_port(authority: &str) -> (&str, Option<u16>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port.parse().ok()),
        _ => (authority, None),
    }
}
