//! Operations for sources that understand GraphQL: built field by field, then written.

use super::{InputField, Planner};
use crate::field_set::FieldSetItem;
use apollo_compiler::ast::{OperationType, Value as LiteralValue};
use apollo_compiler::executable::Field;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Fields that a source is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct UpstreamSelection {
    pub needs_type_name: bool,
    fields: Vec<UpstreamField>,
    fragments: Vec<(String, UpstreamSelection)>,
}

#[derive(Clone, Debug)]
struct UpstreamField {
    key: String,
    name: String,
    /// With their parentheses; empty without any.
    arguments: String,
    variables: Vec<String>,
    selection: UpstreamSelection,
}

/// The response key that a field has in the answer of a source. Keys of the client's that look like those of introspection get another one.
pub(crate) fn upstream_key(key: &str) -> String {
    if key.starts_with('_') { format!("c{key}") } else { key.to_owned() }
}

/// The response key of a field of one type, where fields of other types must not have the same.
pub(crate) fn typed_key(type_name: &str, key: &str) -> String {
    format!("_t{}_{type_name}_{key}", type_name.len())
}

/// The client's response key of a key in the answer of a source; `None` for what the client did not ask for.
pub(crate) fn client_key(key: &str) -> Option<&str> {
    if let Some(own) = key.strip_prefix('c').filter(|own| own.starts_with('_')) {
        return Some(own);
    }
    if !key.starts_with('_') {
        return Some(key);
    }
    let (length, rest) = key.strip_prefix("_t")?.split_once('_')?;
    rest.get(length.parse::<usize>().ok()?..)?.strip_prefix('_')
}

impl UpstreamSelection {
    /// Nothing but the type.
    pub(crate) fn type_name() -> Self {
        UpstreamSelection { needs_type_name: true, ..Default::default() }
    }

    pub(crate) fn add(&mut self, key: String, field: &Field, selection: UpstreamSelection) {
        let mut variables = Vec::new();
        field.arguments.iter().for_each(|argument| note_variables(&argument.value, &mut variables));
        let written: Vec<String> = field
            .arguments
            .iter()
            .map(|argument| format!("{}: {}", argument.name, argument.value.serialize().no_indent()))
            .collect();
        let arguments = if written.is_empty() { String::new() } else { format!("({})", written.join(", ")) };
        self.put(UpstreamField { key, name: field.name.to_string(), arguments, variables, selection });
    }

    /// Adds a field; what is selected below the same one becomes one.
    fn put(&mut self, field: UpstreamField) {
        match self
            .fields
            .iter_mut()
            .find(|known| known.key == field.key && known.name == field.name && known.arguments == field.arguments)
        {
            Some(known) => known.selection.merge(field.selection),
            None => self.fields.push(field),
        }
    }

    pub(crate) fn add_fragment(&mut self, type_name: &str, selection: UpstreamSelection) {
        match self.fragments.iter_mut().find(|(known, _)| known == type_name) {
            Some((_, known)) => known.merge(selection),
            None => self.fragments.push((type_name.to_owned(), selection)),
        }
    }

    /// Adds all of another selection.
    pub(crate) fn merge(&mut self, other: UpstreamSelection) {
        self.needs_type_name |= other.needs_type_name;
        other.fields.into_iter().for_each(|field| self.put(field));
        other.fragments.into_iter().for_each(|(type_name, selection)| self.add_fragment(&type_name, selection));
    }

    /// Makes sure that a field of a key is asked for, and says where it will be.
    pub(crate) fn input(&mut self, type_name: &str, item: &FieldSetItem) -> InputField {
        let is_same = |field: &UpstreamField| {
            field.name == item.name && field.arguments == item.arguments && (field.key == field.name || is_hidden(&field.key))
        };
        let at = match self.fields.iter().position(is_same) {
            Some(at) => at,
            None => {
                let key = format!("_{type_name}_{}", item.name);
                let taken = self.fields.iter().filter(|field| field.key.starts_with(&key)).count();
                self.fields.push(UpstreamField {
                    key: if taken == 0 { key } else { format!("{key}_{taken}") },
                    name: item.name.clone(),
                    arguments: item.arguments.clone(),
                    variables: Vec::new(),
                    selection: UpstreamSelection::default(),
                });
                self.fields.len() - 1
            }
        };
        let Some(field) = self.fields.get_mut(at) else {
            return InputField {
                name: item.name.clone(),
                read: item.name.clone(),
                is_key: false,
                is_conditional: false,
                fields: Vec::new(),
            };
        };
        let fields = item.fields.0.iter().map(|nested| field.selection.nested_input(&item.name, nested)).collect();
        InputField { name: item.name.clone(), read: field.key.clone(), is_key: false, is_conditional: false, fields }
    }

