//! The quick form of a validation: reads JSON and checks it on the way, without a value in memory. Covers what most schemas consist of; a part of
//! the document under any other keyword is read into a value and checked by the complete form. The quick form only says that a document fits.
//! Whatever does not fit is checked again by the complete form, which has the words for clients; so a gap here costs time, not correctness.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use crate::nodes::{Check, Node, RequiredName, SchemaId, SchemaParts, SchemaSide, Schemas, Types};
use crate::property_table::{PropertyTable, REQUIRED_MAX};
use crate::run::{Budget, CheckRun};
use crate::tree::JsonTree;
use tollgate_text::byte_order_mark;

/// Maximum schemas that the quick form applies to one value at once: references and `allOf` add up.
const PARTS_MAX: usize = 6;

/// Maximum references and members of `allOf` that are followed for the parts of one schema.
const FOLLOWED_MAX: u32 = 32;

/// What the quick form finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streamed {
    /// It is JSON that fits.
    Fits,
    /// It may not fit, or may not be JSON.
    Unfit,
    /// The budget was not enough.
    TooMuchWork,
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
    /// What the quick form finds of a text.
    pub fn fits_json(&self, schema: SchemaId, text: &[u8], side: SchemaSide, budget: Budget) -> Streamed {
        // Checked once for all strings.
        let Ok(text) = std::str::from_utf8(byte_order_mark::without(text)) else { return Streamed::Unfit };
        let mut run = CheckRun::new(self, side, budget);
        let mut document = serde_json::Deserializer::from_str(text);
        let streamed = StreamedValue { run: &mut run, set: SchemaSet::of(schema), depth: 0 };
        match streamed.deserialize(&mut document).is_ok() && document.end().is_ok() {
            true => Streamed::Fits,
            false if run.is_exhausted => Streamed::TooMuchWork,
            false => Streamed::Unfit,
        }
    }

    /// Whether the quick form finds that a string fits.
    pub fn fits_text(&self, schema: SchemaId, text: &str, side: SchemaSide) -> bool {
        let run = CheckRun::new(self, side, Budget::brief());
        self.parts(&SchemaSet::of(schema)).is_some_and(|parts| run.text_fits(&parts, text))
    }

    /// Completes the quick form of all schemas.
    pub(crate) fn complete(&mut self) {
        self.note_shared();
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
        let required: Option<Vec<RequiredName>> = checks.iter().find_map(|check| match check {
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
        note_sides(&mut checks);
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

/// Notes which required properties only one side may send.
fn note_sides(checks: &mut [Check]) {
    let mut sides = Vec::new();
    for (place, check) in checks.iter().enumerate() {
        let Check::Required(names) = check else { continue };
        let table = checks.iter().find_map(|check| match check {
            Check::Properties(properties) => Some(&properties.named),
            _ => None,
        });
        let of = |name: &RequiredName| {
            let property = table.and_then(|table| table.find(&name.name, 0)).map(|(_, property)| property);
            property.map_or((false, false), |property| (property.read_only, property.write_only))
        };
        sides = names.iter().map(|name| (place, of(name))).collect();
    }
    for (number, (place, (read_only, write_only))) in sides.into_iter().enumerate() {
        if let Some(Check::Required(names)) = checks.get_mut(place)
            && let Some(name) = names.get_mut(number)
        {
            (name.read_only, name.write_only) = (read_only, write_only);
        }
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
        Check::Enum(values) | Check::Const(values) => values.are_scalars(),
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
        | Check::NoMoreItems(_)
        | Check::Items { .. } => true,
    }
}

impl<'s> CheckRun<'s> {
    fn nodes(&self, parts: &SchemaSet) -> impl Iterator<Item = &'s Node> + use<'s> {
        let (schemas, parts) = (self.schemas, *parts);
        parts.ids.into_iter().take(parts.count).filter_map(|id| schemas.node(id))
    }

    fn text_fits(&self, parts: &SchemaSet, text: &str) -> bool {
        self.nodes(parts)
            .all(|node| node.types.allow(Types::STRING) && node.checks.iter().all(|check| CheckRun::single_text_fits(check, text)))
    }

    fn number_fits(&self, parts: &SchemaSet, number: &Number) -> bool {
        let value = JsonTree::Number(number.clone());
        self.nodes(parts)
            .all(|node| node.types.accepts(&value) && node.checks.iter().all(|check| CheckRun::single_number_fits(check, number)))
    }

    fn bool_fits(&self, parts: &SchemaSet, truth: bool) -> bool {
        let value = JsonTree::Bool(truth);
        let allows = |check: &Check| match check {
            Check::Enum(allowed) | Check::Const(allowed) => allowed.has(&value),
            _ => true,
        };
        self.nodes(parts).all(|node| node.types.accepts(&value) && node.checks.iter().all(allows))
    }

    /// Whether a value fits all schemas of a set.
    fn tree_fits(&mut self, set: &SchemaSet, value: &JsonTree<'_>, depth: u32) -> bool {
        let fits = set.as_slice().iter().all(|schema| self.fits(*schema, value, depth) == Ok(true));
        // The value's addresses are free from here on.
        self.forget();
        fits
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
        if self.run.spend(1 + self.set.count as u64).is_err() {
            return Err(unfit());
        }
        match self.run.schemas.parts(&self.set) {
            Some(parts) => document.deserialize_any(PartsVisitor { run: self.run, set: self.set, parts, depth: self.depth }),
            None => {
                let value: JsonTree<'de> = serde::Deserialize::deserialize(document)?;
                only_if(self.run.tree_fits(&self.set, &value, self.depth))
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
        only_if(self.run.tree_fits(&self.set, &JsonTree::Null, self.depth))
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<(), E> {
        only_if(self.run.bool_fits(&self.parts, truth))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        only_if(self.run.number_fits(&self.parts, &number.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        only_if(self.run.number_fits(&self.parts, &number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        match Number::from_f64(number) {
            Some(number) => only_if(self.run.number_fits(&self.parts, &number)),
            None => Err(unfit()),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if self.run.spend(text.len() as u64 / 16).is_err() {
            return Err(unfit());
        }
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
            Check::MaxItems(most) | Check::NoMoreItems(most) => count <= *most,
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
    fn member(&mut self, name: &str, side: SchemaSide) -> Result<Option<SchemaId>, ()> {
        let Some((index, property)) = self.table.and_then(|table| table.find(name, self.expected)) else { return self.other() };
        self.expected = index + 1;
        self.seen |= property.bit;
        match side {
            // Allowed if it is null, which the complete form finds out.
            SchemaSide::Request if property.read_only => Err(()),
            SchemaSide::Response if property.write_only => Err(()),
            _ if property.schema.is_none() => self.other(),
            _ => Ok(property.schema),
        }
    }

    fn other(&self) -> Result<Option<SchemaId>, ()> {
        if self.closed { Err(()) } else { Ok(self.others) }
    }

    fn is_complete(&self, side: SchemaSide) -> bool {
        let required = self.table.map_or(0, |table| table.required(side));
        self.seen & required == required
    }
}

/// Reads a name, and finds the schemas of its member.
struct MemberSchemas<'t, 's> {
    states: &'t mut [ObjectState<'s>],
    side: SchemaSide,
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
