//! Measures: starts the gateways of a scenario, checks them, warms them up, and measures round by round.

use super::gate;
use super::loader;
use super::loader::LoadJob;
use super::plan;
use super::plan::{Length, PeerCase, RunPlan};
use super::recorded::Recorded;
use super::sampling::{PeerSampler, Watched, figures, requests};
use super::testbed::{ServedCase, TestBed};
use crate::interrupt::Interrupt;
use crate::load::result::LoadResult;
use crate::machine::Child;
use crate::record::{CaseRecord, LoadRecord, Remark, Round, RoundSeries, RunRecord, ScenarioRecord};
use crate::scenario::{BURST, Case, LoadSpec, Meanwhile, Scenario};
use crate::stats::random::SeededRandom;
use crate::stats::rounds;
use crate::usage::tree::ProcessUsage;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Maximum connections for checking a gateway.
const BURST_CONNECTIONS_MAX: u32 = 100;
/// Pause between load and measurement if cases are measured side by side.
const SETTLE: Duration = Duration::from_millis(1_500);
const RELOAD_EVERY: Duration = Duration::from_millis(250);

/// Runs every scenario; calls `keep` whenever there are new results to save.
pub(crate) fn all(
    plan: &RunPlan,
    run: &mut RunRecord,
    interrupt: &Interrupt,
    directory: &Path,
    keep: &mut dyn FnMut(&RunRecord) -> Result<(), String>,
) -> Result<(), String> {
    let bar = progress(plan);
    for (index, scenario) in plan.scenarios.iter().enumerate() {
        let measuring = Measuring { plan, scenario, interrupt, bar: &bar };
        run.scenarios.push(measuring.empty_record());
        if bar.is_hidden() {
            eprintln!("measuring {}, about {} s", scenario.name, plan.estimate(scenario).as_secs());
        }
        let result = measuring.run(run, index, directory, keep);
        keep(run)?;
        result?;
    }
    bar.finish_and_clear();
    Ok(())
}

