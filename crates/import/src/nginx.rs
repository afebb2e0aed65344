//! nginx's configuration: servers, locations with their precedence, upstreams, and what holds for them.

mod arguments;
mod compression;
mod condition;
mod directive;
mod known;
mod location;
mod plain;
mod scope;
mod server;
mod times;
mod upstream;
mod users;
mod value;

use crate::files::{ImportFailure, NamedFiles};
use crate::plan::{Plan, PlannedRate};
use crate::report::ImportReport;
use directive::Directive;
use known::Known;
use scope::Scope;
use std::collections::BTreeMap;
use upstream::NamedUpstream;

/// What all servers refer to.
#[derive(Default)]
struct Shared {
    upstreams: BTreeMap<String, NamedUpstream>,
    /// Zones of `limit_req_zone`: key and rate.
    rate_zones: BTreeMap<String, (String, PlannedRate)>,
    /// Keys of `limit_conn_zone`.
    connection_zones: BTreeMap<String, String>,
    /// Values of the times that the gateway has one of for all.
    times: times::GatewayTimes,
    /// The most bytes of a body, if it is the same for all.
    body_bytes_max: Option<u64>,
    /// Whether anything is cached.
    stores: bool,
    /// Whether anything is compressed.
    compresses: bool,
}

/// Reads the files into the plan.
pub(crate) fn read(text: String, files: &mut NamedFiles, plan: &mut Plan, report: &mut ImportReport) -> Result<(), ImportFailure> {
    let mut directives = directive::read(text, files, report)?;
    arguments::check(&directives)?;
    // A file of `conf.d` alone has what stands within `http`.
    let is_part = !directives.iter().any(|directive| directive.name == "http");
    let mut http = Vec::new();
    if is_part {
        http.append(&mut directives);
    }
    for directive in directives {
        match directive.name.as_str() {
            "http" => {
                report.carried(&directive.place, "http");
                http.extend(directive.block.unwrap_or_default());
            }
            "events" => {
                report.carried(&directive.place, "events");
                for inner in directive.inner() {
                    report_known(inner, report);
                }
            }
            _ => {
                report_known(&directive, report);
            }
        }
    }
    read_http(&http, files, plan, report);
    if plan.routes.is_empty() {
        return Err(files.failure("has no server that answers anything"));
    }
    Ok(())
}

fn read_http(http: &[Directive], files: &mut NamedFiles, plan: &mut Plan, report: &mut ImportReport) {
    let mut shared = Shared {
        times: times::all(http),
        body_bytes_max: times::body_bytes_max(http),
        stores: has_cache(http),
        compresses: compression::is_used(http),
        ..Shared::default()
    };
    for directive in http {
        match directive.name.as_str() {
            "upstream" => {
                let upstream = upstream::read(directive, report);
                shared.upstreams.insert(directive.word(0).to_owned(), upstream);
            }
            "limit_req_zone" => rate_zone(directive, &mut shared, report),
            "limit_conn_zone" => {
                let zone = directive.words.iter().find_map(|word| word.strip_prefix("zone=")).unwrap_or_default();
                let zone = zone.split(':').next().unwrap_or_default();
                shared.connection_zones.insert(zone.to_owned(), directive.word(0).to_owned());
                report.carried(&directive.place, "limit_conn_zone");
            }
            _ => {}
        }
    }
    let mut scope = Scope::default();
    for directive in http {
        match directive.name.as_str() {
            "upstream" | "limit_req_zone" | "limit_conn_zone" | "server" => {}
            "map" | "geo" | "split_clients" => map(directive, report),
            _ => scope.take(directive, &shared, files, plan, report),
        }
    }
    let servers: Vec<&Directive> = http.iter().filter(|directive| directive.name == "server").collect();
    server::read_all(&servers, &scope, &shared, files, plan, report);
}

/// Whether responses are stored anywhere.
fn has_cache(directives: &[Directive]) -> bool {
    directives
        .iter()
        .any(|directive| (directive.name == "proxy_cache" && directive.word(0) != "off") || has_cache(directive.inner()))
}

fn rate_zone(directive: &Directive, shared: &mut Shared, report: &mut ImportReport) {
    let named = |start: &str| directive.words.iter().find_map(|word| word.strip_prefix(start)).unwrap_or_default();
    let zone = named("zone=").split(':').next().unwrap_or_default();
    let rate = named("rate=");
    let number = rate.trim_end_matches("r/s").trim_end_matches("r/m").parse::<f64>().ok().filter(|number| *number > 0.0);
    match number {
        Some(number) => {
            let per_s = if rate.ends_with("r/m") { 60.0 } else { 1.0 };
            let rate = PlannedRate { requests: number, per_s };
            shared.rate_zones.insert(zone.to_owned(), (directive.word(0).to_owned(), rate));
            report.carried(&directive.place, "limit_req_zone");
        }
        None => report.unprotected(&directive.place, "limit_req_zone", "its rate is no number of requests"),
    }
}

fn map(directive: &Directive, report: &mut ImportReport) {
    // The usual map for WebSockets needs no counterpart.
    if directive.word(0) == "$http_upgrade" {
        report.built_in(&directive.place, "map", "WebSockets pass without settings");
    } else {
        report.not_carried(
            &directive.place,
            directive.name.clone(),
            "variables are not computed; where they are used is reported there",
        );
    }
}

/// Reports a directive that no reader looks at. Whether it protects.
fn report_known(directive: &Directive, report: &mut ImportReport) -> Option<String> {
    let place = &directive.place;
    let name = directive.name.clone();
    match known::known(&directive.name) {
        _ if plain::is_plain(directive, report) => {}
        Some(Known::BuiltIn(how)) => report.built_in(place, name, *how),
        Some(Known::Own(how)) => report.approximated(place, name, *how),
        Some(Known::OtherWork(what)) => report.other_work(place, name, *what),
        Some(Known::Without(why)) => report.not_carried(place, name, *why),
        Some(Known::Protects(why)) => {
            report.unprotected(place, name.clone(), *why);
            return Some(format!("{name} at line {}: {why}", place.line));
        }
        None => report.not_carried(place, name, "is not known to the importer"),
    }
    None
}
