//! The plugins that change headers and paths.

use super::{Config, KongReader};
use crate::node::Node;
use crate::plan::{HeaderEdits, PathChange, PlannedRoute};

pub(super) fn request(config: &Config<'_>, route: &mut PlannedRoute, reader: &mut KongReader<'_>) {
    let uri = config.get("replace").get("uri").text().to_owned();
    if !uri.is_empty() {
        let place = reader.place(config.get("replace").line);
        match uri.contains('$') {
            true => reader.report.not_carried(&place, "plugins.request-transformer.replace.uri", "templates are not computed"),
            false => {
                route.path_change = Some(PathChange::Whole(uri));
                reader.report.carried(&place, "plugins.request-transformer.replace.uri");
            }
        }
    }
    let mut edits = std::mem::take(&mut route.request_headers);
    changes(config, &mut edits, true, reader);
    route.request_headers = edits;
}

pub(super) fn response(config: &Config<'_>, route: &mut PlannedRoute, reader: &mut KongReader<'_>) {
    let mut edits = std::mem::take(&mut route.response_headers);
    changes(config, &mut edits, false, reader);
    route.response_headers = edits;
}

fn changes(config: &Config<'_>, edits: &mut HeaderEdits, is_request: bool, reader: &mut KongReader<'_>) {
    let title = format!("plugins.{}", config.name);
    for step in config.node.members() {
        let place = reader.place(step.line);
        if step.key == "http_method" && !step.node.is_empty() {
            reader.report.not_carried(&place, format!("{title}.http_method"), "methods change at endpoints: `method_transforms`");
            continue;
        }
        for member in step.node.members() {
            let place = reader.place(member.line);
            let name = format!("{title}.{}.{}", step.key, member.key);
            match (member.key.as_str(), step.key.as_str()) {
                ("headers", "remove") => {
                    edits.remove.extend(member.node.texts());
                    reader.report.carried(&place, name);
                }
                ("headers", "add" | "replace" | "append") => {
                    let mut computed = false;
                    for (header, value) in pairs(&member.node) {
                        computed |= value.contains("$(");
                        match value.contains("$(") {
                            true => {}
                            false if step.key == "append" && !is_request => edits.add.push((header, value)),
                            false => edits.set.push((header, value)),
                        }
                    }
                    match (computed, step.key.as_str()) {
                        (true, _) => reader.report.not_carried(&place, name, "templates are not computed"),
                        (false, "replace") => reader.report.approximated(&place, name, "also where the header is missing"),
                        (false, "add") => reader.report.approximated(&place, name, "in place of one that is there"),
                        (false, _) if is_request => reader.report.approximated(&place, name, "in place of one that is there"),
                        (false, _) => reader.report.carried(&place, name),
                    }
                }
                ("uri", _) => {}
                (_, _) if member.node.is_empty() => reader.report.carried(&place, name),
                ("querystring", _) => reader.report.not_carried(&place, name, "parameters change by `url_rewrites`"),
                _ => reader.report.not_carried(&place, name, "bodies change by templates and filters"),
            }
        }
    }
    reader.report.carried(&config.place, title);
}

/// `name:value` in a list.
fn pairs(node: &Node) -> Vec<(String, String)> {
    let texts = node.texts();
    texts
        .iter()
        .filter_map(|text| text.split_once(':'))
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect()
}
