use super::*;
use std::time::Duration;

/// Steps of middlewares with start and end in milliseconds; `|` starts another run.
fn check(turns: &[(&'static str, u64, u64)], expect: &[(&str, u64, u64)]) {
    let began = MonoTime::now();
    let at = |ms| began + Duration::from_millis(ms);
    let mut steps = Steps::default();
    steps.start();
    for (name, from, to) in turns {
        match *name {
            "|" => steps.start(),
            name => steps.end(name, began, at(*from), at(*to)),
        }
    }
    let mut times = Vec::new();
    steps.swap(&mut times);
    let found: Vec<_> = times.iter().map(|step| (step.middleware, step.after_ns / 1_000_000, step.took_ns / 1_000_000)).collect();
    assert_eq!(found, expect);
}

#[test]
fn each_middleware_has_its_time() {
    check(&[("A", 1, 2), ("B", 2, 5)], &[("A", 1, 1), ("B", 2, 3)]);
}

#[test]
fn what_holds_a_request_lasts_until_it_lets_it_go() {
    let turns = [("A", 1, 2), ("B", 2, 3), ("|", 0, 0), ("A", 50, 51), ("B", 51, 52), ("C", 52, 54)];
    check(&turns, &[("A", 1, 1), ("B", 2, 50), ("C", 52, 2)]);
}

#[test]
fn nothing_is_left_for_the_next_request() {
    let now = MonoTime::now();
    let mut steps = Steps::default();
    steps.end("A", now, now, now);
    steps.clear();
    let mut times = vec![StepTime { middleware: "of another", after_ns: 0, took_ns: 0 }];
    steps.swap(&mut times);
    assert!(times.is_empty());
    steps.swap(&mut times);
    assert!(times.is_empty(), "only the memory came back");
}
