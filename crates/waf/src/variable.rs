//! Variables of rules: which values of a request an operator looks at.

use crate::expression::expression;
use crate::source::{Part, ValueSource};
use regex::bytes::Regex;

/// A variable of a rule, such as `ARGS:name`.
#[derive(Debug, Clone)]
pub(crate) struct RuleTarget {
    /// Where its values are; empty for values that this engine never has.
    pub(crate) sources: &'static [ValueSource],
    pub(crate) part: Part,
    pub(crate) selector: Selector,
    /// `&`: looks at the number of values.
    pub(crate) is_count: bool,
}

/// Which values of a collection.
#[derive(Debug, Clone)]
pub(crate) enum Selector {
    All,
    /// Without regard to case.
    Named(String),
    Matching(Regex),
}

impl Selector {
    pub(crate) fn fits(&self, name: &[u8]) -> bool {
        match self {
            Selector::All => true,
            Selector::Named(wanted) => wanted.as_bytes().eq_ignore_ascii_case(name),
            Selector::Matching(pattern) => pattern.is_match(name),
        }
    }

    fn read(text: &str) -> Result<Self, String> {
        let text = text.trim_matches('\'');
        let Some(pattern) = text.strip_prefix('/').and_then(|text| text.strip_suffix('/')).filter(|text| !text.is_empty()) else {
            return Ok(Selector::Named(text.to_owned()));
        };
        expression(pattern, true).map(Selector::Matching)
    }
}

impl RuleTarget {
    /// Whether the value of `source` and `part` under `name` is among those that it selects.
    pub(crate) fn selects(&self, source: ValueSource, part: Part, name: &[u8]) -> bool {
        self.part == part && self.sources.contains(&source) && self.selector.fits(name)
    }

    /// One variable, without `!`.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let (text, is_count) = text.strip_prefix('&').map_or((text, false), |text| (text, true));
        let (name, selector) = text.split_once(':').map_or((text, None), |(name, selector)| (name, Some(selector)));
        let name = name.to_ascii_uppercase();
        if name == "XML" {
            let sources = xml_sources(selector.unwrap_or("/*"));
            let sources = sources.ok_or_else(|| format!("{text}: of XML only XML:/* and XML://@* are supported"))?;
            return Ok(RuleTarget { sources, part: Part::Value, selector: Selector::All, is_count });
        }
        let (sources, part) = ValueSource::named(&name).ok_or_else(|| format!("the variable {name} is not supported"))?;
        let selector = selector.map_or(Ok(Selector::All), Selector::read)?;
        Ok(RuleTarget { sources, part, selector, is_count })
    }
}

fn xml_sources(path: &str) -> Option<&'static [ValueSource]> {
    match path {
        "/*" => Some(&[ValueSource::XmlText]),
        "//@*" => Some(&[ValueSource::XmlAttributes]),
        _ => None,
    }
}

/// The variables of a rule: those that it looks at, and those that are excluded by `!`.
#[derive(Debug, Default)]
pub(crate) struct TargetList {
    pub(crate) looked_at: Vec<RuleTarget>,
    pub(crate) excluded: Vec<RuleTarget>,
}

impl TargetList {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut list = TargetList::default();
        for written in split(text) {
            match written.strip_prefix('!') {
                Some(excluded) => list.excluded.push(RuleTarget::read(excluded)?),
                None => list.looked_at.push(RuleTarget::read(written)?),
            }
        }
        Ok(list)
    }
}

/// Variables are between bars or commas, except in expressions between slashes.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut in_pattern, mut before) = (0, false, ' ');
    for (index, c) in text.char_indices() {
        match c {
            '/' if in_pattern && before != '\\' => in_pattern = false,
            // `XML:/*` is a path, not an expression.
            '/' if !in_pattern && matches!(before, ':' | '\'') && !text.get(index..).is_some_and(is_path) => in_pattern = true,
            '|' | ',' if !in_pattern => {
                parts.extend(text.get(start..index));
                start = index + 1;
            }
            _ => {}
        }
        before = c;
    }
    parts.extend(text.get(start..));
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn is_path(rest: &str) -> bool {
    rest.starts_with("/*") || rest.starts_with("//@")
}

#[cfg(test)]
mod tests;
