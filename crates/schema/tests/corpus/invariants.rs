//! What must hold for any schema and any body. The function panics when it does not. The fuzzer calls it, and the tests do with the same corpus.

use serde_json::Value;
use tollgate_schema::{BodyValidator, Budget, InvalidBody, JsonTree};

/// The first line is a schema, the rest is a body. A body is read as serde_json reads it; the verdict is the same whether it is found while the body
/// is read or on a tree, and whatever room there is for work; a schema that is no keyword's matter keeps its verdict beside one that is.
pub(crate) fn body_schema(bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (schema, body) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let is_json = serde_json::from_slice::<Value>(body).is_ok();
    assert_eq!(JsonTree::read(body).is_ok(), is_json, "{}", String::from_utf8_lossy(body));
    let Ok(schema) = serde_json::from_slice::<Value>(schema) else { return };
    let Ok(plain) = BodyValidator::compile(&schema) else { return };
    let verdict = verdict(&plain, body, Budget::of_body(body.len()));
    if let (Some(brief), Some(verdict)) = (self::verdict(&plain, body, Budget::brief()), verdict) {
        assert_eq!(brief, verdict, "{schema} {}", String::from_utf8_lossy(body));
    }
    // What excludes nothing keeps a schema from being judged while the body is read.
    let Value::Object(members) = &schema else { return };
    if members.contains_key("not") || members.contains_key("$ref") {
        return;
    }
    let mut members = members.clone();
    members.insert("not".to_owned(), Value::Bool(false));
    let Ok(on_tree) = BodyValidator::compile(&Value::Object(members)) else { return };
    if let (Some(verdict), Some(on_tree)) = (verdict, self::verdict(&on_tree, body, Budget::of_body(body.len()))) {
        assert_eq!(verdict, on_tree, "{schema} {}", String::from_utf8_lossy(body));
    }
}

/// Whether a body fits; `None` if there was too much work.
fn verdict(validator: &BodyValidator, body: &[u8], budget: Budget) -> Option<bool> {
    match validator.check(body, budget) {
        Ok(()) => Some(true),
        Err(InvalidBody::TooMuchWork) => None,
        Err(_) => Some(false),
    }
}
