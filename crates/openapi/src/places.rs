//! Places inside a document: by JSON path for people, by JSON pointer for `$ref`.

use serde_json::Value;
use tollgate_model::JsonPath;

/// The value at a JSON pointer such as `#/components/schemas/Pet`, with its path.
pub(crate) fn at_pointer<'v>(root: &'v Value, reference: &str) -> Option<(&'v Value, JsonPath)> {
    let pointer = reference.strip_prefix('#')?;
    let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?;
    let mut path = JsonPath::root();
    let mut value = root;
    let Some(steps) = pointer.strip_prefix('/') else { return pointer.is_empty().then_some((value, path)) };
    for step in steps.split('/') {
        let step = step.replace("~1", "/").replace("~0", "~");
        (value, path) = match value {
            Value::Object(members) => (members.get(&step)?, path.key(&step)),
            Value::Array(items) => {
                let index: usize = step.parse().ok()?;
                (items.get(index)?, path.index(index))
            }
            _ => return None,
        };
    }
    Some((value, path))
}

/// The member below dotted keys.
pub(crate) fn member<'v>(value: &'v Value, dotted: &str) -> Option<&'v Value> {
    dotted.split('.').try_fold(value, |value, key| value.get(key))
}

/// Puts a value below dotted keys, and makes the objects on the way.
pub(crate) fn put(document: &mut Value, keys: &[&str], value: Value) {
    let mut place = document;
    for key in keys {
        if !place.is_object() {
            *place = Value::Object(Default::default());
        }
        let Value::Object(members) = place else { return };
        place = members.entry(*key).or_insert(Value::Null);
    }
    *place = value;
}
