//! Compiles filters, and runs them.

use crate::ast::CallCounter;
use crate::budget::{self, JqLimit, WorkBudget};
use crate::functions;
use crate::quick::QuickFilter;
use crate::run::{JqRun, RunData};
use crate::value::JqValue;
use jaq_core::compile::Undefined;
use jaq_core::load::parse::{Def, Parser, Term};
use jaq_core::load::{Arena, File, Lexer, Loader, parse};
use jaq_core::{Compiler, Ctx, Vars};
use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A text above this size is no filter that somebody wrote; parsing one recurses for each operator.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// Stack of the thread that compiles: what the parser takes for a text of only operators or brackets.
const COMPILE_STACK_BYTES: usize = 256 << 20;

/// Definitions of jaq's core that are functions here.
const REPLACED: [&str; 5] = ["true", "false", "join", "to_entries", "from_entries"];

/// The name under which the filter stands behind the definitions that it uses.
const MAIN: &str = "filter__";

/// A compiled filter.
pub struct JqFilter {
    compiled: jaq_core::Filter<JqRun>,
    /// For a filter that needs no interpreter.
    pub(crate) quick: Option<QuickFilter>,
}

/// Why a text is no filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// Line in the text, starting at 1.
    pub line: usize,
    /// The error, with the name of the function or the word.
    pub message: String,
}

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterFailure {
    /// The filter has no output.
    NoOutput,
    /// An error that the filter did not catch.
    Uncaught(String),
    /// It was stopped.
    Limit(JqLimit),
}

impl fmt::Display for CompileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for CompileError {}

impl fmt::Display for FilterFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilterFailure::NoOutput => formatter.write_str("the filter has no output"),
            FilterFailure::Uncaught(message) => formatter.write_str(message),
            FilterFailure::Limit(limit) => limit.fmt(formatter),
        }
    }
}

impl std::error::Error for FilterFailure {}

impl JqFilter {
    /// Compiles a text.
    ///
    /// # Errors
    /// The first error: syntax, an unknown function or variable, a pattern that is not supported, or too much text.
    pub fn compile(text: &str) -> Result<Self, CompileError> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(CompileError { line: 1, message: format!("longer than {} KiB", TEXT_BYTES_MAX >> 10) });
        }
        // On a thread of its own, as the parser recurses. What it does not foresee is an error too.
        let unforeseen = || CompileError { line: 1, message: "cannot be compiled".to_owned() };
        std::thread::scope(|scope| {
            let builder = std::thread::Builder::new().name("jq".to_owned()).stack_size(COMPILE_STACK_BYTES);
            let compiling = builder.spawn_scoped(scope, || compile(text)).map_err(|_| unforeseen())?;
            compiling.join().unwrap_or_else(|_| Err(unforeseen()))
        })
    }

    /// The filter's first output for an input.
    ///
    /// # Errors
    /// It has none, because of an error or of a limit.
    pub fn run(&self, input: JqValue, now: f64) -> Result<JqValue, FilterFailure> {
        self.output(input, now, false)
    }

    /// The same if it takes no longer than about a millisecond.
    ///
    /// # Errors
    /// As for [`JqFilter::run`]; a limit is reached much sooner.
    pub fn run_briefly(&self, input: JqValue, now: f64) -> Result<JqValue, FilterFailure> {
        self.output(input, now, true)
    }

    fn output(&self, input: JqValue, now: f64, is_brief: bool) -> Result<JqValue, FilterFailure> {
        if let Some(quick) = &self.quick {
            let budget = WorkBudget::start(input.weight(), is_brief);
            let output = quick.output(&input);
            let reached = budget::reached();
            drop(budget);
            match (reached, output) {
                (Some(limit), _) => return Err(FilterFailure::Limit(limit)),
                (None, Some(output)) => return Ok(output),
                (None, None) => {}
            }
        }
        self.interpret(input, now, is_brief)
    }

    pub(crate) fn interpret(&self, input: JqValue, now: f64, is_brief: bool) -> Result<JqValue, FilterFailure> {
        let _budget = WorkBudget::start(input.weight(), is_brief);
        let data = RunData { lut: &self.compiled.lut, now };
        // A fault in the interpreter fails one request.
        let first = || self.compiled.id.run((Ctx::<JqRun>::new(data, Vars::default()), input)).next();
        let output = catch_unwind(AssertUnwindSafe(first));
        if let Some(limit) = budget::reached() {
            return Err(FilterFailure::Limit(limit));
        }
        match output {
            Ok(None) => Err(FilterFailure::NoOutput),
            Ok(Some(Ok(value))) => Ok(value),
            Ok(Some(Err(thrown))) => {
                Err(FilterFailure::Uncaught(thrown.get_err().map_or_else(|_| "break".to_owned(), |error| error.to_string())))
            }
            Err(_) => Err(FilterFailure::Uncaught("the filter failed".to_owned())),
        }
    }
}

