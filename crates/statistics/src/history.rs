//! The last hour in samples of five seconds: totals and the busiest APIs. A sample is a compact block of bytes with a fixed maximum, so that
//! all together never exceed two MiB. A time without a sample is a gap, not zero.

mod codec;
mod span;

use crate::figures::Figures;
use codec::{Reader, write};
pub use span::{HistorySpan, SpanQuestion};
use std::collections::{HashMap, VecDeque};

/// Seconds of one sample.
pub const STEP_S: u64 = 5;
/// Samples that are kept: one hour.
pub const SLOTS: usize = 720;
/// APIs of one sample.
pub const APIS_MAX: usize = 50;
/// Bytes of all samples together: a process can spare them, and an answer of this size loads in a moment.
const BYTES_MAX: usize = 2 << 20;
/// Bytes of one sample. One API takes about 35, so 50 of them have room.
const SAMPLE_BYTES_MAX: usize = BYTES_MAX / SLOTS;

/// The samples, oldest first.
#[derive(Default)]
pub struct History {
    samples: VecDeque<HistorySample>,
    names: Names,
}

/// One sample.
struct HistorySample {
    /// Unix time divided by [`STEP_S`].
    slot: u64,
    /// Whether every API that did something is in it.
    is_complete: bool,
    /// The totals, then the APIs: the place of the name, and the figures.
    bytes: Box<[u8]>,
}

/// Names of APIs, each kept while a sample refers to it.
#[derive(Default)]
struct Names {
    places: HashMap<String, usize>,
    /// Names and how many samples use them.
    names: Vec<(String, usize)>,
    free: Vec<usize>,
}

impl History {
    /// Adds a sample of the five seconds that end at `unix_s`. Of the APIs, the busiest are kept.
    pub fn add(&mut self, unix_s: u64, totals: &Figures, mut apis: Vec<(String, Figures)>) {
        let slot = (unix_s / STEP_S).saturating_sub(1);
        if self.samples.back().is_some_and(|last| last.slot >= slot) {
            // The clock was set back: what came later by the old clock would stand in the way.
            while self.samples.back().is_some_and(|last| last.slot >= slot) {
                self.remove_last();
            }
        }
        apis.retain(|(_, figures)| !figures.is_idle());
        apis.sort_by(|(a_name, a), (b_name, b)| b.counts.cmp(&a.counts).then_with(|| a_name.cmp(b_name)));
        let mut bytes = Vec::with_capacity(SAMPLE_BYTES_MAX);
        write(&mut bytes, totals);
        let mut kept = 0;
        let mut entry = Vec::new();
        for (name, figures) in apis.iter().take(APIS_MAX) {
            entry.clear();
            let place = self.names.take(name);
            codec::write_number(&mut entry, place as u64);
            write(&mut entry, figures);
            if bytes.len() + entry.len() > SAMPLE_BYTES_MAX {
                self.names.release(place);
                break;
            }
            bytes.extend_from_slice(&entry);
            kept += 1;
        }
        self.samples.push_back(HistorySample { slot, is_complete: kept == apis.len(), bytes: bytes.into() });
        let oldest = slot.saturating_sub(SLOTS as u64 - 1);
        while self.samples.front().is_some_and(|first| first.slot < oldest) {
            if let Some(sample) = self.samples.pop_front() {
                self.forget(&sample);
            }
        }
    }

    /// Bytes of all samples.
    pub fn bytes(&self) -> usize {
        self.samples.iter().map(|sample| sample.bytes.len()).sum()
    }

    /// Adds what the samples have to a span.
    pub fn read(&self, span: &mut HistorySpan) {
        for sample in &self.samples {
            let Some(place) = span.place(sample.slot) else { continue };
            let mut reader = Reader::new(&sample.bytes);
            let Some(totals) = reader.figures() else { continue };
            span.add_totals(place, &totals);
            let mut seen = 0;
            while let Some((index, figures)) = reader.entry() {
                if let Some((name, _)) = self.names.names.get(index) {
                    span.add_api(place, name, &figures);
                }
                seen += 1;
            }
            span.end_sample(place, sample.is_complete, seen);
        }
    }

    fn remove_last(&mut self) {
        if let Some(sample) = self.samples.pop_back() {
            self.forget(&sample);
        }
    }

    fn forget(&mut self, sample: &HistorySample) {
        let mut reader = Reader::new(&sample.bytes);
        reader.figures();
        while let Some((index, _)) = reader.entry() {
            self.names.release(index);
        }
    }
}

impl Names {
    fn take(&mut self, name: &str) -> usize {
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => {
                let place = self.free.pop().unwrap_or(self.names.len());
                if place == self.names.len() {
                    self.names.push(Default::default());
                }
                self.places.insert(name.to_owned(), place);
                self.names.get_mut(place).into_iter().for_each(|entry| entry.0 = name.to_owned());
                place
            }
        };
        self.names.get_mut(place).into_iter().for_each(|entry| entry.1 += 1);
        place
    }

    fn release(&mut self, place: usize) {
        let Some((name, uses)) = self.names.get_mut(place) else { return };
        *uses = uses.saturating_sub(1);
        if *uses == 0 {
            self.places.remove(name);
            *name = String::new();
            self.free.push(place);
        }
    }
}

#[cfg(test)]
mod tests;
