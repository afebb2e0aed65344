//! One scenario of the page: bars of CPU time, latency by percentile, latency that gateways add, behaviour over time, and all
//! figures as tables.

use super::class;
use crate::record::{Round, RoundSeries};
use crate::report::escape::escape;
use crate::report::format::{latency, micros, ratio};
use crate::report::plot::{Axis, Plot, PlotLine, Scale, Unit};
use crate::report::summary::{BASELINE, Row, ScenarioSummary, percentiles};
use crate::report::{table, terminal};
use crate::scenario::Draw;
use crate::stats::rounds;
use std::fmt::Write;

/// Minimum length of a round for a plot over time.
const OVER_TIME_SECONDS: f64 = 3.0;
/// Minimum cases for an overview of response times.
const CASES_OF_AN_OVERVIEW: usize = 3;

pub(crate) fn scenario(summary: &ScenarioSummary) -> String {
    let record = summary.record;
    let drawn = match record.draw {
        Draw::Gateways => bars(summary) + &response_times(summary),
        Draw::Waterfall => waterfalls(summary),
        Draw::Line => lines(summary),
    };
    format!(
        "<section id=\"{name}\"><h2>{title}</h2>\n<p>{about}</p>\n<p class=\"source\">From: {source}</p>\n{store}{drawn}{plots}{introduced}{over_time}{tables}{absent}</section>\n",
        name = escape(&record.name),
        title = escape(&record.title),
        about = escape(&record.about),
        source = escape(&record.source),
        store = record.store.as_ref().map_or_else(String::new, |store| format!("<p>{}.</p>\n", escape(&store.said()))),
        plots = latency_plots(summary),
        introduced = introduced(summary),
        over_time = over_time(summary),
        tables = tables(summary),
        absent = absent(summary),
    )
}

/// CPU time per request, with gateways side by side in each case.
fn bars(summary: &ScenarioSummary) -> String {
    let load = summary.main_load();
    let most = summary.of_load(load).filter_map(|row| row.cpu_us).map(|cpu| cpu.high).fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let mut text = format!("<h3>CPU time per request{}</h3>\n<div class=\"bars\">\n", of_load(summary, load));
    for case in 0..summary.record.cases.len() {
        let rows: Vec<&Row> = summary.of_load(load).filter(|row| row.case == case && row.cpu_us.is_some()).collect();
        if rows.is_empty() {
            continue;
        }
        // Writing into a String cannot fail.
        if summary.record.cases.len() > 1 {
            let _ = writeln!(text, "<p class=\"case\">{}</p>", escape(summary.case_name(case)));
        }
        for row in rows {
            let _ = writeln!(text, "{}", bar(row, most));
        }
    }
    text + "</div>\n"
}

/// The average response time of each gateway in each case, as published comparisons end with.
fn response_times(summary: &ScenarioSummary) -> String {
    let load = summary.main_load();
    let mean = |row: &Row| Some(row.latency?.mean);
    let peers = |row: &Row| row.peer != BASELINE;
    let most = summary.of_load(load).filter_map(mean).fold(0.0, f64::max);
    if summary.record.cases.len() < CASES_OF_AN_OVERVIEW || !summary.of_load(load).any(|row| peers(row) && mean(row).is_some()) {
        return String::new();
    }
    let mut text = format!("<h3>Average response time{}</h3>\n<div class=\"bars\">\n", of_load(summary, load));
    for case in 0..summary.record.cases.len() {
        let rows: Vec<(&Row, f64)> =
            summary.of_load(load).filter(|row| row.case == case).filter_map(|row| Some((row, mean(row)?))).collect();
        if rows.is_empty() {
            continue;
        }
        // Writing into a String cannot fail.
        let _ = writeln!(text, "<p class=\"case\">{}</p>", escape(summary.case_name(case)));
        for (row, mean) in rows {
            let _ = writeln!(
                text,
                "<div class=\"bar {}\"><span class=\"name\">{}</span><span class=\"track\"><i style=\"width:{:.1}%\"></i></span>\
                 <span class=\"value\">{}</span></div>",
                class(row.peer),
                escape(row.peer),
                100.0 * mean / most,
                latency(mean),
            );
        }
    }
    text + "</div>\n"
}

