//! The plan of a run: scenarios, gateways, CPUs, and an estimate of the time.

use super::machines::{MachineRole, Machines};
use super::options::SuiteOptions;
use crate::machine::Machine;
use crate::peers;
use crate::peers::PeerAdapter;
use crate::record::RunSettings;
use crate::scenario;
use crate::scenario::{Case, LoadSpec, Meanwhile, Scenario};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time for starting a gateway, creating its keys, and checking its statuses.
const PREPARATION_SECONDS: f64 = 0.7;
/// Time for starting the load generator and reading its result.
const AROUND_SECONDS: f64 = 0.15;
/// The longest pause before a load whose latency counts. Rounds are equally long, so what a machine does every few seconds would
/// otherwise meet the same gateway each time: Linux's memory monitor (`kdamond`) takes ten milliseconds of a CPU every five seconds.
pub(crate) const PAUSE: Duration = Duration::from_millis(500);
/// Time until records are written, for cases side by side; some take longer.
const SETTLE_SECONDS: f64 = 2.0;
/// A ramp takes longer than other loads, to be visible.
const RAMP_FACTOR: f64 = 5.0;
const WARM_UP_SECONDS_MAX: f64 = 0.5;

/// The plan of a run.
pub(crate) struct RunPlan {
    pub scenarios: Vec<Scenario>,
    pub peers: Vec<SelectedPeer>,
    /// Whether `--peers` names the gateways, so that scenarios do not choose.
    pub peers_are_named: bool,
    pub settings: RunSettings,
    pub threads: usize,
    pub machines: Machines,
}

/// An available gateway.
pub(crate) struct SelectedPeer {
    pub adapter: &'static dyn PeerAdapter,
    pub program: PathBuf,
}

/// A case that a gateway can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeerCase {
    /// Index into the plan's gateways.
    pub peer: usize,
    pub case: usize,
}

impl RunPlan {
    pub(crate) fn new(options: &SuiteOptions) -> Result<RunPlan, String> {
        let scenarios = choose_scenarios(options)?;
        let machines = Machines::open(&options.machines)?;
        let peers = choose_peers(options, &machines.gateway)?;
        let peers_are_named = !options.peers.is_empty();
        let threads = options.threads.map_or_else(|| machines.gateway_threads(), usize::from);
        let mut plan = RunPlan { scenarios, peers, peers_are_named, settings: options.settings(), threads, machines };
        let wanted: BTreeSet<usize> =
            plan.scenarios.iter().flat_map(|scenario| plan.peers_of(scenario).map(|(place, _)| place)).collect();
        let mut place = 0..;
        plan.peers.retain(|_| place.next().is_some_and(|place| wanted.contains(&place)));
        Ok(plan)
    }

    /// The CPUs of a role, for taskset.
    pub(crate) fn cpus(&self, role: MachineRole) -> String {
        self.machines.cpus(role, self.threads)
    }

    /// The CPUs of stores, which run beside the gateways.
    pub(crate) fn store_cpus(&self) -> String {
        self.machines.store_cpus(self.threads)
    }

    /// Threads of the load generator: one per CPU that it may use.
    pub(crate) fn loader_threads(&self) -> usize {
        self.machines.loader_threads(self.threads)
    }

    /// The gateways of a scenario, with their indices in the plan.
    pub(crate) fn peers_of(&self, scenario: &Scenario) -> impl Iterator<Item = (usize, &SelectedPeer)> {
        let is_in = |adapter: &dyn PeerAdapter| match scenario.peers.as_slice() {
            _ if self.peers_are_named => true,
            [] => !adapter.is_for_scenarios_that_name_it(),
            names => names.iter().any(|name| name == adapter.name()),
        };
        self.peers.iter().enumerate().filter(move |(_, chosen)| is_in(chosen.adapter))
    }

    /// The measurements of a scenario, in order: case by case, gateway by gateway.
    pub(crate) fn targets(&self, scenario: &Scenario) -> Vec<PeerCase> {
        let mut targets = Vec::new();
        for (case, asked) in scenario.case.iter().enumerate() {
            for (peer, chosen) in self.peers_of(scenario) {
                let seen = chosen.adapter.passes_paths_on() && asks_the_same_before(scenario, case);
                if !seen && absence(scenario, chosen.adapter, asked).is_none() {
                    targets.push(PeerCase { peer, case });
                }
            }
        }
        targets
    }

    /// The length of a measurement; in a full run, possibly a number of requests.
    pub(crate) fn length(&self, load: &LoadSpec) -> Length {
        let scaled = self.settings.seconds * if load.ramp { RAMP_FACTOR } else { 1.0 };
        match (self.settings.full, load.seconds, load.requests) {
            (true, Some(seconds), _) => Length::Seconds(seconds),
            (true, None, Some(requests)) => Length::Requests(requests),
            _ => Length::Seconds(scaled),
        }
    }

    /// The length of the discarded warm-up.
    pub(crate) fn warm_up(&self) -> f64 {
        self.settings.seconds.min(WARM_UP_SECONDS_MAX)
    }

    /// Whether a load waits up to [`PAUSE`] before it starts: where latency counts.
    pub(crate) fn has_pause(&self, load: &LoadSpec) -> bool {
        !load.is_full_speed() && !load.ramp
    }

