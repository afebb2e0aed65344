use super::*;
use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

/// Steps that a busy task takes from the moment a byte is written to another task until that task reads it.
fn steps_before_news(count: usize) -> u32 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default()).unwrap();
    runtime.block_on(async {
        let steps = Rc::new(Cell::new(0));
        for _ in 0..count {
            let steps = steps.clone();
            tokio::task::spawn_local(poll_fn(move |cx| {
                let mut turn = Turn::new();
                while turn.poll_step(cx).is_ready() {
                    steps.set(steps.get() + 1);
                }
                Poll::<()>::Pending
            }));
        }
        let (mut near, mut far) = UnixStream::pair().unwrap();
        let mut most = 0;
        for _ in 0..100 {
            let before = steps.get();
            near.write_all(b"x").await.unwrap();
            far.read_exact(&mut [0]).await.unwrap();
            most = most.max(steps.get() - before);
        }
        most
    })
}

#[test]
fn news_are_seen_after_each_busy_connection_had_a_turn() {
    for count in [1, 16, 100] {
        let most = steps_before_news(count);
        // The byte may arrive in the middle of one round, and is noticed at the end of the next.
        assert!(most <= 2 * STEPS * count as u32, "{most} steps of {count} connections");
    }
}

#[test]
fn a_turn_is_so_many_steps_and_the_next_one_as_many() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let turns = runtime.block_on(async {
        let mut turns = Vec::new();
        poll_fn(|cx| {
            let mut turn = Turn::new();
            let steps = std::iter::from_fn(|| turn.poll_step(cx).is_ready().then_some(())).count();
            turns.push(steps);
            if turns.len() < 3 { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        turns
    });
    assert_eq!(turns, [STEPS as usize; 3], "it is woken again without anybody else");
}
