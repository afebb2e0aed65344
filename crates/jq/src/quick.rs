//! Filters that need no interpreter: paths, literals, objects, arrays, operators and a few calls, as most transforms of bodies are written. What
//! a quick filter makes is what the interpreter would make; where a filter fails, or anything is unusual, the interpreter runs it anew and words
//! the error.

use crate::budget::spend;
use crate::value::JqValue;
use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Term};
use jaq_core::ops::{Cmp, Math};
use jaq_core::path::{Opt, Part, Path};

/// What each step costs.
const STEP: usize = 16;

/// A filter.
#[derive(Debug)]
pub(crate) enum QuickFilter {
    /// `.`
    Input,
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A text with the outputs of filters in it.
    Text(Vec<TextPart>),
    /// `f.name`
    Member(Box<QuickFilter>, Box<str>),
    /// `f[0]`
    Item(Box<QuickFilter>, i64),
    /// `f[]`
    Each(Box<QuickFilter>),
    Object(Vec<(Box<str>, QuickFilter)>),
    Array(Option<Box<QuickFilter>>),
    Pipe(Box<[QuickFilter; 2]>),
    Comma(Box<[QuickFilter; 2]>),
    /// `f // g`
    Alternative(Box<[QuickFilter; 2]>),
    /// `f and g`, `f or g`
    Logic(Decides, Box<[QuickFilter; 2]>),
    Arithmetic(Math, Box<[QuickFilter; 2]>),
    Comparison(Cmp, Box<[QuickFilter; 2]>),
    Negative(Box<QuickFilter>),
    /// `if f then g else h end`
    If(Box<[QuickFilter; 3]>),
    /// `select(f)`
    Select(Box<QuickFilter>),
}

/// The value of the left side that makes the right one superfluous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decides {
    True,
    False,
}

/// A part of a text.
#[derive(Debug)]
pub(crate) enum TextPart {
    Literal(Box<str>),
    Output(QuickFilter),
}

impl QuickFilter {
    /// The quick form of a filter that always has one output; `None` if it has none.
    pub(crate) fn compile(term: &Term<&str>) -> Option<Self> {
        compiled(term).filter(QuickFilter::is_single)
    }

    /// Whether it has exactly one output for every input, unless it fails.
    fn is_single(&self) -> bool {
        match self {
            QuickFilter::Each(_) | QuickFilter::Comma(_) | QuickFilter::Select(_) => false,
            QuickFilter::Member(of, _) | QuickFilter::Item(of, _) => of.is_single(),
            QuickFilter::Pipe(both) => both.iter().all(QuickFilter::is_single),
            QuickFilter::If(all) => all.iter().all(QuickFilter::is_single),
            QuickFilter::Alternative(both) => both.iter().all(QuickFilter::is_single),
            // Others are compiled of single ones only.
            _ => true,
        }
    }

    /// The output of a filter that has one; `None` when the interpreter must say what happens.
    pub(crate) fn output(&self, input: &JqValue) -> Option<JqValue> {
        Some(match self {
            QuickFilter::Input => input.clone(),
            QuickFilter::Null => JqValue::Null,
            QuickFilter::Bool(truth) => JqValue::Bool(*truth),
            QuickFilter::Int(number) => JqValue::Int(*number),
            QuickFilter::Float(number) => JqValue::Float(*number),
            QuickFilter::Text(parts) => text(parts, input)?,
            QuickFilter::Member(of, name) => match &**of {
                QuickFilter::Input => member(input, name)?,
                of => member(&of.output(input)?, name)?,
            },
            QuickFilter::Item(of, at) => item(&of.output(input)?, *at)?,
            QuickFilter::Object(members) => {
                let mut made = crate::value::JqMembers::with_capacity(members.len());
                for (name, filter) in members {
                    made.insert((&**name).into(), filter.output(input)?);
                }
                JqValue::from_members(made)
            }
            QuickFilter::Array(of) => {
                let mut items = Vec::new();
                of.as_ref().map_or(Some(()), |of| {
                    of.outputs(input, &mut |item| {
                        items.push(item);
                        spend(STEP).ok()
                    })
                })?;
                JqValue::array(items)
            }
            QuickFilter::Pipe(both) => {
                let [first, second] = &**both;
                second.output(&first.output(input)?)?
            }
            QuickFilter::Alternative(both) => {
                let [first, second] = &**both;
                let value = first.output(input)?;
                if value.is_true() { value } else { second.output(input)? }
            }
            QuickFilter::Logic(decides, both) => {
                let [first, second] = &**both;
                let is_true = first.output(input)?.is_true();
                let decided = is_true == (*decides == Decides::True);
                JqValue::Bool(if decided { is_true } else { second.output(input)?.is_true() })
            }
            QuickFilter::Arithmetic(operator, both) => {
                let [left, right] = &**both;
                spend(STEP).ok()?;
                operator.run(left.output(input)?, right.output(input)?).ok()?
            }
            QuickFilter::Comparison(operator, both) => {
                let [left, right] = &**both;
                spend(STEP).ok()?;
                JqValue::Bool(operator.run(&left.output(input)?, &right.output(input)?))
            }
            QuickFilter::Negative(of) => (-of.output(input)?).ok()?,
            QuickFilter::If(all) => {
                let [test, then, otherwise] = &**all;
                let chosen = if test.output(input)?.is_true() { then } else { otherwise };
                chosen.output(input)?
            }
            QuickFilter::Each(_) | QuickFilter::Comma(_) | QuickFilter::Select(_) => return None,
        })
    }

