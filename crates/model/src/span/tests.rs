use std::time::Duration;

use super::{parse_span, seconds};

#[test]
fn go_durations_are_read() {
    for (text, ms) in [
        ("500ms", 500),
        ("1m30s", 90_000),
        ("1.5s", 1_500),
        (".5s", 500),
        ("1h0m0s", 3_600_000),
        ("2000us", 2),
        ("2000\u{b5}s", 2),
        ("0", 0),
        ("+1s", 1_000),
    ] {
        assert_eq!(parse_span(text), Some(Duration::from_millis(ms)), "{text}");
    }
}

#[test]
fn anything_else_is_not_a_duration() {
    for text in ["", "5", "s", "1 s", "-1s", "1d", "1..2s", "1e9h", "99999999999h", "1s5"] {
        assert_eq!(parse_span(text), None, "{text}");
    }
    assert_eq!(seconds(0.25), Some(Duration::from_millis(250)));
    for number in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
        assert_eq!(seconds(number), None);
    }
}
