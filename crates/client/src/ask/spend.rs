//! `tollgate spend`: what language models cost, and what the month comes to.

use super::session::shown;
use super::{CommandFailure, Gateway, print, segment, table};
use clap::Args;
use serde_json::Value;

/// Options of `spend`.
#[derive(Debug, Args)]
#[command(
    after_help = "Sums are kept where enable_analytics is on. Examples:\n  tollgate spend\n  tollgate spend --by team --split model --last 7d\n  \
                        tollgate spend --by time --step 1d --csv > spend.csv"
)]
pub struct SpendCommand {
    /// What a row is: model, provider, key, team, policy, org, api, instead_of, outcome, reason, budget or time
    #[arg(long, value_name = "WHAT", default_value = "model")]
    by: String,
    /// What each row is split by
    #[arg(long, value_name = "WHAT")]
    split: Option<String>,
    /// How long back, such as 24h or 30d
    #[arg(long, value_name = "SPAN", default_value = "30d")]
    last: String,
    /// Width of a row of time: hours or days, such as 1h or 1d
    #[arg(long, value_name = "SPAN")]
    step: Option<String>,
    /// Only one API
    #[arg(long, value_name = "ID")]
    api: Option<String>,
    /// Only one team
    #[arg(long, value_name = "TEAM")]
    team: Option<String>,
    /// Rows to show, the dearest first
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Print CSV, for spreadsheets
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    #[command(flatten)]
    gateway: super::GatewayOptions,
}

pub(super) fn run(command: &SpendCommand, tls: super::TlsOf) -> Result<(), CommandFailure> {
    let gateway = Gateway::new(&command.gateway, tls)?;
    let top = command.limit.to_string();
    let parameters = [
        ("by", Some(command.by.as_str())),
        ("split", command.split.as_deref()),
        ("last", Some(&command.last)),
        ("step", command.step.as_deref()),
        ("api_id", command.api.as_deref()),
        ("team", command.team.as_deref()),
        ("top", Some(&top)),
        ("nodes", Some("all")),
        ("format", command.csv.then_some("csv")),
    ];
    let given = parameters.iter().filter_map(|(name, value)| Some(format!("{name}={}", segment(value.as_ref()?))));
    let answer = gateway.get(&format!("/tyk/llm/spend?{}", given.collect::<Vec<_>>().join("&")))?;
    match answer.as_str().filter(|_| command.csv) {
        Some(text) => print(text),
        None => gateway.print(&answer, || as_text(&answer, command)),
    }
    Ok(())
}

fn as_text(answer: &Value, command: &SpendCommand) -> String {
    let rows = answer.get("rows").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut lines = Vec::new();
    if rows.is_empty() {
        lines.push("no request to a model in this span".to_owned());
    } else {
        let mut header = vec![command.by.as_str()];
        header.extend(command.split.as_deref());
        header.extend(["cost", "requests", "prompt tokens", "answer tokens"]);
        lines.push(table::columns(&header, rows.iter().map(|row| cells(row, command)).collect()));
    }
    for node in answer.get("missing").and_then(Value::as_array).into_iter().flatten() {
        lines.push(format!("without {}", node.as_str().unwrap_or_default()));
    }
    if let Some(month) = answer.get("month") {
        lines.push(format!("\nthis month {}, forecast {}", usd(month, "cost_usd"), usd(month, "forecast_usd")));
    }
    // Gateways of earlier versions do not tell it.
    if let Some(day) = answer.get("prices_of").and_then(Value::as_str) {
        lines.push(format!("list prices of {day}, unless an API has its own"));
    }
    lines.join("\n")
}

fn cells(row: &Value, command: &SpendCommand) -> Vec<String> {
    let name = |member: &str, is_key: bool| match row.get(member) {
        Some(Value::Number(unix_s)) => unix_s.as_u64().map(tollgate_model::calendar::rfc3339).unwrap_or_default(),
        _ => {
            let (name, alias) = (shown(row, member), shown(row, "alias"));
            let name = if is_key && !alias.is_empty() { alias } else { name };
            if name.is_empty() { "none".to_owned() } else { name }
        }
    };
    let mut cells = vec![name("value", command.by == "key")];
    cells.extend(command.split.as_deref().map(|split| name("split", split == "key")));
    cells.push(usd(row, "cost_usd"));
    cells.extend(["requests", "input_tokens", "output_tokens"].map(|member| shown(row, member)));
    cells
}

fn usd(of: &Value, member: &str) -> String {
    format!("${:.4}", of.get(member).and_then(Value::as_f64).unwrap_or_default())
}
