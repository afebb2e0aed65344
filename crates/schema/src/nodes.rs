//! Compiled schemas: a schema that many places refer to is compiled once for all of them, and one that contains itself refers to itself.

use std::collections::HashMap;
use std::sync::Arc;

use regex_automata::meta::Regex;
use serde_json::Number;

use crate::equal::AllowedValues;
use crate::format::Format;
use crate::number::is_integer;
use crate::property_table::PropertyTable;
pub(crate) use crate::property_table::RequiredName;
pub use crate::property_table::{SchemaId, SchemaSide};
use crate::tree::JsonTree;

/// Compiled schemas. What is not compiled when they are made cannot be added later.
#[derive(Debug, Default)]
pub struct Schemas {
    pub(crate) nodes: Vec<Node>,
    /// Whether items that `contains` found are evaluated: not in 2019-09.
    pub(crate) contains_evaluates: bool,
}

/// One schema.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// Its reference as written, or its title.
    pub(crate) name: String,
    /// The schema accepts `null` whatever its other keywords say: `nullable` of 3.0.
    pub(crate) nullable: bool,
    /// A dialect in which a missing type does not accept `null`: that of 3.0.
    pub(crate) null_is_extra: bool,
    pub(crate) read_only: bool,
    pub(crate) write_only: bool,
    /// More than one schema applies it, so that it may meet one value several times. What it says is remembered.
    pub(crate) is_shared: bool,
    pub(crate) types: Types,
    /// Type keyword as written, for messages.
    pub(crate) type_names: Vec<String>,
    pub(crate) checks: Vec<Check>,
    /// What the quick form applies in its place.
    pub(crate) parts: SchemaParts,
}

/// The schemas of which one consists, without its references and `allOf`.
#[derive(Debug, Default)]
pub(crate) enum SchemaParts {
    /// Only the complete form knows it.
    #[default]
    Whole,
    /// The schema alone.
    Itself,
    These(Box<[SchemaId]>),
}

/// A set of JSON types; empty for no restriction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Types(pub(crate) u8);

impl Types {
    pub(crate) const NULL: u8 = 1;
    pub(crate) const BOOLEAN: u8 = 2;
    pub(crate) const INTEGER: u8 = 4;
    pub(crate) const NUMBER: u8 = 8;
    pub(crate) const STRING: u8 = 16;
    pub(crate) const ARRAY: u8 = 32;
    pub(crate) const OBJECT: u8 = 64;

    pub(crate) fn named(name: &str) -> Option<u8> {
        Some(match name {
            "null" => Types::NULL,
            "boolean" => Types::BOOLEAN,
            "integer" => Types::INTEGER,
            "number" => Types::NUMBER,
            "string" => Types::STRING,
            "array" => Types::ARRAY,
            "object" => Types::OBJECT,
            _ => return None,
        })
    }

    pub(crate) fn has(self, kind: u8) -> bool {
        self.0 & kind != 0
    }

    /// Whether a type is one of them, or all are allowed.
    pub(crate) fn allow(self, kind: u8) -> bool {
        self.0 == 0 || self.has(kind)
    }

    pub(crate) fn accepts(self, value: &JsonTree<'_>) -> bool {
        if self.0 == 0 {
            return true;
        }
        match value {
            JsonTree::Null => self.has(Types::NULL),
            JsonTree::Bool(_) => self.has(Types::BOOLEAN),
            JsonTree::Text(_) | JsonTree::Unescaped(_) => self.has(Types::STRING),
            JsonTree::Items(_) => self.has(Types::ARRAY),
            JsonTree::Members(_) => self.has(Types::OBJECT),
            JsonTree::Number(_) if self.has(Types::NUMBER) => true,
            JsonTree::Number(number) => self.has(Types::INTEGER) && is_integer(number),
        }
    }
}

/// One keyword, or several that belong together.
#[derive(Debug)]
pub(crate) enum Check {
    /// The schema `false`.
    Never,
    Reference(SchemaId),
    Not(SchemaId),
    OneOf(Vec<SchemaId>, Option<Box<Discriminator>>),
    AnyOf(Vec<SchemaId>, Option<Box<Discriminator>>),
    AllOf(Vec<SchemaId>),
    If {
        condition: SchemaId,
        then: Option<SchemaId>,
        otherwise: Option<SchemaId>,
    },
    Enum(Box<AllowedValues>),
    Const(Box<AllowedValues>),
    Minimum(Number),
    Maximum(Number),
    ExclusiveMinimum(Number),
    ExclusiveMaximum(Number),
    MultipleOf(Number),
    MinLength(u64),
    MaxLength(u64),
    Pattern(Arc<PatternCheck>),
    Format(Format),
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    /// The items after the first ones, which have their own schemas.
    Items {
        first: Vec<SchemaId>,
        rest: Option<SchemaId>,
    },
    /// No items after this many: `additionalItems: false`.
    NoMoreItems(u64),
    Contains {
        schema: SchemaId,
        least: u64,
        most: Option<u64>,
    },
    MinProperties(u64),
    MaxProperties(u64),
    PropertyNames(SchemaId),
    Properties(Box<Properties>),
    Required(Vec<RequiredName>),
    DependentRequired(Vec<(String, Vec<RequiredName>)>),
    DependentSchemas(Vec<(String, SchemaId)>),
    UnevaluatedProperties(SchemaId),
    UnevaluatedItems(SchemaId),
}

