use super::*;

const RULE: BreakerRule = BreakerRule { threshold: 0.5, samples: 3, return_after: Duration::from_secs(60), half_open: true };

fn at(ms: u64) -> Duration {
    Duration::from_millis(100_000 + ms)
}

fn tripped() -> Breaker {
    let breaker = Breaker::default();
    for _ in 0..3 {
        assert!(breaker.admits(&RULE, at(0)));
        breaker.record(&RULE, at(0), true);
    }
    breaker
}

#[test]
fn it_opens_when_enough_of_enough_requests_failed() {
    assert!(!tripped().admits(&RULE, at(1)));
    let breaker = Breaker::default();
    for failed in [false, false, false, true, true] {
        breaker.record(&RULE, at(0), failed);
        assert!(breaker.admits(&RULE, at(0)));
    }
    breaker.record(&RULE, at(0), true);
    assert!(!breaker.admits(&RULE, at(0)));
}

#[test]
fn old_failures_are_forgotten() {
    let breaker = Breaker::default();
    breaker.record(&RULE, at(0), true);
    breaker.record(&RULE, at(0), true);
    breaker.record(&RULE, at(11_000), true);
    assert!(breaker.admits(&RULE, at(11_000)));
}

#[test]
fn a_probe_that_succeeds_closes_it() {
    let breaker = tripped();
    assert!(breaker.admits(&RULE, at(500)));
    assert!(!breaker.admits(&RULE, at(501)));
    breaker.record(&RULE, at(600), true);
    assert!(!breaker.admits(&RULE, at(601)));
    assert!(breaker.admits(&RULE, at(1_500)));
    breaker.record(&RULE, at(1_600), false);
    assert!(breaker.admits(&RULE, at(1_601)));
}

#[test]
fn without_probes_it_waits_for_its_time() {
    let rule = BreakerRule { half_open: false, ..RULE };
    let breaker = tripped();
    assert!(!breaker.admits(&rule, at(59_999)));
    assert!(breaker.admits(&rule, at(60_000)));
}
