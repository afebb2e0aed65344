//! What the process inherited at its start: sockets from a service manager, or everything from a predecessor.

use super::{FAILED, GO, PREPARED, READY, SocketRole, VARIABLE, descriptors};
use listenfd::ListenFd;
use rustix::net::sockopt::socket_acceptconn;
use rustix::stdio::dup2_stdin;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;
use tollgate_engine::ListenSocket;

/// Number of the first descriptor that systemd passes.
const FIRST_PASSED: usize = 3;
/// Maximum sockets from a service manager; more are a mistake.
const PASSED_MAX: usize = 256;
/// How long a predecessor may take to store its quotas.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);

/// Descriptors inherited at the start.
#[derive(Debug, Default)]
pub(crate) struct Inherited {
    sockets: Vec<(SocketRole, TcpListener)>,
    /// Those for datagrams.
    datagrams: Vec<UdpSocket>,
    /// Whether a service manager opened the sockets and so chose their addresses.
    is_managed: bool,
    /// The store's lock.
    pub lock: Option<File>,
    predecessor: Option<UnixStream>,
}

impl Inherited {
    /// Takes the descriptors that the environment names. Must be called before anything is opened.
    ///
    /// # Errors
    /// A named descriptor is missing or is not a listening TCP socket.
    pub(crate) fn take() -> Result<Self, String> {
        let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        if let Some(text) = variable(VARIABLE) {
            return Inherited::of_predecessor(&text);
        }
        // Checks the recipient: children of the process that got the sockets also see the variables.
        let is_for_us = variable("LISTEN_PID").is_some_and(|text| text == std::process::id().to_string());
        match variable("LISTEN_FDS").filter(|_| is_for_us) {
            Some(count) => Inherited::of_manager(&count, &variable("LISTEN_FDNAMES").unwrap_or_default()),
            None => Ok(Inherited::default()),
        }
    }

    fn of_manager(count: &str, names: &str) -> Result<Self, String> {
        let count = count.parse::<usize>().ok().filter(|count| *count <= PASSED_MAX);
        let count = count.ok_or("LISTEN_FDS is not a number of sockets")?;
        let mut names = names.split(':');
        let mut passed = ListenFd::from_env();
        let mut inherited = Inherited { is_managed: true, ..Inherited::default() };
        for index in 0..count {
            let role = match names.next() {
                Some("control") => SocketRole::Control,
                Some("metrics") => SocketRole::Metrics,
                Some("portal") => SocketRole::Portal,
                _ => SocketRole::Given,
            };
            let wrong = |error: io::Error| format!("LISTEN_FDS: descriptor {}: {error}", FIRST_PASSED + index);
            let socket = passed.take_tcp_listener(index).and_then(|socket| socket.ok_or(ErrorKind::NotFound.into()));
            inherited.sockets.push((role, socket.and_then(listening).map_err(wrong)?));
        }
        Ok(inherited)
    }

    fn of_predecessor(names: &str) -> Result<Self, String> {
        let named = |name| SocketRole::named(name).ok_or_else(|| format!("{VARIABLE}: {name} is no role"));
        let roles: Vec<SocketRole> = names.split(',').map(named).collect::<Result<_, _>>()?;
        let wrong = |error: io::Error| format!("{VARIABLE}: {names}: {error}");
        let talk = take_standard_input().map_err(wrong)?;
        let descriptors = descriptors::receive(&talk, roles.len()).map_err(wrong)?;
        let is_managed = roles.contains(&SocketRole::Given);
        let mut inherited = Inherited { is_managed, predecessor: Some(talk), ..Inherited::default() };
        for (role, descriptor) in roles.into_iter().zip(descriptors) {
            match role {
                SocketRole::Lock => inherited.lock = Some(descriptor.into()),
                SocketRole::Datagrams => inherited.datagrams.push(descriptor.into()),
                _ => inherited.sockets.push((role, listening(descriptor.into()).map_err(wrong)?)),
            }
        }
        Ok(inherited)
    }

    /// The sockets of the data plane, and whether they come from a service manager. Those of a service manager are used whatever
    /// their address, those of a predecessor only if their address is still configured.
    pub(crate) fn data(&mut self, wanted: SocketAddr) -> (Vec<TcpListener>, bool) {
        let given = self.take_sockets(|role, _| role == SocketRole::Given);
        if !given.is_empty() {
            return (given, true);
        }
        (self.take_sockets(|role, address| role == SocketRole::Data && is_for(address, wanted)), false)
    }

