//! The most frequent values of a stream in a fixed number of counters (Metwally, Agrawal, El Abbadi: Space-Saving, 2005). A value without a
//! counter takes over the smallest one and its count, so a count is never too low, and too high by at most what it took over. Summaries are
//! merged as Agrawal et al. describe (Mergeable Summaries, 2012).

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of a value; what is beyond is cut, so that long paths cannot fill the memory.
const VALUE_BYTES_MAX: usize = 128;

/// What is known of one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopCount {
    /// Requests: at most so many, and at least `requests - error`.
    pub requests: u64,
    /// How much of the count may belong to other values.
    pub error: u64,
    /// Requests that the gateway rejected, since the value has its counter.
    pub refused: u64,
    /// Answers with 5xx, since then.
    pub server_errors: u64,
    /// Bytes of bodies to clients, since then.
    pub response_bytes: u64,
    /// Time of all requests, since then.
    pub total_ns: u64,
}

impl TopCount {
    fn add(&mut self, other: &TopCount) {
        self.requests += other.requests;
        self.error += other.error;
        self.refused += other.refused;
        self.server_errors += other.server_errors;
        self.response_bytes = self.response_bytes.saturating_add(other.response_bytes);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
    }
}

/// Counters of one stream.
pub struct SpaceSaving {
    counters_max: usize,
    places: HashMap<Arc<[u8]>, usize>,
    counters: Vec<(Arc<[u8]>, TopCount)>,
    /// Places of counters, as a heap with the smallest count first.
    heap: Vec<usize>,
    /// Where each counter stands in the heap.
    positions: Vec<usize>,
}

/// A summary that others can be added to.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    counters_max: usize,
    /// The requests that a value without a counter may have.
    floor: u64,
    counts: HashMap<Arc<[u8]>, TopCount>,
}

impl SpaceSaving {
    /// An empty summary with at most `counters_max` counters.
    pub fn new(counters_max: usize) -> Self {
        SpaceSaving { counters_max, places: HashMap::new(), counters: Vec::new(), heap: Vec::new(), positions: Vec::new() }
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counters.is_empty()
    }

    /// Counts one request. `facts` has what the request adds besides itself.
    pub fn add(&mut self, value: &[u8], facts: &TopCount) {
        let value = value.get(..VALUE_BYTES_MAX).unwrap_or(value);
        let one = TopCount { requests: 1, error: 0, ..*facts };
        if let Some(place) = self.places.get(value).copied() {
            self.counters.get_mut(place).into_iter().for_each(|(_, count)| count.add(&one));
            return self.sink(place);
        }
        let name: Arc<[u8]> = value.into();
        if self.counters.len() < self.counters_max {
            let place = self.counters.len();
            self.counters.push((name.clone(), one));
            self.places.insert(name, place);
            self.positions.push(self.heap.len());
            self.heap.push(place);
            return self.rise(place);
        }
        let Some(place) = self.heap.first().copied() else { return };
        let Some((old, count)) = self.counters.get_mut(place) else { return };
        self.places.remove(old);
        *count = TopCount { requests: count.requests + 1, error: count.requests, ..one };
        *old = name.clone();
        self.places.insert(name, place);
        self.sink(place);
    }

    /// Takes what was counted, and starts again with the same memory.
    pub fn take(&mut self) -> Summary {
        let floor = match self.heap.first() {
            Some(place) if self.counters.len() >= self.counters_max => self.requests(*place),
            _ => 0,
        };
        self.places.clear();
        self.heap.clear();
        self.positions.clear();
        Summary { counters_max: self.counters_max, floor, counts: self.counters.drain(..).collect() }
    }

    fn requests(&self, place: usize) -> u64 {
        self.counters.get(place).map_or(0, |(_, count)| count.requests)
    }

    fn at(&self, position: usize) -> Option<(usize, u64)> {
        let place = *self.heap.get(position)?;
        Some((place, self.requests(place)))
    }

    /// Moves a counter that grew away from the root.
    fn sink(&mut self, place: usize) {
        let Some(mut position) = self.positions.get(place).copied() else { return };
        let own = self.requests(place);
        loop {
            let children = [2 * position + 1, 2 * position + 2];
            let smallest = children.into_iter().filter_map(|child| Some((self.at(child)?.1, child))).min();
            match smallest {
                Some((count, child)) if count < own => {
                    self.swap(position, child);
                    position = child;
                }
                _ => return,
            }
        }
    }

    /// Moves a new counter towards the root.
    fn rise(&mut self, place: usize) {
        let Some(mut position) = self.positions.get(place).copied() else { return };
        let own = self.requests(place);
        while position > 0 {
            let parent = (position - 1) / 2;
            if self.at(parent).is_none_or(|(_, count)| count <= own) {
                return;
            }
            self.swap(position, parent);
            position = parent;
        }
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.heap.swap(one, other);
        for position in [one, other] {
            if let Some(place) = self.heap.get(position).copied() {
                self.positions.get_mut(place).into_iter().for_each(|own| *own = position);
            }
        }
    }
}

impl Summary {
    /// An empty summary with at most `counters_max` counters.
    pub fn new(counters_max: usize) -> Self {
        Summary { counters_max, ..Summary::default() }
    }

    /// From rows that another gateway sent.
    pub fn from_rows(counters_max: usize, floor: u64, rows: impl IntoIterator<Item = (Vec<u8>, TopCount)>) -> Self {
        let counts = rows.into_iter().take(counters_max).map(|(value, count)| (value.into(), count)).collect();
        Summary { counters_max, floor, counts }
    }

    /// The requests that a value that is not listed has at most.
    pub fn floor(&self) -> u64 {
        self.floor
    }

    /// Adds a summary of other requests.
    pub fn merge(&mut self, other: &Summary) {
        if other.counts.is_empty() {
            self.floor += other.floor;
            return;
        }
        for (value, count) in &mut self.counts {
            match other.counts.get(value) {
                Some(more) => count.add(more),
                None => count.add(&TopCount { requests: other.floor, error: other.floor, ..TopCount::default() }),
            }
        }
        let unknown = TopCount { requests: self.floor, error: self.floor, ..TopCount::default() };
        for (value, count) in &other.counts {
            self.counts.entry(value.clone()).or_insert_with(|| {
                let mut sum = unknown;
                sum.add(count);
                sum
            });
        }
        self.floor += other.floor;
        if self.counts.len() > self.counters_max {
            let mut order: Vec<u64> = self.counts.values().map(|count| count.requests).collect();
            let kept = self.counters_max.saturating_sub(1);
            order.sort_unstable_by(|a, b| b.cmp(a));
            let least = order.get(kept).copied().unwrap_or_default();
            let mut equal = order.iter().take(self.counters_max).filter(|count| **count == least).count();
            self.floor = self.floor.max(order.get(self.counters_max).copied().unwrap_or_default());
            self.counts.retain(|_, count| {
                let is_kept = count.requests > least || (count.requests == least && equal > 0);
                equal -= usize::from(is_kept && count.requests == least);
                is_kept
            });
        }
    }

    /// The values with the most requests, first those with most.
    pub fn top(&self, rows_max: usize) -> Vec<(Arc<[u8]>, TopCount)> {
        let mut rows: Vec<_> = self.counts.iter().map(|(value, count)| (value.clone(), *count)).collect();
        rows.sort_by(|(a_value, a), (b_value, b)| b.requests.cmp(&a.requests).then_with(|| a_value.cmp(b_value)));
        rows.truncate(rows_max);
        rows
    }
}

#[cfg(test)]
mod tests;
