//! The load generator, `tollgate-bench load`: options to a plan, a plan to threads of workers, what they counted to a result,
//! and the result to reports. Other parts of this crate use it as a child process and read [`result::LoadResult`].

pub mod amount;
mod clock;
pub mod compare;
mod connection;
mod csv;
pub mod distribution;
mod fault;
mod hgrm;
mod http1;
mod http2;
mod interrupt;
pub mod merge;
mod message;
mod objective;
mod options;
mod plan;
mod processor;
mod progress;
mod ramp;
mod recorder;
mod report;
pub mod result;
mod result_file;
mod run;
mod schedule;
mod search;
pub mod selftest;
mod series;
pub mod single_dash;
mod slot;
mod stream;
mod summary;
mod tally;
mod target;
mod thread;
mod unverified;
mod url;
mod worker;

pub use options::Options;

use interrupt::Interrupt;
use result::LoadResult;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// The shell's convention for a process that SIGINT ended.
const EXIT_INTERRUPTED: u8 = 130;
const EXIT_USAGE: u8 = 2;

/// Why a command did not do what it was asked to.
#[derive(Debug)]
pub enum Trouble {
    /// It was asked for something that makes no sense.
    Usage(String),
    /// It could not.
    Failed(String),
}

impl From<String> for Trouble {
    fn from(message: String) -> Self {
        Trouble::Usage(message)
    }
}

impl Trouble {
    /// Says it on standard error.
    pub fn report(self) -> ExitCode {
        let (message, code) = match self {
            Trouble::Usage(message) => (message, ExitCode::from(EXIT_USAGE)),
            Trouble::Failed(message) => (message, ExitCode::FAILURE),
        };
        eprintln!("tollgate-bench: {message}");
        code
    }
}

/// Runs `load`.
pub fn run(options: Options) -> ExitCode {
    load(&options).unwrap_or_else(Trouble::report)
}

fn load(options: &Options) -> Result<ExitCode, Trouble> {
    // Files are opened first: after an hour of load it is late for a wrong path.
    let json = options.json.as_deref().map(create).transpose()?;
    let hgrm = options.hgrm.as_deref().map(create).transpose()?;
    let (plan, lookup) = plan::plan(options)?;
    remark(options, &plan);
    let interrupt = Interrupt::watch().map_err(|error| Trouble::Failed(format!("cannot watch for signals: {error}")))?;
    let progress = progress::Progress::new(options.progress, options.no_progress);
    let (rows, csv_writer) = match options.output {
        None => (None, None),
        Some(options::Output::Csv) => {
            let (rows, blocks) = csv::channel();
            let stop = interrupt.clone();
            let writer = std::thread::spawn(move || {
                let written = csv::write(blocks, BufWriter::new(io::stdout().lock()));
                if written.is_err() {
                    stop.raise();
                }
                written
            });
            (Some(rows), Some(writer))
        }
    };
    let plan = Arc::new(plan);
    let mut result = if options.find_max {
        search::run(options, &plan, &interrupt)?
    } else {
        summary::result(&plan, run::run(&plan, rows, &interrupt, progress).map_err(cannot_start)?)
    };
    result.details.lookup = lookup;
    let mut problems = Vec::new();
    if let Some(writer) = csv_writer
        && let Ok(Err(error)) = writer.join()
    {
        problems.push(format!("standard output: {error}"));
        result.stopped = Some("the output could not be written".to_owned());
    }
    deliver(options, &result, json, hgrm, &mut problems);
    Ok(verdict(&result, problems, interrupt.is_raised()))
}

fn cannot_start(error: io::Error) -> Trouble {
    Trouble::Failed(format!("cannot start the load: {error}"))
}

fn remark(options: &Options, plan: &plan::Plan) {
    let unchecked = !options.insecure && !options.verify && options.cacert.is_none();
    if unchecked && plan.targets.iter().any(|target| target.tls.is_some()) {
        eprintln!("tollgate-bench: the server's certificate is not checked, as in hey; --verify checks it, -k silences this");
    }
}

/// Prints the report and writes the files.
fn deliver(options: &Options, result: &LoadResult, json: Option<File>, hgrm: Option<File>, problems: &mut Vec<String>) {
    if options.output.is_none()
        && let Err(error) = io::stdout().lock().write_all(report::text(result).as_bytes())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        problems.push(format!("standard output: {error}"));
    }
    deliver_files(result, (&options.json, json), (&options.hgrm, hgrm), problems);
}

/// Writes the files that are asked for.
fn deliver_files(
    result: &LoadResult,
    (json_path, json): (&Option<PathBuf>, Option<File>),
    (hgrm_path, hgrm): (&Option<PathBuf>, Option<File>),
    problems: &mut Vec<String>,
) {
    let mut file = |path: &Option<PathBuf>, file: Option<File>, write: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        let (Some(path), Some(file)) = (path, file) else { return };
        let mut out = BufWriter::new(file);
        if let Err(error) = write(&mut out).and_then(|()| out.flush()) {
            problems.push(format!("{}: {error}", path.display()));
        }
    };
    file(json_path, json, &|out| serde_json::to_writer_pretty(out, result).map_err(io::Error::from));
    file(hgrm_path, hgrm, &|out| hgrm::write(result, out));
}

/// Says what went wrong, and the exit code.
fn verdict(result: &LoadResult, problems: Vec<String>, interrupted: bool) -> ExitCode {
    for problem in &problems {
        eprintln!("tollgate-bench: cannot write {problem}");
    }
    if let Some(why) = &result.stopped {
        eprintln!("tollgate-bench: the run was not complete: {why}");
    }
    let requests = &result.requests;
    if requests.failed > 0 {
        eprintln!("tollgate-bench: {} of {} requests failed", requests.failed, requests.failed + requests.completed);
    }
    if interrupted && problems.is_empty() {
        return ExitCode::from(EXIT_INTERRUPTED);
    }
    if problems.is_empty() && result.complete && requests.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn create(path: &Path) -> Result<File, Trouble> {
    File::create(path).map_err(|error| Trouble::Failed(format!("cannot write {}: {error}", path.display())))
}
