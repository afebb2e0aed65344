//! The first mismatch of a value, in the words and in the order of checks of Tyk's validator of OpenAPI documents, because clients see them.

use std::fmt::Write as _;

use serde_json::{Number, Value};

use crate::nodes::{Check, Node, SchemaId, SchemaSide, Schemas};
use crate::run::{Budget, CheckRun, Exhausted, RunStep, Selected, Unselected, number_fits, selected, text_fits};
use crate::tree::JsonTree;
use crate::unevaluated::UnfitRest;

/// Maximum bytes of a mismatch's text: alternatives repeat each other's.
const MESSAGE_BYTES_MAX: usize = 4 << 10;

/// Maximum alternatives whose mismatches are put into words: alternatives may have alternatives.
const ALTERNATIVES_MAX: u32 = 256;

/// The first mismatch of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Steps from the mismatch outwards.
    steps: Vec<String>,
    reason: String,
    is_exhausted: bool,
}

impl Mismatch {
    fn new(reason: impl Into<String>) -> Self {
        Mismatch { steps: Vec::new(), reason: reason.into(), is_exhausted: false }
    }

    fn below(mut self, step: RunStep<'_>) -> Self {
        match step {
            RunStep::Here => {}
            RunStep::Index(index) => self.steps.push(index.to_string()),
            RunStep::Name(name) => self.steps.push(name.to_owned()),
        }
        self
    }

    /// Whether the value may fit, and finding out would take too much work.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }
}

impl From<Exhausted> for Mismatch {
    fn from(_: Exhausted) -> Self {
        let reason = "validation takes too long: the value is nested too deep or matches too many alternatives";
        Mismatch { is_exhausted: true, ..Mismatch::new(reason) }
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.steps.is_empty() {
            f.write_str("Error at \"")?;
            self.steps.iter().rev().try_for_each(|step| write!(f, "/{step}"))?;
            f.write_str("\": ")?;
        }
        f.write_str(&self.reason)
    }
}

type Outcome = Result<(), Mismatch>;

fn mismatch(reason: impl Into<String>) -> Outcome {
    Err(Mismatch::new(reason))
}

impl Schemas {
    /// The first mismatch of a value.
    ///
    /// # Errors
    /// The mismatch, or that there is too much work to find out.
    pub fn check(&self, schema: SchemaId, value: &JsonTree<'_>, side: SchemaSide, budget: Budget) -> Result<(), Mismatch> {
        let mut search = FirstSearch { run: CheckRun::new(self, side, budget), alternatives_left: ALTERNATIVES_MAX };
        search.check(schema, value, 0)
    }
}

/// The search for the first mismatch.
struct FirstSearch<'s> {
    run: CheckRun<'s>,
    alternatives_left: u32,
}

impl<'s> FirstSearch<'s> {
    fn check(&mut self, schema: SchemaId, value: &JsonTree<'_>, depth: u32) -> Outcome {
        let Some(node) = self.run.enter(schema, depth)? else { return Ok(()) };
        let is_null = matches!(value, JsonTree::Null);
        if is_null && node.null_is_extra && node.accepts_null() {
            return Ok(());
        }
        let mut combined = false;
        for check in node.checks.iter().filter(|check| check.is_combination()) {
            combined |= matches!(check, Check::OneOf(..) | Check::AnyOf(..) | Check::AllOf(_));
            self.one(node, check, value, depth)?;
        }
        if is_null && node.null_is_extra {
            // One of the combined schemas accepted it.
            return if combined { Ok(()) } else { mismatch("Value is not nullable") };
        }
        for check in node.checks.iter().filter(|check| check.is_choice()) {
            self.one(node, check, value, depth)?;
        }
        if !node.types.accepts(value) {
            return mismatch(expected_type(&node.type_names));
        }
        self.sides(node, value)?;
        for check in node.checks.iter().filter(|check| !check.is_combination() && !check.is_choice()) {
            self.one(node, check, value, depth)?;
        }
        Ok(())
    }

    /// Properties that the other side alone may send.
    fn sides(&self, node: &Node, value: &JsonTree<'_>) -> Outcome {
        let JsonTree::Members(members) = value else { return Ok(()) };
        for check in &node.checks {
            if let Check::Properties(properties) = check
                && let Some(name) = self.run.of_other_side(properties, members)
            {
                return match self.run.side {
                    SchemaSide::Response => mismatch(format!("writeOnly property {name:?} in response")),
                    _ => mismatch(format!("readOnly property {name:?} in request")),
                };
            }
        }
        Ok(())
    }