    /// Gives all outputs to `take`, in their order. `None` as in [`QuickFilter::output`], and when `take` wants no more.
    fn outputs(&self, input: &JqValue, take: &mut dyn FnMut(JqValue) -> Option<()>) -> Option<()> {
        match self {
            QuickFilter::Each(of) => of.outputs(input, &mut |value| each(&value, take)),
            QuickFilter::Member(of, name) => of.outputs(input, &mut |value| take(member(&value, name)?)),
            QuickFilter::Item(of, at) => of.outputs(input, &mut |value| take(item(&value, *at)?)),
            QuickFilter::Pipe(both) => {
                let [first, second] = &**both;
                first.outputs(input, &mut |value| second.outputs(&value, take))
            }
            QuickFilter::Comma(both) => {
                let [first, second] = &**both;
                first.outputs(input, take)?;
                second.outputs(input, take)
            }
            QuickFilter::If(all) => {
                let [test, then, otherwise] = &**all;
                let chosen = if test.output(input)?.is_true() { then } else { otherwise };
                chosen.outputs(input, take)
            }
            QuickFilter::Select(test) => {
                if test.output(input)?.is_true() {
                    take(input.clone())
                } else {
                    Some(())
                }
            }
            single => take(single.output(input)?),
        }
    }
}

fn member(value: &JqValue, name: &str) -> Option<JqValue> {
    spend(STEP).ok()?;
    match value {
        JqValue::Object(object) => Some(object.members.get(name).cloned().unwrap_or_default()),
        JqValue::Null => Some(JqValue::Null),
        _ => None,
    }
}

fn item(value: &JqValue, at: i64) -> Option<JqValue> {
    spend(STEP).ok()?;
    match value {
        JqValue::Array(array) => {
            let at = if at < 0 { at.checked_add(i64::try_from(array.items.len()).ok()?)? } else { at };
            let found = usize::try_from(at).ok().and_then(|at| array.items.get(at));
            Some(found.cloned().unwrap_or_default())
        }
        JqValue::Null => Some(JqValue::Null),
        _ => None,
    }
}

fn each(value: &JqValue, take: &mut dyn FnMut(JqValue) -> Option<()>) -> Option<()> {
    let mut take = |value: &JqValue| {
        spend(STEP).ok()?;
        take(value.clone())
    };
    match value {
        JqValue::Array(array) => array.items.iter().try_for_each(&mut take),
        JqValue::Object(object) => object.members.values().try_for_each(&mut take),
        _ => None,
    }
}

fn text(parts: &[TextPart], input: &JqValue) -> Option<JqValue> {
    let mut text = String::new();
    for part in parts {
        match part {
            TextPart::Literal(literal) => text.push_str(literal),
            TextPart::Output(filter) => {
                let output = filter.output(input)?;
                spend(output.weight()).ok()?;
                match output {
                    JqValue::String(output) => text.push_str(&output),
                    output => text.push_str(&output.to_json()),
                }
            }
        }
    }
    Some(JqValue::string(&text))
}

