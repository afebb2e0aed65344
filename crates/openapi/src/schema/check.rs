//! Checks a value against a compiled schema. The order of checks and the wording of mismatches are those of Tyk's validator, because clients see
//! them: the first mismatch is reported.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

use super::{Check, Discriminator, Node, Properties, SchemaId, Schemas, Types};

mod unevaluated;

/// Maximum nesting of schemas in one validation: a recursive schema goes as deep as its value, which has 127 levels at most, and some of them
/// pass through several references.
const DEPTH_MAX: u32 = 512;

/// Maximum schemas that one validation applies. A body of a few KiB needs some thousands; combinations of `oneOf` can need any number.
const WORK_MAX: u32 = 1_000_000;

/// Maximum bytes of a mismatch's text: alternatives repeat each other's.
const MESSAGE_BYTES_MAX: usize = 4 << 10;

/// Which message a value is part of: properties may be allowed in only one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// A request: `readOnly` properties are not allowed.
    Request,
    /// A response: `writeOnly` properties are not allowed.
    Response,
    /// An example of either: all properties are allowed, and those of one side may be missing.
    Example,
}

/// The first mismatch of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Steps from the mismatch outwards.
    steps: Vec<String>,
    reason: String,
}

impl Mismatch {
    fn new(reason: impl Into<String>) -> Self {
        Mismatch { steps: Vec::new(), reason: reason.into() }
    }

