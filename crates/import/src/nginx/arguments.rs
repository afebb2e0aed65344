//! What nginx itself asks of the arguments of the directives that are read here. A file that it would not load is refused, with the place: what a
//! directive with other arguments was meant to do is not known.

use super::directive::Directive;
use super::value::{bytes, milliseconds};
use crate::authority::is_port;
use crate::files::ImportFailure;
use std::collections::BTreeSet;
use std::path::Path;

/// What the first argument is.
#[derive(Clone, Copy)]
enum First {
    Any,
    Flag,
    Size,
    Time,
    Number,
    Words(&'static [&'static str]),
    Network,
    Address,
    Variable,
}

/// Directives with the fewest and the most arguments.
#[rustfmt::skip]
const DIRECTIVES: &[(&str, usize, usize, First)] = &[
    ("http", 0, 0, First::Any), ("events", 0, 0, First::Any), ("upstream", 1, 1, First::Any), ("location", 1, 2, First::Any),
    ("listen", 1, MANY, First::Address), ("server_name", 1, MANY, First::Any), ("ssl_certificate", 1, 1, First::Any),
    ("ssl_certificate_key", 1, 1, First::Any), ("return", 1, 2, First::Any), ("rewrite", 2, 3, First::Any), ("if", 1, MANY, First::Any),
    ("error_page", 2, MANY, First::Any), ("try_files", 2, MANY, First::Any), ("root", 1, 1, First::Any), ("alias", 1, 1, First::Any),
    ("index", 1, MANY, First::Any), ("internal", 0, 0, First::Any), ("proxy_pass", 1, 1, First::Any), ("grpc_pass", 1, 1, First::Any),
    ("least_conn", 0, 0, First::Any), ("ip_hash", 0, 0, First::Any), ("hash", 1, 2, First::Any), ("random", 0, 2, First::Any),
    ("proxy_set_header", 2, 2, First::Any), ("add_header", 2, 3, First::Any), ("default_type", 1, 1, First::Any), ("expires", 1, 2, First::Any),
    ("proxy_hide_header", 1, 1, First::Any), ("allow", 1, 1, First::Network), ("deny", 1, 1, First::Network), ("auth_basic", 1, 1, First::Any),
    ("auth_basic_user_file", 1, 1, First::Any), ("auth_request", 1, 1, First::Any), ("auth_request_set", 2, 2, First::Variable),
    ("satisfy", 1, 1, First::Words(&["all", "any"])), ("client_max_body_size", 1, 1, First::Size), ("proxy_read_timeout", 1, 1, First::Time),
    ("grpc_read_timeout", 1, 1, First::Time), ("limit_req", 1, 3, First::Any), ("limit_conn", 2, 2, First::Any), ("limit_req_zone", 3, 4, First::Any),
    ("limit_conn_zone", 2, 2, First::Any), ("proxy_cache", 1, 1, First::Any), ("proxy_cache_valid", 1, MANY, First::Any),
    ("proxy_next_upstream", 1, MANY, First::Any), ("proxy_next_upstream_tries", 1, 1, First::Number), ("proxy_ssl_verify", 1, 1, First::Flag),
    ("set_real_ip_from", 1, 1, First::Any), ("real_ip_header", 1, 1, First::Any), ("real_ip_recursive", 1, 1, First::Flag),
    ("gzip", 1, 1, First::Flag), ("gzip_types", 1, MANY, First::Any), ("gzip_min_length", 1, 1, First::Size), ("gzip_comp_level", 1, 1, First::Number),
    ("gzip_vary", 1, 1, First::Flag), ("gzip_http_version", 1, 1, First::Words(&["1.0", "1.1"])), ("gzip_proxied", 1, MANY, First::Any),
    ("gzip_buffers", 2, 2, First::Number), ("gzip_disable", 1, MANY, First::Any),
    ("set", 2, 2, First::Variable), ("ssl_verify_client", 1, 1, First::Words(&["on", "off", "optional", "optional_no_ca"])),
];

const MANY: usize = usize::MAX;

/// Parameters of `listen` without a value, and those with one.
const LISTEN_WORDS: &[&str] = &[
    "default_server",
    "default",
    "ssl",
    "http2",
    "spdy",
    "quic",
    "proxy_protocol",
    "deferred",
    "bind",
    "reuseport",
    "multipath",
    "udp",
];
const LISTEN_NAMED: &[&str] = &["setfib", "fastopen", "backlog", "rcvbuf", "sndbuf", "accept_filter", "ipv6only", "so_keepalive"];

/// # Errors
/// The first directive whose arguments nginx would not take.
pub(super) fn check(directives: &[Directive]) -> Result<(), ImportFailure> {
    directives.iter().try_for_each(|directive| check_in(directive, ""))
}

