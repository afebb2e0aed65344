//! Writes analytics records as JSON, one per line.

use super::{FileLineWriter, RecordWriter};
use crate::observe::analytics::Analyst;
use crate::observe::record_ref::RecordRef;
use std::sync::Arc;

#[derive(Clone)]
pub(crate) struct JsonLines {
    analyst: Arc<Analyst>,
    lines: FileLineWriter,
}

impl JsonLines {
    pub(crate) fn new(analyst: Arc<Analyst>, lines: FileLineWriter) -> Self {
        JsonLines { analyst, lines }
    }
}

impl RecordWriter for JsonLines {
    fn take(&mut self, hit: &RecordRef<'_>) {
        if !hit.record.analytics {
            return;
        }
        let record = self.analyst.record(hit);
        self.lines.line(|out| {
            record.append_json(out);
            out.push(b'\n');
        });
    }

    fn flush(&mut self, _: bool) {
        self.lines.flush();
    }
}
