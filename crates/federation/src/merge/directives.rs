//! Definitions of directives that clients can use in their documents. They stay where all subgraphs that declare one agree.

use apollo_compiler::Node;
use apollo_compiler::ast::{DirectiveDefinition, DirectiveLocation};
use apollo_compiler::collections::IndexMap;

use crate::finding::FindingList;
use crate::source::SubgraphSource;

const EXECUTABLE: [DirectiveLocation; 8] = [
    DirectiveLocation::Query,
    DirectiveLocation::Mutation,
    DirectiveLocation::Subscription,
    DirectiveLocation::Field,
    DirectiveLocation::FragmentDefinition,
    DirectiveLocation::FragmentSpread,
    DirectiveLocation::InlineFragment,
    DirectiveLocation::VariableDefinition,
];

/// The directives that every subgraph has, at the places that every subgraph allows.
pub(super) fn merge(sources: &[SubgraphSource], findings: &mut FindingList) -> Vec<Node<DirectiveDefinition>> {
    let mut declared: IndexMap<&str, Vec<&Node<DirectiveDefinition>>> = IndexMap::default();
    for source in sources {
        for (name, definition) in &source.schema.directive_definitions {
            let is_executable = definition.locations.iter().any(|location| EXECUTABLE.contains(location));
            if is_executable && !definition.is_built_in() && source.vocabulary.directive(name).is_none() {
                declared.entry(name.as_str()).or_default().push(definition);
            }
        }
    }
    let mut merged = Vec::new();
    for (name, definitions) in declared {
        let Some(first) = definitions.first() else { continue };
        let everywhere =
            |location: &DirectiveLocation| definitions.iter().all(|definition| definition.locations.contains(location));
        let mut definition = (***first).clone();
        definition.locations.retain(|location| EXECUTABLE.contains(location) && everywhere(location));
        definition.repeatable = definitions.iter().all(|definition| definition.repeatable);
        let same = definitions.iter().all(|other| same_arguments(first, other));
        if definitions.len() < sources.len() || definition.locations.is_empty() || !same {
            findings.note(
                first.name.location(),
                format!("the directive `@{name}` is not the same in all subgraphs, and so clients cannot use it"),
            );
            continue;
        }
        definition.arguments.iter_mut().for_each(|argument| argument.make_mut().directives.0.clear());
        merged.push(Node::new(definition));
    }
    merged
}

fn same_arguments(one: &DirectiveDefinition, other: &DirectiveDefinition) -> bool {
    one.arguments.len() == other.arguments.len()
        && one.arguments.iter().all(|argument| {
            other
                .argument_by_name(&argument.name)
                .is_some_and(|of| of.ty == argument.ty && of.default_value == argument.default_value)
        })
}
