//! What the engine takes from the configuration.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use tollgate_data::client_tls::ClientTerms;
use tollgate_engine::{AddressLimit, Content, Limits, Listen, Speed, TlsConfigSelector, TrustedProxies};
use tollgate_model::config::{GatewayConfig, Timeouts};

/// Number of data threads.
pub(super) fn threads(config: &GatewayConfig) -> usize {
    match config.tollgate.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// The limits of the data threads.
pub(super) fn limits(config: &GatewayConfig) -> Limits {
    let (written, timeouts) = (&config.tollgate.limits, &config.tollgate.timeouts);
    let threads = threads(config) as u64;
    let of_each_thread = |idle_max: u64| if idle_max == 0 { u64::MAX } else { idle_max.div_ceil(threads) };
    let idle_max = if config.proxy_close_connections { 0 } else { of_each_thread(config.max_idle_connections_per_host) };
    let idle_total_max = of_each_thread(config.max_idle_connections);
    // Tyk's setting, unless ours differs from the default.
    let is_usual = timeouts.client_write_ms == Timeouts::default().client_write_ms;
    let client_write_s = if is_usual { config.http_server_options.write_timeout } else { 0 };
    let seconds_or = |seconds: u64, default_ms: u64| if seconds == 0 { default_ms } else { seconds.saturating_mul(1000) };
    Limits {
        head_bytes_max: written.head_bytes_max,
        header_lines_max: written.header_lines_max,
        head_ms: timeouts.head_ms,
        handshake_ms: timeouts.handshake_ms,
        http2_streams_max: written.http2_streams_max,
        http2_buffer_bytes_max: written.http2_buffer_bytes_max / threads.max(1) as usize,
        kept_body_bytes_max: written.bodies_bytes_max / threads.max(1) as usize,
        tunnels: config.http_server_options.enable_websockets,
        tunnels_max: written.tunnels_max,
        tunnel_idle_ms: timeouts.tunnel_idle_ms,
        client_idle_ms: timeouts.client_idle_ms,
        client_write_ms: seconds_or(client_write_s, timeouts.client_write_ms),
        upstream_connect_ms: timeouts.upstream_connect_ms.min(config.proxy_timeout().as_millis() as u64),
        upstream_first_byte_ms: config.proxy_timeout().as_millis() as u64,
        body_stall_ms: seconds_or(config.http_server_options.read_timeout, Limits::default().body_stall_ms),
        upload_min: Speed { bytes_per_s_min: written.upload_rate_min, grace_ms: timeouts.rate_grace_ms },
        download_min: Speed { bytes_per_s_min: written.download_rate_min, grace_ms: timeouts.rate_grace_ms },
        upstream_idle_ms: timeouts.upstream_idle_ms,
        upstream_idle_max: usize::try_from(idle_max).unwrap_or(usize::MAX),
        upstream_idle_total_max: usize::try_from(idle_total_max).unwrap_or(usize::MAX),
        upstream_connections_max: usize::try_from(config.tollgate.upstream_connections_max).unwrap_or(usize::MAX),
        upstream_life_ms: config.max_conn_time.saturating_mul(1000),
        drain_ms: config.drain_timeout().as_millis() as u64,
    }
}

/// Where the gateway listens for clients of all APIs that have no port of their own.
pub(super) fn listen(config: &GatewayConfig, terms: Option<Arc<ClientTerms>>) -> Listen {
    Listen {
        address: address(&config.listen_address, config.listen_port),
        name: 0,
        content: Content::Http,
        tls: terms.map(|terms| terms as Arc<dyn TlsConfigSelector>),
        proxies: announcing_proxies(config),
    }
}

/// The proxies whose connections begin with a PROXY header, if there are any.
pub(super) fn announcing_proxies(config: &GatewayConfig) -> Option<TrustedProxies> {
    let networks = config.tollgate.announcing_networks();
    let is_announcing = move |address: IpAddr| networks.iter().any(|network| network.contains(&address));
    let proxies: TrustedProxies = Arc::new(is_announcing);
    Some(proxies).filter(|_| !config.tollgate.proxy_protocol.is_empty())
}

/// The limit on connections per client address, if configured. Proxies are exempt: many clients are behind them.
pub(super) fn address_limit(config: &GatewayConfig) -> Option<Arc<AddressLimit>> {
    let connections_max = config.tollgate.limits.connections_per_ip_max;
    let proxies = [config.tollgate.trusted_networks(), config.tollgate.announcing_networks()].concat();
    let is_proxy = move |address: IpAddr| proxies.iter().any(|network| network.contains(&address));
    (connections_max > 0).then(|| Arc::new(AddressLimit::new(connections_max, Arc::new(is_proxy))))
}

/// The configured address. Without one, all addresses of both families, if the system has IPv6.
pub(super) fn address(written: &str, port: u16) -> SocketAddr {
    let written = match written {
        "localhost" => "127.0.0.1",
        written => written.trim_start_matches('[').trim_end_matches(']'),
    };
    let ip = written.parse().unwrap_or_else(|_| match TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)) {
        Ok(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        Err(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    });
    SocketAddr::new(ip, port)
}