impl fmt::Debug for JqFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JqFilter")
    }
}

fn compile(text: &str) -> Result<JqFilter, CompileError> {
    let parsed = parsed(text)?;
    let mut counter = CallCounter::new(true);
    let quick = QuickFilter::compile(&parsed);
    let body = counter.term(parsed);
    if let Some(message) = counter.wrong {
        return Err(CompileError { line: 1, message });
    }
    let mut definitions = prelude(counter.called);
    definitions.push(Def { name: MAIN, args: Vec::new(), body });
    let arena = Arena::default();
    let modules = Loader::new(definitions).load(&arena, File { code: MAIN, path: () });
    let compiler = Compiler::default().with_funs(functions::all());
    let compiled = modules.map_err(|_| "cannot be compiled".to_owned()).and_then(|modules| {
        let undefined = |errors: jaq_core::compile::Errors<&str, ()>| {
            let first = errors.into_iter().flat_map(|(_, errors)| errors).next();
            first.map_or_else(|| "cannot be compiled".to_owned(), |(name, what)| unknown(name, &what))
        };
        compiler.compile(modules).map_err(undefined)
    });
    match compiled {
        Ok(compiled) => Ok(JqFilter { compiled, quick }),
        Err(message) => {
            let name = message.rsplit(' ').next().and_then(|name| name.split('/').next()).unwrap_or_default();
            let line = text.find(name).map_or(1, |at| line_of(text, at));
            Err(CompileError { line, message })
        }
    }
}

fn unknown(name: &str, what: &Undefined) -> String {
    match what {
        Undefined::Filter(arity) => format!("unknown function {name}/{arity}"),
        other => format!("unknown {} {name}", other.as_str()),
    }
}

fn parsed(text: &str) -> Result<Term<&str>, CompileError> {
    // The end of the text, when something is missing there.
    let place = |found: &str| (found.as_ptr() as usize).checked_sub(text.as_ptr() as usize).filter(|at| *at <= text.len());
    let error = |expected: &str, found: &str| {
        let shown: String = found.chars().take(20).collect();
        let message = if found.is_empty() {
            format!("expected {expected} at the end")
        } else {
            format!("expected {expected}, found {shown:?}")
        };
        CompileError { line: line_of(text, place(found).unwrap_or(text.len())), message }
    };
    let tokens = Lexer::new(text).lex().map_err(|errors| {
        let first = errors.into_iter().next();
        first.map_or_else(|| error("a filter", text), |(expected, found)| error(expected.as_str(), found))
    })?;
    Parser::new(&tokens).parse(|parser| parser.term()).map_err(|errors| {
        let first = errors.into_iter().next();
        first.map_or_else(
            || error("a filter", text),
            |(expected, found)| error(expected.as_str(), found.map_or("", jaq_core::load::lex::Token::as_str)),
        )
    })
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

/// The definitions that some names stand for, with those that these need in turn. Each calls only what stands before it.
fn prelude(mut called: BTreeSet<&str>) -> Vec<Def<&str>> {
    let own = parse(include_str!("prelude.jq"), |parser| parser.defs()).unwrap_or_default();
    let mut kept = Vec::new();
    let core = jaq_core::defs().filter(|definition| !REPLACED.contains(&definition.name));
    for definition in core.chain(own).collect::<Vec<_>>().into_iter().rev() {
        if called.contains(definition.name) {
            let mut counter = CallCounter::new(false);
            kept.push(counter.definition(definition));
            called.extend(counter.called);
        }
    }
    kept.reverse();
    kept
}
