//! The run as a Markdown page.

use super::ahead::Ahead;
use super::summary::ScenarioSummary;
use super::{table, terminal};
use crate::record::RunRecord;
use std::fmt::Write;

pub(crate) fn page(run: &RunRecord, scenarios: &[ScenarioSummary]) -> String {
    let facts = &run.facts;
    // Writing into a String cannot fail.
    let mut text = format!("# Measured run of {}\n\n", facts.date);
    if let Some(end) = &run.end {
        let _ = writeln!(text, "**Not complete:** {end}\n");
    }
    if run.settings.quick {
        let _ = writeln!(text, "**A quick run:** it shows that everything works; its figures are not worth quoting.\n");
    }
    let place = if facts.roles.is_empty() {
        format!(
            "{} x {}, {} MiB, Linux {}; {} threads for each gateway on CPU {}, loader and upstream on CPU {}; load average before the \
             run {:.2}",
            facts.cpus,
            facts.cpu,
            facts.memory_mib,
            facts.kernel,
            facts.threads,
            facts.gateway_cpus,
            facts.other_cpus,
            facts.load_average
        )
    } else {
        format!("Several machines, {} threads for each gateway", facts.threads)
    };
    let _ = writeln!(
        text,
        "{place}. {} rounds, interleaved; medians with the lowest and highest round, ratios within rounds with a 95 % bootstrap interval.\n",
        run.settings.rounds
    );
    for role in &facts.roles {
        let _ = writeln!(text, "- {}: {}", role.role, role.said());
    }
    for (name, version) in &facts.versions {
        let _ = writeln!(text, "- {name}: {version}");
    }
    for summary in scenarios {
        text.push_str(&scenario(summary));
    }
    let ahead = Ahead::new(scenarios);
    let told = if ahead.table.is_empty() { "In no row of this run.\n".to_owned() } else { ahead.table.markdown() };
    let _ = writeln!(text, "\n## Where others are ahead of Tollgate\n\n{}\n\n{told}\n{}", Ahead::RULE, ahead.counts());
    text
}

fn scenario(summary: &ScenarioSummary) -> String {
    let record = summary.record;
    let mut text = format!("\n## {}\n\n{}\n\nFrom: {}.\n", record.title, record.about, record.source);
    if let Some(store) = &record.store {
        let _ = write!(text, "\n{}.\n", store.said());
    }
    for (load, said) in record.loads.iter().enumerate() {
        let table = table::of_load(summary, load);
        if !table.is_empty() {
            let _ = write!(text, "\n### {}\n\n{}.\n\n{}", said.name, said.said, table.markdown());
        }
        let introduced = table::introduced(summary, 0, load);
        if !introduced.is_empty() {
            let _ = write!(text, "\n{}", introduced.markdown());
        }
    }
    for failure in &record.failures {
        let _ =
            writeln!(text, "\n**Failed:** {} {}: {}", failure.peer, failure.case, failure.text.lines().next().unwrap_or_default());
    }
    let absent = terminal::grouped(record);
    if !absent.is_empty() {
        text.push('\n');
    }
    for (peer, cases, reason) in absent {
        let _ = writeln!(text, "- {peer} is not in {cases}: {reason}.");
    }
    text
}
