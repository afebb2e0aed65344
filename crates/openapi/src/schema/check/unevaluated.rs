//! `unevaluatedProperties` and `unevaluatedItems`: the parts of a value that no other keyword of the schema, or of a schema that applies in its
//! place, has looked at. Found by asking again, and only for schemas that use these keywords.

use std::collections::HashSet;

use serde_json::Value;

use super::{Check, CheckRun, Mismatch, Node, Outcome, SchemaId};

/// The parts of a value that were looked at.
#[derive(Default)]
struct Evaluated<'v> {
    names: HashSet<&'v str>,
    items: HashSet<usize>,
}

impl<'s> CheckRun<'s> {
    pub(super) fn unevaluated(&mut self, node: &'s Node, rest: SchemaId, value: &Value, depth: u32) -> Outcome {
        let mut evaluated = Evaluated::default();
        self.collect(node, value, depth, &mut evaluated);
        match value {
            Value::Object(members) if has_rest(node, true) => {
                for (name, member) in members.iter().filter(|(name, _)| !evaluated.names.contains(name.as_str())) {
                    let refused = |_: Mismatch| Mismatch::new(format!("property {name:?} is unsupported"));
                    self.check(rest, member, depth + 1).map_err(refused)?;
                }
            }
            Value::Array(items) if has_rest(node, false) => {
                for (index, item) in items.iter().enumerate().filter(|(index, _)| !evaluated.items.contains(index)) {
                    self.check(rest, item, depth + 1).map_err(|mismatch| mismatch.below(index.to_string()))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn collect<'v>(&mut self, node: &'s Node, value: &'v Value, depth: u32, evaluated: &mut Evaluated<'v>) {
        if depth > super::DEPTH_MAX {
            return;
        }
        for check in &node.checks {
            match (check, value) {
                (Check::Properties(properties), Value::Object(members)) => {
                    let all = properties.others.is_some() || properties.is_open;
                    let is_known = |name: &str| {
                        all || properties.named.get(name).is_some()
                            || properties.patterns.iter().any(|(pattern, _)| pattern.regex.is_match(name))
                    };
                    evaluated.names.extend(members.keys().map(String::as_str).filter(|name| is_known(name)));
                }
                (Check::Items { first, rest }, Value::Array(items)) => {
                    let count = if rest.is_some() { items.len() } else { first.len().min(items.len()) };
                    evaluated.items.extend(0..count);
                }
                (Check::Contains { schema, .. }, Value::Array(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        if self.fits(*schema, item, depth + 1) {
                            evaluated.items.insert(index);
                        }
                    }
                }
                (Check::Reference(schema), _) => self.collect_below(*schema, value, depth, evaluated),
                (Check::AllOf(schemas), _) => {
                    schemas.iter().for_each(|schema| self.collect_below(*schema, value, depth, evaluated));
                }
                (Check::OneOf(schemas, _) | Check::AnyOf(schemas, _), _) => {
                    for schema in schemas {
                        if self.fits(*schema, value, depth + 1) {
                            self.collect_below(*schema, value, depth, evaluated);
                        }
                    }
                }
                (Check::If { condition, then, otherwise }, _) => {
                    let holds = self.fits(*condition, value, depth + 1);
                    let branch = if holds { *then } else { *otherwise };
                    let applied = holds.then_some(*condition).into_iter().chain(branch);
                    applied.for_each(|schema| self.collect_below(schema, value, depth, evaluated));
                }
                (Check::DependentSchemas(schemas), Value::Object(members)) => {
                    for (_, schema) in schemas.iter().filter(|(name, _)| members.contains_key(name)) {
                        self.collect_below(*schema, value, depth, evaluated);
                    }
                }
                _ => {}
            }
        }
    }

    /// A schema below another one: what its own `unevaluated` keywords accept counts as looked at.
    fn collect_below<'v>(&mut self, schema: SchemaId, value: &'v Value, depth: u32, evaluated: &mut Evaluated<'v>) {
        let Some(node) = self.schemas.node(schema) else { return };
        self.collect(node, value, depth + 1, evaluated);
        match value {
            Value::Object(members) if has_rest(node, true) => evaluated.names.extend(members.keys().map(String::as_str)),
            Value::Array(items) if has_rest(node, false) => evaluated.items.extend(0..items.len()),
            _ => {}
        }
    }
}

fn has_rest(node: &Node, of_object: bool) -> bool {
    node.checks.iter().any(|check| match check {
        Check::UnevaluatedProperties(_) => of_object,
        Check::UnevaluatedItems(_) => !of_object,
        _ => false,
    })
}
