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
                let mut turn = Turn::new(None);
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
            let mut turn = Turn::new(None);
            let steps = std::iter::from_fn(|| turn.poll_step(cx).is_ready().then_some(())).count();
            turns.push(steps);
            if turns.len() < 3 { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        turns
    });
    assert_eq!(turns, [STEPS as usize; 3], "it is woken again without anybody else");
}

/// Runs tasks that each want to move `bytes` in pieces of 64 KiB, all at once; returns what was moved in each round of the runtime, by client.
/// `streams` tasks belong to one client.
fn rounds(clients: usize, streams: usize, bytes: usize) -> Vec<Vec<usize>> {
    const PIECE: usize = 64 * 1024;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default()).unwrap();
    runtime.block_on(async {
        let moved = Rc::new(Cell::new(vec![0usize; clients]));
        let left = Rc::new(Cell::new(clients * streams));
        for client in 0..clients {
            let shared = (streams > 1).then(|| Rc::new(SharedTurn::default()));
            for _ in 0..streams {
                let (moved, left) = (moved.clone(), left.clone());
                let (mut turn, mut own) = (Turn::new(shared.clone()), bytes);
                tokio::task::spawn_local(poll_fn(move |cx| {
                    turn.begin();
                    while own > 0 {
                        if turn.poll_step(cx).is_pending() {
                            return Poll::Pending;
                        }
                        turn.moved(PIECE);
                        own -= PIECE;
                        let mut now = moved.take();
                        now[client] += PIECE;
                        moved.set(now);
                    }
                    left.set(left.get() - 1);
                    Poll::Ready(())
                }));
            }
        }
        let mut rounds = Vec::new();
        while left.get() > 0 {
            tokio::task::yield_now().await;
            rounds.push(moved.replace(vec![0; clients]));
        }
        rounds
    })
}

#[test]
fn a_round_moves_at_most_two_reads_of_each_connection() {
    for clients in [1, 8, 100] {
        let rounds = rounds(clients, 1, 1024 * 1024);
        let most = rounds.iter().flatten().max().unwrap();
        assert_eq!(*most, TURN_BYTES as usize, "{clients} clients");
        assert_eq!(rounds.iter().flatten().sum::<usize>(), clients * 1024 * 1024);
    }
}

#[test]
fn the_streams_of_a_client_together_move_no_more_than_its_turn() {
    // What one task in a round may finish that the count of another cannot stop: the piece under way.
    let bound = SHARED_TURN_BYTES as usize + 64 * 1024;
    for (clients, streams) in [(1, 200), (20, 200), (4, 2)] {
        let rounds = rounds(clients, streams, 256 * 1024);
        let most = rounds.iter().flatten().max().unwrap();
        assert!(*most <= bound, "{clients} clients with {streams} streams: {most} bytes in one round");
        assert_eq!(rounds.iter().flatten().sum::<usize>(), clients * streams * 256 * 1024, "nothing starves");
    }
}

#[test]
fn many_small_requests_of_one_client_do_not_end_its_turn() {
    let shared = Rc::new(SharedTurn::default());
    let mut cx = Context::from_waker(std::task::Waker::noop());
    for request in 0..200 {
        let mut turn = Turn::new(Some(shared.clone()));
        turn.begin();
        for step in 0..4 {
            assert!(turn.poll_step(&mut cx).is_ready(), "request {request}, step {step}");
        }
        turn.moved(1024);
    }
}
