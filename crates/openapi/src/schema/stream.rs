//! The quick form of a validation: reads JSON and checks it on the way, without a value in memory. Covers what most schemas consist of; a part of
//! the document under any other keyword is read into a value and checked by the complete form. The quick form only says that a document fits.
//! Whatever does not fit is checked again by the complete form, which has the words for clients; so a gap here costs time, not correctness.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

use super::check::{CheckRun, Side};
use super::property_table::{PropertyTable, REQUIRED_MAX};
use super::{Check, Node, SchemaId, Schemas, Types};

/// Maximum schemas that the quick form applies to one value at once: references and `allOf` add up.
const PARTS_MAX: usize = 6;

/// Maximum references and members of `allOf` that are followed for the parts of one schema.
const FOLLOWED_MAX: u32 = 32;

/// The schemas of which one consists, without its references and `allOf`.
#[derive(Debug, Default)]
pub(super) enum SchemaParts {
    /// Only the complete form knows it.
    #[default]
    Whole,
    /// The schema alone.
    Itself,
    These(Box<[SchemaId]>),
}

/// Schemas that all apply to one value.
#[derive(Debug, Clone, Copy)]
struct SchemaSet {
    ids: [SchemaId; PARTS_MAX],
    count: usize,
}

impl SchemaSet {
    const EMPTY: SchemaSet = SchemaSet { ids: [SchemaId(0); PARTS_MAX], count: 0 };

    fn of(id: SchemaId) -> Self {
        let mut set = SchemaSet::EMPTY;
        set.add(id);
        set
    }

    /// False if there is no room.
    fn add(&mut self, id: SchemaId) -> bool {
        let Some(place) = self.ids.get_mut(self.count) else { return false };
        *place = id;
        self.count += 1;
        true
    }

    fn as_slice(&self) -> &[SchemaId] {
        self.ids.get(..self.count).unwrap_or_default()
    }
}

impl Schemas {
    /// Whether the quick form finds that a text is JSON that fits.
    pub(crate) fn fits_json(&self, schema: SchemaId, text: &[u8], side: Side) -> bool {
        // Checked once for all strings.
        let Ok(text) = std::str::from_utf8(text) else { return false };
        let mut run = CheckRun::quiet(self, side);
        let mut document = serde_json::Deserializer::from_str(text);
        let streamed = StreamedValue { run: &mut run, set: SchemaSet::of(schema), depth: 0 };
        streamed.deserialize(&mut document).is_ok() && document.end().is_ok()
    }

    /// Whether the quick form finds that a string fits.
    pub(crate) fn fits_text(&self, schema: SchemaId, text: &str, side: Side) -> bool {
        let run = CheckRun::quiet(self, side);
        self.parts(&SchemaSet::of(schema)).is_some_and(|parts| run.text_fits(&parts, text))
    }

    /// Completes the quick form of all schemas.
    pub(super) fn complete(&mut self) {
        for index in 0..self.nodes.len() {
            self.complete_table(index);
        }
        for index in 0..self.nodes.len() {
            let id = SchemaId(u32::try_from(index).unwrap_or(u32::MAX));
            let (mut set, mut budget) = (SchemaSet::EMPTY, FOLLOWED_MAX);
            let parts = match self.collect_parts(id, &mut set, &mut budget) {
                false => SchemaParts::Whole,
                true if set.as_slice() == [id] => SchemaParts::Itself,
                true => SchemaParts::These(set.as_slice().into()),
            };
            if let Some(node) = self.nodes.get_mut(index) {
                node.parts = parts;
            }
        }
    }

    /// The table of a schema's properties says which of them are required, and by which side they may be sent.
    fn complete_table(&mut self, index: usize) {
        let Some(node) = self.nodes.get_mut(index) else { return };
        let mut checks = std::mem::take(&mut node.checks);
        let required = checks.iter().find_map(|check| match check {
            Check::Required(names) => Some(names.clone()),
            _ => None,
        });
        if required.is_some() && !checks.iter().any(|check| matches!(check, Check::Properties(_))) {
            checks.push(Check::Properties(Box::default()));
        }
        let sides = |id: SchemaId| self.followed(id).map_or((false, false), |node| (node.read_only, node.write_only));
        for check in &mut checks {
            if let Check::Properties(properties) = check {
                properties.named.complete(sides, required.as_deref().unwrap_or_default());
            }
        }
        if let Some(node) = self.nodes.get_mut(index) {
            node.checks = checks;
        }
    }

    /// Adds the parts of a schema; false if only the complete form knows it.
    fn collect_parts(&self, id: SchemaId, parts: &mut SchemaSet, budget: &mut u32) -> bool {
        let Some(node) = self.node(id).filter(|node| node.checks.iter().all(is_streamed)) else { return false };
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
        let mut has_own = node.types != Types::default();
        for check in &node.checks {
            let followed = match check {
                Check::Reference(target) => self.collect_parts(*target, parts, budget),
                Check::AllOf(schemas) => schemas.iter().all(|schema| self.collect_parts(*schema, parts, budget)),
                _ => {
                    has_own = true;
                    true
                }
            };
            if !followed {
                return false;
            }
        }
        !has_own || parts.as_slice().contains(&id) || parts.add(id)
    }