    fn below(mut self, step: impl Into<String>) -> Self {
        self.steps.push(step.into());
        self
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

impl Schemas {
    /// The first mismatch of a value.
    pub(crate) fn check(&self, schema: SchemaId, value: &Value, side: Side) -> Result<(), Mismatch> {
        let mut run = CheckRun { schemas: self, side, work: 0, quiet: 0 };
        run.check(schema, value, 0)
    }

    /// The reference or title of a schema.
    pub(crate) fn name(&self, schema: SchemaId) -> &str {
        self.node(schema).map_or("", |node| node.name.as_str())
    }

    pub(super) fn node(&self, schema: SchemaId) -> Option<&Node> {
        self.nodes.get(schema.0 as usize)
    }

    /// The schema behind references.
    pub(super) fn followed(&self, schema: SchemaId) -> Option<&Node> {
        let mut node = self.node(schema)?;
        for _ in 0..16 {
            match node.checks.as_slice() {
                [Check::Reference(target)] if !node.read_only && !node.write_only => node = self.node(*target)?,
                _ => break,
            }
        }
        Some(node)
    }

    /// The types that a schema or those that it refers to accept, for decoding texts. Empty for any.
    fn types(&self, schema: SchemaId) -> Types {
        self.decided(schema, 0, &|node| (node.types.0 != 0).then_some(node.types)).unwrap_or_default()
    }

    /// What a schema or those that it consists of decide.
    fn decided<T>(&self, schema: SchemaId, depth: u32, decide: &dyn Fn(&Node) -> Option<T>) -> Option<T> {
        let node = self.node(schema).filter(|_| depth < 16)?;
        decide(node).or_else(|| {
            node.checks.iter().find_map(|check| match check {
                Check::Reference(target) => self.decided(*target, depth + 1, decide),
                Check::AllOf(parts) => parts.iter().find_map(|part| self.decided(*part, depth + 1, decide)),
                _ => None,
            })
        })
    }

    /// Whether a schema accepts texts, or anything.
    pub(crate) fn accepts_text(&self, schema: SchemaId) -> bool {
        let types = self.types(schema);
        types.0 == 0 || types.has(Types::STRING)
    }

    /// Whether a schema accepts texts and nothing else.
    pub(crate) fn is_text(&self, schema: SchemaId) -> bool {
        self.types(schema) == Types(Types::STRING)
    }

    /// A text as the value that the schema expects. Without a fitting one, the text itself.
    pub(crate) fn decode(&self, schema: SchemaId, text: &str) -> Result<Value, String> {
        self.decode_at(schema, text, 0)
    }

    fn decode_at(&self, schema: SchemaId, text: &str, depth: u32) -> Result<Value, String> {
        let types = self.types(schema);
        if types.0 == 0 && depth < 8 {
            // Of alternatives, the first one whose decoded value fits.
            let alternatives = self.decided(schema, 0, &|node| {
                node.checks.iter().find_map(|check| match check {
                    Check::OneOf(schemas, _) | Check::AnyOf(schemas, _) => Some(schemas.clone()),
                    _ => None,
                })
            });
            let fitting = alternatives.into_iter().flatten().find_map(|alternative| {
                let value = self.decode_at(alternative, text, depth + 1).ok()?;
                self.check(alternative, &value, Side::Request).is_ok().then_some(value)
            });
            return Ok(fitting.unwrap_or_else(|| Value::String(text.to_owned())));
        }
        let invalid = |kind: &str| format!("value {text}: an invalid {kind}: invalid syntax");
        let mut failure = None;
        for kind in [Types::NULL, Types::BOOLEAN, Types::INTEGER, Types::NUMBER, Types::STRING] {
            if !types.has(kind) {
                continue;
            }
            match kind {
                Types::NULL if text == "null" => return Ok(Value::Null),
                Types::BOOLEAN => match text {
                    "1" | "t" | "T" | "TRUE" | "true" | "True" => return Ok(Value::Bool(true)),
                    "0" | "f" | "F" | "FALSE" | "false" | "False" => return Ok(Value::Bool(false)),
                    _ => failure = Some(invalid("boolean")),
                },
                Types::INTEGER => match integer(text) {
                    Some(number) => return Ok(Value::Number(number)),
                    None => failure = Some(invalid("integer")),
                },
                Types::NUMBER => match text.parse::<f64>().ok().and_then(Number::from_f64).filter(|_| is_decimal(text)) {
                    Some(number) => return Ok(Value::Number(integer(text).unwrap_or(number))),
                    None => failure = Some(invalid("number")),
                },
                Types::STRING => return Ok(Value::String(text.to_owned())),
                _ => {}
            }
        }
        match failure {
            Some(failure) => Err(failure),
            None => Ok(Value::String(text.to_owned())),
        }
    }

    /// Whether a schema describes a list, an object, or neither.
    pub(crate) fn shape(&self, schema: SchemaId) -> Shape {
        let types = self.types(schema);
        match () {
            () if types.has(Types::ARRAY) => Shape::List,
            () if types.has(Types::OBJECT) => Shape::Object,
            () => Shape::Single,
        }
    }

    /// The schema of the items of a list.
    pub(crate) fn items(&self, schema: SchemaId) -> Option<SchemaId> {
        self.decided(schema, 0, &|node| {
            node.checks.iter().find_map(|check| match check {
                Check::Items { rest, .. } => *rest,
                _ => None,
            })
        })
    }

    /// The schema of a property of an object; that of all others if it has none of its own.
    pub(crate) fn property(&self, schema: SchemaId, name: &str) -> Option<SchemaId> {
        self.decided(schema, 0, &|node| {
            node.checks.iter().find_map(|check| match check {
                Check::Properties(properties) => properties.named.get(name).or(properties.others),
                _ => None,
            })
        })
    }
}

/// What a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Single,
    List,
    Object,
}

/// A whole number as Go reads it: with a sign, and with the prefix of a base.
fn integer(text: &str) -> Option<Number> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (base, digits) = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (16, digits.get(2..)?),
        Some("0b") => (2, digits.get(2..)?),
        Some("0o") => (8, digits.get(2..)?),
        _ if digits.len() > 1 && digits.starts_with('0') => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = i128::from_str_radix(digits, base).ok()?;
    i64::try_from(if negative { -magnitude } else { magnitude }).ok().map(Number::from)
}

fn is_decimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
}

pub(super) fn is_integer(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|value| value.fract() == 0.0)
}

