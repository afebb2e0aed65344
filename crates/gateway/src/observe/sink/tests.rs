use super::*;
use std::sync::mpsc::channel;

#[test]
fn a_slow_sink_loses_what_its_counter_says() {
    let figures = SinkFigures::new("test");
    let (permit, wait) = channel::<()>();
    let (entered, begins) = channel::<()>();
    let mut handoff = Handoff::start(figures.clone(), move |_: u64| {
        let _ = entered.send(());
        let _ = wait.recv();
        Ok(())
    })
    .unwrap();
    handoff.give(0, 1);
    begins.recv().unwrap();
    // One is being written and the queue is full: the rest goes.
    for batch in 0..(BATCHES_MAX as u64 + 5) {
        handoff.give(batch, 10);
    }
    assert_eq!(figures.dropped.load(Ordering::Relaxed), 50);
    assert_eq!(figures.waiting.load(Ordering::Relaxed), 1 + 10 * BATCHES_MAX as u64);
    drop(permit);
    drop(handoff);
    assert_eq!(figures.written.load(Ordering::Relaxed), 1 + 10 * BATCHES_MAX as u64);
    assert_eq!(figures.waiting.load(Ordering::Relaxed), 0);
}

#[test]
fn what_can_not_be_written_is_counted() {
    let figures = SinkFigures::new("test");
    let mut handoff = Handoff::start(figures.clone(), |good: bool| if good { Ok(()) } else { Err("no".to_owned()) }).unwrap();
    handoff.give(true, 3);
    handoff.give(false, 4);
    drop(handoff);
    assert_eq!(figures.written.load(Ordering::Relaxed), 3);
    assert_eq!(figures.failed.load(Ordering::Relaxed), 4);
}
