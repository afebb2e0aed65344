//! The predecessor's side of a handover: starts the current program file as a new process, with this process's arguments, and
//! follows its start.

use super::{FAILED, GO, PREPARED, READY, SocketRole, VARIABLE, descriptors};
use std::ffi::OsString;
use std::fs::File;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;
use tollgate_access::keys::Keys;
use tollgate_control::api::Health;
use tollgate_control::ports::ApiPorts;
use tollgate_engine::ListenSocket;

/// Maximum bytes of a line from the successor: the reason for a failure can be long.
const LINE_BYTES_MAX: u64 = 16 * 1024;
/// Time for the successor to exit by itself after it reported a failure.
const END_TIME_MAX: Duration = Duration::from_secs(1);

/// What is handed over, and the state that must not change meanwhile.
pub(crate) struct HandoverState {
    /// Listening sockets and their roles.
    pub sockets: Vec<(SocketRole, TcpListener)>,
    /// Ports that definitions open and close.
    pub ports: Arc<ApiPorts>,
    /// The embedded store's lock.
    pub lock: Option<File>,
    pub keys: Arc<Keys>,
    pub health: Arc<Health>,
    /// Time limit from the start of the successor until it serves.
    pub time_max: Duration,
}

/// A started process; killed on drop unless it is released.
struct Successor(Option<Child>);

impl HandoverState {
    /// Starts a successor, waits until it serves, and returns its process id. From then on, the successor owns the store.
    ///
    /// # Errors
    /// Why there is no successor. Nothing has changed in that case.
    pub(crate) async fn hand_over(&self) -> Result<u32, String> {
        self.freeze(true);
        let handed_over = self.try_hand_over().await;
        if handed_over.is_err() {
            self.freeze(false);
        }
        handed_over
    }

    /// Forbids or allows changes to the store, which a successor is reading.
    fn freeze(&self, frozen: bool) {
        self.health.freeze(frozen);
        self.keys.hold_quotas(frozen);
    }

    async fn try_hand_over(&self) -> Result<u32, String> {
        let (talk, other_end) = UnixStream::pair().map_err(|error| error.to_string())?;
        let api_sockets = self.ports.sockets().map_err(|error| error.to_string())?;
        let of_ports = api_sockets.iter().map(|socket| match socket {
            ListenSocket::Tcp(socket) => (SocketRole::Api, socket.as_fd()),
            ListenSocket::Udp(socket) => (SocketRole::Datagrams, socket.as_fd()),
        });
        let handed: Vec<(SocketRole, BorrowedFd<'_>)> = self.descriptors().chain(of_ports).collect();
        let roles: Vec<&str> = handed.iter().map(|(role, _)| role.name()).collect();
        let mut successor = self.start(other_end.into(), &roles.join(","))?;
        let sent = descriptors::send(&talk, &handed.iter().map(|(_, descriptor)| *descriptor).collect::<Vec<_>>());
        talk.set_nonblocking(true).map_err(|error| error.to_string())?;
        let mut talk = BufReader::new(tokio::net::UnixStream::from_std(talk).map_err(|error| error.to_string())?);
        let steps = async {
            sent.map_err(|error| SuccessorStop::Gone(error.to_string()))?;
            expect(&mut talk, PREPARED).await?;
            // Unstored usage is counted again at worst, which is no reason to abort.
            if let Err(fault) = self.keys.save_quotas().await {
                tracing::error!(%fault, "quotas can't be stored for the new process");
            }
            talk.write_all(format!("{GO}\n").as_bytes()).await.map_err(|error| SuccessorStop::Gone(error.to_string()))?;
            expect(&mut talk, READY).await
        };
        match timeout(self.time_max, steps).await {
            Ok(Ok(())) => Ok(successor.let_go()),
            Ok(Err(SuccessorStop::Said(why))) => Err(why),
            Ok(Err(SuccessorStop::Gone(why))) => Err(successor.end().unwrap_or(why)),
            Err(_) => Err(format!("it did not serve within {} ms", self.time_max.as_millis())),
        }
    }

    /// Starts the program; `talk` becomes its standard input. `roles` names the descriptors that it will get.
    fn start(&self, talk: OwnedFd, roles: &str) -> Result<Successor, String> {
        let mut arguments = std::env::args_os();
        let program = arguments.next().filter(|name| !name.is_empty()).unwrap_or_else(|| OsString::from("tollgate"));
        let mut command = Command::new(&program);
        command.args(arguments).env(VARIABLE, roles).stdin(talk);
        for mine in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_PID"] {
            command.env_remove(mine);
        }
        let child = command.spawn().map_err(|error| format!("{} can't be started: {error}", program.display()))?;
        tracing::info!(pid = child.id(), "new process started");
        Ok(Successor(Some(child)))
    }

    fn descriptors(&self) -> impl Iterator<Item = (SocketRole, BorrowedFd<'_>)> {
        let sockets = self.sockets.iter().map(|(role, socket)| (*role, socket.as_fd()));
        sockets.chain(self.lock.iter().map(|lock| (SocketRole::Lock, lock.as_fd())))
    }
}

/// Why a successor stopped.
enum SuccessorStop {
    /// It reported a failure.
    Said(String),
    /// It exited without a report.
    Gone(String),
}

/// Waits for a line. Never cancelled and called again, so no input is lost.
async fn expect(talk: &mut BufReader<tokio::net::UnixStream>, wanted: &str) -> Result<(), SuccessorStop> {
    let mut line = String::new();
    let read = talk.take(LINE_BYTES_MAX).read_line(&mut line).await.map_err(|error| SuccessorStop::Gone(error.to_string()))?;
    match line.trim_end() {
        line if line == wanted => Ok(()),
        line => match line.strip_prefix(FAILED) {
            Some(why) => Err(SuccessorStop::Said(why.to_owned())),
            None if read == 0 => Err(SuccessorStop::Gone("it ended".to_owned())),
            None => Err(SuccessorStop::Said(format!("it said {line:?} instead of {wanted:?}"))),
        },
    }
}

impl Successor {
    /// Releases the process, so that it runs on.
    fn let_go(&mut self) -> u32 {
        self.0.take().map_or(0, |child| child.id())
    }

    /// Waits briefly for the process to exit; returns how it ended.
    fn end(&mut self) -> Option<String> {
        let child = self.0.as_mut()?;
        let start = std::time::Instant::now();
        while start.elapsed() < END_TIME_MAX {
            if let Ok(Some(status)) = child.try_wait() {
                return Some(format!("it ended with {status}"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }
}

impl Drop for Successor {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            self::stop(child);
        }
    }
}

fn stop(child: &mut Child) {
    // It may have exited already, which is fine.
    let _ = child.kill();
    let _ = child.wait();
}
