use super::*;

fn rfc3339_ms(unix_s: i64, ns: u32) -> String {
    let mut out = Vec::new();
    append_rfc3339_ms(&mut out, unix_s, ns);
    String::from_utf8(out).unwrap()
}

#[test]
fn known_seconds_have_their_dates() {
    for (unix_s, text) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (951_868_800, "2000-03-01T00:00:00Z"),
        (1_709_251_199, "2024-02-29T23:59:59Z"),
        (1_798_761_599, "2026-12-31T23:59:59Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
    ] {
        assert_eq!(rfc3339(unix_s as u64), text);
        assert_eq!(rfc3339_ms(unix_s, 0), text.replace('Z', ".000Z"));
        assert_eq!(parse(text), Some(unix_s));
    }
    assert_eq!(rfc3339_ms(-1, 0), "1969-12-31T23:59:59.000Z");
    assert_eq!(rfc3339_ms(1, 987_654_321), "1970-01-01T00:00:01.987Z");
    assert_eq!(rfc3339_ms(1, 999_999_999), "1970-01-01T00:00:01.999Z", "cut, not rounded");
}

#[test]
fn a_time_beyond_the_last_year_is_the_last_moment() {
    for unix_s in [253_402_300_800, i64::MAX] {
        assert_eq!(rfc3339(unix_s as u64), "9999-12-31T23:59:59Z");
        assert_eq!(rfc3339_ms(unix_s, 999_000_000), "9999-12-31T23:59:59.999Z");
    }
}

#[test]
fn dates_are_read_with_and_without_time_and_offset() {
    for (text, unix_s) in [
        ("2030-01-31", 1_896_048_000),
        ("2030-01-31T12:00:00", 1_896_091_200),
        ("2030-01-31 12:00:00", 1_896_091_200),
        ("2030-01-31T12:00:00.5Z", 1_896_091_200),
        ("2030-01-31T12:00:00+02:00", 1_896_084_000),
        ("2030-01-31T12:00:00-02:00", 1_896_098_400),
        ("9999-12-31", 253_402_214_400),
    ] {
        assert_eq!(parse(text), Some(unix_s), "{text}");
    }
    for text in ["", "never", "2030-02-30", "2030-13-01", "2030-01-31T24:00:00Z", "2030-01-31T", "2030"] {
        assert_eq!(parse(text), None, "{text}");
    }
}

#[test]
fn times_are_written_as_go_writes_them() {
    for (unix_s, ns, wanted) in [
        (0, 0, "1970-01-01 00:00:00 +0000 UTC"),
        (1_763_774_611, 120_000_000, "2025-11-22 01:23:31.12 +0000 UTC"),
        (1_763_774_611, 123_456_789, "2025-11-22 01:23:31.123456789 +0000 UTC"),
    ] {
        assert_eq!(super::go_text(unix_s, ns), wanted);
    }
}
