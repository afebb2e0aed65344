//! Does what a run asks of a machine. `serve` is the agent of another machine: orders come line by line on standard input, replies go to
//! standard output. When the connection ends, so do its programs, and its files are removed.

use super::order::{AgentOrder, AgentReply, MachineDescription, clock_ms};
use super::ports::OwnPorts;
use super::process::PinnedProcess;
use super::records;
use super::sinks::Sinks;
use crate::exit;
use crate::usage::tree;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// The programs and files of a run on this machine.
#[derive(Default)]
pub(super) struct Agent {
    processes: BTreeMap<u32, PinnedProcess>,
    sinks: Option<Sinks>,
    ports: OwnPorts,
    /// Directories that it has made.
    made: Vec<PathBuf>,
}

/// Runs as the agent of another machine until the connection ends.
pub(crate) fn serve() -> ExitCode {
    let mut agent = Agent::default();
    let answered = answer_all(&mut agent, &mut io::stdin().lock(), &mut io::stdout().lock());
    drop(agent);
    // The run has copied this program into a directory of its own.
    if let Some(directory) = std::env::current_exe().ok().as_deref().and_then(Path::parent) {
        remove_uploaded(directory);
    }
    match answered {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tollgate-bench: the agent ends: {error}");
            ExitCode::from(exit::EXIT_INTERRUPTED)
        }
    }
}

/// Removes the directory of an uploaded program, and no other.
fn remove_uploaded(directory: &Path) {
    if directory.file_name().is_some_and(|name| name.to_string_lossy().starts_with(super::link::UPLOAD_PREFIX)) {
        // What cannot be removed is left to the system's own cleaning of temporary files.
        let _ = fs::remove_dir_all(directory);
    }
}

fn answer_all(agent: &mut Agent, orders: &mut impl BufRead, replies: &mut impl Write) -> io::Result<()> {
    let mut line = String::new();
    while orders.read_line(&mut line)? > 0 {
        let reply = match serde_json::from_str(&line) {
            Ok(order) => agent.obey(order),
            Err(error) => Err(format!("the order cannot be read: {error}")),
        };
        let mut text = serde_json::to_vec(&reply)?;
        text.push(b'\n');
        replies.write_all(&text)?;
        replies.flush()?;
        line.clear();
    }
    Ok(())
}

impl Agent {
    pub(super) fn obey(&mut self, order: AgentOrder) -> Result<AgentReply, String> {
        Ok(match order {
            AgentOrder::Describe => AgentReply::Description(Box::new(MachineDescription::gather())),
            AgentOrder::Clock => AgentReply::Clock(clock_ms()),
            AgentOrder::FreePort => AgentReply::Port(self.ports.free()?),
            AgentOrder::Listens { port } => AgentReply::Count(u64::from(listens(port))),
            AgentOrder::Find { program } => AgentReply::Text(find(&program)?),
            AgentOrder::IsFile(path) => AgentReply::Count(u64::from(path.is_file())),
            AgentOrder::Output { program, arguments } => AgentReply::Text(output(&program, &arguments)?),
            AgentOrder::Directory(path) => self.make(&path)?,
            AgentOrder::Write(file) => {
                file.write()?;
                AgentReply::Done
            }
            AgentOrder::Read(path) => {
                let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                AgentReply::Bytes(STANDARD.encode(bytes))
            }
            AgentOrder::Start { program, cpus, directory } => {
                let process = PinnedProcess::start(&program, &cpus, &directory)?;
                let id = process.id();
                self.processes.insert(id, process);
                AgentReply::Id(id)
            }
            AgentOrder::Ended { id } => AgentReply::End(self.process(id)?.ended().map(|status| status.to_string())),
            AgentOrder::Tail { id } => AgentReply::Text(self.process(id)?.tail()),
            AgentOrder::Usage { id } => AgentReply::Usage(tree::usage(id)),
            AgentOrder::Memory { id } => AgentReply::Count(tree::memory_kib(id)),
            AgentOrder::Signal { id, number } => {
                if let Some(signal) = Signal::from_named_raw(number) {
                    self.process(id)?.signal(signal);
                }
                AgentReply::Done
            }
            AgentOrder::Stop { id } => {
                drop(self.processes.remove(&id));
                AgentReply::Done
            }
            AgentOrder::OpenSinks => {
                let sinks = Sinks::open().map_err(|error| format!("no port for what gateways observe: {error}"))?;
                let ports = sinks.ports;
                self.sinks = Some(sinks);
                AgentReply::Sinks(ports)
            }
            AgentOrder::TakeBatches => AgentReply::Count(self.sinks.as_ref().map(Sinks::take_batches).unwrap_or_default()),
            AgentOrder::TakeLines { directory, name } => {
                AgentReply::Count(records::take_lines(&directory, &name).map_err(|error| format!("{name}: {error}"))?)
            }
            AgentOrder::TakeList { port } => {
                AgentReply::Count(records::take_list(port).map_err(|error| format!("Redis on port {port}: {error}"))?)
            }
        })
    }

    fn process(&mut self, id: u32) -> Result<&mut PinnedProcess, String> {
        self.processes.get_mut(&id).ok_or_else(|| format!("there is no process {id}"))
    }

    fn make(&mut self, path: &Path) -> Result<AgentReply, String> {
        let first = path.ancestors().take_while(|part| !part.exists()).last();
        self.made.extend(first.map(Path::to_owned));
        fs::create_dir_all(path).map_err(|error| format!("{}: cannot be made: {error}", path.display()))?;
        Ok(AgentReply::Done)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.processes.clear();
        for directory in &self.made {
            // What cannot be removed is left to the system's own cleaning of temporary files.
            let _ = fs::remove_dir_all(directory);
        }
    }
}

fn listens(port: u16) -> bool {
    TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), CONNECT_TIMEOUT).is_ok()
}

/// Path of a program: on the PATH, or in sbin, which a user's PATH may lack.
fn find(program: &str) -> Result<String, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let sbin = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    let file = std::env::split_paths(&path).chain(sbin).map(|directory| directory.join(program)).find(|file| file.is_file());
    file.map(|file| file.to_string_lossy().into_owned()).ok_or_else(|| format!("no program `{program}` is installed"))
}

fn output(program: &Path, arguments: &[String]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output().map_err(|error| format!("{}: {error}", program.display()))?;
    Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[cfg(test)]
mod tests;
