use super::CivilDateTime;

#[test]
fn seconds_become_the_calendar_s_dates() {
    for (seconds, expected) in [
        (0, "1970-01-01 00:00:00"),
        (951_782_399, "2000-02-28 23:59:59"),
        (951_782_400, "2000-02-29 00:00:00"),
        (951_868_800, "2000-03-01 00:00:00"),
        (1_586_203_238, "2020-04-06 20:00:38"),
        (4_107_542_400, "2100-03-01 00:00:00"),
    ] {
        assert_eq!(CivilDateTime::from_unix(seconds).to_string(), expected, "{seconds}");
    }
    assert_eq!(CivilDateTime::from_unix(1_586_203_238).compact(), "20200406-200038");
}
