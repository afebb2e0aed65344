//! The record of a run: all measurements, round by round, and nothing derived. Reports are generated from it alone, so they can be
//! regenerated.

use crate::scenario::{Draw, Suite};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// File name of a run in its directory.
pub(crate) const FILE: &str = "run.json";
/// Value of `format`.
pub(crate) const FORMAT: &str = "tollgate-bench/run";
/// Value of `version`: within it, fields may be added, but none changes its meaning.
pub(crate) const VERSION: u32 = 1;

/// One run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunRecord {
    pub format: String,
    pub version: u32,
    pub facts: MachineFacts,
    pub settings: RunSettings,
    /// Why it stopped early, if it did.
    #[serde(default)]
    pub end: Option<String>,
    pub scenarios: Vec<ScenarioRecord>,
}

/// Share of the CPUs of load generator and upstream that may be busy while latency counts.
const BUSY_SHARE_MAX: f64 = 0.9;

/// Facts that must accompany the figures.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct MachineFacts {
    /// Date in UTC.
    pub date: String,
    pub host: String,
    pub cpu: String,
    pub cpus: usize,
    pub memory_mib: u64,
    pub kernel: String,
    /// Load average of the minute before the run. More than a few tenths means that something else was running.
    pub load_average: f64,
    /// CPUs that gateways ran on.
    pub gateway_cpus: String,
    /// CPUs of load generator, upstream and stores.
    pub other_cpus: String,
    /// Threads or worker processes of each gateway.
    pub threads: usize,
    /// The version of this program.
    pub bench: String,
    /// Version that each gateway reports.
    pub versions: BTreeMap<String, String>,
    /// What each machine does, if there are several; the fields above are of the gateways' machine.
    #[serde(default)]
    pub roles: Vec<RoleFacts>,
}

/// One machine of several.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RoleFacts {
    /// `loader`, `gateway` or `upstream`
    pub role: String,
    /// `this machine`, or the destination for SSH.
    pub machine: String,
    pub host: String,
    pub address: String,
    pub cpu: String,
    /// The CPUs that this role used.
    pub cpus: String,
    pub memory_mib: u64,
    pub kernel: String,
    pub load_average: f64,
    /// How far its clock was ahead of the clock where the run was started.
    pub clock_ahead_ms: f64,
}

impl RoleFacts {
    /// The machine in words.
    pub(crate) fn said(&self) -> String {
        format!(
            "{} ({}, {}): CPU {} of {}, {} MiB, Linux {}, load average before {:.2}, clock {:+.1} ms",
            self.host,
            self.machine,
            self.address,
            self.cpus,
            self.cpu,
            self.memory_mib,
            self.kernel,
            self.load_average,
            self.clock_ahead_ms
        )
    }
}

impl MachineFacts {
    /// The highest load average before the run.
    pub(crate) fn load_average_max(&self) -> f64 {
        self.roles.iter().map(|role| role.load_average).fold(self.load_average, f64::max)
    }
}

/// Settings of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunSettings {
    pub rounds: u32,
    pub seconds: f64,
    pub full: bool,
    pub quick: bool,
}

/// A scenario and its measurements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ScenarioRecord {
    pub name: String,
    pub title: String,
    pub source: String,
    pub about: String,
    pub suite: Suite,
    pub draw: Draw,
    pub cases: Vec<CaseRecord>,
    pub loads: Vec<LoadRecord>,
    pub peers: Vec<String>,
    /// Gateways whose CPU time is the reference for ratios; if empty, Tollgate or the first gateway.
    #[serde(default)]
    pub ratio_to: Vec<String>,
    /// Speed of the store that several gateways share, without them.
    #[serde(default)]
    pub store: Option<StoreSpeed>,
    /// Cases that a gateway cannot do.
    pub absent: Vec<Remark>,
    /// Failures: wrong statuses, a gateway that did not start.
    pub failures: Vec<Remark>,
    pub series: Vec<RoundSeries>,
}

