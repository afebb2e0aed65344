//! How the schema of a field that chooses between words is widened to what the parser accepts.

use schemars::Schema;
use serde_json::{Value, json};

/// For a choice between words: the empty text means that nothing is chosen.
pub(crate) fn may_be_empty(schema: &mut Schema) {
    if let Some(Value::Array(choices)) = schema.get_mut("oneOf") {
        choices.push(json!({ "const": "", "description": "As if it were not written." }));
    }
}

/// For a choice between words: any other word means that nothing is chosen.
pub(crate) fn may_be_any_word(schema: &mut Schema) {
    schema.remove("oneOf");
    schema.insert("type".to_owned(), "string".into());
}