fn bar(row: &Row, most: f64) -> String {
    let Some(cpu) = row.cpu_us else { return String::new() };
    let percent = |value: f64| 100.0 * value / most;
    let times = row
        .times_reference
        .map_or_else(String::new, |times| format!(" <small title=\"{}\">{:.2}×</small>", escape(&ratio(times)), times.median));
    format!(
        "<div class=\"bar {}\"><span class=\"name\">{}</span><span class=\"track\"><i style=\"width:{:.1}%\"></i><u style=\"left:{:.1}%;width:{:.1}%\"></u></span>\
         <span class=\"value\">{} µs{times}</span></div>",
        class(row.peer),
        escape(row.peer),
        percent(cpu.median),
        percent(cpu.low),
        percent(cpu.high - cpu.low),
        micros(cpu.median),
    )
}

/// For each gateway: the first case, and what every other one adds to it.
fn waterfalls(summary: &ScenarioSummary) -> String {
    let load = summary.main_load();
    summary.record.peers.iter().map(|peer| waterfall(summary, load, peer)).collect()
}

fn waterfall(summary: &ScenarioSummary, load: usize, peer: &str) -> String {
    let rows: Vec<(&Row, f64)> =
        summary.of_load(load).filter(|row| row.peer == peer).filter_map(|row| Some((row, row.cpu_us?.median))).collect();
    let Some(base) = rows.iter().find(|(row, _)| row.case == 0).map(|(_, cpu)| *cpu) else { return String::new() };
    let most = rows.iter().map(|(_, cpu)| *cpu).fold(base, f64::max);
    let percent = |value: f64| 100.0 * value / most;
    let mut text =
        format!("<h3>{}: CPU time per request, and what each feature adds</h3>\n<div class=\"bars waterfall\">\n", escape(peer));
    for (row, cpu) in &rows {
        let (from, to) = (base.min(*cpu), base.max(*cpu));
        let kind = if row.case == 0 {
            "base"
        } else if *cpu >= base {
            "more"
        } else {
            "less"
        };
        let value = if row.case == 0 {
            format!("{} µs", micros(*cpu))
        } else {
            let times = row.times_first.map_or_else(String::new, |times| {
                format!(" <small title=\"{}\">{:.2}×</small>", escape(&ratio(times)), times.median)
            });
            let sign = if *cpu >= base { "+" } else { "−" };
            format!("{sign}{} µs{times}", micros((cpu - base).abs()))
        };
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "<div class=\"bar {kind} {}\"><span class=\"name\">{}</span><span class=\"track\"><i style=\"width:{:.1}%\"></i><b style=\"left:{:.1}%;width:{:.1}%\"></b></span>\
             <span class=\"value\">{value}</span></div>",
            class(peer),
            escape(summary.case_name(row.case)),
            percent(if row.case == 0 { base } else { from }),
            percent(from),
            percent(to - from),
        );
    }
    text + "</div>\n"
}

/// Cases as points of a line.
fn lines(summary: &ScenarioSummary) -> String {
    let load = summary.main_load();
    let names: Vec<String> = summary.record.cases.iter().map(|case| case.name.clone()).collect();
    let line = |peer: &String, figure: &dyn Fn(&Row) -> Option<f64>| {
        let points: Vec<(f64, f64)> =
            summary.of_load(load).filter(|row| row.peer == peer).filter_map(|row| Some((row.case as f64, figure(row)?))).collect();
        (!points.is_empty()).then(|| PlotLine { class: class(peer), name: peer.clone(), points })
    };
    let cpu: Vec<PlotLine> = summary.record.peers.iter().filter_map(|peer| line(peer, &|row| Some(row.cpu_us?.median))).collect();
    let memory: Vec<PlotLine> = summary.record.peers.iter().filter_map(|peer| line(peer, &|row| row.memory_mib)).collect();
    let rate: Vec<PlotLine> = summary.record.peers.iter().filter_map(|peer| line(peer, &|row| Some(row.rate?.median))).collect();
    let p95: Vec<PlotLine> = summary.record.peers.iter().filter_map(|peer| line(peer, &|row| Some(row.latency?.p95))).collect();
    let axis = || Axis { label: String::new(), scale: Scale::Names(names.clone()), unit: Unit::Number };
    let plots = [
        ("CPU time per request, µs", cpu, Unit::Number),
        ("requests/s", rate, Unit::Number),
        ("95th percentile of the latency", p95, Unit::Latency),
        ("memory, MiB", memory, Unit::Number),
    ]
    .map(|(label, lines, unit)| {
        let scale = best_scale(&lines);
        let y = Axis { label: label.to_owned(), scale, unit };
        figure(&Plot { title: format!("{}: {label}", summary.record.title), x: axis(), y, lines }, "")
    });
    format!("<div class=\"plots\">{}</div>\n", plots.concat())
}

