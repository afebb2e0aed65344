//! Finds problems of a configuration before it runs.

use std::net::{IpAddr, SocketAddr};

use super::{GatewayConfig, TokenizerSettings, TollgateSettings, WELL_KNOWN_SECRET};
use crate::error_override;
use crate::events::{self, HandlerOwner};
use crate::json_path::JsonPath;
use crate::network::parse_network;
use crate::problem::Findings;
use crate::protections;
use crate::token::{is_header_value, is_token};

/// Maximum tracked addresses: 256 MiB of memory. More is usually a typing error.
const ADDRESSES_MAX: usize = 1 << 24;

/// Adds the problems of `config` to `findings`.
pub(super) fn check(config: &GatewayConfig, findings: &mut Findings) {
    check_listeners(config, findings);
    check_metrics(config, findings);
    check_analytics(config, findings);
    check_shared_definitions(config, findings);
    check_cache_storage(config, findings);
    check_secret(config, findings);
    check_messages(config, findings);
    check_words(config, findings);
    check_numbers(config, findings);
    check_limiters(config, findings);
    config.external_services.check(findings);
    config.tollgate.acme.check(findings);
    config.tollgate.operators.check(findings);
    config.tollgate.portal.check(findings);
    config.tollgate.waf.check(findings);
    TokenizerSettings::check_all(&config.tollgate.tokenizers, findings);
    config.opentelemetry.check(findings);
    config.kv.check(findings);
    config.storage.check(&JsonPath::of("storage"), findings);
    config.analytics_storage.check(&JsonPath::of("analytics_storage"), findings);
    config.cache_storage.check(&JsonPath::of("cache_storage"), findings);
    events::check(&config.event_handlers, &JsonPath::of("event_handlers"), HandlerOwner::Gateway, findings);
    config.monitor.check(config.enforce_org_quotas, findings);
    check_own(config, findings);
    check_unsupported(config, findings);
}

fn check_listeners(config: &GatewayConfig, findings: &mut Findings) {
    let own = &config.tollgate.control_listen_address;
    for (field, address) in [("listen_address", &config.listen_address), ("tollgate.control_listen_address", own)] {
        let bare = address.trim_start_matches('[').trim_end_matches(']');
        if !address.is_empty() && address != "localhost" && bare.parse::<IpAddr>().is_err() {
            findings.error(&JsonPath::of(field), "must be an IP address");
        }
    }
    if !own.is_empty() && (config.control_api_port == 0 || config.control_api_port == config.listen_port) {
        let message = "has no effect without a control_api_port of its own";
        findings.warning(&JsonPath::of("tollgate.control_listen_address"), message);
    }
    let options = &config.http_server_options;
    let at = JsonPath::of("http_server_options");
    if options.use_ssl && options.certificates.is_empty() && options.ssl_certificates.is_empty() && !config.tollgate.acme.is_on() {
        findings.warning(&at.key("use_ssl"), "TLS without a certificate: only hosts that an API has one for are served");
    }
    if !options.use_ssl && config.security.control_api_use_mutual_tls {
        let message = "needs http_server_options.use_ssl: the control API refuses everybody";
        findings.warning(&JsonPath::of("security").key("control_api_use_mutual_tls"), message);
    }
    let asks_callers = options.use_ssl && config.security.control_api_use_mutual_tls;
    if !config.control_api_hostname.is_empty() && !asks_callers {
        // In Tyk it protects profiles, which Tollgate does not have, and callers' certificates.
        let message = "has no effect without http_server_options.use_ssl and security.control_api_use_mutual_tls: the control API answers \
                       for every host name, as in Tyk; control_api_port gives it a port of its own";
        findings.warning(&JsonPath::of("control_api_hostname"), message);
    }
    for (index, certificate) in options.certificates.iter().enumerate() {
        let at = at.key("certificates").index(index);
        if certificate.cert_file.as_os_str().is_empty() {
            findings.error(&at.key("cert_file"), "must not be empty");
        }
    }
}

fn check_metrics(config: &GatewayConfig, findings: &mut Findings) {
    let metrics = &config.tollgate.metrics;
    let at = JsonPath::of("tollgate.metrics.listen");
    if !metrics.listen.is_empty() && metrics.address().is_none() {
        findings.error(&at, "must be address:port, such as 127.0.0.1:9091");
    } else if !metrics.listen.is_empty() && !metrics.enabled {
        findings.warning(&at, "has no effect: tollgate.metrics.enabled is false");
    }
}

