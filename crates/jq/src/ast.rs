//! What is done to a parsed filter before jaq compiles it: calls that count are put in wherever a filter can repeat itself, and it is refused
//! when it is nested too deeply to run on a thread's stack.
//!
//! A filter repeats itself by calling functions, by the outputs of `,`, by iterating and by reducing. Iterating is counted by values. The others
//! get a call of [`TICK`], which also looks at the stack.

use crate::budget::TICK;
use crate::functions::check_pattern as check;
use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Def, Pattern, Term};
use jaq_core::ops::Math;
use jaq_core::path::{Part, Path};
use std::collections::BTreeSet;

/// Levels of a filter's text: its interpreter recurses once or twice for each, with about 1 KiB of stack.
pub(crate) const DEPTH_MAX: usize = 150;

/// Walks the terms of one definition or filter.
pub(crate) struct CallCounter<'s> {
    /// Definitions around the term.
    around: Vec<Signature<'s>>,
    /// The names of functions and formats that it calls.
    pub called: BTreeSet<&'s str>,
    /// Every function of the text is counted; else those that can repeat something.
    pub counts_all: bool,
    depth: usize,
    /// The first thing that is wrong with it.
    pub wrong: Option<String>,
}

struct Signature<'s> {
    name: &'s str,
    arity: usize,
    has_filters: bool,
    is_recursive: bool,
}

type Filter<'s> = Term<&'s str>;

impl<'s> CallCounter<'s> {
    pub(crate) fn new(counts_all: bool) -> Self {
        CallCounter { around: Vec::new(), called: BTreeSet::new(), counts_all, depth: 0, wrong: None }
    }

    /// A definition whose calls are counted.
    pub(crate) fn definition(&mut self, def: Def<&'s str>) -> Def<&'s str> {
        let filters: Vec<&str> = def.args.iter().copied().filter(|arg| !arg.starts_with('$')).collect();
        let has_filters = !filters.is_empty();
        self.around.push(Signature { name: def.name, arity: def.args.len(), has_filters, is_recursive: false });
        let doubled = filters.iter().any(|filter| calls_of(&def.body, filter) > 1);
        let body = self.term(def.body);
        let is_recursive = self.around.pop().is_some_and(|signature| signature.is_recursive);
        let body = if self.counts_all || is_recursive || doubled { counted(body) } else { body };
        Def { body, ..def }
    }

    /// A term whose repetitions are counted.
    pub(crate) fn term(&mut self, term: Filter<'s>) -> Filter<'s> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            // Whoever asked gives up; what is left need not be walked.
            self.wrong.get_or_insert_with(|| format!("nested more than {DEPTH_MAX} times"));
            self.depth -= 1;
            return Term::Id;
        }
        let walked = self.walk(term);
        self.depth -= 1;
        walked
    }

