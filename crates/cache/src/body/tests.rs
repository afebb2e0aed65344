use super::{BodyRead, PushError, SpanReader, StoredBody};
use crate::budget::{CacheBudget, MemoryCharge};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

struct Counter(AtomicUsize);

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn counter() -> (Arc<Counter>, Waker) {
    let counter = Arc::new(Counter(AtomicUsize::new(0)));
    (Arc::clone(&counter), Waker::from(counter))
}

fn body(declared: Option<u64>) -> (Arc<CacheBudget>, Arc<StoredBody>) {
    let budget = CacheBudget::new(1 << 20);
    let charge = MemoryCharge::take(&budget, declared.map_or(0, StoredBody::bytes_max)).unwrap();
    (budget, Arc::new(StoredBody::new(declared, charge)))
}

fn read(reader: &mut SpanReader) -> (Vec<u8>, BodyRead) {
    let mut all = Vec::new();
    loop {
        match reader.next(Waker::noop()) {
            BodyRead::Data(bytes) => all.extend_from_slice(&bytes),
            other => return (all, other),
        }
    }
}

#[test]
fn a_reader_sees_the_bytes_as_they_come() {
    let (_, body) = body(Some(9));
    let (count, waker) = counter();
    let mut reader = SpanReader::new(Arc::clone(&body), 0, None);
    assert_eq!(reader.next(&waker), BodyRead::Pending);
    assert_eq!(reader.next(&waker), BodyRead::Pending);
    body.push(b"one", u64::MAX).unwrap();
    assert_eq!(count.0.load(Ordering::SeqCst), 1, "woken once, though it asked twice");
    assert_eq!(reader.next(&waker), BodyRead::Data("one".into()));
    body.push(b"two", u64::MAX).unwrap();
    body.push(b"six", u64::MAX).unwrap();
    assert_eq!(read(&mut reader), (b"twosix".to_vec(), BodyRead::Pending));
    assert!(body.finish());
    assert_eq!(reader.next(&waker), BodyRead::End);
    assert_eq!(read(&mut SpanReader::new(Arc::clone(&body), 0, None)), (b"onetwosix".to_vec(), BodyRead::End));
    assert_eq!(read(&mut SpanReader::new(body, 2, Some(5))), (b"etw".to_vec(), BodyRead::End));
}

#[test]
fn a_cut_body_is_never_complete() {
    for declared in [None, Some(6)] {
        let (_, body) = body(declared);
        let mut reader = SpanReader::new(Arc::clone(&body), 0, None);
        body.push(b"one", u64::MAX).unwrap();
        body.cut();
        assert_eq!(read(&mut reader), (b"one".to_vec(), BodyRead::Cut));
        assert_eq!(body.push(b"two", u64::MAX), Err(PushError::Ended));
        assert!(!body.finish());
        assert_eq!(body.copy(), None);
    }
}

#[test]
fn the_declared_length_must_come_exactly() {
    let (_, short) = body(Some(4));
    short.push(b"one", u64::MAX).unwrap();
    assert!(!short.finish());
    let (_, long) = body(Some(2));
    assert_eq!(long.push(b"one", u64::MAX), Err(PushError::TooLong));
    let (_, empty) = body(Some(0));
    assert!(empty.finish());
    assert_eq!(read(&mut SpanReader::new(empty, 0, None)), (Vec::new(), BodyRead::End));
}

#[test]
fn a_body_that_trickles_in_costs_little_more_than_its_bytes() {
    let (budget, body) = body(None);
    for _ in 0..100_000 {
        body.push(b"x", u64::MAX).unwrap();
    }
    assert!(body.finish());
    assert!(body.weight() < 103_000, "{}", body.weight());
    assert_eq!(budget.used(), body.weight());
    drop(body);
    assert_eq!(budget.used(), 0);
}

#[test]
fn a_body_stays_within_its_bounds() {
    let (_, large) = body(None);
    assert_eq!(large.push(&[0; 11], 10), Err(PushError::TooLarge));
    let (budget, greedy) = body(None);
    assert_eq!(greedy.push(&vec![0; 1 << 20], u64::MAX), Err(PushError::NoMemory));
    assert_eq!(budget.used(), 0);
}

#[test]
fn readers_on_other_threads_get_every_byte() {
    let (_, body) = body(Some(1000 * 1000));

    let readers: Vec<_> = (0..8)
        .map(|_| {
            let mut reader = SpanReader::new(Arc::clone(&body), 0, None);
            std::thread::spawn(move || {
                struct Unpark(std::thread::Thread);
                impl Wake for Unpark {
                    fn wake(self: Arc<Self>) {
                        self.0.unpark();
                    }
                }
                let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
                let mut all = Vec::new();
                loop {
                    match reader.next(&waker) {
                        BodyRead::Data(bytes) => all.extend_from_slice(&bytes),
                        BodyRead::Pending => std::thread::park(),
                        end => return (all, end),
                    }
                }
            })
        })
        .collect();
    let sent: Vec<u8> = (0..1000_u32).flat_map(|round| vec![(round % 251) as u8; 1000]).collect();
    sent.chunks(1000).for_each(|chunk| body.push(chunk, u64::MAX).unwrap());
    assert!(body.finish());
    for reader in readers {
        let (all, end) = reader.join().unwrap();
        assert_eq!(end, BodyRead::End);
        assert!(all == sent, "{} bytes of {}", all.len(), sent.len());
    }
}
