//! Options of `run` and `list`, as typed.

use super::machines::MachineOptions;
use crate::peers;
use crate::record::RunSettings;
use crate::scenario::Suite;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Options of `run`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tollgate-bench run\n  tollgate-bench run --suite features --peers tollgate\n  \
                        tollgate-bench run --scenario 'varnish*' --peer tyk=/opt/tyk-gateway/tyk --rounds 7\n  \
                        tollgate-bench run --hosts gateway=10.0.0.2,upstream=10.0.0.3\n\nExit code: 0 when all \
                        statuses were as expected; 1 when some were not, a round is void, or nothing could be run; 130 after Ctrl-C, with what was \
                        measured until then on disk.")]
pub(crate) struct SuiteOptions {
    /// Scenarios to run; `*` matches anything; repeatable [default: the suite]
    #[arg(long, value_name = "GLOB")]
    pub scenario: Vec<String>,
    /// Scenarios of this suite
    #[arg(long, value_name = "SUITE", default_value = "published", conflicts_with = "scenario")]
    pub suite: SuiteChoice,
    #[command(flatten)]
    pub scenarios: ScenarioDirectory,
    /// Gateways to measure, comma-separated [default: those that a scenario names, or all that are installed or given]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = peer_name)]
    pub peers: Vec<String>,
    #[command(flatten)]
    pub given: GivenPeers,
    #[command(flatten)]
    pub machines: MachineOptions,
    /// Rounds; a useful interval needs at least 5
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Length of each measurement
    #[arg(long, value_name = "SECONDS", default_value_t = 1.2, value_parser = seconds)]
    pub seconds: f64,
    /// Two short rounds, to check that everything works; the figures are not meaningful
    #[arg(long, conflicts_with_all = ["rounds", "seconds", "full"])]
    pub quick: bool,
    /// Use the lengths and numbers of requests of the scenarios' sources
    #[arg(long, conflicts_with = "seconds")]
    pub full: bool,
    /// Threads of each gateway, on as many dedicated CPUs [default: half of the CPUs, or all of a machine of their own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Directory of the results; must not contain a run [default: bench/runs/DATE-HOST]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Location of the scenarios.
#[derive(Debug, Args)]
pub(crate) struct ScenarioDirectory {
    /// Directory of the scenarios [default: bench/scenarios]
    #[arg(long, value_name = "DIR")]
    scenarios: Option<PathBuf>,
}

impl ScenarioDirectory {
    pub(crate) fn directory(&self) -> PathBuf {
        self.scenarios.clone().unwrap_or_else(|| PathBuf::from("bench/scenarios"))
    }
}

/// Programs that are not on the PATH.
#[derive(Debug, Args)]
pub(crate) struct GivenPeers {
    /// Program of a gateway, repeatable: tyk=/opt/tyk-gateway/tyk
    #[arg(long = "peer", value_name = "NAME=PATH", value_parser = given_peer)]
    given: Vec<(String, PathBuf)>,
}

impl GivenPeers {
    pub(crate) fn path(&self, name: &str) -> Option<&Path> {
        self.given.iter().find_map(|(given, path)| (given == name).then_some(path.as_path()))
    }
}

/// Options of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListOptions {
    #[command(flatten)]
    pub scenarios: ScenarioDirectory,
    #[command(flatten)]
    pub given: GivenPeers,
}

/// Which scenarios: one suite, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SuiteChoice(Option<Suite>);

static SUITE_CHOICES: LazyLock<Vec<SuiteChoice>> =
    LazyLock::new(|| Suite::ALL.into_iter().map(|suite| SuiteChoice(Some(suite))).chain([SuiteChoice(None)]).collect());

impl ValueEnum for SuiteChoice {
    fn value_variants<'a>() -> &'a [SuiteChoice] {
        &SUITE_CHOICES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self.0 {
            Some(suite) => PossibleValue::new(suite.name()).help(suite.about()),
            None => PossibleValue::new("all").help("Every scenario"),
        })
    }
}

impl SuiteChoice {
    pub(crate) fn has(self, suite: Suite) -> bool {
        self.0.is_none_or(|chosen| chosen == suite)
    }
}

impl SuiteOptions {
    /// The settings to record with the results.
    pub(crate) fn settings(&self) -> RunSettings {
        let (rounds, seconds) = if self.quick { (2, 0.4) } else { (self.rounds, self.seconds) };
        RunSettings { rounds, seconds, full: self.full, quick: self.quick }
    }
}

fn peer_name(text: &str) -> Result<String, String> {
    match peers::named(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(format!("is none of {}", peers::names())),
    }
}

fn given_peer(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("is not NAME=PATH")?;
    Ok((peer_name(name).map_err(|reason| format!("{name} {reason}"))?, PathBuf::from(path)))
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "must be a number of seconds from 0.1 to 3600".to_owned())
}