    fn walk(&mut self, term: Filter<'s>) -> Filter<'s> {
        match term {
            Term::Id | Term::Recurse | Term::Num(_) | Term::Break(_) | Term::Var(_) | Term::Arr(None) => term,
            Term::Str(format, parts) => {
                self.called.extend(format);
                // Each part is one level in the interpreter.
                self.depth += parts.len();
                let parts = parts.into_iter().map(|part| self.part(part)).collect::<Vec<_>>();
                self.depth -= parts.len();
                Term::Str(format, parts)
            }
            Term::Arr(Some(inner)) => Term::Arr(Some(self.boxed(inner))),
            Term::Obj(members) => self.object(members),
            Term::Neg(inner) => Term::Neg(self.boxed(inner)),
            Term::BinOp(left, BinaryOp::Comma, right) => {
                let right = Box::new(counted(self.term(*right)));
                Term::BinOp(self.boxed(left), BinaryOp::Comma, right)
            }
            Term::BinOp(left, BinaryOp::Pipe(pattern), right) => {
                let pattern = pattern.map(|pattern| self.pattern(pattern));
                Term::BinOp(self.boxed(left), BinaryOp::Pipe(pattern), self.boxed(right))
            }
            Term::BinOp(left, operator, right) => Term::BinOp(self.boxed(left), operator, self.boxed(right)),
            Term::Label(name, inner) => Term::Label(name, self.boxed(inner)),
            Term::Fold(name, values, pattern, filters) => {
                let values = self.boxed(values);
                let pattern = self.pattern(pattern);
                let filters = filters.into_iter().map(|filter| self.term(filter)).enumerate();
                // The second one runs for each value.
                let filters = filters.map(|(index, filter)| if index == 1 { counted(filter) } else { filter }).collect();
                Term::Fold(name, values, pattern, filters)
            }
            Term::TryCatch(inner, caught) => Term::TryCatch(self.boxed(inner), caught.map(|caught| self.boxed(caught))),
            Term::IfThenElse(branches, otherwise) => {
                self.depth += branches.len();
                let walked: Vec<_> = branches.into_iter().map(|(test, then)| (self.term(test), self.term(then))).collect();
                let otherwise = otherwise.map(|otherwise| self.boxed(otherwise));
                self.depth -= walked.len();
                Term::IfThenElse(walked, otherwise)
            }
            Term::Def(definitions, rest) => {
                let definitions = definitions.into_iter().map(|def| self.definition(def)).collect();
                Term::Def(definitions, self.boxed(rest))
            }
            Term::Call(name, args) => self.call(name, args),
            Term::Path(inner, Path(parts)) => {
                let inner = self.boxed(inner);
                let parts = parts.into_iter().map(|(part, opt)| (self.path_part(part), opt)).collect();
                Term::Path(inner, Path(parts))
            }
        }
    }

    fn boxed(&mut self, mut term: Box<Filter<'s>>) -> Box<Filter<'s>> {
        *term = self.term(std::mem::take(&mut term));
        term
    }

    /// A call. One that repeats a definition around it with a filter as argument must not be a tail call: each round would wrap the filter of
    /// the round before, and nothing would bound the depth of what is wrapped.
    fn call(&mut self, name: &'s str, args: Vec<Filter<'s>>) -> Filter<'s> {
        self.called.insert(name);
        if let Some(pattern) = written_pattern(name, &args)
            && let Err(why) = check(&pattern)
        {
            self.wrong.get_or_insert(why);
        }
        let args: Vec<Filter<'s>> = args.into_iter().map(|arg| self.term(arg)).collect();
        let around = self.around.iter_mut().rev().find(|around| around.name == name && around.arity == args.len());
        let Some(around) = around else { return Term::Call(name, args) };
        around.is_recursive = true;
        let wraps = around.has_filters;
        let call = Term::Call(name, args);
        if wraps { Term::BinOp(Box::new(call), BinaryOp::Pipe(None), Box::new(Term::Id)) } else { call }
    }

    /// An object, as the sum of its halves: the interpreter recurses for each member of the right one.
    fn object(&mut self, mut members: Vec<(Filter<'s>, Option<Filter<'s>>)>) -> Filter<'s> {
        if members.len() > 2 {
            let right = members.split_off(members.len() / 2);
            let (left, right) = (self.term(Term::Obj(members)), self.term(Term::Obj(right)));
            return Term::BinOp(Box::new(left), BinaryOp::Math(Math::Add), Box::new(right));
        }
        let member = |(name, value): (Filter<'s>, Option<Filter<'s>>)| {
            // `{$x}` and `{a}` take their names from how they are written.
            let name = if value.is_some() { self.term(name) } else { name };
            (name, value.map(|value| self.term(value)))
        };
        Term::Obj(members.into_iter().map(member).collect())
    }

    fn part(&mut self, part: StrPart<&'s str, Filter<'s>>) -> StrPart<&'s str, Filter<'s>> {
        if let StrPart::Term(term) = part { StrPart::Term(self.term(term)) } else { part }
    }

    fn path_part(&mut self, part: Part<Filter<'s>>) -> Part<Filter<'s>> {
        match part {
            Part::Index(index) => Part::Index(self.term(index)),
            Part::Range(from, to) => Part::Range(from.map(|from| self.term(from)), to.map(|to| self.term(to))),
        }
    }

    fn pattern(&mut self, pattern: Pattern<&'s str>) -> Pattern<&'s str> {
        match pattern {
            Pattern::Var(_) => pattern,
            Pattern::Arr(items) => Pattern::Arr(items.into_iter().map(|item| self.pattern(item)).collect()),
            Pattern::Obj(members) => {
                Pattern::Obj(members.into_iter().map(|(name, value)| (self.term(name), self.pattern(value))).collect())
            }
        }
    }
}

/// The regular expression that a call has as its text.
fn written_pattern(name: &str, args: &[Filter<'_>]) -> Option<String> {
    let takes_pattern =
        matches!((name, args.len()), ("test" | "match" | "capture" | "scan" | "splits" | "sub" | "gsub", _) | ("split", 2));
    let Term::Str(None, parts) = args.first().filter(|_| takes_pattern)? else { return None };
    let mut pattern = String::new();
    for part in parts {
        match part {
            StrPart::Str(text) => pattern.push_str(text),
            StrPart::Char(character) => pattern.push(*character),
            StrPart::Term(_) => return None,
        }
    }
    Some(pattern)
}

fn counted(term: Filter<'_>) -> Filter<'_> {
    Term::BinOp(Box::new(Term::Call(TICK, Vec::new())), BinaryOp::Pipe(None), Box::new(term))
}

/// How often a term calls a function without arguments.
fn calls_of(term: &Filter<'_>, name: &str) -> usize {
    // The text of a term names every function that it calls; a prelude is written so that this is exact enough.
    format!("{term:?}").matches(&format!("Call(\"{name}\", [])")).count()
}
