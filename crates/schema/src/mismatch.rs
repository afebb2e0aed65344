//! Mismatches between a document and a schema, in the wording of Tyk's library, which clients may know.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

/// Most mismatches in one refusal; a body of a mebibyte can have as many as it has bytes.
const MISMATCHES_MAX: usize = 50;
/// Longest text of all mismatches, in bytes: each may quote the client's body.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// All mismatches, joined by `; `; `None` when the document is valid.
pub(super) fn all(validator: &Validator, document: &Value) -> Option<String> {
    if validator.is_valid(document) {
        return None;
    }
    let mut told = Vec::new();
    for error in validator.iter_errors(document).take(MISMATCHES_MAX) {
        tell(&error, &mut told);
    }
    told.truncate(MISMATCHES_MAX);
    let mut text = told.join("; ");
    if text.len() > TEXT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
        text.push('…');
    }
    Some(text)
}

/// Adds one error, and the errors of the alternative that comes nearest.
fn tell(error: &ValidationError<'_>, told: &mut Vec<String>) {
    let place = place(error.instance_path.as_str());
    let mut say = |text: String| told.push(format!("{place}: {text}"));
    match &error.kind {
        ValidationErrorKind::AdditionalProperties { unexpected } | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            unexpected.iter().for_each(|name| say(format!("Additional property {name} is not allowed")));
        }
        ValidationErrorKind::AnyOf { context } => {
            say("Must validate at least one schema (anyOf)".to_owned());
            tell_nearest(error, context, told);
        }
        ValidationErrorKind::OneOfNotValid { context } => {
            say("Must validate one and only one schema (oneOf)".to_owned());
            tell_nearest(error, context, told);
        }
        kind => say(words(kind, &place, error)),
    }
}

/// Adds the errors of the nearest alternative: the right type, and the fewest errors.
fn tell_nearest(of: &ValidationError<'_>, alternatives: &[Vec<ValidationError<'_>>], told: &mut Vec<String>) {
    let is_other_type = |error: &ValidationError<'_>| {
        matches!(error.kind, ValidationErrorKind::Type { .. }) && error.instance_path.as_str() == of.instance_path.as_str()
    };
    if let Some(nearest) = alternatives.iter().min_by_key(|errors| (errors.iter().any(is_other_type), errors.len())) {
        nearest.iter().take(MISMATCHES_MAX).for_each(|error| tell(error, told));
    }
}

fn words(kind: &ValidationErrorKind, place: &str, error: &ValidationError<'_>) -> String {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let depends = error.schema_path.as_str().contains("/dependencies");
            if depends { format!("Has a dependency on {name}") } else { format!("{name} is required") }
        }
        Kind::Type { kind } => format!("Invalid type. Expected: {}, given: {}", expected(kind), given(&error.instance)),
        Kind::Constant { expected_value } => format!("{place} does not match: {expected_value}"),
        Kind::Enum { options } => {
            let options: Vec<_> = options.as_array().into_iter().flatten().map(Value::to_string).collect();
            format!("{place} must be one of the following: {}", options.join(", "))
        }
        Kind::OneOfMultipleValid { .. } => "Must validate one and only one schema (oneOf)".to_owned(),
        Kind::Not { .. } => "Must not validate the schema (not)".to_owned(),
        Kind::AdditionalItems { .. } => "No additional items allowed on array".to_owned(),
        Kind::MinItems { limit } => format!("Array must have at least {limit} items"),
        Kind::MaxItems { limit } => format!("Array must have at most {limit} items"),
        Kind::UniqueItems => duplicates(&error.instance),
        Kind::Contains => "At least one of the items must match".to_owned(),
        Kind::MinProperties { limit } => format!("Must have at least {limit} properties"),
        Kind::MaxProperties { limit } => format!("Must have at most {limit} properties"),
        Kind::PropertyNames { error } => format!("Property name of {} does not match", error.instance),
        Kind::MinLength { limit } => format!("String length must be greater than or equal to {limit}"),
        Kind::MaxLength { limit } => format!("String length must be less than or equal to {limit}"),
        Kind::Pattern { pattern } => format!("Does not match pattern '{pattern}'"),
        Kind::Format { format } => format!("Does not match format '{format}'"),
        Kind::MultipleOf { multiple_of } => format!("Must be a multiple of {multiple_of}"),
        Kind::Minimum { limit } => format!("Must be greater than or equal to {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("Must be greater than {limit}"),
        Kind::Maximum { limit } => format!("Must be less than or equal to {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("Must be less than {limit}"),
        Kind::FalseSchema => "False always fails validation".to_owned(),
        _ => error.to_string(),
    }
}

/// Converts `/a/0/b` to `a.0.b`.
fn place(pointer: &str) -> String {
    match pointer.strip_prefix('/') {
        None => "(root)".to_owned(),
        Some(path) => path.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect::<Vec<_>>().join("."),
    }
}

fn expected(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(single) => single.to_string(),
        TypeKind::Multiple(types) => format!("[{}]", types.iter().map(|one| one.to_string()).collect::<Vec<_>>().join(",")),
    }
}

fn given(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Names the first two equal items.
fn duplicates(items: &Value) -> String {
    let mut seen = std::collections::HashMap::new();
    for (index, item) in items.as_array().into_iter().flatten().enumerate() {
        if let Some(first) = seen.insert(item.to_string(), index) {
            return format!("array items[{first},{index}] must be unique");
        }
    }
    "array items must be unique".to_owned()
}
