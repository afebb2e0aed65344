use super::ahead::Ahead;
use super::{compare, format, html, json, markdown, readme, summary, terminal};
use crate::record::{
    CaseRecord, LoadRecord, MachineFacts, Remark, Round, RoundSeries, RunRecord, RunSettings, ScenarioRecord, Use,
};
use crate::scenario::{Draw, Suite};
use crate::stats::distribution::LatencyDistribution;
use std::collections::BTreeMap;

fn round(cpu_us: Option<f64>, p50_us: f64) -> Round {
    let mut times = LatencyDistribution::new();
    for share in 1..=1000_u64 {
        times.record((p50_us * 2.0) as u64 * share);
    }
    Round {
        seconds: 1.0,
        requests: 1000,
        requests_per_second: 25_976.0,
        status: BTreeMap::from([(200, 1000)]),
        mean_us: p50_us,
        max_us: p50_us * 10.0,
        p50_us,
        p95_us: p50_us * 2.0,
        p99_us: p50_us * 3.0,
        histogram: times.encode(),
        gateway: cpu_us.map(|cpu_us| Use { cpu_us, memory_mib: 12.0, ..Use::default() }),
        ..Round::default()
    }
}

fn series(peer: &str, cpu_us: &[f64], p50_us: f64) -> RoundSeries {
    let rounds =
        if cpu_us.is_empty() { vec![round(None, p50_us); 3] } else { cpu_us.iter().map(|cpu| round(Some(*cpu), p50_us)).collect() };
    RoundSeries { case: 0, load: 0, peer: peer.to_owned(), rounds }
}

fn run() -> RunRecord {
    let versions = ["tollgate", "nginx"].map(|name| (name.to_owned(), format!("{name} 1.0"))).into_iter().collect();
    let facts = MachineFacts {
        date: "2026-11-22 03:00:00 UTC".to_owned(),
        host: "bench".to_owned(),
        cpus: 2,
        cpu: "CPU <X>".to_owned(),
        versions,
        ..MachineFacts::default()
    };
    let mut run = RunRecord::new(facts, RunSettings { rounds: 3, seconds: 1.0, ..RunSettings::default() });
    run.scenarios.push(ScenarioRecord {
        name: "gogc".to_owned(),
        title: "A proxy".to_owned(),
        source: "a test".to_owned(),
        about: "What it adds.".to_owned(),
        suite: Suite::Published,
        draw: Draw::Gateways,
        cases: vec![CaseRecord { name: "proxy".to_owned(), x: None, expected: "all 200".to_owned() }],
        loads: vec![LoadRecord {
            name: "full speed".to_owned(),
            said: "50 connections, 1 s".to_owned(),
            is_full_speed: true,
            is_ramp: false,
        }],
        peers: ["tollgate", "direct", "nginx", "varnish"].map(str::to_owned).to_vec(),
        ratio_to: Vec::new(),
        store: None,
        absent: vec![Remark { peer: "varnish".to_owned(), case: "proxy".to_owned(), text: "has no quotas".to_owned() }],
        failures: Vec::new(),
        series: vec![
            series("tollgate", &[10.0, 12.0, 11.0], 500.0),
            series("direct", &[], 200.0),
            series("nginx", &[20.0, 24.0, 22.0], 900.0),
        ],
    });
    run
}

fn first(run: &mut RunRecord, peer: &str) -> usize {
    run.scenarios[0].series.iter().position(|series| series.peer == peer).expect("measured")
}

#[test]
fn ratios_and_what_is_introduced_come_from_the_rounds() {
    let run = run();
    let summaries = summary::summarise(&run);
    let nginx = summaries[0].row(0, 0, "nginx").expect("nginx");
    assert_eq!(nginx.times_reference.expect("a ratio").median, 2.0);
    assert_eq!(nginx.introduced.expect("a baseline").p50, 700.0);
    assert_eq!(summaries[0].row(0, 0, "tollgate").expect("ours").cpu_us.expect("CPU").median, 11.0);
    assert!(summaries[0].row(0, 0, "direct").expect("the upstream").introduced.is_none());
}

#[test]
fn a_void_round_voids_its_gateway_and_every_ratio_to_it() {
    let mut run = run();
    let at = first(&mut run, "tollgate");
    run.scenarios[0].series[at].rounds[1].void = Some("expected all 200, got 3 x 500".to_owned());
    let summaries = summary::summarise(&run);
    let ours = summaries[0].row(0, 0, "tollgate").expect("ours");
    assert!(ours.cpu_us.is_none() && ours.rate.is_none() && ours.latency.is_none());
    assert!(summaries[0].row(0, 0, "nginx").expect("nginx").times_reference.is_none());
    assert!(terminal::tables(&run).contains("VOID: expected all 200, got 3 x 500"));
}

