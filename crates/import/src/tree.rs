//! Documents in YAML, JSON and TOML with the line of each member. Depth and size are bounded before anything is made of them.

use crate::files::{ImportFailure, NamedFiles};
use granit_parser::{Event, Parser};
use std::collections::BTreeMap;
use std::path::Path;

/// Deepest nesting.
const DEPTH_MAX: usize = 100;
/// Most nodes, those that aliases stand for included.
const NODES_MAX: usize = 400_000;

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub line: usize,
    pub value: NodeValue,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NodeValue {
    /// Numbers and booleans as they are written; `~` and nothing are empty.
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<Member>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub key: String,
    pub line: usize,
    pub node: Node,
}

static NOTHING: Node = Node { line: 0, value: NodeValue::Scalar(String::new()) };

impl Node {
    pub(crate) fn text(&self) -> &str {
        match &self.value {
            NodeValue::Scalar(text) => text,
            _ => "",
        }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        self.text().trim().parse().ok()
    }

    pub(crate) fn whole(&self) -> Option<u64> {
        self.number().filter(|number| *number >= 0.0 && *number <= 9e15).map(|number| number as u64)
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self.text(), "true" | "yes" | "on" | "True" | "TRUE")
    }

    pub(crate) fn is_false(&self) -> bool {
        matches!(self.text(), "false" | "no" | "off" | "False" | "FALSE")
    }

    /// Whether nothing is set: no text, no entries.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.value {
            NodeValue::Scalar(text) => text.is_empty(),
            NodeValue::List(list) => list.is_empty(),
            NodeValue::Map(members) => members.is_empty(),
        }
    }

    /// The entries of a list; a value alone is a list of one.
    pub(crate) fn items(&self) -> &[Node] {
        match &self.value {
            NodeValue::List(list) => list,
            NodeValue::Scalar(text) if text.is_empty() => &[],
            NodeValue::Map(members) if members.is_empty() => &[],
            _ => std::slice::from_ref(self),
        }
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.items().iter().map(|node| node.text().to_owned()).filter(|text| !text.is_empty()).collect()
    }

    pub(crate) fn members(&self) -> &[Member] {
        match &self.value {
            NodeValue::Map(members) => members,
            _ => &[],
        }
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.value, NodeValue::Map(_))
    }

    /// The member; an empty node if there is none.
    pub(crate) fn get(&self, key: &str) -> &Node {
        self.find(key).unwrap_or(&NOTHING)
    }

    pub(crate) fn find(&self, key: &str) -> Option<&Node> {
        self.members().iter().rev().find(|member| member.key == key).map(|member| &member.node)
    }
}

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
                self.add(Node { line, value: NodeValue::Scalar(text) }, anchor)?;
            }
            Event::SequenceStart(_, anchor, _) => self.open(anchor, line, Some(Vec::new()))?,
            Event::MappingStart(_, anchor, _) => self.open(anchor, line, None)?,
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.stack.pop() {
                    let value = open.list.map_or(NodeValue::Map(open.members), NodeValue::List);
                    self.add(Node { line: open.line, value }, open.anchor)?;
                }
            }
            Event::Alias(anchor) => {
                let mut node = self.anchors.get(&anchor).cloned().unwrap_or_else(|| NOTHING.clone());
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
    Ok(Node { line: 1, value: toml_table(table.get_ref(), &line) })
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
            return Node { line: line(value.span().start), value: NodeValue::List(items) };
        }
        DeValue::Table(table) => return Node { line: line(value.span().start), value: toml_table(table, line) },
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(is) => is.to_string(),
        DeValue::Datetime(time) => time.to_string(),
    };
    Node { line: line(value.span().start), value: NodeValue::Scalar(text) }
}
