//! The run as one self-contained HTML file: readable on a phone, on paper and in dark mode.

mod section;

use super::ahead::Ahead;
use super::escape::escape;
use super::summary::{BASELINE, ScenarioSummary};
use crate::record::RunRecord;
use std::fmt::Write;

const STYLE: &str = include_str!("html/style.css");

/// The complete page.
pub(crate) fn page(run: &RunRecord, scenarios: &[ScenarioSummary]) -> String {
    let sections: String = scenarios.iter().map(section::scenario).collect();
    format!(
        "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>Tollgate: measured run of {date}</title>
<style>
{STYLE}</style>
</head>
<body>
<header>
<p class=\"kicker\">Tollgate benchmark</p>
<h1>What a request costs</h1>
<p class=\"lead\">CPU time, latency and throughput of API gateways beside each other, measured in one interleaved run on one machine.</p>
{warnings}{facts}</header>
<main>
{glance}{ahead}{sections}{method}</main>
<footer>Made by tollgate-bench {version} from run.json. Tyk, nginx, HAProxy, Varnish and the other names are their owners'.</footer>
</body>
</html>
",
        date = escape(&run.facts.date),
        warnings = warnings(run),
        facts = facts(run),
        glance = glance(scenarios),
        ahead = ahead(scenarios),
        method = method(run),
        version = escape(&run.facts.bench),
    )
}

fn warnings(run: &RunRecord) -> String {
    let mut text = String::new();
    let mut warn = |what: &str| {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "<p class=\"warning\">{}</p>", escape(what));
    };
    if let Some(end) = &run.end {
        warn(&format!("This run is not complete: {end}"));
    }
    if run.settings.quick {
        warn("A quick run: it shows that everything works; its figures are not worth quoting.");
    }
    if run.facts.load_average_max() > 0.5 {
        warn(&format!("The machine was not idle (load average {:.2} before the run).", run.facts.load_average_max()));
    }
    for scenario in &run.scenarios {
        for failure in &scenario.failures {
            let reason = failure.text.lines().next().unwrap_or_default();
            warn(&format!("Failed in {}: {} {}: {reason}", scenario.name, failure.peer, failure.case));
        }
    }
    text
}

fn facts(run: &RunRecord) -> String {
    let facts = &run.facts;
    let mut pairs = vec![("Date".to_owned(), facts.date.clone())];
    if facts.roles.is_empty() {
        let cpus =
            format!("gateway on {} ({} threads), loader and upstream on {}", facts.gateway_cpus, facts.threads, facts.other_cpus);
        pairs.extend([
            ("Machine".to_owned(), format!("{} × {}, {} MiB", facts.cpus, facts.cpu, facts.memory_mib)),
            ("System".to_owned(), format!("Linux {}", facts.kernel)),
            ("CPUs".to_owned(), cpus),
        ]);
    }
    pairs.extend(facts.roles.iter().map(|role| (role.role.clone(), role.said())));
    pairs.push(("Rounds".to_owned(), format!("{}, interleaved", run.settings.rounds)));
    pairs.extend(facts.versions.iter().map(|(name, version)| (name.clone(), version.clone())));
    let rows: String =
        pairs.iter().map(|(name, value)| format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value))).collect();
    format!("<dl class=\"facts\">\n{rows}</dl>\n")
}

/// Each gateway's CPU time as a multiple of the reference's, over all cases that both can do.
fn glance(scenarios: &[ScenarioSummary]) -> String {
    let Some(reference) = scenarios.iter().find_map(|summary| summary.reference.clone()) else { return String::new() };
    let mut cards = String::new();
    for peer in crate::peers::ALL.iter().map(|peer| peer.name()).filter(|peer| *peer != BASELINE && *peer != reference) {
        let ratios: Vec<f64> = scenarios
            .iter()
            .flat_map(|summary| summary.of_load(summary.main_load()).filter(|row| row.peer == peer))
            .filter_map(|row| Some(row.times_reference?.median))
            .collect();
        if ratios.is_empty() {
            continue;
        }
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ratios.iter().copied().fold(0.0, f64::max);
        // Writing into a String cannot fail.
        let _ = writeln!(
            cards,
            "<div class=\"card {}\"><p class=\"peer\">{peer}</p><p class=\"big\">{mean:.2}×</p><p>the CPU time of {} per request, over {} case{} ({low:.2}–{high:.2})</p></div>",
            class(peer),
            escape(&reference),
            ratios.len(),
            if ratios.len() == 1 { "" } else { "s" },
        );
    }
    if cards.is_empty() {
        cards
    } else {
        format!("<section class=\"glance\"><h2>At a glance</h2><div class=\"cards\">\n{cards}</div></section>\n")
    }
}

/// Where others are ahead, folded if the list is long.
fn ahead(scenarios: &[ScenarioSummary]) -> String {
    let ahead = Ahead::new(scenarios);
    let html = if ahead.table.is_empty() { "<p>In no row of this run.</p>\n".to_owned() } else { ahead.table.html() };
    format!(
        "<section id=\"ahead\"><h2>Where others are ahead of Tollgate</h2><details><summary>{}</summary><div class=\"wide\">{html}</div><p>{}</p>\n</details></section>\n",
        Ahead::RULE,
        ahead.counts()
    )
}

fn method(run: &RunRecord) -> String {
    format!(
        "<section class=\"method\"><h2>How to read this</h2>
<ul>
<li><strong>CPU time per request</strong> is what the gateway’s processes used, user and kernel, from the scheduler’s own account in /proc, over the requests \
answered. It is the figure to compare: requests per second on one machine also depend on loader and upstream.</li>
<li>Figures are <strong>medians of {} rounds</strong>; the thin line of a bar spans the lowest and the highest round. Gateways take turns within each round \
in changing order, ratios are made within rounds, and their 95 % interval comes from a bootstrap over rounds.</li>
<li>Before anything was measured each gateway had to give <strong>exactly the statuses</strong> that the policy implies; a round with an unexpected one is void.</li>
<li>Where the loader itself was the bottleneck, <strong>speed and latency are void</strong> (“loader-bound”), CPU time stands; likewise at a rate that keeps its CPUs, which it shares with the upstream, busy for more than 90 % of the time.</li>
<li>Latencies count from the moment a request was due, not from when it was sent. At full speed they are a property of the number of connections; \
below it they are the gateway’s.</li>
<li>Each gateway’s configuration is kept beside this file, in <code>configuration/</code>; every round is in <code>run.json</code>.</li>
</ul></section>\n",
        run.settings.rounds
    )
}

/// The CSS class that defines a gateway's colour.
pub(crate) fn class(peer: &str) -> String {
    format!("g-{peer}")
}
