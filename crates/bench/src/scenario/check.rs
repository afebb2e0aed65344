//! Validates scenarios beyond their syntax. Reports all problems, not only the first.

use super::{BURST, Case, CredentialKind, Draw, LoadSpec, Meanwhile, Scenario, StatusCount};
use std::collections::BTreeSet;

/// Maximum connections: the number of ports that one machine has for one address.
const CONNECTIONS_MAX: u32 = 28_000;
/// Maximum APIs: adapters still write this many definitions quickly.
const APIS_MAX: u32 = 100_000;
/// Maximum streams: what HTTP/2 servers commonly allow per connection.
const STREAMS_MAX: u32 = 100;
/// Maximum processes of a gateway: more than that share few CPUs only with each other.
const GATEWAYS_MAX: u32 = 16;
/// Maximum tokens: signing one takes a millisecond.
const TOKENS_MAX: u32 = 20_000;

/// Maximum popular keys: a cache of 256 MiB still has all of them with bodies of 1 KiB.
const POPULAR_MAX: u32 = 100_000;

pub(crate) fn check(scenario: &Scenario) -> Result<(), String> {
    let mut problems = Vec::new();
    if scenario.load.is_empty() {
        problems.push("load: there is none".to_owned());
    }
    if scenario.case.is_empty() {
        problems.push("case: there is none".to_owned());
    }
    let mut full_speed_before = false;
    for (index, load) in scenario.load.iter().enumerate() {
        let at = |key: &str, reason: &str| format!("load[{index}] ({}): {key}: {reason}", load.name);
        check_load(load, full_speed_before, &at, &mut problems);
        full_speed_before |= load.is_full_speed();
    }
    let has_streams = scenario.load.iter().any(|load| load.streams.is_some());
    if scenario.side_by_side && (!scenario.own_process || scenario.load.iter().any(|load| !load.is_full_speed())) {
        problems.push("side_by_side: needs own_process = true, and loads at full speed alone".to_owned());
    }
    if scenario.gateways == 0 || scenario.gateways > GATEWAYS_MAX {
        problems.push(format!("gateways: must be 1 to {GATEWAYS_MAX}"));
    }
    if scenario.gateways > 1 && (scenario.side_by_side || scenario.meanwhile != Meanwhile::Nothing) {
        problems.push("gateways: side_by_side and meanwhile need a single one".to_owned());
    }
    let settings_differ =
        scenario.case.iter().any(|case| scenario.case.first().is_some_and(|first| first.settings != case.settings));
    let mut listens = BTreeSet::new();
    let mut keys = BTreeSet::new();
    for (index, case) in scenario.case.iter().enumerate() {
        let at = |key: &str, reason: &str| format!("case[{index}] ({}): {key}: {reason}", case.name);
        check_case(case, &at, &mut problems);
        check_keys(case, &at, &mut problems);
        check_body(case, &at, &mut problems);
        if !listens.insert(&case.api.listen) {
            problems.push(at("api.listen", "another case has the same path"));
        }
        if case.key.as_ref().is_some_and(|key| !keys.insert(&key.value)) && !scenario.own_process {
            problems.push(at("key.value", "another case has the same key, and both are in one process"));
        }
        if settings_differ && !case.settings.is_empty() && !scenario.own_process {
            problems.push(at("settings", "needs own_process = true unless all cases have the same"));
        }
        if !case.environment.is_empty() && scenario.case.len() > 1 && !scenario.own_process {
            problems.push(at("environment", "needs own_process = true where there are several cases"));
        }
        if scenario.gateways > 1 && case.request.tokens > 0 {
            problems.push(at("request.tokens", "needs a single gateway"));
        }
        if case.api.among > 1 && scenario.case.len() > 1 && !scenario.own_process {
            problems.push(at("api.among", "needs own_process = true where there are several cases"));
        }
        if has_streams && !case.api.http2 {
            problems.push(at("api.http2", "a load has streams, which are HTTP/2's"));
        }
        if case.api.http2 && case.api.tls.is_none() && scenario.load.iter().any(|load| load.streams.is_none()) {
            problems.push(at("api.http2", "without TLS the port speaks nothing else, so each load needs streams"));
        }
        if speaks_alone(case) && scenario.case.len() > 1 && !scenario.own_process {
            problems.push(at("api.tls", "needs own_process = true where there are several cases"));
        }
        if scenario.draw == Draw::Line && case.x.is_none() {
            problems.push(at("x", "is missing, and draw = \"line\" needs it"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n  ")) }
}

fn check_body(case: &Case, at: &impl Fn(&str, &str) -> String, problems: &mut Vec<String>) {
    let json = &case.request.json;
    if !json.is_empty() && case.request.body_bytes > 0 {
        problems.push(at("request.json", "stands instead of body_bytes"));
    }
    if !json.is_empty()
        && let Err(error) = serde_json::from_str::<serde_json::Value>(json)
    {
        problems.push(at("request.json", &format!("is no JSON: {error}")));
    }
}

fn check_keys(case: &Case, at: &impl Fn(&str, &str) -> String, problems: &mut Vec<String>) {
    let has_place = case.request.path.contains("{key}");
    match case.request.keys {
        Some(_) if !has_place => problems.push(at("request.keys", "the path has no {key}")),
        Some(space) if space.popular == 0 || space.popular > POPULAR_MAX => {
            problems.push(at("request.keys.popular", &format!("must be 1 to {POPULAR_MAX}")));
        }
        Some(space) if space.unique_percent > 100 => problems.push(at("request.keys.unique_percent", "must be 0 to 100")),
        None if has_place => problems.push(at("request.path", "{key} needs request.keys")),
        _ => {}
    }
}

fn check_load(load: &LoadSpec, full_speed_before: bool, at: &impl Fn(&str, &str) -> String, problems: &mut Vec<String>) {
    if load.connections == 0 || load.connections > CONNECTIONS_MAX {
        problems.push(at("connections", &format!("must be 1 to {CONNECTIONS_MAX}")));
    }
    if load.streams.is_some_and(|streams| streams == 0 || streams > STREAMS_MAX) {
        problems.push(at("streams", &format!("must be 1 to {STREAMS_MAX}")));
    }
    if load.streams.is_some() && load.new_connections {
        problems.push(at("new_connections", "a stream does not have a connection of its own"));
    }
    let given = load.rates();
    if given.len() > 1 || (load.ramp && !given.is_empty()) {
        problems.push(at("rate", "only one of rate, the percentages and ramp can be given"));
    }
    for (name, rate) in given {
        if !rate.is_finite() || rate <= 0.0 {
            problems.push(at(name, "must be above 0"));
        }
        if name != "rate" && !full_speed_before {
            problems.push(at(name, "needs a load at full speed before it, which the capacity is taken from"));
        }
    }
    if load.seconds.is_some_and(|seconds| !seconds.is_finite() || seconds <= 0.0) {
        problems.push(at("seconds", "must be above 0"));
    }
    if load.requests == Some(0) {
        problems.push(at("requests", "must be above 0"));
    }
    if load.requests.is_some() && load.seconds.is_some() {
        problems.push(at("requests", "seconds is given too; only one of them can end a load"));
    }
}

fn check_case(case: &Case, at: &impl Fn(&str, &str) -> String, problems: &mut Vec<String>) {
    let listen = &case.api.listen;
    if !listen.starts_with('/') || !listen.ends_with('/') || listen.len() < 3 || listen.contains(char::is_whitespace) {
        problems.push(at("api.listen", "must be a path such as /test/"));
    }
    if case.api.among > APIS_MAX {
        problems.push(at("api.among", &format!("must be at most {APIS_MAX}")));
    }
    if !case.request.path.starts_with('/') {
        problems.push(at("request.path", "must begin with /"));
    }
    if case.key.is_some() && case.api.auth.is_none() {
        problems.push(at("key", "the API takes no keys; give it an api.auth"));
    }
    if case.api.auth_method.is_some() && case.api.auth.is_some() {
        problems.push(at("api.auth_method", "api.auth is given too; callers have one of both"));
    }
    if case.request.tokens > 0 && case.api.auth_method != Some(CredentialKind::Jwt) {
        problems.push(at("request.tokens", "needs api.auth_method = \"jwt\""));
    }
    if case.request.tokens > 0 && u64::from(case.request.tokens) < BURST {
        problems.push(at("request.tokens", &format!("must be at least {BURST}, which a gateway is judged by")));
    }
    if case.request.tokens > TOKENS_MAX {
        problems.push(at("request.tokens", &format!("must be at most {TOKENS_MAX}")));
    }
    let has_secrets = case.key.is_some() || case.api.auth_method.is_some() || !case.check.is_empty();
    if case.api.http2 && case.request.websocket {
        problems.push(at("request.websocket", "needs HTTP/1.1, without api.http2"));
    }
    if case.api.http2 && has_secrets {
        problems.push(at("api.http2", "keys, tokens and checks are for HTTP/1.1"));
    }
    for limit in case.key.iter().flat_map(|key| key.limits.iter().chain(&key.quota)).chain(&case.api.limit) {
        if limit.requests == 0 || limit.seconds == 0 {
            problems.push(at("limits", "requests and seconds must be above 0"));
        }
    }
    let counts: Vec<_> = case.expect.values().collect();
    let open = counts.iter().filter(|count| !matches!(count, StatusCount::Exactly(_))).count();
    if open != 1 || (counts.contains(&&StatusCount::All) && counts.len() > 1) {
        problems.push(at("expect", "must have one status with \"all\", or numbers and one status with \"rest\""));
    }
    // A WebSocket's handshake is answered with 101.
    let lowest = if case.request.websocket { 101 } else { 200 };
    for status in case.expect.keys() {
        if !status.split('|').all(|one| one.parse::<u16>().is_ok_and(|code| (lowest..=599).contains(&code))) {
            problems.push(at("expect", &format!("{status} is no status from {lowest} to 599, nor several joined by |")));
        }
    }
}

/// Whether the gateway's port uses TLS or HTTP/2, so that a plain HTTP/1.1 request cannot reach it.
fn speaks_alone(case: &Case) -> bool {
    case.api.tls.is_some() || case.api.http2
}
