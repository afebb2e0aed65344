//! Times and sizes that nginx has at each level, and the gateway once for all.

use super::directive::Directive;
use super::value::{bytes, milliseconds};
use std::collections::{BTreeMap, BTreeSet};

/// The directives, what they are called here, nginx's defaults in milliseconds, and whether they hold for locations with an upstream.
const TIMES: [(&str, &str, u64, bool); 3] = [
    ("keepalive_timeout", "client_idle_ms", 75_000, false),
    ("client_header_timeout", "head_ms", 60_000, false),
    ("proxy_connect_timeout", "upstream_connect_ms", 60_000, true),
];

/// The values that hold somewhere, by the names of directives.
#[derive(Clone, Debug, Default)]
pub(super) struct GatewayTimes(BTreeMap<&'static str, BTreeSet<u64>>);

impl GatewayTimes {
    /// What a directive is called in `tollgate.timeouts`, the longest of its times, and whether that holds everywhere.
    pub(super) fn of(&self, directive: &str) -> Option<(&'static str, u64, bool)> {
        let (name, member, ..) = TIMES.iter().find(|(name, ..)| *name == directive)?;
        let values = self.0.get(name)?;
        Some((member, *values.last()?, values.len() == 1))
    }
}

pub(super) fn all(http: &[Directive]) -> GatewayTimes {
    let mut times = BTreeMap::new();
    for (name, _, default_ms, is_of_upstreams) in TIMES {
        let mut values = BTreeSet::new();
        collect(http, name, is_of_upstreams, default_ms, &mut values);
        times.insert(name, values);
    }
    GatewayTimes(times)
}

/// The most bytes of a body, if it is written and the same for all that has an upstream.
pub(super) fn body_bytes_max(http: &[Directive]) -> Option<u64> {
    let mut values = BTreeSet::new();
    collect_sizes(http, None, &mut values);
    let only = values.pop_first()?;
    only.filter(|most| *most > 0 && values.is_empty())
}

fn collect_sizes(level: &[Directive], outer: Option<u64>, values: &mut BTreeSet<Option<u64>>) {
    let own = level.iter().find(|directive| directive.name == "client_max_body_size");
    let most = own.map_or(outer, |directive| bytes(directive.word(0)));
    for directive in level {
        match directive.name.as_str() {
            "proxy_pass" | "grpc_pass" => {
                values.insert(most);
            }
            "server" | "location" | "if" => collect_sizes(directive.inner(), most, values),
            _ => {}
        }
    }
}

/// The values at servers, or at what has an upstream.
fn collect(level: &[Directive], name: &str, is_of_upstreams: bool, outer_ms: u64, values: &mut BTreeSet<u64>) {
    let own = level.iter().find(|directive| directive.name == name).and_then(|directive| milliseconds(directive.word(0)));
    let value_ms = own.unwrap_or(outer_ms);
    for directive in level {
        let is_level = matches!(directive.name.as_str(), "server" | "location" | "if");
        if (is_of_upstreams && directive.name == "proxy_pass") || (!is_of_upstreams && directive.name == "listen") {
            values.insert(value_ms);
        }
        if is_level {
            collect(directive.inner(), name, is_of_upstreams, value_ms, values);
        }
    }
}
