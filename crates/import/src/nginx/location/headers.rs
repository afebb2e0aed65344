//! Headers that a location sets for upstreams and for clients.

use super::super::scope::Scope;
use super::super::value::{Surroundings, substituted, value};
use crate::plan::{PlannedAction, PlannedRoute, PlannedStatusHeader};
use crate::report::{ImportReport, MovedOutcome};

pub(super) fn for_upstreams(scope: &Scope, around: Surroundings, route: &mut PlannedRoute, report: &mut ImportReport) {
    for (directive, name, text) in &scope.request_headers {
        let text = substituted(text, &scope.variables);
        let outcome = match (name.to_lowercase().as_str(), text.as_str()) {
            ("host", "$host" | "$http_host" | "$host:$server_port" | "$http_host:$server_port") => {
                route.upstream_host = None;
                MovedOutcome::Carried
            }
            ("host", "$proxy_host") => MovedOutcome::Carried,
            ("host", host) if !host.contains('$') => {
                route.upstream_host = Some(host.to_owned());
                MovedOutcome::Carried
            }
            ("connection" | "upgrade" | "keep-alive" | "te", _) => MovedOutcome::Carried,
            ("x-forwarded-for", "$proxy_add_x_forwarded_for") => MovedOutcome::Carried,
            ("x-forwarded-for", "$remote_addr") => {
                MovedOutcome::Approximated("the client's address is added to the list".to_owned())
            }
            (_, "") => {
                route.request_headers.remove.push(name.clone());
                MovedOutcome::Carried
            }
            _ if scope.asked_headers.iter().any(|(variable, _)| *variable == text) => MovedOutcome::Carried,
            _ => match value(&text, around) {
                Some(value) => {
                    route.request_headers.set.push((name.clone(), value));
                    MovedOutcome::Carried
                }
                None => MovedOutcome::NotCarried(format!("{text} has no counterpart")),
            },
        };
        report.at_route(directive.number, &directive.place, "proxy_set_header", outcome);
    }
}

/// Statuses of the responses that get headers of nginx unless it is told `always`.
const WITH_HEADERS: [u16; 10] = [200, 201, 204, 206, 301, 302, 303, 304, 307, 308];

/// Headers for clients. Where nothing is answered, they are those of files.
pub(super) fn for_clients(
    scope: &Scope,
    around: Surroundings,
    is_of_files: bool,
    route: &mut PlannedRoute,
    report: &mut ImportReport,
) {
    route.response_headers.remove.extend(scope.hidden_headers.iter().cloned());
    if let Some((directive, headers)) = &scope.expiry {
        let has_date = headers.is_empty() || headers.iter().any(|(name, _)| *name == "Expires");
        let outcome = match (is_of_files, has_date) {
            (true, _) => MovedOutcome::OtherWork("headers of files that nginx itself serves".to_owned()),
            (false, true) => MovedOutcome::Carried,
            (false, false) => MovedOutcome::Approximated("Cache-Control alone, without Expires".to_owned()),
        };
        report.at_route(directive.number, &directive.place, "expires", outcome);
        for (name, value) in headers {
            let header = PlannedStatusHeader {
                statuses: WITH_HEADERS.to_vec(),
                name: (*name).to_owned(),
                value: value.clone(),
                replaces: true,
            };
            add_for_clients(route, header);
        }
    }
    for (directive, name, text) in &scope.response_headers {
        let outcome = match value(&substituted(text, &scope.variables), around) {
            _ if is_of_files => MovedOutcome::OtherWork("headers of files that nginx itself serves".to_owned()),
            None => MovedOutcome::NotCarried(format!("{text} has no counterpart")),
            Some(value) if value.contains('{') && value.contains('}') => match &route.action {
                PlannedAction::Forward(_) => {
                    route.response_headers.set.push((name.clone(), value));
                    MovedOutcome::Approximated("on responses of upstreams, in place of their own".to_owned())
                }
                _ => MovedOutcome::NotCarried("the gateway's own answers have no header that depends on the request".to_owned()),
            },
            Some(value) => {
                let is_always = directive.words.len() == 3;
                let statuses = if is_always { Vec::new() } else { WITH_HEADERS.to_vec() };
                add_for_clients(route, PlannedStatusHeader { statuses, name: name.clone(), value, replaces: false });
                MovedOutcome::Carried
            }
        };
        report.at_route(directive.number, &directive.place, "add_header", outcome);
    }
}

/// A type that nginx's own answers have is theirs alone.
fn add_for_clients(route: &mut PlannedRoute, header: PlannedStatusHeader) {
    match &mut route.action {
        PlannedAction::Answer { status, headers, .. } if header.name.eq_ignore_ascii_case("content-type") => {
            if header.statuses.is_empty() || header.statuses.contains(status) {
                headers.push((header.name, header.value));
            }
        }
        _ => route.status_headers.push(header),
    }
}
