//! `modifier/martian`: changes of headers, alone or one after the other.

use super::KrakendReader;
use crate::node::{Member, Node};
use crate::plan::PlannedRoute;

/// Deepest nesting of groups.
const DEPTH_MAX: usize = 8;

/// Whose headers are changed.
#[derive(Clone, Copy)]
enum Scope {
    Request,
    Response,
}

enum Change {
    Set(Scope, String, String),
    Append(Scope, String, String),
    Remove(Scope, String),
}

pub(super) fn apply(member: &Member, routes: &mut [&mut PlannedRoute], reader: &mut KrakendReader<'_>) {
    let title = "extra_config.modifier/martian";
    let place = reader.place(member.line);
    let mut changes = Vec::new();
    if let Err(why) = collect(&member.node, &mut changes, 0) {
        member.node.settle();
        return reader.report.not_carried(&place, title, why);
    }
    for change in &changes {
        for route in routes.iter_mut() {
            let edits = |route: &mut PlannedRoute, scope: Scope| match scope {
                Scope::Request => std::mem::take(&mut route.request_headers),
                Scope::Response => std::mem::take(&mut route.response_headers),
            };
            let scope = match change {
                Change::Set(scope, ..) | Change::Append(scope, ..) | Change::Remove(scope, _) => *scope,
            };
            let mut list = edits(route, scope);
            match change {
                Change::Set(_, name, value) => list.set.push((name.clone(), value.clone())),
                Change::Append(_, name, value) => list.add.push((name.clone(), value.clone())),
                Change::Remove(_, name) => list.remove.push(name.clone()),
            }
            match scope {
                Scope::Request => route.request_headers = list,
                Scope::Response => route.response_headers = list,
            }
        }
    }
    reader.report.carried(&place, title);
}

/// The changes in their order; the error says what has no counterpart.
fn collect(node: &Node, changes: &mut Vec<Change>, depth: usize) -> Result<(), String> {
    if depth > DEPTH_MAX {
        return Err("is nested too deep".to_owned());
    }
    for member in node.members() {
        let inner = &member.node;
        match member.key.as_str() {
            "fifo.Group" => {
                inner.get("aggregateErrors").settle();
                inner.get("scope").settle();
                for modifier in inner.get("modifiers").objects() {
                    collect(modifier, changes, depth + 1)?;
                }
            }
            "header.Modifier" | "header.Append" => {
                let (name, value) = (inner.get("name").token(), inner.get("value").text().to_owned());
                let Some(name) = name.filter(|_| !value.contains(['{', '}', '$'])) else {
                    return Err(format!("{} has no plain header", member.key));
                };
                for scope in scopes(inner)? {
                    changes.push(match member.key.as_str() {
                        "header.Modifier" => Change::Set(scope, name.to_owned(), value.clone()),
                        _ => Change::Append(scope, name.to_owned(), value.clone()),
                    });
                }
            }
            "header.Blacklist" => {
                for scope in scopes(inner)? {
                    changes.extend(inner.get("names").header_names().into_iter().map(|name| Change::Remove(scope, name)));
                }
            }
            other => return Err(format!("{other} has no counterpart; nothing of it is applied")),
        }
    }
    Ok(())
}

fn scopes(node: &Node) -> Result<Vec<Scope>, String> {
    let scopes: Option<Vec<Scope>> = node
        .get("scope")
        .texts()
        .iter()
        .map(|scope| match scope.as_str() {
            "request" => Some(Scope::Request),
            "response" => Some(Scope::Response),
            _ => None,
        })
        .collect();
    scopes.filter(|scopes| !scopes.is_empty()).ok_or_else(|| "has no scope that is known".to_owned())
}
