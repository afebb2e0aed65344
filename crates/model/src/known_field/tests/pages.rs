//! The pages `docs/fields/*.md`: every field of a document, made of the types that read it and of the tables of fields without
//! effect.

use super::{REPORTED, SILENT};
use crate::api::ApiDefinition;
use crate::config::GatewayConfig;
use crate::known_field::{KnownField, ReportWhen};
use crate::policy::Policy;
use crate::schema::schema_of;
use crate::session::Session;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

const MADE: &str = "TOLLGATE_WRITE=1 cargo test -p tollgate-model pages";

/// An object with fewer members is written again wherever it is used.
const REPEATED_MAX: usize = 3;

/// A page: its name, its title, and what stands above the fields.
const PAGES: [(&str, &str, &str); 4] = [
    (
        "definition",
        "Fields of an API definition",
        "The classic form. Members of `x-tyk-api-gateway` in an [OpenAPI document](../openapi-definitions.md) stand for the same settings.",
    ),
    ("session", "Fields of a key", "The session of a key, as the control API reads and writes it."),
    ("policy", "Fields of a policy", "What a policy gives to its keys."),
    (
        "configuration",
        "Fields of the configuration",
        "`tyk.conf`, `tollgate.json` or any other file given by `--conf`. [Configuration](../configuration.md) says how files and variables are read.",
    ),
];

#[test]
fn the_pages_of_fields_are_those_of_the_types() {
    for (name, title, lead) in PAGES {
        let text = page(name, title, lead);
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/fields/{name}.md"));
        if std::env::var_os("TOLLGATE_WRITE").is_some() {
            std::fs::write(&file, &text).unwrap();
        }
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(written == text, "docs/fields/{name}.md is not what the types say: {MADE}");
    }
}

#[test]
fn every_field_without_effect_is_on_its_page() {
    for (name, ..) in PAGES {
        let text = page(name, "", "");
        for (path, _) in tables(name) {
            assert!(text.contains(&format!("\n| `{path}` |")), "{name}: {path}");
        }
    }
}

fn page(name: &str, title: &str, lead: &str) -> String {
    let schema = match name {
        "definition" => schema_of::<ApiDefinition>(),
        "session" => schema_of::<Session>(),
        "policy" => schema_of::<Policy>(),
        _ => schema_of::<GatewayConfig>(),
    };
    let mut page = Page { document: name, ..Page::default() };
    page.add("", &schema);
    let mut text = format!(
        "# {title}\n\n<!-- Made of the types in crates/model: {MADE} -->\n\n{lead} `*` stands for any name. A field that is not on this page is \
         reported as unknown by `tollgate check`; [some fields protect something](../tyk-compatibility.md#fields-that-cant-be-used), and there it is an error.\n"
    );
    for (section, rows) in &page.sections {
        if !section.is_empty() {
            write!(text, "\n## `{section}`\n").unwrap();
        }
        text.push_str("\n| field | value | meaning |\n|---|---|---|\n");
        text.push_str(rows);
    }
    text.push_str("\n## Without effect\n\nThese fields of Tyk are accepted.\n\n| field | report |\n|---|---|\n");
    for (path, report) in tables(name) {
        let report = match report {
            ReportWhen::Set => "as `ignored`, if it is set",
            ReportWhen::Member(member) => &format!("as `ignored`, if its `{member}` is set"),
            ReportWhen::Never => "none: it is not needed, or what it belongs to is reported",
            ReportWhen::Refuse => "an error, if it is not known: it may protect something",
        };
        writeln!(text, "| `{path}` | {report} |").unwrap();
    }
    text
}

fn tables(document: &str) -> &'static [KnownField] {
    match document {
        "definition" => crate::api::known::FIELDS,
        "session" => crate::session::known::FIELDS,
        "policy" => crate::policy::FIELDS,
        _ => crate::config::known::FIELDS,
    }
}

