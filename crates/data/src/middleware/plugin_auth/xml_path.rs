//! The part of XPath that finds an identity in a document: `/a/b`, `//b`, `*`, `@name`, `text()`, and the predicates `[2]`, `[path]` and
//! `[path='text']`. A document is a client's, so work and depth have maxima.

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesRef, BytesStart, Event};

/// Maximum depth of elements, the same as for body transforms.
const DEPTH_MAX: usize = 128;

/// Nodes that one search may look at: a few milliseconds.
const VISITS_MAX: usize = 200_000;

/// Bytes of a text that count as a node.
const TEXT_BYTES_PER_VISIT: usize = 64;

/// Steps of a path, with those of its predicates.
const STEPS_MAX: usize = 32;

/// A compiled path.
#[derive(Debug)]
pub(super) struct XmlPath(Vec<XmlStep>);

#[derive(Debug)]
struct XmlStep {
    /// Whether all descendants are looked at, as after `//`.
    is_deep: bool,
    test: NodeTest,
    predicates: Vec<Predicate>,
}

#[derive(Debug, PartialEq, Eq)]
enum NodeTest {
    Any,
    Element(String),
    Attribute(Option<String>),
    Text,
}

#[derive(Debug)]
enum Predicate {
    Position(usize),
    Exists(XmlPath),
    Equals(XmlPath, String),
}

/// A document as a list of nodes; the first one is the document itself.
struct XmlNodes(Vec<XmlNode>);

struct XmlNode {
    kind: NodeKind,
    /// Places of its children, attributes first.
    children: Vec<usize>,
}

enum NodeKind {
    Element(String),
    Attribute(String, String),
    Text(String),
}

impl XmlPath {
    /// Compiles a path.
    ///
    /// # Errors
    /// What is wrong with it, or not supported.
    pub(super) fn compile(text: &str) -> Result<Self, String> {
        let mut parser = PathParser { rest: text.trim(), steps: 0 };
        let path = parser.path()?;
        if parser.rest.is_empty() { Ok(path) } else { Err(format!("{:?} is not supported", parser.rest)) }
    }

    /// The text of the first node that the path finds; `None` if there is none, or if the document is malformed or too much work.
    pub(super) fn find(&self, document: &str) -> Option<String> {
        let nodes = XmlNodes::read(document)?;
        let mut visits = 0;
        let found = nodes.select(0, self, &mut visits)?;
        nodes.text(*found.first()?, &mut visits)
    }
}

/// Reads a path from the left.
struct PathParser<'a> {
    rest: &'a str,
    steps: usize,
}

impl PathParser<'_> {
    fn take(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest;
        true
    }

    fn path(&mut self) -> Result<XmlPath, String> {
        let mut steps = Vec::new();
        let mut is_deep = self.take("//");
        if !is_deep {
            self.take("/");
        }
        loop {
            self.steps += 1;
            if self.steps > STEPS_MAX {
                return Err(format!("has more than {STEPS_MAX} steps"));
            }
            let test = self.test()?;
            let mut predicates = Vec::new();
            while self.take("[") {
                predicates.push(self.predicate()?);
            }
            steps.push(XmlStep { is_deep, test, predicates });
            is_deep = self.take("//");
            if !is_deep && !self.take("/") {
                return Ok(XmlPath(steps));
            }
        }
    }

    fn test(&mut self) -> Result<NodeTest, String> {
        let is_attribute = self.take("@");
        if self.take("*") {
            return Ok(if is_attribute { NodeTest::Attribute(None) } else { NodeTest::Any });
        }
        if !is_attribute && self.take("text()") {
            return Ok(NodeTest::Text);
        }
        let is_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-' | '.');
        let end = self.rest.find(|character| !is_name(character)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        if name.is_empty() || name.starts_with('.') || rest.starts_with(['(', ':']) {
            return Err(format!("{:?} is not supported", self.rest));
        }
        self.rest = rest;
        Ok(if is_attribute { NodeTest::Attribute(Some(name.to_owned())) } else { NodeTest::Element(name.to_owned()) })
    }

    fn predicate(&mut self) -> Result<Predicate, String> {
        let digits = self.rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(self.rest.len());
        let predicate = if digits > 0 {
            let (number, rest) = self.rest.split_at(digits);
            self.rest = rest;
            let number = number.parse::<usize>().ok().filter(|number| *number > 0);
            Predicate::Position(number.ok_or("a position must be at least 1")?)
        } else {
            let path = self.path()?;
            if self.take("=") { Predicate::Equals(path, self.literal()?) } else { Predicate::Exists(path) }
        };
        if self.take("]") { Ok(predicate) } else { Err(format!("{:?} must begin with ]", self.rest)) }
    }

    fn literal(&mut self) -> Result<String, String> {
        let quote = self.rest.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
        let quote = quote.ok_or_else(|| format!("{:?} must begin with a quote", self.rest))?;
        let begun = self.rest.strip_prefix(quote).unwrap_or_default();
        let (text, rest) = begun.split_once(quote).ok_or("a text has no end")?;
        self.rest = rest;
        Ok(text.to_owned())
    }
}

