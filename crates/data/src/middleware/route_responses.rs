//! Places in the responses of backends, as clients know them: locations, and paths and domains of cookies. Reads `response_rewrites` of
//! `tollgate.route.rules`. The client sees places that it can use. Makes no calls.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::response_chain::{ResponseAction, ResponseHead, ResponseStep};
use std::borrow::Cow;
use std::sync::Arc;
use tollgate_http::is_value;
use tollgate_model::api::{ResponseRewrites, StartReplacement};

pub(super) struct RouteResponses(Arc<ResponseRewrites>);

struct RewriteStep(Arc<ResponseRewrites>);

impl RouteResponses {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let rewrites = &source.rule?.1.response_rewrites;
        (!rewrites.is_empty()).then(|| Box::new(RouteResponses(Arc::new(rewrites.clone()))) as Box<dyn Middleware>)
    }
}

impl Middleware for RouteResponses {
    fn is_for_responses(&self) -> bool {
        true
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        exchange.response.chain.push(RewriteStep(self.0.clone()));
        Step::Next
    }
}

impl ResponseStep for RewriteStep {
    fn is_for_upstreams(&self) -> bool {
        true
    }

    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction {
        self.rewrite_one(head, "Location", |value| replaced_start(&self.0.locations, value));
        self.rewrite_one(head, "Refresh", |value| self.refresh(value));
        if !self.0.cookie_paths.is_empty() || !self.0.cookie_domains.is_empty() {
            self.rewrite_cookies(head);
        }
        ResponseAction::Pass
    }
}

impl RewriteStep {
    fn rewrite_one(&self, head: &mut ResponseHead<'_>, name: &str, rewrite: impl Fn(&str) -> Option<String>) {
        let value = head.header(name).and_then(|value| std::str::from_utf8(value).ok());
        if let Some(new) = value.and_then(rewrite).filter(|new| is_value(new.as_bytes())) {
            head.set_header(name, new.as_bytes());
        }
    }

    /// `5; url=https://...`
    fn refresh(&self, value: &str) -> Option<String> {
        let at = value.to_ascii_lowercase().find("url=")? + "url=".len();
        let (before, url) = value.split_at_checked(at)?;
        Some(format!("{before}{}", replaced_start(&self.0.locations, url)?))
    }

    /// Each cookie is a line of its own, in its order.
    fn rewrite_cookies(&self, head: &mut ResponseHead<'_>) {
        let mut cookies: Vec<Vec<u8>> = Vec::new();
        let mut is_changed = false;
        let (headers, edits) = head.lines();
        edits.each_line(headers, &mut |name, value| {
            if !name.eq_ignore_ascii_case("set-cookie") {
                return;
            }
            let new = std::str::from_utf8(value).ok().map(|text| self.cookie(text));
            is_changed |= matches!(new, Some(Cow::Owned(_)));
            cookies.push(new.map_or_else(|| value.to_vec(), |new| new.into_owned().into_bytes()));
        });
        if !is_changed || !cookies.iter().all(|cookie| is_value(cookie)) {
            return;
        }
        head.remove_header("Set-Cookie");
        head.add_lines(|out| {
            for cookie in &cookies {
                out.extend_from_slice(b"Set-Cookie: ");
                out.extend_from_slice(cookie);
                out.extend_from_slice(b"\r\n");
            }
        });
    }

    fn cookie<'v>(&self, value: &'v str) -> Cow<'v, str> {
        let mut parts: Vec<Cow<'_, str>> = Vec::new();
        let mut is_changed = false;
        for part in value.split(';') {
            let new = part.split_once('=').and_then(|(name, old)| {
                let new = match name.trim().to_ascii_lowercase().as_str() {
                    "path" => replaced_start(&self.0.cookie_paths, old.trim()),
                    "domain" => replaced_domain(&self.0.cookie_domains, old.trim()),
                    _ => None,
                }?;
                Some(format!("{name}={new}"))
            });
            is_changed |= new.is_some();
            parts.push(new.map_or(Cow::Borrowed(part), Cow::Owned));
        }
        if is_changed { Cow::Owned(parts.join(";")) } else { Cow::Borrowed(value) }
    }
}

/// The value with another start; `None` if no entry fits.
fn replaced_start(entries: &[StartReplacement], value: &str) -> Option<String> {
    entries.iter().find_map(|entry| Some(format!("{}{}", entry.to, value.strip_prefix(entry.from.as_str())?)))
}

fn replaced_domain(entries: &[StartReplacement], value: &str) -> Option<String> {
    let bare = |domain: &str| domain.strip_prefix('.').unwrap_or(domain).to_ascii_lowercase();
    entries.iter().find(|entry| bare(&entry.from) == bare(value)).map(|entry| entry.to.clone())
}

#[cfg(test)]
mod tests;