/// Selects a logarithmic axis if the values differ by more than a decade.
fn best_scale(lines: &[PlotLine]) -> Scale {
    let values = || lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(0.0, f64::max);
    if low > 0.0 && high / low > 10.0 { Scale::Log } else { Scale::Linear }
}

fn figure(plot: &Plot, caption: &str) -> String {
    let svg = plot.svg();
    if svg.is_empty() {
        return svg;
    }
    let legend: String =
        plot.lines.iter().map(|line| format!("<span class=\"key {}\">{}</span>", line.class, escape(&line.name))).collect();
    let caption = if caption.is_empty() { String::new() } else { format!("<p>{}</p>", escape(caption)) };
    format!("<figure>{caption}{svg}<figcaption>{legend}</figcaption></figure>\n")
}

/// Latency by percentile, for each load and each of the interesting cases.
fn latency_plots(summary: &ScenarioSummary) -> String {
    if summary.record.draw != Draw::Gateways {
        return String::new();
    }
    let mut plots = String::new();
    let several_cases = summary.record.cases.len() > 1;
    for (load, said) in summary.record.loads.iter().enumerate() {
        for case in interesting_cases(summary) {
            let lines: Vec<PlotLine> = summary
                .of_load(load)
                .filter(|row| row.latency.is_some() && (row.case == case || row.peer == BASELINE))
                .map(|row| PlotLine { class: class(row.peer), name: row.peer.to_owned(), points: percentiles(row.series) })
                .filter(|line| !line.points.is_empty())
                .collect();
            let title = if several_cases { format!("{}, {}", summary.case_name(case), said.name) } else { said.name.clone() };
            plots += &figure(
                &Plot {
                    title: format!("{}: latency by percentile, {title}", summary.record.title),
                    x: Axis { label: "percentile".to_owned(), scale: Scale::Nines, unit: Unit::Percent },
                    y: Axis { label: "latency".to_owned(), scale: Scale::Log, unit: Unit::Latency },
                    lines,
                },
                &format!("{title} ({})", said.said),
            );
        }
    }
    if plots.is_empty() { plots } else { format!("<h3>Latency by percentile</h3>\n<div class=\"plots\">{plots}</div>\n") }
}

/// The first case with a gateway in it, and the last one in which every request is served: the smallest and the largest workload.
fn interesting_cases(summary: &ScenarioSummary) -> Vec<usize> {
    let served = |case: &usize| summary.record.cases.get(*case).is_some_and(|case| case.expected.starts_with("all 200"));
    let all: Vec<usize> = (0..summary.record.cases.len()).filter(served).collect();
    let mut chosen: Vec<usize> = all.first().into_iter().chain(all.last()).copied().collect();
    chosen.dedup();
    chosen
}

/// The table in the form of the published articles.
fn introduced(summary: &ScenarioSummary) -> String {
    if summary.record.draw != Draw::Gateways {
        return String::new();
    }
    let mut text = String::new();
    for (load, said) in summary.record.loads.iter().enumerate() {
        let table = table::introduced(summary, 0, load);
        if !table.is_empty() {
            // Writing into a String cannot fail.
            let _ = writeln!(
                text,
                "<details><summary>Baseline, latency and what is introduced, {}</summary><div class=\"wide\">{}</div></details>",
                escape(&said.name),
                table.html()
            );
        }
    }
    text
}