impl XmlNodes {
    /// Reads a document. Like a body transform it has no entities but XML's own five and characters by number.
    fn read(document: &str) -> Option<Self> {
        let mut reader = Reader::from_str(document);
        let mut nodes = XmlNodes(Vec::new());
        let mut open = vec![nodes.add(NodeKind::Element(String::new()), None)];
        let mut text = String::new();
        loop {
            let event = reader.read_event().ok()?;
            match &event {
                Event::Text(piece) => text.push_str(&piece.xml10_content()),
                Event::CData(piece) => text.push_str(&piece.xml10_content()),
                Event::GeneralRef(reference) => text.push(character(reference)?),
                _ => {
                    let parent = open.last().copied();
                    if !text.is_empty() {
                        nodes.add(NodeKind::Text(std::mem::take(&mut text)), parent);
                    }
                }
            }
            match event {
                Event::Start(_) if open.len() > DEPTH_MAX => return None,
                Event::Start(start) => open.push(nodes.element(&start, open.last().copied())?),
                Event::Empty(start) => {
                    nodes.element(&start, open.last().copied())?;
                }
                Event::End(_) => {
                    open.pop();
                }
                Event::Eof => return (open.len() == 1).then_some(nodes),
                _ => {}
            }
        }
    }

    fn add(&mut self, kind: NodeKind, parent: Option<usize>) -> usize {
        let place = self.0.len();
        self.0.push(XmlNode { kind, children: Vec::new() });
        if let Some(parent) = parent.and_then(|parent| self.0.get_mut(parent)) {
            parent.children.push(place);
        }
        place
    }

    fn element(&mut self, start: &BytesStart<'_>, parent: Option<usize>) -> Option<usize> {
        let place = self.add(NodeKind::Element(start.local_name().as_ref().to_owned()), parent);
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute.ok()?;
            let value = unescape(&attribute.value).ok()?.into_owned();
            self.add(NodeKind::Attribute(attribute.key.local_name().as_ref().to_owned(), value), Some(place));
        }
        Some(place)
    }

    /// The nodes that a path finds from a node on, in the order of the document; `None` if that is too much work.
    fn select(&self, from: usize, path: &XmlPath, visits: &mut usize) -> Option<Vec<usize>> {
        let mut current = vec![from];
        for step in &path.0 {
            let mut next = Vec::new();
            for node in current {
                let parents = if step.is_deep { self.descendants(node, visits)? } else { vec![node] };
                for parent in parents {
                    next.extend(self.children(parent, step, visits)?);
                }
            }
            next.sort_unstable();
            next.dedup();
            current = next;
        }
        Some(current)
    }

    /// A node and all elements below it.
    fn descendants(&self, node: usize, visits: &mut usize) -> Option<Vec<usize>> {
        let (mut found, mut at) = (vec![node], 0);
        while let Some(place) = found.get(at).copied() {
            count(visits)?;
            let children = self.0.get(place).map(|node| node.children.as_slice()).unwrap_or_default();
            found.extend(children.iter().filter(|child| self.fits(**child, &NodeTest::Any)));
            at += 1;
        }
        Some(found)
    }

    /// The children of a node that a step finds.
    fn children(&self, parent: usize, step: &XmlStep, visits: &mut usize) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for child in self.0.get(parent).map(|node| node.children.as_slice()).unwrap_or_default() {
            count(visits)?;
            if self.fits(*child, &step.test) {
                found.push(*child);
            }
        }
        for predicate in &step.predicates {
            found = self.filtered(found, predicate, visits)?;
        }
        Some(found)
    }

    fn filtered(&self, nodes: Vec<usize>, predicate: &Predicate, visits: &mut usize) -> Option<Vec<usize>> {
        let mut kept = Vec::new();
        for (index, node) in nodes.into_iter().enumerate() {
            let is_kept = match predicate {
                Predicate::Position(position) => index + 1 == *position,
                Predicate::Exists(path) => !self.select(node, path, visits)?.is_empty(),
                Predicate::Equals(path, text) => {
                    let found = self.select(node, path, visits)?;
                    let texts: Option<Vec<String>> = found.into_iter().map(|found| self.text(found, visits)).collect();
                    texts?.contains(text)
                }
            };
            if is_kept {
                kept.push(node);
            }
        }
        Some(kept)
    }

    fn fits(&self, node: usize, test: &NodeTest) -> bool {
        let Some(node) = self.0.get(node) else { return false };
        match (&node.kind, test) {
            (NodeKind::Element(_), NodeTest::Any) | (NodeKind::Text(_), NodeTest::Text) => true,
            (NodeKind::Element(name), NodeTest::Element(wanted)) => name == wanted,
            (NodeKind::Attribute(name, _), NodeTest::Attribute(wanted)) => wanted.as_ref().is_none_or(|wanted| name == wanted),
            _ => false,
        }
    }

    /// The value of an attribute, or all text below a node. The depth is bounded when the document is read.
    fn text(&self, node: usize, visits: &mut usize) -> Option<String> {
        let node = self.0.get(node)?;
        count(visits)?;
        match &node.kind {
            NodeKind::Attribute(_, text) | NodeKind::Text(text) => {
                *visits += text.len() / TEXT_BYTES_PER_VISIT;
                Some(text.clone())
            }
            NodeKind::Element(_) => {
                let is_attribute = |child: &&usize| self.fits(**child, &NodeTest::Attribute(None));
                let below = node.children.iter().filter(|child| !is_attribute(child));
                below.map(|child| self.text(*child, visits)).collect()
            }
        }
    }
}

fn count(visits: &mut usize) -> Option<()> {
    *visits += 1;
    (*visits <= VISITS_MAX).then_some(())
}

fn character(reference: &BytesRef<'_>) -> Option<char> {
    if let Some(character) = reference.resolve_char_ref().ok()? {
        return Some(character);
    }
    match &**reference {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "apos" => Some('\''),
        "quot" => Some('"'),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
