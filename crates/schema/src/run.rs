//! Whether a value fits a compiled schema, within a budget: each schema that is applied, each value that is compared and each pattern that is
//! matched is counted, and what several schemas ask about one value is found out once. Without words: those are found afterwards, for values that
//! do not fit.

use std::collections::HashMap;

use serde_json::Number;

use crate::equal::{duplicates, size};
use crate::nodes::{Check, Discriminator, Node, Properties, RequiredName, SchemaId, SchemaSide, Schemas, Types};
use crate::number::{Exact, is_multiple};
use crate::tree::{JsonTree, Member, member};

/// Maximum nesting of schemas in one validation: a recursive schema goes as deep as its value, which has 127 levels at most, and some of them
/// pass through several references.
pub(crate) const DEPTH_MAX: u32 = 512;

/// Steps of any validation: a body of a few KiB needs some thousands.
const STEPS: u64 = 1_000_000;

/// Steps for each byte of a body: a list of numbers, each with twenty alternatives, needs eleven.
const STEPS_PER_BYTE: u64 = 24;

/// Steps that take less than a millisecond.
const BRIEF_STEPS: u64 = 100_000;

/// How much work a validation may do, in steps of some nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget(pub(crate) u64);

impl Budget {
    /// What a body of this size may take at most.
    pub fn of_body(bytes: usize) -> Self {
        Budget(STEPS + bytes as u64 * STEPS_PER_BYTE)
    }

    /// What takes less than a millisecond.
    pub const fn brief() -> Self {
        Budget(BRIEF_STEPS)
    }
}

/// The budget was not enough, or schemas apply each other too deeply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exhausted;

/// Whether something fits.
pub(crate) type Fits = Result<bool, Exhausted>;

/// One validation.
pub(crate) struct CheckRun<'s> {
    pub(crate) schemas: &'s Schemas,
    pub(crate) side: SchemaSide,
    /// Steps left.
    left: u64,
    /// What shared schemas said of values, which are known by their addresses: see [`CheckRun::forget`].
    known: HashMap<(SchemaId, usize), bool>,
    /// How many of the values that are looked at don't stay at their addresses.
    passing: u32,
    pub(crate) is_exhausted: bool,
}

/// Where the value is that a check applies a schema to.
#[derive(Clone, Copy)]
pub(crate) enum RunStep<'v> {
    Here,
    Index(usize),
    Name(&'v str),
}

