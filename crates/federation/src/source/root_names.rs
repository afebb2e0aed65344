//! Root types by their usual names. A subgraph can call its query type as it likes; the composed schema calls it `Query`. Renaming the parsed
//! document lets all that follows know one name only.

use apollo_compiler::ast::{Definition, Document, FieldDefinition, OperationType, Type};
use apollo_compiler::collections::HashMap;
use apollo_compiler::{Name, Node};

use super::is_object;
use crate::finding::FindingList;
use crate::specification::FIELDS_OF_SUBGRAPHS;

/// Renames root types, and takes out of the query type what subgraphs add for routers. Gives the own names of those that were renamed.
pub(super) fn apply(document: &mut Document, subgraph: &str, findings: &mut FindingList) -> HashMap<Name, Name> {
    let roots = declared_roots(document);
    let mut renamed: HashMap<Name, Name> = HashMap::default();
    for (operation, own) in &roots {
        let usual = operation.default_type_name();
        if *own == usual {
            continue;
        }
        if let Some(other) = document.definitions.iter().filter_map(Definition::name).find(|name| **name == usual) {
            let message = format!(
                "the {operation} type is `{own}`, but there is another type `{usual}`, which is the {operation} type of the composed schema"
            );
            findings.error_of(subgraph, other.location(), message);
        }
        renamed.insert(own.clone(), usual);
    }
    if !renamed.is_empty() {
        document.definitions.iter_mut().for_each(|definition| rename(definition, &renamed));
    }
    document.definitions.iter_mut().for_each(strip_fields);
    document.definitions.retain(|definition| !is_empty_query(definition));
    renamed.into_iter().map(|(own, usual)| (usual, own)).collect()
}

fn declared_roots(document: &Document) -> Vec<(OperationType, Name)> {
    let mut roots = Vec::new();
    for definition in &document.definitions {
        let declared = match definition {
            Definition::SchemaDefinition(schema) => &schema.root_operations,
            Definition::SchemaExtension(schema) => &schema.root_operations,
            _ => continue,
        };
        roots.extend(declared.iter().map(|root| (root.0, root.1.clone())));
    }
    roots
}

fn rename(definition: &mut Definition, renamed: &HashMap<Name, Name>) {
    match definition {
        Definition::SchemaDefinition(schema) => rename_roots(&mut schema.make_mut().root_operations, renamed),
        Definition::SchemaExtension(schema) => rename_roots(&mut schema.make_mut().root_operations, renamed),
        Definition::ObjectTypeDefinition(object) => {
            let object = object.make_mut();
            rename_name(&mut object.name, renamed);
            rename_fields(&mut object.fields, renamed);
        }
        Definition::ObjectTypeExtension(object) => {
            let object = object.make_mut();
            rename_name(&mut object.name, renamed);
            rename_fields(&mut object.fields, renamed);
        }
        Definition::InterfaceTypeDefinition(interface) => rename_fields(&mut interface.make_mut().fields, renamed),
        Definition::InterfaceTypeExtension(interface) => rename_fields(&mut interface.make_mut().fields, renamed),
        Definition::UnionTypeDefinition(union) => union.make_mut().members.iter_mut().for_each(|name| rename_name(name, renamed)),
        Definition::UnionTypeExtension(union) => union.make_mut().members.iter_mut().for_each(|name| rename_name(name, renamed)),
        _ => {}
    }
}

fn rename_roots(roots: &mut [Node<(OperationType, Name)>], renamed: &HashMap<Name, Name>) {
    roots.iter_mut().for_each(|root| rename_name(&mut root.make_mut().1, renamed));
}

fn rename_fields(fields: &mut [Node<FieldDefinition>], renamed: &HashMap<Name, Name>) {
    for field in fields {
        if renamed.contains_key(field.ty.inner_named_type()) {
            rename_type(&mut field.make_mut().ty, renamed);
        }
    }
}

/// Lists are as deep as the parser takes them.
fn rename_type(ty: &mut Type, renamed: &HashMap<Name, Name>) {
    match ty {
        Type::Named(name) | Type::NonNullNamed(name) => rename_name(name, renamed),
        Type::List(of) | Type::NonNullList(of) => rename_type(of, renamed),
    }
}

fn rename_name(name: &mut Name, renamed: &HashMap<Name, Name>) {
    let Some(usual) = renamed.get(name) else { return };
    let place = name.location();
    *name = usual.clone();
    if let Some(place) = place {
        *name = usual.clone().with_location(place);
    }
}

fn strip_fields(definition: &mut Definition) {
    let is_stripped = |field: &Node<FieldDefinition>| FIELDS_OF_SUBGRAPHS.contains(&field.name.as_str());
    match definition {
        Definition::ObjectTypeDefinition(object) if object.name == "Query" && object.fields.iter().any(is_stripped) => {
            object.make_mut().fields.retain(|field| !is_stripped(field));
        }
        Definition::ObjectTypeExtension(object) if object.name == "Query" && object.fields.iter().any(is_stripped) => {
            object.make_mut().fields.retain(|field| !is_stripped(field));
        }
        _ => {}
    }
}

/// Whether nothing is left of a query type, as in subgraphs that only extend entities.
fn is_empty_query(definition: &Definition) -> bool {
    if !is_object(definition) || definition.name().is_none_or(|name| name != "Query") {
        return false;
    }
    match definition {
        Definition::ObjectTypeDefinition(object) => object.fields.is_empty(),
        Definition::ObjectTypeExtension(object) => {
            object.fields.is_empty() && object.directives.is_empty() && object.implements_interfaces.is_empty()
        }
        _ => false,
    }
}
