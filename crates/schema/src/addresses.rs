//! Where the schemas of a document are found: by their addresses (`$id`), by names within them (`$anchor`), and by their places. References
//! lead to what is in the document; nothing is fetched.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use tollgate_model::JsonPath;

use crate::dialect::Dialect;
use crate::pointer::below;

/// Maximum nesting of schemas that are looked through for addresses.
const DEPTH_MAX: usize = 500;

/// A schema and its place.
pub(crate) type Placed<'d> = (&'d Value, JsonPath);

/// The addresses of a document's schemas.
pub(crate) struct Addresses<'d> {
    dialect: Dialect,
    /// By address, without a fragment.
    resources: HashMap<String, Placed<'d>>,
    /// By address with a name as its fragment.
    anchors: HashMap<String, Placed<'d>>,
    /// The address that references in a schema are relative to.
    bases: HashMap<*const Value, Arc<str>>,
}

/// What the value of a keyword is.
enum KeywordValue {
    Schema,
    Schemas,
    NamedSchemas,
    Other,
}

impl<'d> Addresses<'d> {
    pub(crate) fn of(document: &'d Value, others: &'d [Value], dialect: Dialect) -> Self {
        let mut addresses = Addresses { dialect, resources: HashMap::new(), anchors: HashMap::new(), bases: HashMap::new() };
        for root in std::iter::once(document).chain(others) {
            let nowhere: Arc<str> = Arc::from("");
            if std::ptr::eq(root, document) {
                addresses.resources.insert(String::new(), (root, JsonPath::root()));
            }
            addresses.walk(root, &JsonPath::root(), &nowhere, 0);
        }
        addresses
    }

    fn walk(&mut self, schema: &'d Value, at: &JsonPath, base: &Arc<str>, depth: usize) {
        let Value::Object(members) = schema else { return };
        if depth > DEPTH_MAX {
            return;
        }
        let mut base = base.clone();
        let is_reference = self.dialect.references_stand_alone() && members.get("$ref").is_some_and(Value::is_string);
        if !is_reference {
            let address = self.dialect.address_keywords().iter().find_map(|keyword| members.get(*keyword)?.as_str());
            if let Some(address) = address {
                base = self.add(address, &base, (schema, at.clone()));
            }
            let names = ["$anchor", "$dynamicAnchor"].into_iter().filter(|_| self.dialect.has_draft_2019());
            for name in names.filter_map(|keyword| members.get(keyword)?.as_str()) {
                self.anchors.entry(format!("{base}#{name}")).or_insert_with(|| (schema, at.clone()));
            }
        }
        self.bases.insert(std::ptr::from_ref(schema), base.clone());
        for (keyword, value) in members {
            let at = at.key(keyword);
            match (kind(keyword), value) {
                (KeywordValue::Schema | KeywordValue::Schemas, Value::Array(schemas)) => {
                    schemas.iter().enumerate().for_each(|(index, schema)| self.walk(schema, &at.index(index), &base, depth + 1));
                }
                (KeywordValue::Schema, schema) => self.walk(schema, &at, &base, depth + 1),
                (KeywordValue::NamedSchemas, Value::Object(schemas)) => {
                    schemas.iter().for_each(|(name, schema)| self.walk(schema, &at.key(name), &base, depth + 1));
                }
                _ => {}
            }
        }
    }

    /// Adds an address, and returns what references in its schema are relative to.
    fn add(&mut self, address: &str, base: &Arc<str>, place: Placed<'d>) -> Arc<str> {
        let absolute = resolved(base, address);
        let (resource, name) = absolute.split_once('#').unwrap_or((&absolute, ""));
        if !name.is_empty() {
            self.anchors.entry(absolute.clone()).or_insert_with(|| place.clone());
        }
        if address.starts_with('#') {
            return base.clone();
        }
        self.resources.entry(resource.to_owned()).or_insert(place);
        Arc::from(resource)
    }