/// What a store does without a gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoreSpeed {
    /// The program that measured it, and the command that it sent.
    pub measured: String,
    pub commands_per_second: f64,
}

impl StoreSpeed {
    /// As a sentence.
    pub(crate) fn said(&self) -> String {
        format!("The store alone: {:.0} commands/s ({})", self.commands_per_second, self.measured)
    }
}

/// A case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CaseRecord {
    pub name: String,
    pub x: Option<f64>,
    /// The statuses required of every gateway, as a sentence.
    pub expected: String,
}

/// A load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoadRecord {
    pub name: String,
    /// Connections, rate and so on, as a sentence.
    pub said: String,
    pub is_full_speed: bool,
    pub is_ramp: bool,
}

/// A remark about a gateway and a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Remark {
    pub peer: String,
    /// The case; empty means all.
    pub case: String,
    pub text: String,
}

/// The rounds of one case, load and gateway.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RoundSeries {
    pub case: usize,
    pub load: usize,
    pub peer: String,
    pub rounds: Vec<Round>,
}

/// One measurement.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Round {
    pub seconds: f64,
    pub requests: u64,
    pub requests_per_second: f64,
    /// Scheduled requests per second.
    pub rate: Option<f64>,
    pub status: BTreeMap<u16, u64>,
    /// Requests without a response.
    pub failed: u64,
    pub mean_us: f64,
    pub max_us: f64,
    pub p50_us: f64,
    pub p90_us: f64,
    pub p95_us: f64,
    pub p99_us: f64,
    pub p99_9_us: f64,
    /// 99th percentile from the actual send time; the difference to the response time is queueing.
    pub service_p99_us: f64,
    /// The response times: HdrHistogram V2, compressed, base64, in nanoseconds.
    pub histogram: String,
    /// CPU time per request of the first case's gateway, if both were measured side by side.
    #[serde(default)]
    pub first_case_cpu_us: Option<f64>,
    /// Resource usage of the gateway; `None` without one.
    pub gateway: Option<Use>,
    pub upstream: Use,
    pub store: Option<Use>,
    pub loader_cpu_us: f64,
    /// Indications that the load generator was the bottleneck: speed and latency are void then, CPU time is valid.
    pub loader_saturated: Vec<String>,
    /// Number of reloads during the round.
    pub reloads: u64,
    pub seconds_of_load: Vec<SecondRecord>,
    pub samples: Vec<UsageSample>,
    /// Why the round is void, if it is.
    pub void: Option<String>,
}

/// Resource usage of processes in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Use {
    /// CPU time per request in microseconds.
    pub cpu_us: f64,
    pub user_us: f64,
    pub system_us: f64,
    /// Context switches per request.
    pub switches: f64,
    /// Average number of busy CPUs.
    pub cpus_busy: f64,
    /// Memory at the end of the round.
    pub memory_mib: f64,
}

/// One second as seen by the load generator.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SecondRecord {
    pub requests: u64,
    pub failed: u64,
    pub p50_us: f64,
    pub p99_us: f64,
    pub connections: u64,
}

/// CPU usage since the previous sample.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct UsageSample {
    pub at_seconds: f64,
    pub gateway_cpus: f64,
    pub upstream_cpus: f64,
    pub gateway_mib: f64,
}

impl MachineFacts {
    /// Number of CPUs that load generator, upstream and stores share without the gateways; `None` on several machines, or if
    /// everything shares all CPUs.
    pub(crate) fn shared_cpus(&self) -> Option<f64> {
        if !self.roles.is_empty() || self.other_cpus == self.gateway_cpus {
            return None;
        }
        let count = |range: &str| match range.split_once('-') {
            Some((first, last)) => Some(last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?)? + 1),
            None => range.parse::<u32>().ok().map(|_| 1),
        };
        self.other_cpus.split(',').map(count).sum::<Option<u32>>().map(f64::from)
    }
}

