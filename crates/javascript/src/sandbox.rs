//! One engine with one program in it, for one call at a time. After a call, all that it has changed is undone, or the engine is given up.

use crate::ScriptHost;
use crate::bindings;
use crate::call_state::CallState;
use crate::fault::{ProgramFault, ScriptFault};
use crate::limits::{STACK_BYTES_MAX, ScriptLimits};
use crate::program::{Constant, Handler, Program};
use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::function::{Args, Func};
use rquickjs::object::Filter;
use rquickjs::{Array, CatchResultExt, CaughtError, Context, Ctx, Function, Runtime, Value};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;

/// The built-in objects that scripts have. `WeakRef` would let a script see when memory is freed; `Performance` measures the gateway.
type Builtins = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// How a handler is called, and with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SandboxEntry {
    /// `NewProcessRequest`: request, session, configuration, and anything if the script may change the session's `meta_data`.
    Request = 0,
    /// `NewProcessResponse`: response, request, session, configuration.
    Response = 1,
    /// The function of a virtual endpoint: request, session, configuration.
    Virtual = 2,
    /// `NewHandler`: event, context.
    Event = 3,
    /// A function for analytics records: record, configuration. The result is empty if the record is dropped.
    Record = 4,
}

/// An argument of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Argument {
    /// A value as JSON.
    Json(String),
    /// A constant of the program.
    Constant(Constant),
    /// The texts that the entry makes an object of.
    Members(Vec<String>),
    /// The entry has no such argument.
    None,
}

pub(crate) type Arguments = [Argument; 4];

pub(crate) struct Sandbox {
    context: Context,
    runtime: Runtime,
    program: Arc<Program>,
    state: Arc<CallState>,
    limits: ScriptLimits,
    /// Members of the global object when no call has added any.
    globals: usize,
}