#[test]
fn a_saturated_loader_voids_speed_and_latency_but_not_cpu_time() {
    let mut run = run();
    let at = first(&mut run, "nginx");
    for round in &mut run.scenarios[0].series[at].rounds {
        round.loader_saturated = vec!["its thread was busy all the time".to_owned()];
    }
    let summaries = summary::summarise(&run);
    let nginx = summaries[0].row(0, 0, "nginx").expect("nginx");
    assert!(nginx.rate.is_none() && nginx.latency.is_none() && nginx.introduced.is_none());
    assert_eq!(nginx.cpu_us.expect("CPU").median, 22.0);
    assert!(markdown::page(&run, &summaries).contains("loader-bound"));
}

#[test]
fn latency_at_a_rate_counts_while_the_other_cpus_have_room() {
    let mut run = run();
    run.scenarios[0].loads[0].is_full_speed = false;
    run.facts.gateway_cpus = "0".to_owned();
    let at = first(&mut run, "nginx");
    for round in &mut run.scenarios[0].series[at].rounds {
        // Half of a CPU each.
        (round.upstream.cpus_busy, round.loader_cpu_us, round.requests_per_second) = (0.5, 10.0, 50_000.0);
        round.rate = Some(50_000.0);
    }
    let has_latency = |run: &RunRecord| summary::summarise(run)[0].row(0, 0, "nginx").is_some_and(|row| row.latency.is_some());
    for (other_cpus, has_room) in [("1", false), ("1-2", true), ("1,3", true), ("1,3-4", true), ("0", true), ("?", true)] {
        run.facts.other_cpus = other_cpus.to_owned();
        assert_eq!(has_latency(&run), has_room, "{other_cpus}");
    }
    run.facts.other_cpus = "1".to_owned();
    // At full speed something is always the bottleneck, and speed is what is measured.
    run.scenarios[0].series[at].rounds.iter_mut().for_each(|round| round.rate = None);
    assert!(has_latency(&run));
}

#[test]
fn every_form_has_the_figures_and_says_who_is_missing() {
    let run = run();
    let summaries = summary::summarise(&run);
    let page = html::page(&run, &summaries);
    let text = terminal::tables(&run);
    let markdown = markdown::page(&run, &summaries);
    for form in [&page, &text, &markdown] {
        assert!(form.contains("11.0 (10.0–12.0)"), "{form}");
        assert!(form.contains("2.00× (2.00–2.00)"), "{form}");
        assert!(form.contains("+700 µs") && form.contains("25,976"), "{form}");
        assert!(form.contains("has no quotas"), "{form}");
    }
    assert!(page.contains("CPU &lt;X&gt;") && !page.contains("CPU <X>"));
    assert!(page.contains("<svg") && !page.contains("http://1") && !page.contains("src="), "nothing is loaded from elsewhere");
    assert!(json::text(&run, &summaries).expect("JSON").contains("\"median\": 11.0"));
}

#[test]
fn an_interrupted_run_says_so_in_every_form() {
    let mut run = run();
    run.end = Some("interrupted".to_owned());
    let summaries = summary::summarise(&run);
    assert!(html::page(&run, &summaries).contains("This run is not complete: interrupted"));
    assert!(markdown::page(&run, &summaries).contains("**Not complete:** interrupted"));
    assert!(terminal::tables(&run).contains("NOT COMPLETE: interrupted"));
}

#[test]
fn the_readme_s_table_is_replaced_between_its_marks() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("README.md");
    std::fs::write(&file, "before\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nafter\n").expect("a file");
    readme::update(&file, &run(), dir.path()).expect("an update");
    let text = std::fs::read_to_string(&file).expect("the file");
    assert!(text.starts_with("before\n<!-- bench:begin -->\n| CPU µs/request | tollgate | nginx |"), "{text}");
    assert!(text.contains("| gogc, proxy | 11.0 | 22.0 (2.00×) |"), "{text}");
    assert!(text.contains("has no figure.[^run]\n\n[^run]: Medians of "), "{text}");
    assert!(text.ends_with("<!-- bench:end -->\nafter\n") && !text.contains("old"), "{text}");

    std::fs::write(&file, "no marks").expect("a file");
    let problem = readme::update(&file, &run(), dir.path()).expect_err("there are no marks");
    assert!(problem.ends_with("has no line <!-- bench:begin -->"), "{problem}");
}

#[test]
fn a_run_is_read_again_as_it_was_written() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("run.json"), serde_json::to_vec(&run()).expect("JSON")).expect("a file");
    let again = RunRecord::read(dir.path()).expect("a run");
    assert_eq!(terminal::tables(&again), terminal::tables(&run()));
    std::fs::write(dir.path().join("run.json"), "{}").expect("a file");
    assert!(RunRecord::read(dir.path()).expect_err("no run").contains("run.json: is no run: missing field"));
}

