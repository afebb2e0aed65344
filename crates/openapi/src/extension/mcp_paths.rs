//! The paths that stand for tools, resources, prompts and methods of the Model Context Protocol in `extended_paths`. No client asks for them: the
//! gateway makes them of the name in a request.

use std::cmp::Reverse;

use crate::document::{Document, Operation};
use crate::mcp_mark;

/// Sections of `middleware`, and the start of the paths of their primitives.
pub(crate) const SECTIONS: [(&str, &str); 3] =
    [("mcpTools", "/mcp-tool:"), ("mcpResources", "/mcp-resource:"), ("mcpPrompts", "/mcp-prompt:")];

/// The start of the paths of methods, in documents too.
const METHOD: &str = "/json-rpc-method:";

/// Paths that stand for a method as well.
const METHOD_PATHS: [&str; 3] = ["/tools/call", "/resources/read", "/prompts/get"];

/// The order of names: those without a wildcard first, then the longest ones.
pub(crate) fn rank(name: &str) -> (bool, Reverse<usize>, &str) {
    (name.contains('*'), Reverse(name.len()), name)
}

/// The path and the method of an operation's entries.
pub(super) fn endpoint_of(document: &Document, operation: &Operation) -> [String; 2] {
    let path = match method_of(document, operation) {
        Some(method) => format!("^{METHOD}{}$", expression(method)),
        None => operation.path.clone(),
    };
    [path, operation.method.clone()]
}

/// The method of JSON-RPC that an operation of such a document stands for.
pub(super) fn method_of<'d>(document: &Document, operation: &'d Operation) -> Option<&'d str> {
    if !mcp_mark::is_in(&document.root) {
        return None;
    }
    let path = operation.path.as_str();
    let own = path.strip_prefix(METHOD).filter(|method| !method.is_empty());
    own.or_else(|| METHOD_PATHS.contains(&path).then(|| path.trim_start_matches('/')))
}

/// The path of a primitive's entries.
pub(super) fn path_of(section: &str, name: &str) -> String {
    let start = SECTIONS.iter().find(|(known, _)| *known == section).map_or("", |(_, start)| start);
    format!("^{start}{}$", expression(name))
}

/// A name as a regular expression: `*` is any text, everything else is itself. Braces would be names of segments.
fn expression(name: &str) -> String {
    let mut written = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '*' => written.push_str(".*"),
            '{' => written.push_str(r"\x7b"),
            '}' => written.push_str(r"\x7d"),
            '\\' | '.' | '+' | '?' | '(' | ')' | '|' | '[' | ']' | '^' | '$' => written.extend(['\\', c]),
            c => written.push(c),
        }
    }
    written
}

/// What a path of entries stands for, if it is one of these: the section and the name, or the path of an operation.
pub(crate) enum McpPath {
    Primitive(&'static str, String),
    Operation(String),
}

/// Reads a path that this file writes.
pub(crate) fn read_path(path: &str) -> Option<McpPath> {
    let inner = path.strip_prefix('^')?.strip_suffix('$')?;
    if let Some(method) = inner.strip_prefix(METHOD) {
        return Some(McpPath::Operation(format!("{METHOD}{}", name_of(method)?)));
    }
    let (section, name) = SECTIONS.iter().find_map(|(section, start)| Some((section, inner.strip_prefix(start)?)))?;
    Some(McpPath::Primitive(section, name_of(name)?))
}

/// The name that is written as this expression.
fn name_of(expression_text: &str) -> Option<String> {
    let mut name = String::with_capacity(expression_text.len());
    let mut rest = expression_text;
    while let Some(c) = rest.chars().next() {
        let (c, length) = match c {
            _ if rest.starts_with(".*") => ('*', 2),
            _ if rest.starts_with(r"\x7b") => ('{', 4),
            _ if rest.starts_with(r"\x7d") => ('}', 4),
            '\\' => (rest.chars().nth(1)?, 2),
            c => (c, c.len_utf8()),
        };
        name.push(c);
        rest = rest.get(length..)?;
    }
    // Another expression would not come back as it was.
    (!name.is_empty() && expression(&name) == expression_text).then_some(name)
}