/// One validation.
pub(super) struct CheckRun<'s> {
    pub(super) schemas: &'s Schemas,
    pub(super) side: Side,
    pub(super) work: u32,
    /// How many callers only want to know whether a value fits.
    pub(super) quiet: u32,
}

pub(super) type Outcome = Result<(), Mismatch>;

impl<'s> CheckRun<'s> {
    fn fits(&mut self, schema: SchemaId, value: &Value, depth: u32) -> bool {
        self.quiet += 1;
        let fits = self.check(schema, value, depth).is_ok();
        self.quiet -= 1;
        fits
    }

    /// A mismatch; its text is not written if nobody reads it.
    fn mismatch(&self, reason: impl FnOnce() -> String) -> Outcome {
        Err(Mismatch::new(if self.quiet > 0 { String::new() } else { reason() }))
    }

    pub(super) fn check(&mut self, schema: SchemaId, value: &Value, depth: u32) -> Outcome {
        self.work += 1;
        if depth > DEPTH_MAX || self.work > WORK_MAX {
            return Err(Mismatch::new("validation takes too long: the value is nested too deep or matches too many alternatives"));
        }
        let schemas = self.schemas;
        let Some(node) = schemas.node(schema) else { return Ok(()) };
        if value.is_null() && (node.nullable || node.types.has(Types::NULL)) && node.null_is_extra {
            return Ok(());
        }
        let is_combination = |check: &Check| {
            matches!(
                check,
                Check::Reference(_)
                    | Check::Not(_)
                    | Check::OneOf(..)
                    | Check::AnyOf(..)
                    | Check::AllOf(_)
                    | Check::If { .. }
                    | Check::Never
            )
        };
        let mut combined = false;
        for check in node.checks.iter().filter(|check| is_combination(check)) {
            combined |= matches!(check, Check::OneOf(..) | Check::AnyOf(..) | Check::AllOf(_));
            self.one(check, value, depth)?;
        }
        if value.is_null() && node.null_is_extra {
            // One of the combined schemas accepted it.
            return if combined { Ok(()) } else { self.mismatch(|| "Value is not nullable".to_owned()) };
        }
        let is_choice = |check: &Check| matches!(check, Check::Enum(_) | Check::Const(_));
        for check in node.checks.iter().filter(|check| is_choice(check)) {
            self.one(check, value, depth)?;
        }
        if !node.types.accepts(value) {
            return self.mismatch(|| expected_type(&node.type_names));
        }
        if let Value::Object(members) = value {
            self.sides(node, members)?;
        }
        for check in node.checks.iter().filter(|check| !is_combination(check) && !is_choice(check)) {
            match (check, value) {
                (Check::Required(names), Value::Object(members)) => self.required(names, members, Some(node))?,
                (Check::UnevaluatedProperties(schema) | Check::UnevaluatedItems(schema), _) => {
                    self.unevaluated(node, *schema, value, depth)?;
                }
                (Check::DependentSchemas(schemas), Value::Object(members)) => {
                    for (_, schema) in schemas.iter().filter(|(name, _)| members.contains_key(name)) {
                        self.check(*schema, value, depth + 1)?;
                    }
                }
                _ => self.one(check, value, depth)?,
            }
        }
        Ok(())
    }

