//! Sets of fields as directives of a federation name them, such as `id organization { id }`.

/// Most levels of a field set; keys have one or two.
const LEVELS_MAX: usize = 16;

/// Fields of an object, with fields of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSet(pub(crate) Vec<FieldSetItem>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldSetItem {
    /// The type that an object must have for the field to count.
    pub on: Option<String>,
    pub name: String,
    /// Its arguments with their parentheses; empty without any.
    pub arguments: String,
    pub fields: FieldSet,
}

impl FieldSet {
    /// Reads a set; `None` if the text is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut reader = FieldSetReader { rest: text };
        let set = reader.items(0)?;
        reader.skip();
        (reader.rest.is_empty() && !set.0.is_empty()).then_some(set)
    }

    /// The set of a field of a type, if the field is in this set.
    pub(crate) fn of(&self, type_name: &str, name: &str) -> Option<&FieldSet> {
        let is_it = |item: &&FieldSetItem| item.name == name && item.on.as_deref().is_none_or(|on| on == type_name);
        self.0.iter().find(is_it).map(|item| &item.fields)
    }
}

struct FieldSetReader<'t> {
    rest: &'t str,
}

impl<'t> FieldSetReader<'t> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn spread(&mut self) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix("...");
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn name(&mut self) -> Option<&'t str> {
        self.skip();
        let end = self.rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!name.is_empty()).then_some(name)
    }

    fn arguments(&mut self) -> Option<&'t str> {
        self.skip();
        if !self.rest.starts_with('(') {
            return Some("");
        }
        let (text, rest) = self.rest.split_at(self.rest.find(')')? + 1);
        self.rest = rest;
        Some(text)
    }

    fn items(&mut self, level: usize) -> Option<FieldSet> {
        if level > LEVELS_MAX {
            return None;
        }
        let mut items = Vec::new();
        loop {
            if self.spread() {
                if self.name() != Some("on") {
                    return None;
                }
                let on = self.name()?.to_owned();
                let nested = if self.eat('{') { self.nested(level)? } else { return None };
                items.extend(nested.0.into_iter().map(|item| FieldSetItem { on: item.on.or_else(|| Some(on.clone())), ..item }));
                continue;
            }
            let Some(name) = self.name() else { break };
            let arguments = self.arguments()?.to_owned();
            let fields = if self.eat('{') { self.nested(level)? } else { FieldSet::default() };
            items.push(FieldSetItem { on: None, name: name.to_owned(), arguments, fields });
        }
        Some(FieldSet(items))
    }

    fn nested(&mut self, level: usize) -> Option<FieldSet> {
        let fields = self.items(level + 1)?;
        (self.eat('}') && !fields.0.is_empty()).then_some(fields)
    }
}

#[cfg(test)]
mod tests;