/// Requests and busy CPUs over the time of a round, if rounds are long enough.
fn over_time(summary: &ScenarioSummary) -> String {
    let mut plots = String::new();
    for (load, said) in summary.record.loads.iter().enumerate() {
        let rows: Vec<&Row> = summary.of_load(load).filter(|row| row.case == 0 && row.void.is_none()).collect();
        if !rows.iter().any(|row| row.series.rounds.iter().any(|round| round.seconds >= OVER_TIME_SECONDS)) {
            continue;
        }
        let line = |row: &Row, points: Vec<(f64, f64)>| PlotLine { class: class(row.peer), name: row.peer.to_owned(), points };
        let throughput = rows.iter().map(|row| line(row, each_second(row.series, |second| second.requests as f64))).collect();
        let latency = rows.iter().map(|row| line(row, each_second(row.series, |second| second.p99_us))).collect();
        let cpu = rows.iter().filter(|row| row.cpu_us.is_some()).map(|row| line(row, samples(row.series))).collect();
        let seconds = || Axis { label: "seconds".to_owned(), scale: Scale::Linear, unit: Unit::Number };
        for (label, lines, unit, scale) in [
            ("requests/s", throughput, Unit::Number, Scale::Linear),
            ("p99 of each second", latency, Unit::Latency, Scale::Log),
            ("CPUs busy in the gateway", cpu, Unit::Number, Scale::Linear),
        ] {
            let y = Axis { label: label.to_owned(), scale, unit };
            plots += &figure(
                &Plot { title: format!("{}: {label} over time", summary.record.title), x: seconds(), y, lines },
                &format!("{label}, {} ({})", said.name, said.said),
            );
        }
    }
    if plots.is_empty() { plots } else { format!("<h3>Over time</h3>\n<div class=\"plots\">{plots}</div>\n") }
}

/// The median over the rounds of a figure per second. An incomplete last second is left out.
fn each_second(series: &RoundSeries, figure: impl Fn(&crate::record::SecondRecord) -> f64) -> Vec<(f64, f64)> {
    let whole = |round: &Round| round.seconds_of_load.len().min(round.seconds.round() as usize);
    let seconds = series.rounds.iter().map(whole).min().unwrap_or(0);
    (0..seconds)
        .filter_map(|index| {
            let values: Vec<f64> = series.rounds.iter().filter_map(|round| round.seconds_of_load.get(index)).map(&figure).collect();
            Some((index as f64 + 0.5, rounds::median(&values)?))
        })
        .collect()
}

/// Busy CPUs at each sample, as the median over the rounds.
fn samples(series: &RoundSeries) -> Vec<(f64, f64)> {
    let count = series.rounds.iter().map(|round| round.samples.len()).min().unwrap_or(0);
    (0..count)
        .filter_map(|index| {
            let of = |figure: fn(&crate::record::UsageSample) -> f64| -> Vec<f64> {
                series.rounds.iter().filter_map(|round| round.samples.get(index)).map(figure).collect()
            };
            Some((rounds::median(&of(|sample| sample.at_seconds))?, rounds::median(&of(|sample| sample.gateway_cpus))?))
        })
        .collect()
}

fn tables(summary: &ScenarioSummary) -> String {
    let mut text = String::new();
    for (load, said) in summary.record.loads.iter().enumerate() {
        let table = table::of_load(summary, load);
        if !table.is_empty() {
            // Writing into a String cannot fail.
            let _ = writeln!(
                text,
                "<details{}><summary>All figures, {} ({})</summary><div class=\"wide\">{}</div></details>",
                if load == 0 { " open" } else { "" },
                escape(&said.name),
                escape(&said.said),
                table.html()
            );
        }
    }
    text
}

fn absent(summary: &ScenarioSummary) -> String {
    let items: String = terminal::grouped(summary.record)
        .iter()
        .map(|(peer, cases, reason)| {
            format!("<li><strong>{}</strong> is not in {}: {}.</li>\n", escape(peer), escape(cases), escape(reason))
        })
        .collect();
    if items.is_empty() {
        items
    } else {
        format!("<details><summary>What some gateways can’t do</summary><ul class=\"absent\">{items}</ul></details>\n")
    }
}

fn of_load(summary: &ScenarioSummary, load: usize) -> String {
    summary.record.loads.get(load).map_or_else(String::new, |load| format!(", {}", escape(&load.said)))
}
