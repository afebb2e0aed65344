//! The names of the data's members that a template reads.

use crate::Template;
use crate::ast::{Branch, Operand, Pipeline, TemplateNode};
use std::collections::BTreeSet;

/// The position of `$` among the variables.
const DOLLAR: usize = 0;

/// The first names of `.A.B` and `$.A.B`, whatever the dot is where they stand.
pub(crate) fn of_template(template: &Template) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    each_operand(template, &mut |operand| {
        if let Operand::Field(path) | Operand::Variable(DOLLAR, path) = operand {
            names.extend(path.first().map(String::as_str));
        }
    });
    names
}

/// All chains of names.
pub(crate) fn paths_of_template(template: &Template) -> BTreeSet<&[String]> {
    let mut paths = BTreeSet::new();
    each_operand(template, &mut |operand| {
        match operand {
            Operand::Field(path) | Operand::Variable(_, path) if !path.is_empty() => {
                paths.insert(path.as_slice());
            }
            // The methods of a time or version are no names of the data.
            Operand::Parenthesis(inner, path) if !path.is_empty() && !makes_native(inner) => {
                paths.insert(path.as_slice());
            }
            _ => {}
        }
    });
    paths
}

/// Whether a pipeline ends with a function whose result has methods.
fn makes_native(pipeline: &Pipeline) -> bool {
    const MAKERS: [&str; 8] =
        ["now", "toDate", "mustToDate", "dateModify", "date_modify", "mustDateModify", "must_date_modify", "semver"];
    let last = pipeline.commands.last().map(|command| &command.operand);
    matches!(last, Some(Operand::Function(function)) if MAKERS.contains(&function.name))
}

/// Calls `visit` with every operand of a template.
fn each_operand<'t>(template: &'t Template, visit: &mut dyn FnMut(&'t Operand)) {
    [&template.main].into_iter().chain(template.defined.values()).for_each(|nodes| of_nodes(nodes, visit));
}

fn of_nodes<'t>(nodes: &'t [TemplateNode], visit: &mut dyn FnMut(&'t Operand)) {
    for node in nodes {
        match node {
            TemplateNode::Text(_) | TemplateNode::Break | TemplateNode::Continue => {}
            TemplateNode::Print(pipeline) => of_pipeline(pipeline, visit),
            TemplateNode::If(branch) | TemplateNode::With(branch) | TemplateNode::Range(branch) => of_branch(branch, visit),
            TemplateNode::Template { argument, .. } => argument.iter().for_each(|pipeline| of_pipeline(pipeline, visit)),
        }
    }
}

fn of_branch<'t>(branch: &'t Branch, visit: &mut dyn FnMut(&'t Operand)) {
    of_pipeline(&branch.pipeline, visit);
    of_nodes(&branch.body, visit);
    of_nodes(&branch.otherwise, visit);
}

fn of_pipeline<'t>(pipeline: &'t Pipeline, visit: &mut dyn FnMut(&'t Operand)) {
    for command in &pipeline.commands {
        for operand in [&command.operand].into_iter().chain(&command.arguments) {
            visit(operand);
            if let Operand::Parenthesis(pipeline, _) = operand {
                of_pipeline(pipeline, visit);
            }
        }
    }
}

#[cfg(test)]
mod tests;
