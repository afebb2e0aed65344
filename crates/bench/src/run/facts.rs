//! Collects the circumstances of a run.

use super::machines::Role;
use super::plan::RunPlan;
use crate::machine::Machine;
use crate::record::{MachineFacts, RoleFacts};
use jiff::Timestamp;
use std::path::Path;

pub(crate) fn gather(plan: &RunPlan) -> MachineFacts {
    let machine = &plan.machines.gateway;
    let description = &machine.description;
    let versions = plan.peers.iter().filter(|peer| peer.adapter.program().is_some());
    MachineFacts {
        date: Timestamp::now().strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        host: description.host.clone(),
        cpu: description.cpu.clone(),
        cpus: description.cpus.len(),
        memory_mib: description.memory_mib,
        kernel: description.kernel.clone(),
        load_average: description.load_average,
        gateway_cpus: plan.cpus(Role::Gateway),
        other_cpus: plan.cpus(Role::Loader),
        threads: plan.threads,
        bench: env!("CARGO_PKG_VERSION").to_owned(),
        versions: versions
            .map(|peer| (peer.adapter.name().to_owned(), version(machine, &peer.program, peer.adapter.version_arguments())))
            .collect(),
        roles: if plan.machines.are_one() { Vec::new() } else { Role::ALL.map(|role| role_facts(plan, role)).into() },
    }
}

fn role_facts(plan: &RunPlan, role: Role) -> RoleFacts {
    let machine = plan.machines.of(role);
    let description = &machine.description;
    RoleFacts {
        role: role.name().to_owned(),
        machine: machine.name.clone(),
        host: description.host.clone(),
        address: machine.address.to_string(),
        cpu: description.cpu.clone(),
        cpus: plan.cpus(role),
        memory_mib: description.memory_mib,
        kernel: description.kernel.clone(),
        load_average: description.load_average,
        clock_ahead_ms: machine.clock_ahead_ms,
    }
}

/// The first line of a program's version output.
pub(crate) fn version(machine: &Machine, program: &Path, arguments: &[&str]) -> String {
    match machine.output(program, arguments) {
        Err(error) => format!("unknown ({error})"),
        Ok(said) => said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("unknown").to_owned(),
    }
}
