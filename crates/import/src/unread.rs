//! What readers left of a document in YAML, JSON or TOML: values that nobody could read or looked at are not carried over, whatever the report says
//! of them so far.

use crate::files::{ImportFailure, NamedFiles};
use crate::node::{Member, Node, NodeUse, NodeValue};
use crate::report::{ImportReport, MovedOutcome, Place};
use std::collections::BTreeMap;

/// Characters of a value in messages.
const SHOWN_MAX: usize = 60;

/// Completes the report of a document that was read.
///
/// # Errors
/// A value has another shape than its format gives it: what it was meant to do, and to protect, is not known.
pub(crate) fn complete(root: &Node, files: &NamedFiles, report: &mut ImportReport) -> Result<(), ImportFailure> {
    let mut by_line: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, item) in report.all_mut().iter().enumerate() {
        by_line.entry(item.line).or_default().push(index);
    }
    Completion { files, report, by_line }.node(root, &mut Vec::new(), &[], false)
}

struct Completion<'c> {
    files: &'c NamedFiles,
    report: &'c mut ImportReport,
    /// Items that readers reported.
    by_line: BTreeMap<usize, Vec<usize>>,
}

impl Completion<'_> {
    /// `items` are those of the value itself; `is_told` if the report says of something around it that it acts otherwise or not at all.
    fn node<'n>(&mut self, node: &'n Node, path: &mut Vec<&'n str>, items: &[usize], is_told: bool) -> Result<(), ImportFailure> {
        let used = node.used();
        if let Some(why) = used.fault() {
            let name = path.join(".");
            if used.is_other_shape() {
                let name = if name.is_empty() { "the document" } else { name.as_str() };
                return Err(ImportFailure::new(self.files.first(), node.line, format!("{name} {why}")));
            }
            self.not_carried(node, name, items, format!("{} {why}", shown(node)));
            return Ok(());
        }
        let is_told = is_told || self.is_told(items);
        if !items.is_empty() && !is_told && !node.is_empty() && is_unread(node) && !self.has_items_within(node) {
            self.unread(node, path.join("."), items);
            return Ok(());
        }
        match &node.value {
            NodeValue::Scalar(text) if used == NodeUse::Unread && !text.is_empty() && !is_told => {
                self.unread(node, path.join("."), items);
            }
            NodeValue::Scalar(_) => {}
            NodeValue::List(list) => {
                for entry in list {
                    let items = self.items_of_entry(entry);
                    self.node(entry, path, &items, is_told)?;
                }
            }
            NodeValue::Map(members) => {
                for member in members {
                    let items = self.items_of(member);
                    path.push(&member.key);
                    self.node(&member.node, path, &items, is_told)?;
                    path.pop();
                }
            }
        }
        Ok(())
    }

    fn items_of(&mut self, member: &Member) -> Vec<usize> {
        self.items_at(member.line, &member.key)
    }

    /// Those of an entry of a list, which has its name within.
    fn items_of_entry(&mut self, entry: &Node) -> Vec<usize> {
        let NodeValue::Map(members) = &entry.value else { return Vec::new() };
        let name = members.iter().find(|member| member.key == "name").map(|member| &member.node.value);
        match name {
            Some(NodeValue::Scalar(name)) if !name.is_empty() => self.items_at(entry.line, name),
            _ => Vec::new(),
        }
    }

    fn items_at(&mut self, line: usize, key: &str) -> Vec<usize> {
        let all = self.report.all_mut();
        let is_named = |index: &&usize| {
            let name = all.get(**index).map_or("", |item| item.name.as_str());
            name.strip_suffix(key).is_some_and(|before| before.is_empty() || before.ends_with('.'))
        };
        self.by_line.get(&line).into_iter().flatten().filter(is_named).copied().collect()
    }

    /// Whether the report has items of what is in a value: then these say what becomes of it.
    fn has_items_within(&mut self, node: &Node) -> bool {
        let NodeValue::Map(members) = &node.value else {
            let NodeValue::List(list) = &node.value else { return false };
            return list.iter().any(|entry| !self.items_of_entry(entry).is_empty() || self.has_items_within(entry));
        };
        members.iter().any(|member| !self.items_of(member).is_empty() || self.has_items_within(&member.node))
    }

    fn is_told(&mut self, items: &[usize]) -> bool {
        let all = self.report.all_mut();
        items.iter().filter_map(|index| all.get(*index)).any(|item| item.outcome != MovedOutcome::Carried)
    }

    fn not_carried(&mut self, node: &Node, name: String, items: &[usize], why: String) {
        let protects = ["plugins", "middlewares", "extra_config"].iter().any(|part| name.split('.').any(|word| word == *part));
        let all = self.report.all_mut();
        for index in items {
            if let Some(item) = all.get_mut(*index) {
                item.outcome = MovedOutcome::NotCarried(why.clone());
                item.protects |= protects;
            }
        }
        let place = Place::new(self.files.first(), node.line);
        match (items.is_empty(), protects) {
            (false, _) => {}
            (true, true) => self.report.unprotected(&place, name, why),
            (true, false) => self.report.not_carried(&place, name, why),
        }
    }

    fn unread(&mut self, node: &Node, name: String, items: &[usize]) {
        if items.is_empty() {
            let place = Place::new(self.files.first(), node.line);
            return self.report.not_carried(&place, name, "nothing that is carried over uses it");
        }
        let all = self.report.all_mut();
        for index in items {
            if let Some(item) = all.get_mut(*index) {
                item.outcome = MovedOutcome::Approximated("the gateway has its own way, whatever the value".to_owned());
            }
        }
    }
}

/// Whether nobody looked at a value or at anything in it.
fn is_unread(node: &Node) -> bool {
    node.used() == NodeUse::Unread
        && match &node.value {
            NodeValue::Scalar(_) => true,
            NodeValue::List(list) => list.iter().all(is_unread),
            NodeValue::Map(members) => members.iter().all(|member| is_unread(&member.node)),
        }
}

fn shown(node: &Node) -> String {
    let text = match &node.value {
        NodeValue::Scalar(text) => text.as_str(),
        NodeValue::List(_) | NodeValue::Map(_) => "",
    };
    match text.chars().nth(SHOWN_MAX) {
        None => text.to_owned(),
        Some(_) => format!("{}...", text.chars().take(SHOWN_MAX).collect::<String>()),
    }
}
