use super::compare;
use crate::load::result::merge::tests::result;

fn worse(us: u64, requests: u64, threshold: f64) -> bool {
    let (before, after) = (result(0, 1000, 1000), result(0, requests, us));
    compare(&before, &after, threshold).iter().any(|line| line.worse)
}

#[test]
fn what_got_slower_by_more_than_the_threshold_is_worse() {
    assert!(!worse(1000, 1000, 0.05));
    assert!(!worse(1040, 1000, 0.05));
    assert!(worse(1100, 1000, 0.05));
    assert!(!worse(1100, 1000, 0.2));
    assert!(!worse(500, 2000, 0.05), "better is not worse");
    assert!(worse(1000, 900, 0.05), "fewer requests a second");
}

#[test]
fn failures_where_there_were_none_are_worse_whatever_the_threshold() {
    let (before, mut after) = (result(0, 1000, 1000), result(0, 1000, 1000));
    after.requests.failed = 1;
    assert!(compare(&before, &after, 0.5).iter().any(|line| line.worse));
}