fn compiled(term: &Term<&str>) -> Option<QuickFilter> {
    Some(match term {
        Term::Id => QuickFilter::Input,
        Term::Num(written) => match written.parse() {
            Ok(number) => QuickFilter::Int(number),
            Err(_) => QuickFilter::Float(written.parse().ok()?),
        },
        Term::Str(None, parts) => QuickFilter::Text(joined(parts)?),
        Term::Arr(None) => QuickFilter::Array(None),
        Term::Arr(Some(of)) => QuickFilter::Array(Some(Box::new(compiled(of)?))),
        Term::Obj(members) => {
            let member = |(name, value): &(Term<&str>, Option<Term<&str>>)| {
                let name = literal(name)?;
                let value = match value {
                    Some(value) => single(value)?,
                    // `{a}`
                    None => QuickFilter::Member(Box::new(QuickFilter::Input), name.clone()),
                };
                Some((name, value))
            };
            QuickFilter::Object(members.iter().map(member).collect::<Option<_>>()?)
        }
        Term::Neg(of) => QuickFilter::Negative(Box::new(single(of)?)),
        Term::BinOp(left, operator, right) => operation(left, operator, right)?,
        Term::IfThenElse(branches, otherwise) => {
            let last = otherwise.as_ref().map_or(Some(QuickFilter::Input), |otherwise| compiled(otherwise))?;
            branches.iter().rev().try_fold(last, |otherwise, (test, then)| {
                Some(QuickFilter::If(Box::new([single(test)?, compiled(then)?, otherwise])))
            })?
        }
        Term::Call(name, arguments) => match (*name, arguments.as_slice()) {
            ("null", []) => QuickFilter::Null,
            ("true", []) => QuickFilter::Bool(true),
            ("false", []) => QuickFilter::Bool(false),
            ("not", []) => QuickFilter::If(Box::new([QuickFilter::Input, QuickFilter::Bool(false), QuickFilter::Bool(true)])),
            ("select", [test]) => QuickFilter::Select(Box::new(single(test)?)),
            ("map", [filter]) => {
                let each = QuickFilter::Each(Box::new(QuickFilter::Input));
                QuickFilter::Array(Some(Box::new(QuickFilter::Pipe(Box::new([each, compiled(filter)?])))))
            }
            _ => return None,
        },
        Term::Path(of, Path(steps)) => steps.iter().try_fold(compiled(of)?, path_step)?,
        _ => return None,
    })
}

/// A filter with one output.
fn single(term: &Term<&str>) -> Option<QuickFilter> {
    compiled(term).filter(QuickFilter::is_single)
}

fn operation(left: &Term<&str>, operator: &BinaryOp<&str>, right: &Term<&str>) -> Option<QuickFilter> {
    let both = |compile: fn(&Term<&str>) -> Option<QuickFilter>| Some(Box::new([compile(left)?, compile(right)?]));
    Some(match operator {
        BinaryOp::Pipe(None) => QuickFilter::Pipe(both(compiled)?),
        BinaryOp::Comma => QuickFilter::Comma(both(compiled)?),
        BinaryOp::Alt => QuickFilter::Alternative(both(single)?),
        BinaryOp::Or => QuickFilter::Logic(Decides::True, both(single)?),
        BinaryOp::And => QuickFilter::Logic(Decides::False, both(single)?),
        BinaryOp::Math(operator) => QuickFilter::Arithmetic(*operator, both(single)?),
        BinaryOp::Cmp(operator) => QuickFilter::Comparison(*operator, both(single)?),
        _ => return None,
    })
}

fn path_step(of: QuickFilter, step: &(Part<Term<&str>>, Opt)) -> Option<QuickFilter> {
    let of = Box::new(of);
    Some(match step {
        (Part::Index(Term::Num(written)), Opt::Essential) => QuickFilter::Item(of, written.parse().ok()?),
        (Part::Index(Term::Neg(at)), Opt::Essential) => match &**at {
            Term::Num(written) => QuickFilter::Item(of, -written.parse().ok()?),
            _ => return None,
        },
        (Part::Index(name), Opt::Essential) => QuickFilter::Member(of, literal(name)?),
        (Part::Range(None, None), Opt::Essential) => QuickFilter::Each(of),
        _ => return None,
    })
}

/// A text without filters in it.
fn literal(term: &Term<&str>) -> Option<Box<str>> {
    let Term::Str(None, parts) = term else { return None };
    match joined(parts)?.as_slice() {
        [] => Some(Box::default()),
        [TextPart::Literal(text)] => Some(text.clone()),
        _ => None,
    }
}

/// The parts of a text; pieces that stand beside each other are one.
fn joined(parts: &[StrPart<&str, Term<&str>>]) -> Option<Vec<TextPart>> {
    let mut joined = Vec::new();
    let mut pending = String::new();
    for part in parts {
        match part {
            StrPart::Str(text) => pending.push_str(text),
            StrPart::Char(character) => pending.push(*character),
            StrPart::Term(term) => {
                if !pending.is_empty() {
                    joined.push(TextPart::Literal(std::mem::take(&mut pending).into()));
                }
                joined.push(TextPart::Output(single(term)?));
            }
        }
    }
    if !pending.is_empty() {
        joined.push(TextPart::Literal(pending.into()));
    }
    Some(joined)
}

#[cfg(test)]
mod tests;
