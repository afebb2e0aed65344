use super::*;

#[test]
fn known_seconds_have_their_dates() {
    for (unix_s, text) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.000Z"),
        (951_782_400, "2000-02-29T00:00:00.000Z"),
        (951_868_800, "2000-03-01T00:00:00.000Z"),
        (1_709_251_199, "2024-02-29T23:59:59.000Z"),
        (1_798_761_599, "2026-12-31T23:59:59.000Z"),
        (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        (253_402_300_799, "9999-12-31T23:59:59.000Z"),
        (253_402_300_800, "10000-01-01T00:00:00.000Z"),
    ] {
        assert_eq!(rfc3339(unix_s, 0), text);
    }
    assert_eq!(rfc3339(1, 987_654_321), "1970-01-01T00:00:01.987Z");
}

#[test]
fn a_writer_writes_what_a_single_time_is() {
    let (mut writer, mut out, mut expected) = (TimeWriter::default(), Vec::new(), String::new());
    for (unix_s, ns) in
        [(0, 0), (0, 999_999_999), (951_782_400, 7_000_000), (951_782_400, 42_000_000), (0, 0), (300_000_000_000, 1)]
    {
        writer.append(&mut out, unix_s, ns);
        expected += &rfc3339(unix_s, ns);
    }
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn days_follow_each_other() {
    let mut last = Moment::of(0);
    for day in 1..200_000 {
        let next = Moment::of(day * 86_400);
        let follows = (next.year == last.year && next.month == last.month && next.day == last.day + 1)
            || (next.day == 1
                && ((next.month == last.month + 1 && next.year == last.year) || (next.month == 1 && last.month == 12)));
        assert!(follows, "{last:?} {next:?}");
        last = next;
    }
}
