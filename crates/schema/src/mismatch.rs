//! All mismatches between a document and a schema, in the wording of Tyk's validator of JSON schemas, which clients may know.

use std::collections::HashMap;

use serde_json::Value;

use crate::equal::duplicates;
use crate::nodes::{Check, Node, SchemaId, SchemaSide, Schemas};
use crate::number::is_integer;
use crate::run::{Budget, CheckRun, Exhausted, RunStep};
use crate::tree::JsonTree;
use crate::unevaluated::UnfitRest;

/// Most mismatches in one refusal; a body of a mebibyte can have as many as it has bytes.
const MISMATCHES_MAX: usize = 50;
/// Longest text of all mismatches, in bytes: each may quote the client's body.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// All mismatches, joined by `; `; `None` when the document is valid.
pub(crate) fn all(schemas: &Schemas, root: SchemaId, document: &JsonTree<'_>, budget: Budget) -> Result<Option<String>, Exhausted> {
    let mut list = MismatchList {
        run: CheckRun::new(schemas, SchemaSide::Example, budget),
        counted: HashMap::new(),
        told: Vec::new(),
        bytes: 0,
    };
    list.tell(root, document, &mut Vec::new(), 0)?;
    if list.told.is_empty() {
        return Ok(None);
    }
    let mut text = list.told.join("; ");
    if text.len() > TEXT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
        text.push('…');
    }
    Ok(Some(text))
}

struct MismatchList<'s> {
    run: CheckRun<'s>,
    /// How far shared schemas are from values, by the addresses of the values.
    counted: HashMap<(SchemaId, usize), Distance>,
    told: Vec<String>,
    bytes: usize,
}

/// How far a value is from a schema: one of the right type is nearer, and then one with fewer mismatches.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Distance {
    is_other_type: bool,
    mismatches: u32,
}

impl Distance {
    fn add(&mut self, other: Distance) {
        self.is_other_type |= other.is_other_type;
        self.mismatches = self.mismatches.saturating_add(other.mismatches);
    }
}

impl<'s> MismatchList<'s> {
    fn is_full(&self) -> bool {
        self.told.len() >= MISMATCHES_MAX || self.bytes > TEXT_BYTES_MAX
    }

    fn say(&mut self, path: &[RunStep<'_>], text: impl AsRef<str>) {
        if !self.is_full() {
            let said = format!("{}: {}", place(path), text.as_ref());
            self.bytes += said.len();
            self.told.push(said);
        }
    }

    /// Adds the mismatches of a value.
    fn tell<'v>(
        &mut self,
        schema: SchemaId,
        value: &'v JsonTree<'v>,
        path: &mut Vec<RunStep<'v>>,
        depth: u32,
    ) -> Result<(), Exhausted> {
        let Some(node) = self.run.enter(schema, depth)? else { return Ok(()) };
        if !node.types.accepts(value) {
            self.say(path, format!("Invalid type. Expected: {}, given: {}", expected(&node.type_names), given(value)));
        }
        for check in &node.checks {
            if self.is_full() {
                break;
            }
            self.tell_check(node, check, value, path, depth)?;
        }
        Ok(())
    }

