use super::milliseconds;

#[test]
fn durations_have_hours_minutes_seconds_and_milliseconds() {
    for (written, expected) in
        [("0s", Some(0)), ("500ms", Some(500)), ("1h30m10s5ms", Some(5_410_005)), ("5", None), ("s", None), ("1d", None)]
    {
        assert_eq!(milliseconds(written).ok(), expected, "{written}");
    }
}
