use super::{duration, rate, seconds, share};
use std::time::Duration;

#[test]
fn durations_are_written_as_in_go() {
    for (text, ms) in [("10s", 10_000), ("5m", 300_000), ("1m30s", 90_000), ("250ms", 250), ("1.5h", 5_400_000), ("0", 0)] {
        assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
    }
    for text in ["", "5", "s", "5 s", "5x", "-1s", "1s2", "9999999999999999999999h"] {
        assert!(duration(text).is_err(), "{text}");
    }
}

#[test]
fn seconds_need_no_unit() {
    assert_eq!(seconds("20"), Ok(Duration::from_secs(20)));
    assert_eq!(seconds("500ms"), Ok(Duration::from_millis(500)));
    assert!(seconds("soon").is_err());
}

#[test]
fn rates_are_above_zero_and_shares_are_not_below() {
    assert_eq!(rate("1500"), Ok(1500.0));
    assert!(rate("0").is_err() && rate("-1").is_err() && rate("inf").is_err());
    assert_eq!(share("5%"), Ok(0.05));
    assert_eq!(share("0.1"), Ok(0.1));
    assert!(share("-5%").is_err() && share("much").is_err());
}
