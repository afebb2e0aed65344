//! Tells clients that an API, or a version, is deprecated. Reads `tollgate.deprecation`. The client sees `Deprecation` (RFC 9745) and `Sunset`
//! (RFC 8594) in place of the upstream's, and `Link` beside the upstream's. Does not use the store.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_change::HeaderChange;
use std::time::{Duration, UNIX_EPOCH};
use tollgate_model::api::Deprecation;

pub(super) struct DeprecationNotice {
    changes: Vec<HeaderChange>,
}

impl DeprecationNotice {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let deprecation = source.definition.tollgate.deprecation.as_ref()?;
        let is_told = deprecation.versions.is_empty() || deprecation.versions.iter().any(|name| name == source.version_name);
        is_told.then(|| Box::new(DeprecationNotice { changes: changes(deprecation) }) as Box<dyn Middleware>)
    }
}

fn changes(deprecation: &Deprecation) -> Vec<HeaderChange> {
    let mut changes = Vec::new();
    let mut links = Vec::new();
    let link = |relation: &str| format!("<{}>; rel=\"{relation}\"", deprecation.link);
    if let Some(unix_s) = deprecation.at_unix_s() {
        changes.push(HeaderChange::Set("Deprecation".into(), format!("@{unix_s}").into_bytes()));
        links.push(link("deprecation"));
    }
    if let Some(unix_s) = deprecation.sunset_unix_s() {
        let date = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(unix_s));
        changes.push(HeaderChange::Set("Sunset".into(), date.into_bytes()));
        links.push(link("sunset"));
    }
    if !deprecation.link.is_empty() {
        changes.push(HeaderChange::Add("Link".into(), links.join(", ").into_bytes()));
    }
    changes
}

impl Middleware for DeprecationNotice {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        // A looped request tells only what concerns the API that its client called.
        if exchange.decisions.loops == 0 {
            exchange.response.changes.extend_from_slice(&self.changes);
        }
        Step::Next
    }
}
