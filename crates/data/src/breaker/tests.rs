use super::*;

const RULE: BreakerRule = BreakerRule { threshold: 0.5, samples: 3, return_after: Duration::from_secs(60), half_open: true };

fn at(ms: u64) -> Duration {
    Duration::from_millis(100_000 + ms)
}

fn send(breaker: &Arc<Breaker>, at: Duration, failed: bool) {
    breaker.admit(&RULE, at).expect("it is closed, or it is time for a probe").end(at, failed);
}

fn tripped() -> Arc<Breaker> {
    let breaker = Arc::new(Breaker::default());
    (0..3).for_each(|_| send(&breaker, at(0), true));
    breaker
}

#[test]
fn it_opens_when_enough_of_enough_requests_failed() {
    assert!(tripped().admit(&RULE, at(1)).is_none());
    let breaker = Arc::new(Breaker::default());
    for failed in [false, false, false, true, true, true] {
        send(&breaker, at(0), failed);
    }
    assert!(breaker.admit(&RULE, at(0)).is_none());
}

#[test]
fn old_failures_are_forgotten() {
    let breaker = Arc::new(Breaker::default());
    for ms in [0, 0, 11_000] {
        send(&breaker, at(ms), true);
    }
    assert!(breaker.admit(&RULE, at(11_000)).is_some());
}

#[test]
fn a_probe_that_succeeds_closes_it() {
    let breaker = tripped();
    let probe = breaker.admit(&RULE, at(500)).expect("a probe");
    assert!(breaker.admit(&RULE, at(501)).is_none());
    probe.end(at(600), true);
    assert!(breaker.admit(&RULE, at(601)).is_none());
    breaker.admit(&RULE, at(1_500)).expect("the next probe").end(at(1_600), false);
    assert!(breaker.admit(&RULE, at(1_601)).is_some());
}

#[test]
fn a_request_that_was_sent_before_it_opened_does_not_close_it() {
    let breaker = Arc::new(Breaker::default());
    let early = [(); 3].map(|()| breaker.admit(&RULE, at(0)).expect("it is closed"));
    (0..3).for_each(|_| send(&breaker, at(0), true));
    early[0].end(at(100), false);
    assert!(breaker.admit(&RULE, at(100)).is_none(), "it stays open");
    let probe = breaker.admit(&RULE, at(500)).expect("a probe");
    early[1].end(at(600), false);
    assert!(breaker.admit(&RULE, at(600)).is_none(), "the probe decides");
    probe.end(at(700), false);
    early[2].end(at(700), true);
    // A late failure does not count for the time since then.
    (0..2).for_each(|_| send(&breaker, at(800), false));
    send(&breaker, at(800), true);
    assert!(breaker.admit(&RULE, at(801)).is_some());
}

#[test]
fn without_probes_it_waits_for_its_time() {
    let rule = BreakerRule { half_open: false, ..RULE };
    let breaker = tripped();
    assert!(breaker.admit(&rule, at(59_999)).is_none());
    assert!(breaker.admit(&rule, at(60_000)).is_some());
}

#[test]
fn each_change_is_told_once() {
    let breaker = Arc::new(Breaker::default());
    let end = |at: Duration, failed| breaker.admit(&RULE, at).expect("it lets pass").end(at, failed);
    assert_eq!([end(at(0), true), end(at(0), true), end(at(0), true)], [None, None, Some(BreakerChange::Opened)]);
    assert_eq!(end(at(500), true), None, "a probe that fails");
    assert_eq!(end(at(1_500), false), Some(BreakerChange::Closed));
    assert!(!breaker.close_after(1), "it is closed already");
    assert_eq!((0..3).filter_map(|_| end(at(20_000), true)).count(), 1);
    assert!(!breaker.close_after(1), "it has opened again");
    assert!(breaker.close_after(2) && !breaker.close_after(2));
    assert_eq!(breaker.admit(&RULE, at(20_001)).map(|passage| passage.has_closed()), Some(false));
    assert_eq!((0..3).filter_map(|_| end(at(40_000), true)).count(), 1);
    let passage = breaker.admit(&RULE, at(40_000) + RULE.return_after).expect("its time is over");
    assert!(passage.has_closed());
}
