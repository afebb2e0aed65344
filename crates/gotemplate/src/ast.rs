//! The syntax tree. It contains resolved functions, and variables numbered by their position on the stack.

use crate::arguments::Function;
use crate::value::Value;

/// A list of these is a template, or a branch of one.
#[derive(Debug)]
pub(crate) enum Node {
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
    pub body: Vec<Node>,
    pub otherwise: Vec<Node>,
}

/// Commands joined by `|`. The result may be declared or assigned.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub line: usize,
    /// Positions of the variables that are declared or assigned, at most two for `range`.
    pub variables: Vec<Slot>,
    pub commands: Vec<Command>,
}

/// The position of a variable on the stack of its template.
pub(crate) type Slot = usize;

/// An operand with its arguments.
#[derive(Debug)]
pub(crate) struct Command {
    pub operand: Operand,
    pub arguments: Vec<Operand>,
}

#[derive(Debug)]
pub(crate) enum Operand {
    Dot,
    /// `nil`, which is only allowed as an argument.
    Nil,
    Constant(Literal),
    /// `.A.B`
    Field(Vec<String>),
    /// `$x.A.B`
    Variable(Slot, Vec<String>),
    /// `(pipeline).A.B`
    Parenthesis(Box<Pipeline>, Vec<String>),
    Function(&'static Function),
}

#[derive(Clone, Debug)]
pub(crate) enum Literal {
    Bool(bool),
    Int(i64),
    Float(f64),
    String(String),
}

impl Literal {
    pub fn value(&self) -> Value {
        match self {
            Literal::Bool(truth) => Value::Bool(*truth),
            Literal::Int(number) => Value::Int(*number),
            Literal::Float(number) => Value::Float(*number),
            Literal::String(text) => Value::string(text),
        }
    }
}