impl<'s> CheckRun<'s> {
    pub(crate) fn new(schemas: &'s Schemas, side: SchemaSide, budget: Budget) -> Self {
        CheckRun { schemas, side, left: budget.0, known: HashMap::new(), passing: 0, is_exhausted: false }
    }

    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), Exhausted> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.exhausted()),
        }
    }

    fn exhausted(&mut self) -> Exhausted {
        self.is_exhausted = true;
        Exhausted
    }

    /// Forgets what is known about values, whose addresses others may get.
    pub(crate) fn forget(&mut self) {
        if !self.known.is_empty() {
            self.known.clear();
        }
    }

    /// The node of a schema, with the cost of applying it.
    pub(crate) fn enter(&mut self, schema: SchemaId, depth: u32) -> Result<Option<&'s Node>, Exhausted> {
        self.spend(1)?;
        if depth > DEPTH_MAX {
            return Err(self.exhausted());
        }
        Ok(self.schemas.node(schema))
    }

    /// Whether a value fits.
    pub(crate) fn fits(&mut self, schema: SchemaId, value: &JsonTree<'_>, depth: u32) -> Fits {
        let Some(node) = self.enter(schema, depth)? else { return Ok(true) };
        if !node.is_shared || self.passing > 0 {
            return self.node_fits(node, value, depth);
        }
        let place = (schema, std::ptr::from_ref(value).addr());
        if let Some(fits) = self.known.get(&place) {
            return Ok(*fits);
        }
        let fits = self.node_fits(node, value, depth)?;
        self.known.insert(place, fits);
        Ok(fits)
    }

    fn node_fits(&mut self, node: &'s Node, value: &JsonTree<'_>, depth: u32) -> Fits {
        if node.null_is_extra && matches!(value, JsonTree::Null) {
            return self.null_fits(node, depth);
        }
        if !node.types.accepts(value) {
            return Ok(false);
        }
        for check in &node.checks {
            if !self.own_fits(check, value)? {
                return Ok(false);
            }
        }
        for check in &node.checks {
            if !self.check_fits(node, check, value, depth)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// `null` in 3.0: one of the combined schemas must accept it, if the schema itself does not.
    fn null_fits(&mut self, node: &'s Node, depth: u32) -> Fits {
        if node.accepts_null() {
            return Ok(true);
        }
        let mut combined = false;
        for check in node.checks.iter().filter(|check| check.is_combination()) {
            combined |= matches!(check, Check::OneOf(..) | Check::AnyOf(..) | Check::AllOf(_));
            if !self.own_fits(check, &JsonTree::Null)? || !self.check_fits(node, check, &JsonTree::Null, depth)? {
                return Ok(false);
            }
        }
        Ok(combined)
    }

    /// What a check says without other schemas.
    pub(crate) fn own_fits(&mut self, check: &Check, value: &JsonTree<'_>) -> Fits {
        Ok(match (check, value) {
            (Check::Never, _) => false,
            (Check::Enum(allowed) | Check::Const(allowed), value) => {
                if matches!(value, JsonTree::Items(_) | JsonTree::Members(_)) {
                    self.spend(size(value).saturating_mul(8))?;
                }
                allowed.has(value)
            }
            (_, JsonTree::Number(number)) => number_fits(check, number),
            (_, JsonTree::Text(_) | JsonTree::Unescaped(_)) => {
                let text = value.as_text().unwrap_or_default();
                if matches!(check, Check::Pattern(_) | Check::Format(_) | Check::MinLength(_) | Check::MaxLength(_)) {
                    self.spend(text.len() as u64 / 16)?;
                }
                text_fits(check, text)
            }
            (_, JsonTree::Items(items)) => self.items_fit(check, items)?,
            (_, JsonTree::Members(members)) => self.members_fit(check, members)?,
            _ => true,
        })
    }

    fn items_fit(&mut self, check: &Check, items: &[JsonTree<'_>]) -> Fits {
        let count = items.len() as u64;
        Ok(match check {
            Check::MinItems(least) => count >= *least,
            Check::MaxItems(most) => count <= *most,
            Check::NoMoreItems(most) => count <= *most,
            Check::UniqueItems => {
                self.spend(items.iter().map(size).sum::<u64>().saturating_mul(4))?;
                duplicates(items).is_none()
            }
            _ => true,
        })
    }

    fn members_fit(&mut self, check: &Check, members: &[Member<'_>]) -> Fits {
        let count = members.len() as u64;
        Ok(match check {
            Check::MinProperties(least) => count >= *least,
            Check::MaxProperties(most) => count <= *most,
            Check::Required(names) => {
                self.spend(names.len() as u64)?;
                self.missing(names, members).is_none()
            }
            Check::DependentRequired(lists) => {
                self.spend(lists.iter().map(|(_, names)| 1 + names.len() as u64).sum())?;
                self.missing_dependent(lists, members).is_none()
            }
            Check::Properties(properties) => {
                self.spend(members.len() as u64)?;
                self.of_other_side(properties, members).is_none() && self.unknown(properties, members)?.is_none()
            }
            _ => true,
        })
    }

    /// The first name that must be there and is not. A property that only the other side sends is not missing.
    pub(crate) fn missing<'n>(&self, names: &'n [RequiredName], members: &[Member<'_>]) -> Option<&'n str> {
        let of_other_side = |name: &RequiredName| match self.side {
            SchemaSide::Request => name.read_only,
            SchemaSide::Response => name.write_only,
            SchemaSide::Example => name.read_only || name.write_only,
        };
        let is_missing = |name: &&RequiredName| member(members, &name.name).is_none() && !of_other_side(name);
        names.iter().find(is_missing).map(|name| name.name.as_str())
    }

    pub(crate) fn missing_dependent<'n>(
        &self,
        lists: &'n [(String, Vec<RequiredName>)],
        members: &[Member<'_>],
    ) -> Option<&'n str> {
        let there = lists.iter().filter(|(name, _)| member(members, name).is_some());
        there.filter_map(|(_, names)| self.missing(names, members)).next()
    }

    /// The first property that the other side alone may send.
    pub(crate) fn of_other_side<'v>(&self, properties: &Properties, members: &'v [Member<'_>]) -> Option<&'v str> {
        let mut expected = 0;
        members.iter().filter(|(_, member)| !matches!(member, JsonTree::Null)).map(|(name, _)| name.as_ref()).find(|name| {
            let Some((index, property)) = properties.named.find(name, expected) else { return false };
            expected = index + 1;
            match self.side {
                SchemaSide::Request => property.read_only,
                SchemaSide::Response => property.write_only,
                SchemaSide::Example => false,
            }
        })
    }

    /// The first property of an object that allows no others.
    pub(crate) fn unknown<'v>(&mut self, properties: &Properties, members: &'v [Member<'_>]) -> Result<Option<&'v str>, Exhausted> {
        if properties.closed {
            for (name, _) in members {
                if properties.named.get(name).is_none() && !self.has_pattern(properties, name)? {
                    return Ok(Some(name));
                }
            }
        }
        Ok(None)
    }

    fn has_pattern(&mut self, properties: &Properties, name: &str) -> Fits {
        self.spend(properties.patterns.len() as u64 * (1 + name.len() as u64 / 16))?;
        Ok(properties.patterns.iter().any(|(pattern, _)| pattern.regex.is_match(name)))
    }

    /// What a check says by the schemas that it applies.
    pub(crate) fn check_fits(&mut self, node: &'s Node, check: &'s Check, value: &JsonTree<'_>, depth: u32) -> Fits {
        match (check, value) {
            (Check::Not(schema), _) => Ok(!self.fits(*schema, value, depth + 1)?),
            (Check::OneOf(schemas, discriminator), _) => match selected(discriminator.as_deref(), schemas, value) {
                Selected::These => Ok(self.count_fitting(schemas, value, depth, 2)? == 1),
                Selected::One(schema) => self.fits(schema, value, depth + 1),
                Selected::None(_) => Ok(false),
            },
            (Check::AnyOf(schemas, discriminator), _) => match selected(discriminator.as_deref(), schemas, value) {
                Selected::These => Ok(self.count_fitting(schemas, value, depth, 1)? == 1),
                Selected::One(schema) => self.fits(schema, value, depth + 1),
                Selected::None(_) => Ok(false),
            },
            (Check::Contains { least, most, .. }, JsonTree::Items(_)) => {
                let count = self.count_contained(check, value, depth)?;
                Ok(count >= *least && most.is_none_or(|most| count <= most))
            }
            (Check::PropertyNames(schema), JsonTree::Members(members)) => {
                for (name, _) in members {
                    if !self.name_fits(*schema, name, depth)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Check::UnevaluatedProperties(rest) | Check::UnevaluatedItems(rest), _) => {
                Ok(self.unevaluated(node, check, *rest, value, depth)?.is_none())
            }
            _ => self.each_applied(check, value, depth, |run, schema, value, _| run.fits(schema, value, depth + 1)),
        }
    }

    pub(crate) fn name_fits(&mut self, schema: SchemaId, name: &str, depth: u32) -> Fits {
        self.passing += 1;
        let fits = self.fits(schema, &JsonTree::Text(name), depth + 1);
        self.passing -= 1;
        fits
    }

    /// How many of some schemas a value fits, up to a maximum.
    pub(crate) fn count_fitting(
        &mut self,
        schemas: &[SchemaId],
        value: &JsonTree<'_>,
        depth: u32,
        most: usize,
    ) -> Result<usize, Exhausted> {
        let mut count = 0;
        for schema in schemas {
            count += usize::from(self.fits(*schema, value, depth + 1)?);
            if count == most {
                break;
            }
        }
        Ok(count)
    }

    pub(crate) fn count_contained(&mut self, check: &Check, value: &JsonTree<'_>, depth: u32) -> Result<u64, Exhausted> {
        let (Check::Contains { schema, .. }, JsonTree::Items(items)) = (check, value) else { return Ok(0) };
        let mut count = 0;
        for item in items {
            count += u64::from(self.fits(*schema, item, depth + 1)?);
        }
        Ok(count)
    }

    /// Calls `then` for each schema that a check applies and the value that it is applied to, until one of the calls returns false.
    pub(crate) fn each_applied<'v>(
        &mut self,
        check: &'s Check,
        value: &'v JsonTree<'v>,
        depth: u32,
        mut then: impl FnMut(&mut Self, SchemaId, &'v JsonTree<'v>, RunStep<'v>) -> Fits,
    ) -> Fits {
        match (check, value) {
            (Check::Reference(schema), _) => then(self, *schema, value, RunStep::Here),
            (Check::AllOf(schemas), _) => all(schemas.iter().map(|schema| then(self, *schema, value, RunStep::Here))),
            (Check::If { condition, then: holds, otherwise }, _) => {
                let branch = if self.fits(*condition, value, depth + 1)? { holds } else { otherwise };
                branch.map_or(Ok(true), |branch| then(self, branch, value, RunStep::Here))
            }
            (Check::DependentSchemas(schemas), JsonTree::Members(members)) => {
                self.spend(schemas.len() as u64)?;
                let there = schemas.iter().filter(|(name, _)| member(members, name).is_some());
                all(there.map(|(_, schema)| then(self, *schema, value, RunStep::Here)))
            }
            (Check::Items { first, rest }, JsonTree::Items(items)) => {
                let with_schema =
                    items.iter().enumerate().map_while(|(index, item)| Some((index, item, first.get(index).copied().or(*rest)?)));
                all(with_schema.map(|(index, item, schema)| then(self, schema, item, RunStep::Index(index))))
            }
            (Check::Properties(properties), JsonTree::Members(members)) => {
                let mut expected = 0;
                for (name, value) in members {
                    let found = properties.named.find(name, expected);
                    expected = found.map_or(expected, |(index, _)| index + 1);
                    let named = found.and_then(|(_, property)| property.schema);
                    let step = RunStep::Name(name);
                    if let Some(schema) = named
                        && !then(self, schema, value, step)?
                    {
                        return Ok(false);
                    }
                    let mut is_known = named.is_some();
                    for (pattern, schema) in &properties.patterns {
                        self.spend(1 + name.len() as u64 / 16)?;
                        if pattern.regex.is_match(&**name) {
                            is_known = true;
                            if !then(self, *schema, value, step)? {
                                return Ok(false);
                            }
                        }
                    }
                    if let Some(schema) = properties.others.filter(|_| !is_known)
                        && !then(self, schema, value, step)?
                    {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => Ok(true),
        }
    }
}

fn all(mut outcomes: impl Iterator<Item = Fits>) -> Fits {
    outcomes.find(|outcome| *outcome != Ok(true)).unwrap_or(Ok(true))
}

/// Which of several schemas a discriminator selects.
pub(crate) enum Selected<'d> {
    /// It does not select any.
    These,
    One(SchemaId),
    /// The value says nothing that it could select by.
    None(Unselected<'d>),
}

/// Why a discriminator selects no schema.
pub(crate) enum Unselected<'d> {
    Missing(&'d str),
    Unknown(&'d str),
    NoText(&'d str),
}

pub(crate) fn selected<'d>(discriminator: Option<&'d Discriminator>, schemas: &[SchemaId], value: &JsonTree<'_>) -> Selected<'d> {
    let (Some(discriminator), JsonTree::Members(members)) = (discriminator, value) else { return Selected::These };
    let property = discriminator.property.as_str();
    let Some(found) = member(members, property) else { return Selected::None(Unselected::Missing(property)) };
    let Some(name) = found.as_text() else { return Selected::None(Unselected::NoText(property)) };
    match discriminator.mapping.get(name).and_then(|index| schemas.get(*index)) {
        Some(schema) => Selected::One(*schema),
        None if discriminator.is_closed => Selected::None(Unselected::Unknown(property)),
        None => Selected::These,
    }
}

impl Node {
    /// Whether it accepts `null` by itself.
    pub(crate) fn accepts_null(&self) -> bool {
        self.nullable || self.types.has(Types::NULL)
    }
}

pub(crate) fn number_fits(check: &Check, number: &Number) -> bool {
    let than = |bound: &Number| Exact::of(number).partial_cmp(&Exact::of(bound));
    match check {
        Check::Minimum(bound) => than(bound).is_some_and(|order| order.is_ge()),
        Check::Maximum(bound) => than(bound).is_some_and(|order| order.is_le()),
        Check::ExclusiveMinimum(bound) => than(bound).is_some_and(|order| order.is_gt()),
        Check::ExclusiveMaximum(bound) => than(bound).is_some_and(|order| order.is_lt()),
        Check::MultipleOf(step) => is_multiple(number, step),
        Check::Format(format) => format.accepts_number(number),
        _ => true,
    }
}

pub(crate) fn text_fits(check: &Check, text: &str) -> bool {
    // Bytes are a bound for characters.
    match check {
        Check::MinLength(least) => text.len() as u64 >= *least && text.chars().count() as u64 >= *least,
        Check::MaxLength(most) => text.len() as u64 <= *most || text.chars().count() as u64 <= *most,
        Check::Pattern(pattern) => pattern.regex.is_match(text),
        Check::Format(format) => format.accepts_text(text),
        _ => true,
    }
}
