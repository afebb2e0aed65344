//! How much memory a value takes.

use serde_json::Value;

/// Bytes of a value in memory, about: itself and its texts. Its depth is bounded by the reader of JSON.
pub(crate) fn weight(value: &Value) -> usize {
    let inner = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| MEMBER + name.len() + weight(value)).sum(),
    };
    size_of::<Value>() + inner
}

/// Most memory of a message, in bytes.
pub(crate) const WEIGHT_MAX: usize = 32 << 20;
/// Most memory of a client's answer to a question.
pub(crate) const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Bytes of a member beside its name's text and its value.
pub(crate) const MEMBER: usize = 48;

#[cfg(test)]
mod tests {
    use super::weight;
    use serde_json::json;

    #[test]
    fn many_small_values_weigh_more_than_their_text() {
        let zeros = json!(vec![0; 1_000]);
        assert!(weight(&zeros) > 10 * zeros.to_string().len());
        assert!(weight(&json!({"a": "x".repeat(1_000)})) > 1_000);
    }
}