impl Sandbox {
    /// Loads a program, whose top-level code runs. `quiet` leaves out what that logs.
    pub(crate) fn new(
        program: Arc<Program>,
        host: Arc<dyn ScriptHost>,
        limits: ScriptLimits,
        quiet: bool,
        deadline: Instant,
    ) -> Result<Self, ProgramFault> {
        let failed = |error: rquickjs::Error| ProgramFault { source: String::new(), message: error.to_string() };
        let runtime = Runtime::new().map_err(failed)?;
        runtime.set_memory_limit(limits.memory_bytes_max);
        runtime.set_max_stack_size(STACK_BYTES_MAX);
        let state = Arc::new(CallState::new());
        let asked = state.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || asked.must_stop())));
        let context = Context::custom::<Builtins>(&runtime).map_err(failed)?;
        let mut sandbox = Sandbox { context, runtime, program, state, limits, globals: 0 };
        sandbox.state.begin(deadline);
        sandbox.state.set_quiet(quiet);
        sandbox.context.with(|ctx| {
            bindings::define(&ctx, host, sandbox.state.clone()).map_err(failed)?;
            sandbox.load(&ctx)
        })?;
        sandbox.state.set_quiet(true);
        sandbox.globals = sandbox.context.with(|ctx| count_globals(&ctx));
        Ok(sandbox)
    }

    fn load(&self, ctx: &Ctx<'_>) -> Result<(), ProgramFault> {
        let whole = |error: CaughtError<'_>| self.program_fault(&error);
        let make: Function<'_> = eval(ctx, include_str!("library.js"), "library").catch(ctx).map_err(whole)?;
        let state = self.state.clone();
        let loud = Func::from(move || state.set_quiet(false));
        let library: Function<'_> = make.call((loud,)).catch(ctx).map_err(whole)?;
        ctx.globals().prop(LIBRARY, rquickjs::object::Property::from(library.clone())).catch(ctx).map_err(whole)?;
        self.check_syntax(ctx)?;
        let factory: Function<'_> = eval(ctx, &self.program.text, PROGRAM).catch(ctx).map_err(whole)?;
        let constants: Value<'_> = eval(ctx, &self.program.constants, "constants").catch(ctx).map_err(whole)?;
        let load: Function<'_> = library.get("load").catch(ctx).map_err(whole)?;
        let handlers: Array<'_> = load.call((factory, constants)).catch(ctx).map_err(whole)?;
        self.settle(ctx);
        for (index, handler) in self.program.handlers.iter().enumerate() {
            let found: Value<'_> = handlers.get(index).catch(ctx).map_err(whole)?;
            if !found.is_object() {
                let message = format!("defines no {}", handler.name);
                return Err(ProgramFault { source: self.program.source_of(handler), message });
            }
        }
        library.get::<_, Function<'_>>("harden").and_then(|harden| harden.call::<_, ()>(())).catch(ctx).map_err(whole)
    }

    /// Checks each script by itself, so that an error names its own file and line.
    fn check_syntax(&self, ctx: &Ctx<'_>) -> Result<(), ProgramFault> {
        for (name, text) in self.program.scripts() {
            let made = ctx.globals().get::<_, Function<'_>>("Function").and_then(|make| make.call::<_, Value<'_>>((text,)));
            made.catch(ctx).map_err(|error| {
                // Two lines are before the body of such a function.
                let line = line_of(&error, None).map(|line| line.saturating_sub(2).max(1));
                let at = line.map(|line| format!(" in line {line}")).unwrap_or_default();
                ProgramFault { source: name.to_owned(), message: format!("{}{at}", text_of(&error)) }
            })?;
        }
        Ok(())
    }

    /// Makes a call, until the deadline. The sandbox is of no more use if the second value is false.
    pub(crate) fn run(
        &self,
        entry: SandboxEntry,
        handler: Handler,
        arguments: &Arguments,
        deadline: Instant,
    ) -> (Result<String, ScriptFault>, bool) {
        self.state.begin(deadline);
        let (result, is_clean) = self.context.with(|ctx| {
            let result = self.call(&ctx, entry, handler, arguments);
            self.settle(&ctx);
            (result, self.sweep(&ctx))
        });
        match self.state.stopped(self.limits.time_max) {
            Some(fault) => (Err(fault), false),
            None => {
                let is_usable = is_clean && !matches!(result, Err(ScriptFault::Memory));
                (result, is_usable)
            }
        }
    }

    fn call(&self, ctx: &Ctx<'_>, entry: SandboxEntry, handler: Handler, arguments: &Arguments) -> Result<String, ScriptFault> {
        let thrown = |error: CaughtError<'_>| self.fault(&error);
        self.state.set_quiet(true);
        let call: Function<'_> = ctx.globals().get(LIBRARY).catch(ctx).map_err(thrown)?;
        let arguments = flattened(ctx, entry, handler, arguments).catch(ctx).map_err(thrown)?;
        let made: Value<'_> = call.call_arg(arguments).catch(ctx).map_err(thrown)?;
        self.state.set_quiet(true);
        match made.as_string() {
            Some(text) => text.to_string().map_err(|_| ScriptFault::NoResult("the script's result is not valid text".into())),
            None if made.is_undefined() => Err(ScriptFault::NoResult("the script returned nothing".into())),
            None => Err(ScriptFault::NoResult("the script returned something else than its result".into())),
        }
    }

    /// Runs what promises have left to do, so that it doesn't become a part of the next call.
    fn settle(&self, ctx: &Ctx<'_>) {
        while !self.state.must_stop() && ctx.execute_pending_job() {}
    }

    fn sweep(&self, ctx: &Ctx<'_>) -> bool {
        // Members are added, but the first ones cannot be removed.
        if count_globals(ctx) == self.globals {
            return true;
        }
        let library = ctx.globals().get::<_, Function<'_>>(LIBRARY);
        let sweep = library.and_then(|library| library.get::<_, Function<'_>>("sweep"));
        sweep.and_then(|sweep| sweep.call::<_, bool>(())).catch(ctx).unwrap_or(false)
    }

    fn fault(&self, error: &CaughtError<'_>) -> ScriptFault {
        let text = text_of(error);
        // There may be no memory left for an exception that says so, or for its message.
        let is_null = matches!(error, CaughtError::Value(value) if value.is_null());
        if is_null || text.contains("out of memory") || text == "InternalError: " {
            return ScriptFault::Memory;
        }
        ScriptFault::Thrown(self.placed(&text, error))
    }

    fn program_fault(&self, error: &CaughtError<'_>) -> ProgramFault {
        if self.state.must_stop() {
            return ProgramFault {
                source: String::new(),
                message: "its top-level code takes too long, or logs too much".to_owned(),
            };
        }
        ProgramFault { source: String::new(), message: self.placed(&text_of(error), error) }
    }

    /// A message with the script and line that it is about.
    fn placed(&self, text: &str, error: &CaughtError<'_>) -> String {
        match line_of(error, Some(PROGRAM)).and_then(|line| self.program.place(line)) {
            Some((source, line)) => format!("{text} ({source}, line {line})"),
            None => text.to_owned(),
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // What is freed may run a finalizer; nothing of a script may run any more.
        self.runtime.set_interrupt_handler(None);
    }
}

/// The arguments of `call` in `library.js`: texts of which it makes an object come after all others, with null in their place.
fn flattened<'js>(ctx: &Ctx<'js>, entry: SandboxEntry, handler: Handler, arguments: &Arguments) -> rquickjs::Result<Args<'js>> {
    let texts = || {
        arguments.iter().filter_map(|argument| if let Argument::Members(texts) = argument { Some(texts) } else { None }).flatten()
    };
    let mut flat = Args::new(ctx.clone(), 2 + arguments.len() + texts().count());
    flat.push_arg(entry as i32)?;
    flat.push_arg(number(handler.0))?;
    for argument in arguments {
        match argument {
            Argument::Json(text) => flat.push_arg(text.as_str())?,
            Argument::Constant(Constant(index)) => flat.push_arg(number(*index))?,
            Argument::Members(_) => flat.push_arg(Value::new_null(ctx.clone()))?,
            Argument::None => flat.push_arg(Value::new_undefined(ctx.clone()))?,
        }
    }
    texts().try_for_each(|text| flat.push_arg(text.as_str()))?;
    Ok(flat)
}

