//! The quick form of a schema: the keywords that most schemas consist of, compiled to be checked against a [`JsonTree`]. A schema with any other
//! keyword has no quick form. Single texts and numbers go to small validators of the `jsonschema` crate where keywords are not simple
//! comparisons.

mod compile;
mod judge;

use jsonschema::{Draft, Validator};
use serde_json::Value;
use std::collections::HashMap;

/// A schema in the quick form.
#[derive(Debug)]
pub struct QuickSchema {
    nodes: Vec<QuickNode>,
    root: QuickId,
}

/// What the quick form says of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The document matches.
    Valid,
    /// It does not.
    Invalid,
    /// The quick form cannot say.
    Unsure,
}

/// Index of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct QuickId(usize);

/// One schema. A rule applies to values of its type only.
#[derive(Debug, Default)]
struct QuickNode {
    /// `false` as a schema.
    is_never: bool,
    types: TypeSet,
    /// `enum` and `const`; each must have the value.
    allowed: Vec<AllowedValues>,
    text: TextRules,
    number: Option<NumberRules>,
    items: ItemRules,
    members: Option<Box<MemberRules>>,
    all_of: Vec<QuickId>,
    any_of: Vec<Vec<QuickId>>,
    one_of: Vec<Vec<QuickId>>,
}

/// Types that a schema allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TypeSet(u8);

impl TypeSet {
    const NULL: u8 = 1;
    const BOOLEAN: u8 = 2;
    const INTEGER: u8 = 4;
    /// Also whole numbers.
    const NUMBER: u8 = 8;
    const STRING: u8 = 16;
    const ARRAY: u8 = 32;
    const OBJECT: u8 = 64;

    fn has(self, one: u8) -> bool {
        self.0 & one != 0
    }
}

impl Default for TypeSet {
    fn default() -> Self {
        TypeSet(u8::MAX)
    }
}

/// The values of `enum` or `const`.
#[derive(Debug, Default)]
struct AllowedValues {
    null: bool,
    bools: [bool; 2],
    texts: Vec<String>,
    /// Compares numbers as the `jsonschema` crate does.
    numbers: Option<Validator>,
}

#[derive(Debug, Default)]
struct TextRules {
    chars_min: Option<u64>,
    chars_max: Option<u64>,
    /// `pattern` and `format`.
    more: Option<Validator>,
}

/// `minimum` and the like.
#[derive(Debug)]
struct NumberRules {
    /// All of them for whole numbers, if they are simple.
    whole: Option<WholeRange>,
    all: Validator,
}

#[derive(Debug, Default)]
struct WholeRange {
    min: Option<i64>,
    max: Option<i64>,
}

#[derive(Debug, Default)]
struct ItemRules {
    count_min: Option<u64>,
    count_max: Option<u64>,
    each: Option<QuickId>,
}

#[derive(Debug, Default)]
struct MemberRules {
    count_min: Option<u64>,
    count_max: Option<u64>,
    /// Those that are required come first.
    known: Vec<KnownMember>,
    required: usize,
    /// Where each known member is.
    places: HashMap<Box<str>, usize>,
    /// The schema of all other members; `None` allows any.
    others: Option<QuickId>,
}

#[derive(Debug)]
struct KnownMember {
    name: Box<str>,
    /// `None` allows any value.
    schema: Option<QuickId>,
    /// Only required, and so one of the others too.
    is_other: bool,
}

impl QuickSchema {
    /// The quick form of a schema that is known to be valid; `None` if it has none.
    pub fn compile(document: &Value) -> Option<Self> {
        compile::compile(document, known_draft(document)?)
    }
}

/// The drafts whose keywords mean the same to the quick form.
fn known_draft(document: &Value) -> Option<Draft> {
    match document.get("$schema").map(|written| written.as_str().unwrap_or_default().trim_end_matches('#')) {
        None | Some("http://json-schema.org/draft-07/schema") => Some(Draft::Draft7),
        Some("http://json-schema.org/draft-06/schema") => Some(Draft::Draft6),
        Some("https://json-schema.org/draft/2019-09/schema") => Some(Draft::Draft201909),
        Some("https://json-schema.org/draft/2020-12/schema") => Some(Draft::Draft202012),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests;
