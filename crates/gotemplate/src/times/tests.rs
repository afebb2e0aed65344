use super::rfc3339;

#[test]
fn only_times_as_go_prints_them_are_times() {
    for (time, wanted) in [
        ("2026-01-02 03:04:05.678901 +0000 UTC", Some("2026-01-02T03:04:05Z")),
        ("2026-01-02 03:04:05 +0000 UTC", Some("2026-01-02T03:04:05Z")),
        ("2026-01-02 03:04:05.6 -0330 NST m=+0.1", Some("2026-01-02T03:04:05-03:30")),
        ("2026-01-02T03:04:05Z", None),
        ("2026-01-02 03:04 +0000 UTC", None),
        ("2026-01-02 03:04:05 UTC", None),
        ("2026-01-02 03:04:05 é0000 UTC", None),
        ("", None),
    ] {
        assert_eq!(rfc3339(time).as_deref(), wanted, "{time}");
    }
}