fn number(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(-1)
}

/// The name of the library's global member.
const LIBRARY: &str = "__tollgate";

/// The name of the program in stack traces.
const PROGRAM: &str = "program";

fn eval<'js, V: rquickjs::FromJs<'js>>(ctx: &Ctx<'js>, text: &str, name: &str) -> rquickjs::Result<V> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(name.to_owned());
    ctx.eval_with_options(text, options)
}

fn count_globals(ctx: &Ctx<'_>) -> usize {
    ctx.globals().own_keys::<rquickjs::Atom<'_>>(Filter::new().string().symbol()).len()
}

/// What was thrown, in one line of bounded length.
fn text_of(error: &CaughtError<'_>) -> String {
    let text = match error {
        CaughtError::Exception(exception) => {
            let name: String = exception.get("name").unwrap_or_else(|_| "Error".to_owned());
            format!("{name}: {}", exception.message().unwrap_or_default())
        }
        CaughtError::Value(value) => match value.as_string().and_then(|text| text.to_string().ok()) {
            Some(text) => format!("thrown: {text}"),
            None => format!("thrown: a value of type {}", value.type_name()),
        },
        CaughtError::Error(error) => error.to_string(),
    };
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MESSAGE_CHARS_MAX).collect()
}

/// Longest message of a script's error in the log.
const MESSAGE_CHARS_MAX: usize = 512;

/// The line of the topmost frame of an error's stack, in the file with this name if one is given: `at f (program:12:5)`.
fn line_of(error: &CaughtError<'_>, file: Option<&str>) -> Option<usize> {
    let CaughtError::Exception(exception) = error else { return None };
    let stack = exception.stack()?;
    stack.lines().find_map(|frame| {
        let mut parts = frame.trim().trim_end_matches(')').rsplit(':');
        let (_, line, before) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
        file.is_none_or(|file| before.ends_with(file)).then_some(line)
    })
}