#[test]
fn a_run_is_worse_when_its_cpu_time_is_above_the_threshold_in_every_round() {
    let before = run();
    for (cpu_us, expected) in
        [([10.0, 12.0, 11.0], false), ([11.5, 12.5, 12.4], false), ([13.0, 13.5, 14.0], true), ([1.0, 1.0, 1.0], false)]
    {
        let mut after = run();
        let at = first(&mut after, "tollgate");
        after.scenarios[0].series[at] = series("tollgate", &cpu_us, 500.0);
        let (text, is_worse) = compare::text(&before, &after, 0.05);
        assert_eq!(is_worse, expected, "{cpu_us:?}\n{text}");
        assert_eq!(text.contains("worse"), expected, "{text}");
    }
    let mut elsewhere = run();
    elsewhere.facts.host = "another".to_owned();
    assert!(compare::text(&before, &elsewhere, 0.05).0.contains("not comparable"));
}

#[test]
fn figures_have_the_digits_that_mean_something() {
    for (us, expected) in [
        (0.4, "0 µs"),
        (873.2, "873 µs"),
        (1_240.0, "1.24 ms"),
        (12_400.0, "12.4 ms"),
        (124_000.0, "124 ms"),
        (2_100_000.0, "2.10 s"),
    ] {
        assert_eq!(format::latency(us), expected);
    }
    for (value, expected) in [(0.0, "0"), (999.0, "999"), (1_000.0, "1,000"), (1_234_567.0, "1,234,567"), (-1_500.0, "−1,500")] {
        assert_eq!(format::thousands(value), expected);
    }
    assert_eq!(format::added(-1_240.0), "−1.24 ms");
    assert_eq!((format::micros(17.63).as_str(), format::micros(123.4).as_str()), ("17.6", "123"));
}

#[test]
fn a_scenario_says_whom_cpu_time_is_told_as_a_multiple_of() {
    let mut run = run();
    run.scenarios[0].ratio_to = ["varnish", "nginx"].map(str::to_owned).to_vec();
    let summaries = summary::summarise(&run);
    assert_eq!(summaries[0].ratio_to, ["nginx", "varnish"], "in the order of the gateways");
    let ours = summaries[0].row(0, 0, "tollgate").expect("ours");
    assert_eq!(ours.ratios[0].expect("a ratio").median, 0.5);
    assert!(ours.ratios[1].is_none(), "varnish was not measured");
    let table = terminal::tables(&run);
    assert!(table.contains("× nginx  × varnish"), "{table}");
    assert!(!table.contains("× tollgate"), "{table}");
}

#[test]
fn a_gateway_with_lower_figures_is_named_where_it_is_ahead() {
    let mut run = run();
    assert!(Ahead::new(&summary::summarise(&run)).table.is_empty());
    let at = first(&mut run, "nginx");
    run.scenarios[0].series[at] = series("nginx", &[5.0, 6.0, 5.5], 100.0);
    let table = Ahead::new(&summary::summarise(&run)).table.markdown();
    assert!(table.contains("| gogc | proxy | full speed | CPU µs/request | nginx | 5.5 | 11.0 | 2.00× (2.00–2.00) |"), "{table}");
    // At full speed, latency is a property of the number of connections.
    assert!(!table.contains("p50") && !table.contains("p99"), "{table}");
    run.scenarios[0].loads[0].is_full_speed = false;
    let table = Ahead::new(&summary::summarise(&run)).table.markdown();
    assert!(
        table.contains("| p50 | nginx | 100 µs | 500 µs | 5.00× (5.00–5.00) |") && table.contains("| p99 | nginx |"),
        "{table}"
    );
    // At its own rate each, latencies are not compared.
    run.scenarios[0].series[at].rounds.iter_mut().for_each(|round| round.rate = Some(900.0));
    assert!(!Ahead::new(&summary::summarise(&run)).table.markdown().contains("p50"));
    // Lower in two rounds of three, and in the median: the rounds leave it open.
    run.scenarios[0].series[at] = series("nginx", &[5.0, 25.0, 5.5], 100.0);
    let ahead = Ahead::new(&summary::summarise(&run));
    assert!(!ahead.table.markdown().contains("CPU"), "{}", ahead.table.markdown());
    assert_eq!(
        ahead.counts(),
        "2 of 3 compared figures; between gateways that are alike, chance alone puts at most about 1 into this list. \
         The median of 1 more figure is lower by as much, but the rounds leave open who is ahead."
    );
}
