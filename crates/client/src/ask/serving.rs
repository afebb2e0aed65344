//! Which gateways serve a change, as the gateway that made it says (`--wait`).

use serde_json::Value;

/// The gateways that share definitions; empty if they do not, or if nobody asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ServingGateways(Vec<ServingRow>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ServingRow {
    node: String,
    is_serving: bool,
    /// What it serves otherwise, because it has files of its own.
    differs: Vec<String>,
}

impl ServingGateways {
    pub(super) fn read(answer: &Value) -> Self {
        let rows = answer.get("gateways").and_then(Value::as_array).into_iter().flatten();
        let row = |row: &Value| {
            let differs = row.get("differs").and_then(Value::as_array).into_iter().flatten();
            Some(ServingRow {
                node: row.get("node")?.as_str()?.to_owned(),
                is_serving: row.get("serving")?.as_bool()?,
                differs: differs.filter_map(Value::as_str).map(str::to_owned).collect(),
            })
        };
        ServingGateways(rows.filter_map(row).collect())
    }

    /// Whether all that are alive serve it.
    pub(super) fn is_complete(&self) -> bool {
        self.0.iter().all(|row| row.is_serving)
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let named = |is_serving: bool| {
            let nodes = self.0.iter().filter(|row| row.is_serving == is_serving).map(|row| row.node.as_str());
            nodes.collect::<Vec<_>>().join(", ")
        };
        let of = |text: &str, nodes: String| (!nodes.is_empty()).then(|| format!("{text}: {nodes}"));
        let mut lines: Vec<String> =
            [of("in service on", named(true)), of("not confirmed by", named(false))].into_iter().flatten().collect();
        for row in self.0.iter().filter(|row| !row.differs.is_empty()) {
            lines.push(format!("note: {} serves other {} too, from files of its own", row.node, row.differs.join(" and ")));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::ServingGateways;
    use serde_json::json;

    #[test]
    fn gateways_are_named_by_what_they_serve() {
        let of = |node: &str, serving: bool, differs: &[&str]| json!({"node": node, "serving": serving, "differs": differs});
        let all = ServingGateways::read(&json!({"gateways": [of("a", true, &[]), of("b", true, &["definitions", "policies"])]}));
        assert!(all.is_complete());
        assert_eq!(
            all.lines(),
            ["in service on: a, b", "note: b serves other definitions and policies too, from files of its own"]
        );
        let some = ServingGateways::read(&json!({"gateways": [of("a", true, &[]), of("c", false, &[])]}));
        assert!(!some.is_complete());
        assert_eq!(some.lines(), ["in service on: a", "not confirmed by: c"]);
        let none = ServingGateways::read(&json!({}));
        assert!(none.is_complete() && none.lines().is_empty());
    }
}
