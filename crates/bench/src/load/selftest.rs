//! `tollgate-bench selftest`: loads its own server, which delays and stalls on purpose, and checks that the figures show it. A load
//! generator that misses a known stall measures nothing.

use super::progress::ProgressLine;
use super::result::LoadResult;
use super::result::merge;
use super::{cannot_start, plan, run as running, summary};
use crate::exit::CommandError;
use crate::interrupt::Interrupt;
use clap::{Args, FromArgMatches};
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

mod server;
use server::Server;

/// Options of `selftest`.
#[derive(Debug, Args)]
pub(crate) struct SelftestOptions {
    /// Length of a stall
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = crate::amount::duration)]
    stall: Duration,
}

/// The known delay.
const DELAY: Duration = Duration::from_millis(20);
/// How much a busy machine may add to the delay.
const DELAY_SLACK: Duration = Duration::from_millis(15);

/// Runs `selftest`.
pub(crate) fn run(options: &SelftestOptions) -> ExitCode {
    match checks(options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(trouble) => trouble.report(),
    }
}

fn checks(options: &SelftestOptions) -> Result<bool, CommandError> {
    let mut table = CheckTable { passed: true };
    counting(&mut table)?;
    delay(&mut table)?;
    pacing(&mut table)?;
    stall(&mut table, options.stall)?;
    merging(&mut table)?;
    table.line(if table.passed { "all checks passed" } else { "a check failed" });
    Ok(table.passed)
}

/// The results of the checks so far.
struct CheckTable {
    passed: bool,
}

impl CheckTable {
    fn check(&mut self, what: &str, passed: bool, figures: String) {
        self.passed &= passed;
        self.line(&format!("{}  {what:<58}  {figures}", if passed { "PASS" } else { "FAIL" }));
    }

    fn line(&self, text: &str) {
        // If no one reads the output, the exit code still tells.
        let _ = writeln!(io::stdout(), "{text}");
    }
}

fn counting(table: &mut CheckTable) -> Result<(), CommandError> {
    let server = server()?;
    let result = load(&format!("-n 1003 -c 7 --threads 2 {}/cycle", server.url()))?;
    let completed = result.requests.completed;
    table.check(
        "-n is exact",
        completed == 1003 && server.answered() == 1003,
        format!("{completed} of 1003, the server saw {}", server.answered()),
    );
    let unavailable = result.status.get(&503).copied().unwrap_or_default();
    let sent = server.unavailable();
    table.check(
        "statuses are counted exactly",
        unavailable == sent && sent > 0,
        format!("503: {unavailable}, the server sent {sent}"),
    );
    Ok(())
}

fn delay(table: &mut CheckTable) -> Result<(), CommandError> {
    let server = server()?;
    let result = load(&format!("-n 200 -c 10 {}/delay", server.url()))?;
    let (low, p50) = (micros(DELAY), result.response_time.p50_us);
    let good = result.response_time.min_us >= low && p50 <= low + micros(DELAY_SLACK);
    table.check(&format!("a delay of {DELAY:?} shows"), good, format!("p50 {:.2} ms", p50 / 1000.0));
    Ok(())
}

fn pacing(table: &mut CheckTable) -> Result<(), CommandError> {
    let server = server()?;
    for flags in ["--rate 400 -c 20", "-q 20 -c 20", "--rate 400 --arrivals poisson -c 20"] {
        let result = load(&format!("-z 2s {flags} {}/", server.url()))?;
        let completed = result.requests.completed;
        // Poisson arrivals scatter by the square root of their number.
        let near = if flags.contains("poisson") { 680..=920 } else { 796..=804 };
        table.check(&format!("{flags} for 2 s sends 800"), near.contains(&completed), format!("{completed}"));
    }
    Ok(())
}

/// At a constant rate r, a stall of s seconds delays r * s requests by s/2 on average; if s is a quarter of the run, the 95th
/// percentile is 0.8 s. In a closed loop, only the requests in flight wait, one per worker.
fn stall(table: &mut CheckTable, length: Duration) -> Result<(), CommandError> {
    let long = length * 4;
    let server = server()?;
    server.stall(length, length);
    let open = load(&format!("-z {}ms --rate 400 -c 20 {}/", long.as_millis(), server.url()))?;
    let (p95, max) = (open.response_time.p95_us, open.response_time.max_us);
    let figures = format!("p95 {:.0} ms, max {:.0} ms", p95 / 1000.0, max / 1000.0);
    table.check(
        &format!("a stall of {length:?} shows at a constant rate"),
        p95 > micros(length) * 0.5 && max > micros(length) * 0.9,
        figures,
    );
    let service = open.service_time.p95_us;
    table.check("the service time of the same run tells less", service < p95 / 2.0, format!("p95 {:.0} ms", service / 1000.0));

    server.stall(length, length);
    let closed = load(&format!("-z {}ms -c 20 {}/delay", long.as_millis(), server.url()))?;
    let (p95, max) = (closed.response_time.p95_us, closed.response_time.max_us);
    let figures = format!("p95 {:.0} ms, max {:.0} ms", p95 / 1000.0, max / 1000.0);
    table.check(
        "the same stall hides in a closed loop, but for its maximum",
        p95 < micros(length) * 0.5 && max > micros(length) * 0.9,
        figures,
    );
    let gap = closed.series.iter().map(|second| second.requests).min().unwrap_or_default();
    let peak = closed.series.iter().map(|second| second.requests).max().unwrap_or_default();
    table.check("it shows in the throughput over time", gap * 2 < peak, format!("{gap} to {peak} requests/s"));
    Ok(())
}

fn merging(table: &mut CheckTable) -> Result<(), CommandError> {
    let server = server()?;
    let a = load(&format!("-n 300 -c 5 {}/", server.url()))?;
    let b = load(&format!("-n 200 -c 5 {}/delay", server.url()))?;
    let (slower, all) = (b.response_time.max_us, a.requests.completed + b.requests.completed);
    let merged = merge::merge(vec![a, b]).map_err(CommandError::Failed)?;
    let good = merged.response_time.count == all && merged.requests.completed == 500 && merged.response_time.max_us >= slower;
    table.check("merged results lose nothing", good, format!("{} times", merged.response_time.count));
    Ok(())
}

fn server() -> Result<Server, CommandError> {
    Server::start(DELAY).map_err(|error| CommandError::Failed(format!("cannot start the test server: {error}")))
}

/// Runs `load` with these arguments.
fn load(arguments: &str) -> Result<LoadResult, CommandError> {
    let command = super::LoadOptions::augment_args(clap::Command::new("load").no_binary_name(true));
    let matches = command.try_get_matches_from(arguments.split(' ')).map_err(|error| CommandError::Usage(error.to_string()))?;
    let options = super::LoadOptions::from_arg_matches(&matches).map_err(|error| CommandError::Usage(error.to_string()))?;
    let (plan, _) = plan::plan(&options)?;
    let plan = Arc::new(plan);
    let outcome = running::run(&plan, None, &Interrupt::default(), ProgressLine::new(false, true)).map_err(cannot_start)?;
    Ok(summary::result(&plan, outcome))
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
