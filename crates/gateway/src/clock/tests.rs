use super::*;

#[test]
fn it_is_reckoned_from_one_moment_in_both_directions() {
    let own = TimeOfDay::new(Instant::now());
    own.moment.set((Duration::from_secs(100), Duration::from_secs(1_000)));
    let at = |ms| own.at(Duration::from_millis(ms)).as_millis();
    assert_eq!((at(100_000), at(100_250), at(99_999)), (1_000_000, 1_000_250, 999_999));
    own.moment.set((Duration::from_secs(100), Duration::from_secs(1)));
    assert_eq!(at(98_000), 0, "before 1970 the clock stands still");
}

#[test]
fn it_is_the_clocks() {
    let start = Instant::now();
    let own = TimeOfDay::new(start);
    let (before, now) = (since_1970(), own.at(start.elapsed()));
    let after = since_1970();
    let slack = Duration::from_millis(50);
    assert!(before < now + slack && now < after + slack, "{before:?} {now:?} {after:?}");
}
