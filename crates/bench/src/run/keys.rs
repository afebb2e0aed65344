//! Values for the `{key}` of a path: popular ones that follow Zipf's law with the exponent 1, and values that are used once.

use super::plan::Length;
use crate::scenario::KeySpace;
use crate::stats::random::SeededRandom;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Lines for each second: more than one gateway answers. When they are used up, they begin again.
const LINES_PER_SECOND: f64 = 150_000.0;
const LINES_MIN: f64 = 10_000.0;
/// Some ten MB, read by the load generator before it starts.
const LINES_MAX: f64 = 1_000_000.0;

/// Writes a file of values for one run of the load generator. Popular values are the same in all files; the others are in no other file.
pub(super) fn write(space: KeySpace, length: Length, dir: &Path) -> Result<PathBuf, String> {
    static FILES: AtomicU32 = AtomicU32::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let lines = match length {
        Length::Seconds(seconds) => seconds * LINES_PER_SECOND,
        Length::Requests(requests) => requests as f64,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between the two bounds")]
    let lines = lines.clamp(LINES_MIN, LINES_MAX) as usize;
    let path = dir.join("keys");
    std::fs::write(&path, text(space, lines, number)).map_err(|error| format!("{}: cannot be written: {error}", path.display()))?;
    Ok(path)
}

fn text(space: KeySpace, lines: usize, file: u32) -> String {
    let popularity = Popularity::new(space.popular);
    let mut random = SeededRandom::new(u64::from(file));
    let mut text = String::new();
    for line in 0..lines {
        // Writing into a String cannot fail.
        let _ = match random.below(100) < space.unique_percent as usize {
            true => writeln!(text, "u{file}-{line}"),
            false => writeln!(text, "p{}", popularity.pick(&mut random)),
        };
    }
    text
}

/// How often each rank is picked, as sums over the ranks before it.
struct Popularity(Vec<f64>);

impl Popularity {
    fn new(ranks: u32) -> Self {
        let mut sum = 0.0;
        let sums = (1..=ranks).map(|rank| {
            sum += 1.0 / f64::from(rank);
            sum
        });
        Popularity(sums.collect())
    }

    fn pick(&self, random: &mut SeededRandom) -> usize {
        const STEPS: usize = 1 << 30;
        let whole = self.0.last().copied().unwrap_or_default();
        let at = random.below(STEPS) as f64 / STEPS as f64 * whole;
        self.0.partition_point(|sum| *sum <= at)
    }
}

#[cfg(test)]
mod tests;
