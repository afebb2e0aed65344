//! Values at JSON pointers, with their paths for people.

use serde_json::Value;
use tollgate_model::JsonPath;

/// The value at a JSON pointer such as `#/components/schemas/Pet`, with its path.
pub fn at_pointer<'v>(root: &'v Value, reference: &str) -> Option<(&'v Value, JsonPath)> {
    below(root, JsonPath::root(), reference.strip_prefix('#')?)
}

/// The value at a pointer below a value at a path.
pub(crate) fn below<'v>(root: &'v Value, at: JsonPath, pointer: &str) -> Option<(&'v Value, JsonPath)> {
    let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?;
    let (mut value, mut path) = (root, at);
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
