//! Fields of object and interface types.

use apollo_compiler::ast::{EnumValueDefinition, FieldDefinition, InputValueDefinition, Type};
use apollo_compiler::collections::{HashSet, IndexMap};
use apollo_compiler::schema::Component;
use apollo_compiler::{Name, Node};

use super::inputs::InputDeclaration;
use super::{TypeDeclaration, TypeMerge, kept_directives, plain};
use crate::source::{SourceField, SubgraphSource};

/// A field as one subgraph has it.
#[derive(Clone, Copy)]
struct FieldDeclaration<'s> {
    source: &'s SubgraphSource,
    field: &'s SourceField,
}

/// Adds to a merged enum value what only another subgraph says of it.
pub(super) fn complete(merged: &mut EnumValueDefinition, other: EnumValueDefinition) {
    if merged.description.as_ref().is_none_or(|text| text.is_empty()) {
        merged.description = other.description;
    }
    if merged.directives.is_empty() {
        merged.directives = other.directives;
    }
}

impl<'s> TypeMerge<'s, '_> {
    /// The fields of a type: all of all subgraphs.
    pub(super) fn fields(
        &mut self,
        name: &Name,
        declarations: &[TypeDeclaration<'s>],
    ) -> IndexMap<Name, Component<FieldDefinition>> {
        let mut declared: IndexMap<&Name, Vec<FieldDeclaration<'_>>> = IndexMap::default();
        for declaration in declarations {
            for (field_name, field) in &declaration.ty.fields {
                declared.entry(field_name).or_default().push(FieldDeclaration { source: declaration.source, field });
            }
        }
        let mut fields = IndexMap::default();
        for (field_name, declarations) in declared {
            if let Some(field) = self.field(&format!("{name}.{field_name}"), &declarations) {
                fields.insert(field_name.clone(), plain(field));
            }
        }
        fields
    }

    fn field(&mut self, coordinate: &str, declarations: &[FieldDeclaration<'_>]) -> Option<Node<FieldDefinition>> {
        for declaration in declarations {
            self.note_hidden(declaration.source, declaration.field.definition.directives.iter(), || coordinate.to_owned());
        }
        let (external, resolved): (Vec<_>, Vec<_>) = declarations.iter().copied().partition(|of| of.field.is_external);
        let resolved = if resolved.is_empty() { declarations.to_vec() } else { resolved };
        let ty = self.output_type(coordinate, &resolved)?;
        let arguments = self.arguments(coordinate, &resolved);
        self.externals_match(coordinate, &external, &ty, &arguments);
        let first = &resolved.first()?.field.definition;
        let definitions = || resolved.iter().chain(&external).map(|of| &of.field.definition);
        let field = FieldDefinition {
            description: definitions().find_map(|field| field.description.clone().filter(|text| !text.is_empty())),
            name: first.name.clone(),
            arguments,
            ty,
            directives: definitions()
                .map(|field| kept_directives(&field.directives))
                .find(|list| !list.is_empty())
                .unwrap_or_default(),
        };
        Some(first.node.same_location(field))
    }

    /// The weakest of the subgraphs' types: all others are subtypes of it.
    fn output_type(&mut self, coordinate: &str, declarations: &[FieldDeclaration<'_>]) -> Option<Type> {
        let types = || declarations.iter().map(|declaration| &declaration.field.definition.ty);
        // A weaker type is weaker than all that the one before was weaker than.
        let weakest = types().reduce(|weakest, ty| if self.is_subtype(weakest, ty) { ty } else { weakest })?;
        let other = declarations.iter().find(|declaration| !self.is_subtype(&declaration.field.definition.ty, weakest));
        if let Some(other) = other {
            let of = declarations.iter().find(|declaration| declaration.field.definition.ty == *weakest);
            let subgraph = of.map(|of| of.source.name.as_str()).unwrap_or_default();
            let message =
                format!("`{coordinate}` is `{}` here, but `{weakest}` in the subgraph `{subgraph}`", other.field.definition.ty);
            self.findings.error(other.field.place(), message);
            return None;
        }
        Some(weakest.clone())
    }

    /// The arguments that all subgraphs have.
    fn arguments(&mut self, coordinate: &str, declarations: &[FieldDeclaration<'_>]) -> Vec<Node<InputValueDefinition>> {
        let mut declared: IndexMap<&Name, Vec<InputDeclaration<'_>>> = IndexMap::default();
        for declaration in declarations {
            for argument in &declaration.field.definition.arguments {
                declared.entry(&argument.name).or_default().push(InputDeclaration { source: declaration.source, value: argument });
            }
        }
        let mut merged = Vec::new();
        for (name, values) in declared {
            let argument = format!("{coordinate}({name}:)");
            if values.len() == declarations.len() {
                merged.extend(self.input_value(&argument, &values));
                continue;
            }
            let with: HashSet<&str> = values.iter().map(|value| value.source.name.as_str()).collect();
            let without = declarations.iter().find(|declaration| !with.contains(declaration.source.name.as_str()));
            let place = without.and_then(|declaration| declaration.field.place());
            match values.iter().find(|value| value.value.is_required()) {
                Some(required) => {
                    let message = format!("`{argument}` is missing here, but the subgraph `{}` requires it", required.source.name);
                    self.findings.error(place, message);
                }
                None => {
                    self.findings.note(place, format!("`{argument}` is missing here, and so the composed schema does not have it"))
                }
            }
        }
        merged
    }

    /// External declarations repeat what the owner says.
    fn externals_match(
        &mut self,
        coordinate: &str,
        external: &[FieldDeclaration<'_>],
        ty: &Type,
        arguments: &[Node<InputValueDefinition>],
    ) {
        for declaration in external {
            let definition = &declaration.field.definition;
            let matches = match declaration.field.is_key || declaration.source.vocabulary.is_federation_1 {
                true => self.is_subtype(&definition.ty, ty) || self.is_subtype(ty, &definition.ty),
                false => definition.ty == *ty,
            };
            if !matches {
                let message = format!("`{coordinate}` is external and `{}` here, but `{ty}` where it is resolved", definition.ty);
                self.findings.error(declaration.field.place(), message);
            }
            // Federation 1 does not compare them so closely.
            let is_lax = declaration.source.vocabulary.is_federation_1;
            for argument in arguments {
                let wrong = match definition.argument_by_name(&argument.name) {
                    None => "is missing here",
                    Some(own) if is_lax && own.ty.is_assignable_to(&argument.ty) => continue,
                    Some(own) if !argument.ty.is_assignable_to(&own.ty) => "is of another type here",
                    Some(own) if own.default_value != argument.default_value && !is_lax => "has another default value here",
                    Some(_) => continue,
                };
                let message = format!("`{coordinate}` is external, and its argument `{}` {wrong}", argument.name);
                self.findings.error(declaration.field.place(), message);
            }
        }
    }
}
