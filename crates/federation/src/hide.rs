//! Takes out of the composed schema what is `@inaccessible`. What stays must not need what goes.

use apollo_compiler::Node;
use apollo_compiler::ast::{FieldDefinition, InputValueDefinition};
use apollo_compiler::collections::{HashSet, IndexMap};
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::schema::{Component, ExtendedType};
use apollo_compiler::{Name, Schema};

use crate::finding::FindingList;
use crate::merge::Merged;

/// Hides the elements that `merged` notes as inaccessible.
pub(crate) fn hide(merged: &mut Merged, findings: &mut FindingList) {
    if merged.inaccessible.is_empty() {
        return;
    }
    let hidden = Hidden { coordinates: &merged.inaccessible };
    for root in ["Query", "Mutation", "Subscription"] {
        if !hidden.has(root) {
            continue;
        }
        if root == "Query" {
            findings.error(None, "the query type must not be @inaccessible");
            return;
        }
        let definition = merged.schema.schema_definition.make_mut();
        *(if root == "Mutation" { &mut definition.mutation } else { &mut definition.subscription }) = None;
    }
    hidden.types(&mut merged.schema, findings);
}

struct Hidden<'m> {
    coordinates: &'m HashSet<String>,
}

impl Hidden<'_> {
    fn has(&self, coordinate: &str) -> bool {
        self.coordinates.contains(coordinate)
    }

    fn types(&self, schema: &mut Schema, findings: &mut FindingList) {
        schema.types.retain(|name, _| !self.has(name));
        for (name, ty) in &mut schema.types {
            if ty.is_built_in() {
                continue;
            }
            let is_empty = match ty {
                ExtendedType::Object(object) => {
                    let object = object.make_mut();
                    object.implements_interfaces.retain(|interface| !self.has(interface));
                    self.fields(name, &mut object.fields, findings);
                    object.fields.is_empty()
                }
                ExtendedType::Interface(interface) => {
                    let interface = interface.make_mut();
                    interface.implements_interfaces.retain(|interface| !self.has(interface));
                    self.fields(name, &mut interface.fields, findings);
                    interface.fields.is_empty()
                }
                ExtendedType::Union(union) => {
                    union.make_mut().members.retain(|member| !self.has(member));
                    union.members.is_empty()
                }
                ExtendedType::Enum(of) => {
                    of.make_mut().values.retain(|value, _| !self.has(&format!("{name}.{value}")));
                    of.values.is_empty()
                }
                ExtendedType::InputObject(input) => {
                    self.inputs(name, &mut input.make_mut().fields, findings);
                    input.fields.is_empty()
                }
                ExtendedType::Scalar(_) => false,
            };
            if is_empty {
                findings.error(None, format!("`{name}` is visible, but all that it has is @inaccessible"));
            }
        }
    }

    fn fields(&self, name: &Name, fields: &mut IndexMap<Name, Component<FieldDefinition>>, findings: &mut FindingList) {
        fields.retain(|field, _| !self.has(&format!("{name}.{field}")));
        for (field_name, field) in fields {
            let coordinate = format!("{name}.{field_name}");
            self.reference(&coordinate, field.ty.inner_named_type(), field.name.location(), findings);
            if !field.arguments.is_empty() {
                self.arguments(&coordinate, &mut field.make_mut().arguments, findings);
            }
        }
    }

    fn arguments(&self, coordinate: &str, arguments: &mut Vec<Node<InputValueDefinition>>, findings: &mut FindingList) {
        arguments.retain(|argument| {
            let argument_coordinate = format!("{coordinate}({}:)", argument.name);
            let goes = self.has(&argument_coordinate);
            self.input(&argument_coordinate, argument, goes, findings);
            !goes
        });
    }

    fn inputs(&self, name: &Name, fields: &mut IndexMap<Name, Component<InputValueDefinition>>, findings: &mut FindingList) {
        fields.retain(|field_name, field| {
            let coordinate = format!("{name}.{field_name}");
            let goes = self.has(&coordinate);
            self.input(&coordinate, field, goes, findings);
            !goes
        });
    }

    fn input(&self, coordinate: &str, value: &InputValueDefinition, goes: bool, findings: &mut FindingList) {
        if goes && value.is_required() {
            findings.error(value.name.location(), format!("`{coordinate}` is @inaccessible, but required"));
        } else if !goes {
            self.reference(coordinate, value.ty.inner_named_type(), value.name.location(), findings);
        }
    }

    fn reference(&self, coordinate: &str, to: &Name, place: Option<SourceSpan>, findings: &mut FindingList) {
        if self.has(to) {
            findings.error(place, format!("`{coordinate}` is visible, but its type `{to}` is @inaccessible"));
        }
    }
}
