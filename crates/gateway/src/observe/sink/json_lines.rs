//! Writes analytics records as JSON, one per line.

use super::{FileLineWriter, RecordWriter};
use crate::observe::analytics::Analyst;
use crate::observe::changed_record::ChangedRecord;
use crate::observe::record_ref::RecordRef;
use std::sync::Arc;
use tollgate_model::analytics::AnalyticsRecord;

#[derive(Clone)]
pub(crate) struct JsonLines {
    analyst: Arc<Analyst>,
    lines: FileLineWriter,
}

impl JsonLines {
    pub(crate) fn new(analyst: Arc<Analyst>, lines: FileLineWriter) -> Self {
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
