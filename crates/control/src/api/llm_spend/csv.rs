//! Spend as CSV (RFC 4180), for spreadsheets and invoices.

use super::{ShownSpend, SpendReport, SpendSums, SpendValue};
use crate::api::usage::csv::CsvTimes;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use tollgate_text::csv::cell;

const COLUMNS: &str = "value,split,alias,requests,attempts,input_tokens,output_tokens,cached_tokens,cache_write_tokens,reasoning_tokens,cost_usd,estimated,first_token_ms";

/// How times are written.
pub(super) struct SpendCsv(pub(super) CsvTimes);

impl SpendCsv {
    /// The rows under a line with the names of the columns.
    pub(super) fn write(&self, report: &SpendReport) -> Response {
        let mut text = format!("{COLUMNS}\r\n");
        report.rows.iter().for_each(|row| text.push_str(&self.line(row)));
        let notes = report.missing.iter().map(|node| format!("without {node}"));
        for note in report.partial.then(|| "incomplete".to_owned()).into_iter().chain(notes) {
            text.push_str(&format!("{}{}\r\n", cell(&note), ",".repeat(COLUMNS.matches(',').count())));
        }
        let headers = [(CONTENT_TYPE, "text/csv; charset=utf-8"), (CONTENT_DISPOSITION, "attachment; filename=\"llm-spend.csv\"")];
        (headers, text).into_response()
    }

    fn line(&self, row: &ShownSpend) -> String {
        let ShownSpend { value, split, alias, sums } = row;
        let SpendSums { requests, attempts, input_tokens, output_tokens, cached_tokens, .. } = sums;
        let value = match value {
            SpendValue::Name(name) => cell(name),
            SpendValue::UnixS(unix_s) => self.0.time(*unix_s),
        };
        let (split, alias) = (cell(split.as_deref().unwrap_or_default()), cell(alias.as_deref().unwrap_or_default()));
        let first_token = sums.first_token_ms.map(|ms| ms.to_string()).unwrap_or_default();
        format!(
            "{value},{split},{alias},{requests},{attempts},{input_tokens},{output_tokens},{cached_tokens},{},{},{},{},{first_token}\r\n",
            sums.cache_write_tokens, sums.reasoning_tokens, sums.cost_usd, sums.estimated
        )
    }
}
