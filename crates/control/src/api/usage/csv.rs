//! Usage as CSV (RFC 4180), for spreadsheets: times in a zone of the caller's choice, and no cell that a spreadsheet would take for a formula.

use super::{UsageReport, UsageValue};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use std::collections::HashMap;
use tollgate_text::csv::cell;

/// How times are written.
pub(in crate::api) struct CsvTimes {
    zone: TimeZone,
}

/// Usage as CSV.
pub(super) struct UsageCsv(pub(super) CsvTimes);

impl CsvTimes {
    /// By `tz`; `None` if JSON is asked for. `accepts_csv`: what is meant where the query has no `format`.
    pub(in crate::api) fn asked_for(query: &HashMap<String, String>, accepts_csv: bool) -> Result<Option<Self>, String> {
        let times = CsvTimes::of(query)?;
        match query.get("format").map_or("", String::as_str) {
            "" if !accepts_csv => Ok(None),
            "json" => Ok(None),
            "csv" | "" => Ok(Some(times)),
            other => Err(format!("format is {other:?}; it must be json or csv")),
        }
    }

    fn of(query: &HashMap<String, String>) -> Result<Self, String> {
        let zone = match query.get("tz").map_or("UTC", String::as_str) {
            "UTC" | "" => TimeZone::UTC,
            text => zone(text).ok_or("tz must be UTC, an offset such as +01:00, or a zone such as Europe/Berlin")?,
        };
        Ok(CsvTimes { zone })
    }

    /// A time.
    pub(in crate::api) fn time(&self, unix_s: i64) -> String {
        let Ok(time) = Timestamp::from_second(unix_s) else { return String::new() };
        time.display_with_offset(self.zone.to_offset(time)).to_string()
    }
}

impl UsageCsv {
    /// The rows under a line with the names of the columns.
    pub(super) fn write(&self, report: &UsageReport) -> Response {
        let mut text = String::from(
            "value,split,hits,success,errors,mean_ms,upstream_mean_ms,p50_ms,p90_ms,p99_ms,max_ms,request_bytes,response_bytes,last_seen\r\n",
        );
        for row in &report.rows {
            let value = match &row.value {
                UsageValue::Name(name) => cell(name),
                UsageValue::UnixS(unix_s) => self.0.time(*unix_s),
            };
            let numbers = [row.mean_ms, row.upstream_mean_ms, row.p50_ms, row.p90_ms, row.p99_ms, row.max_ms];
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            text.push_str(&format!(
                "{value},{},{},{},{},{},{},{},{}\r\n",
                cell(row.split.as_deref().unwrap_or_default()),
                row.hits,
                row.success,
                row.errors,
                numbers.join(","),
                row.request_bytes,
                row.response_bytes,
                self.0.time(row.last_seen_unix_s),
            ));
        }
        if report.partial {
            text.push_str(&format!(
                "{},,,,,,,,,,,,,\r\n",
                cell(&format!("incomplete before {}", self.0.time(report.complete_from)))
            ));
        }
        for node in &report.missing {
            text.push_str(&format!("{},,,,,,,,,,,,,\r\n", cell(&format!("without {node}"))));
        }
        let headers = [(CONTENT_TYPE, "text/csv; charset=utf-8"), (CONTENT_DISPOSITION, "attachment; filename=\"usage.csv\"")];
        (headers, text).into_response()
    }
}

/// The zone of `+01:00` or `Europe/Berlin`.
fn zone(text: &str) -> Option<TimeZone> {
    offset(text).map(TimeZone::fixed).or_else(|| TimeZone::get(text).ok())
}

/// Parses `+01:00`.
fn offset(text: &str) -> Option<Offset> {
    // A plus sign in a query is a space.
    let (sign, rest) = match text.as_bytes().first()? {
        b'+' | b' ' => (1, text.get(1..)?),
        b'-' => (-1, text.get(1..)?),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let [hours, minutes] =
        [(hours, 24), (minutes, 60)].map(|(part, end)| part.parse::<i32>().ok().filter(|part| (0..end).contains(part)));
    Offset::from_seconds(sign * (hours? * 60 + minutes?) * 60).ok()
}

#[cfg(test)]
mod tests {
    use super::offset;

    #[test]
    fn offsets_are_understood() {
        for (text, minutes) in
            [("+01:00", Some(60)), (" 05:30", Some(330)), ("-03:30", Some(-210)), ("1", None), ("+99:00", None), ("", None)]
        {
            assert_eq!(offset(text).map(|offset| offset.seconds() / 60), minutes, "{text}");
        }
    }
}
