use super::*;
use crate::record::Text;
use std::sync::Mutex;

/// What a sink saw: the status of a record, or a flush and whether it was the last.
#[derive(Debug, PartialEq)]
enum Seen {
    Record(u16, i64),
    Flush(bool),
}

struct Witness(Arc<Mutex<Vec<Seen>>>);

impl RecordWriter for Witness {
    fn take(&mut self, hit: &RecordRef<'_>) {
        self.0.lock().unwrap().push(Seen::Record(hit.record.status, hit.time.unix_s));
    }

    fn flush(&mut self, last: bool) {
        self.0.lock().unwrap().push(Seen::Flush(last));
    }
}

fn recorder() -> (Recorder, Arc<Mutex<Vec<Seen>>>, Arc<Counter>) {
    let (seen, recorded) = (Arc::default(), Arc::<Counter>::default());
    let witness: Box<dyn RecordWriter> = Box::new(Witness(Arc::clone(&seen)));
    (Recorder::new(vec![witness], None, recorded.clone()), seen, recorded)
}

#[test]
fn sinks_see_each_record_with_its_time_and_the_end() {
    let (recorder, seen, recorded) = recorder();
    for (status, ended_ns) in [(200, 5_001_000_000), (404, 4_000_000_000)] {
        let mut record = recorder.blank();
        record.status = status;
        recorder.take(record, &ApiMetadata::default(), "", ended_ns);
    }
    drop(recorder);
    assert_eq!(*seen.lock().unwrap(), [Seen::Record(200, 5), Seen::Record(404, 4), Seen::Flush(true)]);
    assert_eq!(recorded.get(), 2);
}

#[test]
fn what_was_gathered_is_handed_over_once_a_second() {
    let (recorder, seen, _) = recorder();
    recorder.tick();
    assert!(seen.lock().unwrap().is_empty());
    recorder.flushed.set(recorder.flushed.get() - FLUSH_EVERY);
    recorder.tick();
    recorder.tick();
    assert_eq!(*seen.lock().unwrap(), [Seen::Flush(false)]);
}

#[test]
fn memory_is_used_again() {
    let (recorder, ..) = recorder();
    let mut record = recorder.blank();
    record.status = 200;
    record.write(Text::Method, b"GET");
    let place = std::ptr::from_ref(&*record);
    recorder.take(record, &ApiMetadata::default(), "", 0);
    let again = recorder.blank();
    assert_eq!(std::ptr::from_ref(&*again), place, "the same memory");
    assert_eq!((again.status, again.bytes(Text::Method)), (0, b"".as_slice()));
}
