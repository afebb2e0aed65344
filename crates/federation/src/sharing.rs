//! Who resolves a field: overrides, fields that several subgraphs resolve without having agreed on it, and fields that no subgraph resolves.

use apollo_compiler::Name;
use apollo_compiler::collections::HashMap;

use crate::finding::FindingList;
use crate::merge::Merged;
use crate::source::{SourceField, SourceType, SubgraphSource};

/// Marks fields that another subgraph has taken over.
pub(crate) fn apply_overrides(sources: &mut [SubgraphSource], findings: &mut FindingList) {
    let mut taken = Vec::new();
    let by_name: HashMap<String, usize> = sources.iter().enumerate().map(|(at, source)| (source.name.clone(), at)).collect();
    for source in sources.iter() {
        for (name, ty) in &source.types {
            for (field_name, field) in &ty.fields {
                let Some((from, place)) = &field.takes_over_from else { continue };
                let Some(other) = by_name.get(from) else {
                    findings
                        .note(*place, format!("`{name}.{field_name}` has @override from `{from}`, and there is no such subgraph"));
                    continue;
                };
                taken.push((*other, name.clone(), field_name.clone(), *place));
            }
        }
    }
    for (other, name, field_name, place) in taken {
        let Some(source) = sources.get_mut(other) else { continue };
        let field = source.types.get_mut(&name).and_then(|ty| ty.fields.get_mut(&field_name));
        let Some(field) = field else {
            findings.note(place, format!("`{name}.{field_name}` has @override from `{}`, which has no such field", source.name));
            continue;
        };
        if field.takes_over_from.is_some() {
            findings.error(place, format!("`{name}.{field_name}` has @override here and in the subgraph `{}`", source.name));
        }
        field.is_overridden = true;
    }
}

/// Checks every field of the composed types.
pub(crate) fn check(sources: &[SubgraphSource], merged: &Merged, findings: &mut FindingList) {
    let mut names: Vec<&Name> = Vec::new();
    let mut declared: HashMap<&Name, Vec<(&SubgraphSource, &SourceType)>> = HashMap::default();
    for source in sources {
        for (name, ty) in &source.types {
            let types = declared.entry(name).or_insert_with(|| {
                names.push(name);
                Vec::new()
            });
            types.push((source, ty));
        }
    }
    for name in names {
        let types = declared.get(name).map(Vec::as_slice).unwrap_or_default();
        let objects: Vec<(&SubgraphSource, &SourceType)> =
            types.iter().copied().filter(|(_, ty)| ty.definition.is_object()).collect();
        if objects.is_empty() {
            continue;
        }
        base(name, &objects, findings);
        fields(name, &objects, merged, &declared, findings);
    }
}

/// A type must be defined somewhere, not only extended.
fn base(name: &Name, types: &[(&SubgraphSource, &SourceType)], findings: &mut FindingList) {
    let is_root = ["Query", "Mutation", "Subscription"].contains(&name.as_str());
    if is_root || types.iter().any(|(_, ty)| !ty.is_extension) {
        return;
    }
    for (_, ty) in types {
        let place = ty.definition.iter_origins().find_map(|origin| origin.extension_id().and_then(|id| id.location()));
        findings.error(place, format!("`{name}` is extended here, but no subgraph defines it"));
    }
}

fn fields(
    name: &Name,
    types: &[(&SubgraphSource, &SourceType)],
    merged: &Merged,
    declared: &HashMap<&Name, Vec<(&SubgraphSource, &SourceType)>>,
    findings: &mut FindingList,
) {
    let mut seen: HashMap<&Name, Vec<(&SubgraphSource, &SourceField)>> = HashMap::default();
    let mut order = Vec::new();
    for (source, ty) in types {
        for (field_name, field) in &ty.fields {
            let fields = seen.entry(field_name).or_insert_with(|| {
                order.push(field_name);
                Vec::new()
            });
            fields.push((source, field));
        }
    }
    let interface_fields = |field_name: &Name| {
        let interfaces = merged.interfaces_with_objects(name).iter();
        let types = interfaces.filter_map(|interface| declared.get(interface)).flatten().filter(|(_, ty)| ty.is_interface_object);
        let fields = types.filter_map(|(source, ty)| Some((*source, ty.fields.get(field_name)?)));
        fields.collect::<Vec<(&SubgraphSource, &SourceField)>>()
    };
    let types_of_name = declared.get(name).map(Vec::as_slice).unwrap_or_default();
    for field_name in order {
        let mut fields = seen.remove(field_name).unwrap_or_default();
        let is_in_interface =
            types_of_name.iter().any(|(_, ty)| ty.definition.is_interface() && ty.fields.contains_key(field_name));
        fields.extend(interface_fields(field_name).into_iter().filter(|(_, field)| !field.is_key));
        // The implementations of the interface resolve it.
        if !is_in_interface {
            resolved_somewhere(name, field_name, &fields, findings);
        }
        shared(name, field_name, &fields, findings);
    }
}

fn resolved_somewhere(name: &Name, field_name: &Name, fields: &[(&SubgraphSource, &SourceField)], findings: &mut FindingList) {
    // In Federation 1, an external field that nothing uses is as good as absent.
    if fields.iter().all(|(source, field)| field.is_marked_external && !(source.vocabulary.is_federation_1 && field.is_key)) {
        let place = fields.first().and_then(|(_, field)| field.place());
        findings
            .error(place, format!("`{name}.{field_name}` is external in every subgraph that has it, so that nothing resolves it"));
    }
}

/// A field that several subgraphs resolve must be shareable in each. Fields of keys always are.
fn shared(name: &Name, field_name: &Name, fields: &[(&SubgraphSource, &SourceField)], findings: &mut FindingList) {
    let resolving: Vec<&(&SubgraphSource, &SourceField)> =
        fields.iter().filter(|(_, field)| !field.is_marked_external && !field.is_overridden).collect();
    if resolving.len() < 2 {
        return;
    }
    if name == "Subscription" {
        let place = resolving.last().and_then(|(_, field)| field.place());
        findings.error(place, format!("`{name}.{field_name}` is in several subgraphs; a subscription comes from one"));
        return;
    }
    for (_, field) in resolving.iter().filter(|(_, field)| !field.is_shareable && !field.is_key) {
        let others: Vec<String> =
            resolving.iter().filter(|(_, of)| !std::ptr::eq(*of, *field)).map(|(source, _)| format!("`{}`", source.name)).collect();
        let message = format!("`{name}.{field_name}` is not shareable here, but {} resolves it, too", others.join(" and "));
        findings.error(field.place(), message);
    }
}