    fn tell_check<'v>(
        &mut self,
        node: &'s Node,
        check: &'s Check,
        value: &'v JsonTree<'v>,
        path: &mut Vec<RunStep<'v>>,
        depth: u32,
    ) -> Result<(), Exhausted> {
        match (check, value) {
            (Check::OneOf(schemas, _) | Check::AnyOf(schemas, _), _) => {
                let is_one_of = matches!(check, Check::OneOf(..));
                let count = self.run.count_fitting(schemas, value, depth, if is_one_of { 2 } else { 1 })?;
                if count == 1 {
                    return Ok(());
                }
                self.say(
                    path,
                    match is_one_of {
                        true => "Must validate one and only one schema (oneOf)",
                        false => "Must validate at least one schema (anyOf)",
                    },
                );
                match self.nearest(schemas, value, depth)? {
                    Some(nearest) if count == 0 => self.tell(nearest, value, path, depth + 1),
                    _ => Ok(()),
                }
            }
            (Check::Properties(properties), JsonTree::Members(members)) if properties.closed => {
                for (name, _) in members.iter().filter(|(name, _)| properties.named.get(name).is_none()) {
                    let alone = [(name.clone(), JsonTree::Null)];
                    if self.run.unknown(properties, &alone)?.is_some() {
                        self.say(path, format!("Additional property {name} is not allowed"));
                    }
                    if self.is_full() {
                        return Ok(());
                    }
                }
                self.tell_applied(check, value, path, depth)
            }
            (Check::Required(names), JsonTree::Members(_)) => {
                for name in names.iter().filter(|name| value.member(&name.name).is_none()) {
                    self.say(path, format!("{} is required", name.name));
                }
                Ok(())
            }
            (Check::DependentRequired(lists), JsonTree::Members(_)) => {
                let missing = lists.iter().filter(|(name, _)| value.member(name).is_some()).flat_map(|(_, names)| names);
                for name in missing.filter(|name| value.member(&name.name).is_none()) {
                    self.say(path, format!("Has a dependency on {}", name.name));
                }
                Ok(())
            }
            (Check::PropertyNames(schema), JsonTree::Members(members)) => {
                for (name, _) in members {
                    if !self.run.name_fits(*schema, name, depth)? {
                        self.say(path, format!("Property name of {} does not match", Value::from(name.as_ref())));
                    }
                    if self.is_full() {
                        break;
                    }
                }
                Ok(())
            }
            (Check::UnevaluatedProperties(rest) | Check::UnevaluatedItems(rest), _) => {
                match self.run.unevaluated(node, check, *rest, value, depth)? {
                    Some(UnfitRest::Name(name)) => self.say(path, format!("Additional property {name} is not allowed")),
                    Some(UnfitRest::Index(_)) => self.say(path, "No additional items allowed on array"),
                    None => {}
                }
                Ok(())
            }
            (Check::Not(_) | Check::Contains { .. }, _) => {
                if !self.run.check_fits(node, check, value, depth)? {
                    self.say(
                        path,
                        match check {
                            Check::Not(_) => "Must not validate the schema (not)",
                            _ => "At least one of the items must match",
                        },
                    );
                }
                Ok(())
            }
            _ if !self.run.own_fits(check, value)? => {
                let said = words(check, path, value);
                self.say(path, said);
                Ok(())
            }
            _ => self.tell_applied(check, value, path, depth),
        }
    }

    fn tell_applied<'v>(
        &mut self,
        check: &'s Check,
        value: &'v JsonTree<'v>,
        path: &mut Vec<RunStep<'v>>,
        depth: u32,
    ) -> Result<(), Exhausted> {
        let mut unfit = Vec::new();
        self.run.each_applied(check, value, depth, |run, schema, value, step| {
            if !run.fits(schema, value, depth + 1)? {
                unfit.push((schema, value, step));
            }
            Ok(unfit.len() < MISMATCHES_MAX)
        })?;
        for (schema, value, step) in unfit {
            let before = path.len();
            if !matches!(step, RunStep::Here) {
                path.push(step);
            }
            self.tell(schema, value, path, depth + 1)?;
            path.truncate(before);
        }
        Ok(())
    }

    /// The nearest of several alternatives.
    fn nearest(&mut self, schemas: &[SchemaId], value: &JsonTree<'_>, depth: u32) -> Result<Option<SchemaId>, Exhausted> {
        let mut nearest: Option<(Distance, SchemaId)> = None;
        for schema in schemas {
            let distance = self.distance(*schema, value, depth + 1)?;
            if nearest.is_none_or(|(known, _)| distance < known) {
                nearest = Some((distance, *schema));
            }
        }
        Ok(nearest.map(|(_, schema)| schema))
    }

    fn distance(&mut self, schema: SchemaId, value: &JsonTree<'_>, depth: u32) -> Result<Distance, Exhausted> {
        let Some(node) = self.run.enter(schema, depth)? else { return Ok(Distance::default()) };
        let known_as = (schema, std::ptr::from_ref(value).addr());
        if let Some(known) = self.counted.get(&known_as) {
            return Ok(*known);
        }
        let is_other_type = !node.types.accepts(value);
        let mut whole = Distance { is_other_type, mismatches: u32::from(is_other_type) };
        for check in &node.checks {
            whole.add(self.distance_of_check(node, check, value, depth)?);
        }
        if node.is_shared {
            self.counted.insert(known_as, whole);
        }
        Ok(whole)
    }

    fn distance_of_check(
        &mut self,
        node: &'s Node,
        check: &'s Check,
        value: &JsonTree<'_>,
        depth: u32,
    ) -> Result<Distance, Exhausted> {
        let mut whole = Distance::default();
        if !self.run.own_fits(check, value)? {
            whole.mismatches = match (check, value) {
                (Check::Required(names), JsonTree::Members(_)) => {
                    names.iter().filter(|name| value.member(&name.name).is_none()).count() as u32
                }
                _ => 1,
            };
        }
        match check {
            Check::OneOf(..)
            | Check::AnyOf(..)
            | Check::Not(_)
            | Check::Contains { .. }
            | Check::PropertyNames(_)
            | Check::UnevaluatedProperties(_)
            | Check::UnevaluatedItems(_) => {
                whole.mismatches += u32::from(!self.run.check_fits(node, check, value, depth)?);
                Ok(whole)
            }
            _ => {
                let mut unfit = Vec::new();
                self.run.each_applied(check, value, depth, |run, schema, value, step| {
                    if !run.fits(schema, value, depth + 1)? {
                        unfit.push((schema, value, step));
                    }
                    Ok(unfit.len() < MISMATCHES_MAX)
                })?;
                for (schema, value, step) in unfit {
                    let mut below = self.distance(schema, value, depth + 1)?;
                    below.is_other_type &= matches!(step, RunStep::Here);
                    whole.add(below);
                }
                Ok(whole)
            }
        }
    }
}

