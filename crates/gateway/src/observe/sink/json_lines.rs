//! Analytics records as JSON, a line each.

use super::{Hit, LineWriter, Sink};
use crate::observe::analytics::Analyst;
use std::sync::Arc;

pub struct JsonLines {
    pub analyst: Arc<Analyst>,
    pub lines: LineWriter,
}

impl Sink for JsonLines {
    fn take(&mut self, hit: &Hit<'_>) {
        if !hit.record.analytics {
            return;
        }
        let record = self.analyst.record(hit);
        self.lines.line(|out| {
            // Writing to memory does not fail.
            let _ = serde_json::to_writer(&mut *out, &record);
            out.push(b'\n');
        });
    }

    fn flush(&mut self, _: bool) {
        self.lines.flush();
    }
}
