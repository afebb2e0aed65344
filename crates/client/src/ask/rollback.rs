//! `tollgate rollback`: the revisions of a gateway's configuration, and the way back to one.

use super::change_answer::made;
use super::configuration::change_text;
use super::serving::ServingGateways;
use super::{CommandFailure, Gateway, table};
use clap::Args;
use serde_json::{Value, json};
use std::time::Duration;
use tollgate_model::calendar;

/// Time for an answer: a gateway compiles what comes back first.
const ANSWER_TIME_MIN: Duration = Duration::from_secs(300);
/// Objects of a revision in its line.
const NAMED_MAX: usize = 3;

/// Options of `rollback`.
#[derive(Debug, Args)]
#[command(
    after_help = "A revision is a change of API definitions or policies, by whomever; where gateways share them, it is one of all. Going back is one change, and a revision again. Keys, certificates \
                  and OAuth clients stay as they are. Examples:\n  tollgate rollback              list the revisions\n  tollgate rollback 17 --dry-run  what \
                  would change\n  tollgate rollback 17            as it was after revision 17"
)]
pub struct RollbackCommand {
    /// Go back to the state after this revision; 0 for the state before the first [default: list them]
    #[arg(value_name = "N")]
    to: Option<u64>,
    /// Only say what would change
    #[arg(long, requires = "to")]
    dry_run: bool,
    /// Wait until all gateways that share definitions serve it, and say which do
    #[arg(long, requires = "to")]
    wait: bool,
    #[command(flatten)]
    gateway: super::GatewayOptions,
}

pub(super) fn run(command: &RollbackCommand, tls: super::TlsOf) -> Result<(), CommandFailure> {
    let gateway = Gateway::new(&command.gateway, tls)?.waiting_for(ANSWER_TIME_MIN);
    let Some(to) = command.to else {
        let answer = gateway.get("/tyk/configuration/revisions")?;
        gateway.print(&answer, || revisions(&answer));
        return Ok(());
    };
    let body = json!({"to": to, "dry_run": command.dry_run, "wait": command.wait}).to_string().into_bytes();
    let answer = made(gateway.ask("POST", "/tyk/configuration/rollback", Some(body))?)?;
    gateway.print(&answer, || change_text(&answer, command.dry_run));
    if ServingGateways::read(&answer).is_complete() || command.dry_run { Ok(()) } else { Err(CommandFailure::NotConfirmed) }
}

fn revisions(answer: &Value) -> String {
    let rows = answer.get("revisions").and_then(Value::as_array).into_iter().flatten().map(|row| {
        let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |name: &str| row.get(name).and_then(Value::as_u64).unwrap_or_default();
        let objects: Vec<&str> =
            row.get("objects").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let mut named = objects.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
        let more = usize::try_from(number("count")).unwrap_or(usize::MAX).saturating_sub(NAMED_MAX);
        if more > 0 {
            named.push_str(&format!(" and {more} more"));
        }
        if row.get("lost") == Some(&Value::Bool(true)) {
            named.push_str(" (no way back beyond it: the store failed)");
        }
        vec![number("number").to_string(), calendar::rfc3339(number("time")), text("node"), named]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() { "no revisions".to_owned() } else { table::columns(&["revision", "time", "gateway", "changes"], rows) }
}
