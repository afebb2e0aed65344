use super::{MODELS_MAX, Need, Rooms, SILENT_WAIT_MS, Ticket, WAIT_MS_MAX};
use tollgate_llm::{RateLimits, Window};

fn requests(limit: u64, remaining: u64, reset_ms: u64) -> RateLimits {
    let requests = Window { limit: Some(limit), remaining: Some(remaining), reset_ms: Some(reset_ms) };
    RateLimits { requests, ..RateLimits::default() }
}

#[test]
fn a_key_without_requests_left_has_room_again_little_by_little() {
    let rooms = Rooms::default();
    assert_eq!(rooms.wait_ms("m", Need::default(), 0), 0, "nothing is known");
    let ticket = rooms.send("m", Need::default(), 0);
    rooms.learn("m", ticket, &requests(60, 1, 59_000), false, 1_000);
    assert_eq!(rooms.wait_ms("m", Need::default(), 1_000), 0);
    rooms.send("m", Need::default(), 1_000);
    let wait_ms = rooms.wait_ms("m", Need::default(), 1_000);
    assert!((900..=1_000).contains(&wait_ms), "60 in a minute are one in a second: {wait_ms}");
    assert_eq!(rooms.wait_ms("m", Need::default(), 1_000 + wait_ms), 0);
    assert_eq!(rooms.wait_ms("other", Need::default(), 1_000), 0, "each model has its own");
    assert_eq!(rooms.wait_ms("m", Need::default(), 60_000), 0);
}

#[test]
fn what_was_sent_after_a_request_is_not_in_what_its_answer_tells() {
    let rooms = Rooms::default();
    let first = rooms.send("m", Need::default(), 0);
    rooms.learn("m", first, &requests(10, 4, 60_000), false, 0);
    let early = rooms.send("m", Need::default(), 0);
    let late: Vec<Ticket> = (0..3).map(|_| rooms.send("m", Need::default(), 0)).collect();
    rooms.learn("m", early, &requests(10, 3, 60_000), false, 0);
    assert!(rooms.wait_ms("m", Need::default(), 0) > 0, "the three others have it");
    rooms.learn("m", late[2], &requests(10, 1, 60_000), false, 0);
    assert_eq!(rooms.wait_ms("m", Need::default(), 0), 0);
}

#[test]
fn tokens_are_a_limit_of_their_own_and_large_requests_are_the_providers_to_refuse() {
    let rooms = Rooms::default();
    let tokens = Window { limit: Some(1_000), remaining: Some(300), reset_ms: Some(42_000) };
    let limits = RateLimits { input_tokens: tokens, ..RateLimits::default() };
    rooms.learn("m", Ticket::default(), &limits, false, 0);
    assert_eq!(rooms.wait_ms("m", Need { tokens: 300 }, 0), 0);
    assert!(rooms.wait_ms("m", Need { tokens: 400 }, 0) > 5_000);
    let whole = rooms.wait_ms("m", Need { tokens: 5_000_000 }, 0);
    assert!((41_000..=42_001).contains(&whole), "{whole}");
}

#[test]
fn a_refusal_rests_a_key_as_long_as_its_provider_says_within_reason() {
    let said = |retry_after_ms| RateLimits { retry_after_ms, ..RateLimits::default() };
    for (limits, expected) in [
        (said(Some(2_000)), 2_000),
        (said(Some(u64::MAX / 2)), WAIT_MS_MAX),
        (said(None), SILENT_WAIT_MS),
        // Too large for what is left, which others may use.
        (requests(60, 10, 1_000), 0),
    ] {
        let rooms = Rooms::default();
        rooms.learn("m", Ticket::default(), &limits, true, 500);
        assert_eq!(rooms.wait_ms("m", Need::default(), 500), expected, "{limits:?}");
        assert_eq!(rooms.wait_ms("m", Need::default(), 500 + expected), 0);
    }
}

#[test]
fn names_of_models_have_a_bound_and_those_with_the_longest_rest_stay() {
    let rooms = Rooms::default();
    let said = |ms| RateLimits { retry_after_ms: Some(ms), ..RateLimits::default() };
    rooms.learn("long", Ticket::default(), &said(500_000), true, 0);
    for number in 0..2 * MODELS_MAX {
        rooms.learn(&format!("m{number}"), Ticket::default(), &said(1_000), true, 0);
    }
    assert_eq!(rooms.rooms().len(), MODELS_MAX);
    assert_eq!(rooms.wait_ms("long", Need::default(), 0), 500_000);
    rooms.learn("new", Ticket::default(), &said(1_000), true, 2_000);
    assert_eq!(rooms.rooms().len(), 2, "what is whole again is forgotten");
}

#[test]
fn a_rest_is_told_once_and_one_that_another_gateway_tells_is_kept_within_reason() {
    let said = |ms| RateLimits { retry_after_ms: Some(ms), ..RateLimits::default() };
    let rooms = Rooms::default();
    assert_eq!(rooms.learn("m", Ticket::default(), &said(5_000), true, 100), Some(5_000));
    assert_eq!(rooms.learn("m", Ticket::default(), &said(5_000), true, 200), None, "the others know");
    assert_eq!(rooms.learn("m", Ticket::default(), &said(u64::MAX), true, 9_000), Some(WAIT_MS_MAX));
    assert_eq!(rooms.learn("other", Ticket::default(), &requests(60, 1, 59_000), false, 0), None, "it is no refusal");

    let rooms = Rooms::default();
    rooms.rest("m", 5_000, 100);
    assert_eq!((rooms.wait_ms("m", Need::default(), 100), rooms.wait_ms("other", Need::default(), 100)), (5_000, 0));
    rooms.rest("m", 1_000, 200);
    assert_eq!(rooms.wait_ms("m", Need::default(), 200), 4_900, "the longer one counts");
    rooms.rest("n", u64::MAX, 0);
    assert_eq!(rooms.wait_ms("n", Need::default(), 0), WAIT_MS_MAX);
}
