use super::*;
use std::sync::mpsc::channel;

const ROOM: SinkRoom = SinkRoom { batches: 8, records: 1_000 };
const PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn a_slow_sink_loses_what_its_counter_says() {
    let figures = SinkFigures::new("test");
    let (permit, wait) = channel::<()>();
    let (entered, begins) = channel::<()>();
    let write = move |_: u64| {
        let _ = entered.send(());
        let _ = wait.recv();
        Ok(())
    };
    let (mut handoff, writer) = BatchSender::start(figures.clone(), ROOM, write).unwrap();
    handoff.give(0, 1);
    begins.recv().unwrap();
    // One batch is being written and the queue is full: the rest is dropped.
    for batch in 0..(ROOM.batches as u64 + 5) {
        handoff.give(batch, 10);
    }
    let expected = 1 + 10 * ROOM.batches as u64;
    assert_eq!(figures.dropped.load(Ordering::Relaxed), 50);
    assert_eq!(figures.waiting.load(Ordering::Relaxed), expected);
    drop(permit);
    drop(handoff);
    writer.wait(PATIENCE);
    assert_eq!(figures.written.load(Ordering::Relaxed), expected);
    assert_eq!(figures.waiting.load(Ordering::Relaxed), 0);
}

#[test]
fn only_so_many_records_wait_but_one_batch_always_may() {
    let figures = SinkFigures::new("test");
    let (permit, wait) = channel::<()>();
    let write = move |_: ()| {
        let _ = wait.recv();
        Ok(())
    };
    let (mut handoff, writer) = BatchSender::start(figures.clone(), ROOM, write).unwrap();
    let other_core = handoff.clone();
    assert!(handoff.give((), 5_000));
    assert!(!handoff.give((), 1));
    assert_eq!(figures.dropped.load(Ordering::Relaxed), 1);
    drop(permit);
    drop((handoff, other_core));
    writer.wait(PATIENCE);
    assert_eq!(figures.written.load(Ordering::Relaxed), 5_000);
}

#[test]
fn what_can_not_be_written_is_counted() {
    let figures = SinkFigures::new("test");
    let write = |good: bool| if good { Ok(()) } else { Err("no".to_owned()) };
    let (mut handoff, writer) = BatchSender::start(figures.clone(), ROOM, write).unwrap();
    handoff.give(true, 3);
    handoff.give(false, 4);
    drop(handoff);
    writer.wait(PATIENCE);
    assert_eq!(figures.written.load(Ordering::Relaxed), 3);
    assert_eq!(figures.failed.load(Ordering::Relaxed), 4);
}
