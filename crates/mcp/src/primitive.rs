//! What a call is for, and by which names servers may find it.

use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use tollgate_model::session::PrimitiveKind;
use url::Url;

/// Longest name of a method or primitive: URIs are as long as in requests. All patterns of a definition and a key are matched with it.
pub(crate) const NAME_BYTES_MAX: usize = 8 << 10;

/// What a call is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Primitive {
    /// What it is.
    pub kind: PrimitiveKind,
    /// The name of a tool or prompt, the URI of a resource.
    pub name: String,
    /// The URI as parsers of URLs write it, if that is another text: many servers look resources up by it.
    pub normal: Option<String>,
}

impl Primitive {
    /// A primitive with this name.
    pub fn new(kind: PrimitiveKind, name: String) -> Self {
        let is_uri = kind == PrimitiveKind::Resource && name.len() <= NAME_BYTES_MAX;
        let normal = is_uri.then(|| Url::parse(&name).ok()).flatten().map(String::from);
        // A host alone has no other spelling.
        let normal = normal.filter(|normal| *normal != name && normal.strip_suffix('/') != Some(&name));
        Primitive { kind, name, normal }
    }

    /// The names by which rules know it.
    pub fn names(&self) -> [&str; 2] {
        [&self.name, self.normal.as_deref().unwrap_or(&self.name)]
    }

    /// Whether all servers find the same by the name: not one without its control characters, blanks or hidden steps to a folder above.
    pub fn is_clear(&self) -> bool {
        let is_plain = |text: &str| text.trim() == text && !text.contains(char::is_control);
        let mut is_clear = is_plain(&self.name) && self.name.len() <= NAME_BYTES_MAX;
        if self.kind == PrimitiveKind::Resource {
            let [_, normal] = self.names();
            let path = decoded(normal.split(['?', '#']).next().unwrap_or_default());
            is_clear &= !path.contains(char::is_control) && !self.name.contains('\\');
            is_clear &= !path.split(['/', '\\']).any(|step| matches!(step, "." | ".."));
        }
        is_clear
    }

    /// Whether rules let it pass, by whichever of its names the server goes.
    pub fn passes(&self, is_blocked: impl Fn(&str) -> bool, is_allowed: impl Fn(&str) -> bool) -> bool {
        let [name, normal] = self.names();
        if self.kind != PrimitiveKind::Resource {
            return !is_blocked(name) && is_allowed(name);
        }
        let (decoded, file) = (decoded(normal), file_of(normal));
        let names = [Some(name), self.normal.as_deref(), (decoded != normal).then_some(&*decoded), file.as_deref()];
        let is_blocked = names.into_iter().flatten().any(is_blocked);
        // Rules may name a URI with or without its escapes.
        let is_allowed_file = || file.as_deref().is_none_or(&is_allowed);
        !is_blocked && is_allowed(name) && (is_allowed(normal) || is_allowed(&decoded)) && is_allowed_file()
    }
}

fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

/// The URI of the file that a server opens which takes the URI for a path, if that is another one.
fn file_of(normal: &str) -> Option<String> {
    let path = normal.strip_prefix("file://")?;
    let path = decoded(path.split(['?', '#']).next()?);
    let mut file = "file://".to_owned();
    for c in path.chars() {
        if c != '/' || !file.ends_with('/') || file.len() == "file://".len() {
            file.push(c);
        }
    }
    (file != decoded(normal)).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(uri: &str) -> Primitive {
        Primitive::new(PrimitiveKind::Resource, uri.to_owned())
    }

    fn passes(uri: &str, blocked: &str, allowed: &str) -> bool {
        let fits = |pattern: &str, name: &str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => pattern == name,
        };
        let primitive = resource(uri);
        primitive.is_clear() && primitive.passes(|name| fits(blocked, name), |name| fits(allowed, name))
    }

    #[test]
    fn no_spelling_of_a_uri_passes_by_a_rule() {
        for uri in [
            "file:///secrets/x",
            "FILE:///secrets/x",
            "file:/secrets/x",
            "file:secrets/x",
            "file:////secrets/x",
            "file:///secrets//x",
            "file:///pub/../secrets/x",
            "file:///pub/%2E%2e/secrets/x",
            "file:///pub/..%2fsecrets/x",
            "file:///pub/..%5csecrets/x",
            "file:///./secrets/x",
            " file:///secrets/x",
            "file:///secrets/x\n",
            "file:///sec\trets/x",
            "file:///secrets\\x",
            "file:///%73ecrets/x",
            "file:///secrets%2fx",
            "file:///secrets/x?a",
            "file:///secrets/x#a",
            "file://localhost/secrets/x",
            "file:///secrets/x%00",
        ] {
            assert!(!passes(uri, "file:///secrets/x", "*") || !passes(uri, "file:///secrets/*", "*"), "{uri}");
            assert!(!passes(uri, "file:///secrets/*", "*"), "{uri}");
            assert!(!passes(uri, "", "file:///pub/*"), "{uri}");
        }
        // A file that only its end allows.
        assert!(!resource("file:///key#.txt").passes(|_| false, |name| name.ends_with(".txt")));
    }

    #[test]
    fn a_uri_passes_as_its_rule_names_it() {
        for uri in [
            "file:///pub/x",
            "file:///pub/my file.txt",
            "file:///pub/my%20file.txt",
            "file:///ä.txt",
            "https://example.com",
            "https://example.com/",
            "test://one",
            "repo://owner%2Fname/x",
            "file:///repo/{path}",
            "docs://guide#intro",
            "{any}/x",
            "name",
        ] {
            assert!(passes(uri, "", uri), "{uri}");
            assert!(passes(uri, "file:///secrets/*", "*"), "{uri}");
        }
        assert!(passes("file:///pub/../pub/x", "", "file:///pub/*"));
    }

    #[test]
    fn names_of_tools_are_what_they_are() {
        let tool = |name: &str| Primitive::new(PrimitiveKind::Tool, name.to_owned());
        assert_eq!(tool("file:/a").names(), ["file:/a", "file:/a"]);
        assert!(tool("a\\..\\b").is_clear());
        for unclear in ["a\n", "a\0", "\u{85}a", "a b\t", " a"] {
            assert!(!tool(unclear).is_clear(), "{unclear:?}");
        }
    }
}
