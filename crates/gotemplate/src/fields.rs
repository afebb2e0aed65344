//! The names of the data's members that a template reads.

use crate::Template;
use crate::ast::{Branch, Operand, Pipeline, TemplateNode};
use std::collections::BTreeSet;

/// The position of `$` among the variables.
const DOLLAR: usize = 0;

/// The first names of `.A.B` and `$.A.B`, whatever the dot is where they stand.
pub(crate) fn of_template(template: &Template) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    [&template.main].into_iter().chain(template.defined.values()).for_each(|nodes| of_nodes(nodes, &mut names));
    names
}

fn of_nodes<'t>(nodes: &'t [TemplateNode], names: &mut BTreeSet<&'t str>) {
    for node in nodes {
        match node {
            TemplateNode::Text(_) | TemplateNode::Break | TemplateNode::Continue => {}
            TemplateNode::Print(pipeline) => of_pipeline(pipeline, names),
            TemplateNode::If(branch) | TemplateNode::With(branch) | TemplateNode::Range(branch) => of_branch(branch, names),
            TemplateNode::Template { argument, .. } => argument.iter().for_each(|pipeline| of_pipeline(pipeline, names)),
        }
    }
}

fn of_branch<'t>(branch: &'t Branch, names: &mut BTreeSet<&'t str>) {
    of_pipeline(&branch.pipeline, names);
    of_nodes(&branch.body, names);
    of_nodes(&branch.otherwise, names);
}

fn of_pipeline<'t>(pipeline: &'t Pipeline, names: &mut BTreeSet<&'t str>) {
    for command in &pipeline.commands {
        for operand in [&command.operand].into_iter().chain(&command.arguments) {
            match operand {
                Operand::Field(path) | Operand::Variable(DOLLAR, path) => names.extend(path.first().map(String::as_str)),
                Operand::Parenthesis(pipeline, _) => of_pipeline(pipeline, names),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
