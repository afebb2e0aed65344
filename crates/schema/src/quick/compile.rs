//! From a schema to its quick form.

use super::{AllowedValues, KnownMember, MemberRules, NumberRules, QuickId, QuickNode, QuickSchema, TypeSet, WholeRange};
use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Keywords that say nothing about a document.
const ANNOTATIONS: [&str; 13] = [
    "$schema",
    "$comment",
    "title",
    "description",
    "default",
    "example",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "definitions",
    "$defs",
    "nullable",
];

/// Most schemas in the quick form; references may repeat them.
const NODES_MAX: usize = 10_000;

/// Levels of schemas in each other, each with a frame on the stack of who compiles and who judges.
const DEPTH_MAX: usize = 64;

type Members = Map<String, Value>;

struct QuickCompiler<'s> {
    document: &'s Value,
    draft: Draft,
    nodes: Vec<QuickNode>,
    /// Nodes of the schemas that references point to.
    referred: HashMap<&'s str, QuickId>,
    depth: usize,
}

/// `None` as soon as anything is not covered.
pub(super) fn compile(document: &Value, draft: Draft) -> Option<QuickSchema> {
    let mut compiler = QuickCompiler { document, draft, nodes: Vec::new(), referred: HashMap::new(), depth: 0 };
    let root = compiler.add(document)?;
    let schema = QuickSchema { nodes: compiler.nodes, root };
    let mut found = vec![Search::New; schema.nodes.len()];
    (0..schema.nodes.len()).all(|index| schema.ends(QuickId(index), 0, &mut found)).then_some(schema)
}

/// How far the search for schemas that apply themselves has come with a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Search {
    New,
    Open,
    Done,
}

impl QuickSchema {
    /// Whether no schema applies itself to the same value again.
    fn ends(&self, id: QuickId, depth: usize, found: &mut [Search]) -> bool {
        let (Some(node), Some(state)) = (self.nodes.get(id.0), found.get_mut(id.0)) else { return false };
        match std::mem::replace(state, Search::Open) {
            Search::New if depth < DEPTH_MAX => {}
            Search::Done => {
                *state = Search::Done;
                return true;
            }
            Search::New | Search::Open => return false,
        }
        let lists = [&node.all_of].into_iter().chain(&node.any_of).chain(&node.one_of);
        let ends = lists.flatten().all(|next| self.ends(*next, depth + 1, found));
        found.get_mut(id.0).into_iter().for_each(|state| *state = Search::Done);
        ends
    }
}

impl<'s> QuickCompiler<'s> {
    fn add(&mut self, schema: &'s Value) -> Option<QuickId> {
        let id = self.reserve()?;
        self.fill(id, schema)
    }

    fn fill(&mut self, id: QuickId, schema: &'s Value) -> Option<QuickId> {
        self.depth += 1;
        let node = if self.depth < DEPTH_MAX { self.node(schema)? } else { return None };
        self.depth -= 1;
        *self.nodes.get_mut(id.0)? = node;
        Some(id)
    }

    fn reserve(&mut self) -> Option<QuickId> {
        let id = QuickId(self.nodes.len());
        self.nodes.push(QuickNode::default());
        (self.nodes.len() <= NODES_MAX).then_some(id)
    }

