//! Rules that a subgraph must follow by itself.

use apollo_compiler::Name;
use apollo_compiler::ast::Directive;
use apollo_compiler::collections::HashSet;
use apollo_compiler::schema::ExtendedType;

use super::{SourceField, SourceType, SubgraphSource};
use crate::field_set::{SelectedField, each_field};
use crate::finding::FindingList;
use crate::specification::{FederationDirective, text};

/// Checks a subgraph.
pub(super) fn check(source: &SubgraphSource, findings: &mut FindingList) {
    uses(source, findings);
    required_and_deprecated(source, findings);
    for (name, ty) in &source.types {
        interface_keys(source, name, ty, findings);
        interface_object(source, name, ty, findings);
        for (field_name, field) in &ty.fields {
            let coordinate = format!("{name}.{field_name}");
            field_rules(source, ty, &coordinate, field, findings);
        }
    }
    if !source.vocabulary.is_federation_1 {
        unused_externals(source, findings);
    }
}

/// Each use of a directive, wherever it is.
fn uses(source: &SubgraphSource, findings: &mut FindingList) {
    let mut see = |directive: &Directive, place, coordinate: &str| one_use(source, directive, place, coordinate, findings);
    let of_schema = source.schema.schema_definition.directives.iter();
    of_schema.for_each(|directive| see(directive, directive.location(), "schema"));
    for (name, ty) in source.types.iter().map(|(name, ty)| (name, &ty.definition)) {
        ty.directives().iter().for_each(|directive| see(directive, directive.location(), name));
        let fields = match ty {
            ExtendedType::Object(object) => &object.fields,
            ExtendedType::Interface(interface) => &interface.fields,
            _ => continue,
        };
        for (field_name, field) in fields {
            let coordinate = format!("{name}.{field_name}");
            field.directives.iter().for_each(|directive| see(directive, directive.location(), &coordinate));
            let arguments = field.arguments.iter().flat_map(|argument| argument.directives.iter());
            arguments.for_each(|directive| see(directive, directive.location(), &coordinate));
        }
    }
}

/// What must be given cannot be deprecated: nobody could stop giving it.
fn required_and_deprecated(source: &SubgraphSource, findings: &mut FindingList) {
    let input_fields =
        source.types.values().filter_map(|ty| ty.definition.as_input_object()).flat_map(|input| input.fields.values());
    let fields = source.types.values().flat_map(|ty| ty.fields.values());
    let arguments = fields.flat_map(|field| &field.definition.arguments);
    for value in input_fields.map(|field| &field.node).chain(arguments) {
        if value.is_required() && value.directives.has("deprecated") {
            findings.error_of(
                &source.name,
                value.name.location(),
                format!("`{}` is required, and cannot be deprecated", value.name),
            );
        }
    }
}

fn one_use(
    source: &SubgraphSource,
    directive: &Directive,
    place: Option<apollo_compiler::parser::SourceSpan>,
    coordinate: &str,
    findings: &mut FindingList,
) {
    use FederationDirective::{
        Authenticated, ComposeDirective, Context, Cost, FromContext, ListSize, Override, Policy, RequiresScopes,
    };
    let name = &directive.name;
    match source.vocabulary.directive(name) {
        Some(Authenticated | RequiresScopes | Policy) => {
            findings.error_of(
                &source.name,
                place,
                format!("`{coordinate}` has @{name}, which is not enforced here; field permissions of keys and policies are"),
            );
        }
        Some(Context | FromContext) => {
            findings.error_of(&source.name, place, format!("`{coordinate}` has @{name}, which is not supported"))
        }
        Some(Override) if text(directive, "label").is_some() => {
            findings.error_of(
                &source.name,
                place,
                format!("`{coordinate}` has @{name} with a label; only whole overrides are supported"),
            );
        }
        Some(ComposeDirective) => findings.note(
            place,
            format!("`{coordinate}` has @{name}: the composed schema has no uses of directives but @deprecated and @specifiedBy"),
        ),
        Some(Cost | ListSize) => findings
            .note(place, format!("`{coordinate}` has @{name}, which is not used: limits count depth and complexity otherwise")),
        _ => {}
    }
}

/// A key of an interface must be a key of all that implement it.
fn interface_keys(source: &SubgraphSource, name: &Name, ty: &SourceType, findings: &mut FindingList) {
    if !ty.definition.is_interface() {
        return;
    }
    for key in &ty.keys {
        for object in source.possible_types(name) {
            let known = source
                .types
                .get(object)
                .is_some_and(|object| object.keys.iter().any(|of| same_set(&of.set.selected, &key.set.selected)));
            if !known {
                let message =
                    format!("the key `{}` of the interface `{name}` is missing at `{object}`, which implements it", key.set.text);
                findings.error_of(&source.name, key.place, message);
            }
        }
    }
}

