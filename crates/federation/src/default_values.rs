//! Default values in the composed schema: each must be a value of its type. What a subgraph's enum or input object has may be gone from the
//! composed one.

use apollo_compiler::ast::{InputValueDefinition, Type, Value};
use apollo_compiler::schema::{ExtendedType, InputObjectType};
use apollo_compiler::{Name, Node, Schema};

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
    if let Some(fault) = fault(schema, &value.ty, default) {
        findings.error(value.name.location(), format!("the default value of `{coordinate}` {fault}"));
    }
}

/// Why a value is none of a type. Values are as deep as the parser takes them.
fn fault(schema: &Schema, ty: &Type, value: &Value) -> Option<String> {
    match (ty, value) {
        (Type::NonNullNamed(_) | Type::NonNullList(_), Value::Null) => Some(format!("is null, and not `{ty}`")),
        (_, Value::Null) => None,
        (Type::List(of) | Type::NonNullList(of), Value::List(items)) => items.iter().find_map(|item| fault(schema, of, item)),
        (Type::List(of) | Type::NonNullList(of), item) => fault(schema, of, item),
        (Type::Named(name) | Type::NonNullNamed(name), value) => named_fault(schema, name, value),
    }
}

fn named_fault(schema: &Schema, name: &Name, value: &Value) -> Option<String> {
    let is_value = match (name.as_str(), schema.types.get(name), value) {
        ("Int", _, value) => matches!(value, Value::Int(number) if number.try_to_i32().is_ok()),
        ("Float", _, value) => matches!(value, Value::Int(_) | Value::Float(_)),
        ("String", _, value) => matches!(value, Value::String(_)),
        ("Boolean", _, value) => matches!(value, Value::Boolean(_)),
        ("ID", _, value) => matches!(value, Value::String(_) | Value::Int(_)),
        (_, Some(ExtendedType::Enum(of)), Value::Enum(value)) if !of.values.contains_key(value) => {
            return Some(format!("has `{name}.{value}`, which the composed schema does not have"));
        }
        (_, Some(ExtendedType::Enum(_)), value) => matches!(value, Value::Enum(_)),
        (_, Some(ExtendedType::InputObject(of)), Value::Object(fields)) => return object_fault(schema, of, fields),
        (_, Some(ExtendedType::InputObject(_)), _) => false,
        _ => true,
    };
    (!is_value).then(|| format!("has `{value}`, which is no `{name}`"))
}

fn object_fault(schema: &Schema, of: &InputObjectType, fields: &[(Name, Node<Value>)]) -> Option<String> {
    let given = |name: &Name| fields.iter().any(|(given, _)| given == name);
    if let Some(missing) = of.fields.values().find(|field| field.is_required() && !given(&field.name)) {
        return Some(format!("lacks `{}.{}`, which is required", of.name, missing.name));
    }
    fields.iter().find_map(|(name, value)| match of.fields.get(name) {
        Some(field) => fault(schema, &field.ty, value),
        None => Some(format!("has `{}.{name}`, which the composed schema does not have", of.name)),
    })
}
