//! A table of texts, for the terminal and for Markdown.

use super::escape::escape;

/// Rows of cells with a heading; the first columns are text, the others figures.
pub(crate) struct TextTable {
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
    text_columns: usize,
}

impl TextTable {
    pub(crate) fn new(heading: &[&str], text_columns: usize) -> TextTable {
        TextTable { heading: heading.iter().map(|cell| (*cell).to_owned()).collect(), rows: Vec::new(), text_columns }
    }

    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The table as aligned text.
    pub(crate) fn terminal(&self) -> String {
        let all = || std::iter::once(&self.heading).chain(&self.rows);
        let width = |column: usize| all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.heading.len()).map(width).collect();
        let mut text = String::new();
        for row in all() {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
                let space = " ".repeat(width - cell.chars().count());
                if column < self.text_columns { format!("{cell}{space}") } else { format!("{space}{cell}") }
            });
            text.push_str(format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end());
            text.push('\n');
        }
        text
    }

    /// The table as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            format!("| {} |\n", cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | "))
        };
        let rule: Vec<String> =
            (0..self.heading.len()).map(|column| if column < self.text_columns { "---" } else { "---:" }.to_owned()).collect();
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        line(&self.heading) + &line(&rule).replace(' ', "") + &rows
    }

    /// The rows as HTML.
    pub(crate) fn html(&self) -> String {
        let line = |cells: &[String], tag: &str| -> String {
            let cells: String = cells
                .iter()
                .enumerate()
                .map(|(column, cell)| {
                    let class = if column < self.text_columns { "" } else { " class=\"n\"" };
                    format!("<{tag}{class}>{}</{tag}>", escape(cell))
                })
                .collect();
            format!("<tr>{cells}</tr>\n")
        };
        let rows: String = self.rows.iter().map(|row| line(row, "td")).collect();
        format!("<table><thead>{}</thead><tbody>{rows}</tbody></table>\n", line(&self.heading, "th"))
    }
}

/// The table in all reports: one row per case and gateway of a load.
pub(crate) fn of_load(summary: &super::summary::ScenarioSummary, load: usize) -> TextTable {
    use super::format::{NOTHING, latency, micros, or_nothing, ratio, spread, thousands};
    let references: Vec<String> = summary.ratio_to.iter().map(|name| format!("× {name}")).collect();
    let first = format!("× {}", summary.case_name(0));
    let several = summary.record.cases.len() > 1;
    let many_peers = summary.record.peers.len() > 1;
    let mut heading = vec!["case", "gateway", "CPU µs/request"];
    if many_peers {
        heading.extend(references.iter().map(String::as_str));
    }
    if several {
        heading.push(&first);
    }
    let has_store = summary.of_load(load).any(|row| row.store_cpu_us.is_some());
    if has_store {
        heading.push("store µs");
    }
    heading.extend(["requests/s", "p50", "p99", "switches", "MiB", ""]);
    let mut table = TextTable::new(&heading, 2);
    for row in summary.of_load(load) {
        let mut cells = vec![summary.case_name(row.case).to_owned(), row.peer.to_owned()];
        cells.push(or_nothing(row.cpu_us.map(|cpu| spread(cpu, micros))));
        if many_peers {
            cells.extend(row.ratios.iter().map(|times| or_nothing(times.map(ratio))));
        }
        if several {
            cells.push(or_nothing(row.times_first.map(ratio)));
        }
        if has_store {
            cells.push(or_nothing(row.store_cpu_us.map(micros)));
        }
        cells.push(or_nothing(row.rate.map(|rate| thousands(rate.median))));
        cells.push(or_nothing(row.latency.map(|times| latency(times.p50))));
        cells.push(or_nothing(row.latency.map(|times| latency(times.p99))));
        cells.push(or_nothing(row.switches.map(|switches| format!("{switches:.2}"))));
        cells.push(or_nothing(row.memory_mib.map(|mib| format!("{mib:.0}"))));
        cells.push(match (row.void, row.is_loader_bound, row.failed) {
            (Some(reason), ..) => format!("VOID: {}", reason.lines().next().unwrap_or(NOTHING)),
            (_, true, _) => "loader-bound".to_owned(),
            (.., 0) => String::new(),
            (.., failed) => format!("{} failed", thousands(failed as f64)),
        });
        table.push(cells);
    }
    table
}

/// Baseline, latency and added latency, as in the published articles; empty without a baseline.
pub(crate) fn introduced(summary: &super::summary::ScenarioSummary, case: usize, load: usize) -> TextTable {
    use super::format::{added, latency};
    use super::summary::{BASELINE, LatencyFigures};
    type Figure = (&'static str, fn(LatencyFigures) -> f64);
    let mut table = TextTable::new(&["", "baseline", "gateway", "latency", "introduced"], 1);
    let Some(baseline) = summary.row(case, load, BASELINE).and_then(|row| row.latency) else { return table };
    let figures: [Figure; 5] = [
        ("slowest", |times| times.max),
        ("average", |times| times.mean),
        ("median", |times| times.p50),
        ("95 %", |times| times.p95),
        ("99 %", |times| times.p99),
    ];
    for row in summary.of_load(load).filter(|row| row.case == case) {
        let (Some(times), Some(more)) = (row.latency, row.introduced) else { continue };
        for (name, figure) in figures {
            table.push(vec![
                name.to_owned(),
                latency(figure(baseline)),
                row.peer.to_owned(),
                latency(figure(times)),
                added(figure(more)),
            ]);
        }
    }
    table
}
