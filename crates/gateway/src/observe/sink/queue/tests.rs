use super::*;
use std::thread;

const LONG: Duration = Duration::from_secs(20);

#[test]
fn items_come_out_in_order_as_long_as_there_is_room() {
    let (inlet, outlet) = queue(2);
    assert_eq!([1, 2, 3].map(|item| inlet.give(item)), [true, true, false]);
    assert_eq!(outlet.take(LONG), Ok(1));
    assert!(inlet.give(4));
    assert_eq!((outlet.take(LONG), outlet.take(LONG)), (Ok(2), Ok(4)));
    assert_eq!(outlet.take(Duration::ZERO), Err(RecvTimeoutError::Timeout));
}

#[test]
fn what_is_in_it_comes_out_after_the_last_inlet_is_gone() {
    let (inlet, outlet) = queue(2);
    let other = inlet.clone();
    drop(inlet);
    assert_eq!(outlet.take(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    assert!(other.give(1));
    drop(other);
    assert_eq!((outlet.take(LONG), outlet.take(LONG)), (Ok(1), Err(RecvTimeoutError::Disconnected)));
}

#[test]
fn nobody_gives_to_nobody() {
    let (inlet, outlet) = queue(2);
    drop(outlet);
    assert!(!inlet.give(1));
}

#[test]
fn who_waits_is_woken_by_an_item_and_by_the_end() {
    let (inlet, outlet) = queue(1);
    let waits = thread::spawn(move || (outlet.take(LONG), outlet.take(LONG)));
    thread::sleep(Duration::from_millis(20));
    assert!(inlet.give(1));
    thread::sleep(Duration::from_millis(20));
    drop(inlet);
    assert_eq!(waits.join().unwrap(), (Ok(1), Err(RecvTimeoutError::Disconnected)));
}
