//! Writes analytics records as JSON, one per line.

use super::{FileLineWriter, RecordWriter};
use crate::analytics::Analyst;
use crate::changed_record::ChangedRecord;
use crate::record_ref::RecordRef;
use std::sync::Arc;
use tollgate_model::analytics::AnalyticsRecord;

#[derive(Clone)]
pub struct JsonLines {
    analyst: Arc<Analyst>,
    lines: FileLineWriter,
}

impl JsonLines {
    pub fn new(analyst: Arc<Analyst>, lines: FileLineWriter) -> Self {
        JsonLines { analyst, lines }
    }

    fn write(&mut self, record: &AnalyticsRecord<'_>) {
        self.lines.line(|out| {
            record.append_json(out);
            out.push(b'\n');
        });
    }
}

impl RecordWriter for JsonLines {
    fn take(&mut self, hit: &RecordRef<'_>) {
        if !hit.record.analytics {
            return;
        }
        let record = self.analyst.record(hit);
        self.write(&record);
    }

    fn take_changed(&mut self, changed: &ChangedRecord) {
        self.write(&changed.record);
    }

    fn flush(&mut self, _: bool) {
        self.lines.flush();
    }
}
