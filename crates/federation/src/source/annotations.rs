//! What the directives of a subgraph say about its types and fields.

use apollo_compiler::Name;
use apollo_compiler::ast::Directive;
use apollo_compiler::collections::{HashMap, HashSet, IndexMap};
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::schema::{Component, ComponentOrigin, DirectiveList, ExtendedType, FieldDefinition};

use super::{SourceField, SourceKey, SourceType, SubgraphSource};
use crate::field_set::{self, FieldSetPlace, FieldSetText, FieldSetUse, each_field};
use crate::finding::FindingList;
use crate::specification::{FederationDirective, text};

/// The types of a subgraph that belong to the composed schema.
pub(super) fn types(
    source: &SubgraphSource,
    own_names: &HashMap<Name, Name>,
    defined: &HashSet<Name>,
    findings: &mut FindingList,
) -> IndexMap<Name, SourceType> {
    let mut types = IndexMap::default();
    for (name, definition) in &source.schema.types {
        let is_ours = name.starts_with("__") || definition.is_built_in() || source.vocabulary.is_own_type(name);
        if is_ours || is_placeholder(definition) {
            continue;
        }
        let own_name = own_names.get(name).cloned();
        let extends = source.find(definition.directives(), FederationDirective::Extends).is_some();
        let interface_object = source.find(definition.directives(), FederationDirective::InterfaceObject);
        let ty = SourceType {
            keys: keys(source, name, definition, findings),
            fields: fields(source, name, definition, findings),
            is_extension: extends || !defined.contains(name),
            is_interface_object: interface_object.is_some(),
            definition: definition.clone(),
            own_name,
        };
        types.insert(name.clone(), ty);
    }
    types
}

/// Marks the fields of keys, and what follows from that.
pub(super) fn finish(source: &mut SubgraphSource) {
    let mut used: HashSet<(Name, Name)> = HashSet::default();
    let mut of_extensions: HashSet<(Name, Name)> = HashSet::default();
    for ty in source.types.values() {
        for key in &ty.keys {
            each_field(&key.set.selected, &mut |field| {
                let coordinate = (field.parent.clone(), field.name.clone());
                if source.vocabulary.is_federation_1 || ty.is_extension {
                    of_extensions.insert(coordinate.clone());
                }
                used.insert(coordinate);
            });
        }
    }
    for (name, ty) in &mut source.types {
        for (field_name, field) in &mut ty.fields {
            let coordinate = (name.clone(), field_name.clone());
            field.is_key = used.contains(&coordinate);
            field.is_external = field.is_marked_external && !of_extensions.contains(&coordinate);
        }
    }
    if source.vocabulary.is_federation_1 {
        drop_own_requirements(source);
    }
}

/// Federation 1 lets a field require what its subgraph resolves anyway. Then nothing has to be fetched before.
fn drop_own_requirements(source: &mut SubgraphSource) {
    let mut external: HashSet<(Name, Name)> = HashSet::default();
    for (name, ty) in &source.types {
        external.extend(ty.fields.iter().filter(|(_, field)| field.is_external).map(|(field, _)| (name.clone(), field.clone())));
    }
    for field in source.types.values_mut().flat_map(|ty| ty.fields.values_mut()) {
        let mut is_own = true;
        if let Some(requires) = &field.requires {
            each_field(&requires.selected, &mut |field| is_own &= !external.contains(&(field.parent.clone(), field.name.clone())));
        }
        if is_own {
            field.requires = None;
        }
    }
}

impl SubgraphSource {
    /// The first use of a directive in a list of a type.
    pub(super) fn find<'l>(&self, list: &'l DirectiveList, directive: FederationDirective) -> Option<&'l Component<Directive>> {
        list.iter().find(|found| self.vocabulary.directive(&found.name) == Some(directive))
    }

    /// The first use of a directive at a field.
    pub(super) fn find_at<'f>(
        &self,
        field: &'f FieldDefinition,
        directive: FederationDirective,
    ) -> Option<&'f apollo_compiler::Node<Directive>> {
        field.directives.iter().find(|found| self.vocabulary.directive(&found.name) == Some(directive))
    }
}

/// The query type that a subgraph without one gets so that its schema is valid.
fn is_placeholder(definition: &ExtendedType) -> bool {
    definition.as_object().is_some_and(|object| object.name == "Query" && object.fields.keys().all(|name| name == "_service"))
}

