//! A path of a document with parameters in braces, and the values that a request's path has in their places.

use regex::Regex;
use std::sync::OnceLock;

/// A compiled path.
#[derive(Debug)]
pub(crate) struct ParameterPath {
    names: Vec<String>,
    /// The segments, if each parameter is a whole one; `None` for a parameter.
    segments: Option<Vec<Option<String>>>,
    /// The path as it is written.
    written: String,
    /// Finds all others. Made when it is first needed, which is rare: documents have thousands of paths, and each would take 30 KB.
    pattern: OnceLock<Option<Regex>>,
}

impl ParameterPath {
    pub(crate) fn new(path: &str) -> Self {
        let mut names = Vec::new();
        let mut rest = path;
        while let Some((_, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else { break };
            names.push(name.to_owned());
            rest = after;
        }
        ParameterPath { names, segments: segments(path), written: path.to_owned(), pattern: OnceLock::new() }
    }

    fn pattern(&self) -> Option<&Regex> {
        let compile = || {
            let mut expression = String::new();
            let mut rest = self.written.as_str();
            while let Some((before, after)) = rest.split_once('{') {
                let Some((_, after)) = after.split_once('}') else { break };
                expression.push_str(&regex::escape(before));
                expression.push_str("([^/]+)");
                rest = after;
            }
            expression.push_str(&regex::escape(rest));
            Regex::new(&expression).ok()
        };
        self.pattern.get_or_init(compile).as_ref()
    }

    /// The parameters in a decoded path, with their names.
    pub(crate) fn values<'p>(&'p self, path: &'p str) -> Vec<(&'p str, &'p str)> {
        if self.names.is_empty() {
            return Vec::new();
        }
        let names = self.names.iter().map(String::as_str);
        if let Some(values) = self.whole_segments(path) {
            return names.zip(values).collect();
        }
        let Some(captures) = self.pattern().and_then(|pattern| pattern.captures(path)) else { return Vec::new() };
        names.enumerate().filter_map(|(index, name)| Some((name, captures.get(index + 1)?.as_str()))).collect()
    }

    /// The values, if the path has the template's segments and no others.
    fn whole_segments<'p>(&self, path: &'p str) -> Option<Vec<&'p str>> {
        let mut values = Vec::with_capacity(self.names.len());
        let mut written = path.split('/');
        for segment in self.segments.as_ref()? {
            let own = written.next()?;
            match segment {
                Some(literal) if literal == own => {}
                None if !own.is_empty() => values.push(own),
                _ => return None,
            }
        }
        written.next().is_none().then_some(values)
    }
}

fn segments(path: &str) -> Option<Vec<Option<String>>> {
    let segment = |segment: &str| match segment.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
        Some(name) if !name.contains(['{', '}']) => Some(None),
        Some(_) => None,
        None => (!segment.contains(['{', '}'])).then(|| Some(segment.to_owned())),
    };
    path.split('/').map(segment).collect()
}

#[cfg(test)]
mod tests;