/// Whether two field sets select the same fields, by whatever parents.
pub(crate) fn same_set(one: &[SelectedField], other: &[SelectedField]) -> bool {
    let within = |a: &[SelectedField], b: &[SelectedField]| {
        a.iter().all(|field| b.iter().any(|of| of.name == field.name && same_set(&of.selected, &field.selected)))
    };
    one.len() == other.len() && within(one, other)
}

fn interface_object(source: &SubgraphSource, name: &Name, ty: &SourceType, findings: &mut FindingList) {
    if ty.is_interface_object && ty.keys.is_empty() {
        findings.error_of(&source.name, ty.definition.name().location(), format!("`{name}` has @interfaceObject and no @key"));
    }
}

fn field_rules(source: &SubgraphSource, ty: &SourceType, coordinate: &str, field: &SourceField, findings: &mut FindingList) {
    let is_interface = ty.definition.is_interface();
    let at = |findings: &mut FindingList, message: String| findings.error_of(&source.name, field.place(), message);
    if let Some((from, place)) = &field.takes_over_from {
        if is_interface {
            findings.error_of(
                &source.name,
                *place,
                format!("`{coordinate}` has @override, which fields of interfaces cannot have"),
            );
        }
        if *from == source.name {
            findings.error_of(&source.name, *place, format!("`{coordinate}` has @override from its own subgraph"));
        }
        if field.is_marked_external || ty.is_interface_object {
            findings.error_of(
                &source.name,
                *place,
                format!("`{coordinate}` has @override, which external fields and interface objects cannot have"),
            );
        }
    }
    if source.vocabulary.is_federation_1 {
        return;
    }
    if is_interface && source.find_at(&field.definition, FederationDirective::Shareable).is_some() {
        at(findings, format!("`{coordinate}` has @shareable, which fields of interfaces cannot have"));
    }
    let merged = [FederationDirective::Tag, FederationDirective::Inaccessible];
    if field.is_marked_external && merged.iter().any(|directive| source.find_at(&field.definition, *directive).is_some()) {
        at(findings, format!("`{coordinate}` is external: @tag and @inaccessible belong where it is resolved"));
    }
    if let Some(requires) = &field.requires {
        resolved_here(source, &requires.selected, &|field| field.is_marked_external, &mut |name| {
            at(
                findings,
                format!("`{coordinate}` requires `{name}`, which its subgraph resolves itself; only external fields are required"),
            );
        });
    }
    if let Some(provides) = &field.provides {
        resolved_here(source, &provides.selected, &|field| field.is_external, &mut |name| {
            at(
                findings,
                format!(
                    "`{coordinate}` provides `{name}`, which its subgraph resolves everywhere; only external fields are provided"
                ),
            );
        });
    }
}

/// Calls `tell` for the fields of a set that are not external, and not below an external field.
fn resolved_here(
    source: &SubgraphSource,
    fields: &[SelectedField],
    is_external: &impl Fn(&SourceField) -> bool,
    tell: &mut impl FnMut(String),
) {
    for field in fields {
        let here = |ty: &Name| source.types.get(ty).and_then(|ty| ty.fields.get(&field.name)).is_some_and(is_external);
        if here(&field.parent) || source.possible_types(&field.parent).iter().any(here) {
            continue;
        }
        match field.selected.is_empty() {
            true => tell(format!("{}.{}", field.parent, field.name)),
            false => resolved_here(source, &field.selected, is_external, tell),
        }
    }
}

/// External fields are there for keys, requirements, provisions and interfaces; others are mistakes.
fn unused_externals(source: &SubgraphSource, findings: &mut FindingList) {
    let mut used: HashSet<(Name, Name)> = HashSet::default();
    let mut see = |field: &SelectedField| {
        used.insert((field.parent.clone(), field.name.clone()));
        used.extend(source.possible_types(&field.parent).iter().map(|object| (object.clone(), field.name.clone())));
    };
    for ty in source.types.values() {
        ty.keys.iter().for_each(|key| each_field(&key.set.selected, &mut see));
        for field in ty.fields.values() {
            let sets = field.requires.iter().chain(&field.provides);
            sets.for_each(|set| each_field(&set.selected, &mut see));
        }
    }
    for (name, ty) in &source.types {
        for (field_name, field) in &ty.fields {
            let of_interface = interfaces(&ty.definition)
                .any(|interface| source.types.get(interface).is_some_and(|interface| interface.fields.contains_key(field_name)));
            let is_written_here = source.find_at(&field.definition, FederationDirective::External).is_some();
            if field.is_marked_external && is_written_here && !of_interface && !used.contains(&(name.clone(), field_name.clone())) {
                let message = format!("`{name}.{field_name}` is external, but no @key, @requires, @provides or interface uses it");
                findings.error_of(&source.name, field.place(), message);
            }
        }
    }
}

fn interfaces(definition: &ExtendedType) -> impl Iterator<Item = &Name> {
    definition.as_object().into_iter().flat_map(|object| object.implements_interfaces.iter().map(|interface| &interface.name))
}