    fn one(&mut self, node: &'s Node, check: &'s Check, value: &JsonTree<'_>, depth: u32) -> Outcome {
        match (check, value) {
            (Check::Never, _) => mismatch("no value is allowed here"),
            (Check::OneOf(schemas, discriminator), _) => match selected(discriminator.as_deref(), schemas, value) {
                Selected::One(schema) => self.check(schema, value, depth + 1),
                Selected::None(why) => mismatch(why.to_string()),
                Selected::These => match self.run.count_fitting(schemas, value, depth, 2)? {
                    1 => Ok(()),
                    0 => mismatch(self.because(schemas, value, depth, " Or ")?),
                    _ => mismatch("input matches more than one oneOf schemas"),
                },
            },
            (Check::AnyOf(schemas, discriminator), _) => match selected(discriminator.as_deref(), schemas, value) {
                Selected::One(schema) => self.check(schema, value, depth + 1),
                Selected::None(why) => mismatch(why.to_string()),
                Selected::These if self.run.count_fitting(schemas, value, depth, 1)? == 1 => Ok(()),
                Selected::These => mismatch("doesn't match any schema from \"anyOf\""),
            },
            (Check::AllOf(schemas), _) => match self.run.check_fits(node, check, value, depth)? {
                true => Ok(()),
                false => mismatch(self.because(schemas, value, depth, " And ")?),
            },
            (Check::Properties(properties), JsonTree::Members(members)) => {
                // Tyk's validator takes the members one by one; the first that is not allowed may stand behind one that does not fit.
                self.applied(check, value, depth)?;
                match self.run.unknown(properties, members)? {
                    Some(name) => mismatch(format!("property {name:?} is unsupported")),
                    None => Ok(()),
                }
            }
            (Check::Required(names), JsonTree::Members(members)) => self.required(self.run.missing(names, members)),
            (Check::DependentRequired(lists), JsonTree::Members(members)) => {
                self.required(self.run.missing_dependent(lists, members))
            }
            (Check::Contains { least, most, .. }, JsonTree::Items(_)) => match self.run.count_contained(check, value, depth)? {
                count if count < *least => mismatch(format!("at least {least} items must match \"contains\"")),
                count if most.is_some_and(|most| count > most) => mismatch("too many items match \"contains\""),
                _ => Ok(()),
            },
            (Check::PropertyNames(schema), JsonTree::Members(members)) => {
                for (name, _) in members {
                    let name_value = JsonTree::Text(name);
                    if !self.run.name_fits(*schema, name, depth)? {
                        self.check(*schema, &name_value, depth + 1).map_err(|found| found.below(RunStep::Name(name)))?;
                    }
                }
                Ok(())
            }
            (Check::UnevaluatedProperties(rest) | Check::UnevaluatedItems(rest), _) => {
                match self.run.unevaluated(node, check, *rest, value, depth)? {
                    None => Ok(()),
                    Some(UnfitRest::Name(name)) => mismatch(format!("property {name:?} is unsupported")),
                    Some(UnfitRest::Index(index)) => {
                        let item = match value {
                            JsonTree::Items(items) => items.get(index),
                            _ => None,
                        };
                        let found = item.map_or(Ok(()), |item| self.check(*rest, item, depth + 1));
                        found.map_err(|found| found.below(RunStep::Index(index)))
                    }
                }
            }
            (Check::Not(_), _) if !self.run.check_fits(node, check, value, depth)? => mismatch("Doesn't match schema \"not\""),
            (Check::Not(_), _) => Ok(()),
            _ if !self.run.own_fits(check, value)? => mismatch(words(check, value)),
            _ => self.applied(check, value, depth),
        }
    }

    /// The schemas that a check applies.
    fn applied(&mut self, check: &'s Check, value: &JsonTree<'_>, depth: u32) -> Outcome {
        let mut pairs = Vec::new();
        // Of a list, the first item that does not fit; all others need no words.
        self.run.each_applied(check, value, depth, |run, schema, value, step| {
            let fits = run.fits(schema, value, depth + 1)?;
            if !fits {
                pairs.push((schema, value, step));
            }
            Ok(fits)
        })?;
        pairs
            .into_iter()
            .try_for_each(|(schema, value, step)| self.check(schema, value, depth + 1).map_err(|found| found.below(step)))
    }