fn check_analytics(config: &GatewayConfig, findings: &mut Findings) {
    let settings = &config.analytics_config;
    for (index, address) in settings.ignored_ips.iter().enumerate() {
        if address.parse::<IpAddr>().is_err() {
            findings.error(&JsonPath::of("analytics_config.ignored_ips").index(index), "must be an IP address");
        }
    }
    if !matches!(settings.serializer_type.as_str(), "" | "msgpack" | "protobuf") {
        let message = "neither msgpack nor protobuf: msgpack is what is written, as by Tyk";
        findings.ignored(&JsonPath::of("analytics_config.serializer_type"), message);
    }
    if settings.enable_geo_ip && settings.geo_ip_db_path.as_os_str().is_empty() {
        let message = "names no database: records have no places";
        findings.warning(&JsonPath::of("analytics_config.geo_ip_db_path"), message);
    }
    if config.enable_separate_analytics_store && !config.analytics_storage.is_redis() {
        let message = "has no effect: analytics_storage says where no Redis is";
        findings.warning(&JsonPath::of("enable_separate_analytics_store"), message);
    }
    let server = &config.statsd_connection_string;
    let port = server.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    if !server.is_empty() && port.is_none() {
        findings.error(&JsonPath::of("statsd_connection_string"), "must be host:port, such as localhost:8125");
    }
    if !server.is_empty() && !config.tollgate.metrics.enabled {
        findings.warning(&JsonPath::of("statsd_connection_string"), "has no effect: tollgate.metrics.enabled is false");
    }
}

fn check_shared_definitions(config: &GatewayConfig, findings: &mut Findings) {
    if config.tollgate.shared_definitions && !config.storage.is_redis() {
        let message = "needs a Redis in storage, in which gateways share definitions";
        findings.error(&JsonPath::of("tollgate.shared_definitions"), message);
    }
}

fn check_cache_storage(config: &GatewayConfig, findings: &mut Findings) {
    match (config.enable_separate_cache_store, config.cache_storage.is_redis()) {
        (true, false) => {
            let message = "has no effect: cache_storage says where no Redis is";
            findings.warning(&JsonPath::of("enable_separate_cache_store"), message);
        }
        (false, true) => {
            let message = "has no effect without enable_separate_cache_store";
            findings.warning(&JsonPath::of("cache_storage"), message);
        }
        _ => {}
    }
}

fn check_secret(config: &GatewayConfig, findings: &mut Findings) {
    for (field, secret) in [("secret", &config.secret), ("node_secret", &config.node_secret)] {
        if secret == WELL_KNOWN_SECRET {
            let message = "is Tyk's well-known default: anyone who can reach the control API controls the gateway";
            findings.warning(&JsonPath::of(field), message);
        }
    }
    if !is_header_value(&config.secret) {
        let message = "must not contain line ends or other control characters";
        findings.error(&JsonPath::of("secret"), message);
    }
}

fn check_messages(config: &GatewayConfig, findings: &mut Findings) {
    for (id, message) in &config.override_messages {
        if message.code != 0 && !(100..=599).contains(&message.code) {
            let at = JsonPath::of("override_messages").key(id).key("code");
            findings.error(&at, "must be a status code from 100 to 599");
        }
    }
    error_override::check(&config.error_overrides, &JsonPath::of("error_overrides"), findings);
    if !config.version_header.is_empty() && !is_token(&config.version_header) {
        findings.error(&JsonPath::of("version_header"), "is not a header name");
    }
}

/// Settings with a fixed set of words.
fn check_words(config: &GatewayConfig, findings: &mut Findings) {
    for (field, word, words) in [
        ("rate_limit_response_headers", &config.rate_limit_response_headers, &["quotas", "rate_limits"][..]),
        ("log_format", &config.log_format, &["default", "text", "legacy", "json"]),
        ("log_level", &config.log_level, &["trace", "debug", "info", "warn", "warning", "error", "fatal", "panic"]),
    ] {
        if !word.is_empty() && !words.iter().any(|w| w.eq_ignore_ascii_case(word)) {
            let message = format!("must be one of {}; the default is used", words.join(", "));
            findings.warning(&JsonPath::of(field), message);
        }
    }
    check_syslog(config, findings);
    let source = &config.policies.policy_source;
    if !matches!(source.as_str(), "" | "file") {
        let message = format!("policies from {source:?} are not supported yet");
        findings.ignored(&JsonPath::of("policies.policy_source"), message);
    }
}