    /// The sockets of ports of APIs.
    pub(crate) fn api_ports(&mut self) -> Vec<ListenSocket> {
        let connections = self.take_sockets(|role, _| role == SocketRole::Api).into_iter().map(ListenSocket::Tcp);
        connections.chain(self.datagrams.drain(..).map(ListenSocket::Udp)).collect()
    }

    /// The socket of another port.
    pub(crate) fn port(&mut self, role: SocketRole, wanted: SocketAddr) -> Option<TcpListener> {
        let is_managed = self.is_managed;
        let is_it = |has: SocketRole, address| has == role && (is_managed || is_for(address, wanted));
        self.take_sockets(is_it).pop()
    }

    fn take_sockets(&mut self, is_wanted: impl Fn(SocketRole, SocketAddr) -> bool) -> Vec<TcpListener> {
        let is_wanted =
            |(role, socket): &mut (SocketRole, TcpListener)| socket.local_addr().is_ok_and(|address| is_wanted(*role, address));
        self.sockets.extract_if(.., is_wanted).map(|(_, socket)| socket).collect()
    }

    /// Descriptions of the sockets that nothing has taken.
    pub(crate) fn unused(&self) -> Vec<String> {
        let text = |(role, socket): &(SocketRole, TcpListener)| {
            let address = socket.local_addr().map_or("no address".to_owned(), |address| address.to_string());
            format!("{} ({address})", role.name())
        };
        self.sockets.iter().map(text).collect()
    }

    /// The predecessor, if there is one.
    ///
    /// # Errors
    /// The socket to the predecessor is unusable.
    pub(crate) fn predecessor(&self) -> Result<Option<Predecessor>, String> {
        self.predecessor.as_ref().map(|talk| Predecessor::new(talk).map_err(|error| error.to_string())).transpose()
    }
}

/// The socket to the predecessor: standard input at the start, which is then replaced by `/dev/null`.
fn take_standard_input() -> io::Result<UnixStream> {
    let talk = io::stdin().as_fd().try_clone_to_owned()?;
    dup2_stdin(File::open("/dev/null")?)?;
    Ok(talk.into())
}

/// Checks that a socket is listening.
fn listening(socket: TcpListener) -> io::Result<TcpListener> {
    if !socket_acceptconn(&socket)? {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not a listening TCP socket"));
    }
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn is_for(address: SocketAddr, wanted: SocketAddr) -> bool {
    address.ip() == wanted.ip() && (wanted.port() == 0 || wanted.port() == address.port())
}

/// The process that this one replaces.
pub(crate) struct Predecessor(UnixStream);

impl Predecessor {
    fn new(talk: &UnixStream) -> std::io::Result<Self> {
        let talk = talk.try_clone()?;
        talk.set_nonblocking(false)?;
        talk.set_read_timeout(Some(ANSWER_TIME_MAX))?;
        Ok(Predecessor(talk))
    }

    /// Reports that everything is prepared, and waits until the predecessor has stored its counts. A predecessor that has died has
    /// nothing left to store.
    ///
    /// # Errors
    /// The predecessor is alive and does not answer.
    pub(crate) fn wait_for_go(&self) -> Result<(), String> {
        if self.say(PREPARED).is_err() {
            return Ok(());
        }
        let mut line = String::new();
        match BufReader::new(&self.0).read_line(&mut line) {
            Ok(0) => Ok(()),
            Ok(_) if line.trim_end() == GO => Ok(()),
            Ok(_) => Err(format!("the process before this one said {:?}", line.trim_end())),
            Err(error) => Err(format!("the process before this one does not answer: {error}")),
        }
    }

    /// Reports that this process serves.
    pub(crate) fn say_ready(&self) {
        // Whether the predecessor still listens makes no difference here.
        let _ = self.say(READY);
    }

    /// Reports why this process does not serve.
    pub(crate) fn say_failed(&self, why: &str) {
        let _ = self.say(&format!("{FAILED}{}", why.replace('\n', "; ")));
    }

    fn say(&self, line: &str) -> std::io::Result<()> {
        (&self.0).write_all(format!("{line}\n").as_bytes())
    }
}
