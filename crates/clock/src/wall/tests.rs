use super::*;

#[test]
fn it_is_reckoned_from_one_moment_in_both_directions() {
    let early = MonoTime::now();
    let then = early + Duration::from_secs(2);
    let own = TimeOfDay { known: Cell::new((then, 1_000 * NS_PER_S)) };
    let at = |ms| own.unix_ns(early + Duration::from_millis(ms)) / 1_000_000;
    assert_eq!((at(2_000), at(2_250), at(1_999)), (1_000_000, 1_000_250, 999_999));
    assert_eq!((own.unix_s(then), own.unix_s(early)), (1_000, 998));
    own.known.set((then, NS_PER_S));
    assert_eq!(own.unix_ns(early), 0, "before 1970 the clock stands still");
}

#[test]
fn it_is_the_clocks() {
    let own = TimeOfDay::new();
    let (before, now) = (since_1970(), Duration::from_nanos(own.unix_ns(MonoTime::now())));
    let after = since_1970();
    let slack = Duration::from_millis(50);
    assert!(before < now + slack && now < after + slack, "{before:?} {now:?} {after:?}");
}
