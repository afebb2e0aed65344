//! Analytics records as JSON, a line each.

use super::{Hit, LineWriter, Sink};
use crate::observe::analytics::{Analyst, Starts};
use std::sync::Arc;
use tollgate_model::analytics::{Common, JsonTimes};

#[derive(Clone)]
pub struct JsonLines {
    analyst: Arc<Analyst>,
    lines: LineWriter,
    starts: Starts,
    times: JsonTimes,
}

impl JsonLines {
    pub fn new(analyst: Arc<Analyst>, lines: LineWriter) -> Self {
        JsonLines { analyst, lines, starts: Starts::default(), times: JsonTimes::default() }
    }
}

impl Sink for JsonLines {
    fn take(&mut self, hit: &Hit<'_>) {
        if !hit.record.analytics {
            return;
        }
        let JsonLines { analyst, lines, starts, times } = self;
        let (start, own) = starts.of(analyst, hit, Common::append_json);
        lines.line(|out| {
            out.extend_from_slice(start);
            own.append_json(out, times);
            out.push(b'\n');
        });
    }

    fn flush(&mut self, _: bool) {
        self.starts.forget();
        self.lines.flush();
    }
}
