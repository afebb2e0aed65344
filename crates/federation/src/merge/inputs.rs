//! Input object types, and arguments and input fields, which are merged alike.

use apollo_compiler::ast::{InputValueDefinition, Value};
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
        let definitions = declarations.iter().filter(|declaration| !declaration.adds()).count();
        let mut fields = IndexMap::default();
        for (field_name, values) in declared {
            let coordinate = format!("{name}.{field_name}");
            let has = |declaration: &TypeDeclaration<'_>| {
                declaration.ty.definition.as_input_object().is_some_and(|input| input.fields.contains_key(field_name))
            };
            let is_added = declarations.iter().any(|declaration| declaration.adds() && has(declaration));
            if is_added || values.len() == definitions {
                fields.extend(self.input_value(&coordinate, &values).map(|field| (field_name.clone(), plain(field))));
                continue;
            }
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
        for declaration in declarations {
            self.note_hidden(declaration.source, declaration.value.directives.iter(), || coordinate.to_owned());
        }
        let types = || declarations.iter().map(|declaration| &*declaration.value.ty);
        let strictest = types().reduce(|strictest, ty| if ty.is_assignable_to(strictest) { ty } else { strictest })?;
        if let Some(other) = declarations.iter().find(|declaration| !strictest.is_assignable_to(&declaration.value.ty)) {
            let of = declarations.iter().find(|declaration| *declaration.value.ty == *strictest);
            let subgraph = of.map(|of| of.source.name.as_str()).unwrap_or_default();
            let message = format!("`{coordinate}` is `{}` here, but `{strictest}` in the subgraph `{subgraph}`", other.value.ty);
            self.findings.error(other.value.name.location(), message);
            return None;
        }
        let default_value = self.default_value(coordinate, declarations);
        let values = || declarations.iter().map(|declaration| declaration.value);
        let value = InputValueDefinition {
            description: values().find_map(|value| value.description.clone().filter(|text| !text.is_empty())),
            name: first.value.name.clone(),
            ty: Node::new(strictest.clone()),
            default_value,
            directives: values().map(|value| kept_directives(&value.directives)).find(|list| !list.is_empty()).unwrap_or_default(),
        };
        Some(first.value.same_location(value))
    }

    /// The default value that all subgraphs have. What is optional in the composed schema must be optional in each subgraph.
    fn default_value(&mut self, coordinate: &str, declarations: &[InputDeclaration<'_>]) -> Option<Node<Value>> {
        let with = declarations.iter().find(|declaration| declaration.value.default_value.is_some())?;
        let value = with.value.default_value.clone();
        for declaration in declarations {
            let place = declaration.value.name.location();
            if declaration.value.default_value.is_none() {
                let message = format!("`{coordinate}` has no default value here, and so the composed schema has none");
                self.findings.note(place, message);
            } else if declaration.value.default_value != value {
                let message =
                    format!("the default value of `{coordinate}` differs from that in the subgraph `{}`", with.source.name);
                self.findings.error(place, message);
            }
        }
        value.filter(|_| declarations.iter().all(|declaration| declaration.value.default_value.is_some()))
    }
}
