use super::message;

#[test]
fn messages_are_those_of_tyk() {
    for (left_s, wanted) in [
        (3 * 24 * 3600 + 2 * 3600 + 59, "Certificate a.test is expiring in 3 days and 2 hours"),
        (24 * 3600, "Certificate a.test is expiring in 1 days"),
        (3599, "Certificate a.test is expiring in 0 hours"),
        (0, "Certificate a.test is expired since 0 hours"),
        (-25 * 3600, "Certificate a.test is expired since 1 days and 1 hours"),
        (-48 * 3600, "Certificate a.test is expired since 2 days"),
    ] {
        assert_eq!(message("a.test", left_s), wanted);
    }
}
