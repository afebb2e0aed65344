//! The syntax tree. It contains resolved functions, and variables numbered by their position on the stack.

use crate::arguments::Function;
use crate::pattern::TemplatePattern;
use crate::value::Value;

/// A list of these is a template, or a branch of one.
#[derive(Debug)]
pub(crate) enum TemplateNode {
    Text(String),
    /// `{{pipeline}}`
    Print(Pipeline),
    If(Branch),
    With(Branch),
    Range(Branch),
    /// `{{template "name" pipeline}}`
    Template {
        name: String,
        line: usize,
        argument: Option<Pipeline>,
    },
    Break,
    Continue,
}

/// `if`, `with` or `range`, with the `else` branch.
#[derive(Debug)]
pub(crate) struct Branch {
    pub pipeline: Pipeline,
    pub body: Vec<TemplateNode>,
    pub otherwise: Vec<TemplateNode>,
}

/// Commands joined by `|`. The result may be declared or assigned.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub line: usize,
    /// Positions of the variables that are declared or assigned, at most two for `range`.
    pub variables: Vec<VariableSlot>,
    pub commands: Vec<PipelineCommand>,
}

/// The position of a variable on the stack of its template.
pub(crate) type VariableSlot = usize;

/// An operand with its arguments.
#[derive(Debug)]
pub(crate) struct PipelineCommand {
    pub operand: Operand,
    pub arguments: Vec<Operand>,
    /// The regular expression of a search, compiled, if it is a text of the template.
    pub pattern: Option<Box<TemplatePattern>>,
}

#[derive(Debug)]
pub(crate) enum Operand {
    Dot,
    /// `nil`, which is only allowed as an argument.
    Nil,
    Constant(LiteralValue),
    /// `.A.B`
    Field(Vec<String>),
    /// `$x.A.B`
    Variable(VariableSlot, Vec<String>),
    /// `(pipeline).A.B`
    Parenthesis(Box<Pipeline>, Vec<String>),
    Function(&'static Function),
}

#[derive(Clone, Debug)]
pub(crate) enum LiteralValue {
    Bool(bool),
    Int(i64),
    Float(f64),
    String(String),
}

impl LiteralValue {
    pub(crate) fn value(&self) -> Value {
        match self {
            LiteralValue::Bool(truth) => Value::Bool(*truth),
            LiteralValue::Int(number) => Value::Int(*number),
            LiteralValue::Float(number) => Value::Float(*number),
            LiteralValue::String(text) => Value::string(text),
        }
    }
}