    /// Estimated time of a measurement, and of what is done around it.
    pub(crate) fn estimate_of(&self, load: &LoadSpec) -> Duration {
        let length = match self.length(load) {
            Length::Seconds(seconds) => seconds,
            Length::Requests(requests) => requests as f64 / 20_000.0,
        };
        let pause = if self.has_pause(load) { PAUSE / 2 } else { Duration::ZERO };
        Duration::from_secs_f64(length + AROUND_SECONDS) + pause
    }

    /// Estimated time for the steps of a scenario.
    pub(crate) fn estimate(&self, scenario: &Scenario) -> Duration {
        let targets = self.targets(scenario).len() as f64;
        let settle = if scenario.side_by_side { SETTLE_SECONDS } else { 0.0 };
        let rounds: f64 = scenario
            .load
            .iter()
            .map(|load| (self.estimate_of(load).as_secs_f64() + settle) * f64::from(self.settings.rounds))
            .sum();
        Duration::from_secs_f64(targets * (rounds + PREPARATION_SECONDS + self.warm_up() + AROUND_SECONDS))
    }

    /// Describes the plan for people.
    pub(crate) fn announcement(&self, directory: &Path) -> String {
        let total: Duration = self.scenarios.iter().map(|scenario| self.estimate(scenario)).sum();
        let names: Vec<_> = self.scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
        let peers: Vec<_> = self.peers.iter().map(|peer| peer.adapter.name()).collect();
        format!(
            "scenarios: {}\ngateways:  {}\nabout {} minutes; results go to {}\n",
            names.join(", "),
            peers.join(", "),
            total.as_secs().div_ceil(60),
            directory.display()
        )
    }
}

/// Length of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Length {
    Seconds(f64),
    Requests(u64),
}

/// Why a gateway is not in a case; `None` if it is.
pub(crate) fn absence(scenario: &Scenario, adapter: &dyn PeerAdapter, case: &Case) -> Option<String> {
    if scenario.meanwhile == Meanwhile::Reload && !adapter.can_reload() {
        return Some("its adapter knows no reload".to_owned());
    }
    if scenario.gateways > 1 && !adapter.shares_a_store() && adapter.program().is_some() {
        return Some("several of them share no store, as shipped or in its adapter".to_owned());
    }
    adapter.cannot(case)
}

/// Whether an earlier case sends the same request to the upstream. Without a gateway, such cases are identical.
fn asks_the_same_before(scenario: &Scenario, case: usize) -> bool {
    let Some(this) = scenario.case.get(case).map(asked) else { return false };
    scenario.case.iter().take(case).any(|earlier| asked(earlier) == this)
}

/// The request to the upstream, without the query, which may contain a key, and whether the upstream is reached at all.
fn asked(case: &Case) -> (&str, &str, u64, &str, bool) {
    let request = &case.request;
    let path = request.path.split('?').next().unwrap_or(&request.path);
    (&request.method, path, request.body_bytes, &request.json, case.is_always_served())
}

fn choose_peers(options: &SuiteOptions, machine: &Machine) -> Result<Vec<SelectedPeer>, String> {
    let mut chosen = Vec::new();
    for adapter in peers::ALL {
        let given = options.given.path(adapter.name());
        let is_named = options.peers.iter().any(|name| name == adapter.name());
        if !options.peers.is_empty() && !is_named {
            continue;
        }
        match peers::find(adapter, given, machine) {
            Ok(program) => chosen.push(SelectedPeer { adapter, program }),
            // A gateway that was named must exist; of the others, the existing ones are used.
            Err(reason) if is_named || given.is_some() || adapter.name() == "tollgate" => {
                return Err(format!("{}: {reason}", adapter.name()));
            }
            Err(_) => {}
        }
    }
    Ok(chosen)
}

fn choose_scenarios(options: &SuiteOptions) -> Result<Vec<Scenario>, String> {
    let directory = options.scenarios.directory();
    let mut read: Vec<Scenario> = Vec::new();
    let mut problems = Vec::new();
    for file in scenario::files(&directory)? {
        match Scenario::read(&file) {
            Ok(scenario) => read.push(scenario),
            Err(problem) => problems.push(problem),
        }
    }
    for scenario in &read {
        for (key, named) in [("peers", &scenario.peers), ("ratio_to", &scenario.ratio_to)] {
            if let Some(unknown) = named.iter().find(|name| peers::named(name).is_none()) {
                problems.push(format!("{}.toml: {key}: {unknown} is none of {}", scenario.name, peers::names()));
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    let names: Vec<_> = read.iter().map(|scenario| scenario.name.clone()).collect();
    for pattern in &options.scenario {
        if !names.iter().any(|name| scenario::matches(pattern, name)) {
            return Err(format!("--scenario {pattern}: matches none of {}", names.join(", ")));
        }
    }
    read.retain(|scenario| {
        if options.scenario.is_empty() {
            options.suite.has(scenario.suite)
        } else {
            options.scenario.iter().any(|pattern| scenario::matches(pattern, &scenario.name))
        }
    });
    if read.is_empty() {
        Err(format!("{}: no scenario is of this suite; --scenario takes names: {}", directory.display(), names.join(", ")))
    } else {
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