    fn required(&self, missing: Option<&str>) -> Outcome {
        match missing {
            None => Ok(()),
            Some(name) => mismatch(format!("property {name:?} is missing")).map_err(|found| found.below(RunStep::Name(name))),
        }
    }

    /// The mismatches of several schemas.
    fn because(&mut self, schemas: &[SchemaId], value: &JsonTree<'_>, depth: u32, between: &str) -> Result<String, Exhausted> {
        let mut text = "doesn't match schema due to: ".to_owned();
        let mut is_first = true;
        for schema in schemas {
            if text.len() > MESSAGE_BYTES_MAX || self.alternatives_left == 0 {
                text.push_str(" ...");
                break;
            }
            self.alternatives_left -= 1;
            let Err(found) = self.check(*schema, value, depth + 1) else { continue };
            if found.is_exhausted {
                return Err(Exhausted);
            }
            let _ = write!(text, "{}{found}", if is_first { "" } else { between });
            is_first = false;
        }
        text.truncate(text.floor_char_boundary(MESSAGE_BYTES_MAX * 2));
        Ok(text)
    }
}

/// What a check says that needs no other schemas.
fn words(check: &Check, value: &JsonTree<'_>) -> String {
    let float = |bound: &Number| bound.as_f64().unwrap_or_default();
    match check {
        Check::Enum(allowed) => format!("value is not one of the allowed values {}", Value::Array(allowed.written().to_vec())),
        Check::Const(allowed) => format!("value must be {}", allowed.written().first().unwrap_or(&Value::Null)),
        Check::Minimum(bound) => format!("number must be at least {}", float(bound)),
        Check::Maximum(bound) => format!("number must be at most {}", float(bound)),
        Check::ExclusiveMinimum(bound) => format!("number must be more than {}", float(bound)),
        Check::ExclusiveMaximum(bound) => format!("number must be less than {}", float(bound)),
        Check::MultipleOf(step) => format!("number must be a multiple of {}", float(step)),
        Check::MinLength(least) => format!("minimum string length is {least}"),
        Check::MaxLength(most) => format!("maximum string length is {most}"),
        Check::Pattern(pattern) => format!("string doesn't match the regular expression \"{}\"", pattern.written),
        Check::Format(format) => {
            let kind = if value.as_text().is_some() { "string" } else { "number" };
            format!("{kind} doesn't match the format {:?}", format.name())
        }
        Check::MinItems(least) => format!("minimum number of items is {least}"),
        Check::MaxItems(most) | Check::NoMoreItems(most) => format!("maximum number of items is {most}"),
        Check::UniqueItems => "duplicate items found".to_owned(),
        Check::MinProperties(least) => format!("there must be at least {least} properties"),
        Check::MaxProperties(most) => format!("there must be at most {most} properties"),
        _ => "the value does not fit".to_owned(),
    }
}

impl std::fmt::Display for Unselected<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unselected::Missing(property) => write!(f, "input does not contain the discriminator property {property:?}"),
            Unselected::Unknown(property) => write!(f, "discriminator property {property:?} has invalid value"),
            Unselected::NoText(property) => write!(f, "value of discriminator property {property:?} is not a string"),
        }
    }
}

impl CheckRun<'_> {
    /// Whether a string fits, for schemas that the quick form knows.
    pub(crate) fn single_text_fits(check: &Check, text: &str) -> bool {
        match check {
            Check::Enum(allowed) | Check::Const(allowed) => allowed.has_text(text),
            check => text_fits(check, text),
        }
    }

    /// The same for a number.
    pub(crate) fn single_number_fits(check: &Check, number: &Number) -> bool {
        match check {
            Check::Enum(allowed) | Check::Const(allowed) => allowed.has(&JsonTree::Number(number.clone())),
            check => number_fits(check, number),
        }
    }
}

fn expected_type(names: &[String]) -> String {
    match names {
        [name] if ["array", "object", "integer"].contains(&name.as_str()) => format!("value must be an {name}"),
        [name] => format!("value must be a {name}"),
        names => format!("value must be one of {}", names.join(", ")),
    }
}

#[cfg(test)]
pub(crate) mod tests;
