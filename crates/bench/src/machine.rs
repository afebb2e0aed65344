//! The machines of a run: this one, and others over SSH. An agent does what is asked of a machine: it starts programs, watches them, and
//! keeps files. On this machine it is part of this process; elsewhere it is a copy of this program that speaks over SSH's standard input and output.

mod agent;
mod link;
mod order;
mod ports;
mod process;
mod program;
mod records;
mod sinks;

pub(crate) use agent::serve;
pub(crate) use link::{Ssh, SshTarget};
pub(crate) use order::MachineDescription;
pub(crate) use program::{Program, own_program};
pub(crate) use sinks::SinkPorts;

use crate::interrupt::Interrupt;
use crate::probe::{self, Endpoint};
use crate::usage::tree::ProcessUsage;
use agent::Agent;
use link::AgentLink;
use order::{AgentOrder, AgentReply, SentFile};
use rustix::process::Signal;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(20);

/// One machine.
pub(crate) struct Machine {
    /// `this machine`, or the destination for SSH.
    pub name: String,
    /// Where the others reach it.
    pub address: IpAddr,
    pub description: MachineDescription,
    /// How far its clock is ahead of this machine's.
    pub clock_ahead_ms: f64,
    hand: Mutex<Hand>,
}

/// Who does what is asked.
enum Hand {
    Here(Box<Agent>),
    There(AgentLink),
}

impl Machine {
    /// This machine; the others reach it at this address.
    pub(crate) fn here(address: IpAddr) -> Machine {
        let agent = Agent::default();
        let description = MachineDescription::gather();
        let hand = Mutex::new(Hand::Here(Box::new(agent)));
        Machine { name: "this machine".to_owned(), address, description, clock_ahead_ms: 0.0, hand }
    }

    /// Another machine: copies this program to it and starts its agent.
    pub(crate) fn there(ssh: &Ssh, destination: &SshTarget) -> Result<Machine, String> {
        let (link, description, clock_ahead_ms) = link::open(ssh, destination)?;
        let hand = Mutex::new(Hand::There(link));
        Ok(Machine { name: destination.to_string(), address: destination.address, description, clock_ahead_ms, hand })
    }

    fn is_here(&self) -> bool {
        matches!(&*self.hand.lock().unwrap_or_else(PoisonError::into_inner), Hand::Here(_))
    }

    fn ask(&self, order: AgentOrder) -> Result<AgentReply, String> {
        match &mut *self.hand.lock().unwrap_or_else(PoisonError::into_inner) {
            Hand::Here(agent) => agent.obey(order),
            Hand::There(link) => link.ask(&order).map_err(|reason| format!("{}: {reason}", self.name)),
        }
    }

    /// The address on which its servers listen: only this machine's are out of others' reach.
    pub(crate) fn listen_address(&self) -> IpAddr {
        if self.address.is_loopback() && self.is_here() { self.address } else { Ipv4Addr::UNSPECIFIED.into() }
    }

    /// Where its servers answer on a port.
    pub(crate) fn at(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.address, port)
    }

    pub(crate) fn free_port(&self) -> Result<u16, String> {
        self.ask(AgentOrder::FreePort)?.port()
    }

    /// Where a program is, by its name.
    pub(crate) fn find(&self, program: &str) -> Result<PathBuf, String> {
        self.ask(AgentOrder::Find { program: program.to_owned() })?.text().map(PathBuf::from)
    }

    /// This path, if there is a file on the machine.
    pub(crate) fn find_path(&self, path: &Path) -> Result<Option<PathBuf>, String> {
        Ok((self.ask(AgentOrder::IsFile(path.to_owned()))?.count()? > 0).then(|| path.to_owned()))
    }

    /// Where a program of this machine is on that one, copied if need be.
    pub(crate) fn copied(&self, program: &Path) -> Result<PathBuf, String> {
        match &mut *self.hand.lock().unwrap_or_else(PoisonError::into_inner) {
            Hand::Here(_) => Ok(program.to_owned()),
            Hand::There(link) => link.upload(program).map_err(|reason| format!("{}: {reason}", self.name)),
        }
    }

    /// Where this program is on that machine.
    pub(crate) fn bench(&self) -> Result<PathBuf, String> {
        match &*self.hand.lock().unwrap_or_else(PoisonError::into_inner) {
            Hand::Here(_) => own_program(),
            Hand::There(link) => Ok(link.program.clone()),
        }
    }

    /// What a program prints.
    pub(crate) fn output(&self, program: &Path, arguments: &[&str]) -> Result<String, String> {
        let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
        self.ask(AgentOrder::Output { program: program.to_owned(), arguments })?.text()
    }

    /// Makes a directory.
    pub(crate) fn make(&self, directory: &Path) -> Result<(), String> {
        self.ask(AgentOrder::Directory(directory.to_owned())).map(drop)
    }

    /// Copies what is in a directory of this machine to the same place.
    pub(crate) fn send(&self, directory: &Path) -> Result<(), String> {
        if self.is_here() {
            return Ok(());
        }
        self.make(directory)?;
        let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
        for entry in fs::read_dir(directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() { self.send(&path)? } else { self.send_file(&path)? }
        }
        Ok(())
    }

    /// Copies a file of this machine to the same place.
    pub(crate) fn send_file(&self, path: &Path) -> Result<(), String> {
        if self.is_here() {
            return Ok(());
        }
        self.ask(AgentOrder::Write(SentFile::read(path)?)).map(drop)
    }

    /// The content of a file.
    pub(crate) fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        self.ask(AgentOrder::Read(path.to_owned()))?.bytes()
    }

    /// Opens the receivers of telemetry.
    pub(crate) fn open_sinks(&self) -> Result<SinkPorts, String> {
        self.ask(AgentOrder::OpenSinks)?.sinks()
    }

    /// Batches of spans that the collector received since the last call.
    pub(crate) fn take_batches(&self) -> Result<u64, String> {
        self.ask(AgentOrder::TakeBatches)?.count()
    }

    /// Counts the lines of a file and of its rotated files, and empties them.
    pub(crate) fn take_lines(&self, directory: &Path, name: &str) -> Result<u64, String> {
        self.ask(AgentOrder::TakeLines { directory: directory.to_owned(), name: name.to_owned() })?.count()
    }

    /// Counts the records of a Redis, and removes them.
    pub(crate) fn take_list(&self, port: u16) -> Result<u64, String> {
        self.ask(AgentOrder::TakeList { port })?.count()
    }
}

