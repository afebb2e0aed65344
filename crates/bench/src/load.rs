//! The load generator, `tollgate-bench load`. Options become a plan, the plan becomes threads of workers, their counts become a
//! result, and the result becomes reports. Other parts of this crate run it as a child process and read [`result::LoadResult`].

mod measure;
mod objective;
mod options;
mod pace;
mod plan;
mod progress;
pub(crate) mod result;
mod run;
mod search;
pub(crate) mod selftest;
pub(crate) mod single_dash;
mod summary;
pub(crate) mod wire;
mod workers;

pub(crate) use options::LoadOptions;

use crate::exit::{CommandError, EXIT_INTERRUPTED};
use crate::interrupt::Interrupt;
use measure::csv;
use result::{LoadResult, hgrm, text};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Runs `load`.
pub(crate) fn run(options: LoadOptions) -> ExitCode {
    load(&options).unwrap_or_else(CommandError::report)
}

fn load(options: &LoadOptions) -> Result<ExitCode, CommandError> {
    // Opens the files first: after an hour of load, it is too late to report a wrong path.
    let json = options.json.as_deref().map(create).transpose()?;
    let hgrm = options.hgrm.as_deref().map(create).transpose()?;
    let (plan, lookup) = plan::plan(options)?;
    remark(options, &plan);
    let interrupt = Interrupt::watch(|| std::process::exit(i32::from(EXIT_INTERRUPTED)))
        .map_err(|error| CommandError::Failed(format!("cannot watch for signals: {error}")))?;
    let progress = progress::ProgressLine::new(options.progress, options.no_progress);
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

fn cannot_start(error: io::Error) -> CommandError {
    CommandError::Failed(format!("cannot start the load: {error}"))
}

fn remark(options: &LoadOptions, plan: &plan::LoadPlan) {
    let unchecked = !options.insecure && !options.verify && options.cacert.is_none();
    if unchecked && plan.targets.iter().any(|target| target.tls.is_some()) {
        eprintln!("tollgate-bench: the server's certificate is not checked, as in hey; --verify checks it, -k silences this");
    }
}

/// Prints the report and writes the files.
fn deliver(options: &LoadOptions, result: &LoadResult, json: Option<File>, hgrm: Option<File>, problems: &mut Vec<String>) {
    if options.output.is_none()
        && let Err(error) = io::stdout().lock().write_all(text::text(result).as_bytes())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        problems.push(format!("standard output: {error}"));
    }
    deliver_files(result, (&options.json, json), (&options.hgrm, hgrm), problems);
}

/// Writes the requested files.
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

/// Reports problems and returns the exit code.
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

fn create(path: &Path) -> Result<File, CommandError> {
    File::create(path).map_err(|error| CommandError::Failed(format!("cannot write {}: {error}", path.display())))
}
