//! What the status of a policy is about: a gateway at which it acts.

use crate::conditions::Condition;
use crate::objects::{GATEWAY_GROUP, Key};
use serde_json::{Map, Value, json};

/// A reference as a status has it, and what is said there.
pub(super) type AncestorConditions = (Map<String, Value>, Vec<Condition>);

/// The reference to a gateway.
pub(super) fn ancestor_of(gateway: &Key) -> Map<String, Value> {
    let members = [("group", GATEWAY_GROUP), ("kind", "Gateway"), ("namespace", &gateway.namespace), ("name", &gateway.name)];
    members.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
}