/// The rows of a page, by the member of the document that they stand below.
#[derive(Default)]
struct Page<'a> {
    document: &'a str,
    sections: BTreeMap<String, String>,
    /// Where an object with these members was first.
    written: BTreeMap<BTreeSet<String>, String>,
}

impl Page<'_> {
    /// Adds the members of an object, of those of a list, or of those of a map.
    fn add(&mut self, path: &str, schema: &Value) {
        for (name, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            self.add_field(&path, member);
        }
        for (keyword, suffix) in [("items", ""), ("additionalProperties", ".*")] {
            schema.get(keyword).into_iter().for_each(|below| self.add(&format!("{path}{suffix}"), below));
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            schema.get(keyword).and_then(Value::as_array).into_iter().flatten().for_each(|below| self.add(path, below));
        }
    }

    fn add_field(&mut self, path: &str, schema: &Value) {
        let members = members(schema);
        let meaning = match self.written.get(&members) {
            Some(first) => format!("{} Members as in `{first}`.", self.meaning(path, schema)),
            None => self.meaning(path, schema),
        };
        let is_object = !members.is_empty();
        let top = path.split('.').next().unwrap_or_default();
        let section = if path == top && !is_object { "" } else { top };
        let row = format!("| `{path}` | {} | {} |\n", kind(schema), meaning.trim());
        self.sections.entry(section.to_owned()).or_default().push_str(&row);
        if members.len() < REPEATED_MAX || self.written.insert(members, path.to_owned()).is_none() {
            self.add(path, schema);
        }
    }

    /// The comment of the field, in one line of a table.
    fn meaning(&self, path: &str, schema: &Value) -> String {
        let said = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let said = said.replace("\n\n", " ").replace('|', "\\|").replace("[`", "`").replace("`]", "`");
        let whole = format!("{}.{path}", self.document);
        let does_nothing = REPORTED.iter().map(|(field, _)| *field).chain(SILENT).any(|field| field == whole);
        if does_nothing { format!("{said} Without effect, or in part.") } else { said }
    }
}

/// The names of the members of an object, of those of a list, or of those of a map.
fn members(schema: &Value) -> BTreeSet<String> {
    let own = schema.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.clone());
    let below = ["items", "additionalProperties"].into_iter().filter_map(|keyword| schema.get(keyword)).flat_map(members);
    let choices =
        ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array()).flatten().flat_map(members);
    own.chain(below).chain(choices).collect()
}

/// What a value is, in words.
fn kind(schema: &Value) -> String {
    let words = |words: &Vec<Value>| {
        words
            .iter()
            .filter_map(Value::as_str)
            .filter(|word| !word.is_empty())
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return words(choices);
    }
    if let Some(constant) = schema.get("const").and_then(Value::as_str) {
        return if constant.is_empty() { String::new() } else { format!("`{constant}`") };
    }
    let choices = ["anyOf", "oneOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array()).flatten();
    let mut kinds: Vec<String> = choices.map(kind).filter(|kind| !kind.is_empty()).collect();
    let types = match schema.get("type") {
        Some(Value::Array(types)) => types.clone(),
        Some(one) => vec![one.clone()],
        None => Vec::new(),
    };
    for one in types.iter().filter_map(Value::as_str) {
        kinds.push(match one {
            "string" => "text".to_owned(),
            "integer" => "whole number".to_owned(),
            "number" => "number".to_owned(),
            "boolean" => "true or false".to_owned(),
            "array" => match schema.get("items").map(kind) {
                Some(items) if !items.is_empty() => format!("list of {items}"),
                _ => "list".to_owned(),
            },
            "object" => match schema.get("additionalProperties").map(kind) {
                Some(values) if !values.is_empty() => format!("object with any names, each {values}"),
                _ => "object".to_owned(),
            },
            _ => continue,
        });
    }
    let mut seen = BTreeSet::new();
    kinds.retain(|kind| seen.insert(kind.clone()));
    kinds.join(", or ")
}
