//! From a core to the aggregator and back: full records one way, empty ones the other. Neither side waits: what finds the ring full is
//! dropped and counted.

use super::record::Record;
use rtrb::{Consumer, Producer, RingBuffer};
use std::cell::RefCell;
use std::sync::Arc;
use tollgate_engine::Counter;

/// A core's end.
pub struct Recorder {
    full: RefCell<Producer<Box<Record>>>,
    empty: RefCell<Consumer<Box<Record>>>,
    figures: Arc<RingFigures>,
}

/// The aggregator's end.
pub struct Drain {
    full: Consumer<Box<Record>>,
    empty: Producer<Box<Record>>,
}

/// What a core counts of its records.
#[derive(Default)]
pub struct RingFigures {
    pub recorded: Counter,
    pub dropped: Counter,
}

/// A ring for this many records.
pub fn ring(records_max: usize, figures: Arc<RingFigures>) -> (Recorder, Drain) {
    let (full, drained) = RingBuffer::new(records_max);
    let (spares, empty) = RingBuffer::new(records_max);
    let recorder = Recorder { full: RefCell::new(full), empty: RefCell::new(empty), figures };
    (recorder, Drain { full: drained, empty: spares })
}

impl Recorder {
    /// An empty record.
    #[inline]
    pub fn blank(&self) -> Box<Record> {
        self.empty.borrow_mut().pop().unwrap_or_default()
    }

    /// Hands a record over.
    #[inline]
    pub fn push(&self, record: Box<Record>) {
        match self.full.borrow_mut().push(record) {
            Ok(()) => self.figures.recorded.add(1),
            Err(_) => self.figures.dropped.add(1),
        }
    }
}

impl Drain {
    /// Shows the records that wait now, and takes them back empty. How many there were.
    pub fn each(&mut self, mut see: impl FnMut(&mut Record)) -> usize {
        let waiting = self.full.slots();
        for _ in 0..waiting {
            let Ok(mut record) = self.full.pop() else { break };
            see(&mut record);
            record.clear();
            // Without room the record is let go.
            let _ = self.empty.push(record);
        }
        waiting
    }
}

#[cfg(test)]
mod tests;
