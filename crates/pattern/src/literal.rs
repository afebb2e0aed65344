//! Literal texts that a path must contain to match a pattern. They are necessary, not sufficient: candidates are matched afterwards.

use regex_syntax::hir::{Class, Hir, HirKind};

/// Most literals of which a path must contain one. A pattern with more alternatives has no such requirement.
const ALTERNATIVES_MAX: usize = 64;
/// Deepest nesting of groups that is analysed; a pattern that nests deeper is a candidate for more paths than necessary.
const DEPTH_MAX: usize = 64;

/// A text that all matching paths contain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    /// The text, in lower case with `any_case`.
    pub text: Box<[u8]>,
    /// Whether ASCII letters match in either case.
    pub any_case: bool,
}

/// Literals of which every matching path contains at least one.
#[derive(Clone, Debug)]
pub struct Requirement(pub Box<[Literal]>);

impl Literal {
    /// The literals of a text. When case is ignored, `k` and `s` are excluded, because they have forms outside ASCII.
    pub fn of_text(text: &str, any_case: bool) -> impl Iterator<Item = Literal> {
        let parts = text.split(move |c: char| any_case && matches!(c, 'k' | 'K' | 's' | 'S'));
        let parts = parts.filter(|part| !part.is_empty());
        parts.map(move |part| Literal {
            text: if any_case { part.to_ascii_lowercase().into_bytes().into() } else { part.as_bytes().into() },
            any_case,
        })
    }
}

impl Requirement {
    /// A requirement with one literal.
    pub fn one(literal: Literal) -> Self {
        Requirement([literal].into())
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|literal| literal.text.len() + size_of::<Literal>()).sum::<usize>() + size_of::<Self>()
    }

    /// Length of the shortest literal, which is found most often.
    pub fn shortest(&self) -> usize {
        self.0.iter().map(|literal| literal.text.len()).min().unwrap_or_default()
    }
}

/// The requirements of an expression: every text that it matches meets them.
pub(super) fn requirements(expression: &Hir) -> Vec<Requirement> {
    let mut found = Requirements::default();
    found.read(expression, 0);
    found.end_run();
    found.list
}

#[derive(Default)]
struct Requirements {
    list: Vec<Requirement>,
    /// The literal that is being collected.
    run: Vec<u8>,
    run_any_case: bool,
}

impl Requirements {
    fn read(&mut self, expression: &Hir, depth: usize) {
        if depth > DEPTH_MAX {
            return self.end_run();
        }
        match expression.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => {
                if self.run_any_case && literal.0.iter().any(u8::is_ascii_alphabetic) {
                    self.end_run();
                }
                self.run.extend_from_slice(&literal.0);
            }
            HirKind::Class(class) => match letter(class) {
                Some(letter) => {
                    if !self.run_any_case && self.run.iter().any(u8::is_ascii_alphabetic) {
                        self.end_run();
                    }
                    self.run_any_case = true;
                    self.run.push(letter);
                }
                None => self.end_run(),
            },
            HirKind::Capture(group) => self.read(&group.sub, depth + 1),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.read(part, depth + 1)),
            HirKind::Repetition(repetition) => {
                self.end_run();
                if repetition.min > 0 {
                    self.read(&repetition.sub, depth + 1);
                    self.end_run();
                }
            }
            HirKind::Alternation(alternatives) => {
                self.end_run();
                self.list.extend(one_of(alternatives, depth + 1));
            }
        }
    }

    /// Ends the current literal, because the following text is unknown.
    fn end_run(&mut self) {
        let any_case = std::mem::take(&mut self.run_any_case);
        let text = std::mem::take(&mut self.run);
        if !text.is_empty() {
            self.list.push(Requirement::one(Literal { text: text.into(), any_case }));
        }
    }
}

/// A requirement that joins one of each alternative, if all alternatives have one.
fn one_of(alternatives: &[Hir], depth: usize) -> Option<Requirement> {
    let mut literals = Vec::new();
    for alternative in alternatives {
        let mut found = Requirements::default();
        found.read(alternative, depth);
        found.end_run();
        let longest = found.list.into_iter().max_by_key(Requirement::shortest)?;
        literals.extend(longest.0);
        if literals.len() > ALTERNATIVES_MAX {
            return None;
        }
    }
    Some(Requirement(literals.into()))
}

/// The letter, in lower case, if a class consists of exactly its two cases.
fn letter(class: &Class) -> Option<u8> {
    let (upper, lower) = match class {
        Class::Unicode(class) => match class.ranges() {
            [upper, lower] if upper.len() == 1 && lower.len() == 1 => {
                (u8::try_from(upper.start()).ok()?, u8::try_from(lower.start()).ok()?)
            }
            _ => return None,
        },
        Class::Bytes(class) => match class.ranges() {
            [upper, lower] if upper.len() == 1 && lower.len() == 1 => (upper.start(), lower.start()),
            _ => return None,
        },
    };
    (upper.is_ascii_uppercase() && upper.to_ascii_lowercase() == lower).then_some(lower)
}
