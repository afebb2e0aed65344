//! The run as text on a terminal.

use super::ahead::Ahead;
use super::{summary, table};
use crate::record::{RunRecord, ScenarioRecord};
use std::fmt::Write;

/// The circumstances of the run.
pub(crate) fn heading(run: &RunRecord) -> String {
    let facts = &run.facts;
    let mut text = String::new();
    // Writing into a String cannot fail.
    let _ = writeln!(
        text,
        "{}, {}: {} x {}, {} MiB, Linux {}",
        facts.date, facts.host, facts.cpus, facts.cpu, facts.memory_mib, facts.kernel
    );
    if facts.roles.is_empty() {
        let _ = writeln!(
            text,
            "gateways: {} threads on CPU {}; loader and upstream on CPU {}; load average before {:.2}",
            facts.threads, facts.gateway_cpus, facts.other_cpus, facts.load_average
        );
    }
    for role in &facts.roles {
        let _ = writeln!(text, "{:9} {}", format!("{}:", role.role), role.said());
    }
    for (name, version) in &facts.versions {
        let _ = writeln!(text, "  {name:10} {version}");
    }
    if facts.load_average_max() > 0.5 {
        let _ = writeln!(text, "warning: the machine is not idle; figures will be worse and wider than its own");
    }
    text
}

/// The tables of all scenarios.
pub(crate) fn tables(run: &RunRecord) -> String {
    let settings = &run.settings;
    let mut text = String::new();
    let summaries = summary::summarise(run);
    for summary in &summaries {
        let _ = writeln!(text, "\n{}: {}", summary.record.name, summary.record.title);
        if let Some(store) = &summary.record.store {
            let _ = writeln!(text, " {}", store.said());
        }
        for (load, record) in summary.record.loads.iter().enumerate() {
            let table = table::of_load(summary, load);
            if !table.is_empty() {
                let _ = write!(
                    text,
                    " {} ({}), {} rounds; median (lowest–highest), ratios with 95 % interval\n{}",
                    record.name,
                    record.said,
                    settings.rounds,
                    table.terminal()
                );
            }
            let introduced = table::introduced(summary, 0, load);
            if !introduced.is_empty() {
                let _ = write!(text, "\n{}", introduced.terminal());
            }
        }
        text.push_str(&remarks(summary.record));
    }
    let ahead = Ahead::new(&summaries);
    let table = if ahead.table.is_empty() { String::new() } else { ahead.table.terminal() };
    let _ = writeln!(text, "\nWhere others are ahead of Tollgate\n{}\n{table}{}", Ahead::RULE, ahead.counts());
    if let Some(end) = &run.end {
        let _ = writeln!(text, "\nNOT COMPLETE: {end}");
    }
    text
}

/// Failures, and what gateways cannot do.
fn remarks(record: &ScenarioRecord) -> String {
    let failures = record.failures.iter().map(|remark| format!("  FAILED {} {}: {}\n", remark.peer, remark.case, remark.text));
    let absent = grouped(record).into_iter().map(|(peer, cases, reason)| format!("  {peer} is not in {cases}: {reason}\n"));
    failures.chain(absent).collect()
}

/// Gateways with what they cannot do; cases with the same reason are grouped.
pub(crate) fn grouped(record: &ScenarioRecord) -> Vec<(String, String, String)> {
    let mut grouped: Vec<(String, String, String)> = Vec::new();
    for remark in &record.absent {
        match grouped.iter_mut().find(|(peer, _, reason)| *peer == remark.peer && *reason == remark.text) {
            Some((_, cases, _)) => {
                let _ = write!(cases, "; {}", remark.case);
            }
            None => grouped.push((remark.peer.clone(), remark.case.clone(), remark.text.clone())),
        }
    }
    grouped
}
