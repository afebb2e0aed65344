use super::*;

fn health(window_s: u64) -> ApiHealth {
    ApiHealth { window: Duration::from_secs(window_s), notes: Mutex::default() }
}

fn throttled(count: u64) -> Counts {
    Counts { throttled: count, ..Counts::default() }
}

#[test]
fn what_came_before_the_window_no_longer_counts() {
    let health = health(10);
    assert_eq!(health.lately("a", throttled(5)), throttled(5), "nothing was noted yet");
    for count in 0..u64::from(NOTES) + 3 {
        health.note(HashMap::from([("a".to_owned(), throttled(count * 10))]));
    }
    assert_eq!(health.lately("a", throttled(200)), throttled(200 - 30));
    assert_eq!(health.lately("b", throttled(7)), throttled(7), "an API that is new");
    assert_eq!(health.lately("a", throttled(0)), throttled(0), "an API that was away and counts anew");
}

#[test]
fn rates_are_cut_to_hundredths() {
    let health = health(60);
    assert_eq!([0, 1, 60, 100].map(|count| health.per_second(count)), [0.0, 0.01, 1.0, 1.66]);
}

#[test]
fn a_limit_is_no_failure_of_a_key() {
    for cause in ["auth_missing", "key_unknown", "key_expired", "api_disallowed"] {
        assert!(is_key_failure(cause), "{cause}");
    }
    for cause in ["key_rate_limit", "quota_exceeded", "api_rate_limit", "ip_disallowed"] {
        assert!(!is_key_failure(cause), "{cause}");
    }
}