    /// Adds what is selected below a field.
    pub(crate) fn add_below(&mut self, key: &str, selection: UpstreamSelection) {
        if let Some(field) = self.fields.iter_mut().find(|field| field.key == key) {
            field.selection.merge(selection);
        }
    }

    /// The same below a field, where some fields are of some types only.
    fn nested_input(&mut self, type_name: &str, item: &FieldSetItem) -> InputField {
        let Some(on) = &item.on else { return self.input(type_name, item) };
        self.needs_type_name = true;
        let mut fragment = UpstreamSelection::default();
        let input = fragment.input(on, item);
        self.add_fragment(on, fragment);
        InputField { is_conditional: true, ..input }
    }

    /// How much there is, roughly.
    pub(crate) fn size(&self) -> usize {
        self.fields.len() + self.fragments.iter().map(|(_, selection)| 1 + selection.fields.len()).sum::<usize>()
    }

    fn write(&self, out: &mut String) {
        out.push('{');
        let is_bare = self.fields.is_empty() && self.fragments.is_empty();
        let mut parts: Vec<String> = Vec::new();
        if self.needs_type_name || is_bare {
            parts.push("__typename".to_owned());
        }
        for field in &self.fields {
            let mut part = if field.key == field.name { String::new() } else { format!("{}: ", field.key) };
            part.push_str(&field.name);
            part.push_str(&field.arguments);
            if !field.selection.is_leaf() {
                part.push(' ');
                field.selection.write(&mut part);
            }
            parts.push(part);
        }
        for (type_name, selection) in &self.fragments {
            let mut part = format!("... on {type_name} ");
            selection.write(&mut part);
            parts.push(part);
        }
        out.push_str(&parts.join(" "));
        out.push('}');
    }

    /// Whether it is the empty selection of a leaf.
    pub(crate) fn is_leaf(&self) -> bool {
        !self.needs_type_name && self.fields.is_empty() && self.fragments.is_empty()
    }

    fn note_variables(&self, names: &mut BTreeSet<String>) {
        for field in &self.fields {
            names.extend(field.variables.iter().cloned());
            field.selection.note_variables(names);
        }
        self.fragments.iter().for_each(|(_, selection)| selection.note_variables(names));
    }
}

fn is_hidden(key: &str) -> bool {
    key.starts_with('_') && !key.starts_with("__")
}

fn note_variables(value: &LiteralValue, names: &mut Vec<String>) {
    match value {
        LiteralValue::Variable(name) => names.push(name.to_string()),
        LiteralValue::List(items) => items.iter().for_each(|item| note_variables(item, names)),
        LiteralValue::Object(members) => members.iter().for_each(|(_, member)| note_variables(member, names)),
        _ => {}
    }
}

impl Planner<'_> {
    /// The text of an operation, and the names of its variables.
    pub(crate) fn operation_text(&self, kind: OperationType, selection: &UpstreamSelection) -> (String, Vec<String>) {
        self.text(kind, selection, None)
    }

    /// The text of a query for entities.
    pub(crate) fn entities_text(&self, selection: &UpstreamSelection) -> (String, Vec<String>) {
        self.text(OperationType::Query, selection, Some("$representations: [_Any!]!"))
    }

    fn text(&self, kind: OperationType, selection: &UpstreamSelection, representations: Option<&str>) -> (String, Vec<String>) {
        let mut names = BTreeSet::new();
        selection.note_variables(&mut names);
        let declared = self.operation.variables.iter().filter(|variable| names.contains(variable.name.as_str()));
        let declared = declared.map(|variable| {
            let default = variable.default_value.as_ref().map(|value| format!(" = {}", value.serialize().no_indent()));
            format!("${}: {}{}", variable.name, variable.ty, default.unwrap_or_default())
        });
        let declared: Vec<String> = representations.map(str::to_owned).into_iter().chain(declared).collect();
        let mut text = kind.name().to_owned();
        if !declared.is_empty() {
            // Writing to memory cannot fail.
            let _ = write!(text, "({})", declared.join(", "));
        }
        text.push(' ');
        match representations {
            None => selection.write(&mut text),
            Some(_) => {
                text.push_str("{_entities(representations: $representations) ");
                selection.write(&mut text);
                text.push('}');
            }
        }
        (text, names.into_iter().collect())
    }
}
