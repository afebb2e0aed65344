//! `tollgate history`: who changed what, when and from where, as the gateways' log of changes has it.

use super::session::shown;
use super::{CommandFailure, Gateway, segment, table};
use clap::Args;
use serde_json::Value;
use tollgate_model::calendar;

/// Rows of one answer.
const PAGE_ROWS: usize = 1_000;

/// Options of `history`.
#[derive(Debug, Args)]
#[command(
    after_help = "Changes are kept for 90 days, those of all gateways that share a store in one log. Examples:\n  tollgate history\n  tollgate \
                        history delete policy --diff -n 5"
)]
pub struct HistoryCommand {
    /// Words that must all be in the user, action, kind or id
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// Changes to show, the newest first
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Show what differs, with masked secrets
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    gateway: super::GatewayOptions,
}

pub(super) fn run(command: &HistoryCommand, tls: super::TlsOf) -> Result<(), CommandFailure> {
    let gateway = Gateway::new(&command.gateway, tls)?;
    let mut rows = Vec::new();
    let mut after = String::new();
    // A search takes several answers if it has to look at many entries.
    loop {
        let left = command.limit.saturating_sub(rows.len());
        let query = format!("q={}&limit={}&after={}", segment(&command.words.join(" ")), left.clamp(1, PAGE_ROWS), segment(&after));
        let page = gateway.get(&format!("/tyk/list/changes?{query}"))?;
        let found = page.get("rows").and_then(Value::as_array).cloned().unwrap_or_default();
        rows.extend(found.into_iter().take(left));
        after = page.get("next").and_then(Value::as_str).unwrap_or_default().to_owned();
        if after.is_empty() || rows.len() >= command.limit {
            break;
        }
    }
    gateway.print(&Value::from(rows.clone()), || if command.diff { with_differences(&rows) } else { as_table(&rows) });
    Ok(())
}

fn cells(row: &Value) -> Vec<String> {
    let time = row.get("time").and_then(Value::as_u64).map(calendar::rfc3339).unwrap_or_default();
    let mut cells = vec![time];
    cells.extend(["user", "address", "node", "action", "kind", "target"].map(|name| shown(row, name)));
    cells
}

fn as_table(rows: &[Value]) -> String {
    if rows.is_empty() {
        return "no changes".to_owned();
    }
    let header = ["time", "user", "from", "gateway", "action", "kind", "id"];
    table::columns(&header, rows.iter().map(cells).collect())
}

/// A line for each change, and below it what differs, as in a patch.
fn with_differences(rows: &[Value]) -> String {
    let mut lines = Vec::new();
    for row in rows {
        lines.push(cells(row).into_iter().filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join("  "));
        for difference in row.get("diff").and_then(Value::as_array).into_iter().flatten() {
            lines.push(format!("    {}", shown(difference, "path")));
            lines.extend(difference.get("old").map(|old| format!("      - {old}")));
            lines.extend(difference.get("new").map(|new| format!("      + {new}")));
        }
        let more = row.get("diff_more").and_then(Value::as_u64).unwrap_or_default();
        if more > 0 {
            lines.push(format!("    and {more} more"));
        }
    }
    if lines.is_empty() { "no changes".to_owned() } else { lines.join("\n") }
}
