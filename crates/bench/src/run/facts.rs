//! Collects the circumstances of a run.

use super::plan::RunPlan;
use crate::record::MachineFacts;
use jiff::Timestamp;
use std::fs;
use std::path::Path;
use std::process::Command;

pub(crate) fn gather(plan: &RunPlan) -> MachineFacts {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let memory_kib = field(&read("/proc/meminfo"), "MemTotal").and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    let versions = plan.peers.iter().filter(|peer| peer.adapter.program().is_some());
    MachineFacts {
        date: Timestamp::now().strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        host: host(),
        cpu: field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cpus: plan.cpus.len(),
        memory_mib: memory_kib.unwrap_or(0) / 1024,
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        load_average: read("/proc/loadavg").split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0.0),
        gateway_cpus: plan.gateway_cpus(),
        other_cpus: plan.other_cpus(),
        threads: plan.threads,
        bench: env!("CARGO_PKG_VERSION").to_owned(),
        versions: versions
            .map(|peer| (peer.adapter.name().to_owned(), version(&peer.program, peer.adapter.version_arguments())))
            .collect(),
    }
}

/// Host name without the domain.
pub(crate) fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim().split('.').next().unwrap_or_default().to_owned();
    if name.is_empty() { "machine".to_owned() } else { name }
}

/// The first line of a program's version output.
pub(crate) fn version(program: &Path, arguments: &[&str]) -> String {
    match Command::new(program).args(arguments).output() {
        Err(error) => format!("unknown ({error})"),
        Ok(output) => {
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("unknown").to_owned()
        }
    }
}
