//! Which machine does what in a run: the load generator, the gateways with their stores, and the upstream.

use crate::machine::{Destination, Machine, Ssh};
use crate::probe::HOST;
use clap::Args;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;
use std::sync::Arc;

/// Machines other than this one.
#[derive(Debug, Args)]
pub(crate) struct MachineOptions {
    /// Machines for loader, gateway and upstream, reached over SSH without a password; those left out run here: gateway=10.0.0.2,upstream=root@10.0.0.3:2222
    #[arg(long, value_name = "ROLE=[USER@]HOST[:PORT]", value_delimiter = ',', value_parser = HostChoice::from_str)]
    hosts: Vec<HostChoice>,
    /// The SSH client with its options
    #[arg(long, value_name = "COMMAND", default_value = "ssh", requires = "hosts")]
    ssh: Ssh,
    /// This machine's address, which the others reach; needed if the gateways or the upstream run here
    #[arg(long, value_name = "IP", requires = "hosts")]
    address: Option<Ipv4Addr>,
}

/// What a machine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Loader,
    Gateway,
    Upstream,
}

impl Role {
    pub(crate) const ALL: [Role; 3] = [Role::Loader, Role::Gateway, Role::Upstream];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Role::Loader => "loader",
            Role::Gateway => "gateway",
            Role::Upstream => "upstream",
        }
    }
}

/// A machine for a role.
#[derive(Clone, Debug)]
struct HostChoice {
    role: Role,
    destination: Destination,
}

impl FromStr for HostChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<HostChoice, String> {
        let (name, destination) = text.split_once('=').ok_or("is not ROLE=[USER@]HOST[:PORT]")?;
        let role = Role::ALL.into_iter().find(|role| role.name() == name).ok_or("a role is loader, gateway or upstream")?;
        Ok(HostChoice { role, destination: destination.parse()? })
    }
}

/// The machines of a run; all the same one by default.
pub(crate) struct Machines {
    pub loader: Arc<Machine>,
    pub gateway: Arc<Machine>,
    pub upstream: Arc<Machine>,
}

impl Machines {
    /// Connects to the machines.
    pub(crate) fn open(options: &MachineOptions) -> Result<Machines, String> {
        for role in Role::ALL {
            if options.hosts.iter().filter(|choice| choice.role == role).count() > 1 {
                return Err(format!("--hosts names two machines for the {}", role.name()));
            }
        }
        let needs_address = !options.hosts.is_empty()
            && [Role::Gateway, Role::Upstream].iter().any(|role| !options.hosts.iter().any(|choice| choice.role == *role));
        let address: IpAddr = match (options.address, needs_address) {
            (Some(address), _) => address.into(),
            (None, true) => {
                return Err("the gateways or the upstream run here, and other machines must reach them: give --address".to_owned());
            }
            (None, false) => HOST.parse().map_err(|error| format!("{HOST}: {error}"))?,
        };
        let here = Arc::new(Machine::here(address));
        let mut opened: Vec<(Destination, Arc<Machine>)> = Vec::new();
        let mut of = |role: Role| -> Result<Arc<Machine>, String> {
            let Some(choice) = options.hosts.iter().find(|choice| choice.role == role) else { return Ok(here.clone()) };
            if let Some((_, machine)) = opened.iter().find(|(destination, _)| *destination == choice.destination) {
                return Ok(machine.clone());
            }
            let machine = Arc::new(Machine::there(&options.ssh, &choice.destination)?);
            opened.push((choice.destination.clone(), machine.clone()));
            Ok(machine)
        };
        Ok(Machines { loader: of(Role::Loader)?, gateway: of(Role::Gateway)?, upstream: of(Role::Upstream)? })
    }

    pub(crate) fn of(&self, role: Role) -> &Arc<Machine> {
        match role {
            Role::Loader => &self.loader,
            Role::Gateway => &self.gateway,
            Role::Upstream => &self.upstream,
        }
    }

    /// Whether all are this one.
    pub(crate) fn are_one(&self) -> bool {
        Arc::ptr_eq(&self.loader, &self.gateway) && Arc::ptr_eq(&self.gateway, &self.upstream)
    }

    /// Threads of each gateway if none are given: half of the CPUs if the machine also does something else; on a single CPU, the gateway shares it.
    pub(crate) fn gateway_threads(&self) -> usize {
        let cpus = self.gateway.description.cpus.len();
        let is_alone = !Arc::ptr_eq(&self.gateway, &self.loader) && !Arc::ptr_eq(&self.gateway, &self.upstream);
        if is_alone { cpus.max(1) } else { (cpus / 2).max(1) }
    }

    /// The CPUs of a role as a list for taskset, while gateways have so many threads: theirs are not for others, unless there are no others.
    pub(crate) fn cpus(&self, role: Role, threads: usize) -> String {
        let machine = self.of(role);
        let all = &machine.description.cpus;
        let taken = if Arc::ptr_eq(machine, &self.gateway) { threads } else { 0 };
        let listed = |cpus: &[usize]| cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        match (role, all.get(taken..).filter(|rest| !rest.is_empty())) {
            (Role::Gateway, _) => listed(all.get(..threads).unwrap_or(all)),
            (_, Some(rest)) => listed(rest),
            (_, None) => listed(all),
        }
    }

    /// The CPUs of what runs beside the gateways on their machine.
    pub(crate) fn store_cpus(&self, threads: usize) -> String {
        let all = &self.gateway.description.cpus;
        let rest = all.get(threads..).filter(|rest| !rest.is_empty()).unwrap_or(all);
        rest.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
    }

    /// Threads of the load generator: one for each of its CPUs.
    pub(crate) fn loader_threads(&self, threads: usize) -> usize {
        let cpus = self.loader.description.cpus.len();
        if Arc::ptr_eq(&self.loader, &self.gateway) { cpus.saturating_sub(threads).max(1) } else { cpus.max(1) }
    }
}

#[cfg(test)]
impl Machines {
    /// One machine with these CPUs.
    pub(crate) fn of_cpus(cpus: &[usize]) -> Machines {
        let mut machine = Machine::here(Ipv4Addr::LOCALHOST.into());
        machine.description.cpus = cpus.to_vec();
        let machine = Arc::new(machine);
        Machines { loader: machine.clone(), gateway: machine.clone(), upstream: machine }
    }
}

#[cfg(test)]
mod tests;
