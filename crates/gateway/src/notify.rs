//! Reports the gateway's state to a service manager with systemd's protocol (sd_notify): one datagram per change. Without
//! `NOTIFY_SOCKET`, does nothing.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// Sends the reports.
pub(crate) struct Notifier {
    to: Option<(UnixDatagram, SocketAddr)>,
}

impl Notifier {
    /// A notifier for the socket that the environment names.
    pub(crate) fn from_environment() -> Self {
        let to = std::env::var("NOTIFY_SOCKET").ok().filter(|name| !name.is_empty()).and_then(|name| {
            let opened = address(&name).and_then(|address| Ok((UnixDatagram::unbound()?, address)));
            opened.inspect_err(|error| tracing::warn!(%error, name, "NOTIFY_SOCKET can't be used")).ok()
        });
        Notifier { to }
    }

    /// Reports that the gateway serves. `pid` is the id of a process that replaced the one known to the manager.
    pub(crate) fn ready(&self, pid: Option<u32>) {
        let main = pid.map_or(String::new(), |pid| format!("MAINPID={pid}\n"));
        // The watchdog's time starts again: between two quick restarts, no process lives long enough for a report of its own.
        self.tell(&format!("{main}READY=1\nWATCHDOG=1\nSTATUS=serving"));
    }

    /// Reports that definitions are being reloaded.
    pub(crate) fn reloading(&self) {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let micros = now.tv_sec * 1_000_000 + now.tv_nsec / 1_000;
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={micros}\nSTATUS=reloading"));
    }

    /// Reports the shutdown: requests in flight finish, then the process exits.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=draining");
    }

    /// Sets the status line that people see.
    pub(crate) fn status(&self, text: &str) {
        self.tell(&format!("STATUS={text}"));
    }

    /// Reports that the gateway is alive.
    pub(crate) fn alive(&self) {
        self.tell("WATCHDOG=1");
    }

    /// Interval for reports that the gateway is alive, if requested: half the manager's timeout.
    pub(crate) fn alive_every(&self) -> Option<Duration> {
        self.to.as_ref()?;
        let variable = |name: &str| std::env::var(name).ok();
        let is_ours = variable("WATCHDOG_PID").is_none_or(|pid| pid == std::process::id().to_string());
        let micros = variable("WATCHDOG_USEC").filter(|_| is_ours)?.parse::<u64>().ok().filter(|micros| *micros > 0)?;
        Some(Duration::from_micros(micros / 2))
    }

    fn tell(&self, text: &str) {
        let Some((socket, address)) = &self.to else { return };
        if let Err(error) = socket.send_to_addr(text.as_bytes(), address) {
            tracing::warn!(%error, "the service manager can't be notified");
        }
    }
}

/// The address of a path, or of an abstract socket if the name starts with `@`.
fn address(name: &str) -> io::Result<SocketAddr> {
    match name.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(name),
    }
}