    /// The parts of all schemas of a set; `None` if only the complete form knows them.
    fn parts(&self, set: &SchemaSet) -> Option<SchemaSet> {
        let mut parts = SchemaSet::EMPTY;
        for id in set.as_slice() {
            let has_room = match &self.node(*id)?.parts {
                SchemaParts::Whole => return None,
                SchemaParts::Itself => parts.add(*id),
                SchemaParts::These(ids) => ids.iter().all(|id| parts.add(*id)),
            };
            if !has_room {
                return None;
            }
        }
        Some(parts)
    }
}

fn is_streamed(check: &Check) -> bool {
    match check {
        Check::Never
        | Check::Not(_)
        | Check::OneOf(..)
        | Check::AnyOf(..)
        | Check::If { .. }
        | Check::UniqueItems
        | Check::Contains { .. }
        | Check::MinProperties(_)
        | Check::MaxProperties(_)
        | Check::PropertyNames(_)
        | Check::DependentRequired(_)
        | Check::DependentSchemas(_)
        | Check::UnevaluatedProperties(_)
        | Check::UnevaluatedItems(_) => false,
        Check::Enum(values) => values.iter().all(is_scalar),
        Check::Const(value) => is_scalar(value),
        Check::Required(names) => names.len() <= REQUIRED_MAX,
        Check::Properties(properties) => properties.patterns.is_empty(),
        Check::Reference(_)
        | Check::AllOf(_)
        | Check::Minimum(_)
        | Check::Maximum(_)
        | Check::ExclusiveMinimum(_)
        | Check::ExclusiveMaximum(_)
        | Check::MultipleOf(_)
        | Check::MinLength(_)
        | Check::MaxLength(_)
        | Check::Pattern(_)
        | Check::Format(_)
        | Check::MinItems(_)
        | Check::MaxItems(_)
        | Check::Items { .. } => true,
    }
}

fn is_scalar(value: &Value) -> bool {
    !(value.is_array() || value.is_object())
}

impl<'s> CheckRun<'s> {
    fn quiet(schemas: &'s Schemas, side: Side) -> Self {
        CheckRun { schemas, side, work: 0, quiet: 1 }
    }

    fn nodes(&self, parts: &SchemaSet) -> impl Iterator<Item = &'s Node> + use<'s> {
        let (schemas, parts) = (self.schemas, *parts);
        parts.ids.into_iter().take(parts.count).filter_map(|id| schemas.node(id))
    }

    fn text_fits(&self, parts: &SchemaSet, text: &str) -> bool {
        self.nodes(parts).all(|node| {
            node.types.allow(Types::STRING)
                && node.checks.iter().all(|check| match check {
                    Check::Enum(values) => values.iter().any(|allowed| allowed.as_str() == Some(text)),
                    Check::Const(allowed) => allowed.as_str() == Some(text),
                    check => self.text(check, text).is_ok(),
                })
        })
    }

    /// A boolean or a number.
    fn scalar_fits(&mut self, parts: &SchemaSet, value: &Value) -> bool {
        self.nodes(parts).all(|node| {
            node.types.accepts(value)
                && node.checks.iter().all(|check| match check {
                    Check::Reference(_) | Check::AllOf(_) => true,
                    check => self.one(check, value, 0).is_ok(),
                })
        })
    }
}

/// The next value of a document, with the schemas that it must fit.
struct StreamedValue<'r, 's> {
    run: &'r mut CheckRun<'s>,
    set: SchemaSet,
    depth: u32,
}

fn unfit<E: Error>() -> E {
    E::custom("does not fit")
}

fn only_if<E: Error>(fits: bool) -> Result<(), E> {
    if fits { Ok(()) } else { Err(unfit()) }
}

impl<'de> DeserializeSeed<'de> for StreamedValue<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, document: D) -> Result<(), D::Error> {
        match self.run.schemas.parts(&self.set) {
            Some(parts) => document.deserialize_any(PartsVisitor { run: self.run, set: self.set, parts, depth: self.depth }),
            None => {
                let value: Value = serde::Deserialize::deserialize(document)?;
                only_if(self.set.as_slice().iter().all(|schema| self.run.check(*schema, &value, self.depth).is_ok()))
            }
        }
    }
}

struct PartsVisitor<'r, 's> {
    run: &'r mut CheckRun<'s>,
    set: SchemaSet,
    parts: SchemaSet,
    depth: u32,
}