    fn node(&mut self, schema: &'s Value) -> Option<QuickNode> {
        let members = match schema {
            Value::Bool(truth) => return Some(QuickNode { is_never: !truth, ..QuickNode::default() }),
            Value::Object(members) => members,
            _ => return None,
        };
        let mut node = QuickNode::default();
        let (mut text, mut number) = (Members::new(), Members::new());
        for (keyword, value) in members {
            match keyword.as_str() {
                "type" => node.types = types(value)?,
                "enum" => node.allowed.push(self.allowed(value.as_array()?)?),
                "const" => node.allowed.push(self.allowed(std::slice::from_ref(value))?),
                "minLength" => node.text.chars_min = Some(value.as_u64()?),
                "maxLength" => node.text.chars_max = Some(value.as_u64()?),
                "pattern" | "format" => drop(text.insert(keyword.clone(), value.clone())),
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                    number.insert(keyword.clone(), value.clone());
                }
                "minItems" => node.items.count_min = Some(value.as_u64()?),
                "maxItems" => node.items.count_max = Some(value.as_u64()?),
                // A list of schemas is another keyword in the latest draft.
                "items" if value.is_array() => return None,
                "items" => node.items.each = Some(self.add(value)?),
                "properties" | "required" | "additionalProperties" | "minProperties" | "maxProperties" => {}
                "allOf" => node.all_of.extend(self.list(value)?),
                "anyOf" => node.any_of.push(self.list(value)?),
                "oneOf" => node.one_of.push(self.list(value)?),
                // What stands beside it counts in some drafts only.
                "$ref" if members.keys().all(|name| name == "$ref" || ANNOTATIONS.contains(&name.as_str())) => {
                    node.all_of.push(self.referred(value.as_str()?)?);
                }
                // The root's identifier is no other place.
                "$id" if std::ptr::eq(schema, self.document) => {}
                name if ANNOTATIONS.contains(&name) || name.starts_with("x-") => {}
                _ => return None,
            }
        }
        node.members = self.members(members)?;
        node.text.more = self.small(text)?;
        let whole = whole_range(&number);
        node.number = self.small(number)?.map(|all| NumberRules { whole, all });
        Some(node)
    }

    fn list(&mut self, schemas: &'s Value) -> Option<Vec<QuickId>> {
        schemas.as_array()?.iter().map(|schema| self.add(schema)).collect()
    }

    /// The node of a reference within the document.
    fn referred(&mut self, reference: &'s str) -> Option<QuickId> {
        if let Some(id) = self.referred.get(reference) {
            return Some(*id);
        }
        // Neither escaped names nor anchors.
        let pointer = reference.strip_prefix('#')?;
        if pointer.contains(['%', '~']) {
            return None;
        }
        let target = self.document.pointer(pointer)?;
        let id = self.reserve()?;
        self.referred.insert(reference, id);
        self.fill(id, target)
    }

    fn members(&mut self, schema: &'s Members) -> Option<Option<Box<MemberRules>>> {
        let count = |keyword: &str| schema.get(keyword).map(|value| value.as_u64().ok_or(())).transpose().ok();
        let mut rules =
            MemberRules { count_min: count("minProperties")?, count_max: count("maxProperties")?, ..MemberRules::default() };
        let properties = schema.get("properties").map(|value| value.as_object().ok_or(())).transpose().ok()?;
        for name in schema.get("required").map_or(Some(&Vec::new()), Value::as_array)? {
            let name = name.as_str()?;
            if rules.known.iter().any(|known| &*known.name == name) {
                return None;
            }
            let property = properties.and_then(|properties| properties.get(name));
            let compiled = property.map(|property| self.add(property).ok_or(())).transpose().ok()?;
            rules.known.push(KnownMember { name: name.into(), schema: compiled, is_other: property.is_none() });
        }
        rules.required = rules.known.len();
        for (name, property) in properties.into_iter().flatten() {
            if rules.known.iter().take(rules.required).all(|known| *known.name != **name) {
                let schema = Some(self.add(property)?);
                rules.known.push(KnownMember { name: name.as_str().into(), schema, is_other: false });
            }
        }
        if let Some(others) = schema.get("additionalProperties").filter(|others| **others != Value::Bool(true)) {
            rules.others = Some(self.add(others)?);
        }
        rules.places = rules.known.iter().enumerate().map(|(index, known)| (known.name.clone(), index)).collect();
        let is_empty = rules.known.is_empty() && rules.others.is_none() && rules.count_min.is_none() && rules.count_max.is_none();
        Some(if is_empty { None } else { Some(Box::new(rules)) })
    }

    fn allowed(&self, values: &[Value]) -> Option<AllowedValues> {
        let mut allowed = AllowedValues::default();
        let mut numbers = Vec::new();
        for value in values {
            match value {
                Value::Null => allowed.null = true,
                Value::Bool(truth) => *allowed.bools.get_mut(usize::from(*truth))? = true,
                Value::String(text) => allowed.texts.push(text.clone()),
                Value::Number(_) => numbers.push(value.clone()),
                Value::Array(_) | Value::Object(_) => return None,
            }
        }
        if !numbers.is_empty() {
            allowed.numbers = Some(self.validator(&json!({ "enum": numbers }))?);
        }
        Some(allowed)
    }

    /// A validator for single values; none without keywords.
    fn small(&self, keywords: Members) -> Option<Option<Validator>> {
        if keywords.is_empty() { Some(None) } else { self.validator(&Value::Object(keywords)).map(Some) }
    }

    fn validator(&self, schema: &Value) -> Option<Validator> {
        crate::complete(schema, Some(self.draft)).ok()
    }
}

fn types(written: &Value) -> Option<TypeSet> {
    let one = |name: &Value| {
        Some(match name.as_str()? {
            "null" => TypeSet::NULL,
            "boolean" => TypeSet::BOOLEAN,
            "integer" => TypeSet::INTEGER,
            "number" => TypeSet::NUMBER,
            "string" => TypeSet::STRING,
            "array" => TypeSet::ARRAY,
            "object" => TypeSet::OBJECT,
            _ => return None,
        })
    };
    let all = match written {
        Value::Array(names) => names.iter().try_fold(0, |all, name| Some(all | one(name)?))?,
        name => one(name)?,
    };
    Some(TypeSet(all))
}

/// The range of whole numbers that some keywords mean; `None` if they mean more.
fn whole_range(keywords: &Members) -> Option<WholeRange> {
    let mut range = WholeRange::default();
    for (keyword, value) in keywords {
        let limit = value.as_i64()?;
        match keyword.as_str() {
            "minimum" => range.min = range.min.max(Some(limit)),
            "exclusiveMinimum" => range.min = range.min.max(Some(limit.checked_add(1)?)),
            "maximum" => range.max = Some(range.max.map_or(limit, |max| max.min(limit))),
            "exclusiveMaximum" => range.max = Some(range.max.map_or(limit.checked_sub(1)?, |max| max.min(limit - 1))),
            _ => return None,
        }
    }
    Some(range)
}