fn check_in(directive: &Directive, outer: &str) -> Result<(), ImportFailure> {
    let name = directive.name.as_str();
    let is_server_of_upstream = name == "server" && outer == "upstream";
    let checked = match DIRECTIVES.iter().find(|(known, ..)| *known == name) {
        // In a map, names are values.
        _ if matches!(outer, "map" | "geo" | "split_clients" | "types" | "match") => return Ok(()),
        None if is_server_of_upstream => server(directive),
        None if name == "server" && !directive.words.is_empty() => Err("has no arguments".to_owned()),
        None => Ok(()),
        Some((_, fewest, most, first)) => match directive.words.len() {
            count if count < *fewest => Err("has too few arguments".to_owned()),
            count if count > *most => Err("has too many arguments".to_owned()),
            _ => argument(*first, directive.word(0)).and_then(|()| rest(directive)),
        },
    };
    checked.map_err(|why| {
        let place = &directive.place;
        ImportFailure::new(Path::new(&place.file), place.line, format!("{name} {why}: nginx would not load the file"))
    })?;
    directive.inner().iter().try_for_each(|inner| check_in(inner, name))
}

fn argument(first: First, text: &str) -> Result<(), String> {
    let is_right = match first {
        First::Any => true,
        First::Flag => matches!(text.to_ascii_lowercase().as_str(), "on" | "off"),
        First::Size => bytes(text).is_some(),
        First::Time => milliseconds(text).is_some(),
        First::Number => text.parse::<u32>().is_ok(),
        First::Words(words) => words.contains(&text),
        First::Network => matches!(text, "all" | "unix:") || crate::authority::wrong_network([&text.to_owned()]).is_none(),
        First::Address => is_listened(text),
        First::Variable => text.len() > 1 && text.starts_with('$'),
    };
    if is_right { Ok(()) } else { Err(format!("cannot be {text}")) }
}

fn is_listened(text: &str) -> bool {
    let port = text.rsplit(':').next().unwrap_or_default();
    let has_host = text.contains([':', '.', '[']) || !text.bytes().all(|byte| byte.is_ascii_digit());
    text.starts_with("unix:") || is_port(port) || (has_host && (text == "*" || crate::authority::is_authority(text)))
}

fn rest(directive: &Directive) -> Result<(), String> {
    let words = directive.words.iter().map(String::as_str);
    match directive.name.as_str() {
        "listen" => {
            let is_known = |word: &&str| {
                LISTEN_WORDS.contains(word) || word.split_once('=').is_some_and(|(name, _)| LISTEN_NAMED.contains(&name))
            };
            words.skip(1).find(|word| !is_known(word)).map_or(Ok(()), |word| Err(format!("has no parameter {word}")))
        }
        "location" if directive.words.len() == 2 => argument(First::Words(&["=", "~", "~*", "^~"]), directive.word(0)),
        "rewrite" if directive.words.len() == 3 => {
            argument(First::Words(&["last", "break", "redirect", "permanent"]), directive.word(2))
        }
        "return" => {
            let status = directive.word(0);
            let is_url = directive.words.len() == 1 && (status.contains("://") || status.starts_with(['/', '$']));
            let is_status = status.parse::<u16>().is_ok_and(|status| status <= 999);
            if is_status || is_url { Ok(()) } else { Err(format!("has no status {status}")) }
        }
        "add_header" if directive.words.len() == 3 => argument(First::Words(&["always"]), directive.word(2)),
        "hash" if directive.words.len() == 2 => argument(First::Words(&["consistent"]), directive.word(1)),
        "limit_conn" => argument(First::Number, directive.word(1)),
        "limit_req" => {
            let is_known = |word: &str| {
                let number = |text: &str| text.parse::<u32>().is_ok();
                word == "nodelay"
                    || word.starts_with("zone=")
                    || word.strip_prefix("burst=").is_some_and(number)
                    || word.strip_prefix("delay=").is_some_and(number)
            };
            named(words, &is_known)
        }
        "limit_req_zone" => named(words.skip(1), &|word| word.starts_with("zone=") || word.starts_with("rate=") || word == "sync"),
        "limit_conn_zone" => named(words.skip(1), &|word| word.starts_with("zone=")),
        "proxy_cache_valid" => {
            let time = directive.words.last().map_or("", String::as_str);
            argument(First::Time, time)?;
            let statuses = directive.words.iter().rev().skip(1).rev().map(String::as_str);
            named(statuses, &|word| word == "any" || word.parse::<u16>().is_ok_and(|status| (100..=599).contains(&status)))
        }
        _ => Ok(()),
    }
}

/// Whether all are known, and none stands twice.
fn named<'w>(words: impl Iterator<Item = &'w str>, is_known: &dyn Fn(&str) -> bool) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for word in words {
        if !is_known(word) {
            return Err(format!("has no parameter {word}"));
        }
        if !seen.insert(word.split('=').next()) {
            return Err(format!("has {word} twice"));
        }
    }
    Ok(())
}

/// A server of an upstream.
fn server(directive: &Directive) -> Result<(), String> {
    let address = directive.word(0);
    if !address.starts_with("unix:") && !crate::authority::is_authority(address) {
        return Err(if address.is_empty() { "has no address".to_owned() } else { format!("cannot be {address}") });
    }
    let number = |text: &str| text.parse::<u32>().is_ok();
    named(directive.words.iter().skip(1).map(String::as_str), &|word| match word.split_once('=') {
        Some(("weight", value)) => value.parse::<u32>().is_ok_and(|weight| weight > 0),
        Some(("max_fails" | "max_conns", value)) => number(value),
        Some(("fail_timeout" | "slow_start", value)) => milliseconds(value).is_some(),
        Some(("route" | "service", _)) => true,
        _ => matches!(word, "backup" | "down" | "resolve" | "drain"),
    })
}
