//! `tollgate-bench run`: runs scenarios on gateways. Every round visits all cases and gateways in turn, so that other load on the
//! machine affects all equally; statuses are checked before any speed is reported; results are written to disk after every round.

mod certificate;
mod facts;
mod gate;
mod keys;
mod loader;
mod machines;
mod measure;
mod options;
mod plan;
mod recorded;
mod sampling;
mod testbed;

pub(crate) use options::{ListOptions, SuiteOptions};

use crate::exit;
use crate::interrupt::Interrupt;
use crate::machine::{Machine, MachineDescription};
use crate::probe::HOST;
use crate::record::{self, RunRecord};
use crate::{peers, report, scenario};
use jiff::Timestamp;
use plan::RunPlan;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs the requested scenarios and writes a directory of results.
pub(crate) fn run(options: &SuiteOptions) -> ExitCode {
    match measure(options) {
        Ok(run) if run.end.is_some() => ExitCode::from(exit::EXIT_INTERRUPTED),
        Ok(run) => {
            let failures = run.failures();
            for failure in &failures {
                eprintln!("tollgate-bench: failed: {failure}");
            }
            if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(reason) => {
            eprintln!("tollgate-bench: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &SuiteOptions) -> Result<RunRecord, String> {
    // A second signal must not end this program before its children.
    let interrupt = Interrupt::watch(|| ()).map_err(|error| format!("signals cannot be watched: {error}"))?;
    raise_open_files();
    let plan = RunPlan::new(options)?;
    let directory = results_directory(options)?;
    let mut run = RunRecord::new(facts::gather(&plan), options.settings());
    print!("{}", report::terminal::heading(&run));
    println!("{}", plan.announcement(&directory));
    let mut keep = |run: &RunRecord| write(&directory, run);
    keep(&run)?;
    let measured = measure::all(&plan, &mut run, &interrupt, &directory, &mut keep);
    if let Err(reason) = &measured {
        run.end = Some(reason.clone());
    }
    keep(&run)?;
    report::write_all(&directory, &run)?;
    print!("{}", report::terminal::tables(&run));
    println!("results: {}", directory.display());
    if let Some(end) = &run.end {
        eprintln!("tollgate-bench: the run is not complete: {end}; what was measured until then is in {}", directory.display());
    }
    Ok(run)
}

/// Replaces `run.json` atomically: if the disk is full, the previous one stays intact.
fn write(directory: &Path, run: &RunRecord) -> Result<(), String> {
    let file = directory.join(record::FILE);
    let beside = directory.join("run.json.part");
    let text = serde_json::to_vec(run).map_err(|error| format!("{}: {error}", file.display()))?;
    std::fs::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, &file))
        .map_err(|error| format!("{}: cannot be written: {error}", file.display()))
}

fn results_directory(options: &SuiteOptions) -> Result<PathBuf, String> {
    let directory = options.out.clone().unwrap_or_else(|| {
        let name = format!("{}-{}", Timestamp::now().strftime("%Y%m%d-%H%M%S"), scenario::slug(&MachineDescription::gather().host));
        PathBuf::from("bench/runs").join(name)
    });
    if directory.join(record::FILE).exists() {
        return Err(format!("{}: holds a run already; choose another --out", directory.display()));
    }
    std::fs::create_dir_all(&directory).map_err(|error| format!("{}: cannot be made: {error}", directory.display()))?;
    Ok(directory)
}

/// Raises the limit of open files: load generator, gateway and upstream need thousands of connections each; children inherit it.
fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// `tollgate-bench list`: scenarios and installed gateways.
pub(crate) fn list(options: &ListOptions) -> ExitCode {
    exit::print(listing(options))
}

fn listing(options: &ListOptions) -> Result<String, String> {
    use std::fmt::Write;
    let mut text = String::from("scenarios\n");
    for file in scenario::files(&options.scenarios.directory())? {
        let scenario = scenario::Scenario::read(&file)?;
        let suite = scenario.suite.name();
        // Writing into a String cannot fail.
        let _ = writeln!(text, "  {:18} {suite:10} {:2} cases  {}", scenario.name, scenario.case.len(), scenario.title);
    }
    text.push_str("\ngateways\n");
    let here = Machine::here(HOST.parse().map_err(|error| format!("{HOST}: {error}"))?);
    for peer in peers::ALL {
        let found = match peers::find(peer, options.given.path(peer.name()), &here) {
            Ok(path) if peer.program().is_none() => format!("always{}", path.display()),
            Ok(path) => format!("{}  {}", facts::version(&here, &path, peer.version_arguments()), path.display()),
            Err(reason) => format!("-  {reason}"),
        };
        let _ = writeln!(text, "  {:10} {found}", peer.name());
    }
    Ok(text)
}
