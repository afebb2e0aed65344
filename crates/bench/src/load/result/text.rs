//! The text report: hey's sections with hey's wording, then additional ones.

use super::{LoadResult, PartTimes, SearchStep, TimeSummary};
use crate::stats::distribution::LatencyDistribution;
use std::fmt::{self, Write};

/// Number of bars in hey's histogram.
const BARS: u32 = 10;
const BAR_WIDTH: u64 = 40;

/// The complete report.
pub(crate) fn text(result: &LoadResult) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_report(result, &mut out);
    out
}

fn write_report(result: &LoadResult, out: &mut String) -> fmt::Result {
    let times = &result.response_time;
    if let Some(search) = &result.search {
        writeln!(out, "\nSearch for the highest rate with {}:", search.objectives.join(", "))?;
        for step in &search.steps {
            writeln!(out, "  {}", search_step(step))?;
        }
        match search.rate_max {
            0.0 => writeln!(out, "\n  No rate held. The last step:")?,
            rate => writeln!(out, "\n  Highest rate that held: {rate:.0} requests/s. Its step:")?,
        }
    }
    writeln!(out, "\nSummary:")?;
    writeln!(out, "  Total:\t{:.4} secs", result.elapsed_seconds)?;
    writeln!(out, "  Slowest:\t{:.4} secs", times.max_us / 1e6)?;
    writeln!(out, "  Fastest:\t{:.4} secs", times.min_us / 1e6)?;
    writeln!(out, "  Average:\t{:.4} secs", times.mean_us / 1e6)?;
    writeln!(out, "  Requests/sec:\t{:.4}", result.requests_per_second)?;
    if let Some(summed) = result.requests_per_second_summed {
        writeln!(out, "  Requests/sec, summed over the runs:\t{summed:.4}")?;
    }
    if result.bytes.body > 0 && result.requests.completed > 0 {
        writeln!(out, "\n  Total data:\t{} bytes", result.bytes.body)?;
        writeln!(out, "  Size/request:\t{} bytes", result.bytes.body / result.requests.completed)?;
    }
    if times.count > 0 {
        writeln!(out, "\nResponse time histogram:")?;
        histogram(times, out)?;
        writeln!(out, "\n\nLatency distribution:")?;
        percentiles(times, out)?;
        if result.load.rate.is_some() {
            writeln!(out, "\nService time distribution (from the actual send time; the above counts from the intended one):")?;
            percentiles(&result.service_time, out)?;
        }
        writeln!(out, "\nDetails (average, fastest, slowest):")?;
        let details = &result.details;
        part("DNS+dialup", &details.connect, out)?;
        part("DNS-lookup", &details.lookup, out)?;
        part("req write", &details.write, out)?;
        part("resp wait", &details.wait, out)?;
        part("resp read", &details.read, out)?;
    }
    if let Some(events) = &result.events {
        writeln!(out, "\nEvents:\t{}", events.count)?;
        writeln!(out, "  Time to the first:\t{}", in_brief(&events.first))?;
        writeln!(out, "  Between two:\t{}", in_brief(&events.gap))?;
    }
    writeln!(out, "\nStatus code distribution:")?;
    for (status, count) in &result.status {
        writeln!(out, "  [{status}]\t{count} responses")?;
    }
    errors(result, out)?;
    loader(result, out)
}

/// hey's ten bars of equal width between the fastest and the slowest.
fn histogram(times: &TimeSummary, out: &mut String) -> fmt::Result {
    let recorded = LatencyDistribution::decode(&times.histogram).unwrap_or_default();
    let width = (times.max_us - times.min_us) / f64::from(BARS);
    let edge = |bar: u32| if bar == BARS { times.max_us } else { times.min_us + width * f64::from(bar) };
    let mut bars = vec![(edge(0), recorded.count_between(0.0, edge(0)))];
    bars.extend((1..=BARS).map(|bar| (edge(bar), recorded.count_between(edge(bar - 1), edge(bar)))));
    let most = bars.iter().map(|(_, count)| *count).max().unwrap_or_default().max(1);
    for (edge_us, count) in bars {
        let bar = "■".repeat(((count * BAR_WIDTH + most / 2) / most) as usize);
        writeln!(out, "  {:4.3} [{count}]\t|{bar}", edge_us / 1e6)?;
    }
    Ok(())
}

