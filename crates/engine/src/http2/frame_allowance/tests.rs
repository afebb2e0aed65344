use super::*;

fn control(control: u32) -> FrameCounts {
    FrameCounts { control, ..FrameCounts::default() }
}

fn large_head(bytes: usize) -> FrameCounts {
    FrameCounts { large_heads: bytes, ..FrameCounts::default() }
}

/// How many consecutive frames are accepted.
fn taken(allowance: &FrameAllowance, now_ms: u64) -> u32 {
    (0..FRAMES_EARNED_MAX + 1)
        .take_while(|_| {
            allowance.count(control(1), now_ms);
            !allowance.is_over()
        })
        .count() as u32
}

#[test]
fn a_client_that_does_no_work_has_a_bound() {
    assert_eq!(taken(&FrameAllowance::new(0), 0), FRAMES_MAX);
    // Elapsed time does not accumulate.
    assert_eq!(taken(&FrameAllowance::new(0), 3_600_000), FRAMES_MAX);
}

#[test]
fn pings_now_and_then_go_on_for_ever() {
    let allowance = FrameAllowance::new(0);
    for second in 0..100_000 {
        allowance.count(control(90), second * 1000);
    }
    assert!(!allowance.is_over());
}

#[test]
fn requests_and_content_earn_what_comes_with_them() {
    let requests = FrameAllowance::new(0);
    (0..10_000).for_each(|_| {
        requests.earn_request(|| 0);
        requests.count(control(FRAMES_PER_REQUEST), 0);
    });
    assert!(!requests.is_over());
    // A client that sends both window updates for every 4 KiB of a download.
    let download = FrameAllowance::new(0);
    (0..16 * 1024 / 64).for_each(|_| download.earn_piece(64 * 1024));
    download.count(control(2 * 16 * 1024 / 4), 0);
    assert!(!download.is_over());
    // A client that sends both for each message of a few bytes.
    let messages = FrameAllowance::new(0);
    (0..50_000).for_each(|_| {
        messages.earn_piece(15);
        messages.count(control(2), 0);
    });
    assert!(!messages.is_over());
    // A client that uploads content.
    let upload = FrameAllowance::new(0);
    (0..50_000).for_each(|_| upload.count(FrameCounts { data: 1, ..control(1) }, 0));
    assert!(!upload.is_over());
}

#[test]
fn what_was_earned_has_a_bound() {
    let allowance = FrameAllowance::new(0);
    allowance.earn_piece(usize::MAX);
    assert_eq!(taken(&allowance, 0), FRAMES_EARNED_MAX);
}

#[test]
fn large_heads_are_free_once_they_are_requests() {
    let allowance = FrameAllowance::new(0);
    for _ in 0..10_000 {
        allowance.count(large_head(30_000), 0);
        allowance.earn_request(|| 40_000);
    }
    assert!(!allowance.is_over());
    let allowance = FrameAllowance::new(0);
    // The heads are too large to become requests.
    let refused = (0..100).take_while(|_| {
        allowance.count(large_head(30_000), 3_600_000);
        !allowance.is_over()
    });
    assert!(refused.count() < 100);
}