impl Round {
    /// Average number of busy CPUs of load generator, upstream and store together.
    fn shared_cpus_busy(&self) -> f64 {
        let loader = self.loader_cpu_us * self.requests_per_second / 1e6;
        loader + self.upstream.cpus_busy + self.store.map_or(0.0, |store| store.cpus_busy)
    }
}

impl RunRecord {
    pub(crate) fn new(facts: MachineFacts, settings: RunSettings) -> RunRecord {
        RunRecord { format: FORMAT.to_owned(), version: VERSION, facts, settings, end: None, scenarios: Vec::new() }
    }

    /// Reads a run from its directory or file.
    pub(crate) fn read(path: &Path) -> Result<RunRecord, String> {
        let file = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
        let text = std::fs::read(&file).map_err(|error| format!("{}: cannot be read: {error}", file.display()))?;
        let run: RunRecord = serde_json::from_slice(&text).map_err(|error| format!("{}: is no run: {error}", file.display()))?;
        if run.format != FORMAT || run.version > VERSION {
            return Err(format!(
                "{}: is {} {}, and this program knows {FORMAT} up to {VERSION}",
                file.display(),
                run.format,
                run.version
            ));
        }
        Ok(run)
    }

    /// What failed that should have worked, as lines: a gateway did not start or gave wrong statuses, or a round is void.
    pub(crate) fn failures(&self) -> Vec<String> {
        if self.scenarios.is_empty() {
            return vec!["nothing was measured".to_owned()];
        }
        self.scenarios.iter().flat_map(ScenarioRecord::failures).collect()
    }
}

impl ScenarioRecord {
    fn failures(&self) -> impl Iterator<Item = String> {
        let failed = self.failures.iter().map(|remark| {
            let case = if remark.case.is_empty() { "all cases" } else { &remark.case };
            format!("{}, {case}, {}: {}", self.name, remark.peer, remark.text)
        });
        let void = self.series.iter().filter_map(|series| {
            let (case, load) = (self.case_name(series.case), self.load_name(series.load));
            Some(format!("{}, {case}, {load}, {}: {}", self.name, series.peer, series.void()?))
        });
        failed.chain(void)
    }

    pub(crate) fn case_name(&self, case: usize) -> &str {
        self.cases.get(case).map_or("", |case| &case.name)
    }

    pub(crate) fn load_name(&self, load: usize) -> &str {
        self.loads.get(load).map_or("", |load| &load.name)
    }

    /// The rounds of this case, load and gateway, if there are any.
    pub(crate) fn series(&self, case: usize, load: usize, peer: &str) -> Option<&RoundSeries> {
        self.series.iter().find(|series| (series.case, series.load, series.peer.as_str()) == (case, load, peer))
    }
}

impl RoundSeries {
    /// Reason of the first void round, which makes the whole series void.
    pub(crate) fn void(&self) -> Option<&str> {
        self.rounds.iter().find_map(|round| round.void.as_deref())
    }

    /// Whether speed and latency are void but CPU time is valid: the load generator was the bottleneck, or at a rate the CPUs that it shares
    /// with the upstream were so busy that latency is their queue. `shared_cpus` is their number, if they share any.
    pub(crate) fn is_loader_bound(&self, shared_cpus: Option<f64>) -> bool {
        let is_bound = |round: &&Round| {
            let is_full = round.rate.is_some() && shared_cpus.is_some_and(|cpus| round.shared_cpus_busy() > BUSY_SHARE_MAX * cpus);
            is_full || !round.loader_saturated.is_empty()
        };
        self.rounds.iter().filter(is_bound).count() * 2 > self.rounds.len()
    }

    /// A figure for each round.
    pub(crate) fn figures(&self, figure: impl Fn(&Round) -> f64) -> Vec<f64> {
        self.rounds.iter().map(figure).collect()
    }

    /// CPU time of the gateway per request for each round; empty without a gateway.
    pub(crate) fn cpu_us(&self) -> Vec<f64> {
        self.rounds.iter().filter_map(|round| Some(round.gateway?.cpu_us)).collect()
    }
}
