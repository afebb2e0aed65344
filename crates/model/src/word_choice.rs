//! Extends the schema of a field with fixed words to everything that the parser accepts.

use schemars::Schema;
use serde_json::{Value, json};

/// Allows the empty string, which means that nothing is chosen.
pub(crate) fn may_be_empty(schema: &mut Schema) {
    if let Some(Value::Array(choices)) = schema.get_mut("oneOf") {
        choices.push(json!({ "const": "", "description": "As if it were not written." }));
    }
}

/// Allows any other word, which means that nothing is chosen.
pub(crate) fn may_be_any_word(schema: &mut Schema) {
    schema.remove("oneOf");
    schema.insert("type".to_owned(), "string".into());
}
