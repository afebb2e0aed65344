//! Responses of several upstreams as one: a script, and what it is told.

use super::{WrittenFile, put};
use crate::plan::{BodyShape, Plan, PlannedMerge, PlannedPart};
use serde_json::{Map, Value, json};

/// The directory of scripts.
pub(super) const SCRIPTS: &str = "scripts/";
const FILE: &str = "scripts/merge.js";

pub(super) fn is_needed(plan: &Plan) -> bool {
    plan.routes.iter().any(|route| route.merge.is_some())
}

/// Seconds that a script may take: the longest time until a response of those that are merged.
pub(super) fn longest_s(plan: &Plan) -> Option<u64> {
    plan.routes.iter().filter(|route| route.merge.is_some()).map(|route| route.timeout_ms.div_ceil(1_000).max(1)).max()
}

pub(super) fn script() -> WrittenFile {
    WrittenFile { path: FILE.to_owned(), text: include_str!("merge.js").to_owned(), is_secret: false }
}

/// An entry of `virtual`.
pub(super) fn entry(path: &str) -> Value {
    json!({
        "path": path, "response_function_name": "merged", "function_source_type": "file", "function_source_uri": FILE,
    })
}

/// `config_data`.
pub(super) fn data(merge: &PlannedMerge) -> Value {
    json!({
        "path": merge.path, "names": merge.names, "headers": merge.headers, "query": merge.query,
        "sequential": merge.is_sequential, "parts": merge.parts.iter().map(part).collect::<Vec<_>>(),
    })
}

fn part(part: &PlannedPart) -> Value {
    let BodyShape { target, allowed, denied, renamed, group, is_list, is_any, .. } = &part.shape;
    let split = |name: &String| name.split('.').map(str::to_owned).collect::<Vec<_>>();
    let mut tree = Value::Object(Map::new());
    allowed.iter().for_each(|name| put(&mut tree, name, Value::Bool(true)));
    let denied: Vec<Vec<String>> = denied.iter().filter(|_| allowed.is_empty()).map(split).collect();
    let renamed: Vec<[&str; 2]> =
        renamed.iter().map(|(from, to)| [from.as_str(), to.split('.').next().unwrap_or_default()]).collect();
    let target = if target.is_empty() { Vec::new() } else { split(target) };
    json!({
        "hosts": part.hosts, "method": part.method, "path": part.path, "list": is_list, "any": is_any, "target": target,
        "allowed": tree, "denied": denied, "renamed": renamed, "group": group,
    })
}
