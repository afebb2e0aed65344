//! The log as messages for a syslog server, in the format of RFC 3164 and as Go's `log/syslog` writes it, which Tyk uses: over UDP, TCP or
//! a socket of this machine. Messages that cannot be delivered are lost and counted; nobody waits for a server.

use crate::syslog_link::{SyslogLink, SyslogServer};
use jiff::ZonedDateTime;
use jiff::tz::TimeZone;
use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// The facility `daemon` of RFC 3164, section 4.1.1, in its place within a priority.
const DAEMON: u8 = 3 << 3;
/// Interval between attempts to reach a server.
const RETRY_TIME: Duration = Duration::from_secs(1);

/// Sends the lines that are written to it. Each line begins with its priority, as [`WithPriority`] writes it.
pub(super) struct SyslogWriter {
    link: SyslogLink,
    /// Of the last attempt that failed.
    failed: Option<Instant>,
    lost: u64,
    host: String,
    message: Vec<u8>,
    zone: TimeZone,
}

impl SyslogWriter {
    pub(super) fn new(server: SyslogServer) -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned();
        SyslogWriter { link: SyslogLink::new(server), failed: None, lost: 0, host, message: Vec::new(), zone: TimeZone::system() }
    }

    fn send(&mut self, line: &[u8]) {
        if self.failed.is_some_and(|at| at.elapsed() < RETRY_TIME) {
            self.lost += 1;
            return;
        }
        self.write_message(line);
        let sent = self.link.send(&self.message);
        match sent {
            Ok(()) if self.failed.take().is_some() => {
                let lost = std::mem::take(&mut self.lost);
                tracing::info!(target: super::ABOUT, server = %self.link.server(), lost_lines = lost, "the syslog server takes lines again");
            }
            Ok(()) => {}
            Err(error) => {
                self.lost += 1;
                if self.failed.replace(Instant::now()).is_none() {
                    tracing::error!(target: super::ABOUT, server = %self.link.server(), %error, "the syslog server takes no lines");
                }
            }
        }
    }

    fn write_message(&mut self, line: &[u8]) {
        let split = line.iter().position(|byte| *byte == b'>').filter(|_| line.starts_with(b"<")).map_or(0, |end| end + 1);
        let (priority, text) = line.split_at(split);
        let priority = if priority.is_empty() { b"<30>" } else { priority };
        let now = ZonedDateTime::now().with_time_zone(self.zone.clone());
        let message = &mut self.message;
        message.clear();
        message.extend_from_slice(priority);
        let pid = std::process::id();
        // Writing to a vector does not fail.
        let _ = match self.link.server().is_local() {
            true => write!(message, "{} tollgate[{pid}]: ", now.strftime("%b %e %H:%M:%S")),
            false => write!(message, "{} {} tollgate[{pid}]: ", now.strftime("%Y-%m-%dT%H:%M:%S%:z"), self.host),
        };
        message.extend_from_slice(text);
        message.push(b'\n');
    }
}

impl Write for SyslogWriter {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).for_each(|line| self.send(line));
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the priority of RFC 3164 before each line of another format.
pub(super) struct WithPriority<F>(pub F);

impl<S, N, F> FormatEvent<S, N> for WithPriority<F>
where
    S: Subscriber + for<'l> LookupSpan<'l>,
    N: for<'w> FormatFields<'w> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        write!(writer, "<{}>", priority(*event.metadata().level()))?;
        self.0.format_event(context, writer, event)
    }
}

/// The severities of RFC 3164, section 4.1.1.
fn priority(level: Level) -> u8 {
    DAEMON
        + match level {
            Level::ERROR => 3,
            Level::WARN => 4,
            Level::INFO => 6,
            _ => 7,
        }
}