fn words(check: &Check, path: &[RunStep<'_>], value: &JsonTree<'_>) -> String {
    match check {
        Check::Never => "False always fails validation".to_owned(),
        Check::Const(allowed) => format!("{} does not match: {}", place(path), allowed.written().first().unwrap_or(&Value::Null)),
        Check::Enum(allowed) => {
            let options: Vec<_> = allowed.written().iter().map(Value::to_string).collect();
            format!("{} must be one of the following: {}", place(path), options.join(", "))
        }
        Check::NoMoreItems(_) => "No additional items allowed on array".to_owned(),
        Check::MinItems(limit) => format!("Array must have at least {limit} items"),
        Check::MaxItems(limit) => format!("Array must have at most {limit} items"),
        Check::UniqueItems => match value {
            JsonTree::Items(items) => duplicates(items)
                .map_or_else(String::new, |(first, second)| format!("array items[{first},{second}] must be unique")),
            _ => String::new(),
        },
        Check::MinProperties(limit) => format!("Must have at least {limit} properties"),
        Check::MaxProperties(limit) => format!("Must have at most {limit} properties"),
        Check::MinLength(limit) => format!("String length must be greater than or equal to {limit}"),
        Check::MaxLength(limit) => format!("String length must be less than or equal to {limit}"),
        Check::Pattern(pattern) => format!("Does not match pattern '{}'", pattern.written),
        Check::Format(format) => format!("Does not match format '{}'", format.name()),
        Check::MultipleOf(step) => format!("Must be a multiple of {step}"),
        Check::Minimum(limit) => format!("Must be greater than or equal to {limit}"),
        Check::ExclusiveMinimum(limit) => format!("Must be greater than {limit}"),
        Check::Maximum(limit) => format!("Must be less than or equal to {limit}"),
        Check::ExclusiveMaximum(limit) => format!("Must be less than {limit}"),
        _ => "Does not fit".to_owned(),
    }
}

/// `a.0.b`, or the root.
fn place(path: &[RunStep<'_>]) -> String {
    let step = |step: &RunStep<'_>| match step {
        RunStep::Here => String::new(),
        RunStep::Index(index) => index.to_string(),
        RunStep::Name(name) => (*name).to_owned(),
    };
    if path.is_empty() { "(root)".to_owned() } else { path.iter().map(step).collect::<Vec<_>>().join(".") }
}

/// One type, or all of them in the order of their names.
fn expected(names: &[String]) -> String {
    match names {
        [name] => name.clone(),
        names => {
            let mut names = names.to_vec();
            names.sort();
            format!("[{}]", names.join(","))
        }
    }
}

fn given(value: &JsonTree<'_>) -> &'static str {
    match value {
        JsonTree::Null => "null",
        JsonTree::Bool(_) => "boolean",
        JsonTree::Number(number) if is_integer(number) => "integer",
        JsonTree::Number(_) => "number",
        JsonTree::Text(_) | JsonTree::Unescaped(_) => "string",
        JsonTree::Items(_) => "array",
        JsonTree::Members(_) => "object",
    }
}
