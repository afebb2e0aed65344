//! `tollgate import`: the configuration of another gateway becomes a directory that the gateway serves, and both are compared.

mod stored_consumers;
mod target_directory;

use crate::cli::{MoveOptions, ReportFormat};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::process::ExitCode;
use target_directory::TargetDirectory;
use tollgate_client::{Proof, ProofPlan, ProofRequest, prove};
use tollgate_import::{ForeignFormat, Imported, import};

/// Something that protects acts otherwise, or a route refuses every request because of that.
const LESS_PROTECTED: u8 = 9;
/// The other gateway answers differently: as for a replay.
const ANSWERED_DIFFERENTLY: u8 = 7;

/// Runs the command.
pub(crate) fn run(options: &MoveOptions) -> ExitCode {
    let code = match (&options.file, options.prove.as_slice()) {
        (_, [old, new]) => proven(options, old, new),
        (Some(_), _) => imported(options),
        (None, _) => Err("nothing to import: name a configuration".to_owned()),
    };
    match code {
        Ok(code) => code,
        Err(why) => {
            eprintln!("tollgate: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Reads the configuration.
fn read(options: &MoveOptions) -> Result<Option<Imported>, String> {
    let Some(file) = &options.file else { return Ok(None) };
    let format = options.from.as_ref().map(|name| {
        let known = ForeignFormat::ALL.into_iter().find(|format| format.name() == name);
        known.ok_or_else(|| format!("{name} is no gateway that can be read"))
    });
    import(file, format.transpose()?).map(Some).map_err(|failure| failure.to_string())
}

fn imported(options: &MoveOptions) -> Result<ExitCode, String> {
    let Some(imported) = read(options)? else { return Ok(ExitCode::SUCCESS) };
    let mut said = Vec::new();
    if let Some(directory) = &options.out {
        let target = TargetDirectory::open(directory, &imported.files, options.force)?;
        target.write(&imported.files)?;
        let keys = stored_consumers::store(directory, &imported.consumers)?;
        said.push(format!("{}: {} files, {keys} keys in its data directory", directory.display(), imported.files.len()));
        said.extend(target.left().iter().map(|file| format!("{file} was there before and stays: the gateway reads it too")));
        said.push(format!("to serve it: cd {} && tollgate", directory.display()));
    }
    match options.report {
        ReportFormat::Text => {
            say!("{}", imported.report.to_text().trim_end());
            say!("read as {}", imported.format.name());
            said.iter().for_each(|line| say!("{line}"));
        }
        ReportFormat::Json => say!("{:#}", as_json(&imported)),
    }
    Ok(if imported.report.is_less_protected() { ExitCode::from(LESS_PROTECTED) } else { ExitCode::SUCCESS })
}

/// The report with the format and the names of the files.
fn as_json(imported: &Imported) -> Value {
    let mut report = imported.report.to_json();
    if let Some(members) = report.as_object_mut() {
        let files: Vec<&str> = imported.files.iter().map(|file| file.path.as_str()).collect();
        members.insert("format".to_owned(), json!(imported.format.name()));
        members.insert("files".to_owned(), json!(files));
        members.insert("keys".to_owned(), json!(imported.consumers.len()));
    }
    report
}

fn proven(options: &MoveOptions, old: &str, new: &str) -> Result<ExitCode, String> {
    let imported = read(options)?;
    let probes = imported.iter().flat_map(|imported| &imported.probes);
    let requests = probes.map(|probe| ProofRequest {
        api: probe.route.clone(),
        method: probe.method.clone(),
        host: probe.host.clone(),
        path: probe.path.clone(),
        headers: probe.headers.clone(),
    });
    let plan = ProofPlan {
        old: old.to_owned(),
        new: new.to_owned(),
        requests: requests.collect(),
        records: options.requests.clone(),
        requests_max: options.record,
        upstreams: options.upstreams.clone(),
        ignored_headers: options.ignored_headers.clone(),
        allows_remote: options.allow_remote,
    };
    let bar = bar();
    let progress = |sent: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(sent as u64);
    };
    let proof = prove(&plan, tollgate_tls::for_commands, &progress);
    bar.finish_and_clear();
    let proof: Proof = proof?;
    match options.report {
        ReportFormat::Text => say!("{}", proof.to_text()),
        ReportFormat::Json => say!("{:#}", proof.to_json()),
    }
    Ok(if proof.differs() { ExitCode::from(ANSWERED_DIFFERENTLY) } else { ExitCode::SUCCESS })
}

/// Shown only on a terminal.
fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len} {eta}");
    let bar = ProgressBar::new(0).with_message("requests to both");
    style.map(|style| bar.clone().with_style(style)).unwrap_or(bar)
}