    /// The schema that a reference in a schema leads to.
    pub(crate) fn target(&self, from: *const Value, reference: &str) -> Option<Placed<'d>> {
        let base = self.bases.get(&from).map_or("", |base| base);
        let absolute = resolved(base, reference);
        let (resource, fragment) = absolute.split_once('#').unwrap_or((&absolute, ""));
        let (root, at) = self.resources.get(resource)?;
        match fragment {
            "" => Some((root, at.clone())),
            pointer if pointer.starts_with('/') => below(root, at.clone(), pointer),
            _ => self.anchors.get(&absolute).cloned(),
        }
    }
}

fn kind(keyword: &str) -> KeywordValue {
    match keyword {
        "items"
        | "additionalItems"
        | "contains"
        | "additionalProperties"
        | "propertyNames"
        | "not"
        | "if"
        | "then"
        | "else"
        | "unevaluatedItems"
        | "unevaluatedProperties" => KeywordValue::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => KeywordValue::Schemas,
        "definitions" | "$defs" | "properties" | "patternProperties" | "dependencies" | "dependentSchemas" => {
            KeywordValue::NamedSchemas
        }
        _ => KeywordValue::Other,
    }
}

/// A reference relative to an address (RFC 3986 §5.2).
fn resolved(base: &str, reference: &str) -> String {
    let base = base.split('#').next().unwrap_or_default();
    if scheme(reference).is_some() {
        return reference.to_owned();
    }
    if reference.is_empty() || reference.starts_with('#') {
        return format!("{base}{reference}");
    }
    let (scheme, rest) = base.split_at(scheme(base).unwrap_or_default());
    if reference.starts_with("//") {
        return format!("{scheme}{reference}");
    }
    let path_start = rest.strip_prefix("//").map_or(0, |host| 2 + host.find('/').unwrap_or(host.len()));
    let (host, path) = rest.split_at(path_start);
    let path = path.split('?').next().unwrap_or_default();
    if reference.starts_with('?') {
        return format!("{scheme}{host}{path}{reference}");
    }
    let folder = match path.rfind('/') {
        _ if reference.starts_with('/') => "",
        Some(end) => path.get(..=end).unwrap_or_default(),
        None if host.is_empty() => "",
        None => "/",
    };
    let (path, rest) = reference.split_at(reference.find(['?', '#']).unwrap_or(reference.len()));
    format!("{scheme}{host}{}{rest}", without_dots(&format!("{folder}{path}")))
}

/// The length of an address's scheme with its colon.
fn scheme(address: &str) -> Option<usize> {
    let end = address.find([':', '/', '?', '#']).filter(|end| address.get(*end..).is_some_and(|rest| rest.starts_with(':')))?;
    address.starts_with(|first: char| first.is_ascii_alphabetic()).then_some(end + 1)
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let steps: Vec<&str> = path.split('/').collect();
    for (index, step) in steps.iter().enumerate() {
        let is_last = index + 1 == steps.len();
        match *step {
            "." | ".." => {
                // The empty step before the first slash stays.
                if *step == ".." && kept.len() > usize::from(path.starts_with('/')) {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            step => kept.push(step),
        }
    }
    kept.join("/")
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn references_are_relative_to_the_address_around_them() {
        for (base, reference, expect) in [
            ("", "a.json", "a.json"),
            ("http://x/a/b.json", "c.json#/d", "http://x/a/c.json#/d"),
            ("http://x/a/b.json", "/c", "http://x/c"),
            ("http://x", "c", "http://x/c"),
            ("http://x/a/b/c", "../d/./e", "http://x/a/d/e"),
            ("http://x/a?q", "?r", "http://x/a?r"),
            ("http://x/a", "//y/z", "http://y/z"),
            ("http://x/a#f", "#g", "http://x/a#g"),
            ("urn:uuid:1", "#/a", "urn:uuid:1#/a"),
            ("http://x/a", "urn:uuid:1", "urn:uuid:1"),
            ("a/b", "c", "a/c"),
        ] {
            assert_eq!(resolved(base, reference), expect, "{base} {reference}");
        }
    }
}