/// A progress bar in milliseconds of the plan's estimate; each step counts as its estimated time.
fn progress(plan: &RunPlan) -> ProgressBar {
    let total: Duration = plan.scenarios.iter().map(|scenario| plan.estimate(scenario)).sum();
    let bar = ProgressBar::new(u64::try_from(total.as_millis()).unwrap_or(u64::MAX));
    if let Ok(style) = ProgressStyle::with_template("[{elapsed_precise}] {bar:32} {percent:>3} %  {eta_precise} left  {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// Who has its turn when, in one round: a balanced Latin square (E. J. Williams, 1949). Over the rounds, everybody comes at every place, and
/// for an even number after everybody else equally often, so that what a measurement leaves behind is nobody's disadvantage.
fn turns(count: usize, round: u32) -> impl Iterator<Item = usize> {
    let outwards = move |place: usize| if place % 2 == 1 { place.div_ceil(2) } else { count - place / 2 };
    (0..count).map(move |place| (outwards(place) + round as usize) % count)
}

/// Seed of the pauses' lengths.
const PAUSE_SEED: u64 = 0xBEA7;

struct Measuring<'a> {
    plan: &'a RunPlan,
    scenario: &'a Scenario,
    interrupt: &'a Interrupt,
    bar: &'a ProgressBar,
}

impl Measuring<'_> {
    fn run(
        &self,
        run: &mut RunRecord,
        index: usize,
        directory: &Path,
        keep: &mut dyn FnMut(&RunRecord) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut testbed = TestBed::new(self.plan, self.scenario, self.interrupt)?;
        let Some(record) = run.scenarios.get_mut(index) else { return Ok(()) };
        self.start_gateways(&mut testbed, record, directory)?;
        if self.scenario.gateways > 1 {
            record.store = testbed.store_speed(self.plan);
        }
        let targets = self.judged(&testbed, record)?;
        let mut random = SeededRandom::new(PAUSE_SEED);
        for (number, load) in self.scenario.load.iter().enumerate() {
            for round in 0..self.plan.settings.rounds {
                for target in turns(targets.len(), round).filter_map(|turn| targets.get(turn)) {
                    let Some(record) = run.scenarios.get_mut(index) else { return Ok(()) };
                    self.bar.set_message(format!(
                        "{}: {}, {}, round {}",
                        self.scenario.name,
                        self.peer(*target),
                        load.name,
                        round + 1
                    ));
                    if self.plan.has_pause(load) {
                        std::thread::sleep(plan::PAUSE.mul_f64(random.share()));
                    }
                    self.measure(&testbed, *target, number, load, record)?;
                    self.bar.inc(self.worth(load));
                }
                keep(run)?;
            }
        }
        Ok(())
    }

    fn peer(&self, target: PeerCase) -> &'static str {
        self.plan.peers.get(target.peer).map_or("", |peer| peer.adapter.name())
    }

    /// Estimated milliseconds of a measurement.
    fn worth(&self, load: &LoadSpec) -> u64 {
        self.plan.estimate_of(load).as_millis() as u64
    }

    fn start_gateways(&self, testbed: &mut TestBed, record: &mut ScenarioRecord, directory: &Path) -> Result<(), String> {
        let kept = directory.join("configuration").join(&self.scenario.name);
        let targets = self.plan.targets(self.scenario);
        for (peer, chosen) in self.plan.peers_of(self.scenario) {
            self.bar.set_message(format!("{}: starting {}", self.scenario.name, chosen.adapter.name()));
            let cases: Vec<usize> = targets.iter().filter(|target| target.peer == peer).map(|target| target.case).collect();
            let own_process = self.scenario.own_process || chosen.adapter.serves_one_case();
            let groups: Vec<Vec<usize>> = match (own_process, cases.is_empty()) {
                (_, true) => Vec::new(),
                (true, _) => cases.into_iter().map(|case| vec![case]).collect(),
                (false, _) => vec![cases],
            };
            for group in groups {
                let case = if own_process { self.case_name(&group) } else { String::new() };
                if let Err(text) = testbed.add(self.plan, self.scenario, peer, group, &kept, self.interrupt) {
                    self.interrupt.check()?;
                    self.fail(record, Remark { peer: chosen.adapter.name().to_owned(), case, text });
                }
            }
        }
        Ok(())
    }

    fn case_name(&self, group: &[usize]) -> String {
        group.first().and_then(|index| self.scenario.case.get(*index)).map(|case| case.name.clone()).unwrap_or_default()
    }

    fn fail(&self, record: &mut ScenarioRecord, remark: Remark) {
        self.bar.suspend(|| eprintln!("FAILED {}: {} {}: {}", self.scenario.name, remark.peer, remark.case, remark.text));
        record.failures.push(remark);
    }

    /// The targets that gave exactly the required statuses, warmed up.
    fn judged(&self, testbed: &TestBed, record: &mut ScenarioRecord) -> Result<Vec<PeerCase>, String> {
        let mut good = Vec::new();
        for target in self.plan.targets(self.scenario) {
            let Some(case) = self.scenario.case.get(target.case) else { continue };
            let Some(place) = testbed.place(target, case) else { continue };
            self.bar.set_message(format!("{}: judging {}, {}", self.scenario.name, self.peer(target), case.name));
            let judgement = self.judge(testbed, &place, case);
            self.interrupt.check()?;
            match judgement {
                Ok(()) => good.push(target),
                Err(text) => self.fail(record, Remark { peer: self.peer(target).to_owned(), case: case.name.clone(), text }),
            }
            self.bar.inc(700);
        }
        Ok(good)
    }

    fn judge(&self, testbed: &TestBed, place: &ServedCase, case: &Case) -> Result<(), String> {
        let Some(load) = self.scenario.load.first() else { return Ok(()) };
        let mut job = self.job(place, case, load, Length::Requests(BURST.div_ceil(place.places.len() as u64)));
        job.connections = load.connections.min(BURST_CONNECTIONS_MAX);
        let burst = loader::run(&job, self.plan, testbed.dir.path(), self.interrupt, || ())?;
        gate::judge_burst(case, &burst)?;
        gate::check(case, place)?;
        job.length = Length::Seconds(self.plan.warm_up());
        loader::run(&job, self.plan, testbed.dir.path(), self.interrupt, || ()).map(drop)
    }

    fn job<'a>(&self, place: &ServedCase<'a>, case: &'a Case, load: &LoadSpec, length: Length) -> LoadJob<'a> {
        let threads = self.plan.loader_threads();
        LoadJob {
            places: place.places,
            path: place.path.clone(),
            request: &case.request,
            credential: place.credential,
            tls: case.api.tls.is_some(),
            connections: load.connections,
            streams: load.streams,
            new_connections: load.new_connections,
            length,
            rate: None,
            ramp: false,
            threads,
        }
    }

    fn measure(
        &self,
        testbed: &TestBed,
        target: PeerCase,
        number: usize,
        load: &LoadSpec,
        record: &mut ScenarioRecord,
    ) -> Result<(), String> {
        self.interrupt.check()?;
        let Some(case) = self.scenario.case.get(target.case) else { return Ok(()) };
        let Some(place) = testbed.place(target, case) else { return Ok(()) };
        let peer = self.peer(target);
        let mut job = self.job(&place, case, load, self.plan.length(load));
        if let Some(tokens) = place.credential.and_then(|credential| credential.tokens.as_ref()) {
            job.length = Length::Requests(tokens.count);
        }
        job.ramp = load.ramp;
        job.rate = self.rate(load, target.case, peer, record);
        if job.rate.is_none() && !load.is_full_speed() && !load.ramp {
            return Ok(()); // Its capacity is unknown because that load failed, which is reported there.
        }
        let round = match self.first_case(testbed, target, load).and_then(|first| {
            if first.is_some() {
                job.connections = (load.connections / 2).max(1);
            }
            self.round(testbed, &place, case, &job, first.as_ref())
        }) {
            Ok(round) => round,
            Err(reason) => {
                self.interrupt.check()?;
                Round { void: Some(reason), ..Round::default() }
            }
        };
        match record
            .series
            .iter_mut()
            .find(|series| (series.case, series.load, series.peer.as_str()) == (target.case, number, peer))
        {
            Some(series) => series.rounds.push(round),
            None => record.series.push(RoundSeries { case: target.case, load: number, peer: peer.to_owned(), rounds: vec![round] }),
        }
        Ok(())
    }

    /// Requests per second, if the load has a rate.
    fn rate(&self, load: &LoadSpec, case: usize, peer: &str, record: &ScenarioRecord) -> Option<f64> {
        let full_speed: Vec<usize> = (0..self.scenario.load.len())
            .filter(|index| self.scenario.load.get(*index).is_some_and(LoadSpec::is_full_speed))
            .collect();
        let capacity =
            |series: &RoundSeries| rounds::median(&series.figures(|round| round.requests_per_second)).filter(|rate| *rate > 0.0);
        let at_full_speed = || record.series.iter().filter(|series| full_speed.contains(&series.load) && series.void().is_none());
        if let Some(percent) = load.percent_of_capacity {
            let own = at_full_speed().find(|series| series.case == case && series.peer == peer)?;
            return Some(capacity(own)? * percent / 100.0);
        }
        if let Some(percent) = load.percent_of_slowest {
            return at_full_speed().filter_map(capacity).min_by(f64::total_cmp).map(|slowest| slowest * percent / 100.0);
        }
        if let Some(percent) = load.percent_of_slowest_in_case {
            let is_alike = |series: &&RoundSeries| {
                let other = self.scenario.load.get(series.load);
                series.case == case
                    && other.is_some_and(|other| (other.connections, other.streams) == (load.connections, load.streams))
            };
            let slowest = at_full_speed().filter(is_alike).filter_map(capacity).min_by(f64::total_cmp);
            return slowest.map(|slowest| slowest * percent / 100.0);
        }
        load.rate
    }

    fn round(
        &self,
        testbed: &TestBed,
        place: &ServedCase,
        case: &Case,
        job: &LoadJob,
        first: Option<&FirstCase>,
    ) -> Result<Round, String> {
        place.forget_tokens(case)?;
        // Records of the warm-up and of other rounds do not count.
        place.recorded.map(Recorded::take).transpose()?;
        let watched = Watched { gateways: place.gateways, upstream: &testbed.upstream, store: place.store };
        let before = watched.usage();
        let first_before = first.map(FirstCase::usage);
        let began = Instant::now();
        let mut sampler = PeerSampler::new(&watched, before);
        // Reading what many threads use takes a millisecond of a CPU, which would be in the latency that a rate is for.
        let samples = job.rate.is_none();
        let reloads_wanted = self.scenario.meanwhile == Meanwhile::Reload && place.can_reload();
        let (mut reloads, mut reload_failure) = (0, None);
        let (result, first_result) = std::thread::scope(|scope| {
            // Separate from the sampling, because a reload blocks until it is done.
            let (ended, end) = std::sync::mpsc::channel::<()>();
            let reloader = reloads_wanted.then(|| scope.spawn(move || reload_until(place, &end)));
            let beside = first.map(|first| scope.spawn(|| loader::run(&first.job, self.plan, &first.dir, self.interrupt, || ())));
            let result = loader::run(job, self.plan, testbed.dir.path(), self.interrupt, || {
                if samples {
                    sampler.tick(began.elapsed());
                }
            });
            drop(ended);
            if let Some(Ok(done)) = reloader.map(std::thread::ScopedJoinHandle::join) {
                (reloads, reload_failure) = done;
            }
            let panicked = || Err("the thread of the first case's loader panicked".to_owned());
            (result, beside.map(|beside| beside.join().unwrap_or_else(|_| panicked())))
        });
        let (result, first_result, elapsed) = (result?, first_result.transpose()?, began.elapsed());
        self.settle(place);
        let spent = watched.usage().since(&before);
        let mut round = figures(&result, &spent, &watched, elapsed);
        round.rate = job.rate;
        round.samples = sampler.samples;
        round.reloads = reloads;
        round.void = reload_failure.or_else(|| self.void(case, job, &result));
        if let (Some(first), Some(first_before), Some(result)) = (first, first_before, &first_result) {
            round.first_case_cpu_us = Some((first.usage() - first_before).cpu_ns as f64 / 1e3 / requests(result));
            let void =
                self.void(first.case, &first.job, result).map(|reason| format!("{}, at the same time: {reason}", first.case.name));
            round.void = round.void.or(void);
        }
        let recorded = place.recorded.map(|recorded| recorded.judge(result.requests.completed + result.requests.warmup));
        round.void = round.void.or(recorded.and_then(Result::err));
        Ok(round)
    }

    /// Waits until the threads that write records are done: their CPU time counts too.
    fn settle(&self, place: &ServedCase) {
        let pause = match place.recorded {
            Some(recorded) => recorded.settle(),
            None if self.scenario.side_by_side => SETTLE,
            None => return,
        };
        std::thread::sleep(pause);
    }

    /// The first case of the same gateway, if it is measured at the same time.
    fn first_case<'a>(&'a self, testbed: &'a TestBed, target: PeerCase, load: &LoadSpec) -> Result<Option<FirstCase<'a>>, String> {
        if !self.scenario.side_by_side || target.case == 0 {
            return Ok(None);
        }
        let target = PeerCase { case: 0, ..target };
        let Some(case) = self.scenario.case.first() else { return Ok(None) };
        let Some(place) = testbed.place(target, case) else { return Err(format!("{} is not running", case.name)) };
        let dir = testbed.dir.path().join("first-case");
        std::fs::create_dir_all(&dir).map_err(|error| format!("{}: cannot be made: {error}", dir.display()))?;
        let mut job = self.job(&place, case, load, self.plan.length(load));
        job.connections = (load.connections / 2).max(1);
        Ok(Some(FirstCase { case, gateway: place.gateways.first(), job, dir }))
    }

    /// Why a measurement is void. In a ramp or with reloads, failed requests are the result itself.
    fn void(&self, case: &Case, job: &LoadJob, result: &LoadResult) -> Option<String> {
        let failures_count = job.ramp || self.scenario.meanwhile != Meanwhile::Nothing;
        if !result.complete {
            return Some(result.stopped.clone().unwrap_or_else(|| "the loader did not come to its end".to_owned()));
        }
        if result.requests.failed > 0 && !failures_count {
            return Some(format!("{} requests failed: {}", result.requests.failed, gate::causes(result)));
        }
        gate::judge_round(case, &result.status).err()
    }

    fn empty_record(&self) -> ScenarioRecord {
        let scenario = self.scenario;
        let mut absent = Vec::new();
        for (_, chosen) in self.plan.peers_of(scenario) {
            for case in &scenario.case {
                if let Some(text) = plan::absence(scenario, chosen.adapter, case) {
                    absent.push(Remark { peer: chosen.adapter.name().to_owned(), case: case.name.clone(), text });
                }
            }
        }
        ScenarioRecord {
            name: scenario.name.clone(),
            title: scenario.title.clone(),
            source: scenario.source.clone(),
            about: scenario.about.clone(),
            suite: scenario.suite,
            draw: scenario.draw,
            cases: scenario
                .case
                .iter()
                .map(|case| CaseRecord { name: case.name.clone(), x: case.x, expected: gate::said(case) })
                .collect(),
            loads: scenario.load.iter().map(|load| self.load_record(load)).collect(),
            peers: self.plan.peers_of(scenario).map(|(_, peer)| peer.adapter.name().to_owned()).collect(),
            ratio_to: scenario.ratio_to.clone(),
            store: None,
            absent,
            failures: Vec::new(),
            series: Vec::new(),
        }
    }

    fn load_record(&self, load: &LoadSpec) -> LoadRecord {
        let connections =
            if load.ramp { format!("0 to {} connections", load.connections) } else { format!("{} connections", load.connections) };
        let protocol = match (load.streams, load.new_connections) {
            (Some(streams), _) => format!(" of HTTP/2 with {streams} streams"),
            (None, true) => ", a new one for each request".to_owned(),
            (None, false) => String::new(),
        };
        let slowest = load.percent_of_slowest.or(load.percent_of_slowest_in_case);
        let pace = match (load.rate, load.percent_of_capacity, slowest) {
            (Some(rate), ..) => format!(", {rate} requests/s"),
            (_, Some(percent), _) => format!(", {percent} % of each one's capacity"),
            (_, _, Some(percent)) => format!(", one rate for all: {percent} % of the slowest one's capacity"),
            _ => String::new(),
        };
        let length = match self.plan.length(load) {
            Length::Seconds(seconds) => format!("{} s", (seconds * 100.0).round() / 100.0),
            Length::Requests(requests) => format!("{requests} requests"),
        };
        LoadRecord {
            name: load.name.clone(),
            said: format!("{connections}{protocol}{pace}, {length}"),
            is_full_speed: load.is_full_speed(),
            is_ramp: load.ramp,
        }
    }
}

/// The first case, which is loaded at the same time as another.
struct FirstCase<'a> {
    case: &'a Case,
    gateway: Option<&'a Child>,
    job: LoadJob<'a>,
    /// Directory of its load generator's files.
    dir: PathBuf,
}

impl FirstCase<'_> {
    fn usage(&self) -> ProcessUsage {
        self.gateway.map(Child::usage).unwrap_or_default()
    }
}

/// Reloads a gateway repeatedly until the load ends; returns how often, and why one failed.
fn reload_until(place: &ServedCase, end: &Receiver<()>) -> (u64, Option<String>) {
    let (mut reloads, mut failure) = (0, None);
    while end.recv_timeout(RELOAD_EVERY) == Err(RecvTimeoutError::Timeout) {
        reloads += 1;
        if let Err(reason) = place.reload() {
            failure = Some(reason);
        }
    }
    (reloads, failure)
}

#[cfg(test)]
mod tests;
