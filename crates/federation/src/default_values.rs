//! Default values in the composed schema: what a subgraph's enum or input object has may be gone from the composed one.

use apollo_compiler::Schema;
use apollo_compiler::ast::{InputValueDefinition, Type, Value};
use apollo_compiler::schema::ExtendedType;

use crate::finding::FindingList;

/// Checks the default values of all arguments and input fields.
pub(crate) fn check(schema: &Schema, findings: &mut FindingList) {
    for (name, ty) in &schema.types {
        let fields = match ty {
            ExtendedType::Object(object) => &object.fields,
            ExtendedType::Interface(interface) => &interface.fields,
            ExtendedType::InputObject(input) => {
                input.fields.iter().for_each(|(field, value)| check_one(schema, &format!("{name}.{field}"), value, findings));
                continue;
            }
            _ => continue,
        };
        for (field_name, argument) in
            fields.iter().flat_map(|(name, field)| field.arguments.iter().map(move |argument| (name, argument)))
        {
            check_one(schema, &format!("{name}.{field_name}({}:)", argument.name), argument, findings);
        }
    }
}

fn check_one(schema: &Schema, coordinate: &str, value: &InputValueDefinition, findings: &mut FindingList) {
    let Some(default) = &value.default_value else { return };
    if let Some(missing) = missing(schema, &value.ty, default) {
        let message = format!("the default value of `{coordinate}` has `{missing}`, which the composed schema does not have");
        findings.error(value.name.location(), message);
    }
}

/// The enum value or input field that a value has and the schema does not. Values are as deep as the parser takes them.
fn missing(schema: &Schema, ty: &Type, value: &Value) -> Option<String> {
    match (value, schema.types.get(ty.inner_named_type())?) {
        (Value::List(items), _) => items.iter().find_map(|item| missing(schema, ty.item_type(), item)),
        (Value::Enum(name), ExtendedType::Enum(of)) if !of.values.contains_key(name) => Some(format!("{}.{name}", of.name)),
        (Value::Object(fields), ExtendedType::InputObject(of)) => {
            fields.iter().find_map(|(name, value)| match of.fields.get(name) {
                Some(field) => missing(schema, &field.ty, value),
                None => Some(format!("{}.{name}", of.name)),
            })
        }
        _ => None,
    }
}
