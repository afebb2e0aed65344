//! Documents in YAML, JSON and TOML with the line of each member. Depth and size are bounded before anything is made of them.

use crate::files::{ImportFailure, NamedFiles};
use crate::node::{Member, Node, NodeValue};
use granit_parser::{Event, Parser};
use std::collections::BTreeMap;
use std::path::Path;

/// Deepest nesting.
const DEPTH_MAX: usize = 100;
/// Most nodes, those that aliases stand for included.
const NODES_MAX: usize = 400_000;

/// Reads YAML, of which JSON is a part. Of several documents the first counts.
pub(crate) fn read_yaml(text: &str, files: &NamedFiles) -> Result<Node, ImportFailure> {
    let mut reader = YamlReader { file: files.first(), nodes: 0, anchors: BTreeMap::new(), stack: Vec::new(), root: None };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            ImportFailure::new(reader.file, error.marker().line(), format!("is not valid YAML or JSON: {error}"))
        })?;
        if reader.take(event, span.start.line())? {
            break;
        }
    }
    reader.root.ok_or_else(|| files.failure("has no document"))
}

struct YamlReader<'f> {
    file: &'f Path,
    nodes: usize,
    anchors: BTreeMap<usize, Node>,
    stack: Vec<Open>,
    root: Option<Node>,
}

/// A collection that has not ended.
struct Open {
    anchor: usize,
    line: usize,
    list: Option<Vec<Node>>,
    members: Vec<Member>,
    key: Option<(String, usize)>,
}

impl YamlReader<'_> {
    /// Takes an event; the result is whether the document is over.
    fn take(&mut self, event: Event<'_>, line: usize) -> Result<bool, ImportFailure> {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let is_null =
                    matches!(style, granit_parser::ScalarStyle::Plain) && matches!(text.as_ref(), "~" | "null" | "Null" | "NULL");
                let text = if is_null { String::new() } else { text.into_owned() };
                self.add(Node::new(line, NodeValue::Scalar(text)), anchor)?;
            }
            Event::SequenceStart(_, anchor, _) => self.open(anchor, line, Some(Vec::new()))?,
            Event::MappingStart(_, anchor, _) => self.open(anchor, line, None)?,
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.stack.pop() {
                    let value = open.list.map_or(NodeValue::Map(open.members), NodeValue::List);
                    self.add(Node::new(open.line, value), open.anchor)?;
                }
            }
            Event::Alias(anchor) => {
                let mut node = self.anchors.get(&anchor).cloned().unwrap_or_else(|| Node::nothing().clone());
                node.line = line;
                self.nodes += count(&node);
                self.add(node, 0)?;
            }
            Event::DocumentEnd => return Ok(self.root.is_some()),
            _ => {}
        }
        Ok(false)
    }

    fn open(&mut self, anchor: usize, line: usize, list: Option<Vec<Node>>) -> Result<(), ImportFailure> {
        if self.stack.len() >= DEPTH_MAX {
            return Err(ImportFailure::new(self.file, line, format!("is nested deeper than {DEPTH_MAX} levels")));
        }
        self.stack.push(Open { anchor, line, list, members: Vec::new(), key: None });
        Ok(())
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), ImportFailure> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(ImportFailure::new(
                self.file,
                node.line,
                format!("has more than {NODES_MAX} values, with those of aliases"),
            ));
        }
        if anchor != 0 {
            // Copies of copies grow as the aliases do, and count in the same way.
            self.nodes += count(&node);
            self.anchors.insert(anchor, node.clone());
        }
        match self.stack.last_mut() {
            None => self.root = Some(node),
            Some(open) => match (&mut open.list, open.key.take()) {
                (Some(list), _) => list.push(node),
                (None, None) => open.key = Some((node.text().to_owned(), node.line)),
                // A merge adds what is not there.
                (None, Some((key, _))) if key == "<<" => {
                    for merged in node.items().iter().flat_map(Node::members) {
                        if !open.members.iter().any(|member| member.key == merged.key) {
                            open.members.push(merged.clone());
                        }
                    }
                }
                (None, Some((key, line))) => open.members.push(Member { key, line, node }),
            },
        }
        Ok(())
    }
}

fn count(node: &Node) -> usize {
    match &node.value {
        NodeValue::Scalar(_) => 1,
        NodeValue::List(list) => 1 + list.iter().map(count).sum::<usize>(),
        NodeValue::Map(members) => 1 + members.iter().map(|member| count(&member.node)).sum::<usize>(),
    }
}

/// Reads TOML.
pub(crate) fn read_toml(text: &str, files: &NamedFiles) -> Result<Node, ImportFailure> {
    let lines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line = |at: usize| lines.partition_point(|end| *end < at) + 1;
    let parsed = toml::de::DeTable::parse(text);
    let table = parsed.map_err(|error| {
        let at = error.span().map_or(0, |span| line(span.start));
        ImportFailure::new(files.first(), at, format!("is not valid TOML: {}", error.message()))
    })?;
    Ok(Node::new(1, toml_table(table.get_ref(), &line)))
}

fn toml_table(table: &toml::de::DeTable<'_>, line: &dyn Fn(usize) -> usize) -> NodeValue {
    let member = |(key, value): (&toml::Spanned<std::borrow::Cow<'_, str>>, &toml::Spanned<toml::de::DeValue<'_>>)| Member {
        key: key.get_ref().to_string(),
        line: line(key.span().start),
        node: toml_value(value, line),
    };
    NodeValue::Map(table.iter().map(member).collect())
}

fn toml_value(value: &toml::Spanned<toml::de::DeValue<'_>>, line: &dyn Fn(usize) -> usize) -> Node {
    use toml::de::DeValue;
    let text = match value.get_ref() {
        DeValue::Array(list) => {
            let items = list.iter().map(|item| toml_value(item, line)).collect();
            return Node::new(line(value.span().start), NodeValue::List(items));
        }
        DeValue::Table(table) => return Node::new(line(value.span().start), toml_table(table, line)),
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(is) => is.to_string(),
        DeValue::Datetime(time) => time.to_string(),
    };
    Node::new(line(value.span().start), NodeValue::Scalar(text))
}
