//! What an operation asks for: how deep it is, how many fields it has when its fragments are spread, and which fields of which types. A
//! fragment is measured once, however often it is spread, so that the time grows with the document and not with what it would become.

use crate::facts::{OperationFacts, OperationKind, RootField, UsedField};
use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::{Operation, OperationType, Selection, SelectionSet};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Most levels of fragments within fragments. The walk is recursive; each level takes about 300 bytes of a data thread's stack.
const FRAGMENT_LEVELS_MAX: usize = 500;

impl From<OperationType> for OperationKind {
    fn from(kind: OperationType) -> Self {
        match kind {
            OperationType::Query => OperationKind::Query,
            OperationType::Mutation => OperationKind::Mutation,
            OperationType::Subscription => OperationKind::Subscription,
        }
    }
}

/// How large a selection is.
#[derive(Clone, Copy, Debug, Default)]
struct SelectionSize {
    levels: usize,
    fields: u64,
    aliases: u64,
}

impl SelectionSize {
    fn add(&mut self, other: SelectionSize) {
        self.levels = self.levels.max(other.levels);
        self.fields = self.fields.saturating_add(other.fields);
        self.aliases = self.aliases.saturating_add(other.aliases);
    }
}

/// The fragments of a document nest too deeply to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooNested;

struct FieldWalk<'d> {
    document: &'d ExecutableDocument,
    /// The size of each fragment that has been measured.
    fragments: HashMap<&'d str, SelectionSize>,
    level: usize,
}

/// Measures an operation of a valid document.
pub(crate) fn facts(document: &ExecutableDocument, operation: &Operation) -> Result<OperationFacts, TooNested> {
    let mut walk = FieldWalk { document, fragments: HashMap::new(), level: 0 };
    let size = walk.size(&operation.selection_set)?;
    let mut roots = Vec::new();
    walk.roots(&operation.selection_set, operation.object_type(), &mut HashSet::new(), &mut roots)?;
    let mut used = BTreeSet::new();
    walk.used(&operation.selection_set, &mut HashSet::new(), &mut used);
    let is_schema = |root: &RootField| matches!(root.name.as_str(), "__schema" | "__type");
    let introspects = roots.iter().any(is_schema);
    let only = roots.iter().all(|root| is_schema(root) || root.name == "__typename");
    Ok(OperationFacts {
        kind: operation.operation_type.into(),
        depth: if size.levels < 2 { 0 } else { size.levels },
        levels: size.levels,
        fields: size.fields,
        aliases: size.aliases,
        introspects,
        only_introspects: introspects && only && operation.is_query(),
        roots,
        used,
    })
}

impl<'d> FieldWalk<'d> {
    fn size(&mut self, set: &'d SelectionSet) -> Result<SelectionSize, TooNested> {
        let mut sum = SelectionSize::default();
        for selection in &set.selections {
            let size = match selection {
                Selection::Field(field) => {
                    let below = self.size(&field.selection_set)?;
                    SelectionSize {
                        levels: below.levels + 1,
                        fields: below.fields.saturating_add(1),
                        aliases: below.aliases.saturating_add(u64::from(field.alias.is_some())),
                    }
                }
                Selection::InlineFragment(inline) => self.size(&inline.selection_set)?,
                Selection::FragmentSpread(spread) => self.fragment(&spread.fragment_name)?,
            };
            sum.add(size);
        }
        Ok(sum)
    }

    fn fragment(&mut self, name: &str) -> Result<SelectionSize, TooNested> {
        if let Some(size) = self.fragments.get(name) {
            return Ok(*size);
        }
        // In a valid document, every fragment exists, and none contains itself.
        let Some((name, fragment)) = self.document.fragments.get_key_value(name) else { return Ok(SelectionSize::default()) };
        if self.level == FRAGMENT_LEVELS_MAX {
            return Err(TooNested);
        }
        self.level += 1;
        let size = self.size(&fragment.selection_set)?;
        self.level -= 1;
        self.fragments.insert(name, size);
        Ok(size)
    }

    fn roots(
        &mut self,
        set: &'d SelectionSet,
        type_name: &str,
        seen: &mut HashSet<&'d str>,
        roots: &mut Vec<RootField>,
    ) -> Result<(), TooNested> {
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => {
                    let depth = self.size(&field.selection_set)?.levels;
                    roots.push(RootField { type_name: type_name.to_owned(), name: field.name.to_string(), depth });
                }
                Selection::InlineFragment(inline) => self.roots(&inline.selection_set, type_name, seen, roots)?,
                Selection::FragmentSpread(spread) => {
                    if let Some((name, fragment)) = self.document.fragments.get_key_value(&spread.fragment_name)
                        && seen.insert(name)
                    {
                        self.roots(&fragment.selection_set, type_name, seen, roots)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn used(&self, set: &'d SelectionSet, seen: &mut HashSet<&'d str>, used: &mut BTreeSet<UsedField>) {
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => {
                    // The schema of introspection has its own setting, and `__typename` says nothing that is secret.
                    if field.name.starts_with("__") {
                        continue;
                    }
                    used.insert(UsedField { type_name: set.ty.to_string(), field: field.name.to_string() });
                    self.used(&field.selection_set, seen, used);
                }
                Selection::InlineFragment(inline) => self.used(&inline.selection_set, seen, used),
                Selection::FragmentSpread(spread) => {
                    if let Some((name, fragment)) = self.document.fragments.get_key_value(&spread.fragment_name)
                        && seen.insert(name)
                    {
                        self.used(&fragment.selection_set, seen, used);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
