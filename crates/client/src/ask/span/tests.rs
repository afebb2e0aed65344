use super::*;

#[test]
fn spans_are_seconds_or_have_a_unit() {
    for (text, seconds) in [("60", Ok(60)), ("90s", Ok(90)), ("15m", Ok(900)), ("24h", Ok(86_400)), ("30d", Ok(2_592_000))] {
        assert_eq!(whole_seconds(text), seconds, "{text}");
    }
    for wrong in ["", "0", "-1", "0s", "nan", "inf", "1e400", "soon", "5 parsecs", "0.5"] {
        assert!(whole_seconds(wrong).is_err(), "{wrong}");
    }
    assert_eq!(super::seconds("0.5"), Ok(0.5));
}

#[test]
fn an_end_is_a_span_a_date_or_never() {
    for (text, end) in [
        ("never", Ok(SpanEnd::Never)),
        ("30d", Ok(SpanEnd::After(2_592_000))),
        ("2030-01-01", Ok(SpanEnd::At(1_893_456_000))),
        ("2030-01-01T00:00:01Z", Ok(SpanEnd::At(1_893_456_001))),
        ("2030-01-01 00:00:01", Ok(SpanEnd::At(1_893_456_001))),
        ("2030-01-01T01:00:01+01:00", Ok(SpanEnd::At(1_893_456_001))),
    ] {
        assert_eq!(SpanEnd::parse(text), end, "{text}");
    }
    for wrong in ["", "tomorrow", "2030-13-01", "2030-1-1", "1969-12-31", "0", "-5"] {
        assert!(SpanEnd::parse(wrong).is_err(), "{wrong}");
    }
    assert_eq!((SpanEnd::Never.unix_s(10), SpanEnd::After(5).unix_s(10), SpanEnd::At(7).unix_s(10)), (0, 15, 7));
}

#[test]
fn moments_are_shown_with_their_distance() {
    assert_eq!(moment(0, 100), "never");
    assert_eq!(moment(-1, 100), "never");
    assert_eq!(moment(1_893_456_000, 1_893_456_000 - 86_400), "2030-01-01T00:00:00Z (in 1 d)");
    assert_eq!(moment(1_893_456_000, 1_893_456_090), "2030-01-01T00:00:00Z (90 s ago)");
    assert_eq!(moment(i64::MAX, 100), "never");
}