#[derive(Debug, Default)]
pub(crate) struct Properties {
    pub(crate) named: PropertyTable,
    pub(crate) patterns: Vec<(Arc<PatternCheck>, SchemaId)>,
    /// Schema of all others; `None` for no restriction.
    pub(crate) others: Option<SchemaId>,
    /// Others are not allowed at all.
    pub(crate) closed: bool,
    /// Others are allowed explicitly, which counts as looking at them.
    pub(crate) is_open: bool,
}

#[derive(Debug)]
pub(crate) struct PatternCheck {
    pub(crate) written: String,
    pub(crate) regex: Regex,
}

#[derive(Debug, Clone)]
pub(crate) struct Discriminator {
    pub(crate) property: String,
    /// Which of the schemas each value of the property selects.
    pub(crate) mapping: HashMap<String, usize>,
    /// Whether the document lists the values.
    pub(crate) is_closed: bool,
}

impl Check {
    /// Whether it applies other schemas to the value itself.
    pub(crate) fn is_combination(&self) -> bool {
        matches!(
            self,
            Check::Reference(_)
                | Check::Not(_)
                | Check::OneOf(..)
                | Check::AnyOf(..)
                | Check::AllOf(_)
                | Check::If { .. }
                | Check::Never
        )
    }

    pub(crate) fn is_choice(&self) -> bool {
        matches!(self, Check::Enum(_) | Check::Const(_))
    }

    /// The schemas that it applies, each as often as it may apply it to one value.
    fn applied(&self) -> Vec<SchemaId> {
        match self {
            Check::Reference(schema)
            | Check::Not(schema)
            | Check::PropertyNames(schema)
            | Check::UnevaluatedProperties(schema)
            | Check::UnevaluatedItems(schema)
            | Check::Contains { schema, .. } => vec![*schema],
            Check::OneOf(schemas, _) | Check::AnyOf(schemas, _) | Check::AllOf(schemas) => schemas.clone(),
            Check::If { condition, then, otherwise } => [Some(*condition), *then, *otherwise].into_iter().flatten().collect(),
            Check::Items { first, rest } => first.iter().copied().chain(*rest).collect(),
            Check::Properties(properties) => {
                let patterns = properties.patterns.iter().map(|(_, schema)| *schema);
                properties.named.schemas().chain(patterns).chain(properties.others).collect()
            }
            Check::DependentSchemas(schemas) => schemas.iter().map(|(_, schema)| *schema).collect(),
            _ => Vec::new(),
        }
    }
}

impl Schemas {
    pub(crate) fn node(&self, schema: SchemaId) -> Option<&Node> {
        self.nodes.get(schema.0 as usize)
    }

    /// The reference or title of a schema.
    pub fn name(&self, schema: SchemaId) -> &str {
        self.node(schema).map_or("", |node| node.name.as_str())
    }

    /// The schema behind references.
    pub(crate) fn followed(&self, schema: SchemaId) -> Option<&Node> {
        let mut node = self.node(schema)?;
        for _ in 0..16 {
            match node.checks.as_slice() {
                [Check::Reference(target)] if !node.read_only && !node.write_only => node = self.node(*target)?,
                _ => break,
            }
        }
        Some(node)
    }

    /// Notes which schemas may meet one value several times: without remembering what they said, alternatives that refer back would take time that
    /// grows exponentially with the depth of a value.
    pub(crate) fn note_shared(&mut self) {
        let mut uses = vec![0_u8; self.nodes.len()];
        let mut has_unevaluated = false;
        for check in self.nodes.iter().flat_map(|node| &node.checks) {
            has_unevaluated |= matches!(check, Check::UnevaluatedProperties(_) | Check::UnevaluatedItems(_));
            for schema in check.applied() {
                uses.get_mut(schema.0 as usize).into_iter().for_each(|count| *count = count.saturating_add(1));
            }
        }
        for (node, uses) in self.nodes.iter_mut().zip(uses) {
            // What is unevaluated is found by applying schemas once more.
            node.is_shared = (uses > 1 || has_unevaluated) && node.checks.iter().any(|check| !check.applied().is_empty());
        }
    }
}