/// A server that cannot be reached as written is an error: the log would be missing where an operator looks for it.
fn check_syslog(config: &GatewayConfig, findings: &mut Findings) {
    if !config.use_syslog {
        return;
    }
    let address = &config.syslog_network_addr;
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    match config.syslog_transport.as_str() {
        "" => {}
        "tcp" | "udp" if port.is_some() => {}
        "tcp" | "udp" => findings.error(&JsonPath::of("syslog_network_addr"), "must be host:port, such as localhost:514"),
        "unix" | "unixgram" if address.starts_with('/') => {}
        "unix" | "unixgram" => findings.error(&JsonPath::of("syslog_network_addr"), "must be the path of a socket"),
        _ => findings
            .error(&JsonPath::of("syslog_transport"), "must be tcp, udp, unix or unixgram, or empty for this machine's socket"),
    }
}

fn check_numbers(config: &GatewayConfig, findings: &mut Findings) {
    for (field, number) in [
        ("proxy_default_timeout", config.proxy_default_timeout),
        ("reload_interval", config.reload_interval),
        ("drl_threshold", config.drl_threshold),
    ] {
        if number < 0.0 {
            findings.error(&JsonPath::of(field), "must not be negative");
        }
    }
}

/// Only one limiter applies; if several are set, the same one as in Tyk.
fn check_limiters(config: &GatewayConfig, findings: &mut Findings) {
    let limiters = [
        (
            "enable_fixed_window_rate_limiter",
            config.enable_fixed_window_rate_limiter,
            "fixed windows, each of which starts with its first request; counted in this process",
        ),
        (
            "enable_sentinel_rate_limiter",
            config.enable_sentinel_rate_limiter,
            "an exact sliding window; no client is locked out for a whole `per`, and rejected requests do not count",
        ),
        (
            "enable_redis_rolling_limiter",
            config.enable_redis_rolling_limiter,
            "an exact sliding window; counted in this process, and rejected requests do not count",
        ),
    ];
    if config.drl_threshold != GatewayConfig::of_empty_file().drl_threshold {
        findings.ignored(&JsonPath::of("drl_threshold"), "has no effect: one algorithm counts, however low the rate");
    }
    let slides =
        (config.enable_sentinel_rate_limiter || config.enable_redis_rolling_limiter) && !config.enable_fixed_window_rate_limiter;
    if config.enable_rate_limit_smoothing && !slides {
        let message = "has no effect without enable_redis_rolling_limiter or enable_sentinel_rate_limiter, as in Tyk";
        findings.warning(&JsonPath::of("enable_rate_limit_smoothing"), message);
    }
    let mut asked = limiters.into_iter().filter(|(_, is_asked, _)| *is_asked);
    let Some((first, _, meaning)) = asked.next() else { return };
    findings.note(&JsonPath::of(first), meaning);
    for (field, _, _) in asked {
        findings.warning(&JsonPath::of(field), format!("has no effect, as {first} is set too"));
    }
}

