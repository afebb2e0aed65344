//! A view as lines of text.

use super::more::shown;
use super::sample::View;
use crate::visible;
use std::fmt::Write;

/// The header of the table of APIs and its rows.
pub(super) const COLUMNS: [&str; 9] = ["API", "req/s", "4xx/s", "5xx/s", "in flight", "p50 ms", "p99 ms", "own p99 ms", "cached"];

/// The lines above the table.
pub(super) fn summary(view: &View) -> String {
    let busy: Vec<String> = view.busy.iter().map(|busy| format!("{:.0}%", busy * 100.0)).collect();
    let View { version, requests_per_s, clients, upstreams, .. } = view;
    format!(
        "tollgate {version}  {requests_per_s:.1} req/s  {clients} clients  {upstreams} upstream connections  cores {}",
        busy.join(" ")
    )
}

/// The cells of the table, row by row.
pub(super) fn rows(view: &View) -> Vec<[String; 9]> {
    let row = |api: &super::sample::ApiView| {
        let name = if api.name.is_empty() || api.name == api.id { api.id.clone() } else { format!("{} ({})", api.name, api.id) };
        [
            visible::line(&name).into_owned(),
            format!("{:.1}", api.requests_per_s),
            format!("{:.1}", api.client_errors_per_s),
            format!("{:.1}", api.server_errors_per_s),
            api.in_flight.to_string(),
            format!("{:.2}", api.p50_ms),
            format!("{:.2}", api.p99_ms),
            format!("{:.3}", api.gateway_p99_ms),
            api.cache_hit_ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{:.1}%", ratio * 100.0)),
        ]
    };
    view.apis.iter().map(row).collect()
}

/// The past hour in a line; `None` from a gateway that does not know it.
pub(super) fn hour(view: &View) -> Option<String> {
    let more = &view.more;
    (!more.hour.is_empty()).then(|| format!("past hour, up to {:.1} req/s |{}|", more.most_per_s(), more.bars()))
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// The whole view.
pub(super) fn table(view: &View) -> String {
    let mut text = summary(view);
    if let Some(hour) = hour(view) {
        text.push('\n');
        text.push_str(&hour);
    }
    text.push_str("\n\n");
    let rows = rows(view);
    let width = rows.iter().map(|row| row.first().map_or(0, |name| name.chars().count())).max().unwrap_or_default().max(10);
    for row in std::iter::once(COLUMNS.map(str::to_owned)).chain(rows) {
        for (index, cell) in row.iter().enumerate() {
            let _ = if index == 0 { write!(text, "{cell:width$}") } else { write!(text, " {cell:>10}") };
        }
        text.push('\n');
    }
    for (cause, per_s) in &view.causes {
        let _ = write!(text, "\n{cause}: {per_s:.1}/s");
    }
    for (key, hits) in &view.keys {
        let _ = write!(text, "\nkey {key}: {hits} in 5 minutes");
    }
    for target in &view.targets {
        let _ = write!(text, "\ntarget {}", target.line());
    }
    let frequent = &view.more.frequent;
    for (value, requests) in &frequent.rows {
        let _ = write!(text, "\n{} {}: {requests} in {} s", frequent.by, shown(value), frequent.window_s);
    }
    for refused in &view.more.refused {
        let _ = write!(text, "\nrefused {}", refused.line(now_ms()));
    }
    if !view.more.missing.is_empty() {
        let _ = write!(text, "\nno answer from {}", view.more.missing.join(", "));
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
