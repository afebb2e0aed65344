//! How large an answer about the schema may become, from how many types, fields and arguments the schema has: a short query with a few
//! aliases, or with the fields of the types of all fields, could ask for gigabytes.

use crate::checking::document::CheckedOperation;
use crate::checking::schema::GraphqlSchema;
use apollo_compiler::ExecutableDocument;
use apollo_compiler::ast::Type;
use apollo_compiler::executable::{Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;

/// How many there are in the whole schema, and at most below one parent.
#[derive(Clone, Copy, Default)]
struct ListCount {
    all: u64,
    most: u64,
}

impl ListCount {
    fn add(&mut self, count: usize) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.all = self.all.saturating_add(count);
        self.most = self.most.max(count);
    }

    /// How many there are below these parents.
    fn below(self, parents: ParentCount) -> ParentCount {
        let times = if parents.is_each { self.all } else { parents.times.saturating_mul(self.most) };
        ParentCount { times, ..parents }
    }
}

/// How many parents a selection has.
#[derive(Clone, Copy)]
struct ParentCount {
    times: u64,
    /// Whether these are all of the schema, each once.
    is_each: bool,
    /// Levels of lists and non-null types that may still be unwrapped.
    wraps: u64,
}

/// What the lists of a schema have.
#[derive(Default)]
pub(super) struct SchemaCounts {
    types: u64,
    directives: u64,
    fields: ListCount,
    arguments: ListCount,
    directive_arguments: ListCount,
    interfaces: ListCount,
    possible_types: ListCount,
    enum_values: ListCount,
    input_fields: ListCount,
    /// Most levels of lists and non-null types around a type.
    wraps: u64,
}

fn wraps(ty: &Type) -> u64 {
    match ty {
        Type::Named(_) => 0,
        Type::NonNullNamed(_) => 1,
        Type::List(item) => 1 + wraps(item),
        Type::NonNullList(item) => 2 + wraps(item),
    }
}

impl SchemaCounts {
    pub(super) fn new(schema: &GraphqlSchema) -> Self {
        let mut counts = SchemaCounts::default();
        let (types, directives) = (&schema.schema.types, &schema.schema.directive_definitions);
        counts.types = u64::try_from(types.len()).unwrap_or(u64::MAX);
        counts.directives = u64::try_from(directives.len()).unwrap_or(u64::MAX);
        for directive in directives.values() {
            counts.directive_arguments.add(directive.arguments.len());
            directive.arguments.iter().for_each(|argument| counts.unwrap(&argument.ty));
        }
        for ty in types.values() {
            let fields = match ty {
                ExtendedType::Object(object) => {
                    counts.interfaces.add(object.implements_interfaces.len());
                    &object.fields
                }
                ExtendedType::Interface(interface) => {
                    counts.interfaces.add(interface.implements_interfaces.len());
                    counts.possible_types.add(schema.implementers.get(&interface.name).map_or(0, |them| them.objects.len()));
                    &interface.fields
                }
                ExtendedType::Union(union) => {
                    counts.possible_types.add(union.members.len());
                    continue;
                }
                ExtendedType::Enum(definition) => {
                    counts.enum_values.add(definition.values.len());
                    continue;
                }
                ExtendedType::InputObject(input) => {
                    counts.input_fields.add(input.fields.len());
                    input.fields.values().for_each(|field| counts.unwrap(&field.ty));
                    continue;
                }
                ExtendedType::Scalar(_) => continue,
            };
            counts.fields.add(fields.len());
            for field in fields.values() {
                counts.unwrap(&field.ty);
                counts.arguments.add(field.arguments.len());
                field.arguments.iter().for_each(|argument| counts.unwrap(&argument.ty));
            }
        }
        counts
    }

    fn unwrap(&mut self, ty: &Type) {
        self.wraps = self.wraps.max(wraps(ty));
    }

    /// Most values of the answer to an operation. Its document has been held against limits: this takes as long as it has fields.
    pub(super) fn values(&self, operation: CheckedOperation<'_>) -> u64 {
        let root = ParentCount { times: 1, is_each: false, wraps: self.wraps };
        self.below(operation.document, &operation.operation.selection_set, root)
    }

    fn below(&self, document: &ExecutableDocument, set: &SelectionSet, parents: ParentCount) -> u64 {
        let mut sum = 0_u64;
        for selection in &set.selections {
            let values = match selection {
                Selection::Field(field) => {
                    let count = self.count(set.ty.as_str(), field.name.as_str(), parents);
                    // Nothing is below nothing.
                    let below = if count.times == 0 { 0 } else { self.below(document, &field.selection_set, count) };
                    count.times.saturating_add(below)
                }
                Selection::InlineFragment(inline) => self.below(document, &inline.selection_set, parents),
                Selection::FragmentSpread(spread) => match document.fragments.get(&spread.fragment_name) {
                    Some(fragment) => self.below(document, &fragment.selection_set, parents),
                    None => 0,
                },
            };
            sum = sum.saturating_add(values);
        }
        sum
    }

    /// How many values a field has.
    fn count(&self, type_name: &str, field: &str, parents: ParentCount) -> ParentCount {
        let one = ParentCount { is_each: false, wraps: self.wraps, ..parents };
        let list = match (type_name, field) {
            ("__Schema", "types") => return ParentCount { times: self.types, is_each: true, wraps: self.wraps },
            ("__Schema", "directives") => return ParentCount { times: self.directives, is_each: true, wraps: self.wraps },
            ("__Directive", "args") => self.directive_arguments,
            ("__Field", "args") => self.arguments,
            ("__Type", "fields") => self.fields,
            ("__Type", "interfaces") => return ParentCount { is_each: false, ..self.interfaces.below(parents) },
            ("__Type", "possibleTypes") => return ParentCount { is_each: false, ..self.possible_types.below(parents) },
            ("__Type", "enumValues") => self.enum_values,
            ("__Type", "inputFields") => self.input_fields,
            ("__Type", "ofType") => {
                let times = if parents.wraps == 0 { 0 } else { parents.times };
                return ParentCount { times, is_each: false, wraps: parents.wraps.saturating_sub(1) };
            }
            _ => return one,
        };
        list.below(ParentCount { wraps: self.wraps, ..parents })
    }
}

#[cfg(test)]
mod tests;
