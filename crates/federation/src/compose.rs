//! The steps of a composition.

use std::collections::{HashMap, HashSet};

use crate::finding::{CompositionFinding, FindingList};
use crate::source::{SourceField, SourceType, SubgraphSource, SubgraphText};
use crate::supergraph::{EntityKey, Subgraph, SubgraphField, SubgraphType, Supergraph};
use crate::{default_values, hide, merge, satisfiable, sharing, source};

/// Composes subgraphs. With the result come notes: what may differ from what the author expects. Without one, all errors that were found.
pub fn compose(subgraphs: &[SubgraphText<'_>]) -> Result<(Supergraph, Vec<CompositionFinding>), Vec<CompositionFinding>> {
    let mut findings = FindingList::default();
    check_names(subgraphs, &mut findings);
    let mut sources: Vec<SubgraphSource> = subgraphs.iter().filter_map(|text| source::read(text, &mut findings)).collect();
    if !findings.errors.is_empty() {
        return Err(findings.errors);
    }
    sharing::apply_overrides(&mut sources, &mut findings);
    let mut merged = merge::merge(&sources, &mut findings);
    sharing::check(&sources, &merged, &mut findings);
    // Paths are looked for in a schema that holds together.
    if findings.errors.is_empty() {
        hide::hide(&mut merged, &mut findings);
        default_values::check(&merged.schema, &mut findings);
    }
    if !findings.errors.is_empty() {
        return Err(findings.errors);
    }
    let schema = match merged.schema.clone().validate() {
        Ok(schema) => schema,
        Err(failed) => {
            findings.diagnostics(None, &failed.errors, "the composed schema: ", |_| false);
            return Err(findings.errors);
        }
    };
    satisfiable::check(&sources, &merged, &mut findings);
    if !findings.errors.is_empty() {
        return Err(findings.errors);
    }
    let subgraphs = sources.iter().map(contribution).collect();
    Ok((Supergraph { schema: schema.to_string(), subgraphs }, findings.notes))
}

fn check_names(subgraphs: &[SubgraphText<'_>], findings: &mut FindingList) {
    if subgraphs.is_empty() {
        findings.error(None, "there is no subgraph");
    }
    let mut known = HashSet::new();
    for subgraph in subgraphs {
        if subgraph.name.is_empty() {
            findings.error(None, "a subgraph has no name");
        } else if !known.insert(subgraph.name) {
            findings.error_of(subgraph.name, None, "another subgraph has the same name");
        }
    }
}

/// What a subgraph contributes.
fn contribution(source: &SubgraphSource) -> Subgraph {
    let mut subgraph = Subgraph { name: source.name.clone(), types: HashMap::new(), unions: HashMap::new() };
    for (name, ty) in &source.types {
        if ty.is_composite() {
            subgraph.types.insert(name.to_string(), contributed_type(source, name, ty));
        } else if ty.definition.is_union() {
            let members = source.possible_types(name).iter().map(ToString::to_string).collect();
            subgraph.unions.insert(name.to_string(), members);
        }
    }
    subgraph
}

fn contributed_type(source: &SubgraphSource, name: &str, ty: &SourceType) -> SubgraphType {
    let field = |field: &SourceField| SubgraphField {
        type_name: field.definition.ty.inner_named_type().to_string(),
        type_text: field.definition.ty.to_string(),
        is_external: field.is_external,
        requires: field.requires.as_ref().map(|requires| requires.text.clone()),
        provides: field.provides.as_ref().map(|provides| provides.text.clone()),
        is_overridden: field.is_overridden,
    };
    SubgraphType {
        keys: ty.keys.iter().map(|key| EntityKey { fields: key.set.text.clone(), resolvable: key.is_resolvable }).collect(),
        fields: ty.fields.iter().map(|(name, of)| (name.to_string(), field(of))).collect(),
        is_interface_object: ty.is_interface_object,
        own_name: ty.own_name.as_ref().map(ToString::to_string),
        possible_types: match ty.definition.is_interface() {
            true => source.possible_types(name).iter().map(ToString::to_string).collect(),
            false => Vec::new(),
        },
    }
}

#[cfg(test)]
mod tests;