fn keys(source: &SubgraphSource, name: &Name, definition: &ExtendedType, findings: &mut FindingList) -> Vec<SourceKey> {
    let mut keys = Vec::new();
    for directive in definition.directives().iter() {
        if source.vocabulary.directive(&directive.name) != Some(FederationDirective::Key) {
            continue;
        }
        let place = directive.location();
        let at = place_of(source, name, place, FieldSetUse::Key);
        let set = field_set::read(directive.specified_argument_by_name("fields"), name, &source.schema, at, findings);
        if definition.is_interface() && !source.knows_interface_objects() {
            // Federation 1 has no use for them.
            if !source.vocabulary.is_federation_1 {
                let message = format!("@key of `{name}`: interfaces can have keys from version 2.3 of federation on");
                findings.error_of(&source.name, place, message);
            }
            continue;
        }
        let is_resolvable = directive.specified_argument_by_name("resolvable").and_then(|value| value.to_bool()).unwrap_or(true);
        keys.extend(set.map(|set| SourceKey { set, is_resolvable, place }));
    }
    keys
}

fn fields(
    source: &SubgraphSource,
    name: &Name,
    definition: &ExtendedType,
    findings: &mut FindingList,
) -> IndexMap<Name, SourceField> {
    let declared = match definition {
        ExtendedType::Object(object) => &object.fields,
        ExtendedType::Interface(interface) => &interface.fields,
        _ => return IndexMap::default(),
    };
    let external_blocks = blocks_with(source, definition.directives(), FederationDirective::External);
    let shareable_blocks = blocks_with(source, definition.directives(), FederationDirective::Shareable);
    let mut fields = IndexMap::default();
    for (field_name, field) in declared {
        let marked = |directive, blocks: &HashSet<&ComponentOrigin>| {
            source.find_at(field, directive).is_some() || blocks.contains(&field.origin)
        };
        let is_external = marked(FederationDirective::External, &external_blocks) && definition.is_object();
        let takes_over = source.find_at(field, FederationDirective::Override);
        let read = SourceField {
            is_marked_external: is_external,
            is_external,
            is_key: false,
            is_shareable: source.vocabulary.is_federation_1 || marked(FederationDirective::Shareable, &shareable_blocks),
            takes_over_from: takes_over.and_then(|directive| Some((text(directive, "from")?.to_owned(), directive.location()))),
            is_overridden: false,
            requires: field_directive(source, name, field, FieldSetUse::Requires, findings),
            provides: field_directive(source, name, field, FieldSetUse::Provides, findings),
            definition: field.clone(),
        };
        fields.insert(field_name.clone(), read);
    }
    fields
}

/// The definition and extensions of a type that have a directive, which then holds for all fields that they declare.
fn blocks_with<'l>(
    source: &SubgraphSource,
    all: &'l DirectiveList,
    directive: FederationDirective,
) -> HashSet<&'l ComponentOrigin> {
    let found = all.iter().filter(|found| source.vocabulary.directive(&found.name) == Some(directive));
    found.map(|found| &found.origin).collect()
}

fn field_directive(
    source: &SubgraphSource,
    parent: &Name,
    field: &FieldDefinition,
    used_for: FieldSetUse,
    findings: &mut FindingList,
) -> Option<FieldSetText> {
    let (directive, on) = match used_for {
        FieldSetUse::Provides => (FederationDirective::Provides, field.ty.inner_named_type()),
        _ => (FederationDirective::Requires, parent),
    };
    let found = source.find_at(field, directive)?;
    let coordinate = format!("{parent}.{}", field.name);
    if source.schema.types.get(parent).is_some_and(ExtendedType::is_interface) {
        let message = format!("@{} of `{coordinate}`: fields of interfaces cannot have it", found.name);
        findings.error_of(&source.name, found.location(), message);
        return None;
    }
    let of = source.schema.types.get(on)?;
    if !(of.is_object() || of.is_interface() || of.is_union()) {
        findings.error_of(&source.name, found.location(), format!("@provides of `{coordinate}`: `{on}` has no fields"));
        return None;
    }
    let at = place_of(source, &coordinate, found.location(), used_for);
    let before = findings.errors.len();
    let set = field_set::read(found.specified_argument_by_name("fields"), on, &source.schema, at, findings);
    if source.vocabulary.is_federation_1 && used_for == FieldSetUse::Provides {
        // Tyk takes any, and what is not provided comes from its owner.
        findings.take_back(before);
    }
    set
}

fn place_of<'p>(
    source: &'p SubgraphSource,
    coordinate: &'p str,
    place: Option<SourceSpan>,
    used_for: FieldSetUse,
) -> FieldSetPlace<'p> {
    let takes_list = source.vocabulary.is_federation_1 && used_for == FieldSetUse::Key;
    FieldSetPlace { subgraph: &source.name, coordinate, place, used_for, takes_list }
}

impl SubgraphSource {
    /// Version 2.3 brought keys of interfaces and `@interfaceObject`.
    fn knows_interface_objects(&self) -> bool {
        self.vocabulary.has(FederationDirective::InterfaceObject)
    }
}
