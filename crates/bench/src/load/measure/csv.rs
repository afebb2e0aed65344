//! `-o csv`: hey's columns, one line per answered request. Lines are written during the run, so nothing is capped and nothing
//! accumulates.

use super::sample::RequestSample;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// hey's header line.
const HEADER: &str = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n";
/// Bytes of lines that are handed over at once.
const BLOCK_BYTES: usize = 64 * 1024;
/// Maximum blocks that wait for the writer; a slow reader slows the load down instead of filling the memory.
const BLOCKS_MAX: usize = 256;

/// The lines of one thread.
pub(crate) struct Rows {
    block: String,
    blocks: SyncSender<String>,
}

/// A channel for the lines of all threads.
pub(crate) fn channel() -> (Rows, Receiver<String>) {
    let (blocks, receiver) = sync_channel(BLOCKS_MAX);
    (Rows { block: String::new(), blocks }, receiver)
}

/// Writes blocks until every thread is done.
pub(crate) fn write(blocks: Receiver<String>, mut out: impl Write) -> io::Result<()> {
    out.write_all(HEADER.as_bytes())?;
    for block in blocks {
        out.write_all(block.as_bytes())?;
    }
    out.flush()
}

impl Clone for Rows {
    fn clone(&self) -> Self {
        Rows { block: String::new(), blocks: self.blocks.clone() }
    }
}

impl Rows {
    pub(crate) fn push(&mut self, sample: &RequestSample<'_>) {
        let answer = sample.answer;
        let seconds = |ns: u64| ns as f64 / 1e9;
        let connect = sample.connect_ns.unwrap_or_default();
        let begun = sample.started_ns + connect;
        let written = answer.written_ns.clamp(begun, answer.first_ns.max(begun));
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.block,
            "{:.6},{:.6},{:.6},{:.6},{:.6},{:.6},{},{:.6}",
            seconds(answer.done_ns.saturating_sub(sample.due_ns)),
            seconds(connect),
            0.0,
            seconds(written - begun),
            seconds(answer.first_ns.saturating_sub(written)),
            seconds(answer.done_ns.saturating_sub(answer.first_ns)),
            answer.status,
            seconds(sample.due_ns),
        );
        if self.block.len() >= BLOCK_BYTES {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        // Fails only if the writer has failed, which ends the run anyway.
        let _ = self.blocks.send(std::mem::take(&mut self.block));
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        if !self.block.is_empty() {
            self.hand_over();
        }
    }
}
