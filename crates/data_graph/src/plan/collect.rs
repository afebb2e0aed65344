//! Collects fields (GraphQL specification, CollectFields) and knows which types are possible.

use super::Planner;
use apollo_compiler::Name;
use apollo_compiler::ast::Value as LiteralValue;
use apollo_compiler::executable::{DirectiveList, Field, Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use std::sync::Arc;

/// Fields with one response key.
pub(crate) struct CollectedField<'a> {
    pub key: String,
    pub fields: Vec<&'a Field>,
}

impl<'a> CollectedField<'a> {
    /// The first one; all have the same name and arguments.
    pub(crate) fn first(&self) -> Option<&'a Field> {
        self.fields.first().copied()
    }

    pub(crate) fn name(&self) -> &'a str {
        self.first().map_or("", |field| field.name.as_str())
    }

    pub(crate) fn sets(&self) -> Vec<&'a SelectionSet> {
        self.fields.iter().map(|field| &field.selection_set).collect()
    }
}

impl<'a> Planner<'a> {
    /// The fields that selections have for a type, in their order.
    pub(crate) fn collect(&self, type_name: &Name, sets: &[&'a SelectionSet]) -> Vec<CollectedField<'a>> {
        let mut fields: Vec<CollectedField<'a>> = Vec::new();
        for set in sets {
            self.collect_set(type_name, set, &mut fields);
        }
        fields
    }

    fn collect_set(&self, type_name: &Name, set: &'a SelectionSet, fields: &mut Vec<CollectedField<'a>>) {
        for selection in &set.selections {
            if !self.is_included(selection.directives()) {
                continue;
            }
            match selection {
                Selection::Field(field) => {
                    let key = field.response_key().as_str();
                    match fields.iter_mut().find(|known| known.key == key) {
                        Some(known) => known.fields.push(field),
                        None => fields.push(CollectedField { key: key.to_owned(), fields: vec![field] }),
                    }
                }
                Selection::InlineFragment(fragment) => {
                    if fragment.type_condition.as_ref().is_none_or(|condition| self.is_within(type_name, condition)) {
                        self.collect_set(type_name, &fragment.selection_set, fields);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    if let Some(fragment) = self.document.fragments.get(&spread.fragment_name)
                        && self.is_within(type_name, fragment.type_condition())
                    {
                        self.collect_set(type_name, &fragment.selection_set, fields);
                    }
                }
            }
        }
    }

    /// Whether all fragments in selections on an abstract type apply to every type that it can be.
    pub(crate) fn is_uniform(&self, type_name: &Name, sets: &[&'a SelectionSet]) -> bool {
        sets.iter().flat_map(|set| &set.selections).all(|selection| match selection {
            Selection::Field(_) => true,
            Selection::InlineFragment(fragment) => {
                fragment.type_condition.as_ref().is_none_or(|condition| self.is_within(type_name, condition))
                    && self.is_uniform(type_name, &[&fragment.selection_set])
            }
            Selection::FragmentSpread(spread) => self.document.fragments.get(&spread.fragment_name).is_some_and(|fragment| {
                self.is_within(type_name, fragment.type_condition()) && self.is_uniform(type_name, &[&fragment.selection_set])
            }),
        })
    }

    fn is_included(&self, directives: &DirectiveList) -> bool {
        let is = |name: &str| {
            let directive = directives.get(name)?;
            match directive.specified_argument_by_name("if").map(AsRef::as_ref) {
                Some(LiteralValue::Boolean(value)) => Some(*value),
                Some(LiteralValue::Variable(name)) => self.conditions.get(name.as_str()).copied(),
                _ => None,
            }
        };
        !is("skip").unwrap_or(false) && is("include").unwrap_or(true)
    }

    /// Whether every object of a type satisfies a condition.
    fn is_within(&self, type_name: &Name, condition: &Name) -> bool {
        type_name == condition || self.schema.is_subtype(condition, type_name)
    }

    /// The object types that a type can be.
    pub(crate) fn possible_types(&mut self, type_name: &Name) -> Arc<[Name]> {
        if let Some(known) = self.possible.get(type_name) {
            return known.clone();
        }
        let types: Vec<Name> = match self.schema.types.get(type_name) {
            Some(ExtendedType::Object(_)) => vec![type_name.clone()],
            Some(ExtendedType::Union(union)) => union.members.iter().map(|member| member.name.clone()).collect(),
            Some(ExtendedType::Interface(_)) => {
                let objects = self.schema.types.iter().filter(|(_, definition)| definition.is_object());
                objects.filter(|(name, _)| self.schema.is_subtype(type_name, name)).map(|(name, _)| name.clone()).collect()
            }
            _ => Vec::new(),
        };
        let types: Arc<[Name]> = types.into();
        self.possible.insert(type_name.clone(), types.clone());
        types
    }
}
