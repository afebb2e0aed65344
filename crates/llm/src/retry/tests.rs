use super::{RateLimits, Window};

/// 2026-01-02T03:04:05Z
const NOW: u64 = 1_767_323_045_000;

#[test]
fn headers_of_openai() {
    let headers = [
        ("X-RateLimit-Limit-Requests", "60"),
        ("x-ratelimit-remaining-requests", "59"),
        ("x-ratelimit-reset-requests", "1m0.5s"),
        ("x-ratelimit-limit-tokens", "150000"),
        ("x-ratelimit-remaining-tokens", "149984"),
        ("x-ratelimit-reset-tokens", "20ms"),
        ("retry-after", "2"),
        ("retry-after-ms", "1500"),
    ];
    let limits = RateLimits::read(headers, NOW);
    assert_eq!(limits.requests, Window { limit: Some(60), remaining: Some(59), reset_ms: Some(60_500) });
    assert_eq!(limits.tokens, Window { limit: Some(150_000), remaining: Some(149_984), reset_ms: Some(20) });
    assert_eq!(limits.retry_after_ms, Some(1_500));
}

#[test]
fn headers_of_anthropic() {
    let headers = [
        ("anthropic-ratelimit-input-tokens-limit", "1000"),
        ("anthropic-ratelimit-input-tokens-remaining", "0"),
        ("anthropic-ratelimit-input-tokens-reset", "2026-01-02T03:05:05Z"),
        ("anthropic-ratelimit-requests-remaining", "4"),
    ];
    let limits = RateLimits::read(headers, NOW);
    assert_eq!(limits.input_tokens, Window { limit: Some(1_000), remaining: Some(0), reset_ms: Some(60_000) });
    assert_eq!(limits.requests.remaining, Some(4));
}

#[test]
fn times_to_wait() {
    for (value, ms) in [
        ("0", Some(0)),
        ("1.5", Some(1_500)),
        ("Fri, 02 Jan 2026 03:04:15 GMT", Some(10_000)),
        ("Fri, 02 Jan 2026 03:04:00 GMT", Some(0)),
        ("99999999999999999999", Some(86_400_000)),
        ("-1", None),
        ("NaN", None),
        ("soon", None),
    ] {
        assert_eq!(RateLimits::read([("Retry-After", value)], NOW).retry_after_ms, ms, "{value}");
    }
}
