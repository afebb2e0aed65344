use super::{BREAK_MS, FAILURES_MAX, Standing, WAIT_MS_MAX};

#[test]
fn a_provider_is_left_alone_after_failures_in_a_row() {
    let standing = Standing::default();
    for _ in 1..FAILURES_MAX {
        standing.fail(100);
    }
    assert_eq!(standing.left_ms(100), 0);
    standing.succeed();
    standing.fail(100);
    assert_eq!(standing.left_ms(100), 0, "an answer ends the row");
    (1..FAILURES_MAX).for_each(|_| standing.fail(100));
    assert_eq!(standing.left_ms(100), BREAK_MS);
    assert_eq!(standing.left_ms(100 + BREAK_MS), 0);
    standing.fail(200 + BREAK_MS);
    assert_eq!(standing.left_ms(200 + BREAK_MS), BREAK_MS, "one more failure and it is left alone again");
}

#[test]
fn a_provider_is_left_alone_as_long_as_it_says_within_reason() {
    let standing = Standing::default();
    standing.wait(0, 2_000);
    standing.wait(0, 1_000);
    assert_eq!((standing.left_ms(0), standing.left_ms(1_500), standing.left_ms(2_000)), (2_000, 500, 0));
    standing.wait(0, u64::MAX);
    assert_eq!(standing.left_ms(0), WAIT_MS_MAX);
}
