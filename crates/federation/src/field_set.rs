//! Field sets: the texts such as `id organization { id }` in directives of federation, checked against a subgraph's schema.

use apollo_compiler::ast::Value;
use apollo_compiler::executable::{Selection, SelectionSet};
use apollo_compiler::parser::{Parser, SourceSpan};
use apollo_compiler::schema::{ExtendedType, Schema};
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Node};

use crate::finding::FindingList;

/// Deepest nesting of a field set. Keys and requirements of people have two or three levels.
const DEPTH_MAX: usize = 30;

/// Most fields of a field set, at all levels. Those of people have a dozen.
const FIELDS_MAX: usize = 1_000;

/// Most faults of one field set that are reported.
const FAULTS_MAX: usize = 5;

/// A field set of a directive.
#[derive(Debug)]
pub(crate) struct FieldSetText {
    /// As the subgraph has it.
    pub(crate) text: String,
    pub(crate) selected: Vec<SelectedField>,
}

/// A field of a field set. Inline fragments are gone; `parent` says for which type the field is selected.
#[derive(Debug)]
pub(crate) struct SelectedField {
    pub(crate) parent: Name,
    pub(crate) name: Name,
    pub(crate) selected: Vec<SelectedField>,
}

/// What a field set is for; the rules differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldSetUse {
    Key,
    Requires,
    Provides,
}

impl FieldSetUse {
    fn name(self) -> &'static str {
        match self {
            FieldSetUse::Key => "@key",
            FieldSetUse::Requires => "@requires",
            FieldSetUse::Provides => "@provides",
        }
    }
}

/// Where a field set stands.
#[derive(Clone, Copy)]
pub(crate) struct FieldSetPlace<'p> {
    pub(crate) subgraph: &'p str,
    /// The type or field that has the directive.
    pub(crate) coordinate: &'p str,
    pub(crate) place: Option<SourceSpan>,
    pub(crate) used_for: FieldSetUse,
    /// Federation 1 also takes a list of texts in keys.
    pub(crate) takes_list: bool,
}

impl FieldSetPlace<'_> {
    fn error(&self, findings: &mut FindingList, message: impl std::fmt::Display) {
        let text = format!("{} of `{}`: {message}", self.used_for.name(), self.coordinate);
        findings.error_of(self.subgraph, self.place, text);
    }
}

/// Reads the value of the argument `fields`. What is wrong with it goes to the findings.
pub(crate) fn read(
    value: Option<&Node<Value>>,
    on: &Name,
    schema: &Valid<Schema>,
    at: FieldSetPlace<'_>,
    findings: &mut FindingList,
) -> Option<FieldSetText> {
    let Some(text) = value.and_then(|value| written(value, at)) else {
        at.error(findings, "`fields` must be a string");
        return None;
    };
    let read = Parser::new().recursion_limit(DEPTH_MAX).parse_field_set(schema, on.clone(), text.as_str(), "fields");
    let set = match read {
        Ok(set) => set,
        Err(failed) => {
            failed
                .errors
                .iter()
                .take(FAULTS_MAX)
                .for_each(|diagnostic| at.error(findings, format!("`{text}`: {}", diagnostic.error)));
            return None;
        }
    };
    if let Err(failed) = set.validate(schema) {
        failed.iter().take(FAULTS_MAX).for_each(|diagnostic| at.error(findings, format!("`{text}`: {}", diagnostic.error)));
        return None;
    }
    let before = findings.errors.len();
    let selected = selected(&set.selection_set, schema, at, findings);
    let mut count = 0;
    each_field(&selected, &mut |_| count += 1);
    if count > FIELDS_MAX {
        at.error(findings, format!("selects {count} fields; at most {FIELDS_MAX} are taken"));
    }
    if selected.is_empty() && findings.errors.len() == before {
        at.error(findings, "selects no field");
    }
    (findings.errors.len() == before).then_some(FieldSetText { text, selected })
}

fn written(value: &Value, at: FieldSetPlace<'_>) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::List(texts) if at.takes_list => {
            texts.iter().map(|text| text.as_str()).collect::<Option<Vec<&str>>>().map(|texts| texts.join(" "))
        }
        _ => None,
    }
}

/// The fields of a selection. Its depth is limited by `DEPTH_MAX`.
fn selected(set: &SelectionSet, schema: &Schema, at: FieldSetPlace<'_>, findings: &mut FindingList) -> Vec<SelectedField> {
    let mut fields = Vec::new();
    for selection in &set.selections {
        match selection {
            Selection::Field(field) if field.name == "__typename" => {}
            Selection::Field(field) => {
                if !field.directives.is_empty() {
                    at.error(findings, format!("`{}` has a directive; field sets have none", field.name));
                }
                if field.alias.is_some() {
                    at.error(findings, format!("`{}` has an alias; field sets have none", field.name));
                }
                if at.used_for != FieldSetUse::Requires && !field.definition.arguments.is_empty() {
                    at.error(findings, format!("`{}.{}` has arguments", set.ty, field.name));
                }
                let of = schema.types.get(field.ty().inner_named_type());
                let is_abstract = matches!(of, Some(ExtendedType::Interface(_) | ExtendedType::Union(_)));
                if at.used_for == FieldSetUse::Key && is_abstract {
                    at.error(findings, format!("`{}.{}` is an interface or union", set.ty, field.name));
                }
                let below = selected(&field.selection_set, schema, at, findings);
                fields.push(SelectedField { parent: set.ty.clone(), name: field.name.clone(), selected: below });
            }
            Selection::InlineFragment(fragment) => {
                if !fragment.directives.is_empty() {
                    at.error(findings, "a fragment has a directive; field sets have none");
                }
                fields.extend(selected(&fragment.selection_set, schema, at, findings));
            }
            Selection::FragmentSpread(_) => at.error(findings, "has the name of a fragment; field sets have inline fragments only"),
        }
    }
    fields
}

/// Calls `see` for each field of a set, at any depth.
pub(crate) fn each_field(fields: &[SelectedField], see: &mut impl FnMut(&SelectedField)) {
    for field in fields {
        see(field);
        each_field(&field.selected, see);
    }
}
