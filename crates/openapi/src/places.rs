//! Places inside a document: by dotted keys, and by JSON pointer for `$ref`.

use serde_json::Value;

pub(crate) use tollgate_schema::at_pointer;

/// The member of a document that has settings that are not in Tyk; `tollgate` of a classic definition.
pub(crate) const OWN_EXTENSION: &str = "x-tollgate";

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
