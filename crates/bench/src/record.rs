//! A run as it is kept: everything that was measured, round by round, and nothing that is derived from it. Reports are made from
//! this alone, so that they can be made again.

use crate::scenario::{Draw, Suite};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The file of a run in its directory.
pub(crate) const FILE: &str = "run.json";
/// What stands in `format`.
pub(crate) const FORMAT: &str = "tollgate-bench/run";
/// What stands in `version`: fields may be added, none changes its meaning within it.
pub(crate) const VERSION: u32 = 1;

/// One run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunRecord {
    pub format: String,
    pub version: u32,
    pub facts: MachineFacts,
    pub settings: RunSettings,
    /// Why it ended before its end, if it did.
    #[serde(default)]
    pub end: Option<String>,
    pub scenarios: Vec<ScenarioRecord>,
}

/// What figures must be quoted with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct MachineFacts {
    /// UTC.
    pub date: String,
    pub host: String,
    pub cpu: String,
    pub cpus: usize,
    pub memory_mib: u64,
    pub kernel: String,
    /// Of the minute before the run. More than a few tenths means that something else was running.
    pub load_average: f64,
    /// CPUs that gateways ran on.
    pub gateway_cpus: String,
    /// CPUs of loader, upstream and stores.
    pub other_cpus: String,
    /// Threads or worker processes of each gateway.
    pub threads: usize,
    /// The version of this program.
    pub bench: String,
    /// What each gateway says of itself.
    pub versions: BTreeMap<String, String>,
}

/// How it was run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunSettings {
    pub rounds: u32,
    pub seconds: f64,
    pub full: bool,
    pub quick: bool,
}

/// A scenario and what was measured in it.
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
    /// Gateways that CPU time is told as a multiple of; of an empty list, Tollgate or the first one.
    #[serde(default)]
    pub ratio_to: Vec<String>,
    /// What a gateway can't do.
    pub absent: Vec<Remark>,
    /// What should have worked and did not: wrong statuses, a gateway that did not start.
    pub failures: Vec<Remark>,
    pub series: Vec<RoundSeries>,
}

/// A case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CaseRecord {
    pub name: String,
    pub x: Option<f64>,
    /// The statuses that every gateway had to give, as a sentence.
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

/// Something to be said of a gateway and a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Remark {
    pub peer: String,
    /// All of them if empty.
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
    /// Requests a second that were due.
    pub rate: Option<f64>,
    pub status: BTreeMap<u16, u64>,
    /// Requests that got no answer.
    pub failed: u64,
    pub mean_us: f64,
    pub max_us: f64,
    pub p50_us: f64,
    pub p90_us: f64,
    pub p95_us: f64,
    pub p99_us: f64,
    pub p99_9_us: f64,
    /// From the actual send: what lies between it and the response time is the queue.
    pub service_p99_us: f64,
    /// The response times: HdrHistogram V2, compressed, base64, in nanoseconds.
    pub histogram: String,
    /// What the first case's gateway used at the same time, in CPU time for each of its own requests, where both were measured side by side.
    #[serde(default)]
    pub first_case_cpu_us: Option<f64>,
    /// `None` without a gateway.
    pub gateway: Option<Use>,
    pub upstream: Use,
    pub store: Option<Use>,
    pub loader_cpu_us: f64,
    /// Why the loader is thought to have been the bottleneck: speed and latency are void then, CPU time stands.
    pub loader_saturated: Vec<String>,
    /// Reloads that were asked for meanwhile.
    pub reloads: u64,
    pub seconds_of_load: Vec<SecondRecord>,
    pub samples: Vec<UsageSample>,
    /// Why nothing of this round counts, if so.
    pub void: Option<String>,
}

/// What processes used in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Use {
    /// CPU time for each request, in microseconds.
    pub cpu_us: f64,
    pub user_us: f64,
    pub system_us: f64,
    /// Context switches for each request.
    pub switches: f64,
    /// CPUs that were busy, on average.
    pub cpus_busy: f64,
    /// At the end of the round.
    pub memory_mib: f64,
}

/// A second as the loader saw it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SecondRecord {
    pub requests: u64,
    pub failed: u64,
    pub p50_us: f64,
    pub p99_us: f64,
    pub connections: u64,
}

/// What was busy since the sample before.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct UsageSample {
    pub at_seconds: f64,
    pub gateway_cpus: f64,
    pub upstream_cpus: f64,
    pub gateway_mib: f64,
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

    /// Something that should have worked did not: a gateway did not start or gave wrong statuses, or a round is void.
    pub(crate) fn has_failures(&self) -> bool {
        let failed = |scenario: &ScenarioRecord| {
            !scenario.failures.is_empty() || scenario.series.iter().any(|series| series.void().is_some())
        };
        self.scenarios.is_empty() || self.scenarios.iter().any(failed)
    }
}

impl ScenarioRecord {
    /// The rounds of this case, load and gateway, if there are any.
    pub(crate) fn series(&self, case: usize, load: usize, peer: &str) -> Option<&RoundSeries> {
        self.series.iter().find(|series| (series.case, series.load, series.peer.as_str()) == (case, load, peer))
    }
}

impl RoundSeries {
    /// Why nothing of it counts: the reason of the first void round.
    pub(crate) fn void(&self) -> Option<&str> {
        self.rounds.iter().find_map(|round| round.void.as_deref())
    }

    /// Speed and latency are void, CPU time is not.
    pub(crate) fn is_loader_bound(&self) -> bool {
        let bound = self.rounds.iter().filter(|round| !round.loader_saturated.is_empty()).count();
        bound * 2 > self.rounds.len()
    }

    /// A figure of each round.
    pub(crate) fn figures(&self, figure: impl Fn(&Round) -> f64) -> Vec<f64> {
        self.rounds.iter().map(figure).collect()
    }

    /// CPU time of the gateway per request, of each round; nothing where there is no gateway.
    pub(crate) fn cpu_us(&self) -> Vec<f64> {
        self.rounds.iter().filter_map(|round| Some(round.gateway?.cpu_us)).collect()
    }
}