/// A running program, which ends on drop.
pub(crate) struct Child {
    machine: Arc<Machine>,
    name: String,
    id: u32,
}

impl Child {
    /// Starts a program on these CPUs of a machine, in a directory that also receives its output.
    pub(crate) fn start(machine: &Arc<Machine>, program: &Program, cpus: &str, dir: &Path) -> Result<Child, String> {
        let mut program = program.clone();
        if program.path == own_program()? {
            program.path = machine.bench()?;
        }
        let name = program.name.clone();
        let order = AgentOrder::Start { program, cpus: cpus.to_owned(), directory: dir.to_owned() };
        let id = machine.ask(order)?.id()?;
        Ok(Child { machine: machine.clone(), name, id })
    }

    /// Waits until it serves this path, or until it listens if there is no path.
    pub(crate) fn await_answer(
        &self,
        place: Endpoint,
        path: Option<&str>,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<(), String> {
        let deadline = Instant::now() + patience;
        loop {
            interrupt.check()?;
            if let Some(status) = self.ended()? {
                return Err(format!("{} ended before it answered ({status}); its last words:\n{}", self.name, self.tail()));
            }
            let answers = match path {
                // Some gateways listen before they know their APIs.
                Some(path) => {
                    probe::send(place, "GET", path, &[], b"").is_ok_and(|answer| ![404, 502, 503].contains(&answer.status))
                }
                None => probe::listens(place),
            };
            if answers {
                return Ok(());
            }
            if Instant::now() > deadline {
                let (name, address, seconds) = (&self.name, place.address, patience.as_secs());
                return Err(format!("{name} does not answer on {address} after {seconds} s; its last words:\n{}", self.tail()));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Waits until it listens on a port of its own machine, which others need not reach.
    pub(crate) fn await_port(&self, port: u16, patience: Duration, interrupt: &Interrupt) -> Result<(), String> {
        let deadline = Instant::now() + patience;
        while self.machine.ask(AgentOrder::Listens { port })?.count()? == 0 {
            interrupt.check()?;
            if self.ended()?.is_some() || Instant::now() > deadline {
                return Err(format!("{} does not answer on port {port}; its last words:\n{}", self.name, self.tail()));
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// Its exit status, once it has exited.
    pub(crate) fn ended(&self) -> Result<Option<String>, String> {
        self.machine.ask(AgentOrder::Ended { id: self.id })?.end()
    }

    /// The end of its output.
    pub(crate) fn tail(&self) -> String {
        self.machine.ask(AgentOrder::Tail { id: self.id }).and_then(AgentReply::text).unwrap_or_else(|reason| reason)
    }

    /// What it and its own children have used so far; nothing if its machine does not answer.
    pub(crate) fn usage(&self) -> ProcessUsage {
        self.machine.ask(AgentOrder::Usage { id: self.id }).and_then(AgentReply::usage).unwrap_or_default()
    }

    /// Its memory, with its own children.
    pub(crate) fn memory_kib(&self) -> u64 {
        self.machine.ask(AgentOrder::Memory { id: self.id }).and_then(AgentReply::count).unwrap_or_default()
    }

    pub(crate) fn hang_up(&self) {
        // A program that has ended reloads nothing.
        let _ = self.machine.ask(AgentOrder::Signal { id: self.id, number: Signal::HUP.as_raw() });
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // A machine that does not answer ends its programs when the connection ends.
        let _ = self.machine.ask(AgentOrder::Stop { id: self.id });
    }
}

#[cfg(test)]
mod tests;
