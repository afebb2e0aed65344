use super::*;
use crate::observe::record::Text;

#[test]
fn a_full_ring_drops_and_counts() {
    let figures = Arc::new(RingFigures::default());
    let (recorder, mut drain) = ring(4, figures.clone());
    for number in 0..10 {
        let mut record = recorder.blank();
        record.status = number;
        recorder.push(record);
    }
    assert_eq!((figures.recorded.get(), figures.dropped.get()), (4, 6));
    let mut seen = Vec::new();
    assert_eq!(drain.each(|record| seen.push(record.status)), 4);
    assert_eq!(seen, [0, 1, 2, 3]);
    recorder.push(recorder.blank());
    assert_eq!(drain.each(|_| ()), 1);
}

#[test]
fn records_come_back_empty() {
    let (recorder, mut drain) = ring(2, Arc::default());
    let mut record = recorder.blank();
    record.status = 200;
    record.write(Text::Method, &[b"GET"]);
    let place = std::ptr::from_ref(&*record);
    recorder.push(record);
    drain.each(|_| ());
    let again = recorder.blank();
    assert_eq!(std::ptr::from_ref(&*again), place, "the same memory");
    assert_eq!((again.status, again.bytes(Text::Method)), (0, b"".as_slice()));
}
