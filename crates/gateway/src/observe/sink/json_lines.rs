//! Analytics records as JSON, a line each.

use super::{Hit, LineWriter, Sink};
use crate::observe::alike::Alike;
use crate::observe::analytics::Analyst;
use std::sync::Arc;

#[derive(Clone)]
pub struct JsonLines {
    analyst: Arc<Analyst>,
    lines: LineWriter,
    /// What lines begin with, and after how many seconds their records expire.
    starts: Alike<(Box<[u8]>, i64)>,
}

impl JsonLines {
    pub fn new(analyst: Arc<Analyst>, lines: LineWriter) -> Self {
        JsonLines { analyst, lines, starts: Alike::default() }
    }
}

impl Sink for JsonLines {
    fn take(&mut self, hit: &Hit<'_>) {
        if !hit.record.analytics {
            return;
        }
        let JsonLines { analyst, lines, starts } = self;
        let (start, expire_after_s) = starts.of(hit, || {
            let mut start = Vec::new();
            analyst.common(hit).append_json(&mut start);
            (start.into(), analyst.expire_after_s(hit.facts))
        });
        let own = analyst.own(hit, *expire_after_s);
        lines.line(|out| {
            out.extend_from_slice(start);
            own.append_json(out);
            out.push(b'\n');
        });
    }

    fn flush(&mut self, _: bool) {
        self.starts.forget();
        self.lines.flush();
    }
}
