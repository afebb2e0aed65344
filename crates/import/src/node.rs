//! A value of a document in YAML, JSON or TOML, and what readers asked of it: what nobody could read is not carried over. Copies of a value share
//! what was asked.

mod values;

pub(crate) use values::is_origin_url;

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A value with its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub line: usize,
    pub value: NodeValue,
    /// The strongest [`NodeUse`]; missing where there is no value.
    used: Option<Arc<AtomicU8>>,
}

#[derive(Clone, Debug)]
pub(crate) enum NodeValue {
    /// Numbers and booleans as they are written; `~` and nothing are empty.
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<Member>),
}

/// A member of an object.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub key: String,
    pub line: usize,
    pub node: Node,
}

/// What became of a value; what comes later counts more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NodeUse {
    Unread,
    Read,
    /// It is none of the known words.
    NoWord,
    NoBoolean,
    NoNumber,
    NoDuration,
    NoHost,
    NoPath,
    NoUrl,
    NoNetwork,
    NoMethod,
    NoOrigin,
    NoHeader,
    NoReference,
    /// A list or an object stands where a text is expected, and so on.
    NoText,
    NoList,
    NoObject,
}

impl NodeUse {
    const ALL: [NodeUse; 17] = [
        NodeUse::Unread,
        NodeUse::Read,
        NodeUse::NoWord,
        NodeUse::NoBoolean,
        NodeUse::NoNumber,
        NodeUse::NoDuration,
        NodeUse::NoHost,
        NodeUse::NoPath,
        NodeUse::NoUrl,
        NodeUse::NoNetwork,
        NodeUse::NoMethod,
        NodeUse::NoOrigin,
        NodeUse::NoHeader,
        NodeUse::NoReference,
        NodeUse::NoText,
        NodeUse::NoList,
        NodeUse::NoObject,
    ];

    /// Why the value could not be read.
    pub(crate) fn fault(self) -> Option<&'static str> {
        Some(match self {
            NodeUse::Unread | NodeUse::Read => return None,
            NodeUse::NoWord => "is none of the values that are known",
            NodeUse::NoBoolean => "is neither true nor false",
            NodeUse::NoNumber => "is no number that can be meant here",
            NodeUse::NoDuration => "is no duration",
            NodeUse::NoHost => "is no host that a route can have",
            NodeUse::NoPath => "is no path: it begins with a slash and has no spaces",
            NodeUse::NoUrl => "is no address that can be meant here",
            NodeUse::NoNetwork => "is no address or network",
            NodeUse::NoMethod => "is no method",
            NodeUse::NoOrigin => "is no origin with at most one *",
            NodeUse::NoHeader => "is no name of a header or cookie",
            NodeUse::NoReference => "names nothing in this file",
            NodeUse::NoText => "must be a text or a number",
            NodeUse::NoList => "must be a list",
            NodeUse::NoObject => "must be an object",
        })
    }

    /// Whether the value has another shape than the format gives it.
    pub(crate) fn is_other_shape(self) -> bool {
        self >= NodeUse::NoText
    }
}

static NOTHING: Node = Node { line: 0, value: NodeValue::Scalar(String::new()), used: None };

impl Node {
    pub(crate) fn new(line: usize, value: NodeValue) -> Node {
        Node { line, value, used: Some(Arc::default()) }
    }

