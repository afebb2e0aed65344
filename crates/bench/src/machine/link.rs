//! The connection to the agent of another machine: SSH, with this program copied to the machine first, so that both are the same version.

use super::order::{AgentOrder, AgentReply, MachineDescription, clock_ms};
use super::program::own_program;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, ToSocketAddrs};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child as Process, ChildStdin, ChildStdout, Command, Stdio};
use std::str::FromStr;

/// Beginning of the name of the directory that receives programs.
pub(super) const UPLOAD_PREFIX: &str = "tollgate-bench-programs.";

/// Clocks that are further apart make tokens with times invalid.
const CLOCK_AHEAD_MS_MAX: f64 = 1_000.0;
/// Of so many readings of a clock, the one with the shortest way counts.
const CLOCK_READINGS: usize = 5;

/// How SSH is called.
#[derive(Clone, Debug)]
pub(crate) struct Ssh(pub Vec<String>);

impl FromStr for Ssh {
    type Err = String;

    fn from_str(text: &str) -> Result<Ssh, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() { Err("names no program".to_owned()) } else { Ok(Ssh(words)) }
    }
}

/// Where to reach a machine: `[USER@]HOST[:PORT]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Destination {
    /// `[USER@]HOST`
    target: String,
    /// Port of SSH, if it is not the usual one.
    port: Option<u16>,
    /// Where other machines reach it.
    pub address: IpAddr,
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.target),
            None => f.write_str(&self.target),
        }
    }
}

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Destination, String> {
        let (target, port) = match text.rsplit_once(':') {
            Some((target, port)) => (target, Some(port.parse().map_err(|_| format!("{port} is no port"))?)),
            None => (text, None),
        };
        let host = target.rsplit_once('@').map_or(target, |(_, host)| host);
        // A word that begins with a dash would be an option of ssh.
        if host.is_empty() || target.starts_with('-') {
            return Err(format!("{text} is not [USER@]HOST[:PORT]"));
        }
        let mut addresses = (host, 0).to_socket_addrs().map_err(|error| format!("{host}: {error}"))?;
        let address = addresses.find(|address| address.is_ipv4()).ok_or_else(|| format!("{host} has no IPv4 address"))?;
        Ok(Destination { target: target.to_owned(), port, address: address.ip() })
    }
}

/// A connection.
pub(super) struct Link {
    ssh: Ssh,
    destination: Destination,
    /// The directory of programs on the other machine.
    directory: String,
    /// This program there.
    pub program: PathBuf,
    process: Process,
    /// `None` only while it ends.
    orders: Option<ChildStdin>,
    replies: BufReader<ChildStdout>,
}

/// Copies this program to a machine, starts its agent, and checks version and clock.
pub(super) fn open(ssh: &Ssh, destination: &Destination) -> Result<(Link, MachineDescription, f64), String> {
    let failed = |reason: String| format!("{destination}: {reason}");
    let made = run(ssh, destination, &format!("mktemp -d -t {UPLOAD_PREFIX}XXXXXXXXXX"), Stdio::null()).map_err(failed)?;
    let directory = made.trim().to_owned();
    let program = upload(ssh, destination, &directory, &own_program()?).map_err(failed)?;
    let mut process = command(ssh, destination, &format!("exec {} agent", quoted(&program.to_string_lossy())))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let (Some(orders), Some(replies)) = (process.stdin.take(), process.stdout.take()) else {
        return Err(failed("ssh has no input or output".to_owned()));
    };
    let (ssh, destination_) = (ssh.clone(), destination.clone());
    let replies = BufReader::new(replies);
    let mut link = Link { ssh, destination: destination_, directory, program, process, orders: Some(orders), replies };
    let description = *link.ask(&AgentOrder::Describe).and_then(AgentReply::description).map_err(failed)?;
    let own = env!("CARGO_PKG_VERSION");
    if description.bench != own {
        return Err(failed(format!("its agent is version {}, and this program {own}", description.bench)));
    }
    let ahead = clock_ahead_ms(&mut link).map_err(failed)?;
    if ahead.abs() > CLOCK_AHEAD_MS_MAX {
        let (seconds, direction) = (ahead.abs() / 1e3, if ahead > 0.0 { "ahead of" } else { "behind" });
        return Err(failed(format!("its clock is {seconds:.1} s {direction} this machine's; synchronise them (NTP)")));
    }
    Ok((link, description, ahead))
}

fn clock_ahead_ms(link: &mut Link) -> Result<f64, String> {
    let mut best = (f64::INFINITY, 0.0);
    for _ in 0..CLOCK_READINGS {
        let before = clock_ms();
        let theirs = link.ask(&AgentOrder::Clock)?.clock()?;
        let after = clock_ms();
        if after - before < best.0 {
            best = (after - before, theirs - f64::midpoint(before, after));
        }
    }
    Ok(best.1)
}

impl Link {
    pub(super) fn ask(&mut self, order: &AgentOrder) -> Result<AgentReply, String> {
        let mut line = serde_json::to_vec(order).map_err(|error| error.to_string())?;
        line.push(b'\n');
        let lost = |error: std::io::Error| format!("the connection is lost: {error}");
        let orders = self.orders.as_mut().ok_or("the connection is closed")?;
        orders.write_all(&line).and_then(|()| orders.flush()).map_err(lost)?;
        let mut reply = String::new();
        if self.replies.read_line(&mut reply).map_err(lost)? == 0 {
            return Err("the connection is lost".to_owned());
        }
        serde_json::from_str::<Result<AgentReply, String>>(&reply).map_err(|error| format!("the agent's answer: {error}"))?
    }

    /// Copies a program beside the agent; returns its path there.
    pub(super) fn upload(&self, program: &Path) -> Result<PathBuf, String> {
        upload(&self.ssh, &self.destination, &self.directory, program)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Without orders the agent ends its programs, removes its files and ends.
        self.orders = None;
        let _ = self.process.wait();
    }
}

fn upload(ssh: &Ssh, destination: &Destination, directory: &str, program: &Path) -> Result<PathBuf, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", program.display());
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let there = format!("{directory}/{name}");
    let words = quoted(&there);
    let file = File::open(program).map_err(failed)?;
    run(ssh, destination, &format!("cat > {words} && chmod 755 {} {words}", quoted(directory)), file.into())?;
    Ok(PathBuf::from(there))
}

/// Runs a shell command on the machine; returns what it prints.
fn run(ssh: &Ssh, destination: &Destination, words: &str, input: Stdio) -> Result<String, String> {
    let output =
        command(ssh, destination, words).stdin(input).stderr(Stdio::piped()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("`{words}` failed: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

/// An SSH that asks no questions.
fn command(ssh: &Ssh, destination: &Destination, words: &str) -> Command {
    let (program, options) = ssh.0.split_first().map_or(("ssh", [].as_slice()), |(program, rest)| (program.as_str(), rest));
    let mut command = Command::new(program);
    command.args(options).args(["-o", "BatchMode=yes", "-o", "ServerAliveInterval=15"]);
    if let Some(port) = destination.port {
        command.args(["-p", &port.to_string()]);
    }
    // Ctrl-C in the terminal reaches only this program, which then ends all in order.
    command.arg(&destination.target).arg(words).process_group(0);
    command
}

/// A word of a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
