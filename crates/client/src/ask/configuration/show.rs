//! What a change did or would do, as text that reads like a patch, and as JSON.

use super::super::serving::ServingGateways;
use super::object::PartKind;
use serde_json::{Value, json};

/// Objects of a list in a line of text; the number of the others follows.
const NAMED_MAX: usize = 20;

/// A change that was made or was only asked about.
pub(super) struct SyncOutcome {
    pub rows: Vec<OutcomeRow>,
    pub unchanged: usize,
    /// Objects that are not in the directory, and stay.
    pub kept: Vec<(PartKind, String)>,
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
    pub dry_run: bool,
    /// As the gateway says it.
    pub gateways: Value,
}

/// The change of one object.
pub(super) struct OutcomeRow {
    pub kind: String,
    pub id: String,
    /// `create`, `update` or `delete`.
    pub action: String,
    pub file: String,
    /// JSON path, old and new value.
    pub diff: Vec<(String, Option<Value>, Option<Value>)>,
    pub diff_more: u64,
}

/// An answer to a change as text.
pub(in crate::ask) fn change_text(answer: &Value, dry_run: bool) -> String {
    let rows = answer.get("plan").and_then(Value::as_array).into_iter().flatten().filter_map(OutcomeRow::read).collect();
    let unchanged = answer.get("unchanged").and_then(Value::as_u64).unwrap_or_default() as usize;
    let gateways = answer.get("gateways").cloned().unwrap_or_default();
    SyncOutcome { rows, unchanged, kept: Vec::new(), warnings: Vec::new(), notes: Vec::new(), dry_run, gateways }.to_text()
}

impl OutcomeRow {
    pub(super) fn read(row: &Value) -> Option<Self> {
        let text = |name: &str| Some(row.get(name)?.as_str()?.to_owned());
        let differences = row.get("diff").and_then(Value::as_array).into_iter().flatten();
        let difference = |one: &Value| {
            let path = one.get("path").and_then(Value::as_str).unwrap_or_default().to_owned();
            (path, one.get("old").cloned(), one.get("new").cloned())
        };
        Some(OutcomeRow {
            kind: text("kind")?,
            id: text("id")?,
            action: text("action")?,
            file: text("source").unwrap_or_default(),
            diff: differences.map(difference).collect(),
            diff_more: row.get("diff_more").and_then(Value::as_u64).unwrap_or_default(),
        })
    }

    /// Lines as in a patch.
    pub(super) fn lines(&self) -> Vec<String> {
        let sign = match self.action.as_str() {
            "create" => '+',
            "delete" => '-',
            _ => '~',
        };
        let file = if self.file.is_empty() { String::new() } else { format!(" ({})", self.file) };
        let mut lines = vec![format!("{sign} {} {}{file}", self.kind, self.id)];
        for (path, old, new) in &self.diff {
            lines.push(format!("    {path}"));
            lines.extend(old.iter().map(|old| format!("      - {old}")));
            lines.extend(new.iter().map(|new| format!("      + {new}")));
        }
        if self.diff_more > 0 {
            lines.push(format!("    and {} more", self.diff_more));
        }
        lines
    }

    pub(super) fn to_json(&self) -> Value {
        let difference = |(path, old, new): &(String, Option<Value>, Option<Value>)| json!({"path": path, "old": old, "new": new});
        json!({
            "kind": self.kind, "id": self.id, "action": self.action, "file": self.file,
            "diff": self.diff.iter().map(difference).collect::<Vec<_>>(), "diff_more": self.diff_more,
        })
    }
}

impl SyncOutcome {
    pub(super) fn differs(&self) -> bool {
        !self.rows.is_empty()
    }

    pub(super) fn to_json(&self) -> Value {
        let kept = self.kept.iter().map(|(kind, id)| json!({"kind": kind.name(), "id": id}));
        json!({
            "dry_run": self.dry_run,
            "plan": self.rows.iter().map(OutcomeRow::to_json).collect::<Vec<_>>(),
            "unchanged": self.unchanged,
            "not_in_directory": kept.collect::<Vec<_>>(),
            "warnings": self.warnings,
            "notes": self.notes,
            "gateways": self.gateways,
        })
    }

    pub(super) fn serving(&self) -> ServingGateways {
        ServingGateways::read(&json!({"gateways": self.gateways}))
    }

    pub(super) fn to_text(&self) -> String {
        let mut lines: Vec<String> = self.rows.iter().flat_map(OutcomeRow::lines).collect();
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(self.warnings.iter().map(|warning| format!("warning: {warning}")));
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        if !self.kept.is_empty() {
            let named = self.kept.iter().take(NAMED_MAX).map(|(kind, id)| format!("{} {id}", kind.name()));
            let more = self.kept.len().saturating_sub(NAMED_MAX);
            let named = named.chain((more > 0).then(|| format!("and {more} more"))).collect::<Vec<_>>().join(", ");
            lines.push(format!("not in the directory, kept: {named}"));
        }
        let count = |action: &str| self.rows.iter().filter(|row| row.action == action).count();
        let [created, changed, deleted] = ["create", "update", "delete"].map(count);
        let unchanged = self.unchanged;
        lines.push(match (self.dry_run, self.rows.is_empty()) {
            (_, true) => format!("nothing differs; {unchanged} unchanged"),
            (true, false) => format!("{created} to add, {changed} to change, {deleted} to delete; {unchanged} unchanged"),
            (false, false) => format!("{created} added, {changed} changed, {deleted} deleted; {unchanged} unchanged"),
        });
        lines.extend(self.serving().lines());
        lines.join("\n")
    }
}
