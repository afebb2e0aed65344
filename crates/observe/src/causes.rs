//! Counters by cause, for one core. Allocated at the first cause, found by linear search: causes are the gateway's own words, so
//! there are few. A cause without a slot is counted as `other`.

use std::sync::OnceLock;
use tollgate_engine::Counter;

/// Slots for causes. The catalogue of refusals has about half as many.
const CAUSES_MAX: usize = 128;

/// Counters by cause.
#[derive(Default)]
pub struct CauseCounts(OnceLock<Box<[CausePlace]>>);

#[derive(Default)]
struct CausePlace {
    cause: OnceLock<&'static str>,
    count: Counter,
}

impl CauseCounts {
    /// Increments a cause. Only the core that owns the counters may call this.
    pub fn add(&self, cause: &'static str) {
        self.add_many(cause, 1);
    }

    /// Adds `count` to a cause.
    pub fn add_many(&self, cause: &'static str, count: u64) {
        let places = self.0.get_or_init(|| (0..CAUSES_MAX).map(|_| CausePlace::default()).collect());
        let (last, others) = match places.split_last() {
            Some(split) => split,
            None => return,
        };
        let is_same = |known: &'static str| std::ptr::eq(known, cause) || known == cause;
        let place = others.iter().find(|place| is_same(place.cause.get_or_init(|| cause)));
        let place = place.unwrap_or_else(|| {
            last.cause.get_or_init(|| "other");
            last
        });
        place.count.add(count);
    }

    /// The causes counted so far, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let places = self.0.get().into_iter().flatten();
        places.filter_map(|place| Some((*place.cause.get()?, place.count.get())))
    }
}

#[cfg(test)]
mod tests;
