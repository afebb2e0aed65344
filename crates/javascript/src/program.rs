//! The scripts that one API loads, assembled into one function. A call runs this function, and with it all top-level code, before its
//! handler: so it finds the variables as they are after loading, whatever other calls have done, as in Tyk, which copies its engine.

use crate::fault::ProgramFault;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Which scripts see the variables of one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// All with this scope, as with Tyk's driver `otto`.
    Shared,
    /// No other: two files may give their handlers the same name, as with Tyk's driver `goja`.
    Own,
}

/// A function of a program that can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handler(pub(crate) usize);

/// What an API loads, complete.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// The function, in parentheses. It returns the handlers.
    pub(crate) text: String,
    /// The functions that make its constants, as a list in brackets.
    pub(crate) constants: String,
    sources: Vec<Source>,
    pub(crate) handlers: Vec<HandlerName>,
}

/// A value of a program that is the same for each call, made without reading JSON again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constant(pub(crate) usize);

/// Collects the scripts of a program.
#[derive(Debug, Default)]
pub struct ProgramBuilder {
    sources: Vec<Source>,
    handlers: Vec<HandlerName>,
    constants: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Source {
    name: String,
    text: String,
    scope: Scope,
    /// The line of the program at which it begins, from 1.
    first_line: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HandlerName {
    source: usize,
    pub name: String,
}

impl ProgramBuilder {
    /// Adds a script; one with the same name is already there, and its text is not looked at.
    pub fn source(&mut self, name: &str, text: impl Into<String>, scope: Scope) -> usize {
        if let Some(known) = self.sources.iter().position(|source| source.name == name) {
            return known;
        }
        self.sources.push(Source { name: name.to_owned(), text: text.into(), scope, first_line: 0 });
        self.sources.len() - 1
    }

    /// Adds a handler by its name in a script: an identifier, or several with dots between them.
    pub fn handler(&mut self, source: usize, name: &str) -> Result<Handler, ProgramFault> {
        if !is_name(name) {
            let source = self.sources.get(source).map(|source| source.name.clone()).unwrap_or_default();
            return Err(ProgramFault { source, message: format!("{name:?} is not the name of a variable or function") });
        }
        self.handlers.push(HandlerName { source, name: name.to_owned() });
        Ok(Handler(self.handlers.len() - 1))
    }

    /// Adds a constant, as JSON.
    pub fn constant(&mut self, json: &str) -> Constant {
        // In an expression, a member `__proto__` would be something else than in JSON.
        let text = if json.contains("__proto__") {
            format!("function(){{return JSON.parse({})}}", serde_json::Value::from(json))
        } else {
            format!("function(){{return {json}}}")
        };
        self.constants.push(text);
        Constant(self.constants.len() - 1)
    }

    /// Whether there is nothing to call.
    pub fn is_empty(&self) -> bool {
        self.handlers.is_empty()
    }

    /// Assembles the function.
    pub fn build(self) -> Program {
        let constants = format!("[{}]", self.constants.join(","));
        let mut program = Program { text: String::new(), constants, sources: self.sources, handlers: self.handlers };
        let mut text = "(function () {var __handlers = [];\n".to_owned();
        for scope in [Scope::Shared, Scope::Own] {
            for (index, source) in program.sources.iter_mut().enumerate().filter(|(_, source)| source.scope == scope) {
                if scope == Scope::Own {
                    text.push_str("(function () {\n");
                }
                source.first_line = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
                text.push_str(&source.text);
                text.push_str("\n;\n");
                if scope == Scope::Own {
                    assign(&mut text, &program.handlers, |handler| handler.source == index);
                    text.push_str("}).call(this);\n");
                }
            }
        }
        let shared = |handler: &HandlerName| program.sources.get(handler.source).is_none_or(|source| source.scope == Scope::Shared);
        assign(&mut text, &program.handlers, shared);
        text.push_str("return __handlers;\n})");
        program.text = text;
        program
    }
}

/// Writes the code that looks handlers up in the scope where it stands.
fn assign(text: &mut String, handlers: &[HandlerName], belongs: impl Fn(&HandlerName) -> bool) {
    for (index, handler) in handlers.iter().enumerate().filter(|(_, handler)| belongs(handler)) {
        let (name, first) = (&handler.name, handler.name.split('.').next().unwrap_or_default());
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "if (typeof {first} !== \"undefined\") __handlers[{index}] = {name};");
    }
}

impl Program {
    /// The name of a handler, for messages.
    pub fn name_of(&self, handler: Handler) -> &str {
        self.handlers.get(handler.0).map_or("", |handler| handler.name.as_str())
    }

    /// The scripts, by name and text.
    pub(crate) fn scripts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sources.iter().map(|source| (source.name.as_str(), source.text.as_str()))
    }

    /// The script that a handler should be in.
    pub(crate) fn source_of(&self, handler: &HandlerName) -> String {
        self.sources.get(handler.source).map(|source| source.name.clone()).unwrap_or_default()
    }

    /// The script and its line that a line of the program is.
    pub(crate) fn place(&self, line: usize) -> Option<(&str, usize)> {
        let before = self.sources.iter().filter(|source| source.first_line <= line);
        let source = before.max_by_key(|source| source.first_line)?;
        let own = line - source.first_line + 1;
        (own <= source.text.lines().count().max(1)).then_some((source.name.as_str(), own))
    }
}

/// Whether a text is an identifier, or several with dots between them. It becomes a part of the program.
fn is_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        part.chars().all(is_letter) && part.chars().next().is_some_and(|first| !first.is_numeric())
    };
    text.len() <= 256 && text.split('.').all(is_part)
}
