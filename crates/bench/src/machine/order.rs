//! What an agent can be asked, and what it answers: one line of JSON each.

use super::program::Program;
use super::sinks::SinkPorts;
use crate::usage::tree::ProcessUsage;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum AgentOrder {
    /// Its description, and the time of its clock.
    Describe,
    Clock,
    FreePort,
    Listens {
        port: u16,
    },
    Find {
        program: String,
    },
    IsFile(PathBuf),
    Output {
        program: PathBuf,
        arguments: Vec<String>,
    },
    /// Makes a directory. The first one of a path that does not exist is removed when the agent ends.
    Directory(PathBuf),
    Write(SentFile),
    Read(PathBuf),
    Start {
        program: Program,
        cpus: String,
        directory: PathBuf,
    },
    Ended {
        id: u32,
    },
    Tail {
        id: u32,
    },
    Usage {
        id: u32,
    },
    Memory {
        id: u32,
    },
    Signal {
        id: u32,
        number: i32,
    },
    Stop {
        id: u32,
    },
    OpenSinks,
    TakeBatches,
    TakeLines {
        directory: PathBuf,
        name: String,
    },
    TakeList {
        port: u16,
    },
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum AgentReply {
    Done,
    Description(Box<MachineDescription>),
    /// Milliseconds since 1970.
    Clock(f64),
    Port(u16),
    Id(u32),
    Count(u64),
    Text(String),
    /// Base64.
    Bytes(String),
    End(Option<String>),
    Usage(ProcessUsage),
    Sinks(SinkPorts),
}

macro_rules! replies {
    ($($(#[$about:meta])* $name:ident: $variant:ident -> $type:ty),* $(,)?) => {
        impl AgentReply {
            $($(#[$about])* pub(super) fn $name(self) -> Result<$type, String> {
                match self {
                    AgentReply::$variant(value) => Ok(value),
                    other => Err(other.unexpected()),
                }
            })*
        }
    };
}

replies! {
    description: Description -> Box<MachineDescription>,
    clock: Clock -> f64,
    port: Port -> u16,
    id: Id -> u32,
    count: Count -> u64,
    text: Text -> String,
    end: End -> Option<String>,
    usage: Usage -> ProcessUsage,
    sinks: Sinks -> SinkPorts,
}

impl AgentReply {
    pub(super) fn bytes(self) -> Result<Vec<u8>, String> {
        match self {
            AgentReply::Bytes(text) => STANDARD.decode(text).map_err(|error| format!("the agent's answer is not base64: {error}")),
            other => Err(other.unexpected()),
        }
    }

    fn unexpected(&self) -> String {
        format!("the agent answered with something else: {self:?}")
    }
}

/// A file on its way.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SentFile {
    pub path: PathBuf,
    mode: u32,
    /// Base64.
    content: String,
}

impl SentFile {
    pub(super) fn read(path: &Path) -> Result<SentFile, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let mode = fs::metadata(path).map_err(failed)?.permissions().mode();
        let content = STANDARD.encode(fs::read(path).map_err(failed)?);
        Ok(SentFile { path: path.to_owned(), mode, content })
    }

    pub(super) fn write(&self) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", self.path.display());
        let content = STANDARD.decode(&self.content).map_err(|error| format!("{}: {error}", self.path.display()))?;
        fs::write(&self.path, content).map_err(failed)?;
        fs::set_permissions(&self.path, fs::Permissions::from_mode(self.mode)).map_err(failed)
    }
}

/// What a machine is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct MachineDescription {
    pub host: String,
    pub cpu: String,
    /// The CPUs that programs may use.
    pub cpus: Vec<usize>,
    pub memory_mib: u64,
    pub kernel: String,
    /// Load average of the last minute.
    pub load_average: f64,
    /// The version of this program.
    pub bench: String,
}

impl MachineDescription {
    /// Describes this machine.
    pub(crate) fn gather() -> MachineDescription {
        let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let memory_kib = field(&read("/proc/meminfo"), "MemTotal").and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
        MachineDescription {
            host: host(&read("/proc/sys/kernel/hostname")),
            cpu: field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cpus: allowed_cpus(&field(&read("/proc/self/status"), "Cpus_allowed_list").unwrap_or_else(|| "0".to_owned())),
            memory_mib: memory_kib.unwrap_or(0) / 1024,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            load_average: read("/proc/loadavg").split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0.0),
            bench: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Host name without the domain.
fn host(name: &str) -> String {
    let name = name.trim().split('.').next().unwrap_or_default();
    if name.is_empty() { "machine".to_owned() } else { name.to_owned() }
}

/// The CPUs of a list such as `0-3,6`.
fn allowed_cpus(list: &str) -> Vec<usize> {
    let mut cpus = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            cpus.extend(first..=last);
        }
    }
    cpus
}

/// The time of this machine's clock, in milliseconds since 1970.
pub(super) fn clock_ms() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64() * 1e3
}
