//! A compiled path pattern of an endpoint or an access right. Most patterns are templates of text and segments, which are compared piece by
//! piece. The others are regular expressions in an engine with a small memory footprint, because a gateway may have tens of thousands of
//! them.
#![forbid(unsafe_code)]

mod expression;
mod glob;
mod literal;
#[cfg(test)]
#[path = "../../http/tests/corpus/mutation.rs"]
mod mutation;
mod pool;
mod rules;
mod template;

pub use expression::{Expression, GroupTexts};
pub use glob::Glob;
pub use literal::{Literal, Requirement};
pub use pool::{GroupExpression, PatternCharge, PatternPool, PooledPattern};
pub use rules::{PatternRules, name_expression, name_pattern};

use literal::requirements;
use template::PathTemplate;

/// Longest expression, in bytes; paths fit into a request's head, so no pattern needs more. Parsing takes a hundred times its length in
/// memory.
const EXPRESSION_BYTES_MAX: usize = 64 << 10;

/// A compiled pattern.
#[derive(Debug)]
pub struct Pattern {
    kind: PatternKind,
    requirements: Vec<Requirement>,
}

#[derive(Debug)]
enum PatternKind {
    Template(PathTemplate),
    Expression(Expression),
}

impl Pattern {
    /// Compiles an expression in the engine's syntax. `Err` says why it is unusable.
    pub fn compile(expression: &str) -> Result<Self, String> {
        check_length(expression)?;
        if let Some(pattern) = Pattern::compile_quickly(expression) {
            return Ok(pattern);
        }
        let (expression, parsed) = Expression::compile(expression, expression::Groups::Ignored)?;
        Ok(Pattern { requirements: requirements(&parsed), kind: PatternKind::Expression(expression) })
    }

    /// Like [`Pattern::compile`] for expressions that compile quickly; `None` for others, and for invalid ones.
    fn compile_quickly(expression: &str) -> Option<Self> {
        let template = PathTemplate::parse(expression).filter(|_| check_length(expression).is_ok())?;
        Some(Pattern { requirements: template.requirements(), kind: PatternKind::Template(template) })
    }

    /// Whether the pattern matches a path.
    #[inline]
    pub fn is_match(&self, path: &str) -> bool {
        match &self.kind {
            PatternKind::Template(template) => template.is_match(path),
            PatternKind::Expression(expression) => expression.is_match(path),
        }
    }

    /// Literal texts that every matching path contains; they select candidates.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Memory of the pattern, in bytes.
    fn bytes(&self) -> usize {
        let matcher = match &self.kind {
            PatternKind::Template(template) => template.bytes(),
            PatternKind::Expression(expression) => expression.bytes(),
        };
        size_of::<Self>() + matcher + self.requirements.iter().map(Requirement::bytes).sum::<usize>()
    }
}

fn check_length(expression: &str) -> Result<(), String> {
    match expression.len() > EXPRESSION_BYTES_MAX {
        true => Err(format!("a pattern may have {} KiB, not {}", EXPRESSION_BYTES_MAX >> 10, expression.len() >> 10)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests;