    /// Properties that the other side alone may send.
    fn sides(&self, node: &Node, members: &Map<String, Value>) -> Outcome {
        for properties in node.checks.iter().filter_map(properties_of) {
            for name in members.iter().filter(|(_, member)| !member.is_null()).map(|(name, _)| name) {
                let Some(property) = properties.named.get(name).and_then(|schema| self.schemas.followed(schema)) else { continue };
                match self.side {
                    Side::Request if property.read_only => {
                        return self.mismatch(|| format!("readOnly property {name:?} in request"));
                    }
                    Side::Response if property.write_only => {
                        return self.mismatch(|| format!("writeOnly property {name:?} in response"));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    pub(super) fn one(&mut self, check: &'s Check, value: &Value, depth: u32) -> Outcome {
        match check {
            Check::Never => self.mismatch(|| "no value is allowed here".to_owned()),
            Check::Reference(target) => self.check(*target, value, depth + 1),
            Check::Not(schema) if self.fits(*schema, value, depth + 1) => {
                self.mismatch(|| "Doesn't match schema \"not\"".to_owned())
            }
            Check::Not(_) => Ok(()),
            Check::OneOf(schemas, discriminator) => self.one_of(schemas, discriminator.as_ref(), value, depth),
            Check::AnyOf(schemas, discriminator) => self.any_of(schemas, discriminator.as_ref(), value, depth),
            Check::AllOf(schemas) => self.all_of(schemas, value, depth),
            Check::If { condition, then, otherwise } => {
                let branch = if self.fits(*condition, value, depth + 1) { then } else { otherwise };
                branch.map_or(Ok(()), |branch| self.check(branch, value, depth + 1))
            }
            Check::Enum(values) if values.iter().any(|allowed| equal(allowed, value)) => Ok(()),
            Check::Enum(values) => {
                self.mismatch(|| format!("value is not one of the allowed values {}", Value::Array(values.clone())))
            }
            Check::Const(allowed) if equal(allowed, value) => Ok(()),
            Check::Const(allowed) => self.mismatch(|| format!("value must be {allowed}")),
            _ => match value {
                Value::Number(number) => self.number(check, number),
                Value::String(text) => self.text(check, text),
                Value::Array(items) => self.list(check, items, depth),
                Value::Object(members) => self.object(check, members, depth),
                Value::Null | Value::Bool(_) => Ok(()),
            },
        }
    }

    fn one_of(&mut self, schemas: &[SchemaId], discriminator: Option<&Discriminator>, value: &Value, depth: u32) -> Outcome {
        if let Some(selected) = self.selected(discriminator, schemas, value)? {
            return self.check(selected, value, depth + 1);
        }
        let mut matched = Vec::new();
        let mut failures = Vec::new();
        for (index, schema) in schemas.iter().enumerate() {
            match self.check(*schema, value, depth + 1) {
                Ok(()) => matched.push(index),
                Err(failure) => failures.push(failure),
            }
        }
        match matched.as_slice() {
            [_] => Ok(()),
            [] => self.mismatch(|| because(&failures, " Or ")),
            _ => self.mismatch(|| "input matches more than one oneOf schemas".to_owned()),
        }
    }

    fn any_of(&mut self, schemas: &[SchemaId], discriminator: Option<&Discriminator>, value: &Value, depth: u32) -> Outcome {
        if let Some(selected) = self.selected(discriminator, schemas, value)? {
            return self.check(selected, value, depth + 1);
        }
        if schemas.iter().any(|schema| self.fits(*schema, value, depth + 1)) {
            return Ok(());
        }
        self.mismatch(|| "doesn't match any schema from \"anyOf\"".to_owned())
    }

    fn all_of(&mut self, schemas: &[SchemaId], value: &Value, depth: u32) -> Outcome {
        let mut failures = Vec::new();
        for schema in schemas {
            if let Err(failure) = self.check(*schema, value, depth + 1) {
                failures.push(failure);
            }
        }
        if failures.is_empty() { Ok(()) } else { self.mismatch(|| because(&failures, " And ")) }
    }

    /// The schema that the discriminator of a value selects; `None` if it does not select one.
    fn selected(
        &self,
        discriminator: Option<&Discriminator>,
        schemas: &[SchemaId],
        value: &Value,
    ) -> Result<Option<SchemaId>, Mismatch> {
        let (Some(discriminator), Value::Object(members)) = (discriminator, value) else { return Ok(None) };
        let property = &discriminator.property;
        let refused = |reason: String| Err(Mismatch::new(if self.quiet > 0 { String::new() } else { reason }));
        match members.get(property) {
            None => refused(format!("input does not contain the discriminator property {property:?}")),
            Some(Value::String(name)) => match discriminator.mapping.get(name).and_then(|index| schemas.get(*index)) {
                Some(schema) => Ok(Some(*schema)),
                None if discriminator.is_closed => refused(format!("discriminator property {property:?} has invalid value")),
                None => Ok(None),
            },
            Some(_) => refused(format!("value of discriminator property {property:?} is not a string")),
        }
    }

    fn number(&self, check: &Check, number: &Number) -> Outcome {
        let value = number.as_f64().unwrap_or_default();
        match check {
            Check::Minimum(bound) if value < *bound => self.mismatch(|| format!("number must be at least {bound}")),
            Check::Maximum(bound) if value > *bound => self.mismatch(|| format!("number must be at most {bound}")),
            Check::ExclusiveMinimum(bound) if value <= *bound => self.mismatch(|| format!("number must be more than {bound}")),
            Check::ExclusiveMaximum(bound) if value >= *bound => self.mismatch(|| format!("number must be less than {bound}")),
            Check::MultipleOf(step) if !is_multiple(value, *step) => {
                self.mismatch(|| format!("number must be a multiple of {step}"))
            }
            Check::Format(format) if !format.accepts_number(number) => {
                self.mismatch(|| format!("number doesn't match the format {:?}", format.name()))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn text(&self, check: &Check, text: &str) -> Outcome {
        // Bytes are a bound for characters.
        match check {
            Check::MinLength(least) if (text.chars().count() as u64) < *least => {
                self.mismatch(|| format!("minimum string length is {least}"))
            }
            Check::MaxLength(most) if text.len() as u64 > *most && text.chars().count() as u64 > *most => {
                self.mismatch(|| format!("maximum string length is {most}"))
            }
            Check::Pattern(pattern) if !pattern.regex.is_match(text) => {
                self.mismatch(|| format!("string doesn't match the regular expression \"{}\"", pattern.written))
            }
            Check::Format(format) if !format.accepts_text(text) => {
                self.mismatch(|| format!("string doesn't match the format {:?}", format.name()))
            }
            _ => Ok(()),
        }
    }

    fn list(&mut self, check: &Check, items: &[Value], depth: u32) -> Outcome {
        let count = items.len() as u64;
        match check {
            Check::MinItems(least) if count < *least => self.mismatch(|| format!("minimum number of items is {least}")),
            Check::MaxItems(most) if count > *most => self.mismatch(|| format!("maximum number of items is {most}")),
            Check::UniqueItems if has_duplicates(items) => self.mismatch(|| "duplicate items found".to_owned()),
            Check::Items { first, rest } => {
                for (index, item) in items.iter().enumerate() {
                    let Some(schema) = first.get(index).copied().or(*rest) else { break };
                    self.check(schema, item, depth + 1).map_err(|mismatch| mismatch.below(index.to_string()))?;
                }
                Ok(())
            }
            Check::Contains { schema, least, most } => {
                let matching = items.iter().filter(|item| self.fits(*schema, item, depth + 1)).count() as u64;
                match () {
                    () if matching < *least => self.mismatch(|| format!("at least {least} items must match \"contains\"")),
                    () if most.is_some_and(|most| matching > most) => {
                        self.mismatch(|| "too many items match \"contains\"".to_owned())
                    }
                    () => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn object(&mut self, check: &Check, members: &Map<String, Value>, depth: u32) -> Outcome {
        let count = members.len() as u64;
        match check {
            Check::MinProperties(least) if count < *least => self.mismatch(|| format!("there must be at least {least} properties")),
            Check::MaxProperties(most) if count > *most => self.mismatch(|| format!("there must be at most {most} properties")),
            Check::PropertyNames(schema) => {
                for name in members.keys() {
                    self.check(*schema, &Value::String(name.clone()), depth + 1)
                        .map_err(|mismatch| mismatch.below(name.as_str()))?;
                }
                Ok(())
            }
            Check::Properties(properties) => self.properties(properties, members, depth),
            Check::DependentRequired(lists) => lists
                .iter()
                .filter(|(name, _)| members.contains_key(name))
                .try_for_each(|(_, names)| self.required(names, members, None)),
            _ => Ok(()),
        }
    }

    fn properties(&mut self, properties: &Properties, members: &Map<String, Value>, depth: u32) -> Outcome {
        for (name, member) in members {
            let named = properties.named.get(name);
            if let Some(schema) = named {
                self.check(schema, member, depth + 1).map_err(|mismatch| mismatch.below(name.as_str()))?;
            }
            let mut is_known = named.is_some();
            for (_, schema) in properties.patterns.iter().filter(|(pattern, _)| pattern.regex.is_match(name)) {
                is_known = true;
                self.check(*schema, member, depth + 1).map_err(|mismatch| mismatch.below(name.as_str()))?;
            }
            if is_known {
                continue;
            }
            if properties.closed {
                return self.mismatch(|| format!("property {name:?} is unsupported"));
            }
            if let Some(schema) = properties.others {
                self.check(schema, member, depth + 1).map_err(|mismatch| mismatch.below(name.as_str()))?;
            }
        }
        Ok(())
    }

    /// A property that only the other side sends is not missing.
    fn required(&self, names: &[String], members: &Map<String, Value>, node: Option<&Node>) -> Outcome {
        let is_of_other_side = |name: &String| {
            let properties = node.into_iter().flat_map(|node| &node.checks).filter_map(properties_of);
            let mut property = properties.filter_map(|properties| self.schemas.followed(properties.named.get(name)?));
            property.any(|property| match self.side {
                Side::Request => property.read_only,
                Side::Response => property.write_only,
                Side::Example => property.read_only || property.write_only,
            })
        };
        match names.iter().find(|name| !members.contains_key(*name) && !is_of_other_side(name)) {
            None => Ok(()),
            Some(name) => {
                self.mismatch(|| format!("property {name:?} is missing")).map_err(|mismatch| mismatch.below(name.as_str()))
            }
        }
    }
}

fn properties_of(check: &Check) -> Option<&Properties> {
    match check {
        Check::Properties(properties) => Some(properties),
        _ => None,
    }
}

fn because(failures: &[Mismatch], between: &str) -> String {
    let mut text = "doesn't match schema due to: ".to_owned();
    for (index, failure) in failures.iter().enumerate() {
        if text.len() > MESSAGE_BYTES_MAX {
            text.push_str(" ...");
            break;
        }
        let _ = write!(text, "{}{failure}", if index > 0 { between } else { "" });
    }
    text
}

fn expected_type(names: &[String]) -> String {
    match names {
        [name] if ["array", "object", "integer"].contains(&name.as_str()) => format!("value must be an {name}"),
        [name] => format!("value must be a {name}"),
        names => format!("value must be one of {}", names.join(", ")),
    }
}

/// Whether two values are equal as JSON: numbers by value, objects in any order.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Sorted by a text that equal values share, so that the cost does not grow with the square of a list's length.
fn has_duplicates(items: &[Value]) -> bool {
    let mut texts: Vec<String> = items.iter().map(canonical).collect();
    texts.sort_unstable();
    texts.array_windows().any(|[a, b]| a == b)
}

fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0 => format!("{}", float as i64),
            _ => number.to_string(),
        },
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let mut parts: Vec<String> = members.iter().map(|(name, member)| format!("{name:?}:{}", canonical(member))).collect();
            parts.sort_unstable();
            format!("{{{}}}", parts.join(","))
        }
        other => other.to_string(),
    }
}

/// Whether a number is a multiple of a step, within the rounding of decimal fractions.
fn is_multiple(value: f64, step: f64) -> bool {
    let quotient = value / step;
    if !quotient.is_finite() {
        return false;
    }
    (quotient - quotient.round()).abs() <= 1e-9 * quotient.abs().max(1.0)
}
