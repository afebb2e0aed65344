//! A path of a document with parameters in braces, and the values that a request's path has in their places.

use regex::Regex;

/// A compiled path.
#[derive(Debug)]
pub(crate) struct ParameterPath {
    names: Vec<String>,
    /// The segments, if each parameter is a whole one; `None` for a parameter.
    segments: Option<Vec<Option<String>>>,
    /// Finds all others; `None` for a path without parameters.
    pattern: Option<Regex>,
}

impl ParameterPath {
    pub(crate) fn new(path: &str) -> Self {
        let mut names = Vec::new();
        let mut expression = String::new();
        let mut rest = path;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else { break };
            expression.push_str(&regex::escape(before));
            expression.push_str("([^/]+)");
            names.push(name.to_owned());
            rest = after;
        }
        expression.push_str(&regex::escape(rest));
        let pattern = if names.is_empty() { None } else { Regex::new(&expression).ok() };
        ParameterPath { names, segments: segments(path), pattern }
    }

    /// The parameters in a decoded path, with their names.
    pub(crate) fn values<'p>(&'p self, path: &'p str) -> Vec<(&'p str, &'p str)> {
        let Some(pattern) = &self.pattern else { return Vec::new() };
        let names = self.names.iter().map(String::as_str);
        if let Some(values) = self.whole_segments(path) {
            return names.zip(values).collect();
        }
        let Some(captures) = pattern.captures(path) else { return Vec::new() };
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
