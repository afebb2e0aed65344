//! A text that a pattern of a schema accepts, for made examples: the first alternatives and the fewest repetitions.

use regex_syntax::hir::{Class, Hir, HirKind};

use tollgate_schema::{compile_pattern, translated_pattern};

/// Maximum characters of a text; patterns may repeat their parts any number of times.
const CHARS_MAX: usize = 1_000;

/// A text that the pattern accepts; `None` if the fewest repetitions give none.
pub(super) fn fitting(pattern: &str) -> Option<String> {
    let hir = regex_syntax::parse(&translated_pattern(pattern)).ok()?;
    let mut text = String::new();
    write(&hir, &mut text)?;
    compile_pattern(pattern).ok().filter(|compiled| compiled.is_match(&text)).map(|_| text)
}

fn write(hir: &Hir, text: &mut String) -> Option<()> {
    if text.chars().count() > CHARS_MAX {
        return None;
    }
    match hir.kind() {
        // Whether a text keeps what is looked for around it is seen at the end.
        HirKind::Empty | HirKind::Look(_) => Some(()),
        HirKind::Literal(literal) => {
            text.push_str(std::str::from_utf8(&literal.0).ok()?);
            Some(())
        }
        HirKind::Class(class) => {
            text.push(member(class)?);
            Some(())
        }
        HirKind::Repetition(repeated) => (0..repeated.min).try_for_each(|_| write(&repeated.sub, text)),
        HirKind::Capture(group) => write(&group.sub, text),
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write(part, text)),
        HirKind::Alternation(parts) => write(parts.first()?, text),
    }
}

/// A member of a class: a letter or a digit if it has one.
fn member(class: &Class) -> Option<char> {
    let has = |wanted: char| match class {
        Class::Unicode(class) => class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&wanted)),
        Class::Bytes(class) => class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&(wanted as u8))),
    };
    let first = || match class {
        Class::Unicode(class) => class.ranges().first().map(|range| range.start()),
        Class::Bytes(class) => class.ranges().first().map(|range| char::from(range.start())),
    };
    ('a'..='z').chain('A'..='Z').chain('0'..='9').chain("-_. ".chars()).find(|wanted| has(*wanted)).or_else(first)
}

#[cfg(test)]
mod tests;
