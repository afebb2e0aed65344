//! `unevaluatedProperties` and `unevaluatedItems`: the parts of a value that no other keyword of the schema, or of a schema that applies in its
//! place, has looked at. Found by asking again, and only for schemas that use these keywords.

use std::collections::HashSet;

use crate::nodes::{Check, Node, SchemaId};
use crate::run::{CheckRun, Exhausted};
use crate::tree::JsonTree;

/// The parts of a value that were looked at.
#[derive(Default)]
struct Evaluated<'v> {
    names: HashSet<&'v str>,
    items: HashSet<usize>,
    /// All of them.
    is_all: bool,
}

/// The first unevaluated part that does not fit: a name or an index.
pub(crate) enum UnfitRest<'v> {
    Name(&'v str),
    Index(usize),
}

impl<'s> CheckRun<'s> {
    pub(crate) fn unevaluated<'v>(
        &mut self,
        node: &'s Node,
        check: &'s Check,
        rest: SchemaId,
        value: &'v JsonTree<'v>,
        depth: u32,
    ) -> Result<Option<UnfitRest<'v>>, Exhausted> {
        let of_objects = matches!(check, Check::UnevaluatedProperties(_));
        if of_objects != matches!(value, JsonTree::Members(_)) {
            return Ok(None);
        }
        let mut evaluated = Evaluated::default();
        self.collect(node, value, depth, &mut evaluated)?;
        match value {
            _ if evaluated.is_all => {}
            JsonTree::Members(members) => {
                for (name, member) in members.iter().filter(|(name, _)| !evaluated.names.contains(name.as_ref())) {
                    if !self.fits(rest, member, depth + 1)? {
                        return Ok(Some(UnfitRest::Name(name)));
                    }
                }
            }
            JsonTree::Items(items) => {
                for (index, item) in items.iter().enumerate().filter(|(index, _)| !evaluated.items.contains(index)) {
                    if !self.fits(rest, item, depth + 1)? {
                        return Ok(Some(UnfitRest::Index(index)));
                    }
                }
            }
            _ => {}
        }
        Ok(None)
    }

    fn collect<'v>(
        &mut self,
        node: &'s Node,
        value: &'v JsonTree<'v>,
        depth: u32,
        evaluated: &mut Evaluated<'v>,
    ) -> Result<(), Exhausted> {
        self.spend(1)?;
        for check in &node.checks {
            match (check, value) {
                (Check::Properties(properties), JsonTree::Members(members)) => {
                    evaluated.is_all |= properties.others.is_some() || properties.is_open;
                    self.spend((members.len() * (1 + properties.patterns.len())) as u64)?;
                    let is_known = |name: &str| {
                        properties.named.get(name).is_some()
                            || properties.patterns.iter().any(|(pattern, _)| pattern.regex.is_match(name))
                    };
                    evaluated.names.extend(members.iter().map(|(name, _)| name.as_ref()).filter(|name| is_known(name)));
                }
                (Check::Items { first, rest }, JsonTree::Items(items)) => {
                    self.spend(first.len().min(items.len()) as u64)?;
                    evaluated.is_all |= rest.is_some();
                    evaluated.items.extend(0..first.len().min(items.len()));
                }
                (Check::Contains { schema, .. }, JsonTree::Items(items)) if self.schemas.contains_evaluates => {
                    for (index, item) in items.iter().enumerate() {
                        if self.fits(*schema, item, depth + 1)? {
                            evaluated.items.insert(index);
                        }
                    }
                }
                (Check::Reference(schema), _) => self.collect_below(*schema, value, depth, evaluated)?,
                (Check::AllOf(schemas), _) => {
                    for schema in schemas {
                        self.collect_below(*schema, value, depth, evaluated)?;
                    }
                }
                (Check::OneOf(schemas, _) | Check::AnyOf(schemas, _), _) => {
                    for schema in schemas {
                        if self.fits(*schema, value, depth + 1)? {
                            self.collect_below(*schema, value, depth, evaluated)?;
                        }
                    }
                }
                (Check::If { condition, then, otherwise }, _) => {
                    let holds = self.fits(*condition, value, depth + 1)?;
                    let branch = if holds { *then } else { *otherwise };
                    for schema in holds.then_some(*condition).into_iter().chain(branch) {
                        self.collect_below(schema, value, depth, evaluated)?;
                    }
                }
                (Check::DependentSchemas(schemas), JsonTree::Members(_)) => {
                    for (_, schema) in schemas.iter().filter(|(name, _)| value.member(name).is_some()) {
                        self.collect_below(*schema, value, depth, evaluated)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A schema below another one: what its own `unevaluated` keywords accept counts as looked at.
    fn collect_below<'v>(
        &mut self,
        schema: SchemaId,
        value: &'v JsonTree<'v>,
        depth: u32,
        evaluated: &mut Evaluated<'v>,
    ) -> Result<(), Exhausted> {
        let Some(node) = self.enter(schema, depth + 1)? else { return Ok(()) };
        self.collect(node, value, depth + 1, evaluated)?;
        evaluated.is_all |= match value {
            JsonTree::Members(_) => has_rest(node, true),
            JsonTree::Items(_) => has_rest(node, false),
            _ => false,
        };
        Ok(())
    }
}

fn has_rest(node: &Node, of_object: bool) -> bool {
    node.checks.iter().any(|check| match check {
        Check::UnevaluatedProperties(_) => of_object,
        Check::UnevaluatedItems(_) => !of_object,
        _ => false,
    })
}
