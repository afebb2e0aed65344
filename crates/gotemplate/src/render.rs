//! Walks the syntax tree and writes the output, within limits: an operator's template processes untrusted bodies.

use crate::Template;
use crate::arguments::{CallContext, Function, FunctionBody, any};
use crate::ast::{Branch, Operand, Pipeline, PipelineCommand, TemplateNode};
use crate::host::TemplateHost;
use crate::methods;
use crate::pattern::{PatternSearch, TemplatePattern};
use crate::print;
use crate::value::Value;
use std::rc::Rc;

/// The maxima of rendering.
#[derive(Clone, Copy, Debug)]
pub struct RenderLimits {
    /// Bytes of output.
    pub bytes_max: usize,
    /// Visited nodes, evaluated arguments, and 64-byte pieces of function results.
    pub steps_max: usize,
}

impl RenderLimits {
    /// For a thread that has other things to do: about a millisecond.
    pub const BRIEF: RenderLimits = RenderLimits { bytes_max: 256 * 1024, steps_max: 5_000 };
}

impl Default for RenderLimits {
    /// Bodies of 10 MiB, rendered in a few hundred milliseconds at most.
    fn default() -> Self {
        RenderLimits { bytes_max: 10 * 1024 * 1024, steps_max: 2_000_000 }
    }
}

/// Bytes that a regular expression searches for a step.
const SEARCHED_PER_STEP: usize = 8;
/// Steps for compiling a regular expression that the template made: about a millisecond, so that a rendering takes a second at most.
const COMPILED_STEPS: usize = 2_000;
/// Regular expressions of one rendering that are kept for their next use.
const PATTERNS_MAX: usize = 16;

/// Maximum depth of templates that call each other. A call takes some KiB of stack.
const DEPTH_MAX: usize = 50;

/// Why rendering stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderError {
    /// Line of the action, starting at 1; 0 if a maximum was reached between two actions.
    pub line: usize,
    /// Go's message, without the name of the template.
    pub message: String,
}

impl std::fmt::Display for RenderError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for RenderError {}

/// How a list of nodes ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Done,
    Break,
    Continue,
}

type Rendered<T> = Result<T, RenderError>;

struct Renderer<'t> {
    template: &'t Template,
    limits: RenderLimits,
    host: &'t dyn TemplateHost,
    /// Regular expressions that the template made, the latest last.
    patterns: Vec<Rc<TemplatePattern>>,
    steps: usize,
    line: usize,
    out: String,
    /// Whether printed values are escaped for HTML.
    escapes: bool,
}

/// The variables and the depth of one call of a template.
struct Frame {
    variables: Vec<Value>,
    depth: usize,
}

pub(crate) fn render(
    template: &Template,
    data: &Value,
    limits: RenderLimits,
    host: &dyn TemplateHost,
    escapes: bool,
) -> Rendered<String> {
    let mut renderer = Renderer { template, limits, host, patterns: Vec::new(), steps: 0, line: 0, out: String::new(), escapes };
    // A document that is `null` is no value; a member that is `null` is a value.
    let data = data.clone().unwrapped();
    let mut frame = Frame { variables: vec![data.clone()], depth: 0 };
    renderer.list(&template.main, &data, &mut frame)?;
    Ok(renderer.out)
}

impl<'t> Renderer<'t> {
    fn error<T>(&self, message: impl Into<String>) -> Rendered<T> {
        Err(RenderError { line: self.line, message: message.into() })
    }

