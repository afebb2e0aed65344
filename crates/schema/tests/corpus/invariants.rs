//! What must hold for any schema and any body. The function panics when it does not. The fuzzer calls it, and the tests do with the same corpus.

use serde_json::Value;
use tollgate_schema::{BodyValidator, JsonTree, Judgement, QuickSchema};

/// The first line is a schema, the rest is a body: the quick form never contradicts the complete one.
pub(crate) fn body_schema(bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (schema, body) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let tree = JsonTree::read(body);
    assert_eq!(tree.is_ok(), serde_json::from_slice::<Value>(body).is_ok(), "{}", String::from_utf8_lossy(body));
    let (Ok(schema), Ok(tree)) = (serde_json::from_slice::<Value>(schema), tree) else { return };
    let Some(quick) = QuickSchema::compile(&schema) else { return };
    // A keyword without effect for which there is no quick form.
    let mut complete = schema.clone();
    let Value::Object(members) = &mut complete else { return };
    members.insert("not".to_owned(), Value::Bool(false));
    let Ok(complete) = BodyValidator::compile(&complete) else { return };
    match quick.judge(&tree) {
        Judgement::Unsure => {}
        judgement => {
            assert_eq!(judgement == Judgement::Valid, complete.check(body).is_ok(), "{schema} {}", String::from_utf8_lossy(body))
        }
    }
}
