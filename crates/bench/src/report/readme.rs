//! The table of the README: CPU time of every gateway in every case of the published scenarios, from one run.

use super::format::micros;
use super::summary::summarise;
use super::table::TextTable;
use crate::record::RunRecord;
use crate::scenario::Suite;
use std::fmt::Write;
use std::path::Path;

const BEGIN: &str = "<!-- bench:begin -->";
const END: &str = "<!-- bench:end -->";

/// Replaces the text between the two marks.
pub(crate) fn update(file: &Path, run: &RunRecord, directory: &Path) -> Result<(), String> {
    let failed = |reason: &str| format!("{}: {reason}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| failed(&format!("cannot be read: {error}")))?;
    let (before, rest) = text.split_once(BEGIN).ok_or_else(|| failed(&format!("has no line {BEGIN}")))?;
    let (_, after) = rest.split_once(END).ok_or_else(|| failed(&format!("has no line {END} after {BEGIN}")))?;
    let section = section(run, &directory.display().to_string());
    std::fs::write(file, format!("{before}{BEGIN}\n{section}{END}{after}"))
        .map_err(|error| failed(&format!("cannot be written: {error}")))
}

/// The table and the facts that must accompany it.
pub(crate) fn section(run: &RunRecord, directory: &str) -> String {
    let facts = &run.facts;
    let gateways: Vec<&str> = facts.versions.keys().map(String::as_str).collect();
    let order = crate::peers::ALL.iter().map(|peer| peer.name()).filter(|name| gateways.contains(name));
    let gateways: Vec<&str> = order.collect();
    let mut heading = vec!["CPU µs/request"];
    heading.extend(&gateways);
    let mut table = TextTable::new(&heading, 1);
    for summary in summarise(run).iter().filter(|summary| summary.record.suite == Suite::Published) {
        let load = summary.main_load();
        for (case, record) in summary.record.cases.iter().enumerate() {
            let cells: Vec<String> = gateways
                .iter()
                .map(|peer| {
                    let row = summary.row(case, load, peer);
                    let cell = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
                    cell(row.and_then(|row| {
                        let ratio = row.times_reference.map_or_else(String::new, |ratio| format!(" ({:.2}×)", ratio.median));
                        Some(micros(row.cpu_us?.median) + &ratio)
                    }))
                })
                .collect();
            let name = format!("{}, {}", summary.record.name, record.name);
            table.push(std::iter::once(name).chain(cells).collect());
        }
    }
    let mut text = table.markdown();
    let versions: Vec<String> = facts.versions.iter().map(|(name, version)| format!("{name}: {version}")).collect();
    // Writing into a String cannot fail.
    let _ = writeln!(
        text,
        "\nIn brackets: the multiple of Tollgate's figure. –: the gateway cannot do this as shipped, or has no figure.[^run]\n\n\
         [^run]: Medians of {} rounds of one run, {}, on {} × {} with Linux {}: load generator, gateway and upstream on one machine over \
         loopback, {} for each gateway. {}. [Full report]({directory}/report.md).",
        run.settings.rounds,
        facts.date,
        facts.cpus,
        facts.cpu,
        facts.kernel,
        if facts.threads == 1 { "one thread".to_owned() } else { format!("{} threads", facts.threads) },
        versions.join("; ")
    );
    text
}
