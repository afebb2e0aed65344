//! Input object types, and arguments and input fields, which are merged alike.

use apollo_compiler::ast::{InputValueDefinition, Type};
use apollo_compiler::collections::IndexMap;
use apollo_compiler::schema::{DirectiveList, ExtendedType, InputObjectType};
use apollo_compiler::{Name, Node};

use super::{TypeDeclaration, TypeMerge, description, kept_directives, plain};
use crate::source::SubgraphSource;

/// An argument or input field as one subgraph has it.
#[derive(Clone, Copy)]
pub(super) struct InputDeclaration<'s> {
    pub(super) source: &'s SubgraphSource,
    pub(super) value: &'s Node<InputValueDefinition>,
}

impl TypeMerge<'_, '_> {
    /// The fields that every subgraph takes.
    pub(super) fn input_object(&mut self, name: &Name, declarations: &[TypeDeclaration<'_>]) -> ExtendedType {
        let mut declared: IndexMap<&Name, Vec<InputDeclaration<'_>>> = IndexMap::default();
        for declaration in declarations {
            let Some(input) = declaration.ty.definition.as_input_object() else { continue };
            for (field_name, field) in &input.fields {
                declared.entry(field_name).or_default().push(InputDeclaration { source: declaration.source, value: field });
            }
        }
        let mut fields = IndexMap::default();
        for (field_name, values) in declared {
            let coordinate = format!("{name}.{field_name}");
            if values.len() == declarations.len() {
                fields.extend(self.input_value(&coordinate, &values).map(|field| (field_name.clone(), plain(field))));
                continue;
            }
            let has = |declaration: &TypeDeclaration<'_>| {
                declaration.ty.definition.as_input_object().is_some_and(|input| input.fields.contains_key(field_name))
            };
            let place = declarations.iter().find(|declaration| !has(declaration)).and_then(TypeDeclaration::place);
            match values.iter().find(|value| value.value.is_required()) {
                Some(required) => {
                    let message =
                        format!("`{coordinate}` is missing here, but the subgraph `{}` requires it", required.source.name);
                    self.findings.error(place, message);
                }
                None => self
                    .findings
                    .note(place, format!("`{coordinate}` is missing here, and so the composed schema does not have it")),
            }
        }
        if fields.is_empty() {
            let place = declarations.last().and_then(TypeDeclaration::place);
            self.findings.error(place, format!("no field of the input `{name}` is in every subgraph that has this type"));
        }
        let directives = DirectiveList::default();
        ExtendedType::InputObject(Node::new(InputObjectType {
            description: description(declarations),
            name: name.clone(),
            directives,
            fields,
        }))
    }

    /// One value from what several subgraphs say of it.
    pub(super) fn input_value(
        &mut self,
        coordinate: &str,
        declarations: &[InputDeclaration<'_>],
    ) -> Option<Node<InputValueDefinition>> {
        let first = declarations.first()?;
        let mut strictest: Type = (*first.value.ty).clone();
        for declaration in declarations {
            self.note_hidden(declaration.source, declaration.value.directives.iter(), || coordinate.to_owned());
            let ty = &declaration.value.ty;
            match stricter(&strictest, ty) {
                Some(common) => strictest = common,
                None => {
                    let message =
                        format!("`{coordinate}` is `{ty}` here, but `{}` in the subgraph `{}`", first.value.ty, first.source.name);
                    self.findings.error(declaration.value.name.location(), message);
                    return None;
                }
            }
            if declaration.value.default_value != first.value.default_value {
                let message =
                    format!("the default value of `{coordinate}` differs from that in the subgraph `{}`", first.source.name);
                self.findings.error(declaration.value.name.location(), message);
            }
        }
        let values = || declarations.iter().map(|declaration| declaration.value);
        let value = InputValueDefinition {
            description: values().find_map(|value| value.description.clone().filter(|text| !text.is_empty())),
            name: first.value.name.clone(),
            ty: Node::new(strictest),
            default_value: first.value.default_value.clone(),
            directives: values().map(|value| kept_directives(&value.directives)).find(|list| !list.is_empty()).unwrap_or_default(),
        };
        Some(first.value.same_location(value))
    }
}

/// A type that takes only what both take. Lists are as deep as the parser takes them.
fn stricter(one: &Type, other: &Type) -> Option<Type> {
    let merged = match (one, other) {
        (Type::Named(a) | Type::NonNullNamed(a), Type::Named(b) | Type::NonNullNamed(b)) if a == b => Type::Named(a.clone()),
        (Type::List(a) | Type::NonNullList(a), Type::List(b) | Type::NonNullList(b)) => Type::List(Box::new(stricter(a, b)?)),
        _ => return None,
    };
    Some(if one.is_non_null() || other.is_non_null() { merged.non_null() } else { merged })
}
