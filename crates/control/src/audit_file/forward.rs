//! Lines of the audit file on their way to a syslog server (RFC 5424). Each has its number, the hash before it and its own as structured data, so
//! that a gap shows at the server too. A thread of its own sends them: neither the file nor an answer waits for the server.

use super::{RETRY_PAUSE, TOLD_PAUSE, WAITING_MAX};
use jiff::Timestamp;
use serde_json::Value;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use tollgate_model::config::{AuditSyslog, AuditTransport, CollectorTls};
use tollgate_observe::events::ChainPlace;
use tollgate_observe::syslog_link::{SyslogLink, SyslogServer};
use tollgate_tls::collector_config;

/// `log audit` (13) with `notice` (5), and with `warning` (4) for calls that were refused (RFC 5424, 6.2.1).
const NOTICE: u8 = 13 * 8 + 5;
const WARNING: u8 = 13 * 8 + 4;
/// What the server must have taken when the process ends; the file waits for it no longer.
const FINISH_TIME_MAX: Duration = Duration::from_secs(2);
/// Bytes of a datagram, below what IPv4 and IPv6 have room for.
const DATAGRAM_BYTES_MAX: usize = 60_000;

/// A line that is in the file.
pub(super) struct WrittenLine {
    pub place: ChainPlace,
    /// With its end.
    pub line: String,
    /// Seconds since 1970.
    pub time: Option<i64>,
    pub is_refused: bool,
}

enum ForwardOrder {
    Line(WrittenLine),
    /// Tells when all lines before it are sent.
    Finish(SyncSender<()>),
}

/// The way to the server.
pub(super) struct AuditForward {
    orders: SyncSender<ForwardOrder>,
    counts: Arc<ForwardCounts>,
}

/// How many lines are not at the server.
#[derive(Default)]
struct ForwardCounts {
    /// Those that found no place to wait, since the server last took lines again.
    lost: AtomicU64,
    waiting: AtomicU64,
}

impl WrittenLine {
    pub(super) fn new(place: ChainPlace, line: &str, entry: &Value) -> Self {
        let is_refused = entry.get("status").and_then(Value::as_u64).is_some_and(|status| status >= 400);
        let time = entry.get("time").and_then(Value::as_i64);
        WrittenLine { place, line: line.to_owned(), time, is_refused }
    }
}

/// The way to the server of the settings; `None` without one.
pub(super) fn start(settings: &AuditSyslog) -> Result<Option<AuditForward>, String> {
    let Some((transport, address)) = settings.server() else { return Ok(None) };
    let address = address.to_owned();
    let server = match transport {
        AuditTransport::Udp => SyslogServer::Udp(address),
        AuditTransport::Tcp => SyslogServer::Tcp(address),
        AuditTransport::Tls => {
            let AuditSyslog { ca_file, cert_file, key_file, .. } = settings.clone();
            let tls = CollectorTls { ca_file, cert_file, key_file, ..CollectorTls::default() };
            // Files that can't be used are told at the start.
            collector_config(&tls)?;
            SyslogServer::Tls(address, tls)
        }
    };
    AuditForward::start(server).map(Some).map_err(|error| error.to_string())
}

impl AuditForward {
    /// Starts the thread.
    fn start(server: SyslogServer) -> io::Result<Self> {
        let (orders, waiting) = sync_channel(WAITING_MAX);
        let counts = Arc::<ForwardCounts>::default();
        let sender = LineSender::new(server, counts.clone());
        std::thread::Builder::new().name("audit-syslog".to_owned()).spawn(move || sender.run(&waiting))?;
        Ok(AuditForward { orders, counts })
    }

    pub(super) fn send(&self, line: WrittenLine) {
        self.counts.waiting.fetch_add(1, Ordering::Relaxed);
        if self.orders.try_send(ForwardOrder::Line(line)).is_err() {
            self.counts.waiting.fetch_sub(1, Ordering::Relaxed);
            let lost = self.counts.lost.fetch_add(1, Ordering::Relaxed) + 1;
            tracing::error!(
                lost,
                "a change is missing at the syslog server, which takes none, or not fast enough; the audit file has it"
            );
        }
    }

    /// Waits until all lines so far are sent, at the end of the process.
    pub(super) fn finish(&self) {
        let (done, sent) = sync_channel(1);
        let is_asked = self.orders.try_send(ForwardOrder::Finish(done)).is_ok();
        if !is_asked || sent.recv_timeout(FINISH_TIME_MAX).is_err() {
            let missing = self.counts.waiting.load(Ordering::Relaxed);
            tracing::error!(
                missing,
                "the last changes are missing at the syslog server, and nobody sends them again; the audit file has them"
            );
        }
    }
}

/// The thread's side.
struct LineSender {
    link: SyslogLink,
    host: String,
    counts: Arc<ForwardCounts>,
}

impl LineSender {
    fn new(server: SyslogServer, counts: Arc<ForwardCounts>) -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = Some(host.trim()).filter(|host| !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic()));
        LineSender { link: SyslogLink::new(server), host: host.unwrap_or("-").to_owned(), counts }
    }

    fn run(mut self, waiting: &Receiver<ForwardOrder>) {
        while let Ok(order) = waiting.recv() {
            match order {
                ForwardOrder::Line(line) => self.send_at_last(&line),
                ForwardOrder::Finish(done) => drop(done.send(())),
            }
        }
    }

    /// Tries until the server takes the line: what it missed while it was away, it gets.
    fn send_at_last(&mut self, line: &WrittenLine) {
        let message = self.framed(line);
        let mut told: Option<Instant> = None;
        while let Err(fault) = self.link.send(&message) {
            if told.is_none_or(|at| at.elapsed() >= TOLD_PAUSE) {
                tracing::error!(server = %self.link.server(), %fault, "the syslog server takes no changes; they wait for it");
                told = Some(Instant::now());
            }
            std::thread::sleep(RETRY_PAUSE);
        }
        self.counts.waiting.fetch_sub(1, Ordering::Relaxed);
        if told.is_some() {
            let lost = self.counts.lost.swap(0, Ordering::Relaxed);
            tracing::warn!(server = %self.link.server(), lost, "the syslog server takes changes again");
        }
    }

    /// A message as the way to the server needs it.
    fn framed(&self, line: &WrittenLine) -> Vec<u8> {
        let message = self.message(line, line.line.trim_end());
        match self.link.server() {
            SyslogServer::Udp(_) if message.len() > DATAGRAM_BYTES_MAX => self.message(line, "longer than a datagram").into_bytes(),
            SyslogServer::Udp(_) => message.into_bytes(),
            // Octet counting: a line may be longer than servers take lines to be.
            _ => format!("{} {message}", message.len()).into_bytes(),
        }
    }

    fn message(&self, line: &WrittenLine, text: &str) -> String {
        let priority = if line.is_refused { WARNING } else { NOTICE };
        let time = line.time.and_then(|time| Timestamp::from_second(time).ok()).map_or("-".to_owned(), |time| time.to_string());
        let (host, process) = (&self.host, std::process::id());
        let ChainPlace { number, previous, hash } = &line.place;
        // The number is the one that RFC 5612 reserves for those who have none of their own.
        let data = format!("[tollgate@32473 seq=\"{number}\" prev=\"{previous}\" hash=\"{hash}\"]");
        format!("<{priority}>1 {time} {host} tollgate {process} audit {data} {text}")
    }
}

#[cfg(test)]
mod tests;
