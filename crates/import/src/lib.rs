//! Moving in: the configuration of another gateway becomes ours. Readers know one foreign format each and make a [`Plan`] of it; the writer makes
//! documents of a plan. Nothing is opened that the configuration does not name, and no connection is made.
#![forbid(unsafe_code)]

mod apisix;
mod authority;
mod caddy;
mod files;
mod format;
mod haproxy;
mod kong;
mod krakend;
mod nginx;
mod node;
mod pattern;
mod plan;
mod probe;
mod report;
mod traefik;
mod tree;
mod unread;
mod write;

pub use files::ImportFailure;
pub use format::ForeignFormat;
pub use plan::{ConsumerCredential, PlannedConsumer};
pub use probe::ProbeRequest;
pub use report::{ImportReport, MovedOutcome, OutcomeCounts, ReportedItem};
pub use write::{WrittenConsumer, WrittenFile};

use files::NamedFiles;
use plan::Plan;
use std::path::Path;

/// What became of a configuration.
#[derive(Debug)]
pub struct Imported {
    /// What it was.
    pub format: ForeignFormat,
    /// Documents, by paths relative to the directory that is written.
    pub files: Vec<WrittenFile>,
    /// Who may call, with what they call with: sessions for the store.
    pub consumers: Vec<WrittenConsumer>,
    /// What became of each line.
    pub report: ImportReport,
    /// Requests that show whether both gateways answer alike.
    pub probes: Vec<ProbeRequest>,
}

/// Reads a configuration. `format` is recognised by the content if it is missing.
///
/// # Errors
/// A file that cannot be read, is too large, or is not of the format.
pub fn import(file: &Path, format: Option<ForeignFormat>) -> Result<Imported, ImportFailure> {
    let mut files = NamedFiles::new(file);
    let text = files.read_first()?;
    let format = match format {
        Some(format) => format,
        None => {
            ForeignFormat::of(file, &text).ok_or_else(|| files.failure("is of no format that is known: name one with --from"))?
        }
    };
    let mut report = ImportReport::default();
    let mut plan = Plan::default();
    match format {
        ForeignFormat::Nginx => nginx::read(text, &mut files, &mut plan, &mut report)?,
        ForeignFormat::Kong => kong::read(&text, &files, &mut plan, &mut report)?,
        ForeignFormat::Apisix => apisix::read(&text, &files, &mut plan, &mut report)?,
        ForeignFormat::Krakend => krakend::read(&text, &files, &mut plan, &mut report)?,
        ForeignFormat::Haproxy => haproxy::read(&text, &files, &mut plan, &mut report)?,
        ForeignFormat::Caddy => caddy::read(&text, &files, &mut plan, &mut report)?,
        ForeignFormat::Traefik => traefik::read(&text, &files, &mut plan, &mut report)?,
    }
    plan.check().map_err(|why| files.failure(why))?;
    // Before the paths have our forms.
    let probes = probe::probes(&plan);
    let (written, consumers) = write::write(&mut plan, &mut files, &mut report);
    Ok(Imported { format, files: written, consumers, report, probes })
}

#[cfg(test)]
mod tests;