fn check_own(config: &GatewayConfig, findings: &mut Findings) {
    protections::check_names(&config.tollgate.serve_without, findings);
    let at = JsonPath::of("tollgate");
    let own = &config.tollgate;
    for (field, entries) in [("trusted_proxies", &own.trusted_proxies), ("proxy_protocol", &own.proxy_protocol)] {
        for (index, entry) in entries.iter().enumerate() {
            if parse_network(entry).is_none() {
                let message = format!("{entry:?} is neither an IP address nor a CIDR range");
                findings.error(&at.key(field).index(index), message);
            }
        }
    }
    for (index, entry) in own.events.redirect_networks.iter().enumerate() {
        if parse_network(entry).is_none() {
            let message = format!("{entry:?} is neither an IP address nor a CIDR range");
            findings.error(&at.key("events").key("redirect_networks").index(index), message);
        }
    }
    for (index, server) in own.dns.servers.iter().enumerate() {
        if server.parse::<SocketAddr>().is_err() {
            let at = at.key("dns").key("servers").index(index);
            findings.error(&at, format!("{server:?} is not an address and a port"));
        }
    }
    let timeouts = &own.timeouts;
    for (group, field, number) in [
        ("limits", "head_bytes_max", own.limits.head_bytes_max as u64),
        ("limits", "header_lines_max", own.limits.header_lines_max as u64),
        ("limits", "http2_streams_max", u64::from(own.limits.http2_streams_max)),
        ("limits", "http2_buffer_bytes_max", own.limits.http2_buffer_bytes_max as u64),
        ("limits", "body_bytes_max", own.limits.body_bytes_max as u64),
        ("limits", "bodies_bytes_max", own.limits.bodies_bytes_max as u64),
        ("limits", "batch_requests_max", own.limits.batch_requests_max as u64),
        ("limits", "tunnels_max", own.limits.tunnels_max as u64),
        ("cache", "memory_mib_max", own.cache.memory_mib_max),
        ("cache", "body_bytes_max", own.cache.body_bytes_max),
        ("timeouts", "head_ms", timeouts.head_ms),
        ("timeouts", "handshake_ms", timeouts.handshake_ms),
        ("timeouts", "client_idle_ms", timeouts.client_idle_ms),
        ("timeouts", "client_write_ms", timeouts.client_write_ms),
        ("timeouts", "upstream_connect_ms", timeouts.upstream_connect_ms),
        ("timeouts", "upstream_idle_ms", timeouts.upstream_idle_ms),
        ("timeouts", "tunnel_idle_ms", timeouts.tunnel_idle_ms),
        ("timeouts", "restart_ms", timeouts.restart_ms),
        ("shared_store", "answer_ms_max", own.shared_store.answer_ms_max),
        ("shared_store", "sessions_max", own.shared_store.sessions_max as u64),
    ] {
        if number == 0 {
            findings.error(&at.key(group).key(field), "must be more than 0");
        }
    }
    check_key_hashes(config, &at.key("shared_store").key("refuse_weak_hashes"), findings);
    check_clients(own, &at, findings);
    if !(400..=599).contains(&own.quota_status) {
        findings.error(&at.key("quota_status"), "must be a status code from 400 to 599");
    }
    if own.upstream_connections_max == 0 {
        findings.error(&at.key("upstream_connections_max"), "must be more than 0");
    }
}

/// The switch that refuses keys with weak hashes: new keys must not have one.
fn check_key_hashes(config: &GatewayConfig, at: &JsonPath, findings: &mut Findings) {
    if !config.tollgate.shared_store.refuse_weak_hashes {
        return;
    }
    if !config.hash_keys {
        findings.warning(at, "has no effect without hash_keys");
    } else if config.hash_key_function.is_weak() {
        findings.error(at, "needs a hash_key_function of murmur64, murmur128 or sha256: otherwise new keys would be refused");
    }
}

/// Client addresses and their limits.
fn check_clients(own: &TollgateSettings, at: &JsonPath, findings: &mut Findings) {
    let header = &own.client_ip_header;
    if !header.is_empty() && !is_token(header) {
        findings.error(&at.key("client_ip_header"), "is not a header name");
    } else if !header.is_empty() && own.trusted_proxies.is_empty() {
        findings.warning(&at.key("client_ip_header"), "has no effect without tollgate.trusted_proxies");
    }
    let requests = &own.limits.requests_per_ip;
    let at = at.key("limits").key("requests_per_ip");
    for (field, number, is_good) in [("rate", requests.rate, requests.rate >= 0.0), ("per", requests.per, requests.per > 0.0)] {
        if !is_good || !number.is_finite() {
            findings.error(&at.key(field), "must be a positive number");
        }
    }
    if !(1..=ADDRESSES_MAX).contains(&requests.addresses_max) {
        findings.error(&at.key("addresses_max"), format!("must be from 1 to {ADDRESSES_MAX}"));
    }
}

/// Typed settings without effect.
fn check_unsupported(config: &GatewayConfig, findings: &mut Findings) {
    for (field, is_set) in [
        ("dns_cache", config.dns_cache.enabled),
        ("http_server_options.ssl_insecure_skip_verify", config.http_server_options.ssl_insecure_skip_verify),
    ] {
        if is_set {
            findings.ignored(&JsonPath::of(field), "not supported yet");
        }
    }
}