    pub(crate) fn nothing() -> &'static Node {
        &NOTHING
    }

    fn note(&self, becomes: NodeUse) {
        if let Some(used) = &self.used {
            used.fetch_max(becomes as u8, Ordering::Relaxed);
        }
    }

    pub(crate) fn used(&self) -> NodeUse {
        let used = self.used.as_ref().map_or(0, |used| used.load(Ordering::Relaxed));
        NodeUse::ALL.get(usize::from(used)).copied().unwrap_or(NodeUse::Read)
    }

    /// Nobody needs to read this, or what is in it.
    pub(crate) fn settle(&self) {
        self.note(NodeUse::Read);
        match &self.value {
            NodeValue::Scalar(_) => {}
            NodeValue::List(list) => list.iter().for_each(Node::settle),
            NodeValue::Map(members) => members.iter().for_each(|member| member.node.settle()),
        }
    }

    pub(crate) fn text(&self) -> &str {
        match &self.value {
            NodeValue::Scalar(text) => {
                self.note(NodeUse::Read);
                text
            }
            _ => {
                self.note(if self.is_empty() { NodeUse::Read } else { NodeUse::NoText });
                ""
            }
        }
    }

    /// What `read` makes of the text; nothing if there is none, or if it cannot be read.
    fn parsed<T>(&self, fault: NodeUse, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let text = Some(self.text().trim()).filter(|text| !text.is_empty())?;
        let value = read(text);
        if value.is_none() {
            self.note(fault);
        }
        value
    }

    /// A number that is not negative.
    pub(crate) fn number(&self) -> Option<f64> {
        self.parsed(NodeUse::NoNumber, |text| text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0))
    }

    pub(crate) fn whole(&self) -> Option<u64> {
        let is_whole = |number: &f64| *number >= 0.0 && *number <= 9e15 && number.fract() == 0.0;
        self.parsed(NodeUse::NoNumber, |text| text.parse().ok().filter(is_whole).map(|number| number as u64))
    }

    /// A whole number of at most `max`.
    pub(crate) fn up_to(&self, max: u32) -> Option<u32> {
        self.parsed(NodeUse::NoNumber, |text| text.parse().ok().filter(|number| *number <= max))
    }

    /// A status of HTTP.
    pub(crate) fn status(&self) -> Option<u16> {
        self.parsed(NodeUse::NoNumber, |text| text.parse().ok().filter(|status| (100..=599).contains(status)))
    }

    pub(crate) fn statuses(&self) -> Vec<u16> {
        self.items().iter().filter_map(Node::status).collect()
    }

    /// Milliseconds of `2s`, `1m30s`, `500ms`.
    pub(crate) fn duration_ms(&self) -> Option<u64> {
        self.parsed(NodeUse::NoDuration, duration_ms)
    }

    /// What a word stands for; `usual` if there is none or it is not known.
    pub(crate) fn choice<T: Clone>(&self, known: &[(&str, T)], usual: T) -> T {
        let of = |text: &str| known.iter().find(|(word, _)| *word == text).map(|(_, meaning)| meaning.clone());
        self.parsed(NodeUse::NoWord, of).unwrap_or(usual)
    }

    /// One of these words, or nothing.
    pub(crate) fn word(&self, known: &[&'static str]) -> &'static str {
        self.parsed(NodeUse::NoWord, |text| known.iter().find(|word| **word == text).copied()).unwrap_or_default()
    }

    fn boolean(&self) -> Option<bool> {
        self.parsed(NodeUse::NoBoolean, |text| match text {
            "true" | "yes" | "on" | "True" | "TRUE" => Some(true),
            "false" | "no" | "off" | "False" | "FALSE" => Some(false),
            _ => None,
        })
    }

    pub(crate) fn is_true(&self) -> bool {
        self.boolean() == Some(true)
    }

    pub(crate) fn is_false(&self) -> bool {
        self.boolean() == Some(false)
    }

    /// Whether it turns nothing on: no text, no entries, or `false`.
    pub(crate) fn is_off(&self) -> bool {
        let is_off = match &self.value {
            NodeValue::Scalar(text) => matches!(text.as_str(), "" | "false" | "no" | "off" | "False" | "FALSE"),
            _ => self.is_empty(),
        };
        if is_off {
            self.note(NodeUse::Read);
        }
        is_off
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

    /// Entries that are objects.
    pub(crate) fn objects(&self) -> &[Node] {
        if matches!(&self.value, NodeValue::Map(members) if !members.is_empty()) {
            self.note(NodeUse::NoList);
        }
        let items = self.items();
        items.iter().filter(|item| !item.is_map()).for_each(|item| item.note(NodeUse::NoObject));
        items
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.items().iter().map(|node| node.text().to_owned()).filter(|text| !text.is_empty()).collect()
    }

    pub(crate) fn members(&self) -> &[Member] {
        match &self.value {
            NodeValue::Map(members) => members,
            _ => {
                if !self.is_empty() {
                    self.note(NodeUse::NoObject);
                }
                &[]
            }
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

    /// What a reference names: it is a text, or an object with a text at one of the keys.
    pub(crate) fn names(&self, keys: &[&str]) -> Vec<&str> {
        match self.is_map() {
            true => keys.iter().map(|key| self.get(key).text()).filter(|text| !text.is_empty()).collect(),
            false => Some(self.text()).into_iter().filter(|text| !text.is_empty()).collect(),
        }
    }
}

fn duration_ms(text: &str) -> Option<u64> {
    let mut all = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
        let (number, behind) = rest.split_at(digits);
        let unit = behind.find(|letter: char| letter.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit);
        let factor = match unit {
            "ns" => 1e-6,
            "us" | "µs" => 1e-3,
            "ms" => 1.0,
            "s" | "" => 1e3,
            "m" => 6e4,
            "h" => 3.6e6,
            _ => return None,
        };
        all += number.parse::<f64>().ok()? * factor;
        rest = behind;
    }
    all.is_finite().then_some(all as u64)
}
