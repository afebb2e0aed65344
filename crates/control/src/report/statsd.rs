//! Sends metrics to a StatsD or DogStatsD server over UDP: sums since the last transmission, so that the cost does not grow with
//! the traffic. A duration is sent as the middle of its bucket, with a sample rate that expresses the count.

use std::collections::HashMap;
use std::fmt::Write;
use std::io;
use std::net::{ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tollgate_data::gateway_state::GatewayState;
use tollgate_model::config::GatewayConfig;
use tollgate_model::distribution::{BOUNDS, Distribution, OWN_NS, REQUEST_NS};
use tollgate_observe::meter::{CLASSES, Sum};
use tollgate_observe::sink::SinkFigures;

/// Maximum bytes of a datagram: what fits in an Ethernet frame, as Tyk sends.
const DATAGRAM_BYTES_MAX: usize = 1_440;

/// What is sent, and the server.
pub struct StatsdSink {
    server: String,
    prefix: String,
    tags: bool,
    interval: Duration,
    socket: UdpSocket,
    figures: Arc<SinkFigures>,
    last: HashMap<String, Sum>,
    datagram: String,
    lines: u64,
}

impl StatsdSink {
    /// `None` if no server is configured or `TYK_INSTRUMENTATION` switches it off.
    pub fn new(config: &GatewayConfig, figures: Arc<SinkFigures>) -> io::Result<Option<Self>> {
        if config.statsd_connection_string.is_empty() {
            return Ok(None);
        }
        let settings = &config.tollgate.statsd;
        Ok(Some(StatsdSink {
            server: config.statsd_connection_string.clone(),
            prefix: sanitized(&config.statsd_prefix),
            tags: settings.tags,
            interval: Duration::from_millis(settings.interval_ms.max(100)),
            socket: UdpSocket::bind("[::]:0").or_else(|_| UdpSocket::bind("0.0.0.0:0"))?,
            figures,
            last: HashMap::new(),
            datagram: String::new(),
            lines: 0,
        }))
    }

    /// Sends while the process lives.
    pub fn start(mut self, shared: Arc<GatewayState>) -> io::Result<()> {
        let run = move || {
            let mut sent = Instant::now();
            loop {
                std::thread::sleep(self.interval);
                let passed = sent.elapsed();
                sent = Instant::now();
                let sums: Vec<(String, Sum)> =
                    shared.registry.meters.all().iter().filter_map(|meter| Some((meter.api.clone(), meter.sum()?))).collect();
                self.send(sums, passed);
            }
        };
        std::thread::Builder::new().name("statsd".to_owned()).spawn(run).map(drop)
    }

    fn send(&mut self, sums: Vec<(String, Sum)>, passed: Duration) {
        let mut requests = 0;
        for (api, sum) in sums {
            let last = self.last.remove(&api).unwrap_or_default();
            requests += self.api(&api, &sum, &last);
            self.last.insert(api, sum);
        }
        // Tyk's own name for this metric, sent twice, as Tyk does.
        let rate = format!("{:.2}|g", requests as f64 / passed.as_secs_f64().max(0.001));
        self.line("rps", &[], &rate);
        self.line("Load.rps", &[], &rate);
        self.flush();
    }

    /// Writes the lines of one API; returns its requests since the last transmission.
    fn api(&mut self, api: &str, sum: &Sum, last: &Sum) -> u64 {
        let mut requests = 0;
        for (index, class) in CLASSES.iter().enumerate() {
            let of = |sum: &Sum| sum.requests.iter().filter_map(|classes| classes.get(index)).sum::<u64>();
            let count = of(sum).saturating_sub(of(last));
            requests += count;
            if count > 0 {
                self.line("requests", &[("api", api), ("code", class)], &format!("{count}|c"));
            }
        }
        for (name, causes, before) in [
            ("refusals", &sum.refusals, &last.refusals),
            ("upstream_errors", &sum.upstream_errors, &last.upstream_errors),
            ("client_errors", &sum.client_errors, &last.client_errors),
        ] {
            for (cause, count) in causes {
                let count = count.saturating_sub(before.get(cause).copied().unwrap_or_default());
                if count > 0 {
                    self.line(name, &[("api", api), ("cause", cause)], &format!("{count}|c"));
                }
            }
        }
        self.times("request_time", api, &REQUEST_NS, &sum.request_time, &last.request_time);
        self.times("upstream_time", api, &REQUEST_NS, &sum.upstream_time, &last.upstream_time);
        self.times("gateway_time", api, &OWN_NS, &sum.own_time, &last.own_time);
        if sum.in_flight != last.in_flight {
            self.line("requests_in_flight", &[("api", api)], &format!("{}|g", sum.in_flight));
        }
        requests
    }

    fn times(&mut self, name: &str, api: &str, bounds: &[u64; BOUNDS], now: &Distribution, last: &Distribution) {
        let mut lower = 0;
        let beyond = bounds.last().copied().unwrap_or_default() * 2;
        let pairs = now.buckets.iter().zip(&last.buckets);
        for ((now, last), upper) in pairs.zip(bounds.iter().copied().chain([beyond])) {
            let count = now.saturating_sub(*last);
            if count > 0 {
                let ms = (lower + upper) as f64 / 2e6;
                let value = if count == 1 { format!("{ms}|ms") } else { format!("{ms}|ms|@{}", 1.0 / count as f64) };
                self.line(name, &[("api", api)], &value);
            }
            lower = upper;
        }
    }

    /// Writes one metric: `prefix.name:value` with tags, or with their values in its name.
    fn line(&mut self, name: &str, tags: &[(&str, &str)], value: &str) {
        let mut line = String::new();
        for part in [self.prefix.as_str(), name].into_iter().filter(|part| !part.is_empty()) {
            let _ = write!(line, "{}{part}", if line.is_empty() { "" } else { "." });
        }
        if !self.tags {
            tags.iter().for_each(|(_, value)| {
                let _ = write!(line, ".{}", sanitized(value).replace('.', "_"));
            });
        }
        let _ = write!(line, ":{value}");
        if self.tags {
            for (index, (name, value)) in tags.iter().enumerate() {
                let _ = write!(line, "{}{name}:{}", if index == 0 { "|#" } else { "," }, sanitized(value));
            }
        }
        line.push('\n');
        if self.datagram.len() + line.len() > DATAGRAM_BYTES_MAX {
            self.flush();
        }
        self.datagram.push_str(&line);
        self.lines += 1;
    }

    fn flush(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        let datagram = std::mem::take(&mut self.datagram);
        if lines == 0 {
            return;
        }
        // Resolved each time, once a second: the server may move.
        let sent = self.server.to_socket_addrs().and_then(|addresses| {
            let mut last = io::Error::other("no address");
            for address in addresses {
                let address = match (address, self.socket.local_addr()?) {
                    (std::net::SocketAddr::V4(v4), std::net::SocketAddr::V6(_)) => (v4.ip().to_ipv6_mapped(), v4.port()).into(),
                    (address, _) => address,
                };
                match self.socket.send_to(datagram.as_bytes(), address) {
                    Ok(_) => return Ok(()),
                    Err(error) => last = error,
                }
            }
            Err(last)
        });
        let counter = if sent.is_ok() { &self.figures.written } else { &self.figures.failed };
        counter.fetch_add(lines, Ordering::Relaxed);
    }
}

/// Replaces characters that have a meaning to a server, as Tyk does.
fn sanitized(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '$' }).collect()
}

#[cfg(test)]
mod tests;