fn percentiles(times: &TimeSummary, out: &mut String) -> fmt::Result {
    let lines = [
        ("10", times.p10_us),
        ("25", times.p25_us),
        ("50", times.p50_us),
        ("75", times.p75_us),
        ("90", times.p90_us),
        ("95", times.p95_us),
        ("99", times.p99_us),
        ("99.9", times.p99_9_us),
        ("99.99", times.p99_99_us),
    ];
    for (percent, us) in lines {
        writeln!(out, "  {percent}% in {:.4} secs", us / 1e6)?;
    }
    Ok(())
}

fn in_brief(times: &TimeSummary) -> String {
    let ms = |us: f64| us / 1e3;
    format!("p50 {:.3} ms, p99 {:.3} ms, slowest {:.3} ms", ms(times.p50_us), ms(times.p99_us), ms(times.max_us))
}

fn part(name: &str, part: &PartTimes, out: &mut String) -> fmt::Result {
    let (mean, min, max) = (part.mean_us() / 1e6, part.min_us / 1e6, part.max_us / 1e6);
    writeln!(out, "  {name}:\t{mean:.4} secs, {min:.4} secs, {max:.4} secs")
}

fn errors(result: &LoadResult, out: &mut String) -> fmt::Result {
    if result.requests.failed > 0 {
        writeln!(out, "\nError distribution:")?;
        for (message, count) in &result.error_messages {
            writeln!(out, "  [{count}]\t{message}")?;
        }
        let named: Vec<String> =
            (result.errors.named().iter()).filter(|(_, count)| *count > 0).map(|(name, count)| format!("{name} {count}")).collect();
        writeln!(out, "\nErrors by cause:\n  {}", named.join(", "))?;
    }
    let requests = &result.requests;
    if requests.unfinished + requests.unsent > 0 {
        writeln!(out, "\nNot in the figures:\n  {} sent and unfinished, {} due and unsent", requests.unfinished, requests.unsent)?;
    }
    if requests.unsent > 0 && result.complete {
        writeln!(out, "  The server did not keep up with the rate: what was not sent would have waited longest.")?;
    }
    if !result.complete {
        writeln!(out, "\nIncomplete: {}", result.stopped.as_deref().unwrap_or("the run did not come to its end"))?;
    }
    Ok(())
}

fn loader(result: &LoadResult, out: &mut String) -> fmt::Result {
    let loader = &result.loader;
    writeln!(out, "\nLoad generator:")?;
    writeln!(out, "  Connections opened:\t{}", result.connections.opened)?;
    writeln!(
        out,
        "  CPU time:\t{:.2} secs ({:.2} us/request), busiest thread {:.0} %",
        loader.cpu_seconds,
        loader.cpu_us_per_request,
        loader.busiest_thread_share * 100.0
    )?;
    if result.load.rate.is_some() {
        writeln!(
            out,
            "  Send lag:\t99% within {:.4} secs, most {:.4} secs",
            loader.send_lag_p99_us / 1e6,
            loader.send_lag_max_us / 1e6
        )?;
    }
    for why in &result.loader_saturated_because {
        writeln!(out, "  WARNING: the load generator was the bottleneck: {why}")?;
    }
    Ok(())
}

/// A step as one line.
pub(crate) fn search_step(step: &SearchStep) -> String {
    let rate = step.rate.map_or_else(|| "as fast as it goes".to_owned(), |rate| format!("{rate:.0}/s"));
    let verdict = match step.rate {
        None => String::new(),
        Some(_) if step.held => "held".to_owned(),
        Some(_) => format!("failed: {}", step.because.join("; ")),
    };
    let (p50_ms, p99_ms) = (step.p50_us / 1000.0, step.p99_us / 1000.0);
    format!("{rate:>18}  {:>10.1} requests/s  p50 {p50_ms:>8.2} ms  p99 {p99_ms:>8.2} ms  {verdict}", step.requests_per_second)
}