impl<'de> Visitor<'de> for PartsVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        // Whether null is allowed depends on the schema as a whole.
        only_if(self.set.as_slice().iter().all(|schema| self.run.check(*schema, &Value::Null, self.depth).is_ok()))
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<(), E> {
        only_if(self.run.scalar_fits(&self.parts, &Value::Bool(truth)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        only_if(self.run.scalar_fits(&self.parts, &Value::Number(number.into())))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        only_if(self.run.scalar_fits(&self.parts, &Value::Number(number.into())))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        match Number::from_f64(number) {
            Some(number) => only_if(self.run.scalar_fits(&self.parts, &Value::Number(number))),
            None => Err(unfit()),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        only_if(self.run.text_fits(&self.parts, text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if !self.run.nodes(&self.parts).all(|node| node.may_be(Types::ARRAY)) {
            return Err(unfit());
        }
        let mut count = 0;
        loop {
            let set = self.run.schemas.item(&self.parts, count).ok_or_else(unfit)?;
            let item = StreamedValue { run: &mut *self.run, set, depth: self.depth + 1 };
            if items.next_element_seed(item)?.is_none() {
                break;
            }
            count += 1;
        }
        let count = count as u64;
        let fits = |check: &Check| match check {
            Check::MinItems(least) => count >= *least,
            Check::MaxItems(most) => count <= *most,
            _ => true,
        };
        only_if(self.run.nodes(&self.parts).all(|node| node.checks.iter().all(fits)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut states = [ObjectState::default(); PARTS_MAX];
        for (node, state) in self.run.nodes(&self.parts).zip(&mut states) {
            if !node.may_be(Types::OBJECT) {
                return Err(unfit());
            }
            state.take(node);
        }
        let states = states.get_mut(..self.parts.count).unwrap_or_default();
        while let Some(set) = members.next_key_seed(MemberSchemas { states, side: self.run.side })? {
            members.next_value_seed(StreamedValue { run: &mut *self.run, set, depth: self.depth + 1 })?;
        }
        only_if(states.iter().all(|state| state.is_complete(self.run.side)))
    }
}

impl Schemas {
    /// The schemas of the next item of a list; `None` if there are too many.
    fn item(&self, parts: &SchemaSet, index: usize) -> Option<SchemaSet> {
        let mut set = SchemaSet::EMPTY;
        for check in parts.as_slice().iter().filter_map(|id| self.node(*id)).flat_map(|node| &node.checks) {
            let Check::Items { first, rest } = check else { continue };
            if let Some(schema) = first.get(index).or(rest.as_ref())
                && !set.add(*schema)
            {
                return None;
            }
        }
        Some(set)
    }
}

impl Node {
    /// Whether an array or object may fit.
    fn may_be(&self, kind: u8) -> bool {
        // The quick form knows lists of scalars only.
        let is_choice = |check: &Check| matches!(check, Check::Enum(_) | Check::Const(_));
        self.types.allow(kind) && !self.checks.iter().any(is_choice)
    }
}

/// How far an object has come with one of its schemas.
#[derive(Clone, Copy, Default)]
struct ObjectState<'s> {
    table: Option<&'s PropertyTable>,
    /// Schema of all others.
    others: Option<SchemaId>,
    closed: bool,
    /// Bits of the required properties that were there.
    seen: u64,
    /// Index of the property that is expected next.
    expected: usize,
}

impl<'s> ObjectState<'s> {
    fn take(&mut self, node: &'s Node) {
        for check in &node.checks {
            if let Check::Properties(properties) = check {
                self.table = Some(&properties.named);
                self.others = properties.others;
                self.closed = properties.closed;
            }
        }
    }

    /// The schema of a member, if it has one; `Err` if it is not allowed.
    fn member(&mut self, name: &str, side: Side) -> Result<Option<SchemaId>, ()> {
        let Some((index, property)) = self.table.and_then(|table| table.find(name, self.expected)) else { return self.other() };
        self.expected = index + 1;
        self.seen |= property.bit;
        match side {
            // Allowed if it is null, which the complete form finds out.
            Side::Request if property.read_only => Err(()),
            Side::Response if property.write_only => Err(()),
            _ if property.schema.is_none() => self.other(),
            _ => Ok(property.schema),
        }
    }

    fn other(&self) -> Result<Option<SchemaId>, ()> {
        if self.closed { Err(()) } else { Ok(self.others) }
    }

    fn is_complete(&self, side: Side) -> bool {
        let required = self.table.map_or(0, |table| table.required(side));
        self.seen & required == required
    }
}

/// Reads a name, and finds the schemas of its member.
struct MemberSchemas<'t, 's> {
    states: &'t mut [ObjectState<'s>],
    side: Side,
}

impl<'de> DeserializeSeed<'de> for MemberSchemas<'_, '_> {
    type Value = SchemaSet;

    fn deserialize<D: Deserializer<'de>>(self, document: D) -> Result<SchemaSet, D::Error> {
        document.deserialize_str(self)
    }
}

impl Visitor<'_> for MemberSchemas<'_, '_> {
    type Value = SchemaSet;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<SchemaSet, E> {
        let mut set = SchemaSet::EMPTY;
        for state in self.states {
            let schema = state.member(name, self.side).map_err(|()| unfit())?;
            if let Some(schema) = schema
                && !set.add(schema)
            {
                return Err(unfit());
            }
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests;