    fn step(&mut self, steps: usize) -> Rendered<()> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.limits.steps_max {
            return self.error(format!("more than {} steps", self.limits.steps_max));
        }
        if self.out.len() > self.limits.bytes_max {
            return self.error(format!("more than {} bytes of output", self.limits.bytes_max));
        }
        Ok(())
    }

    fn list(&mut self, nodes: &'t [TemplateNode], dot: &Value, frame: &mut Frame) -> Rendered<Flow> {
        for node in nodes {
            self.step(1)?;
            let flow = match node {
                TemplateNode::Text(text) => {
                    self.out.push_str(text);
                    Flow::Done
                }
                TemplateNode::Print(pipeline) => {
                    let value = self.pipeline(pipeline, dot, frame)?;
                    if pipeline.variables.is_empty() && self.escapes {
                        print::printed_in_html(&value, is_escaped(pipeline), &mut self.out);
                    } else if pipeline.variables.is_empty() {
                        print::printed(&value, &mut self.out);
                    }
                    Flow::Done
                }
                TemplateNode::If(branch) => self.branch(branch, dot, false, frame)?,
                TemplateNode::With(branch) => self.branch(branch, dot, true, frame)?,
                TemplateNode::Range(branch) => self.range(branch, dot, frame)?,
                TemplateNode::Template { name, line, argument } => self.call(name, *line, argument.as_ref(), dot, frame)?,
                TemplateNode::Break => return Ok(Flow::Break),
                TemplateNode::Continue => return Ok(Flow::Continue),
            };
            if flow != Flow::Done {
                return Ok(flow);
            }
        }
        self.step(0)?;
        Ok(Flow::Done)
    }

    /// `if` and `with`.
    fn branch(&mut self, branch: &'t Branch, dot: &Value, moves_dot: bool, frame: &mut Frame) -> Rendered<Flow> {
        let mark = frame.variables.len();
        let value = self.pipeline(&branch.pipeline, dot, frame)?;
        let flow = match (value.is_true(), moves_dot) {
            (true, true) => self.list(&branch.body, &value, frame),
            (true, false) => self.list(&branch.body, dot, frame),
            (false, _) => self.list(&branch.otherwise, dot, frame),
        };
        frame.variables.truncate(mark);
        flow
    }

    fn range(&mut self, branch: &'t Branch, dot: &Value, frame: &mut Frame) -> Rendered<Flow> {
        let mark = frame.variables.len();
        let value = self.pipeline(&branch.pipeline, dot, frame)?;
        let ranged = match &value {
            Value::Missing | Value::Null => 0,
            Value::List(items) => {
                let pairs = items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| (Value::Int(i64::try_from(index).unwrap_or(i64::MAX)), item.clone()));
                self.iterate(branch, pairs, frame)?
            }
            Value::Map(map) => {
                let entries = map.entries().into_iter().map(|(key, item)| (Value::String(key), item));
                self.iterate(branch, entries, frame)?
            }
            Value::Int(count) => self.iterate(branch, (0..*count).map(|number| (Value::Int(number), Value::Int(number))), frame)?,
            Value::Int64(count) => {
                self.iterate(branch, (0..*count).map(|number| (Value::Int64(number), Value::Int64(number))), frame)?
            }
            other => return self.error(format!("range can't iterate over {}", print::text_of(other))),
        };
        let flow = if ranged == 0 { self.list(&branch.otherwise, dot, frame)? } else { Flow::Done };
        frame.variables.truncate(mark);
        Ok(flow)
    }

    /// Runs the body for each pair of index and element; returns their number.
    fn iterate(&mut self, branch: &'t Branch, pairs: impl Iterator<Item = (Value, Value)>, frame: &mut Frame) -> Rendered<usize> {
        let mark = frame.variables.len();
        let mut count = 0;
        for (index, element) in pairs {
            count += 1;
            self.step(1)?;
            match *branch.pipeline.variables.as_slice() {
                [only] => set(frame, only, element.clone()),
                [first, second, ..] => {
                    set(frame, first, index);
                    set(frame, second, element.clone());
                }
                [] => {}
            }
            let flow = self.list(&branch.body, &element, frame)?;
            frame.variables.truncate(mark);
            if flow == Flow::Break {
                break;
            }
        }
        Ok(count)
    }

    fn call(&mut self, name: &str, line: usize, argument: Option<&'t Pipeline>, dot: &Value, frame: &mut Frame) -> Rendered<Flow> {
        self.line = line;
        let Some(nodes) = self.template.defined.get(name) else { return self.error(format!("template {name:?} not defined")) };
        if frame.depth >= DEPTH_MAX {
            return self.error(format!("more than {DEPTH_MAX} templates inside each other"));
        }
        let value = argument.map_or(Ok(Value::Missing), |pipeline| self.pipeline(pipeline, dot, frame))?;
        let mut inner = Frame { variables: vec![value.clone()], depth: frame.depth + 1 };
        self.list(nodes, &value, &mut inner)?;
        Ok(Flow::Done)
    }

    /// Evaluates a pipeline and assigns its variables.
    fn pipeline(&mut self, pipeline: &'t Pipeline, dot: &Value, frame: &mut Frame) -> Rendered<Value> {
        self.line = pipeline.line;
        let mut value = None;
        for command in &pipeline.commands {
            let result = self.command(command, value.take(), dot, frame)?;
            value = Some(result.unwrapped());
        }
        let value = value.unwrap_or(Value::Missing);
        for slot in &pipeline.variables {
            set(frame, *slot, value.clone());
        }
        Ok(value)
    }

    fn command(&mut self, command: &'t PipelineCommand, last: Option<Value>, dot: &Value, frame: &mut Frame) -> Rendered<Value> {
        self.step(1)?;
        if let Operand::Function(function) = &command.operand {
            return self.function(function, command, last, dot, frame);
        }
        if last.is_some() || !command.arguments.is_empty() {
            return self.method(command, last, dot, frame);
        }
        self.operand(&command.operand, dot, frame)
    }

    /// A method with arguments: `now.Format "15:04"`.
    fn method(&mut self, command: &'t PipelineCommand, last: Option<Value>, dot: &Value, frame: &mut Frame) -> Rendered<Value> {
        const NO_METHOD: &str = "a field or variable is no function and takes no arguments";
        let (receiver, names) = match &command.operand {
            Operand::Field(names) => (dot.clone(), names),
            Operand::Variable(slot, names) => (any(&frame.variables, *slot).clone(), names),
            Operand::Parenthesis(pipeline, names) => (self.pipeline(pipeline, dot, frame)?, names),
            Operand::Dot | Operand::Nil | Operand::Constant(_) | Operand::Function(_) => return self.error(NO_METHOD),
        };
        let Some((name, before)) = names.split_last() else { return self.error(NO_METHOD) };
        let receiver = self.fields(receiver, before)?;
        let Some(native) = receiver.native() else { return self.error(NO_METHOD) };
        let mut given = Vec::with_capacity(command.arguments.len() + 1);
        for operand in &command.arguments {
            self.step(1)?;
            given.push(self.operand(operand, dot, frame)?);
        }
        given.extend(last);
        match methods::call(native, name, &given, self.host) {
            Some(result) => result.or_else(|why| self.error(format!("error calling {name}: {why}"))),
            None => self.error(format!("can't evaluate field {name} in type {}", receiver.type_name())),
        }
    }

    fn function(
        &mut self,
        function: &Function,
        command: &'t PipelineCommand,
        last: Option<Value>,
        dot: &Value,
        frame: &mut Frame,
    ) -> Rendered<Value> {
        let mut arguments = Vec::with_capacity(command.arguments.len() + usize::from(last.is_some()));
        for operand in &command.arguments {
            self.step(1)?;
            let value = self.operand(operand, dot, frame)?;
            let decides = match function.body {
                FunctionBody::And => !value.is_true(),
                FunctionBody::Or => value.is_true(),
                FunctionBody::Call(_) | FunctionBody::Hosted(_) | FunctionBody::Search(_) => false,
            };
            if decides {
                return Ok(value);
            }
            arguments.push(value);
        }
        arguments.extend(last);
        self.result(function, &arguments, command.pattern.as_deref())
    }

    /// Calls a function with its arguments, and counts its work.
    fn result(&mut self, function: &Function, arguments: &[Value], written: Option<&TemplatePattern>) -> Rendered<Value> {
        let made = match (function.body, arguments.first()) {
            (FunctionBody::Search(_), Some(Value::String(text))) if written.is_none() => Some(self.pattern(text)?),
            _ => None,
        };
        let pattern = match (&made, written) {
            (Some(Ok(pattern)), _) => Some(Ok(&**pattern)),
            (Some(Err(why)), _) => Some(Err(why.clone())),
            (None, written) => written.map(Ok),
        };
        let bytes_max = self.limits.steps_max.saturating_sub(self.steps).saturating_mul(SEARCHED_PER_STEP);
        let mut search = pattern.map(|pattern| pattern.map(|pattern| pattern.search(bytes_max)));
        let context =
            CallContext { host: self.host, search: search.as_mut().map(|search| search.as_mut().map_err(|why| why.clone())) };
        let result = function.call(arguments, context);
        let searched = search.and_then(Result::ok).map_or(0, |search: PatternSearch<'_>| search.bytes_read());
        self.step(searched / SEARCHED_PER_STEP)?;
        let result = result.map_err(|message| RenderError { line: self.line, message })?;
        let size = match &result {
            Value::String(text) => text.len() / 64,
            Value::List(items) => items.len(),
            _ => 0,
        };
        self.step(size)?;
        Ok(result)
    }

    /// The regular expression with a text, or why there is none.
    fn pattern(&mut self, text: &str) -> Rendered<Result<Rc<TemplatePattern>, String>> {
        if let Some(known) = self.patterns.iter().find(|known| known.is_of(text)) {
            return Ok(Ok(known.clone()));
        }
        self.step(COMPILED_STEPS)?;
        let compiled = TemplatePattern::made(text).map(Rc::new);
        if let Ok(pattern) = &compiled {
            if self.patterns.len() == PATTERNS_MAX {
                self.patterns.remove(0);
            }
            self.patterns.push(pattern.clone());
        }
        Ok(compiled)
    }

    fn operand(&mut self, operand: &'t Operand, dot: &Value, frame: &mut Frame) -> Rendered<Value> {
        match operand {
            Operand::Dot => Ok(dot.clone()),
            Operand::Nil => Ok(Value::Null),
            Operand::Constant(literal) => Ok(literal.value()),
            Operand::Field(names) => self.fields(dot.clone(), names),
            Operand::Variable(slot, names) => {
                let value = any(&frame.variables, *slot).clone();
                self.fields(value, names)
            }
            Operand::Parenthesis(pipeline, names) => {
                let value = self.pipeline(pipeline, dot, frame)?;
                self.fields(value, names)
            }
            Operand::Function(function) => self.result(function, &[], None),
        }
    }

    fn fields(&self, value: Value, names: &[String]) -> Rendered<Value> {
        names.iter().try_fold(value, |value, name| match &value {
            Value::Missing => Ok(Value::Missing),
            Value::Null => self.error(format!("nil pointer evaluating interface {{}}.{name}")),
            Value::Map(map) => Ok(map.get(name).unwrap_or(Value::Missing)),
            Value::Struct(structure) => match structure.get(name) {
                Some(value) => Ok(value.clone()),
                None => self.error(format!("can't evaluate field {name} in type {}", value.type_name())),
            },
            Value::Native(native) => match methods::call(&native.0, name, &[], self.host) {
                Some(result) => result.or_else(|why| self.error(format!("error calling {name}: {why}"))),
                None => self.error(format!("can't evaluate field {name} in type {}", value.type_name())),
            },
            other => self.error(format!("can't evaluate field {name} in type {}", other.type_name())),
        })
    }
}

/// Whether a pipeline ends with a function that escapes its result itself.
fn is_escaped(pipeline: &Pipeline) -> bool {
    let last = pipeline.commands.last().map(|command| &command.operand);
    matches!(last, Some(Operand::Function(function)) if matches!(function.name, "html" | "urlquery"))
}

/// Assigns a value to a variable; pushes a new one.
fn set(frame: &mut Frame, slot: usize, value: Value) {
    match frame.variables.get_mut(slot) {
        Some(variable) => *variable = value,
        None => {
            frame.variables.resize(slot, Value::Missing);
            frame.variables.push(value);
        }
    }
}
