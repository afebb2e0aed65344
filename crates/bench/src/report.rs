//! Reports of a run: a table for the terminal, Markdown, JSON of the derived figures, and one HTML file with plots. All are
//! generated from the record alone.

mod ahead;
pub(crate) mod compare;
mod escape;
mod format;
mod html;
mod json;
mod markdown;
mod plot;
mod readme;
mod summary;
mod table;
pub(crate) mod terminal;

use crate::exit;
use crate::record::RunRecord;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Options of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// Directory of a run
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Also insert the run's table into this Markdown file, between the lines <!-- bench:begin --> and <!-- bench:end -->
    #[arg(long, value_name = "FILE")]
    pub readme: Option<PathBuf>,
}

/// Regenerates every report.
pub(crate) fn run(options: &ReportOptions) -> ExitCode {
    exit::print(again(options))
}

fn again(options: &ReportOptions) -> Result<String, String> {
    let run = RunRecord::read(&options.directory)?;
    let directory =
        if options.directory.is_dir() { options.directory.as_path() } else { options.directory.parent().unwrap_or(Path::new(".")) };
    write_all(directory, &run)?;
    if let Some(file) = &options.readme {
        readme::update(file, &run, directory)?;
    }
    Ok(terminal::heading(&run) + &terminal::tables(&run))
}

/// Writes the reports that are files.
pub(crate) fn write_all(directory: &Path, run: &RunRecord) -> Result<(), String> {
    let scenarios = summary::summarise(run);
    write(directory, "report.md", &markdown::page(run, &scenarios))?;
    write(directory, "report.json", &json::text(run, &scenarios)?)?;
    write(directory, "report.html", &html::page(run, &scenarios))
}

fn write(directory: &Path, name: &str, text: &str) -> Result<(), String> {
    let file = directory.join(name);
    std::fs::write(&file, text).map_err(|error| format!("{}: cannot be written: {error}", file.display()))
}

#[cfg(test)]
mod tests;
