//! One word: its bytes are joined to tokens, those of the lowest rank first.

use super::Tokenizer;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The parts that a word has now.
struct Parts {
    /// For each byte with which a part begins, where it ends; 0 for the others.
    ends: Vec<usize>,
    /// For each byte behind a part, where that begins.
    starts: Vec<usize>,
}

impl Parts {
    /// Each byte is one.
    fn of_bytes(count: usize) -> Self {
        Parts { ends: (1..=count).collect(), starts: (0..=count).map(|end| end.saturating_sub(1)).collect() }
    }

    /// Where the part ends that begins here.
    fn end(&self, start: usize) -> Option<usize> {
        self.ends.get(start).copied().filter(|end| *end > 0)
    }

    /// Where the part begins that ends here.
    fn start(&self, end: usize) -> Option<usize> {
        self.starts.get(end).copied().filter(|_| end > 0)
    }

    fn join(&mut self, start: usize, middle: usize, end: usize) {
        for (at, value) in [(start, end), (middle, 0)] {
            self.ends.get_mut(at).into_iter().for_each(|place| *place = value);
        }
        self.starts.get_mut(end).into_iter().for_each(|place| *place = start);
    }
}

impl Tokenizer {
    /// The tokens of a word.
    pub(super) fn count_word(&self, word: &[u8]) -> u64 {
        if word.len() < 2 || self.rank(word).is_some() {
            return word.len().min(1) as u64;
        }
        let mut parts = Parts::of_bytes(word.len());
        let mut queue = BinaryHeap::new();
        // The part that begins here, and the one behind it.
        let pair = |parts: &Parts, start: usize| {
            let middle = parts.end(start)?;
            let end = parts.end(middle)?;
            Some(Reverse((self.rank(word.get(start..end)?)?, start, middle, end)))
        };
        queue.extend((0..word.len()).filter_map(|start| pair(&parts, start)));
        let mut count = word.len() as u64;
        while let Some(Reverse((_, start, middle, end))) = queue.pop() {
            // One of them may be joined with another since.
            if parts.end(start) != Some(middle) || parts.end(middle) != Some(end) {
                continue;
            }
            parts.join(start, middle, end);
            count -= 1;
            let before = parts.start(start);
            queue.extend([before, Some(start)].into_iter().flatten().filter_map(|start| pair(&parts, start)));
        }
        count
    }
}
