//! `compression`, in frontends, backends and what holds for all of them.

use super::lines::{Line, Section};
use crate::plan::{PlannedCompression, PlannedRoute};
use crate::report::ImportReport;

/// Statuses that HAProxy compresses.
const STATUSES: [u16; 4] = [200, 201, 202, 203];

/// The lines of one section.
#[derive(Clone, Debug, Default)]
pub(super) struct CompressionLines {
    has_gzip: bool,
    types: Vec<String>,
    bytes_min: u64,
    is_offloaded: bool,
}

impl CompressionLines {
    /// Reads the lines of the sections that hold for all others.
    pub(super) fn of_defaults(sections: &[Section], report: &mut ImportReport) -> Self {
        let mut all = CompressionLines::default();
        let defaults = sections.iter().filter(|section| section.head.word(0) == "defaults");
        let lines = defaults.flat_map(|section| &section.lines).filter(|line| line.word(0) == "compression");
        lines.for_each(|line| all.take(line, report));
        all
    }

    /// Takes a line.
    pub(super) fn take(&mut self, line: &Line, report: &mut ImportReport) {
        let (place, rest) = (&line.place, line.from(2));
        let title = format!("compression {}", line.word(1));
        match line.word(1) {
            "algo" | "algo-res" => {
                self.has_gzip |= rest.iter().any(|name| name == "gzip");
                let others: Vec<&str> =
                    rest.iter().map(String::as_str).filter(|name| !matches!(*name, "gzip" | "identity")).collect();
                match (self.has_gzip, others.is_empty()) {
                    (true, true) => report.carried(place, title),
                    (true, false) => report.approximated(place, title, format!("gzip, and not {}", others.join(", "))),
                    (false, _) => report.not_carried(place, title, "encodings are gzip and brotli"),
                }
            }
            "type" | "type-res" => {
                let wrong = PlannedCompression::default().add_types(rest.iter().map(String::as_str)).join(", ");
                self.types.extend(rest.iter().cloned());
                match wrong.is_empty() {
                    true => report.carried(place, title),
                    false => report.approximated(place, title, format!("{wrong}: no type of a response")),
                }
            }
            "offload" => {
                self.is_offloaded = true;
                report.carried(place, title);
            }
            "minsize-res" if rest.len() == 1 => match rest.first().and_then(|size| size.parse().ok()) {
                Some(least) => {
                    self.bytes_min = least;
                    report.carried(place, title);
                }
                None => report.not_carried(place, title, "is no number of bytes"),
            },
            "direction" if line.word(2) == "response" => report.built_in(place, title, "responses are compressed"),
            "direction" => report.not_carried(place, title, "bodies of requests are not compressed"),
            _ => report.not_carried(place, title, "has no counterpart"),
        }
    }

    /// What a route compresses by the first of these sections that says so.
    pub(super) fn apply(sections: [&Self; 3], route: &mut PlannedRoute) {
        let Some(lines) = sections.into_iter().find(|lines| lines.has_gzip) else { return };
        let mut planned = PlannedCompression {
            encodings: vec!["gzip"],
            bytes_min: lines.bytes_min.max(1),
            statuses: STATUSES.to_vec(),
            gzip_level: 1,
            ..PlannedCompression::default()
        };
        planned.add_types(lines.types.iter().map(String::as_str));
        if lines.types.is_empty() {
            planned.add_types(["*"]);
        }
        if lines.is_offloaded {
            route.request_headers.remove.push("Accept-Encoding".to_owned());
        }
        route.compression = Some(planned);
    }
}
